"""The experiments on what holds a loop up, where there is no GPU: CUDA's calls are stood in for, the profiler's events made up."""

import contextlib
import time
from types import SimpleNamespace

import pytest
import torch

from tutorial.measure import held_queue, timing
from tutorial.measure.experiments import Plan, bound, first_call, overheads, step
from tutorial.training.loops import read_every_step
from tutorial.training.model import make_model

CPU, CUDA, SECOND = torch.device("cpu"), torch.device("cuda", 0), torch.device("cuda", 1)


def rotate(experiment, group, cases, **options):
    return timing.rotate(experiment, group, cases, rotations=2, seconds=60, block=0.0)


class Event:
    """An event that is reached when it is waited for."""

    def __init__(self, device):
        assert device == CUDA

    def record(self):
        self.reached = False

    def query(self):
        return self.reached

    def synchronize(self):
        self.reached = True


class Graph:
    """What a capture gives: it trains a model of its own when it is replayed."""

    def __init__(self, model, X, y, steps):
        self.training, self.replays, self.losses = (model, X, y, steps), 0, torch.zeros(steps)

    def replay(self):
        self.replays += 1
        self.losses.copy_(torch.tensor(read_every_step(*self.training)))


@pytest.fixture
def cuda(monkeypatch):
    """The CPU answers for `cuda:0`. Returns what the calls of CUDA were asked for."""
    asked = SimpleNamespace(slept=[], graphs=[])

    def capture(model, X, y, steps):
        asked.graphs.append(Graph(model, X, y, steps))
        return asked.graphs[-1], asked.graphs[-1].losses

    iris = bound.data.iris()
    for make in (torch.zeros, torch.ones):
        monkeypatch.setattr(torch, make.__name__, lambda *shape, device=None, make=make, **options: make(*shape, **options))
    monkeypatch.setattr(torch, "Event", Event)
    monkeypatch.setattr(torch.cuda, "_sleep", asked.slept.append, raising=False)
    monkeypatch.setattr(torch.cuda, "device", lambda device: contextlib.nullcontext())
    monkeypatch.setattr(torch.accelerator, "synchronize", lambda device: None)
    monkeypatch.setattr(bound.data, "iris", lambda: SimpleNamespace(to=lambda device: iris))
    monkeypatch.setattr(bound, "make_model", lambda device: make_model())
    monkeypatch.setattr(bound, "capture", capture)
    monkeypatch.setattr(bound, "STEPS", 10)  # in a graph; a hundred take long where each is trained
    monkeypatch.setattr(bound, "ROWS", (120, 1200, 2400))
    for module in (bound, overheads):
        monkeypatch.setattr(module, "rotate", rotate)
    return asked


def test_everything_that_the_verdict_needs_is_timed_on_cuda(cuda):
    records = [r for r in bound.measure(Plan("quick", [CPU, CUDA])) if r.role != "witness"]
    assert {r.case for r in records} == {"lesson", "never", "host", "device, launched", "kernel launch", "host, graph", "device", "device, batch 1200", "device, batch 2400", "synchronize"}
    assert not any(r.failure for r in records) and {r.role for r in records} == {"base", "twin", "case"}
    assert {r.group for r in records} == {"on cuda:0"}
    of = {r.case: r for r in records}
    assert of["device"].parameters["graph"] == 1 and of["device, batch 2400"].parameters["rows"] == 2400
    assert [graph.training[1].shape[0] for graph in cuda.graphs] == [120, 120, 1200, 2400]
    assert of["host, graph"].parameters["steps_per_call"] == of["device"].parameters["steps_per_call"] == 10
    assert cuda.slept and set(cuda.slept) == {100_000, 0}  # 0: the launch alone


def test_the_cpu_alone_has_nothing_to_ask():
    assert bound.measure(Plan("full", [CPU])) == []


@pytest.mark.parametrize("make", [bound.host_of_graph, lambda device: bound.device_in_graph(device, 120)], ids=["host", "device"])
def test_a_graph_is_replayed_once_for_all_its_steps(cuda, make):
    case = make(CUDA)
    before = cuda.graphs[0].replays
    case.run(30)
    assert case.multiple == 10 and cuda.graphs[0].replays == before + 3


def test_the_host_of_a_graph_is_timed_without_the_replay(cuda, monkeypatch):
    """The clock stops when the replay is queued, not when the device is through."""
    monkeypatch.setattr(timing.torch.accelerator, "synchronize", lambda device: time.sleep(0.05))
    case = bound.host_of_graph(CUDA)
    monkeypatch.setattr(Graph, "replay", lambda graph: None)
    assert 0 < case.run(20)["host, graph"] < 0.05


