"""Results files: what is written is read back, and what is broken is refused by file and field."""

import json
import stat
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutorial.measure import results as module
from tutorial.measure.results import Record, ResultsError, load, load_all, machine_slug, same_machine, save, write


def changed(results, path, change):
    content = results.model_dump(mode="json")
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_what_is_saved_is_loaded(results, tmp_path):
    save(results, tmp_path / "new" / "machine.json")
    assert load(tmp_path / "new" / "machine.json") == results
    assert list(load_all(tmp_path / "new")) == ["machine"]


def test_samples_stand_on_one_line_and_keep_five_digits(results, tmp_path):
    for record in results.records[:3]:  # one group
        record.samples = [0.000123456789, 2e-7, 3.0]
    save(results, tmp_path / "machine.json")
    text = (tmp_path / "machine.json").read_text(encoding="utf-8")
    assert "[0.00012346, 2e-07, 3.0]" in text
    assert load(tmp_path / "machine.json").records[0].samples == [0.00012346, 2e-7, 3.0]


def test_a_file_is_readable_by_others(results, tmp_path):
    save(results, tmp_path / "machine.json")
    if sys.platform != "win32":
        assert (tmp_path / "machine.json").stat().st_mode & stat.S_IROTH


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda c: c.update(schema_version=99), "schema_version: is 99"),
        (lambda c: c.pop("schema_version"), "schema_version: is None"),
        (lambda c: c.update(kind="guessed"), "file: "),
        (lambda c: c.update(profile="slow"), "profile: "),
        (lambda c: c.update(when="2026-11-30T12:00:00"), "when: "),
        (lambda c: c.update(hostname="secret"), "hostname: "),
        (lambda c: c["hardware"]["cpu"].update(serial="1"), "hardware.cpu.serial: "),
        (lambda c: c["hardware"]["accelerators"][0].update(memory_mib="lots"), "hardware.accelerators.0.memory_mib: "),
        (lambda c: c["records"][2].update(unit="parsec"), "records.2.unit: "),
        (lambda c: c["records"][0].update(samples=[-1.0]), "records.0: "),
        (lambda c: c["records"][0].update(samples=[]), "records.0: "),
        (lambda c: c["records"][0].update(samples=["quick"]), "records.0.samples.0: "),
        (lambda c: c["records"][1].update(failure="out of memory"), "records.1: "),
        (lambda c: c["records"][2]["samples"].append(1.0), "records.2.samples: 5, where others of the group have 4"),
        (lambda c: c["records"][2].update(samples=[1.0]), "records.2.samples: 1, where others of the group have 4"),
        (lambda c: c["records"][0].update(samples=[1.0] * 10_001), "records.0.samples: "),
        (lambda c: c["records"][0]["parameters"].update(block="<script>"), "records.0.parameters.block: "),
        (lambda c: c["records"][0]["parameters"].update(block=float("nan")), "records.0.parameters.block: "),
        (lambda c: c["records"][0]["parameters"].update(block=10**400), "records.0.parameters.block: "),
        (lambda c: c["records"][0]["parameters"].update(block=-1), "records.0.parameters.block: "),
        (lambda c: c["software"].pop("torch"), "software must name python and torch"),
    ],
)
def test_a_wrong_field_is_named(results, tmp_path, change, field):
    path = changed(results, tmp_path / "machine.json", change)
    with pytest.raises(ResultsError) as error:
        load(path)
    assert str(path) in str(error.value)
    assert field in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"3", b'"text"', b"\xff\xfe\x00", b"[" * 100_000, b"9" * 5000, b'{"schema_version": 1}'])
def test_what_is_no_results_file_is_refused(tmp_path, content):
    path = tmp_path / "machine.json"
    path.write_bytes(content)
    with pytest.raises(ResultsError, match="machine.json"):
        load(path)


@pytest.mark.parametrize("name", ["a b", "a'b", 'a"b', "a(b", "a<b", "a#b", "a?b", "a%20b", "a&b", "a\\1b", "-", ".hidden", "a\nb", "a\udcffb"])
def test_a_name_that_could_not_stand_in_a_link_is_refused(results, tmp_path, name):
    try:
        (tmp_path / f"{name}.json").write_text("{}", encoding="utf-8")
    except (OSError, UnicodeEncodeError):
        pytest.skip("no file can have this name here")
    with pytest.raises(ResultsError, match="its name"):
        load_all(tmp_path)


def test_names_in_any_language_are_fine(results, tmp_path):
    for name in ("x86_64-2.0", "türkis", "机器"):
        save(results, tmp_path / f"{name}.json")
    assert len(load_all(tmp_path)) == 3


def test_not_a_number_is_refused(results, tmp_path):
    path = tmp_path / "machine.json"
    save(results, path)
    path.write_text(path.read_text(encoding="utf-8").replace("[0.0002,", "[NaN,", 1), encoding="utf-8")
    with pytest.raises(ResultsError, match="records.0: .*finite"):
        load(path)


@settings(max_examples=200, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_json_is_read_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "machine.json"
    if isinstance(content, dict):
        content |= {"schema_version": 1, "kind": "measured"}
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ResultsError):
        load(path)


def test_a_folder_in_the_way_is_told(results, tmp_path):
    (tmp_path / "machine.json").mkdir()
    with pytest.raises(ResultsError, match="cannot be written"):
        save(results, tmp_path / "machine.json")
    assert [path.name for path in tmp_path.iterdir()] == ["machine.json"]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "machine.json"
    write(path, "old")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "replace", full)
    with pytest.raises(ResultsError, match="machine.json: cannot be written: No space left on device"):
        write(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["machine.json"]


def test_an_interrupted_writing_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "machine.json", "new")
    assert list(tmp_path.iterdir()) == []


def test_a_record_has_samples_or_a_failure():
    about = dict(experiment="transfer", group="g", case="c", role="single", device="cpu", threads=1)
    assert Record(**about, failure="out of memory").samples == []
    with pytest.raises(ValueError, match="either samples or a failure"):
        Record(**about)


def test_a_machine_is_named_for_what_it_is(results):
    assert machine_slug(results.hardware) == "example-9-4-cores-example-gpu-b-x-b"


def test_other_software_is_another_measurement(results):
    other = results.model_copy(deep=True)
    other.hardware.cpu.memory_mib += 1
    assert same_machine(results, other)
    other.software["torch"] = "2.14.0"
    assert not same_machine(results, other)
