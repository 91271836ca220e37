"""How many CPU threads pay? The same training at 1, 2, ... threads, up to the cores that this process may use."""

import torch

from tutorial.hardware.limits import usable_cores
from tutorial.measure.cases import BATCH, WIDTH, on_threads
from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate
from tutorial.training import data
from tutorial.training.loops import minibatches, read_every_step
from tutorial.training.model import WideMLP, make_model


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
    return records


def counts(cores: int) -> list[int]:
    """1, 2, 4, ... and ``cores`` itself."""
    return sorted({2**power for power in range(cores.bit_length())} | {cores})


def name(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"
