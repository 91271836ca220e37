"""What does each move cost that has no arithmetic in it? Calls, launches, waits, readings, copies of four bytes, hand-overs.

On the CPU only what has a meaning there. What the host does alone is timed while the device is kept busy, so that it
never waits for a free place in the queue.
"""

import time
from collections.abc import Callable

import torch

from tutorial.measure.cases import by_own_clock, reading_after
from tutorial.measure.experiments import Plan
from tutorial.measure.held_queue import launch_case, queued_case
from tutorial.measure.new_process import in_new_process
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, reason, rotate, synchronize, threads

BUSY = 1024  # rows and columns of the product that is still running when a busy queue is read from


def measure(plan: Plan) -> list[Record]:
    """Seconds for one of each, on every device; and of creating the context, each time in a new process."""
    records = []
    with threads(1):
        for number, device in enumerate(plan.devices):
            records += rotate(
                "overheads",
                f"on {device}",
                cases(device),
                rotations=60 if plan.quick else 300,
                seconds=1.2 if plan.quick else 15,
                block=0.003 if device.type == "cpu" else 0.005,
                progress=plan.part(number, len(plan.devices)),
            )
            if device.type != "cpu":
                records.append(context_creation(device, processes=1 if plan.quick else 5))
    return by_own_clock(records)


def cases(device: torch.device) -> list[Case]:
    """The moves that ``device`` knows; the first is the one that PyTorch answers without any work on the device."""
    number, here = torch.zeros(1, device=device), torch.zeros(1)
    found = [Case("empty operation", repeat(number.detach), device)]
    if device.type == "cpu":
        found += [Case("smallest operation", repeat(lambda: number.add_(0)))]
    else:
        found += [
            queued_case("smallest operation", lambda: number.add_(0), device),
            launch_case(device),
            Case("launch to finish", repeat(lambda: (number.add_(0), synchronize(device))), device),
            Case("synchronize", repeat(lambda: synchronize(device)), device),
            item_busy(device),
            Case("copy 4 B to", repeat(lambda: number.copy_(here)), device, parameters={"bytes": 4}),
            Case("copy 4 B from", repeat(lambda: here.copy_(number)), device, parameters={"bytes": 4}),
        ]
    return [*found, Case("item, idle", repeat(number.item), device), *backward_cases(device)]


def repeat(function: Callable[[], object]):
    """A run that calls ``function()`` so many times."""

    def run(times: int) -> None:
        for _ in range(times):
            function()

    return run


def item_busy(device: torch.device) -> Case:
    """The time of a reading right after one large product was queued: most of it is waiting for the product."""
    matrix = torch.ones(BUSY, BUSY, device=device)
    return reading_after("item, busy", lambda: (matrix @ matrix)[0, 0], device)


def backward_cases(device: torch.device) -> list[Case]:
    """The smallest backward pass. For an accelerator PyTorch hands it to another thread, unless told not to."""
    weight = torch.ones(1, device=device, requires_grad=True)
    output = weight * 2

    def backward() -> None:
        torch.autograd.grad(output, weight, retain_graph=True)

    def on_the_calling_thread(times: int) -> None:
        with torch.autograd.set_multithreading_enabled(False):
            repeat(backward)(times)

    return [Case("backward, calling thread", on_the_calling_thread, device), Case("backward, default", repeat(backward), device)]


def context_creation(device: torch.device, processes: int) -> Record:
    """Seconds of the first allocation on ``device``, which creates the context, in a new process each time.

    A failure only where not one process succeeds.
    """
    about = dict(experiment="overheads", group=f"on {device}", case="context creation", role="single", device=str(device), threads=1)
    samples, failure = [], None
    for _ in range(processes):
        try:
            samples.append(in_new_process(first_allocation, str(device)))
        except RuntimeError as error:
            failure = reason(error)
    return Record(samples=samples, failure=None if samples else failure, **about)


def first_allocation(name: str) -> float:
    """Seconds until the first tensor of this process is on the device. For a process that has not used it yet."""
    device = torch.device(name)
    start = time.perf_counter()
    torch.zeros(1, device=device)
    synchronize(device)
    return time.perf_counter() - start
