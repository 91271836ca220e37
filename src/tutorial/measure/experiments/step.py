"""One step of the lesson's loop taken apart: what each phase costs, whether the phases add up, what is called how often.

Times of the phases only on the CPU, where a phase is over when its line is. On an accelerator the line that queues the
work is not the work. Counts, and the events of a few steps for a drawing, come from the profiler: it counts exactly and
slows down what it watches, so no time of it is compared with anything. On a GPU it has a process of its own, since it stays
in the driver and goes on slowing down every launch (https://github.com/pytorch/pytorch/issues/144455).
"""

import json
import os
import time
from collections import Counter
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode

from tutorial.measure.cases import BLOCK_STEPS, products
from tutorial.measure.experiments import Plan
from tutorial.measure.new_process import in_new_process, temporary_folder
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, reason, rotate, synchronize, threads
from tutorial.training import data
from tutorial.training.loops import LEARNING_RATE, read_every_step
from tutorial.training.model import make_model

PHASES = ("forward", "loss", "zero_grad", "backward", "optimizer step", "item")
COUNTED_STEPS = 20
WATCHED_STEPS, DRAWN_STEPS = 12, 2
MOST_EVENTS = 400  # of a timeline: two steps of the lesson have about 150
ACTIVITIES = {"cuda": ProfilerActivity.CUDA, "xpu": ProfilerActivity.XPU}


def measure(plan: Plan) -> list[Record]:
    """The phases of a step on the CPU, and its arithmetic alone; counts and events of some steps on each device."""
    records = []
    with threads(1):
        if torch.device("cpu") in plan.devices:
            records += times_of_phases(plan)
        apart = any(device.type in ACTIVITIES for device in plan.devices)  # the CPU's too: the profiler looks for a GPU
        for device in plan.devices:
            records += watched_apart(device) if apart else counts(device) + timeline(device)
    plan.progress(1.0)
    return records


def watched_apart(device: torch.device) -> list[Record]:
    """Counts and timeline from a process of their own."""
    try:
        told = in_new_process(watched, str(device), environment={"KINETO_LOG_LEVEL": "99"})
    except RuntimeError as error:
        about = dict(experiment="step", role="single", device=str(device), threads=1, failure=reason(error))
        return [Record(group=f"counts on {device}", case="launches", unit="count", **about), Record(group=f"timeline on {device}", case="timeline", **about)]
    return [Record.model_validate(record) for record in told]


def watched(name: str) -> list[dict]:
    """The records of counts and timeline, made in this process."""
    torch.set_num_threads(1)
    device = torch.device(name)
    return [record.model_dump(mode="json") for record in counts(device) + timeline(device)]


def times_of_phases(plan: Plan) -> list[Record]:
    """The whole step, the step with a clock between its phases, and its five matrix products alone."""
    split = data.iris()
    model, watched = make_model(), make_model()
    return rotate(
        "step",
        "cpu",
        [
            Case("lesson", lambda steps: read_every_step(model, split.X_train, split.y_train, steps), multiple=BLOCK_STEPS),
            Case("clock between phases", lambda steps: phases(watched, split.X_train, split.y_train, steps), multiple=BLOCK_STEPS),
            Case("matrix products", products(split.X_train)),
        ],
        rotations=60 if plan.quick else 300,
        seconds=2 if plan.quick else 40,
        progress=plan.progress,
    )


# --8<-- [start:phases]
def phases(model, X, y, steps):
    """The lesson's loop with a clock read between its phases; returns the seconds of each, summed over the steps."""
    clock = time.perf_counter
    seconds = dict.fromkeys(PHASES, 0.0)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    for step in range(steps):
        started = clock()
        output = model(X)
        forward_done = clock()
        loss = criterion(output, y)
        loss_done = clock()
        optimizer.zero_grad()
        zeroed = clock()
        loss.backward()
        backward_done = clock()
        optimizer.step()
        updated = clock()
        loss.item()
        read = clock()
        seconds["forward"] += forward_done - started
        seconds["loss"] += loss_done - forward_done
        seconds["zero_grad"] += zeroed - loss_done
        seconds["backward"] += backward_done - zeroed
        seconds["optimizer step"] += updated - backward_done
        seconds["item"] += read - updated
    return seconds
