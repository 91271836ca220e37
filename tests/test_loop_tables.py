"""What holds a loop up: the model and its verdict, the tables and the timeline, from results of a CUDA device that are made up."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tutorial.measure.results import Record
from tutorial.publish import loop_tables
from tutorial.publish.bound import bound
from tutorial.publish.comparison import Machine
from tutorial.publish.render import fragments
from tutorial.publish.timeline import timeline
from tutorial.publish.words import Texts

DEVICE = "cuda:0"
US = 1e-6


@pytest.fixture
def text():
    return Texts("en")


def record(experiment, group, case, value, role="case", unit="s", **parameters):
    """A case with twelve equal samples, or one if it is single."""
    samples = [value] * (1 if role == "single" else 12)
    return Record(experiment=experiment, group=f"{group}{DEVICE}", case=case, role=role, device=DEVICE, threads=1, unit=unit, samples=samples, parameters=parameters)


def bound_records(lesson=500 * US, never=460 * US, host=450 * US, device=60 * US, more=62 * US, drain=40 * US, launch=1 * US):
    values = {"never": never, "host": host, "kernel launch": launch, "device, launched": device, "device": device - 6 * US, "device, batch 1200": more, "device, batch 12000": 4 * more, "synchronize": drain}
    records = [record("bound", "on ", "lesson", lesson, role, block=50) for role in ("base", "twin")]
    return records + [record("bound", "on ", case, value, block=50, graph=int(case.startswith("device, batch"))) for case, value in values.items()]


def counted(**counts):
    return [record("step", "counts on ", case, value, "single", "count") for case, value in counts.items()]


@pytest.fixture
def machine(results):
    def made(*records):
        results.records = list(records)
        return Machine("example", results)

    return made


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({}, "host"),
        (dict(lesson=245 * US, never=205 * US, host=70 * US, device=200 * US, more=204 * US), "latency"),
        (dict(lesson=245 * US, never=205 * US, host=70 * US, device=200 * US, more=900 * US), "throughput"),
        (dict(lesson=900 * US), "open"),  # the model is 46 % off for the loop that reads
        (dict(never=900 * US), "open"),  # and here for the one that does not
        (dict(host=200 * US, device=200 * US, never=200 * US, lesson=240 * US), "open"),  # H and G are alike
        (dict(lesson=950 * US, drain=500 * US), "open"),  # waiting is most of it
    ],
)
def test_the_verdict(machine, changed, word):
    assert bound(machine(*bound_records(**changed)).results, DEVICE).word == word


def test_the_model_and_the_busy_share(machine):
    verdict = bound(machine(*bound_records()).results, DEVICE)
    never, lesson = verdict.predictions
    assert (lesson.loop, lesson.waits, never.waits) == ("lesson", 1, 1 / 50)
    assert lesson.predicted == pytest.approx(490 * US) and never.predicted == pytest.approx(450.8 * US)
    assert lesson.share == pytest.approx(0.98) and verdict.explained
    assert verdict.busy == pytest.approx(54 / 500)


@pytest.mark.parametrize(("seconds", "word"), [(15 * US, "launch"), (5 * US, "host")])
def test_launch_bound_needs_the_launches_counted_and_one_timed(machine, seconds, word):
    verdict = bound(machine(*bound_records(launch=seconds), *counted(launches=20.0)).results, DEVICE)
    assert verdict.launch_share.median == pytest.approx(20 * seconds / (450 * US)) and verdict.word == word
    assert bound(machine(*bound_records(launch=seconds)).results, DEVICE).launch_share is None


def test_without_all_of_w_h_and_g_there_is_no_verdict(machine, text):
    failure = "cuda:0 could not be kept busy while the work was queued"
    example = machine(*(r.model_copy(update={"samples": [], "failure": failure}) if r.case == "host" else r for r in bound_records()))
    assert bound(example.results, DEVICE) is None
    table = loop_tables.bounds([example], text)
    assert "there is no verdict" in table and "could not be kept busy" in table


def test_a_probe_that_timed_no_wait_has_a_verdict_on_the_other_loop(machine):
    verdict = bound(machine(*(r for r in bound_records() if r.case != "synchronize")).results, DEVICE)
    assert [p.loop for p in verdict.predictions] == ["never"] and verdict.word == "host"


def test_the_bound_table(machine, text):
    table = loop_tables.bounds([machine(*bound_records(launch=5 * US), *counted(launches=20.0))], text).replace("\u00a0", " ")
    assert "| H: queueing a step while the device is kept busy | 450 µs |" in table
    assert "| W: the lesson's loop, loss read every step | 1.0 | 490 µs | 500 µs | 98 % |" in table
    assert "**Host-bound**" in table and "are 22 % of H" in table and "for 11 % of a step's time" in table
    assert "the lesson's loop, loss read every step once more (A/A)" in table


def test_what_the_model_misses_is_called_open(machine, text):
    table = loop_tables.bounds([machine(*bound_records(lesson=900 * US))], text).replace("\u00a0", " ")
    assert "**Open**" in table and "misses W by more than 20 %" in table and "Host-bound" not in table


def test_overheads_first_calls_and_counts_have_a_column_for_each_device(machine, text):
    cpu = dict(device="cpu", threads=1)
    overheads = [
        record("overheads", "on ", "empty operation", 1 * US, "base", block=9),
        record("overheads", "on ", "kernel launch", 5 * US, block=100),
        Record(experiment="overheads", group=f"on {DEVICE}", case="context creation", role="single", device=DEVICE, threads=1, failure="not done after 120 s"),
        Record(experiment="overheads", group="on cpu", case="empty operation", role="base", samples=[0.5 * US] * 9, **cpu),
    ]
    first = [record("first-call", "on ", "first operation", 0.4, "single"), Record(experiment="first-call", group="on cpu", case="first operation", role="single", samples=[1e-4, 3e-4], **cpu)]
    counts = [*counted(dispatches=38, launches=20.5), Record(experiment="step", group="counts on cpu", case="dispatches", role="single", unit="count", samples=[38.0], **cpu)]
    example = machine(*overheads, *first, *counts)
    shown = {table: getattr(loop_tables, table)([example], text).replace("\u00a0", " ") for table in ("overheads", "first_call", "counts")}
    assert re.search(r"\| One of these, median time \| Example GPU [^|]*\| CPU \|", shown["overheads"])
    assert "| launch of a kernel that does nothing, past PyTorch's dispatcher | 5.00 µs | – |" in shown["overheads"]
    assert "failed: not done after 120 s" in shown["overheads"]
    assert "400 ms | 200 µs |" in shown["first_call"]
    assert "| launch calls of the driver | 20.5 | – |" in shown["counts"]


def test_without_an_accelerator_nothing_is_told_of_one(machine, results, text):
    results.hardware.accelerators = []
    cpu = Record(experiment="step", group="counts on cpu", case="dispatches", role="single", unit="count", device="cpu", threads=1, samples=[38.0])
    example = machine(cpu)
    assert "**GPU**: *not measured here*" in loop_tables.bounds([example], text)
    assert "| CPU | GPU |" in loop_tables.counts([example], text) and "| 38 | *not measured here* |" in loop_tables.counts([example], text)


def test_simulated_counts_are_called_simulated_and_stand_apart_from_measurements(results, text):
    table = loop_tables.simulated_counts(text)
    assert table.count("*Simulated*") == 2 and "not measured" in table
    pages = fragments([Machine("example", results)], {}, "en")
    assert {path for path, page in pages.items() if "imulated*" in page} == {"tables/simulated-counts.md"}
    assert "raw data" not in pages["tables/simulated-counts.md"]


def event(case, start, seconds, track=0, depth=0):
    return record("step", "timeline on ", case, seconds, "single", start=start, track=track, depth=depth, order=0)


def two_steps():
    for begin in (0.0, 500 * US):
        yield event("forward", begin, 100 * US)
        yield event("addmm", begin + 10 * US, 40 * US, depth=1)
        yield event("backward", begin + 110 * US, 300 * US)
        yield event('<script>alert("x")</script>\n--8<-- "README.md"', begin + 60 * US, 3 * US, track=1)


def test_the_timeline_has_every_event_in_its_step_and_lane(machine, text):
    page = timeline([machine(*two_steps())], text)
    (figure,) = re.findall(r"<figure.*</figure>", page)
    picture = ElementTree.fromstring(figure)
    svg = "{http://www.w3.org/2000/svg}"
    assert len(picture.findall(f".//{svg}rect")) == 8
    rows = {round(float(rect.get("y"))) for rect in picture.findall(f".//{svg}rect")}
    assert len(rows) == 6  # two steps of three lanes
    assert "<script" not in page and "\n" not in figure and not re.search(r"^\s*--8<", page, re.MULTILINE)
    assert "Step 2: forward 100\u00a0µs, backward 300\u00a0µs; 1 operations of the host, 1 events on the device." in picture.find(f".//{svg}desc").text
    assert [e.text for e in picture.findall(f".//{svg}text")].count("forward") == 2


def test_a_timeline_that_could_not_be_recorded_says_why(machine, text):
    failed = Record(experiment="step", group=f"timeline on {DEVICE}", case="timeline", role="single", device=DEVICE, threads=1, failure="CUPTI is missing")
    assert "failed: CUPTI is missing" in timeline([machine(failed)], text)


@pytest.mark.parametrize("value", [0, 1e15])
def test_times_that_no_machine_measures_are_drawn_or_refused(machine, text, value):
    from tutorial.measure.results import ResultsError

    try:
        timeline([machine(event("forward", value, 1e-300), event("forward", 0, 1e-9), event("x", value, 1e9, track=1))], text)
    except ResultsError as error:
        assert "example.json" in str(error)


def test_the_strategies_say_what_is_faster_and_when_compiling_has_paid(machine, text):
    def compared(name, case, seconds, first=None):
        rows = [record("strategies", f"{name}on ", "lesson", 100 * US, role, block=10) for role in ("base", "twin")]
        rows.append(record("strategies", f"{name}on ", case, seconds, block=10))
        return rows + ([record("strategies", f"{name}on ", f"{case}: first call", first, "single")] if first else [])

    records = compared("", "by hand", 25 * US)
    records += compared("compile(model) ", "compile(model)", 150 * US, first=20.0)
    records += compared("whole step compiled ", "whole step compiled", 50 * US, first=30.0)
    failed = dict(experiment="strategies", group=f"compile(loss) on {DEVICE}", role="case", device=DEVICE, threads=1)
    records.append(Record(case="compile(loss)", failure="no | compiler", **failed))
    table = loop_tables.strategies([machine(*records)], text).replace("\u00a0", " ")
    rows = [row.strip() for row in table.splitlines()]
    assert "| the lesson's loop | 100 µs | 1 |  | – | – | – |" in rows
    assert "| gradients by hand | 25.0 µs | 0.250 | 0.250 – 0.250 | faster | – | – |" in rows
    assert "| `torch.compile(model)` | – | 1.50 | 1.50 – 1.50 | slower | 20.0 s | never |" in rows
    assert "| the whole step compiled | – | 0.500 | 0.500 – 0.500 | faster | 30.0 s | 600 000 steps |" in rows
    assert any("`torch.compile` of model and loss" in row and "no &#124; compiler" in row for row in rows)
