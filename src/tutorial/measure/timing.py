"""Comparing loops on a noisy machine: short blocks of all cases in random rotation, and the ratio within each rotation.

A machine changes speed for seconds at a time, by more than most effects that the guide is about. Two loops timed one
after the other measure that; two loops that take turns every few milliseconds meet the same machine.
"""

import contextlib
import math
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import torch

from tutorial.measure.results import Record

WARM_UP_ROTATIONS = 2
FEWEST_ROTATIONS = 6


# --8<-- [start:synchronize]
def synchronize(device: torch.device) -> None:
    """Wait until ``device`` has done all that was queued on it. The CPU has no queue, and torch raises there."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
# --8<-- [end:synchronize]


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Let PyTorch use ``count`` CPU threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass
class Case:
    """One thing to time: ``run(n)`` does it ``n`` times. It may return seconds by part, which are kept as parts."""

    name: str
    run: Callable[[int], dict[str, float] | object]
    device: torch.device = torch.device("cpu")
    role: str = "case"
    parameters: dict = field(default_factory=dict)
    multiple: int = 1
    """A block holds a multiple of this many repetitions, for a case that does something every so many."""
    threads: int | None = None
    """CPU threads that ``run`` sets; None: it leaves them as they are."""


# --8<-- [start:block]
def block_time(case: Case, repetitions: int) -> tuple[float, dict[str, float]]:
    """Seconds for one repetition, and for each part that the case tells of, timed over a block of them."""
    synchronize(case.device)  # nothing of an earlier block is still running
    start = time.perf_counter()
    parts = case.run(repetitions)
    synchronize(case.device)  # everything of this block is done
    seconds = time.perf_counter() - start
    return seconds / repetitions, parts if isinstance(parts, dict) else {}
# --8<-- [end:block]


def block_length(case: Case, target: float) -> int:
    """How many repetitions make a block of ``target`` seconds; also the case's first warm-up."""
    repetitions = case.multiple
    while True:
        seconds = min(block_time(case, repetitions)[0] for _ in range(3))  # another process may take one of them
        if seconds * repetitions >= target / 4:
            wanted = max(target / seconds, 1)
            return math.ceil(int(wanted) / case.multiple) * case.multiple
        repetitions *= 4


def spin(repetitions: int) -> None:
    """A block of plain Python: the witness of how fast the machine was during a rotation."""
    for _ in range(repetitions):
        total = 0
        for number in range(1000):
            total += number


def kernel_witness(device: torch.device) -> Case:
    """A fixed piece of work for an accelerator: the witness of how fast *it* was during a rotation."""

    def run(repetitions: int) -> None:
        matrix = torch.ones(1024, 1024, device=device)
        for _ in range(repetitions):
            matrix @ matrix

    return Case("fixed kernel", run, device, role="witness")


def conditions(device: torch.device) -> dict[str, float]:
    """An accelerator's clock (MHz), power (W) and temperature (°C) at this moment, as far as its driver tells them."""
    readers = {
        "clock_mhz": lambda: torch.cuda.clock_rate(device),
        "power_w": lambda: torch.cuda.power_draw(device) / (1 if torch.version.hip else 1000),  # AMD's library tells watts
        "temperature_c": lambda: torch.cuda.temperature(device),
    }
    told = {}
    for name, read in readers.items() if device.type == "cuda" else ():
        with contextlib.suppress(Exception):  # the management library is missing, or this card does not tell
            if reading := float(read()):  # 0: AMD's card does not tell
                told[name] = reading
    return told


