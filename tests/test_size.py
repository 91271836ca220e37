"""How much work a step has, and how many threads do it: what the experiments record, and what is read out of it."""

import math
import re

import pytest
import torch

from tutorial.measure import cases, timing
from tutorial.measure.experiments import Plan, size, threads
from tutorial.measure.results import Record
from tutorial.publish import plots, tables
from tutorial.publish.comparison import Machine, share_of_peak, sweeps
from tutorial.publish.words import Texts

CPU = torch.device("cpu")


@pytest.fixture
def text():
    return Texts("en")


@pytest.fixture
def short(monkeypatch):
    def rotate(experiment, group, cases, **options):
        return timing.rotate(experiment, group, cases, rotations=2, seconds=60, block=0.0)

    for module in (size, threads):
        monkeypatch.setattr(module, "rotate", rotate)
        monkeypatch.setattr(module, "usable_cores", lambda: 2)
    monkeypatch.setattr(threads, "WIDTH", 16)
    monkeypatch.setattr(cases, "WORTH_TRYING", math.inf)
    monkeypatch.setattr(size, "CPU_SIDE", 8)
    monkeypatch.setattr(size, "WIDTHS", {"quick": (10, 64)})
    monkeypatch.setattr(size, "BATCHES", {"quick": (1, 120)})


def test_the_counted_operations_are_those_of_the_matrix_products():
    assert size.flop(10, 120) == 2 * 120 * (2 * 4 * 10 + 3 * 10 * 3)  # forward and weights; the input needs no gradient
    assert size.flop(64, 240) == 2 * size.flop(64, 120)


def test_the_size_experiment(short, results, text):
    records = size.measure(Plan("quick", [CPU]))
    found = {(r.group, r.case): r for r in records if r.role in ("base", "case")}
    assert {case for group, case in found if group == "width 64"} == {"cpu, batch 1", "cpu, batch 120", "cpu, 2 threads, batch 120"}
    assert {case for group, case in found if group == "peak on cpu"} == {"matrix product", "matrix product, 2 threads"}
    assert found["width 64", "cpu, 2 threads, batch 120"].threads == 2
    assert found["width 10", "cpu, batch 120"].parameters | {"block": 1} == {"batch": 120, "width": 10, "flop": 40800, "block": 1}
    results.records, results.hardware.accelerators = records, []
    machine = Machine("example", results)
    for drawn in (tables.size([machine], text), plots.size_map([machine], text)):
        assert "**GPU**: *not measured here*" in drawn
    assert "<figure" in plots.size([machine], text)


def test_a_step_that_takes_too_long_is_left_out_and_no_larger_one_is_tried(monkeypatch):
    tried = []
    monkeypatch.setattr(size, "trainer", lambda model, width, batch, device: tried.append(batch))
    monkeypatch.setattr(size, "block_time", lambda case, steps: (0.001 * tried[-1], {}))
    cases = size.cases(CPU, 10, [1, 10, 100, 1000], 0.05)
    assert tried == [1, 10, 100]
    for case, left_out in zip(cases, (False, False, True, True), strict=True):
        if left_out:
            with pytest.raises(RuntimeError, match="left out: a step takes more than 0.05 s"):
                case.run(1)


def test_what_does_not_fit_is_recorded_and_the_rest_goes_on(short, monkeypatch):
    fits = size.rows_for

    def rows_for(width, batch, device):
        if batch == 120 and device.type != "meta":
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return fits(width, batch, device)

    monkeypatch.setattr(size, "rows_for", rows_for)
    records = {r.case: r for r in size.measure(Plan("quick", [CPU])) if r.group == "width 64" and r.role in ("base", "case")}
    assert records["cpu, batch 120"].failure == "CUDA out of memory."
    assert records["cpu, batch 1"].samples


