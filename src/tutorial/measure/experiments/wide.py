"""The other side: a wide network on mini-batches, where an accelerator has enough to do.

Here each device does its best: the CPU uses as many threads as it has cores for this process.
"""

import os

import psutil

from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate, threads
from tutorial.training import data
from tutorial.training.loops import minibatches
from tutorial.training.model import WideMLP, make_model

WIDTH, BATCH = 1024, 512


def usable_cores() -> int:
    """The cores that this process may use: a container or a job system may have been given few of many."""
    logical = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(psutil.cpu_count(logical=False) or 1, logical)


def measure(plan: Plan) -> list[Record]:
    """Seconds a step of the wide network on each device."""
    with threads(usable_cores()):
        return rotate(
            "wide",
            "step",
            [case(device) for device in plan.devices],
            rotations=20 if plan.quick else 60,
            seconds=2.5 if plan.quick else 60,
            progress=plan.progress,
        )


def case(device) -> Case:
    """Mini-batches of the digits table through the wide network; one pass over the table is three steps."""
    split = data.digits().to(device)
    model = make_model(device, kind=WideMLP)
    return Case(
        "wide network",
        lambda steps: minibatches(model, split.X_train, split.y_train, steps, batch=BATCH),
        device,
        parameters={"width": WIDTH, "batch": BATCH},
        multiple=3,
    )
