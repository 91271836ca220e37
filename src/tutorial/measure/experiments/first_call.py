"""What does the first time cost, against later times? Each sample comes from a process that has done nothing before.

The first operation on a GPU creates its context, the first backward pass starts autograd's threads, the first use of each
operation may load its code, and the first call of a compiled model compiles it. The imports are not counted.
"""

import statistics
import time
from collections.abc import Callable

import torch
from torch import nn

from tutorial.measure.experiments import Plan
from tutorial.measure.new_process import empty_caches, in_new_process
from tutorial.measure.results import Record
from tutorial.measure.timing import reason, synchronize
from tutorial.training.loops import LEARNING_RATE
from tutorial.training.model import make_model

CASES = ("first operation", "later operation", "first backward", "later step")
COMPILED = "compiled: first call"
LATER = 100


def measure(plan: Plan) -> list[Record]:
    """Seconds of first and of later times on each device; in `full` also of the first call of the compiled model.

    A sample for each process that succeeds; a failure only where not one does.
    """
    records = []
    processes = 1 if plan.quick else 5
    parts = len(plan.devices) * (processes + (not plan.quick))
    done = 0
    for device in plan.devices:
        about = dict(experiment="first-call", group=f"on {device}", role="single", device=str(device), threads=1)
        samples: list[dict[str, float]] = []
        failure = None
        for _ in range(processes):
            try:
                samples.append(in_new_process(first_and_later, str(device)))
            except RuntimeError as error:
                failure = reason(error)
            done += 1
            plan.progress(done / parts)
        for case in CASES:
            outcome = {"samples": [sample[case] for sample in samples]} if samples else {"failure": failure}
            records.append(Record(case=case, **outcome, **about))
        if not plan.quick:
            records.append(Record(case=COMPILED, **compiled(device), **about))
            done += 1
            plan.progress(done / parts)
    return records


def compiled(device: torch.device) -> dict:
    """The sample of the first compiled call, or why there is none."""
    try:
        with empty_caches() as places:
            return {"samples": [in_new_process(first_compiled_call, str(device), seconds=180, environment=places)]}
    except RuntimeError as error:
        return {"failure": reason(error)}


def first_and_later(name: str) -> dict[str, float]:
    """Seconds of first and later times on a device, in a process that has not used it yet."""
    torch.set_num_threads(1)
    device = torch.device(name)

    def seconds(work: Callable[[], object]) -> float:
        synchronize(device)
        start = time.perf_counter()
        work()
        synchronize(device)
        return time.perf_counter() - start

    found = {"first operation": first_operation(device)}
    one = torch.ones(1, device=device)
    found["later operation"] = statistics.median(seconds(lambda: one + 1) for _ in range(LATER))

    torch.manual_seed(42)
    X, y = torch.rand(120, 4).to(device), torch.randint(3, (120,)).to(device)  # the lesson's shapes
    model, criterion = make_model(device), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    loss = criterion(model(X), y)
    found["first backward"] = seconds(loss.backward)

    def step():
        loss = criterion(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    step()
    found["later step"] = statistics.median(seconds(step) for _ in range(LATER))
    return found


def first_operation(device: torch.device) -> float:
    """Seconds until 1 + 1 is done on the device."""
    start = time.perf_counter()
    torch.ones(1, device=device) + 1
    synchronize(device)
    return time.perf_counter() - start


def first_compiled_call(name: str) -> float:
    """Seconds of the first call of the compiled lesson's model, compilation and all."""
    torch.set_num_threads(1)
    device = torch.device(name)
    X, model = torch.rand(120, 4).to(device), torch.compile(make_model(device))
    synchronize(device)
    start = time.perf_counter()
    model(X)
    synchronize(device)
    return time.perf_counter() - start
