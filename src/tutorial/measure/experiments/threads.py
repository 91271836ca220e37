"""How many CPU threads pay? The same training at 1, 2, ... threads, up to the cores that this process may use."""

from dataclasses import replace

import torch

from tutorial.hardware.limits import usable_cores
from tutorial.measure.experiments import Plan
from tutorial.measure.experiments.wide import BATCH, WIDTH
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, block_time, refuse, rotate, threads
from tutorial.training import data
from tutorial.training.loops import minibatches, read_every_step
from tutorial.training.model import WideMLP, make_model

NO_GAIN = 1.2  # more threads are not worth the time of the rotations where a step takes so many times as long as with one


def measure(plan: Plan) -> list[Record]:
    """Seconds a step of the lesson's loop and of the wide network, for each number of threads; nothing without the CPU."""
    if torch.device("cpu") not in plan.devices:
        return []
    iris, digits = data.iris(), data.digits()
    small, wide = make_model(), make_model(kind=lambda: WideMLP(WIDTH))
    X, y = digits.X_train[:BATCH], digits.y_train[:BATCH]
    work = {
        "lesson": (lambda steps: read_every_step(small, iris.X_train, iris.y_train, steps), {}),
        "wide": (lambda steps: minibatches(wide, X, y, steps, batch=BATCH), {"width": WIDTH, "batch": BATCH}),
    }
    records = []
    for number, (group, (run, parameters)) in enumerate(work.items()):
        cases = [on_threads(count, Case(name(count), run, parameters=parameters)) for count in counts(usable_cores())]
        records += rotate("threads", group, cases, rotations=60 if plan.quick else 300, seconds=1.3 if plan.quick else 28, progress=plan.part(number, len(work)))
    return told_by_parameters(records)


def counts(cores: int) -> list[int]:
    """1, 2, 4, ... and ``cores`` itself."""
    return sorted({2**power for power in range(cores.bit_length())} | {cores})


def name(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def on_threads(count: int, case: Case) -> Case:
    """The case with ``count`` CPU threads, whatever the other cases of its rotation use."""

    def run(times: int):
        with threads(count):
            return case.run(times)

    return replace(case, run=run, parameters=case.parameters | {"threads": count})


def on_all_cores(cores: int, case: Case, name: str) -> Case:
    """The case with ``cores`` threads, where other cases ask for the CPU's best; left out, with this reason, where they do not gain.

    A thread that waits for a core which another process holds makes a step take tens of times as long, and the rotations too.
    """
    more, one = on_threads(cores, replace(case, name=name)), on_threads(1, case)
    try:
        trials = [(block_time(one, 1)[0], block_time(more, 1)[0]) for _ in range(3)]
        if min(seconds for _, seconds in trials) > NO_GAIN * min(seconds for seconds, _ in trials):
            raise RuntimeError(f"left out: with {cores} threads a step takes more than {NO_GAIN} times as long as with one")
    except RuntimeError as error:
        more.run = refuse(error)
    return more


def told_by_parameters(records: list[Record]) -> list[Record]:
    """The records with the threads that `on_threads` gave them, which PyTorch does not tell outside the blocks."""
    return [record.model_copy(update={"threads": record.parameters.get("threads", record.threads)}) for record in records]
