"""What does it cost to move data? Copies to the accelerator and back; on a machine without one, copies in memory.

Each copy goes into a tensor made beforehand, so that no memory is allocated inside the clock. Pageable memory is what
an ordinary tensor has; pinned memory can be read by the device itself.
"""

import torch

from tutorial.measure.cases import refuse
from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, reason, rotate, threads
from tutorial.training import data
from tutorial.training.model import make_model

SIZES = tuple(4 * 8**power for power in range(9)) + (256 * 2**20,)  # 4 B to 64 MiB in steps of 8, and 256 MiB


def measure(plan: Plan) -> list[Record]:
    """Seconds a copy: the lesson's tensors, and a ladder of sizes, in every way and direction that this machine has."""
    accelerators = [device for device in plan.devices if device.type != "cpu"]
    destinations = accelerators or [torch.device("cpu")]
    records = []
    parts = len(destinations) * (len(SIZES) + 1)
    with threads(1):
        for number, device in enumerate(destinations):
            place = number * (len(SIZES) + 1)
            records += rotate("transfer", f"iris to {device}", iris_cases(device), rotations=20, seconds=0.5, block=0.005, progress=plan.part(place, parts))
            for step, size in enumerate(SIZES):
                records += ladder(size, device, plan, plan.part(place + step + 1, parts))
    return records


def ladder(size: int, device: torch.device, plan: Plan, progress) -> list[Record]:
    """One size in all ways. Where even the tensors do not fit, the size is recorded with that reason."""
    group = f"{size} B to {device}"
    try:
        cases = memory_copy(size) if device.type == "cpu" else copies(size, device)
    except Exception as error:
        return [Record(experiment="transfer", group=group, case="copy", role="single", device=str(device), threads=1, parameters={"bytes": size}, failure=reason(error))]
    return rotate("transfer", group, cases, rotations=15 if plan.quick else 60, seconds=0.35 if plan.quick else 8, block=0.004, progress=progress)


def iris_cases(device: torch.device) -> list[Case]:
    """Everything that the lesson moves: the training rows, the test rows and the model's parameters."""
    split = data.iris()
    tensors = [*split, *(parameter.detach() for parameter in make_model().parameters())]
    total = sum(tensor.nbytes for tensor in tensors)
    there = [torch.empty_like(tensor, device=device) for tensor in tensors]

    def run(times: int) -> None:
        for _ in range(times):
            for target, source in zip(there, tensors):
                target.copy_(source)

    return [Case("all iris tensors", run, device, parameters={"bytes": total, "copies": len(tensors)})]


def memory_copy(size: int) -> list[Case]:
    """From memory to memory: the bandwidth of this machine without an accelerator."""
    return [copy_case("memory to memory", torch.empty(size, dtype=torch.uint8), torch.zeros(size, dtype=torch.uint8), torch.device("cpu"))]


def copies(size: int, device: torch.device) -> list[Case]:
    """Both directions, from and to pageable and pinned memory, waited for and not (`non_blocking`)."""
    there = torch.zeros(size, dtype=torch.uint8, device=device)
    here = torch.zeros(size, dtype=torch.uint8)
    cases = [
        copy_case("to the device, pageable", there, here, device),
        copy_case("from the device, pageable", here, there, device),
    ]
    if device.type == "mps":  # unified memory: nothing to pin
        return cases
    try:
        pinned = here.pin_memory()
    except Exception as error:  # WSL2 limits how much can be pinned; the pageable copies go on
        return [*cases, Case("to the device, pinned", refuse(error), device, parameters={"bytes": size})]
    return cases + [
        copy_case("to the device, pinned", there, pinned, device),
        copy_case("to the device, pinned, non_blocking", there, pinned, device, non_blocking=True),
        copy_case("to the device, pageable, non_blocking", there, here, device, non_blocking=True),
        copy_case("from the device, pinned", pinned, there, device),
        copy_case("from the device, pinned, non_blocking", pinned, there, device, non_blocking=True),
        Case("to the device, pinned on the fly", lambda times: pin_and_copy(there, here, times), device, parameters={"bytes": size}),
    ]


def copy_case(name: str, target: torch.Tensor, source: torch.Tensor, device: torch.device, non_blocking: bool = False) -> Case:
    def run(times: int) -> None:
        for _ in range(times):
            target.copy_(source, non_blocking=non_blocking)

    return Case(name, run, device, parameters={"bytes": source.nbytes})


def pin_and_copy(target: torch.Tensor, source: torch.Tensor, times: int) -> None:
    for _ in range(times):
        target.copy_(source.pin_memory(), non_blocking=True)