def test_a_refused_capture_is_recorded_and_the_rest_goes_on(cuda, monkeypatch):
    def refused(*training):
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing\nmore")

    monkeypatch.setattr(bound, "capture", refused)
    records = {r.case: r for r in bound.measure(Plan("quick", [CUDA]))}
    assert records["device"].failure == records["host, graph"].failure == "CUDA error: operation not permitted when stream is capturing"
    assert records["host"].samples and records["lesson"].samples


def test_a_graph_that_trains_otherwise_is_void(cuda, monkeypatch):
    monkeypatch.setattr(Graph, "replay", lambda graph: graph.losses.fill_(0.5))
    records = {r.case: r for r in bound.measure(Plan("quick", [CUDA]))}
    assert records["device"].failure.startswith("void: the graph's last loss is 0.5000, the loop's ")


def test_the_device_sleeps_longer_until_the_host_is_ready(cuda, monkeypatch):
    monkeypatch.setattr(Event, "query", lambda event: cuda.slept[-1] < 350_000)
    held = held_queue.HeldQueue(CUDA)
    assert held.fill(lambda: None).host > 0
    assert cuda.slept == [100_000, 200_000, 400_000]


@pytest.fixture
def current(monkeypatch):
    """What happens on which card: a stack of the current ones."""
    stack = [CUDA]

    @contextlib.contextmanager
    def device(wanted):
        stack.append(wanted)
        yield
        stack.pop()

    monkeypatch.setattr(torch.cuda, "device", device)
    return stack


def test_a_second_card_is_kept_busy_itself(current, monkeypatch):
    """PyTorch records an event on the stream of the current card, whatever card the event was made for."""
    happened = []
    free = SimpleNamespace(record=lambda: happened.append(("record", current[-1])), query=lambda: False, synchronize=lambda: None)
    monkeypatch.setattr(torch, "Event", lambda device: free)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: happened.append(("sleep", current[-1])), raising=False)
    monkeypatch.setattr(torch.accelerator, "synchronize", lambda device: None)
    held_queue.HeldQueue(SECOND).fill(lambda: happened.append(("work", current[-1])))
    assert happened == [("sleep", SECOND), ("record", SECOND), ("work", CUDA), ("record", SECOND)]  # as a reader's loop, which changes nothing
    held_queue.launch_case(SECOND).run(held_queue.QUEUED)
    assert len(happened) > held_queue.QUEUED and {card for _, card in happened[4:]} == {SECOND}
    assert current == [CUDA]


def test_a_host_that_always_waits_for_the_device_cannot_be_timed_alone(cuda, monkeypatch):
    monkeypatch.setattr(Event, "query", lambda event: True)
    records = {r.case: r for r in bound.measure(Plan("quick", [CUDA]))}
    assert records["host"].failure == "cuda:0 could not be kept busy while the work was queued"
    assert records["device"].samples


def test_the_time_by_a_cases_own_clock_stands_for_the_case():
    records = timing.rotate(
        "e", "g", [timing.Case("base", timing.spin), timing.Case("own", lambda times: {"own": 0.5 * times})], rotations=3, seconds=60, block=0.0
    )
    found = [r for r in bound.by_own_clock(records) if r.case == "own"]
    assert [(r.role, r.samples) for r in found] == [("case", [0.5] * 3)]
    assert {r.role for r in bound.by_own_clock(records)} == {"base", "twin", "witness", "case"}


def test_every_price_is_asked_for_on_cuda(cuda, monkeypatch):
    monkeypatch.setattr(overheads, "in_new_process", lambda function, device: 0.4)
    records = {r.case: r for r in overheads.measure(Plan("quick", [CUDA])) if r.role != "witness"}
    assert {case for case, r in records.items() if r.samples} == {
        *("empty operation", "smallest operation", "kernel launch", "launch to finish", "synchronize", "item, idle", "item, busy"),
        *("copy 4 B to", "copy 4 B from", "backward, calling thread", "backward, default", "context creation"),
    }
    assert records["context creation"].samples == [0.4]
    assert 0 in cuda.slept  # the launch of a kernel that does nothing


def test_on_the_cpu_only_what_has_a_meaning_is_priced(monkeypatch):
    monkeypatch.setattr(overheads, "rotate", rotate)
    cases = {r.case for r in overheads.measure(Plan("quick", [CPU])) if r.role in ("base", "case")}
    assert cases == {"empty operation", "smallest operation", "item, idle", "backward, calling thread", "backward, default"}