# --8<-- [end:phases]


class Calls(TorchDispatchMode):
    """Inside a `with` block, count what PyTorch's dispatcher is called for."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        if operation.namespace == "aten":  # the rest are marks for the profiler
            name = operation._schema.name
            view = operation.is_view or name == "aten::detach"  # a new tensor object over the same numbers
            self.counts["readings" if name == "aten::_local_scalar_dense" else "views" if view else "operations"] += 1
            self.counts["dispatches"] += 1
        return operation(*args, **(kwargs or {}))


def counts(device: torch.device) -> list[Record]:
    """How often, in one step of the lesson: dispatches and what they are, and on an accelerator launches and waits."""
    split = data.iris().to(device)
    model = make_model(device)
    read_every_step(model, split.X_train, split.y_train, 3)
    with Calls() as calls:
        read_every_step(model, split.X_train, split.y_train, COUNTED_STEPS)
    about = dict(experiment="step", group=f"counts on {device}", role="single", device=str(device), threads=1, unit="count")
    parameters = {"steps": COUNTED_STEPS}
    found = [(name, calls.counts[name]) for name in ("dispatches", "operations", "views", "readings")]
    if device.type != "cpu":
        try:
            events = trace(device, lambda: read_every_step(model, split.X_train, split.y_train, COUNTED_STEPS))
            found += device_counts(events)
        except RuntimeError as error:
            return [*counted(found, about, parameters), Record(case="launches", failure=reason(error), parameters=parameters, **about)]
    return counted(found, about, parameters)


def counted(found, about: dict, parameters: dict) -> list[Record]:
    return [Record(case=name, samples=[count / COUNTED_STEPS], parameters=parameters, **about) for name, count in found]


def trace(device: torch.device, work) -> list[dict]:
    """The profiler's events while ``work()`` is done, as its Chrome trace has them; times in microseconds.

    Raises RuntimeError where the profiler cannot watch the device, and where there is no place for its file.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it writes to the terminal when it starts and stops
    activities = [ProfilerActivity.CPU, *([ACTIVITIES[device.type]] if device.type in ACTIVITIES else [])]
    with profile(activities=activities) as profiler:
        with record_function("watched"):
            work()
            synchronize(device)
    with temporary_folder() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8", errors="replace"))["traceEvents"]
    return [{"args": {}} | event for event in events if event.get("ph") == "X" and "cat" in event]


DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
NOTHING_SEEN = "the profiler saw nothing of the device's work"


def device_counts(events: list[dict]) -> list[tuple[str, int]]:
    """Launches, kernels, copies and waits in a trace. Raises RuntimeError where it has no event of the device.

    A launch is a call of the driver that led to a kernel or a fill; a graph's launch leads to many. The wait at the end of
    what was watched is not counted.
    """
    watched = next(event for event in events if event["name"] == "watched" and event["cat"] == "user_annotation")
    end = watched["ts"] + watched["dur"]
    calls = [event for event in events if event["cat"].endswith(("_runtime", "_driver")) and watched["ts"] <= event["ts"] <= end]
    numbers = {event["args"].get("correlation") for event in calls}
    work = [event for event in events if event["cat"] in DEVICE_WORK and event["args"].get("correlation") in numbers]
    if not work:
        raise RuntimeError(NOTHING_SEEN)
    kernels = [event for event in work if event["cat"] != "gpu_memcpy"]
    waits = sum("ynchronize" in event["name"] for event in calls)
    return [
        ("launches", len({event["args"]["correlation"] for event in kernels})),
        ("kernels", len(kernels)),
        ("copies", len(work) - len(kernels)),
        ("synchronizations", max(waits - 1, 0)),
    ]


