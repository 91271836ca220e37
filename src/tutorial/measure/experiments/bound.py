"""What holds the lesson's loop up on an accelerator? The wall time of a step, the host's time and the device's, each alone.

W, the wall time, is the lesson's loop, and the loop that never reads the loss. H, the host's time, is what it takes to
queue a step while the device is busy with something else. G, the device's time, is what it then takes for the step. On
CUDA there is another G, of a step in a graph, for which the host has next to nothing to do (how little is timed too): the
device's own work, without what it takes to begin each launch. With more rows it tells whether the device was full. What
waiting adds is timed on the smallest operation. `publish/bound.py` draws the conclusion.
"""

import torch

from tutorial.measure.cases import by_own_clock, case_of, reading_after
from tutorial.measure.experiments import Plan
from tutorial.measure.held_queue import HeldQueue, launch_case
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate, threads
from tutorial.training import data
from tutorial.training.graphs import STEPS, capture
from tutorial.training.loops import read_every_step, read_never
from tutorial.training.model import make_model

QUEUED_STEPS = 20  # about 500 launches: the queue must not fill up
ROWS = (120, 1200, 12_000)
TOLERANCE = 1e-3


def measure(plan: Plan) -> list[Record]:
    """Seconds a step: W with and without readings, H, the host's for a graph, G at three batch sizes; and seconds of one wait."""
    accelerators = [device for device in plan.devices if device.type != "cpu"]
    records = []
    with threads(1):
        for number, device in enumerate(accelerators):
            records += rotate(
                "bound",
                f"on {device}",
                cases(device),
                rotations=60 if plan.quick else 300,
                seconds=3 if plan.quick else 30,
                block=0.02,
                progress=plan.part(number, len(accelerators)),
            )
    return by_own_clock(records)


def cases(device: torch.device) -> list[Case]:
    """Everything that the verdict needs, taking turns on one device."""
    split = data.iris().to(device)
    read, unread = make_model(device), make_model(device)
    lesson = Case("lesson", lambda steps: read_every_step(read, split.X_train, split.y_train, steps), device)
    never = Case("never", lambda steps: read_never(unread, split.X_train, split.y_train, steps), device)
    if device.type == "cuda":
        alone = [host_of_graph(device), *(device_in_graph(device, rows) for rows in ROWS)]
    else:
        alone = [device_launched(device, rows) for rows in ROWS[1:]]  # the first is told by `host`
    return [lesson, never, host(device), launch_case(device), *alone, waiting(device)]


def host(device: torch.device) -> Case:
    """H: the host's time to queue a step while the device is busy; and what the device then takes for it, launch by launch."""
    split = data.iris().to(device)
    model = make_model(device)
    held = HeldQueue(device)

    def run(steps: int) -> dict[str, float]:
        fillings = [held.fill(lambda: read_never(model, split.X_train, split.y_train, QUEUED_STEPS)) for _ in range(steps // QUEUED_STEPS)]
        return {"host": sum(filling.host for filling in fillings), "device, launched": sum(filling.device for filling in fillings)}

    return Case("host", run, device, multiple=QUEUED_STEPS, parameters={"queued_steps": QUEUED_STEPS})


def host_of_graph(device: torch.device) -> Case:
    """The host's time for a step when all it does is to queue one replay of many steps."""
    name = "host, graph"

    def make_run():
        split = data.iris().to(device)
        graph, held = checked_graph(device, split.X_train, split.y_train), HeldQueue(device)
        return lambda steps: {name: sum(held.fill(graph.replay).host for _ in range(steps // STEPS))}

    return case_of(name, make_run, device, multiple=STEPS, parameters={"steps_per_call": STEPS})


def device_in_graph(device: torch.device, rows: int) -> Case:
    """G without the beginning of each launch: a step on ``rows`` rows in a graph, with a copy of four bytes more for its loss."""

    def make_run():
        graph = checked_graph(device, *repeated(device, rows))

        def replay(steps: int) -> None:
            for _ in range(steps // STEPS):
                graph.replay()

        return replay

    name = "device" if rows == ROWS[0] else f"device, batch {rows}"
    return case_of(name, make_run, device, multiple=STEPS, parameters={"rows": rows, "graph": 1, "steps_per_call": STEPS})


def device_launched(device: torch.device, rows: int) -> Case:
    """G: a step on ``rows`` rows, launch by launch; the queue is held while it is filled, and the clock starts when the device is free."""
    X, y = repeated(device, rows)
    name = f"device, batch {rows}"
    model, held = make_model(device), HeldQueue(device)

    def run(steps: int) -> dict[str, float]:
        fillings = [held.fill(lambda: read_never(model, X, y, QUEUED_STEPS)) for _ in range(steps // QUEUED_STEPS)]
        return {name: sum(filling.device for filling in fillings)}

    return Case(name, run, device, multiple=QUEUED_STEPS, parameters={"rows": rows, "graph": 0, "queued_steps": QUEUED_STEPS})


def repeated(device: torch.device, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The lesson's training rows again and again: features ``(rows, 4)`` and class numbers ``(rows,)``, with the same loss."""
    split = data.iris().to(device)
    times = rows // ROWS[0]
    return split.X_train.repeat(times, 1), split.y_train.repeat(times)


def checked_graph(device: torch.device, X: torch.Tensor, y: torch.Tensor) -> torch.cuda.CUDAGraph:
    """A graph of ``STEPS`` steps of the lesson's training.

    Raises RuntimeError where the capture is refused, and where a replay does not give the losses of the lesson's loop.
    """
    graph, losses = capture(make_model(device), X, y, STEPS)
    graph.replay()
    expected = read_every_step(make_model(device), X, y, STEPS)
    if not torch.allclose(losses.cpu(), torch.tensor(expected), atol=TOLERANCE):
        raise RuntimeError(f"void: the graph's last loss is {losses[-1].item():.4f}, the loop's {expected[-1]:.4f}")
    return graph


def waiting(device: torch.device) -> Case:
    """What one wait adds to a step: the time of a reading right after the smallest operation was queued."""
    number = torch.zeros(1, device=device)
    return reading_after("synchronize", lambda: number.add_(0), device)
