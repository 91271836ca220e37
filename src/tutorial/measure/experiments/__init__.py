"""One file an experiment: a question put to the machine. Each has `measure(plan)`, which returns records."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch

from tutorial.measure.results import Record


@dataclass
class Plan:
    """What an experiment is asked to do."""

    profile: Literal["quick", "full"]
    devices: list[torch.device]
    """The CPU first, then the accelerators; one of them may be alone."""
    progress: Callable[[float], None] = lambda done: None
    """To be told the share that is done, from 0 to 1."""

    @property
    def quick(self) -> bool:
        return self.profile == "quick"

    def part(self, index: int, count: int) -> Callable[[float], None]:
        """The progress of the ``index``-th of ``count`` parts of the experiment."""
        return lambda done: self.progress((index + min(done, 1)) / count)


def experiments() -> dict[str, Callable[[Plan], list[Record]]]:
    """Every experiment by name, in the order in which they are measured."""
    from tutorial.measure.experiments import (
        bound, call, first_call, logging, many, overheads, size, step, strategies, threads, training, transfer, unsynchronized, wide,
    )  # fmt: skip

    modules = (training, step, logging, call, strategies, many, threads, wide, size, bound, overheads, first_call, unsynchronized, transfer)
    return {module.__name__.rsplit(".", 1)[1].replace("_", "-"): module.measure for module in modules}
