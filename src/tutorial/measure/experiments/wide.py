"""The other side: a wide network on mini-batches, where an accelerator has enough to do.

The CPU uses as many threads as it has cores for this process.
"""

from tutorial.hardware.limits import usable_cores
from tutorial.measure.cases import BATCH, WIDTH
from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate, threads
from tutorial.training import data
from tutorial.training.loops import minibatches
from tutorial.training.model import WideMLP, make_model


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
