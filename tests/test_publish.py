"""What is rendered: numbers, foreign strings, tables and pictures, from results that are made up here."""

import contextlib
import html
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import markdown
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutorial.hardware.gpu_names import decode
from tutorial.hardware.paste import read_paste
from tutorial.hardware.schema import CPU, Accelerator, Hardware, PyTorch
from tutorial.measure.results import Record, ResultsError, load, save
from tutorial.publish import diagrams, examples, inspection, plots, tables
from tutorial.publish.render import fragments, read_results, render
from tutorial.publish.comparison import Group, Machine, logging_curve, reads_per_step
from tutorial.publish.words import Texts, byte_count, duration, languages, percent, safe, significant

ROOT = Path(__file__).parents[1]


@pytest.fixture
def text():
    return Texts("en")


@pytest.fixture
def machine(results):
    return Machine("example", results)


@pytest.fixture(scope="module")
def reference():
    """What the repository's own results render to, by language."""
    machines, reports = read_results(ROOT, local=False)
    pastes = examples.read_pastes(ROOT)
    assert machines and reports and pastes
    return {language: fragments(machines, reports, language, pastes) for language in languages()}


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(16.85, "16.9 s"), (1.0, "1.00 s"), (0.9999, "1.00 s"), (0.000231, "231 µs"), (9.999e-4, "1.00 ms"), (1.2345e-9, "1.23 ns"), (0.0584, "58.4 ms"), (123.4, "123 s"), (4321.0, "4 320 s")],
)
def test_durations(seconds, shown):
    assert duration(seconds).replace("\u00a0", " ") == shown


@given(st.floats(1e-9, 1e5))
def test_a_duration_is_the_number_to_three_digits(seconds):
    number, unit = duration(seconds).rsplit("\u00a0", 1)
    assert float(number.replace("\u00a0", "")) * {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit] == pytest.approx(seconds, rel=6e-3)


def test_other_numbers():
    assert significant(0) == "0"
    assert significant(0.012345) == "0.0123"
    assert significant(12345) == "12\u00a0300"
    assert byte_count(4) == "4\u00a0B"
    assert byte_count(256 * 2**20) == "256\u00a0MiB"
    assert percent(0.0345) == "3.5\u00a0%"


@given(st.text())
def test_a_safe_string_shows_as_itself_and_does_nothing_else(foreign):
    rendered = markdown.markdown(f"x{safe(foreign)}x", extensions=["tables", "attr_list"])
    body = re.fullmatch(r"<p>x(.*)x</p>", rendered, re.DOTALL)
    assert body is not None
    assert "<" not in body[1]
    if foreign.isprintable():
        shown = ElementTree.fromstring(f"<p>{body[1]}</p>").text or ""
        assert shown == " ".join(foreign.split())


def test_nothing_invisible_is_shown():
    assert safe("a\x00\x02b\u202ec\ufeff\n d\u200b") == "abc d"


def test_a_foreign_name_cannot_break_a_table_or_a_tab(machine, text):
    machine.results.hardware.cpu.model = 'CPU" | <script>alert(1)</script> **x**'
    table = tables.training([machine], text)
    assert "<script" not in table and "**x**" not in table
    rows = [line for line in table.splitlines() if line.startswith("    |")]
    assert {row.count("|") for row in rows} == {8}
    assert re.match(r'===! "[^"]*"$', table.splitlines()[0])


NASTY = 'x\n\n    --8<-- "README.md"\n\n# x "><script>alert(1)</script> | `x` **x** [x](http://x) {{ 1 }} {.x} {0} &amp; \\ --> \x02'


def strings(content, path=()):
    """The path of every string in a results file."""
    for key, value in content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ():
        if isinstance(value, str):
            yield (*path, key)
        yield from strings(value, (*path, key))


