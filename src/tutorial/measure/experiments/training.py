"""The lesson's loop on the CPU and on each accelerator: the whole run, and step against step in rotation."""

import math
import statistics
import time

from tutorial.measure.cases import lesson_case
from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import conditions, reason, rotate, synchronize, threads
from tutorial.training import data
from tutorial.training.loops import LESSON_STEPS, read_every_step
from tutorial.training.model import make_model

PIECES = 40  # the whole run is made in pieces, only so that progress can be shown between them
CURVE_INTERVAL = 100
LOSS_TOLERANCE = 1e-3  # devices add in another order, and 20 000 steps carry that on


def measure(plan: Plan) -> list[Record]:
    """Whole runs of 20 000 epochs (seconds, losses, test accuracy), and blocks in rotation (seconds a step)."""
    records = []
    parts = len(plan.devices) + 1
    with threads(1):
        for number, device in enumerate(plan.devices):
            records += whole_run(device, plan.part(number, parts))
        records = void_other_trainings(records)
        records += rotate(
            "training",
            "step",
            [lesson_case(device) for device in plan.devices],
            rotations=60 if plan.quick else 300,
            seconds=2 if plan.quick else 40,
            progress=plan.part(parts - 1, parts),
        )
    return records


def whole_run(device, progress) -> list[Record]:
    """The lesson from the first epoch to the last: what a reader's own clock shows. Where it does not get there, why."""
    about = dict(experiment="training", group="whole", role="single", device=str(device), threads=1)
    kinds = {
        "whole run": dict(parameters={"steps": LESSON_STEPS}),
        "loss curve": dict(unit="loss", parameters={"interval": CURVE_INTERVAL}),
        "test accuracy": dict(unit="share"),
    }
    try:
        found = from_first_to_last(device, progress)
    except Exception as error:  # out of memory, or whatever else a driver raises: the other devices go on
        found = {case: dict(failure=reason(error)) for case in kinds}
    return [Record(case=case, **found[case], **kind, **about) for case, kind in kinds.items()]


def from_first_to_last(device, progress) -> dict[str, dict]:
    """What each case of a whole run found. Raises RuntimeError where a loss is not a number."""
    split = data.iris().to(device)
    read_every_step(make_model(device), split.X_train, split.y_train, 50)  # warm-up, on a model that is thrown away
    model = make_model(device)
    losses, seconds, told = [], 0.0, []
    synchronize(device)
    for piece in range(PIECES):
        start = time.perf_counter()
        losses += read_every_step(model, split.X_train, split.y_train, LESSON_STEPS // PIECES)
        synchronize(device)
        seconds += time.perf_counter() - start
        told.append(conditions(device))  # what this and showing the progress take is not counted
        progress((piece + 1) / PIECES)
    if not all(map(math.isfinite, losses)):
        raise RuntimeError("void: its loss is not a number")
    right = (model(split.X_test).argmax(dim=1) == split.y_test).float().mean().item()
    return {
        "whole run": dict(samples=[seconds], conditions=middle(told)),
        "loss curve": dict(samples=losses[CURVE_INTERVAL - 1 :: CURVE_INTERVAL]),
        "test accuracy": dict(samples=[right]),
    }


def middle(told: list[dict[str, float]]) -> dict[str, list[float]]:
    """The median of what a device said of itself during one run, one reading for its one sample."""
    return {name: [statistics.median(readings[name] for readings in told)] for name in told[0] if all(name in readings for readings in told)}


def void_other_trainings(records: list[Record]) -> list[Record]:
    """Take back the time of each whole run that did not end with the first device's loss: it timed another training.

    The first is the first one that came to the end.
    """
    final = {record.device: record.samples[-1] for record in records if record.case == "loss curve" and record.samples}
    reference = next(iter(final.values()), None)

    def checked(record: Record) -> Record:
        loss = final.get(record.device)
        if record.case != "whole run" or loss is None or abs(loss - reference) <= LOSS_TOLERANCE:
            return record
        reason = f"void: its final loss is {loss:.4f}, the first device's {reference:.4f}"
        return record.model_copy(update={"samples": [], "conditions": {}, "failure": reason})

    return [checked(record) for record in records]
