"""Keep an accelerator busy while the host fills its queue: the host's time and the device's, one without the other."""

import contextlib
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch

from tutorial.measure.timing import Case, synchronize

SIDE = 1024  # of the matrices that keep a device busy
LONGEST = 14  # doublings: about a second of keeping busy, more than any queue that is short enough needs
QUEUED = 100  # operations at a time: far from filling the queue


class Filled(NamedTuple):
    """Seconds that the host took to queue the work, and that the device took for it once it was free."""

    host: float
    device: float


def current(device: torch.device) -> contextlib.AbstractContextManager:
    """Make ``device`` the current one inside the block: what is queued past PyTorch's dispatcher goes there."""
    if device.type in ("cuda", "xpu"):  # others have one device
        return torch.get_device_module(device).device(device)
    return contextlib.nullcontext()


class HeldQueue:
    """A device that is kept busy while work is queued for it.

    The work must fit into the queue, which holds about a thousand launches on CUDA: a full queue makes the host wait.
    Where PyTorch has no kernel that only lets time pass (it has one on CUDA and ROCm), matrix products keep the device
    busy. How long is found by doubling; a filling during which the device got free is made again.
    """

    def __init__(self, device: torch.device):
        self.device = device
        self.amount = 1
        self.matrix = None if device.type == "cuda" else torch.rand(SIDE, SIDE, device=device)
        self.result = None if self.matrix is None else torch.empty_like(self.matrix)

    # --8<-- [start:fill]
    def fill(self, queue_work: Callable[[], object]) -> Filled:
        """Call ``queue_work`` while the device is busy. Raises RuntimeError where it cannot be kept busy long enough."""
        for _ in range(LONGEST):
            synchronize(self.device)
            with current(self.device):  # or the event of a second card would be recorded on the first
                self.keep_busy()
                free = torch.Event(device=self.device)
                free.record()  # reached when the device has done what keeps it busy

            start = time.perf_counter()
            queue_work()
            queued = time.perf_counter()  # the host has done its part, and has not waited for the device

            with current(self.device):
                torch.Event(device=self.device).record()  # MPS hands over what was queued only when it has to
            was_busy = not free.query()  # none of the work has begun yet
            free.synchronize()
            begun = time.perf_counter()  # now it does
            synchronize(self.device)
            done = time.perf_counter()

            if was_busy:
                return Filled(host=queued - start, device=done - begun)
            self.amount *= 2  # too short: keep it busy longer, and fill the queue again
        raise RuntimeError(f"{self.device} could not be kept busy while the work was queued")
    # --8<-- [end:fill]

    def keep_busy(self) -> None:
        """Queue something that takes ``amount`` times as long as the shortest."""
        if self.matrix is None:
            torch.cuda._sleep(100_000 * self.amount)  # clock ticks; PyTorch's own tests hold a device up with it
        else:
            for _ in range(self.amount):
                torch.mm(self.matrix, self.matrix, out=self.result)


def queued_case(name: str, function: Callable[[], object], device: torch.device) -> Case:
    """The host's time for ``function``, while the device is kept busy; for `by_own_clock`."""
    held = HeldQueue(device)

    def work() -> None:
        with current(device):  # what goes past PyTorch's dispatcher would go to another card
            for _ in range(QUEUED):
                function()

    def run(times: int) -> dict[str, float]:
        return {name: sum(held.fill(work).host for _ in range(times // QUEUED))}

    return Case(name, run, device, multiple=QUEUED)


def launch_case(device: torch.device) -> Case:
    """The host's time for the launch of a kernel that does nothing, past PyTorch's dispatcher."""
    return queued_case("kernel launch", partial(launch, device), device)


def launch(device: torch.device) -> None:
    """Hand the driver a kernel that does nothing. Raises RuntimeError where PyTorch has no call for that."""
    if device.type != "cuda":
        raise RuntimeError(f"PyTorch has no call that only launches a kernel on {device.type}")
    torch.cuda._sleep(0)