def test_no_string_of_a_results_file_is_more_than_a_string_on_a_page(results, tmp_path, text):
    _, reports = read_results(ROOT, local=False)
    shown = 0
    for original in (results, *reports.values()):
        for path in strings(original.model_dump(mode="json")):
            content = original.model_dump(mode="json")
            place = content
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = NASTY
            (tmp_path / "x.json").write_text(json.dumps(content), encoding="utf-8")
            try:
                read = load(tmp_path / "x.json")
                if read.kind == "measured":
                    pages = [draw([Machine("x", read)], text) for draw in (tables.training, tables.machines_list, tables.toolchain, tables.logging, tables.transfer)]
                else:
                    pages = [tables.reported({"x": read}, text)]
            except ResultsError as error:
                assert "x.json" in str(error)
                continue
            page = "\n\n".join(pages)
            shown += "alert" in page
            assert "<script" not in page and "**x**" not in page and "](http://x)" not in page, path
            assert not re.search(r"^\s*--8<", page, re.MULTILINE), path
            for table in re.split(r"\n\s*\n", page):
                assert len({row.count("|") for row in table.splitlines() if row.lstrip().startswith("|")}) <= 1, path
    assert shown >= 5


@pytest.mark.parametrize("interval", [0, 1e-300, 1e15])
def test_numbers_that_no_machine_measures_are_shown_or_refused(machine, text, interval):
    about = dict(experiment="logging", group="short blocks on cpu", device="cpu", threads=1, samples=[1e-3, 2e-3])
    machine.results.records = [Record(role=role, case="c", parameters={"interval": interval, "block": 1}, **about) for role in ("base", "twin", "case", "case")]
    for draw in (tables.logging, plots.logging):
        with contextlib.suppress(ResultsError):
            draw([machine], text)


def test_the_training_table_says_what_was_measured(machine, text):
    table = tables.training([machine], text).replace("\u00a0", " ")
    assert "| CPU | 4.50 s | 0.0613 | 97 % | 225 µs | 200 µs – 262 µs | – |" in table
    assert "| 17.0 s | 0.0613 | 97 % | 825 µs |" in table
    assert "slower: 3.7 times as long" in table
    assert "not measured here" not in table
    assert "CPU once more (A/A)" in table
    assert "PyTorch 2.13.0&#43;cu130" in table and "2026-11-30" in table and "(results/example.json)" in table


def test_what_the_accelerator_said_of_itself_is_told(machine, text):
    record = next(r for r in machine.results.select("training", "step") if r.device != "cpu")
    record.conditions = {"clock_mhz": [1980, *[1590] * (len(record.samples) - 1)], "power_w": [71.5] * len(record.samples)}
    table = tables.training([machine], text)
    assert f"While this was measured, {record.device.replace(':', '&#58;')} said of itself, lowest to highest: clock 1\u00a0590 – 1\u00a0980 MHz, power 71.5 – 71.5 W." in table


def test_two_sets_of_tabs_in_a_row_stay_two(machine, text):
    page = tables.training([machine], text) + "\n\n" + plots.loss_curve([machine], text)
    html = markdown.markdown(page, extensions=["tables", "attr_list", "pymdownx.tabbed", "pymdownx.superfences", "pymdownx.details"], extension_configs={"pymdownx.tabbed": {"alternate_style": True}})
    assert html.count('class="tabbed-set') == 2


def test_without_an_accelerator_the_table_says_so(machine, text):
    machine.results.hardware.accelerators = []
    machine.results.records = [r for r in machine.results.records if r.device == "cpu"]
    assert "| GPU | *not measured here* |" in tables.training([machine], text)
    assert "not measured here" in plots.overview([machine], {}, text)


def test_two_equal_cards_are_told_apart(machine, text):
    card = machine.results.hardware.accelerators[0]
    machine.results.hardware.accelerators.append(card.model_copy(update={"device": "cuda:1"}))
    assert machine.device_title("cuda:0", text) != machine.device_title("cuda:1", text)


