"""What makes the lesson's loop faster? Each way to write it against the lesson's own, on each device.

Before a case is timed, it trains 200 steps from the lesson's start, and every loss that it reads and the weights that it
ends with are compared with the lesson's: who does less training gets no time. What is compiled has a process of its own,
with the lesson's loop beside it, so that only ratios to that are comparable with the others.
"""

import functools
import time
from collections.abc import Callable

import torch

from tutorial.measure.cases import ACCELERATOR_BLOCK, BLOCK_STEPS, case_of, lesson_case, products
from tutorial.measure.experiments import Plan
from tutorial.measure.new_process import empty_caches, in_new_process
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, reason, rotate, synchronize, threads
from tutorial.training import data, graphs, loops
from tutorial.training.model import make_model

CHECKED_STEPS = 200
TOLERANCE, REWRITTEN_TOLERANCE = 1e-4, 1e-3  # the second where a compiler or a graph stands between the code and the work
BLOCK = 0.008  # seconds: many cases take turns, and the sooner a turn comes round, the more they meet the same machine
LONG = 100  # steps of a block, at least, in `full`, and of a loop that prepares much before its first step
COMPILED = ("compile(model)", "compile(loss)", "whole step compiled", "many steps compiled")
COMPILED_SECONDS = 20  # of rotations, for each of them
COMPILED_BLOCK = 0.03
PATIENCE = 300  # seconds for one of them, compilation and all


def measure(plan: Plan) -> list[Record]:
    """Seconds a step of every case; in `full` of the compiled ones too, with the seconds of their first call."""
    records = []
    parts = len(plan.devices) * (1 if plan.quick else 1 + len(COMPILED))
    done = 0
    for device in plan.devices:
        with threads(1):
            records += rotate(
                "strategies",
                f"on {device}",
                [lesson_case(device, BLOCK_STEPS if plan.quick else LONG), *cases(device, plan.quick)],
                rotations=200 if plan.quick else 600,
                seconds=8 if plan.quick else 150,
                block=BLOCK if device.type == "cpu" else ACCELERATOR_BLOCK,
                progress=plan.part(done, parts),
            )
        done += 1
        for name in () if plan.quick else COMPILED:
            records += compiled_case(name, device)
            done += 1
            plan.progress(done / parts)
    return records


def cases(device: torch.device, quick: bool) -> list[Case]:
    """Every case that needs no compiler; in `quick` not the one whose blocks have to be long."""
    steps = BLOCK_STEPS if quick else LONG
    found = [] if quick else [case("every 100", functools.partial(loops.read_every, interval=100), device, 100)]
    found += [
        case("never", loops.read_never, device, steps),
        case("kept on the device", loops.keep_on_device, device, steps),
        case("backward on the calling thread", loops.backward_on_calling_thread, device, steps),
        case("foreach off", loops.foreach_off, device, steps),
        case("fused", loops.fused, device, steps),
        case("functional", loops.functional, device, steps),
        case("by hand", loops.by_hand, device, LONG),
        case("by hand, inference mode", loops.by_hand_in_place, device, LONG),
    ]
    if device.type == "cpu":
        found.append(case("NumPy by hand", loops.numpy_by_hand, device, LONG))
        found.append(Case("matrix products", products(data.iris().X_train), device, parameters={"trains": 0}))
    if device.type == "cuda":
        rewritten = dict(tolerance=REWRITTEN_TOLERANCE)
        found.append(case("graph of 1 step", graphs.graph_of_one_step, device, steps_per_call=1, **rewritten))
        found.append(case("graph of k steps", graphs.graph_of_many_steps, device, graphs.STEPS, steps_per_call=graphs.STEPS, **rewritten))
    return found


def case(name: str, loop: Callable, device: torch.device, multiple: int = BLOCK_STEPS, tolerance: float = TOLERANCE, **parameters) -> Case:
    """A loop as a case, checked; where it fails or does another training, a case that fails with that reason."""

    def make_run():
        check(loop, device, tolerance)
        split = data.iris().to(device)
        model = make_model(device)
        return lambda steps: loop(model, split.X_train, split.y_train, steps)

    return case_of(name, make_run, device, multiple=multiple, parameters=parameters)


