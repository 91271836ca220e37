"""The experiments, shortened: that each gives the records that its table and plot are drawn from."""

import pytest
import torch

from tutorial.measure import experiments as package
from tutorial.measure.experiments import Plan, experiments, logging, training, transfer, wide
from tutorial.publish.render import fragments
from tutorial.publish.tables import Machine


@pytest.fixture
def short(monkeypatch):
    """Few and short blocks, and a whole run of 40 steps."""
    from tutorial.measure import timing

    def rotate(experiment, group, cases, **options):
        return timing.rotate(experiment, group, cases, rotations=2, seconds=60, block=0.0)

    for module in (package.call, package.step, training, logging, wide, transfer):
        monkeypatch.setattr(module, "rotate", rotate)
    monkeypatch.setattr(training, "LESSON_STEPS", 40)
    monkeypatch.setattr(training, "CURVE_INTERVAL", 10)
    monkeypatch.setattr(transfer, "SIZES", (4, 2048))


experiments()  # imports the modules of the package, so that `short` finds them


@pytest.mark.parametrize("profile", ["quick", "full"])
def test_every_experiment_renders(short, results, profile, monkeypatch):
    monkeypatch.setattr(logging, "LONG_BLOCK", 4)
    results.hardware.accelerators = []
    results.records = []
    for name, run in experiments().items():
        told = []
        records = run(Plan(profile, [torch.device("cpu")], told.append))
        assert {record.experiment for record in records} == {name}
        assert told == sorted(told) and (not told or told[-1] <= 1)
        results.records += records
    for path, content in fragments([Machine("example", results)], {}, "en").items():
        assert content.strip(), path
        if path.startswith(("tables/", "figures/")) and path not in ("tables/reported.md",):
            assert "any machine yet" not in content, path


def test_the_whole_run_is_the_lesson(short):
    run, curve, accuracy = training.whole_run(torch.device("cpu"), lambda done: None)
    assert run.parameters == {"steps": 40}
    assert len(curve.samples) == 4 and curve.samples == sorted(curve.samples, reverse=True)
    assert 0 <= accuracy.samples[0] <= 1


def test_a_size_that_does_not_fit_is_recorded(monkeypatch):
    def too_large(size):
        raise RuntimeError("not enough memory: you tried to allocate\nmore")

    monkeypatch.setattr(transfer, "memory_copy", too_large)
    (record,) = transfer.ladder(4, torch.device("cpu"), Plan("quick", [torch.device("cpu")]), lambda done: None)
    assert record.failure == "not enough memory: you tried to allocate"


def test_the_lesson_moves_3932_bytes_in_8_copies():
    (case,) = transfer.iris_cases(torch.device("cpu"))
    assert case.parameters == {"bytes": 3932, "copies": 8}


def test_on_an_accelerator_the_blocks_of_the_loss_readings_are_longer(monkeypatch):
    blocks = {}
    monkeypatch.setattr(logging, "rotate", lambda experiment, group, cases, **options: blocks.update({group: options["block"]}) or [])
    # meta holds no numbers and runs nothing here; it stands for an accelerator
    logging.measure(Plan("quick", [torch.device("cpu"), torch.device("meta")]))
    assert blocks["short blocks on meta"] > blocks["short blocks on cpu"]


def test_the_wide_network_uses_no_more_threads_than_the_process_has_cpus(monkeypatch):
    monkeypatch.setattr(wide.psutil, "cpu_count", lambda logical: 64)
    monkeypatch.setattr(wide.os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    assert wide.usable_cores() == 2