def test_on_an_accelerator_never_is_once_a_block():
    about = dict(experiment="logging", group="g", role="case", case="never", threads=1, samples=[1e-4])
    assert reads_per_step(Record(device="cuda:0", parameters={"block": 40}, **about)) == 1 / 40


def test_a_failed_case_shows_its_reason(machine, text):
    machine.results.records[2] = machine.results.records[2].model_copy(update={"samples": [], "failure": "out of memory"})
    assert "*failed: out of memory*" in tables.training([machine], text)


def test_a_card_that_was_left_out_is_not_measured(machine, text):
    machine.results.records = [r for r in machine.results.records if r.device == "cpu"]
    table = tables.training([machine], text)
    assert "*not measured here*" in table and "Example GPU" in table


def test_a_report_with_unknown_words_shows_them(text):
    _, reports = read_results(ROOT, local=False)
    report = next(iter(reports.values()))
    report.caveats.append("never <b>heard</b> of")
    report.records[0].device = "tpu"
    shown = tables.reported({"x": report}, text)
    assert "&#60;b&#62;heard" in shown and "tpu" in shown
    report.records[0].case, report.records[0].parameters = "sparse", {}
    with pytest.raises(ResultsError, match="results/x.json"):
        tables.reported({"x": report}, text)


def test_records_of_another_program_are_refused(machine, text):
    machine.results.records = [r for r in machine.results.records if r.case != "loss curve"]
    with pytest.raises(ResultsError, match="results/example.json: records"):
        tables.training([machine], text)


def test_the_logging_curve_finds_the_cost_of_a_reading():
    rng = np.random.default_rng(0)
    a, c, speed = 200e-6, 30e-6, rng.uniform(1, 2, 60)

    def record(role, case, share, **parameters):
        samples = list(speed * (a + c * share) * rng.normal(1, 0.01, 60))
        return Record(experiment="logging", group="g", role=role, case=case, device="cpu", threads=1, parameters=parameters, samples=samples)

    group = Group([record("base", "every 1", 1, interval=1), *(record("case", f"every {k}", 1 / k, interval=k) for k in (2, 5, 10)), record("case", "never", 0)])
    assert reads_per_step(group.records[-1]) == 0 and reads_per_step(group.records[1]) == 1 / 2
    curve = logging_curve(group)
    unit = np.median(speed)
    assert curve.c.median / unit == pytest.approx(c, rel=0.15)
    assert curve.a.median / unit == pytest.approx(a, rel=0.05)
    assert curve.c.low < curve.c.median < curve.c.high
    assert curve.at(None) < curve.at(1000) < curve.at(1)


@pytest.mark.parametrize("cards", [1, 2])
@pytest.mark.parametrize("model", ["12th Gen Intel Core i7-12800HX", "x" * 500, "many words " * 50, "机器 🚀", ""])
@pytest.mark.filterwarnings("error::UserWarning")  # matplotlib's, when what stands beside the axes leaves no room for them
def test_the_picture_has_room_for_every_name(machine, text, model, cards):
    card = machine.results.hardware.accelerators[0].model_copy(update={"name": "NVIDIA GeForce RTX 4070 Laptop GPU"})
    machine.results.hardware.accelerators = [card, card.model_copy(update={"device": "cuda:1"})][:cards]
    machine.results.hardware.cpu.model = model
    machine.local = 1
    picture = plots.overview([machine], {}, text)
    bars = ["CPU", "GPU"] if cards == 1 else ["CPU", "GPU cuda:0", "GPU cuda:1"]
    assert [label for label in re.findall(r">([^<]*)</text>", picture) if label in ("CPU", "GPU") or label.startswith("GPU cuda")] == bars


def test_nothing_measured_renders_as_such(text):
    assert "Not measured on any machine yet" in tables.training([], text)


