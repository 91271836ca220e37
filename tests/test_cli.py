"""The command line: what it says, what it keeps, and how it ends when things are wrong."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from tutorial import cli
from tutorial.hardware import gpu
from tutorial.measure import runner
from tutorial.measure.results import Record, load, save

run = CliRunner().invoke


@dataclass
class Checkout:
    """A folder that looks like a checkout, and experiments that take no time."""

    folder: Path
    measured: list[str] = field(default_factory=list)
    """The experiments in the order in which they ran."""
    table: dict = field(default_factory=dict)

    def experiment(self, name, raises=None):
        def measure(plan):
            plan.progress(0.5)
            if raises:
                raise raises
            self.measured.append(name)
            return [Record(experiment=name, group="g", case="c", role="single", device="cpu", threads=1, samples=[1e-3])]

        self.table[name] = measure

    @property
    def results(self) -> Path:
        (path,) = (self.folder / "results" / "local").glob("*.json")
        return path


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    (tmp_path / "results" / "local").mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    made = Checkout(tmp_path)
    for name in ("first", "second", "third"):
        made.experiment(name)
    monkeypatch.setattr(runner, "experiments", lambda: made.table)
    monkeypatch.setattr(runner, "accelerator_devices", lambda: [])
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: "")
    return made


def test_measure_writes_a_file_named_for_the_machine(checkout):
    outcome = run(cli.app, ["measure"])
    assert outcome.exit_code == 0, outcome.output
    assert "Measuring on cpu" in outcome.output and "not measured here" in outcome.output
    results = load(checkout.results)
    assert [r.experiment for r in results.records] == ["first", "second", "third"]
    assert results.pending == [] and results.profile == "quick"


def test_an_interrupted_measurement_goes_on_from_where_it_was(checkout):
    checkout.experiment("second", raises=KeyboardInterrupt())
    outcome = run(cli.app, ["measure"])
    assert outcome.exit_code == 130
    assert "kept" in outcome.output
    assert load(checkout.results).pending == ["second", "third"]
    checkout.experiment("second")
    assert run(cli.app, ["measure"]).exit_code == 0
    assert checkout.measured == ["first", "second", "third"]
    assert load(checkout.results).pending == []


def test_two_measurements_at_the_same_time_do_not_overwrite_each_other(checkout):
    def other(plan):
        run(cli.app, ["measure", "--only", "third"])
        return [Record(experiment="first", group="g", case="c", role="single", device="cpu", threads=1, samples=[1e-3])]

    checkout.table["first"] = other
    outcome = run(cli.app, ["measure", "--only", "first"])
    assert outcome.exit_code == 2 and "another measurement" in outcome.output
    assert [r.experiment for r in load(checkout.results).records] == ["third"]


def test_a_finished_measurement_is_made_anew(checkout):
    run(cli.app, ["measure"])
    run(cli.app, ["measure"])
    assert checkout.measured == ["first", "second", "third"] * 2
    assert len(load(checkout.results).records) == 3


def test_a_later_run_completes_the_file(checkout):
    run(cli.app, ["measure", "--only", "second"])
    assert [r.experiment for r in load(checkout.results).records] == ["second"]
    run(cli.app, ["measure", "--only", "first", "--only", "third"])
    assert sorted(r.experiment for r in load(checkout.results).records) == ["first", "second", "third"]
    assert checkout.measured == ["second", "first", "third"]


def test_another_profile_starts_a_new_file_and_sets_the_old_one_aside(checkout):
    run(cli.app, ["measure", "--only", "first", "--profile", "full"])
    run(cli.app, ["measure", "--only", "second"])
    results = load(checkout.results)
    assert results.profile == "quick" and [r.experiment for r in results.records] == ["second"]
    (aside,) = checkout.results.parent.glob("*.json.old")
    assert load(aside).profile == "full" and [r.experiment for r in load(aside).records] == ["first"]


def test_measuring_anew_and_being_interrupted_loses_nothing(checkout):
    run(cli.app, ["measure"])
    checkout.experiment("first", raises=KeyboardInterrupt())
    assert run(cli.app, ["measure"]).exit_code == 130
    results = load(checkout.results)
    assert [r.experiment for r in results.records] == ["first", "second", "third"]
    assert results.pending == ["first", "second", "third"]


def test_a_device_that_is_not_there(checkout):
    outcome = run(cli.app, ["measure", "--device", "cuda:3"])
    assert outcome.exit_code == 2
    assert "'cuda:3'" in outcome.output and "there is: cpu" in outcome.output
    assert list((checkout.folder / "results" / "local").iterdir()) == []


def test_an_experiment_that_is_not_there(checkout):
    outcome = run(cli.app, ["measure", "--only", "thirst"])
    assert outcome.exit_code == 2
    assert "there is: first, second, third" in outcome.output


def test_devices_are_chosen_by_name_or_kind(monkeypatch):
    cards = [torch.device("cuda", 0), torch.device("cuda", 1)]
    monkeypatch.setattr(runner, "accelerator_devices", lambda: cards)
    cpu = torch.device("cpu")
    assert runner.choose_devices([]) == [cpu, *cards]
    assert runner.choose_devices(["cuda"]) == cards
    assert runner.choose_devices(["cuda:1", "cpu"]) == [cpu, cards[1]]


def test_a_broken_file_in_the_way_is_named_and_kept(checkout):
    path = checkout.folder / "mine.json"
    path.write_text("{", encoding="utf-8")
    outcome = run(cli.app, ["measure", "--out", str(path)])
    assert outcome.exit_code == 2
    assert "mine.json" in outcome.output
    assert checkout.measured == [] and path.read_text(encoding="utf-8") == "{"


def test_a_reported_file_is_not_overwritten(checkout):
    source = Path(cli.__file__).parents[2] / "results" / "reported-kaggle.json"
    path = checkout.folder / "mine.json"
    path.write_bytes(source.read_bytes())
    outcome = run(cli.app, ["measure", "--out", str(path)])
    assert outcome.exit_code == 2 and checkout.measured == []
    assert path.read_bytes() == source.read_bytes()


def test_a_place_that_cannot_be_written_is_told_before_anything_is_measured(checkout):
    (checkout.folder / "file").write_text("", encoding="utf-8")
    outcome = run(cli.app, ["measure", "--out", str(checkout.folder / "file" / "mine.json")])
    assert outcome.exit_code == 2
    assert "cannot be" in outcome.output and checkout.measured == []


def test_output_that_knows_few_characters_is_no_reason_to_stop(checkout):
    outcome = CliRunner(charset="ascii").invoke(cli.app, ["measure", "--out", "µ⠋.json"])
    assert outcome.exit_code == 0, outcome.exception
    assert "Written: ??.json" in outcome.output


def test_the_command_begins_without_the_seconds_that_pytorch_takes():
    subprocess.run([sys.executable, "-c", "import sys, tutorial.cli; sys.exit('torch' in sys.modules)"], env=os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[1])}, check=True)


def test_a_card_that_cannot_be_used_is_told_first(checkout, monkeypatch):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: "CUDA Version: 13.0\nGPU 0: NVIDIA GeForce RTX 4070 (UUID: GPU-1)\n")
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)
    outcome = run(cli.app, ["measure"], env={"COLUMNS": "60"})
    assert outcome.exit_code == 0
    assert "cannot use the graphics card" in outcome.output
    line = next(line for line in outcome.output.splitlines() if "pip install" in line)  # whole, to be copied
    assert line.startswith(sys.executable) and line.endswith("whl/cu130")
    assert outcome.output.index("pip install") < outcome.output.index("Measuring on")
    assert len(checkout.measured) == 3


def test_render_names_a_broken_file(checkout):
    (checkout.folder / "results" / "x.json").write_text("[]", encoding="utf-8")
    outcome = run(cli.app, ["render"])
    assert outcome.exit_code == 2 and "x.json" in outcome.output
    assert not (checkout.folder / ".build").exists()


def test_render_writes_the_readers_results_beside_the_reference(checkout, results):
    save(results, checkout.folder / "results" / "local" / "mine.json")
    outcome = run(cli.app, ["render"])
    assert outcome.exit_code == 0, outcome.output
    assert "Your machine" in (checkout.folder / ".build/generated/en/tables/training.md").read_text(encoding="utf-8")
    assert not (checkout.folder / "generated").exists()


def test_build_measures_renders_and_builds(checkout, monkeypatch):
    order = []
    monkeypatch.setattr(cli, "measure", lambda *arguments: order.append("measure"))
    monkeypatch.setattr(cli, "render", lambda **options: order.append("render"))
    monkeypatch.setattr(cli, "build_site", lambda root: order.append("site"))
    outcome = run(cli.app, ["build"])
    assert order == ["measure", "render", "site"]
    assert "index.html" in outcome.output and "mkdocs" in outcome.output
    run(cli.app, ["build", "--no-measure"])
    assert order[3:] == ["render", "site"]


def test_outside_a_checkout_the_packages_own_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.repository() == Path(cli.__file__).parents[2]


def test_a_build_that_fails_leaves_the_site(checkout):
    (checkout.folder / "site").mkdir()
    (checkout.folder / "site" / "index.html").write_text("before", encoding="utf-8")
    (checkout.folder / "docs").mkdir()
    (checkout.folder / "docs" / "index.md").write_text("[dead](nowhere.md)\n", encoding="utf-8")
    with pytest.raises(cli.typer.Exit) as ended:
        cli.build_site(checkout.folder)
    assert ended.value.exit_code == 1
    assert (checkout.folder / "site" / "index.html").read_text(encoding="utf-8") == "before"
    assert [name for name in os.listdir(checkout.folder) if name.startswith(".site")] == []


def test_a_missing_section_is_told_in_a_line(checkout, capfd):
    (checkout.folder / "mkdocs.yml").write_text("site_name: x\nmarkdown_extensions:\n  pymdownx.snippets: {check_paths: true}\n", encoding="utf-8")
    (checkout.folder / "docs").mkdir()
    (checkout.folder / "docs" / "index.md").write_text('--8<-- "mkdocs.yml:nowhere"\n', encoding="utf-8")
    with pytest.raises(cli.typer.Exit):
        cli.build_site(checkout.folder)
    told = capfd.readouterr().err
    assert "index.md" in told and "nowhere" in told and "Traceback" not in told and len(told.splitlines()) < 6


def test_a_site_that_cannot_take_its_place_leaves_the_old_one(checkout, monkeypatch):
    (checkout.folder / "site").mkdir()
    (checkout.folder / "site" / "index.html").write_text("before", encoding="utf-8")
    (checkout.folder / "docs").mkdir()
    (checkout.folder / "docs" / "index.md").write_text("# Fresh\n", encoding="utf-8")
    replace = os.replace

    def refused(source, target):
        if Path(source).name.startswith(".site-") and source.name != ".site-old":
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(cli.os, "replace", refused)
    with pytest.raises(cli.typer.Exit) as ended:
        cli.build_site(checkout.folder)
    assert ended.value.exit_code == 2
    assert (checkout.folder / "site" / "index.html").read_text(encoding="utf-8") == "before"
    assert [name for name in os.listdir(checkout.folder) if name.startswith(".site")] == []


def test_a_build_that_succeeds_takes_the_place_of_the_site(checkout):
    (checkout.folder / "site").mkdir()
    (checkout.folder / "site" / "old.html").write_text("before", encoding="utf-8")
    (checkout.folder / "docs").mkdir()
    (checkout.folder / "docs" / "index.md").write_text("# Fresh\n", encoding="utf-8")
    cli.build_site(checkout.folder)
    assert "Fresh" in (checkout.folder / "site" / "index.html").read_text(encoding="utf-8")
    assert not (checkout.folder / "site" / "old.html").exists()
    assert (checkout.folder / "site" / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = {")
    assert [name for name in os.listdir(checkout.folder) if name.startswith(".site")] == []