def test_no_step_of_the_grid_needs_more_than_4_gib():
    for profile in ("quick", "full"):
        for width in size.WIDTHS[profile]:
            rows = max(batch for batch in size.BATCHES[profile] if batch * width <= size.LARGEST)
            # two layers, each with what it gives, what that is after the ReLU, and the gradients of both
            assert 4 * (8 * rows * width + 2 * (width * width + 74 * width)) < 4 * 2**30


# ---- What is read out of the records, made up here ----

BATCHES = (1, 120, 1200, 12_000)
DRIFT = [1.0, 1.7, 1.2, 1.4]  # of the machine: each rotation at another speed


def made_up(device, batch, width, seconds, role="case", threads=1):
    parameters = dict(batch=batch, width=width, flop=1000 * batch * width, threads=threads)
    case = f"{device}, batch {batch}"
    if seconds is None:
        return Record(experiment="size", group=f"width {width}", role=role, case=case, device=device, threads=threads, parameters=parameters, failure="left out: a step takes more than 0.25 s")
    return Record(experiment="size", group=f"width {width}", role=role, case=case, device=device, threads=threads, parameters=parameters, samples=[seconds * drift for drift in DRIFT])


def product(device, seconds, threads=1):
    return Record(experiment="size", group=f"peak on {device}", role="base", case="matrix product", device=device, threads=threads, parameters={"flop": 10**9}, samples=[seconds] * 4)


@pytest.fixture
def machine(results):
    """Width 10: the accelerator is slower throughout. Width 64: flat to 1 200 rows there, and faster from 1 200 on."""
    results.hardware.accelerators[0].name = "Example GPU"
    results.records = [product("cpu", 0.01), product("cpu", 0.005, threads=4), product("cuda:0", 0.0001)]
    for width, cpu, gpu in ((10, (2e-4, 2.1e-4, 4e-4, 1e-3), (8e-4, 8e-4, 8e-4, 9e-4 * 2)), (64, (2e-4, 4e-4, 3e-3, None), (8e-4, 8.2e-4, 8.5e-4, 2e-3))):
        results.records += [made_up("cpu", 1, width, cpu[0], role) for role in ("base", "twin")]
        results.records += [made_up("cpu", batch, width, seconds) for batch, seconds in zip(BATCHES[1:], cpu[1:])]
        results.records += [made_up("cuda:0", batch, width, seconds) for batch, seconds in zip(BATCHES, gpu)]
    results.records.append(made_up("cpu", 1200, 64, 2e-3, threads=4))
    return Machine("example", results)


def test_flat_part_crossover_and_share_are_free_of_the_drift(machine):
    lesson, wide = sweeps(machine)
    assert (lesson.width, wide.width) == (10, 64)
    assert lesson.flat("cpu") == (1, 120) and wide.flat("cpu") == (1, 1)
    assert lesson.flat("cuda:0") == (1, 1200) and wide.flat("cuda:0") == (1, 1200)
    assert lesson.crossover("cuda:0") is None and wide.crossover("cuda:0") == 1200
    assert wide.best("cpu")[1200].threads == 4, "the CPU's better number of threads"
    assert list(wide.best("cpu")) == [1, 120, 1200]
    seconds = 2e-3 * 1.3  # the median of the drift
    assert share_of_peak(wide.best("cpu")[1200], machine) == pytest.approx(1000 * 1200 * 64 / seconds / 2e11)
    machine.results.records = [r for r in machine.results.records if not r.group.startswith("peak")]
    assert share_of_peak(wide.best("cpu")[1200], machine) is None


def test_the_flat_part_begins_where_the_fastest_does(machine):
    machine.results.records = [made_up("cpu", batch, 64, seconds, role) for batch, seconds, role in ((1, 3e-4, "base"), (1, 3e-4, "twin"), (120, 2e-4, "case"), (1200, 2.1e-4, "case"), (12_000, 9e-4, "case"))]
    (sweep,) = sweeps(machine)
    assert sweep.flat("cpu") == (120, 1200)