def check(loop: Callable, device: torch.device, tolerance: float) -> None:
    """Train 200 steps with the lesson's loop and with ``loop``, from the same start.

    Raises RuntimeError where a loss that it read, or a weight that it ends with, differs by more than ``tolerance``.
    """
    split = data.iris().to(device)
    model = make_model(device)
    reference, expected = lesson(device)
    read = loop(model, split.X_train, split.y_train, CHECKED_STEPS)
    if read:  # the losses of every so many steps
        interval = CHECKED_STEPS // len(read)
        if len(read) * interval != CHECKED_STEPS:
            raise RuntimeError(f"void: {len(read)} losses of {CHECKED_STEPS} steps")
        compare("a loss", torch.tensor(read), expected[interval - 1 :: interval], tolerance)
    for ours, theirs in zip(model.parameters(), reference.parameters()):
        compare("a weight", ours.detach(), theirs.detach(), tolerance)


@functools.cache
def lesson(device: torch.device) -> tuple[torch.nn.Module, torch.Tensor]:
    """The model that the lesson's loop has trained for as many steps, and its losses."""
    split = data.iris().to(device)
    model = make_model(device)
    return model, torch.tensor(loops.read_every_step(model, split.X_train, split.y_train, CHECKED_STEPS))


def compare(what: str, ours: torch.Tensor, theirs: torch.Tensor, tolerance: float) -> None:
    difference = (ours - theirs).abs().max().item()
    if not difference <= tolerance:  # nor is it when it is not a number
        raise RuntimeError(f"void: {what} differs by {difference:.2g} from the lesson's within {CHECKED_STEPS} steps")


def compiled_case(name: str, device: torch.device) -> list[Record]:
    """The records of a compiled case, from a process of its own in which nothing has been compiled before."""
    try:
        with empty_caches() as places:
            told = in_new_process(measure_compiled, name, str(device), COMPILED_SECONDS, seconds=PATIENCE, environment=places)
    except RuntimeError as error:  # out of time, the process crashed, or there is no folder for the caches
        return [failed(name, device, error)]
    return [Record.model_validate(record) for record in told]


def failed(name: str, device: torch.device, error: Exception) -> Record:
    about = dict(experiment="strategies", group=f"{name} on {device}", role="case", device=str(device), threads=1)
    return Record(case=name, failure=reason(error), **about)


def measure_compiled(name: str, device_name: str, seconds: float) -> list[dict]:
    """Time one compiled case in this process: its first call, then for so many ``seconds`` its steps beside the lesson's.

    Where it cannot be compiled, and where something else ran than what was compiled, the one record says why.
    """
    torch.set_num_threads(1)
    device = torch.device(device_name)
    group = f"{name} on {device}"
    try:
        loop, parameters = compiled_loop(name)
        first = first_call(loop, device)
        refuse_fallback()
        timed = case(name, loop, device, multiple=parameters.get("steps_per_call", BLOCK_STEPS), tolerance=REWRITTEN_TOLERANCE, **parameters)
        records = rotate("strategies", group, [lesson_case(device), timed], rotations=400, seconds=seconds, block=COMPILED_BLOCK)
        refuse_fallback()  # nor did it fall back later
    except Exception as error:  # whatever a compiler raises
        return [failed(name, device, error).model_dump(mode="json")]
    about = dict(experiment="strategies", group=group, role="single", device=str(device), threads=1)
    records.append(Record(case=f"{name}: first call", samples=[first], **about))
    return [record.model_dump(mode="json") for record in records]


def compiled_loop(name: str) -> tuple[Callable, dict[str, int]]:
    """The loop of a compiled case, and its parameters."""
    import torch._dynamo

    from tutorial.training import compiled  # here, as a version of PyTorch may lack what it imports

    torch._dynamo.config.suppress_errors = False
    torch._dynamo.config.fail_on_recompile_limit_hit = True
    return {
        "compile(model)": (compiled.compiled_model, {}),
        "compile(loss)": (compiled.compiled_loss, {}),
        "whole step compiled": (compiled.whole_step, {}),
        "many steps compiled": (compiled.many_steps, {"steps_per_call": compiled.CALL}),
    }[name]


def first_call(loop: Callable, device: torch.device) -> float:
    """Seconds until the first compiled step is done: the compilation, and what the compiler loads when it is first used."""
    split = data.iris().to(device)
    model = make_model(device)
    loops.read_every_step(make_model(device), split.X_train, split.y_train, 3)  # the device's own first time is another matter
    synchronize(device)
    start = time.perf_counter()
    loop(model, split.X_train, split.y_train, 1)
    synchronize(device)
    return time.perf_counter() - start


def refuse_fallback() -> None:
    """Raise RuntimeError unless something was compiled, and all of what was asked for."""
    from torch._dynamo.utils import counters

    if counters["graph_break"]:
        raise RuntimeError(f"void: not compiled in one piece: {next(iter(counters['graph_break']))}")
    if not counters["stats"]["unique_graphs"]:
        raise RuntimeError("void: nothing was compiled; is the compiler switched off?")