def test_every_picture_is_one_line_of_well_formed_svg_with_a_text_alternative(machine, text, reference):
    rendered = [plots.overview([machine], {}, text), plots.loss_curve([machine], text), *reference["en"].values()]
    pictures = [line.strip() for part in rendered for line in part.splitlines() if "<figure" in line]
    assert len(pictures) >= 2 + 8
    for line in pictures:
        svg = ElementTree.fromstring(line).find("{http://www.w3.org/2000/svg}svg")
        assert svg.get("role") == "img"
        ids = [element.get("id") for element in svg.iter() if element.get("id")]
        assert len(ids) == len(set(ids))
        assert set(svg.get("aria-labelledby").split()) <= set(ids)
        assert all(svg.find(f"{{http://www.w3.org/2000/svg}}{tag}").text for tag in ("title", "desc"))
        assert "#0102" not in line  # every color of the drawing has been replaced
        for reference in re.findall(r'(?:href="#|url\(#)([^")]+)', line):
            assert reference in ids


def test_a_picture_for_a_phone_can_be_read_there(machine, text, reference):
    """328 px are left of a screen of 360 px. The widest of the usual fonts takes 0.57 of its size for a letter."""
    pictures = [plots.overview([machine], {}, text), *reference["en"].values()]
    narrow = [line.strip() for part in pictures for line in part.splitlines() if '<figure class="plot narrow"' in line]
    assert {re.search(r'<title id="([\w-]+)-title"', line)[1] for line in narrow} == {"overview", "decision", "bounds", "asynchronous"}
    for line in narrow:
        svg = ElementTree.fromstring(line)[0]
        width = float(svg.get("viewBox").split()[2])
        sizes = [float(size) for size in re.findall(r'font-size(?:="|: )([\d.]+)', line)]
        assert sizes and min(sizes) * 328 / width >= 10
        for word in svg.iter("{http://www.w3.org/2000/svg}text"):
            if word.get("font-size"):  # matplotlib keeps its own texts within the picture
                half = len(word.text) * float(word.get("font-size")) * 0.57 / 2
                middle = float(word.get("x")) + (half if word.get("text-anchor") == "start" else 0)
                assert -1 <= middle - half and middle + half <= width + 1, word.text


def test_no_line_of_the_two_clocks_runs_through_a_word(text):
    svg = ElementTree.fromstring(diagrams.asynchronous(text))[0]
    shapes = {tag: list(svg.iter(f"{{http://www.w3.org/2000/svg}}{tag}")) for tag in ("text", "line", "rect")}
    for word in shapes["text"]:
        half = len(word.text) * 13 * 0.57 / 2
        middle, y = float(word.get("x")) + (half if word.get("text-anchor") == "start" else 0), float(word.get("y"))
        for line in shapes["line"]:
            x1, y1, x2, y2 = (float(line.get(key)) for key in ("x1", "y1", "x2", "y2"))
            assert x2 <= middle - half or middle + half <= x1 or y2 <= y - 11 or y + 3 <= y1, word.text
        for box in shapes["rect"]:
            left, right = float(box.get("x")), float(box.get("x")) + float(box.get("width"))
            top, bottom = float(box.get("y")), float(box.get("y")) + float(box.get("height"))
            if top < y < bottom and left < middle < right:
                assert left + 3 <= middle - half and middle + half <= right - 3, f"{word.text} fills its box"


def test_two_pictures_share_no_id(reference):
    ids = re.findall(r' id="([^"]+)"', "".join(reference["en"].values()))
    assert ids and len(ids) == len(set(ids))


def test_the_committed_rendering_is_what_the_results_render_to(reference):
    for language, rendered in reference.items():
        folder = ROOT / "generated" / language
        assert {p.relative_to(folder).as_posix() for p in folder.rglob("*.md")} == set(rendered)
        for path, content in rendered.items():
            assert (folder / path).read_text(encoding="utf-8") == content + "\n", f"{path}: run `tutorial render --reference`"
    for machine in read_results(ROOT, local=False)[0]:
        assert (ROOT / "docs" / "en" / machine.raw()).read_bytes() == (ROOT / machine.raw()).read_bytes()