def rotate(
    experiment: str,
    group: str,
    cases: list[Case],
    *,
    rotations: int,
    seconds: float,
    block: float = 0.012,
    enough: float = 0.01,
    progress: Callable[[float], None] = lambda done: None,
) -> list[Record]:
    """Time the cases block by block in random order and keep every block's time.

    The first case is the base. It takes part twice; the second time as the twin. A block of plain Python is the witness
    of the machine's speed, and a fixed kernel that of each accelerator's. Python's collector stays as it is, as in a
    reader's own loop. A block takes about ``block`` seconds; with 0 it holds the fewest repetitions that the case allows.
    Rotations go on until ``rotations`` are done, or every case's ratio to the base is known to ``enough`` (half of its
    interval's width, as a share of it), or ``seconds`` are over; ``progress`` is told the share that is done. A case that
    raises an error (out of memory, say) is recorded with its reason, and the rest goes on.
    """
    began = time.monotonic()
    base = replace(cases[0], role="base")
    accelerators = dict.fromkeys(case.device for case in cases if case.device.type != "cpu")
    witnesses = [Case("plain Python", spin, role="witness"), *map(kernel_witness, accelerators)]
    runners = [Runner(case) for case in (base, replace(base, role="twin"), *witnesses, *cases[1:])]
    for runner in runners:
        runner.prepare(block)
    runners[1].length = runners[0].length  # the twin is the base in every respect

    order = random.Random(0)
    for rotation in range(-WARM_UP_ROTATIONS, rotations):
        for runner in order.sample(runners, len(runners)):
            runner.take_turn(keep=rotation >= 0)
        elapsed = time.monotonic() - began
        progress(max(elapsed / seconds, (rotation + 1) / rotations))
        if rotation >= FEWEST_ROTATIONS and elapsed > seconds:
            break
        if rotation >= 39 and rotation % 20 == 19 and not runners[0].failure:
            compared = [runner for runner in runners[1:] if runner.case.role != "witness" and not runner.failure]
            known = (ratio(runner.samples, runners[0].samples) for runner in compared)
            if all(found.half_width < enough * found.median for found in known):
                break
    progress(1.0)
    return [record for runner in runners for record in runner.records(experiment, group)]


def reason(error: Exception) -> str:
    """The first line of what an error says, for a record, its type where it says nothing; without the home folder, which names a person."""
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    home = os.path.expanduser("~")
    return line.replace(home, "~") if len(home) > 1 else line


@dataclass
class Runner:
    """A case while it is being timed."""

    case: Case
    length: int = 0
    samples: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)
    conditions: dict[str, list[float]] = field(default_factory=dict)
    failure: str | None = None

    def prepare(self, block: float) -> None:
        """Find the block's length, which also warms the case up."""
        try:
            self.length = block_length(self.case, block)
        except Exception as error:  # whatever a compiler or a driver raises
            self.fail(error)

    def take_turn(self, keep: bool) -> None:
        """Time one block; ``keep`` its time or not (a warm-up)."""
        if self.failure:
            return
        try:
            seconds, parts = block_time(self.case, self.length)
        except Exception as error:
            self.fail(error)
            return
        if keep:
            self.samples.append(seconds)
            for part, part_seconds in parts.items():
                self.parts.setdefault(part, []).append(part_seconds / self.length)
            for name, reading in conditions(self.case.device).items():
                self.conditions.setdefault(name, []).append(reading)

    def fail(self, error: Exception) -> None:
        self.failure = reason(error)
        self.samples, self.parts, self.conditions = [], {}, {}

    def records(self, experiment: str, group: str) -> list[Record]:
        """The case's record, then one for each of its parts."""
        about = dict(
            experiment=experiment,
            group=group,
            device=str(self.case.device),
            threads=self.case.threads or torch.get_num_threads(),
            parameters=self.case.parameters | {"block": self.length},
        )
        told = {name: readings for name, readings in self.conditions.items() if len(readings) == len(self.samples)}
        whole = Record(case=self.case.name, role=self.case.role, samples=self.samples, conditions=told, failure=self.failure, **about)
        return [whole, *(Record(case=part, role="part", samples=times, **about) for part, times in self.parts.items())]


class Ratio(NamedTuple):
    """The median of the ratios within each rotation, with its 95 % interval."""

    median: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    @property
    def reach(self) -> float:
        """How far the interval reaches from 1."""
        return max(abs(self.low - 1), abs(self.high - 1))


def ratio(samples: list[float], base: list[float]) -> Ratio:
    """Compare a case with its base, rotation by rotation.

    The interval is a percentile bootstrap of the median (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 13). Its random numbers are seeded, so that the same file always renders to the same page.
    """
    each = np.asarray(samples) / np.asarray(base)
    draws = np.random.default_rng(0).integers(len(each), size=(2000, len(each)))
    low, high = np.percentile(np.median(each[draws], axis=1), (2.5, 97.5))
    return Ratio(float(np.median(each)), float(low), float(high))


def verdict(case: Ratio, twin: Ratio) -> str:
    """`faster`, `slower`, `same` or `cannot tell`: what the interval of a case allows us to say.

    Faster or slower only where the interval excludes 1 and the difference is larger than 2 % and than the twin's
    interval reaches from 1; the same only where the whole interval lies within 5 % of 1.
    """
    if (case.low > 1 or case.high < 1) and abs(case.median - 1) > max(0.02, twin.reach):
        return "slower" if case.median > 1 else "faster"
    if 0.95 <= case.low and case.high <= 1.05:
        return "same"
    return "cannot tell"
