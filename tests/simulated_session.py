"""Tests of device code on the simulated accelerator. `test_simulated.py` runs them, in a process of their own.

Named so that pytest does not collect them with the others: the registration of a device holds for the whole process.
"""

import copy
import json
from functools import cache, partial

import numpy as np
import pytest
import simulated_accelerator as simulated
import simulated_counts
import torch
from simulated_accelerator import Event, counts

from tutorial.hardware.gpu import accelerator_devices
from tutorial.measure import held_queue, timing
from tutorial.measure.experiments import Plan, bound, first_call, logging, many, overheads, size, step, strategies, training, transfer, unsynchronized, wide
from tutorial.publish.claims import CLAIMS, NOT_MEASURED, findings
from tutorial.publish.comparison import Machine
from tutorial.publish.render import fragments
from tutorial.training import data, loops
from tutorial.training.model import WideMLP, make_model

DEVICE = torch.device(simulated.NAME, 0)
LOOPS = {
    "every step": loops.read_every_step,
    "every 10th step": partial(loops.read_every, interval=10),
    "never": loops.read_never,
    "kept on the device": loops.keep_on_device,
}


@pytest.fixture(autouse=True)
def fresh():
    torch.set_num_threads(1)
    simulated.reset()


def trained(loop, device, steps=50):
    """The losses that the loop read, and the weights that it came to."""
    split, model = data.iris().to(device), make_model(device)
    losses = loop(model, split.X_train, split.y_train, steps)
    return losses, [parameter.cpu() for parameter in model.parameters()]


def same(one, other):
    return one[0] == other[0] and all(torch.equal(ours, theirs) for ours, theirs in zip(one[1], other[1], strict=True))


# ---- The simulation itself ----


def test_pytorch_takes_it_for_an_accelerator():
    assert torch.accelerator.current_accelerator(check_available=True).type == simulated.NAME
    assert accelerator_devices() == [DEVICE]


@pytest.mark.parametrize("name", LOOPS)
def test_losses_and_weights_are_those_of_the_cpu_bit_for_bit(name):
    assert same(trained(LOOPS[name], DEVICE), trained(LOOPS[name], "cpu"))


@pytest.mark.parametrize("options", [dict(foreach=True), dict(fused=True), dict(momentum=0.9)])
def test_other_optimizers_train_alike(options):
    def loop(model, X, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, **options)
        for _ in range(steps):
            loss = torch.nn.functional.cross_entropy(model(X), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [loss.item()]

    assert same(trained(loop, DEVICE, 30), trained(loop, "cpu", 30))


@pytest.mark.parametrize("mix", [torch.add, torch.matmul, lambda a, b: torch.cat([a, b])])
@pytest.mark.parametrize("turn", [lambda a, b: (a, b), lambda a, b: (b, a)])
def test_tensors_of_two_devices_do_not_mix(mix, turn):
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two devices"):
        mix(*turn(torch.ones(2, 2), torch.ones(2, 2, device=DEVICE)))


def test_a_single_number_may_come_from_the_cpu_but_an_index_may_not_go_there():
    assert (torch.ones(2, device=DEVICE) * torch.tensor(3.0)).tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same device"):
        torch.ones(3)[torch.tensor([0, 1], device=DEVICE)]


@pytest.mark.parametrize("convert", [lambda tensor: tensor.numpy(), np.asarray])
def test_numpy_wants_a_copy_on_the_cpu(convert):
    with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\) to copy the tensor to host memory first"):
        convert(torch.ones(2, device=DEVICE))


def test_a_module_keeps_its_parameters_when_it_moves():
    model = make_model("cpu")
    before = [*model.parameters()]
    assert all(ours is theirs for ours, theirs in zip(before, model.to(DEVICE).parameters(), strict=True))
    assert copy.deepcopy(model).fc1.weight.device == DEVICE


# ---- What is counted ----


def asked(loop, steps=20):
    split, model = data.iris().to(DEVICE), make_model(DEVICE)
    simulated.reset()
    loop(model, split.X_train, split.y_train, steps)
    return counts.copy()


