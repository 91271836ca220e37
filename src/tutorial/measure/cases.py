"""Cases that several experiments time, and how a case is made: what cannot be made or does not pay is recorded with the reason."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from tutorial.measure.results import Record
from tutorial.measure.timing import Case, block_time, reason, threads
from tutorial.training import data
from tutorial.training.loops import read_every_step
from tutorial.training.model import make_model

BLOCK_STEPS = 20  # of a loop, at least: each call makes an optimizer and finds cold caches, and no case is to pay more of it
ACCELERATOR_BLOCK = 0.03  # seconds: longer than on the CPU, so that the wait that ends a block stays a small part of a step that does not wait
WIDTH, BATCH = 1024, 512  # of the wide network and its mini-batches
WORTH_TRYING = 1.2  # more threads have the time of the rotations where a step takes at most so many times as long as with one


def case_of(name: str, make_run: Callable[[], Callable[[int], object]], device: torch.device, **about) -> Case:
    """The case that ``make_run()`` gives the run for. Where that fails, for lack of memory say, it is recorded with the reason."""
    try:
        run = make_run()
    except Exception as error:  # whatever a compiler or a driver raises
        run = refuse(error)
    return Case(name, run, device, **about)


def refuse(error: Exception) -> Callable[[int], None]:
    """A run that fails for the reason of ``error``. It does not keep the error, which holds on to what did not fit."""
    why = reason(error)

    def run(repetitions: int) -> None:
        raise RuntimeError(why)

    return run


def lesson_case(device: torch.device, steps: int = BLOCK_STEPS) -> Case:
    """The lesson's loop as a case to be timed, a multiple of ``steps`` a block; one model is trained from block to block."""

    def make_run():
        split = data.iris().to(device)
        model = make_model(device)
        return lambda count: read_every_step(model, split.X_train, split.y_train, count)

    return case_of("lesson", make_run, device, multiple=steps)


def products(X: torch.Tensor) -> Callable[[int], None]:
    """The five matrix products of a step, in NumPy and into arrays made beforehand: its arithmetic without a framework."""
    rng = np.random.default_rng(0)
    x = X.numpy()  # 120 x 4
    weight1, weight2 = rng.random((10, 4), np.float32), rng.random((3, 10), np.float32)
    hidden, output = np.empty((120, 10), np.float32), rng.random((120, 3), np.float32)
    hidden_gradient = np.empty((120, 10), np.float32)
    weight1_gradient, weight2_gradient = np.empty_like(weight1), np.empty_like(weight2)
    logits = np.empty_like(output)

    def run(steps: int) -> None:
        for _ in range(steps):
            np.matmul(x, weight1.T, out=hidden)
            np.matmul(hidden, weight2.T, out=logits)
            np.matmul(output.T, hidden, out=weight2_gradient)
            np.matmul(output, weight2, out=hidden_gradient)
            np.matmul(hidden_gradient.T, x, out=weight1_gradient)

    return run


def reading_after(name: str, queue_work: Callable[[], torch.Tensor], device: torch.device) -> Case:
    """The time of reading the one number that ``queue_work()`` gives, right after that was queued; for `by_own_clock`."""

    def run(times: int) -> dict[str, float]:
        seconds = 0.0
        for _ in range(times):
            number = queue_work()
            start = time.perf_counter()
            number.item()
            seconds += time.perf_counter() - start
        return {name: seconds}

    return Case(name, run, device)


def on_threads(count: int, case: Case) -> Case:
    """The case with ``count`` CPU threads, whatever the other cases of its rotation use."""

    def run(times: int):
        with threads(count):
            return case.run(times)

    return replace(case, run=run, threads=count)


def on_all_cores(cores: int, case: Case, name: str) -> Case:
    """The case with ``cores`` threads, where other cases ask for the CPU's best; left out, with this reason, where they do not gain.

    A thread that waits for a core which another process holds makes a step take tens of times as long, and the rotations too.
    """
    more, one = on_threads(cores, replace(case, name=name)), on_threads(1, case)
    try:
        trials = [(block_time(one, 1)[0], block_time(more, 1)[0]) for _ in range(3)]
        if min(seconds for _, seconds in trials) > WORTH_TRYING * min(seconds for seconds, _ in trials):
            raise RuntimeError(f"left out: with {cores} threads a step takes more than {WORTH_TRYING} times as long as with one")
    except Exception as error:
        more.run = refuse(error)
    return more


def by_own_clock(records: list[Record]) -> list[Record]:
    """Make a case of each part that was timed by a clock of its own; it stands for the case of that name, if there is one.

    For cases whose blocks hold more than what is asked about, what prepares each repetition for example.
    """
    conditions = {(record.group, record.case): record.conditions for record in records if record.role == "case"}
    own = {(record.group, record.case) for record in records if record.role == "part"}
    made = []
    for record in records:
        key = (record.group, record.case)
        if record.role == "part":
            made.append(record.model_copy(update={"role": "case", "conditions": conditions.get(key, {})}))
        elif key not in own:
            made.append(record)
    return made
