"""What holds the lesson's loop up on an accelerator? The wall time of a step, the host's time and the device's, each alone.

W, the wall time, is the lesson's loop, and the loop that never reads the loss. H, the host's time, is what it takes to
queue a step while the device is busy with something else. G, the device's time, is a step of a graph, for which the host
has next to nothing to do (how little is timed too); and once more with more rows, which tells whether the device was full.
What waiting adds is timed on the smallest operation. `publish/bound.py` draws the conclusion.
"""

import time

import torch

from tutorial.measure.experiments import Plan
from tutorial.measure.experiments.transfer import refuse
from tutorial.measure.held_queue import HeldQueue
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate, threads
from tutorial.training import data
from tutorial.training.graphs import STEPS, capture
from tutorial.training.loops import read_every_step, read_never
from tutorial.training.model import make_model

QUEUED_STEPS = 10  # about 300 launches: the queue must not fill up
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


def by_own_clock(records: list[Record]) -> list[Record]:
    """Let the time that a case took by a clock of its own stand for the case: it leaves out what prepares each repetition."""
    whole = {(record.group, record.case): record for record in records if record.role == "case"}
    own = {(record.group, record.case): record for record in records if record.role == "part"}
    merged = {key: part.model_copy(update={"role": "case", "conditions": whole[key].conditions}) for key, part in own.items()}
    return [merged.get((record.group, record.case), record) for record in records if record.role != "part"]


def cases(device: torch.device) -> list[Case]:
    """Everything that the verdict needs, taking turns on one device."""
    split = data.iris().to(device)
    read, unread = make_model(device), make_model(device)
    lesson = Case("lesson", lambda steps: read_every_step(read, split.X_train, split.y_train, steps), device)
    never = Case("never", lambda steps: read_never(unread, split.X_train, split.y_train, steps), device)
    graph = [host_of_graph(device)] if device.type == "cuda" else []
    return [lesson, never, host(device), *graph, *(device_alone(device, rows) for rows in ROWS), waiting(device)]


def host(device: torch.device) -> Case:
    """H: the host's time to queue a step while the device is busy."""
    split = data.iris().to(device)
    model = make_model(device)
    held = HeldQueue(device)

    def run(steps: int) -> dict[str, float]:
        fillings = [held.fill(lambda: read_never(model, split.X_train, split.y_train, QUEUED_STEPS)) for _ in range(steps // QUEUED_STEPS)]
        return {"host": sum(filling.host for filling in fillings)}

    return Case("host", run, device, multiple=QUEUED_STEPS, parameters={"queued_steps": QUEUED_STEPS})


def host_of_graph(device: torch.device) -> Case:
    """The host's time for a step when all it does is to queue one replay of many steps."""
    name = "host, graph"
    split = data.iris().to(device)
    about = dict(device=device, multiple=STEPS, parameters={"steps_per_call": STEPS})
    try:
        graph = checked_graph(device, split.X_train, split.y_train)
    except RuntimeError as error:
        return Case(name, refuse(error), **about)
    held = HeldQueue(device)

    def run(steps: int) -> dict[str, float]:
        return {name: sum(held.fill(graph.replay).host for _ in range(steps // STEPS))}

    return Case(name, run, **about)


def device_alone(device: torch.device, rows: int) -> Case:
    """G: the device's time for a step on ``rows`` rows, with all of it queued before the device begins.

    As a graph on CUDA and ROCm. Elsewhere the queue is held while it is filled, and the clock starts when the device is
    free; the parameter `graph` is 0 there.
    """
    name = "device" if rows == ROWS[0] else f"device, batch {rows}"
    split = data.iris().to(device)
    X, y = (tensor.repeat(rows // ROWS[0], *[1] * (tensor.dim() - 1)) for tensor in (split.X_train, split.y_train))
    if device.type == "cuda":
        about = dict(device=device, multiple=STEPS, parameters={"rows": rows, "graph": 1, "steps_per_call": STEPS})
        try:
            graph = checked_graph(device, X, y)
        except RuntimeError as error:  # capture refused, or no memory: the other cases go on
            return Case(name, refuse(error), **about)

        def replay(steps: int) -> None:
            for _ in range(steps // STEPS):
                graph.replay()

        return Case(name, replay, **about)

    model, held = make_model(device), HeldQueue(device)

    def run(steps: int) -> dict[str, float]:
        fillings = [held.fill(lambda: read_never(model, X, y, QUEUED_STEPS)) for _ in range(steps // QUEUED_STEPS)]
        return {name: sum(filling.device for filling in fillings)}

    return Case(name, run, device, multiple=QUEUED_STEPS, parameters={"rows": rows, "graph": 0, "queued_steps": QUEUED_STEPS})


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

    def run(times: int) -> dict[str, float]:
        seconds = 0.0
        for _ in range(times):
            number.add_(0)
            start = time.perf_counter()
            number.item()
            seconds += time.perf_counter() - start
        return {"synchronize": seconds}

    return Case("synchronize", run, device)