def test_every_example_and_every_report_is_on_a_page(text):
    pastes = examples.read_pastes(ROOT)
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "en").glob("*.md"))
    shown = set(re.findall(r'--8<-- "([^":]+)', pages))
    assert set(examples.fragments(pastes, text)) <= shown
    assert {f"snippets/reports/{name}.txt" for name in pastes} <= shown


def test_the_examples_say_what_the_chapters_say_of_them(text):
    read = {name: html.unescape(examples.inspected(read_paste(paste), text)) for name, paste in examples.read_pastes(ROOT).items()}
    assert all(count in read["wsl2"] for count in ("16 cores (8 performance + 8 efficiency)", "| 12 cores |", "| 24 |"))
    assert "presented" not in read["bare-metal"] and "bare-metal" in read["bare-metal"]
    assert "Broadwell" in read["notebook"] and "| 1 core |" in read["notebook"] and "virtual machine presents it" in read["notebook"]
    assert "Zen 4" in read["chinese"] and "AVX-512" in read["chinese"]
    assert "| unknown |" in read["nvidia-smi"] and "cut the name short" in read["nvidia-smi"]
    assert "| laptop |" in read["nvidia-smi-list"] and "8.00" not in read["nvidia-smi-list"]
    [card] = read_paste("\n".join(examples.read_pastes(ROOT)[name] for name in ("nvidia-smi", "nvidia-smi-list"))).accelerators
    assert card.form == "laptop" and card.memory_mib == 8188
    rows = {row.split(" | ")[0].strip("| `"): row for row in examples.chips(examples.CHIPS, text).splitlines()}
    assert "| 6 | – | – | 12 |" in rows["Core i5-12400"] and "| – | 4 | – | 4 |" in rows["Intel N100"]
    names = html.unescape(examples.names(examples.GEFORCE + examples.PROFESSIONAL, text))
    assert "| NVIDIA GeForce GTX 1060 | Pascal, compute capability 6.1 | unknown | NVIDIA, GeForce, GTX 10 | 60 |" in names
    assert len({row.split(" | ")[1] for row in names.splitlines() if "6000 " in row}) == 4


@pytest.mark.parametrize(
    ("name", "device", "meaning"),
    [
        ("RTX 4070", None, "architecture"),
        ("RX 6700 XT", None, "architecture_amd"),
        ("Apple M3 Pro", None, "architecture_apple"),
        ("Arc A770", None, "architecture_intel"),
        ("Intel UHD Graphics 620", None, "architecture_intel_integrated"),
        ("Intel Iris Xe", "xpu:0", "architecture_intel"),
    ],
)
def test_a_name_says_which_build_of_pytorch_it_needs(text, name, device, meaning):
    rows = inspection.accelerator_rows(decode(name).model_copy(update={"device": device}), text)
    assert [row.meaning for row in rows if row.criterion == text("inspect.gpu.architecture")] == [text(f"inspect.meaning.{meaning}")]


def test_only_a_pytorch_that_was_asked_says_that_there_is_no_accelerator(text):
    def said(threads, accelerators=()):
        hardware = Hardware(cpu=CPU(torch_threads=threads), accelerators=list(accelerators), pytorch=PyTorch(version="2.13.0+cpu"))
        return {row.criterion: row for row in inspection.report(hardware, text)}

    assert said(1)[text("inspect.gpu.name")].value == text("inspect.no_accelerator")
    assert text("inspect.gpu.name") not in said(None)  # a pasted report knows nothing of mps
    assert said(1, [decode("RTX 4070")])[text("inspect.gpu.name")].value == "RTX 4070"
    assert said(1)[text("inspect.pytorch.version")].meaning == text("inspect.meaning.pytorch_cpu")


