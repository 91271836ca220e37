"""The experiments, shortened: that each gives the records that its table and plot are drawn from."""

import ast
import html
import time
from pathlib import Path

import pytest
import torch

from tutorial.measure import cases, timing
from tutorial.measure.experiments import Plan, bound, call, experiments, first_call, logging, many, overheads, size, step, strategies, threads, training, transfer, wide
from tutorial.publish.render import fragments
from tutorial.publish.comparison import Machine


@pytest.fixture
def short(monkeypatch):
    """Few and short blocks, and a whole run of 40 steps."""

    def rotate(experiment, group, cases, **options):
        return timing.rotate(experiment, group, cases, rotations=2, seconds=60, block=0.0)

    monkeypatch.setattr(timing, "WARM_UP_ROTATIONS", 0)
    monkeypatch.setattr(size, "LONGEST", dict.fromkeys(("quick", "full"), 60))
    for module in (training, step, logging, call, wide, transfer, many, size, strategies, threads, bound, overheads):
        monkeypatch.setattr(module, "rotate", rotate)
    monkeypatch.setattr(first_call, "in_new_process", lambda function, *arguments, **options: first_call.first_and_later("cpu") if function is first_call.first_and_later else 20.0)
    monkeypatch.setattr(first_call, "LATER", 2)
    monkeypatch.setattr(training, "LESSON_STEPS", 40)
    monkeypatch.setattr(training, "CURVE_INTERVAL", 10)
    monkeypatch.setattr(transfer, "SIZES", (4, 2048))
    monkeypatch.setattr(threads, "WIDTH", 16)
    monkeypatch.setattr(cases, "WORTH_TRYING", float("inf"))
    monkeypatch.setattr(many, "CHECKED_STEPS", 3)
    monkeypatch.setattr(strategies, "COMPILED", ())  # test_strategies.py compiles
    for profile in ("quick", "full"):
        monkeypatch.setitem(many.MODELS, profile, (1, 3))
        monkeypatch.setitem(size.WIDTHS, profile, (10, 64))
        monkeypatch.setitem(size.BATCHES, profile, (1, 120))
    monkeypatch.setattr(size, "CPU_SIDE", 8)


@pytest.mark.parametrize("profile", ["quick", "full"])
def test_every_experiment_renders(short, results, profile, monkeypatch):
    monkeypatch.setattr(logging, "LONG_BLOCK", 4)
    results.hardware.accelerators = []
    results.records = []
    for name, run in experiments().items():
        told = []
        records = run(Plan(profile, [torch.device("cpu")], told.append))
        assert {record.experiment for record in records} == (set() if name in ("bound", "unsynchronized") else {name})  # these ask only accelerators
        assert told == sorted(told) and (not told or told[-1] <= 1)
        results.records += records
    for path, content in fragments([Machine("example", results)], {}, "en").items():
        assert content.strip(), path
        assert "any machine yet" not in content, path


def test_the_whole_run_is_the_lesson(short):
    run, curve, accuracy = training.whole_run(torch.device("cpu"), lambda done: None)
    assert run.parameters == {"steps": 40}
    assert len(curve.samples) == 4 and curve.samples == sorted(curve.samples, reverse=True)
    assert 0 <= accuracy.samples[0] <= 1


CPU, META = torch.device("cpu"), torch.device("meta")  # meta holds no numbers: as an accelerator where every run fails


def test_a_device_that_fails_does_not_stop_the_others(short):
    records = training.measure(Plan("quick", [CPU, META]))
    whole = {(r.case, r.device): r for r in records if r.group == "whole"}
    for case in ("whole run", "loss curve", "test accuracy"):
        assert whole[case, "cpu"].samples and whole[case, "meta"].failure
    assert {r.device for r in records if r.group == "step" and r.role in ("base", "case") and r.failure} == {"meta"}