def test_each_reading_is_one_copy_and_one_wait_more():
    never, every, tenth = asked(loops.read_never), asked(loops.read_every_step), asked(LOOPS["every 10th step"])
    assert never["copies from device"] == never["synchronizations"] == 0
    for read, times in ((every, 20), (tenth, 2)):
        assert read["copies from device"] == read["synchronizations"] == times
        assert read["calls"] == never["calls"] + times
        assert read["bytes from device"] == 4 * times


def test_losses_that_stay_there_are_fetched_once():
    kept = asked(loops.keep_on_device)
    assert kept["copies from device"] == kept["synchronizations"] == 1 and kept["bytes from device"] == 4 * 20


def test_the_lesson_is_moved_in_8_copies_of_3932_bytes():
    (case,) = transfer.iris_cases(DEVICE)
    simulated.reset()
    case.run(1)
    assert (counts["copies to device"], counts["bytes to device"]) == (case.parameters["copies"], case.parameters["bytes"]) == (8, 3932)


def test_a_copy_is_waited_for_unless_it_is_non_blocking():
    here, there = torch.ones(4), torch.ones(4, device=DEVICE)
    there.copy_(here)
    assert counts["synchronizations"] == 1
    there.copy_(here, non_blocking=True)
    assert counts["synchronizations"] == 1 and counts["copies to device"] == 2


def test_the_made_up_clock_runs_ahead_until_the_host_waits():
    simulated.Clock.WORK, before = 50.0, simulated.Clock.WORK
    try:
        x = torch.ones(4, device=DEVICE)
        simulated.reset()
        for _ in range(3):
            x.add_(1)
        assert simulated.clock.host == 3 * simulated.Clock.QUEUE and simulated.clock.device == simulated.Clock.QUEUE + 150
        timing.synchronize(DEVICE)
        assert simulated.clock.host == simulated.clock.device and counts["synchronizations"] == 1
    finally:
        simulated.Clock.WORK = before


def test_what_the_guide_shows_as_simulated_is_what_is_counted():
    shown = json.loads(simulated_counts.FILE.read_text(encoding="utf-8"))
    if shown["torch"].rsplit(".", 1)[0] != torch.__version__.rsplit(".", 1)[0]:
        pytest.skip(f"the file was counted with PyTorch {shown['torch']}")
    assert shown == simulated_counts.count_loops(), "run tests/simulated_counts.py"


# ---- The experiments' branch for an accelerator ----


@pytest.fixture
def short(monkeypatch):
    """One short block of each; events, which a Python backend cannot give; new processes in this one; and a small matrix."""

    def rotate(experiment, group, cases, **options):
        return timing.rotate(experiment, group, cases, rotations=1, seconds=60, block=0.0)

    monkeypatch.setattr(timing, "WARM_UP_ROTATIONS", 0)

    for module in EXPERIMENTS.values():
        if module is not first_call:
            monkeypatch.setattr(module, "rotate", rotate)
    monkeypatch.setattr(torch, "Event", Event)
    monkeypatch.setattr(held_queue, "SIDE", 8)
    monkeypatch.setattr(first_call, "LATER", 2)
    for module in (first_call, overheads):
        monkeypatch.setattr(module, "in_new_process", lambda function, *arguments, **options: function(*arguments))
    monkeypatch.setattr(training, "LESSON_STEPS", 40)
    monkeypatch.setattr(training, "CURVE_INTERVAL", 10)
    monkeypatch.setattr(transfer, "SIZES", (4, 2048))
    monkeypatch.setattr(wide, "WideMLP", lambda: WideMLP(16))
    monkeypatch.setattr(many, "CHECKED_STEPS", 3)
    monkeypatch.setattr(strategies, "CHECKED_STEPS", 10)
    monkeypatch.setattr(strategies, "LONG", 20)
    monkeypatch.setitem(many.MODELS, "quick", (1, 3))
    monkeypatch.setitem(size.WIDTHS, "quick", (10, 16))
    monkeypatch.setitem(size.BATCHES, "quick", (1, 120))
    monkeypatch.setattr(size, "CPU_SIDE", 8)
    monkeypatch.setattr(size, "ACCELERATOR_SIDE", 8)
    monkeypatch.setattr(size, "LONGEST", {"quick": 60})  # this device is slow
    monkeypatch.setattr(unsynchronized, "SIZE", 8)


# Those that have a branch for an accelerator.
EXPERIMENTS = {
    module.__name__.rsplit(".", 1)[1].replace("_", "-"): module
    for module in (training, step, logging, wide, transfer, bound, overheads, first_call, many, size, strategies, unsynchronized)
}