@pytest.mark.parametrize(("profile", "processes"), [("quick", 1), ("full", 5)])
def test_first_times_come_from_new_processes(monkeypatch, profile, processes):
    asked, told = [], []

    def in_new_process(function, device, **options):
        asked.append((function, options.get("environment", {}).keys()))
        return 20.0 if function is first_call.first_compiled_call else dict.fromkeys(first_call.CASES, 0.1)

    monkeypatch.setattr(first_call, "in_new_process", in_new_process)
    records = first_call.measure(Plan(profile, [CPU], told.append))
    assert {r.case: len(r.samples) for r in records if r.case in first_call.CASES} == dict.fromkeys(first_call.CASES, processes)
    assert [r.samples for r in records if r.case == first_call.COMPILED] == ([] if profile == "quick" else [[20.0]])
    assert told[-1] == 1 and told == sorted(told)
    assert all({"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"} <= variables for function, variables in asked if function is first_call.first_compiled_call)


def every_other(answer):
    """A new process that fails every other time."""
    calls = []

    def in_new_process(function, device, **options):
        calls.append(function)
        if len(calls) % 2:
            raise RuntimeError("not done after 120 s")
        return answer

    return in_new_process


def test_a_process_that_fails_does_not_take_the_others_samples(cuda, monkeypatch):
    monkeypatch.setattr(first_call, "in_new_process", every_other(dict.fromkeys(first_call.CASES, 0.1)))
    monkeypatch.setattr(first_call, "compiled", lambda device: {"failure": "no compiler"})
    records = {r.case: r for r in first_call.measure(Plan("full", [CPU]))}
    assert all(records[case].samples == [0.1] * 2 for case in first_call.CASES)
    monkeypatch.setattr(overheads, "in_new_process", every_other(0.4))
    assert overheads.context_creation(CUDA, 5).samples == [0.4] * 2
    monkeypatch.setattr(overheads, "in_new_process", every_other(0.4))
    assert overheads.context_creation(CUDA, 1).failure == "not done after 120 s"


def test_a_compiler_that_is_missing_is_recorded(monkeypatch):
    def in_new_process(function, device, **options):
        if function is first_call.first_compiled_call:
            raise RuntimeError("InvalidCxxCompiler: No working C++ compiler found\nmore")
        return dict.fromkeys(first_call.CASES, 0.1)

    monkeypatch.setattr(first_call, "in_new_process", in_new_process)
    records = {r.case: r for r in first_call.measure(Plan("full", [CPU]))}
    assert records[first_call.COMPILED].failure == "InvalidCxxCompiler: No working C++ compiler found"
    assert records["first operation"].samples


def test_first_and_later_times_on_the_cpu(monkeypatch):
    monkeypatch.setattr(first_call, "LATER", 3)
    with timing.threads(1):
        found = first_call.first_and_later("cpu")
    assert found.keys() == set(first_call.CASES) and all(seconds > 0 for seconds in found.values())


# ---- Counts and the timeline ----


def test_the_lessons_step_is_18_operations_19_views_and_a_reading():
    with timing.threads(1):
        counted = {r.case: r.samples[0] for r in step.counts(CPU)}
    assert counted == {"dispatches": 38, "operations": 18, "views": 19, "readings": 1}


def test_the_profiler_has_a_process_of_its_own_where_it_would_stay_in_the_driver(monkeypatch):
    def in_this_process(*arguments):
        raise AssertionError("every later launch would be slower")

    asked = []
    monkeypatch.setattr(step, "profile", in_this_process)
    monkeypatch.setattr(step, "times_of_phases", lambda plan: [])
    monkeypatch.setattr(step, "in_new_process", lambda function, *arguments, **options: asked.append((function, *arguments)) or [])
    step.measure(Plan("quick", [CPU, CUDA]))
    assert asked == [(step.watched, "cpu"), (step.watched, "cuda:0")]


def test_a_process_of_its_own_counts_the_same():
    records = step.watched_apart(CPU)
    assert {r.case: r.samples[0] for r in records if r.unit == "count"} == {"dispatches": 38, "operations": 18, "views": 19, "readings": 1}
    assert [r.case for r in records if r.parameters.get("depth") == 0] == list(step.PHASES) * 2


def test_a_profiler_that_takes_its_process_down_is_recorded(monkeypatch):
    def crashes(*arguments, **options):
        raise RuntimeError("the process ended with -11")

    monkeypatch.setattr(step, "in_new_process", crashes)
    records = step.watched_apart(CUDA)
    assert [(r.group, r.case) for r in records] == [("counts on cuda:0", "launches"), ("timeline on cuda:0", "timeline")]
    assert {r.failure for r in records} == {"the process ended with -11"}


def made(category, name, start, duration, correlation=None, thread=1):
    arguments = {} if correlation is None else {"correlation": correlation}
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, "tid": thread, "args": arguments}