def test_the_table_of_sizes(machine, text):
    table = tables.size([machine], text).replace("\u00a0", " ")
    assert "| 10 (the lesson's network) | 260 µs | 1 to 120 |" in table
    assert "| from 1 200 on |" in table and "| at no batch measured |" in table
    assert "100 GFLOP/s (threads: 1); 200 GFLOP/s (threads: 4)" in table
    assert "not measured here" not in table
    machine.results.records = [r for r in machine.results.records if r.device == "cpu"]
    assert "**Example GPU**: *not measured here*" in tables.size([machine], text)


def test_a_device_where_nothing_fits_shows_why(machine, text):
    machine.results.records = [made_up(r.device, r.parameters["batch"], r.parameters["width"], None) if r.device == "cuda:0" and "batch" in r.parameters else r for r in machine.results.records]
    assert "**Example GPU**: *left out: a step takes" in tables.size([machine], text)
    assert "<figure" in plots.size_map([machine], text) and "<figure" in plots.size([machine], text)


def test_the_map_says_in_words_who_is_faster(machine, text):
    said = re.findall(r">([^<]*)</text>", plots.size_map([machine], text))
    assert said.count("–") == 1  # left out on the CPU
    assert {"CPU ×4.0", "GPU ×2.4", "CPU ×2.0"} <= set(said)
    machine.results.records = [r for r in machine.results.records if r.device == "cpu"]
    alone = re.findall(r">([^<]*)</text>", plots.size_map([machine], text).replace("\u00a0", " "))
    assert {"260 µs •", "273 µs •", "520 µs"} <= set(alone)


def test_accelerators_alone_are_drawn_too(machine, text):
    machine.results.records = [r for r in machine.results.records if r.device == "cuda:0"]
    assert "**Example GPU**" in plots.size_map([machine], text)
    assert "*not measured here* |" in tables.size([machine], text), "there is no CPU to be faster than"


# ---- Threads ----


@pytest.mark.parametrize(("cores", "expected"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (16, [1, 2, 4, 8, 16])])
def test_threads_are_doubled_up_to_the_cores(cores, expected):
    assert threads.counts(cores) == expected


def test_the_threads_experiment(short, results, text):
    before = torch.get_num_threads()
    records = threads.measure(Plan("quick", [CPU]))
    assert torch.get_num_threads() == before
    cases = {(r.group, r.case): r for r in records if r.role in ("base", "case")}
    assert set(cases) == {(group, case) for group in ("lesson", "wide") for case in ("1 thread", "2 threads")}
    assert all(r.threads == int(case.split()[0]) for (_, case), r in cases.items())
    results.records = records
    table = tables.threads([Machine("example", results)], text)
    assert "| 1 |" in table and "| 2 |" in table and "threads: 1 once more (A/A)" in table


def test_without_the_cpu_there_are_no_threads_to_try(results, text):
    assert threads.measure(Plan("quick", [torch.device("meta")])) == []
    assert "Not measured on any machine yet" in tables.threads([Machine("example", results)], text)


@pytest.mark.parametrize(("seconds", "kept"), [(0.6, True), (1.1, True), (30.0, False)])
def test_more_threads_that_only_wait_are_left_out(monkeypatch, seconds, kept):
    monkeypatch.setattr(cases, "block_time", lambda case, times: (1.0 if case.threads == 1 else seconds, {}))
    case = cases.on_all_cores(4, timing.Case("x", lambda times: None), "x, 4 threads")
    assert (case.name, case.threads) == ("x, 4 threads", 4)
    if kept:
        case.run(1)
    else:
        with pytest.raises(RuntimeError, match="left out: with 4 threads a step takes more than 1.2 times"):
            case.run(1)


def test_a_case_runs_with_its_threads_and_gives_them_back():
    seen = []
    case = cases.on_threads(2, timing.Case("x", lambda times: seen.append(torch.get_num_threads())))
    before = torch.get_num_threads()
    case.run(1)
    assert seen == [2] and torch.get_num_threads() == before