@cache
def measured(name):
    """The records of an experiment on the CPU and on the simulated accelerator; for tests that use `short`."""
    return EXPERIMENTS[name].measure(Plan("quick", [torch.device("cpu"), DEVICE]))


NOT_SIMULATED = {
    "transfer": {"to the device, pinned"},
    "overheads": {"kernel launch"},
    "step": {"launches", "device"},  # of these the profiler sees nothing
    "strategies": {"by hand, inference mode"},
    "bound": {"kernel launch"},
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_experiment_measures_the_accelerator(name, short):
    records = measured(name)
    there = [r for r in records if r.device == str(DEVICE)]
    assert there and {r.experiment for r in records} == {name}
    failures = {r.case: r.failure for r in there if r.failure}
    assert failures.keys() <= NOT_SIMULATED.get(name, set()), failures


def test_what_was_measured_on_it_renders(short, results):
    results.hardware.accelerators[0].device = str(DEVICE)
    results.records = [record for name in ("training", "step", "bound", "overheads", "first-call") for record in measured(name)]
    pages = fragments([Machine("example", results)], {}, "en")
    for path in ("tables/bound.md", "tables/overheads.md", "tables/first-call.md", "tables/counts.md", "figures/timeline.md"):
        assert "Example GPU" in pages[path] and "not measured here" not in pages[path], path


# Claims that need CUDA, the profile `full`, or a number of models or rows that `short` leaves out.
UNDECIDABLE = {
    "launches-less-than-half", "pinning-on-the-fly", "graph-beats-eager", "graph-beats-cpu-loop",
    "graph-frees-the-host", "naive-compilation", "whole-step-compilation", "hundred-models", "flat",
}  # fmt: skip


def test_the_claims_find_what_the_experiments_record(short, results):
    """Whatever their verdicts are: the times are made up."""
    results.hardware.accelerators[0].device = str(DEVICE)
    results.records = [record for name in EXPERIMENTS for record in measured(name)]
    about = [claim for claim in CLAIMS if claim.about != "cpu"]
    missing = {claim.id for claim in about if findings(claim, results)[str(DEVICE)].verdict == NOT_MEASURED}
    assert missing == UNDECIDABLE


def test_both_devices_end_the_whole_run_with_the_same_losses(short):
    runs = [training.whole_run(device, lambda done: None) for device in (torch.device("cpu"), DEVICE)]
    assert runs[0][1].samples == runs[1][1].samples and runs[0][2].samples == runs[1][2].samples


def test_pageable_copies_go_on_where_nothing_can_be_pinned(short):
    records = transfer.ladder(4, DEVICE, Plan("quick", [DEVICE]), lambda done: None)
    assert {r.case for r in records if r.samples} >= {"to the device, pageable", "from the device, pageable"}


# ---- Bound ----


def test_the_host_is_timed_while_the_device_is_busy(short, monkeypatch):
    held = held_queue.HeldQueue(DEVICE)
    asked_for = []
    monkeypatch.setattr(held, "keep_busy", lambda: asked_for.append(held.amount))
    free_after = 3

    class Freed(Event):
        def query(self):
            return len(asked_for) < free_after

    monkeypatch.setattr(torch, "Event", Freed)
    filled = held.fill(lambda: torch.ones(1, device=DEVICE).add_(1))
    assert asked_for == [1, 2, 4] and filled.host > 0 and filled.device > 0
    held.fill(lambda: None)
    assert asked_for[3:] == [4]  # what was found is kept


def test_a_device_that_cannot_be_kept_busy_is_said_to_be_so(short, monkeypatch):
    monkeypatch.setattr(Event, "query", lambda event: True)
    monkeypatch.setattr(held_queue, "LONGEST", 3)
    records = {r.case: r for r in bound.measure(Plan("quick", [DEVICE]))}
    assert records["host"].failure == "simulated:0 could not be kept busy while the work was queued"
    assert records["lesson"].samples and records["synchronize"].samples


def test_a_filling_is_short_enough_for_the_queue():
    steps = asked(loops.read_never, bound.QUEUED_STEPS)
    assert steps["calls"] < 800  # a queue of CUDA holds about a thousand launches, and most calls launch nothing