def test_a_whole_run_that_fails_is_shown_with_its_reason(results):
    failed = [r.model_copy(update=dict(device="cuda:0")) for r in training.whole_run(META, print)]
    results.records = [r for r in results.records if (r.group, r.device) != ("whole", "cuda:0")] + failed
    pages = fragments([Machine("example", results)], {}, "en")
    assert html.unescape(pages["tables/training.md"]).count("failed: Tensor.item() cannot") == len(failed) == 3


def test_the_first_device_may_be_the_one_that_fails(short):
    whole = {(r.case, r.device): r for r in training.measure(Plan("quick", [META, CPU])) if r.group == "whole"}
    assert whole["whole run", "cpu"].samples and whole["whole run", "meta"].failure


def test_no_memory_for_the_lessons_case_is_recorded(monkeypatch):
    def no_memory(device):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB.\nmore")

    monkeypatch.setattr(cases, "make_model", no_memory)
    *_, record = timing.rotate("e", "g", [timing.Case("a", timing.spin), cases.lesson_case(CPU)], rotations=1, seconds=60, block=0.0)
    assert (record.case, record.failure) == ("lesson", "CUDA out of memory. Tried to allocate 2.00 MiB.")


def test_a_loss_that_is_not_a_number_is_void(short, monkeypatch):
    monkeypatch.setattr(training, "read_every_step", lambda model, X, y, steps: [0.1] * (steps - 1) + [float("nan")])
    records = training.whole_run(CPU, print)
    assert [(r.case, r.failure) for r in records] == [(case, "void: its loss is not a number") for case in ("whole run", "loss curve", "test accuracy")]
    assert training.void_other_trainings(records) == records


def test_no_experiment_imports_another():
    for path in Path(training.__file__).parent.glob("[!_]*.py"):
        imported = [node.module for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
        assert not [name for name in imported if name.startswith("tutorial.measure.experiments.")], path.name


def test_without_a_place_for_temporary_files_the_rest_goes_on(short, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    found = [first_call.compiled(CPU)["failure"], strategies.compiled_case("compile(model)", CPU)[0].failure, step.timeline(CPU)[0].failure]
    assert found == ["no temporary folder: No such file or directory"] * 3  # and no path in it


def test_showing_the_progress_is_not_part_of_the_whole_run(short):
    run, *_ = training.whole_run(torch.device("cpu"), lambda done: time.sleep(0.1))
    assert run.samples[0] < training.PIECES * 0.1


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


def test_memory_that_cannot_be_pinned_leaves_the_pageable_copies(monkeypatch):
    def refused(tensor):
        raise RuntimeError("CUDA error: out of memory")

    monkeypatch.setattr(torch.Tensor, "pin_memory", refused)
    monkeypatch.setattr(transfer, "SIZES", (4,))
    cases = transfer.copies(4, torch.device("cpu"))  # the copies themselves run anywhere
    records = transfer.rotate("transfer", "4 B", cases, rotations=2, seconds=60, block=0.0)
    failures = {record.case: record.failure for record in records}
    assert failures["to the device, pinned"] == "CUDA error: out of memory"
    assert failures["to the device, pageable"] is None and failures["from the device, pageable"] is None


def test_the_time_of_another_training_is_void(results):
    assert training.void_other_trainings([r for r in results.records if r.group == "whole"]) == [r for r in results.records if r.group == "whole"]
    for record in results.records:
        if record.case == "loss curve" and record.device == "cuda:0":
            record.samples[-1] = 0.0713
    checked = {(r.case, r.device): r for r in training.void_other_trainings([r for r in results.records if r.group == "whole"])}
    assert checked["whole run", "cuda:0"].failure == "void: its final loss is 0.0713, the first device's 0.0613"
    assert checked["whole run", "cpu"].samples == [4.5]
    results.records = [r for r in results.records if r.group != "whole"] + list(checked.values())
    assert "void: its final loss" in html.unescape(fragments([Machine("example", results)], {}, "en")["tables/training.md"])
