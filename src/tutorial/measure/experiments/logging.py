"""Does it pay to read the loss less often? The lesson's loop with other intervals, on each device.

A block ends with a synchronisation, so on an accelerator "never" means "once a block". Short blocks compare the small
intervals, and the curve a + c/k through them tells the large ones; `full` also times whole loops of every interval.
"""

from functools import partial

from tutorial.measure.cases import ACCELERATOR_BLOCK, BLOCK_STEPS
from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate, threads
from tutorial.training import data
from tutorial.training.loops import keep_on_device, read_every, read_every_step, read_never
from tutorial.training.model import make_model

SHORT_INTERVALS = (2, 5, 10)  # of which BLOCK_STEPS is a multiple
LESSON_INTERVALS = (1, 10, 100, 200, 500, 1000, 2000)
LONG_BLOCK = 2000


def measure(plan: Plan) -> list[Record]:
    """Seconds a step for each interval, for never, and for losses that stay on the device."""
    records = []
    groups = 1 if plan.quick else 2
    parts = len(plan.devices) * groups
    with threads(1):
        for number, device in enumerate(plan.devices):
            records += rotate(
                "logging",
                f"short blocks on {device}",
                [
                    case(device, 1),
                    *(case(device, interval) for interval in SHORT_INTERVALS),
                    case(device, None),
                    case(device, "kept on the device"),
                ],
                rotations=60 if plan.quick else 300,
                seconds=3 if plan.quick else 60,
                block=0.012 if device.type == "cpu" else ACCELERATOR_BLOCK,
                progress=plan.part(number * groups, parts),
            )
            if not plan.quick:
                records += rotate(
                    "logging",
                    f"whole loops on {device}",
                    [case(device, interval, LONG_BLOCK) for interval in (*LESSON_INTERVALS, None)],
                    rotations=10,
                    seconds=180,
                    block=0.0,
                    progress=plan.part(number * groups + 1, parts),
                )
    return records


def case(device, interval, multiple: int = BLOCK_STEPS) -> Case:
    """The loop that reads the loss every ``interval`` steps; None: never."""
    split = data.iris().to(device)
    model = make_model(device)
    if interval is None:
        name, loop = "never", read_never
    elif interval == "kept on the device":
        name, loop = interval, keep_on_device
    elif interval == 1:
        name, loop = "every 1", read_every_step
    else:
        name, loop = f"every {interval}", partial(read_every, interval=interval)
    parameters = {"interval": interval} if isinstance(interval, int) else {}
    return Case(name, lambda steps: loop(model, split.X_train, split.y_train, steps), device, parameters=parameters, multiple=multiple)
