"""What do many iris models cost when they are trained at once? From 1 to 10 000, on each device, in two ways.

Before it is timed, each way trains as many models from the same starts as the lesson's loop trains alone, and some of
them are compared step by step.
"""

import functools

import torch

from tutorial.hardware.limits import usable_cores
from tutorial.measure.cases import case_of, lesson_case, on_all_cores, on_threads
from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate, threads
from tutorial.training import data, many
from tutorial.training.loops import read_every_step
from tutorial.training.model import MLP, make_model

MODELS = {"quick": (1, 10, 100), "full": (1, 10, 100, 1000, 10_000)}
WAYS = {"vmap": many.with_vmap, "batched": many.with_batched_products}
FIRST_SEED = 42  # model i starts from seed 42 + i, so the first is the lesson's
CHECKED_STEPS = 200
CHECKED_WORK = {"quick": 3_000, "full": 30_000}  # models x steps of a check: with many models it is shorter
LOSS_TOLERANCE = 1e-4
THREADS_PAY = 100  # models: with fewer, further threads are not tried; nor with vmap, which is the slower way


def measure(plan: Plan) -> list[Record]:
    """Seconds for one step of all models, for each number of them; the lesson's loop for one model is the base."""
    records = []
    numbers = MODELS[plan.profile]
    models = [make_model(seed=FIRST_SEED + number) for number in range(max(numbers))]
    with threads(1):
        for number, device in enumerate(plan.devices):
            cases = [case for count in numbers for way in WAYS for case in cases_of(way, models[:count], device, plan)]
            records += rotate(
                "many",
                f"on {device}",
                [lesson_case(device), *cases],
                rotations=60 if plan.quick else 200,
                seconds=2 if plan.quick else 50,
                progress=plan.part(number, len(plan.devices)),
            )
    return records


def cases_of(way: str, models: list[MLP], device: torch.device, plan: Plan) -> list[Case]:
    """One way for so many models, checked; on the CPU with one thread and, where it may pay, with all cores."""

    def make_run():
        check(way, models, device, min(CHECKED_STEPS, max(CHECKED_WORK[plan.profile] // len(models), 2)))
        split = data.iris().to(device)
        parameters = many.stack(models, device)
        return lambda steps: WAYS[way](parameters, split.X_train, split.y_train, steps)

    case = case_of(f"{way} {len(models)}", make_run, device, parameters={"models": len(models)})
    if device.type != "cpu":
        return [case]
    cores = usable_cores()
    if cores == 1 or way == "vmap" or len(models) < THREADS_PAY:
        return [on_threads(1, case)]
    return [on_threads(1, case), on_all_cores(cores, case, f"{case.name}, {cores} threads")]


def check(way: str, models: list[MLP], device: torch.device, steps: int) -> None:
    """Train all models at once, and the first, the middle and the last one alone.

    Raises RuntimeError where a loss of theirs differs by more than 1e-4 at any of the ``steps``: the times would be
    those of another training.
    """
    split = data.iris().to(device)
    at_once = WAYS[way](many.stack(models, device), split.X_train, split.y_train, steps).cpu()
    for number in sorted({0, len(models) // 2, len(models) - 1}):
        difference = (at_once[:, number] - torch.tensor(losses_alone(number, device, steps))).abs().max().item()
        if not difference <= LOSS_TOLERANCE:  # nor is it when it is not a number
            raise RuntimeError(f"void: a loss of model {number} differs by {difference:.2g} from that of its training alone")


@functools.cache  # both ways are checked against the same
def losses_alone(number: int, device: torch.device, steps: int) -> list[float]:
    """The losses of one model, trained by the lesson's loop."""
    split = data.iris().to(device)
    return read_every_step(make_model(device, seed=FIRST_SEED + number), split.X_train, split.y_train, steps)