def test_launches_copies_and_waits_are_counted_from_the_trace_of_a_gpu():
    events = [
        made("cuda_runtime", "cudaLaunchKernel", 50, 5, 1),  # before what is watched
        made("kernel", "before", 60, 5, 1),
        made("user_annotation", "watched", 100, 900),
        made("gpu_user_annotation", "watched", 110, 700),
        made("cuda_runtime", "cudaLaunchKernel", 200, 5, 2),
        made("kernel", "void at::native::fill<float>(int)", 210, 3, 2),
        made("cuda_driver", "cuLaunchKernelEx", 300, 5, 3),
        made("kernel", "gemm", 310, 3, 3),
        made("cuda_runtime", "cudaGraphLaunch", 400, 5, 4),
        *(made("kernel", "node", 410 + n, 1, 4) for n in range(5)),
        made("cuda_runtime", "cudaMemsetAsync", 450, 5, 5),
        made("gpu_memset", "Memset (Device)", 460, 1, 5),
        made("cuda_runtime", "cudaMemcpyAsync", 500, 5, 6),
        made("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 510, 3, 6),
        made("cuda_runtime", "cudaStreamSynchronize", 520, 40, 7),
        made("cuda_runtime", "cudaDeviceSynchronize", 900, 40, 8),  # ends what is watched
        made("cuda_runtime", "cudaDeviceSynchronize", 1100, 40, 9),  # the profiler's own
    ]
    assert dict(step.device_counts(events)) == {"launches": 4, "kernels": 8, "copies": 1, "synchronizations": 1}


def test_a_profiler_that_does_not_see_the_device_counts_nothing(monkeypatch):
    monkeypatch.setattr(step, "make_model", lambda device: make_model())
    monkeypatch.setattr(step.data, "iris", lambda iris=step.data.iris: SimpleNamespace(to=lambda device: iris()))
    monkeypatch.setattr(step, "trace", lambda device, work: [made("user_annotation", "watched", 0, 9)])
    records = {r.case: r for r in step.counts(CUDA)}
    assert records["launches"].failure == "the profiler saw nothing of the device's work"
    assert records["dispatches"].samples == [38]


def steps_of_a_gpu():
    for number in range(4):
        begin = 1000 * number - 50 * (number == 0)  # the first pair takes longer than the others
        for place, phase in enumerate(step.PHASES):
            yield made("user_annotation", f"phase: {phase}", begin + 100 * place, 80)
        yield made("user_annotation", "Optimizer.step#SGD.step", begin + 410, 60)
        yield made("cpu_op", "aten::linear", begin + 10, 50)
        yield made("cpu_op", "aten::addmm", begin + 20, 30)  # inside
        yield made("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", begin + 320, 30, thread=2)
        yield made("cuda_runtime", "cudaLaunchKernel", begin + 30, 5, number)
        yield made("kernel", "void at::native::(anonymous namespace)::addmm<float, 4>(float*)", begin + 90, 12, number)
        yield made("gpu_user_annotation", "phase: forward", begin + 90, 12)


def test_the_timeline_holds_two_steps_of_phases_outer_operations_and_kernels():
    found = step.drawn(list(steps_of_a_gpu()))
    assert [name for name, *_, track, depth in found if (track, depth) == (0, 0)] == list(step.PHASES) * 2
    assert [name for name, *_, track, depth in found if (track, depth) == (0, 1)] == ["linear", "AddmmBackward0"] * 2
    kernels = [(start, seconds) for _, start, seconds, track, _ in found if track == 1]
    assert kernels == [(pytest.approx(90e-6), pytest.approx(12e-6)), (pytest.approx(1090e-6), pytest.approx(12e-6))]
    assert found == sorted(found, key=lambda event: event[1])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)", "vectorized_elementwise_kernel"),
        ("Memcpy DtoH (Device -> Pageable)", "Memcpy DtoH"),
        ("ampere_sgemm_32x32_sliced1x4_tn", "ampere_sgemm_32x32_sliced1x4_tn"),
        ("void at::native::(anonymous namespace)::nll_loss<float>(float*)", "nll_loss"),
    ],
)
def test_kernels_have_short_names(name, shown):
    assert step.kernel_name(name) == shown


def test_the_timeline_of_the_cpu_is_the_lessons_step():
    with timing.threads(1):
        records = step.timeline(CPU)
    assert len(records) < 100 and {r.parameters["track"] for r in records} == {0}
    assert [r.case for r in records if r.parameters["depth"] == 0] == list(step.PHASES) * 2
    assert {"linear", "relu", "AddmmBackward0", "add_"} <= {r.case for r in records}