def test_nothing_in_an_inspected_machine_is_more_than_a_string_on_a_page(text):
    card = Accelerator(name=NASTY, vendor=NASTY, series=NASTY, tier=NASTY, notes=[NASTY])
    cpu = CPU(model=NASTY, vendor=NASTY, physical_cores=4, environment=NASTY, notes=[NASTY])
    page = examples.inspected(Hardware(cpu=cpu, accelerators=[card], pytorch=PyTorch(driver=NASTY, problem=NASTY, cure=NASTY)), text)
    assert page.count("alert") >= 9
    assert "<script" not in page and "**x**" not in page and "](http://x)" not in page
    assert not re.search(r"^\s*(--8<|#)", page, re.MULTILINE)
    table, notes = page.split("\n\n")
    assert {row.count("|") for row in table.splitlines()} == {4}
    assert len(notes.splitlines()) == 2


def test_a_broken_file_changes_nothing(results, tmp_path):
    (tmp_path / "results" / "local").mkdir(parents=True)
    save(results, tmp_path / "results" / "local" / "mine.json")
    assert render(tmp_path, local=True)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    (tmp_path / "results" / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ResultsError, match="other.json"):
        render(tmp_path, local=True)
    (tmp_path / "results" / "other.json").unlink()
    assert before == {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}


def test_the_readers_own_machine_comes_first_and_is_called_so(results, tmp_path, text):
    (tmp_path / "results" / "local").mkdir(parents=True)
    save(results, tmp_path / "results" / "local" / "mine.json")
    results.hardware.cpu.model = "Reference CPU"
    save(results, tmp_path / "results" / "reference.json")
    machines, _ = read_results(tmp_path, local=True)
    assert [m.local for m in machines] == [1, 0]
    assert machines[0].title(text).startswith("Your machine: Example CPU 9")
    assert [m.tab(text) for m in machines][0] == "Your machine"
    machines[0].results.profile = "probe"  # it may come from anywhere
    assert machines[0].title(text).startswith("Your probe: Example CPU 9") and machines[0].tab(text) == machines[0].title(text)
    assert (tmp_path / "docs" / "en" / "results" / "local").exists() is False
    render(tmp_path, local=True)
    assert (tmp_path / "docs" / "en" / "results" / "local" / "mine.json").exists()
    assert (tmp_path / ".build" / "generated" / "en" / "tables" / "training.md").exists()


def test_the_readers_machine_may_be_of_the_same_kind_as_a_reference_one(results, text):
    machines = [Machine("same", results, local=1), Machine("same", results, local=2), Machine("same", results)]
    assert len({m.tab(text) for m in machines}) == 3
    ids = re.findall(r' id="([^"]+)"', plots.loss_curve([machines[0], machines[2]], text))
    assert len(ids) == len(set(ids)) > 0


def step_record(role, case, seconds):
    return Record(experiment="step", group="cpu", role=role, case=case, device="cpu", threads=1, samples=[seconds] * 10)


@pytest.mark.parametrize(("forward", "said"), [(95e-6, "add up to 95"), (60e-6, "do not explain the step")])
def test_the_step_table_says_whether_the_parts_add_up(machine, text, forward, said):
    machine.results.records = [step_record(*r) for r in (("base", "lesson", 1e-4), ("twin", "lesson", 1e-4), ("part", "forward", forward), ("case", "matrix products", 3e-6))]
    assert said in tables.step([machine], text).replace("\u00a0", " ")


def test_a_restless_machine_is_called_so(machine, text):
    assert "restless" not in tables.training([machine], text)
    machine.results.records[1].samples = [1e-4, 5e-4, 2e-4, 3e-4]
    assert "restless machine" in tables.training([machine], text)


def test_every_language_has_the_same_texts():
    def keys(texts, prefix=""):
        for key, value in texts.items():
            yield from keys(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key]

    english = set(keys(Texts("en")._texts))
    for language in languages():
        assert set(keys(Texts(language)._texts)) == english