def labeled(model, X, y, steps):
    """The lesson's loop with a label for the profiler on each of its phases."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    for step in range(steps):
        with record_function("phase: forward"):
            output = model(X)
        with record_function("phase: loss"):
            loss = criterion(output, y)
        with record_function("phase: zero_grad"):
            optimizer.zero_grad()
        with record_function("phase: backward"):
            loss.backward()
        with record_function("phase: optimizer step"):
            optimizer.step()
        with record_function("phase: item"):
            loss.item()


def timeline(device: torch.device) -> list[Record]:
    """The events of two steps: the host's phases and operations, and what the device did."""
    split = data.iris().to(device)
    model = make_model(device)
    labeled(model, split.X_train, split.y_train, 3)
    about = dict(experiment="step", group=f"timeline on {device}", role="single", device=str(device), threads=1)
    try:
        events = trace(device, lambda: labeled(model, split.X_train, split.y_train, WATCHED_STEPS))
    except RuntimeError as error:
        return [Record(case="timeline", failure=reason(error), **about)]
    records = [
        Record(case=name, samples=[seconds], parameters={"start": start, "track": track, "depth": depth}, **about)
        for name, start, seconds, track, depth in drawn(events)
    ]
    if device.type != "cpu" and not any(record.parameters["track"] for record in records):
        records.append(Record(case="device", failure=NOTHING_SEEN, **about))
    return records


def drawn(events: list[dict]) -> list[tuple[str, float, float, int, int]]:
    """Name, start and duration in seconds, track (0 host, 1 device) and depth (0 phase, 1 operation) of two steps' events.

    They are the two in a row that took least: in the others the machine may have done something else meanwhile. An
    operation that another one calls is a part of it and left out.
    """
    phases = sorted((event for event in events if event["cat"] == "user_annotation" and event["name"].startswith("phase: ")), key=lambda event: event["ts"])
    runs = [phases[first : first + DRAWN_STEPS * len(PHASES)] for first in range(0, len(phases) - len(PHASES), len(PHASES))]
    chosen = min(runs, key=lambda run: run[-1]["ts"] + run[-1]["dur"] - run[0]["ts"])
    begin, end = chosen[0]["ts"], chosen[-1]["ts"] + chosen[-1]["dur"]

    def during(*categories: str) -> list[dict]:
        """Events that began in these steps, the one that holds another before it."""
        return sorted((e for e in events if e["cat"].endswith(categories) and begin <= e["ts"] <= end), key=lambda e: (e["ts"], -e["dur"]))

    found = [(event, event["name"].removeprefix("phase: "), 0, 0) for event in chosen]
    ends: dict[object, float] = {}  # of the last operation of each thread
    for event in during("cpu_op"):
        if event["ts"] >= ends.get(event["tid"], 0.0):
            ends[event["tid"]] = event["ts"] + event["dur"]
            found.append((event, operation_name(event["name"]), 0, 1))
    calls = {event["args"].get("correlation") for event in during("_runtime", "_driver")}
    work = [event for event in events if event["cat"] in DEVICE_WORK and event["args"].get("correlation") in calls]
    found += [(event, kernel_name(event["name"]), 1, 0) for event in work]
    found.sort(key=lambda entry: entry[0]["ts"])
    return [(name, (event["ts"] - begin) / 1e6, event["dur"] / 1e6, track, depth) for event, name, track, depth in found if event["dur"] > 0][:MOST_EVENTS]


def operation_name(name: str) -> str:
    """The profiler's name of an operation without where it lives: `aten::relu` is `relu`."""
    return name.removeprefix("autograd::engine::evaluate_function: ").split("::")[-1][:60]


def kernel_name(name: str) -> str:
    """The part of a kernel's long C++ name that says what it is: `void at::native::fill<float>(...)` is `fill`."""
    name = name.replace("(anonymous namespace)::", "")
    return (name.split("<")[0].split("(")[0].removeprefix("void ").split("::")[-1].strip() or name)[:60]
