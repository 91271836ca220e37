"""How much work must a step have before a device is busy, and before an accelerator is the faster one?

Full-batch training steps over a grid of batches and widths. Width 10 is the lesson's network, the others are the wide
network's. All batches of a width and all devices take turns in one rotation, so that neither the flat part of a curve
nor the crossover is the machine's drift. The floating-point operations of a step are counted, and set against what one
large matrix product reaches on the same device in the same precision.
"""

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from tutorial.hardware.limits import usable_cores
from tutorial.measure.cases import case_of, on_all_cores, on_threads, refuse
from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, block_time, rotate, threads
from tutorial.training.loops import read_never
from tutorial.training.model import MLP, WideMLP, make_model

LESSON_WIDTH = 10
WIDTHS = {"quick": (10, 64, 256, 1024), "full": (10, 64, 256, 1024, 4096)}
BATCHES = {"quick": (1, 120, 1_200, 12_000), "full": (1, 4, 12, 40, 120, 400, 1_200, 4_000, 12_000, 40_000, 120_000)}
LARGEST = 2**26  # batch x width: 256 MiB for the output of a layer, some 1.5 GiB for a step
LONGEST = {"quick": 0.02, "full": 0.25}  # seconds: a step that takes longer leaves no time for rotations
THREADS_PAY = 4e6  # floating-point operations: with less in a step, further threads are not tried
CPU_SIDE, ACCELERATOR_SIDE = 1024, 4096  # rows and columns of the matrices of the large product


def measure(plan: Plan) -> list[Record]:
    """Seconds a step for each batch, width and device; seconds of the large product on each device."""
    records = []
    widths = WIDTHS[plan.profile]
    parts = len(plan.devices) + len(widths)
    with threads(1):
        for number, device in enumerate(plan.devices):
            records += rotate(
                "size",
                f"peak on {device}",
                product_cases(device),
                rotations=8 if plan.quick else 100,
                seconds=0.6 if plan.quick else 6,
                progress=plan.part(number, parts),
            )
        for number, width in enumerate(widths, len(plan.devices)):
            batches = [batch for batch in BATCHES[plan.profile] if batch * width <= LARGEST]
            records += rotate(
                "size",
                f"width {width}",
                [case for device in plan.devices for case in cases(device, width, batches, LONGEST[plan.profile])],
                rotations=20 if plan.quick else 100,
                seconds=0.6 if plan.quick else 14,
                block=0.005 if plan.quick else 0.012,
                progress=plan.part(number, parts),
            )
    return records


def cases(device: torch.device, width: int, batches: list[int], longest: float) -> list[Case]:
    """The steps of one width on one device, by batch; on the CPU with one thread and, where it may pay, with all cores.

    A batch is left out, with this reason, when one step of it, or of the batch before it, takes more than ``longest`` seconds.
    """
    found = []
    model, seconds, cores = None, 0.0, usable_cores()
    for batch in batches:
        parameters = {"batch": batch, "width": width, "flop": flop(width, batch)}
        case = Case(f"{device}, batch {batch}", lambda steps: None, device, parameters=parameters)
        try:
            if seconds <= longest:
                model = model or network(width, device)
                case.run = trainer(model, width, batch, device)
                seconds = min(block_time(case, 1)[0] for _ in range(3))  # the first is the warm-up
            if seconds > longest:
                raise RuntimeError(f"left out: a step takes more than {longest} s")
        except Exception as error:  # out of memory too
            case.run = refuse(error)
        if device.type != "cpu":
            found.append(case)
            continue
        found.append(on_threads(1, case))
        if cores > 1 and parameters["flop"] >= THREADS_PAY:
            found.append(on_all_cores(cores, case, f"{device}, {cores} threads, batch {batch}"))
    return found


def network(width: int, device: torch.device) -> nn.Module:
    """The lesson's network for the lesson's width, else the wide one."""
    return make_model(device, kind=MLP if width == LESSON_WIDTH else lambda: WideMLP(width))


def rows_for(width: int, batch: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Random features ``(batch, columns)`` and class numbers ``(batch,)`` that `network` takes; made on the CPU, so the same everywhere."""
    columns, classes = (4, 3) if width == LESSON_WIDTH else (64, 10)
    return torch.rand(batch, columns).to(device), torch.randint(classes, (batch,)).to(device)


def trainer(model: nn.Module, width: int, batch: int, device: torch.device):
    X, y = rows_for(width, batch, device)
    return lambda steps: read_never(model, X, y, steps)


def flop(width: int, batch: int) -> int:
    """Floating-point operations of the matrix products of one step, forward and backward; counted, nothing is computed."""
    meta = torch.device("meta")
    with meta:  # so that not even the weights are made
        model, (X, y) = network(width, meta), rows_for(width, batch, meta)
    with FlopCounterMode(display=False) as counter:
        nn.functional.cross_entropy(model(X), y).backward()
    return counter.get_total_flops()


def product_cases(device: torch.device) -> list[Case]:
    """One product of two large square matrices; on the CPU with one thread and with all cores."""
    side = CPU_SIDE if device.type == "cpu" else ACCELERATOR_SIDE

    def make_run():
        a, b, product = (torch.rand(side, side, device=device) for _ in range(3))

        def run(times: int) -> None:
            for _ in range(times):
                torch.mm(a, b, out=product)

        return run

    case = case_of("matrix product", make_run, device, parameters={"flop": 2 * side**3})
    if device.type != "cpu":
        return [case]
    cores = usable_cores()
    return [on_threads(1, case), *([on_all_cores(cores, case, f"matrix product, {cores} threads")] if cores > 1 else [])]
