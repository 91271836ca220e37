"""The one-file probe: it trains what the lesson trains, judges as the package judges, and the site takes its file."""

import contextlib
import errno
import gc
import html
import importlib.util
import io
import os
import random
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tutorial.measure import timing
from tutorial.measure.results import Measured, load, load_all
from tutorial.publish.bound import bound
from tutorial.publish.comparison import Machine
from tutorial.publish.render import fragments
from tutorial.training import data, loops, model

PROGRAM = Path(__file__).parents[1] / "snippets" / "why_is_my_gpu_slower.py"
CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)


def as_module():
    spec = importlib.util.spec_from_file_location("probe", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROBE = as_module()


@pytest.fixture
def probe(monkeypatch, tmp_path):
    """A probe that a test may change, in an empty folder, with little time, and no accelerator."""
    monkeypatch.chdir(tmp_path)
    module = as_module()
    module.SECONDS = 0.1
    module.find_accelerator = lambda: (None, None)
    return module


def rendered(folder: Path) -> dict[str, str]:
    """What the site makes of the one file in the folder."""
    (file,) = folder.iterdir()
    return fragments([Machine(file.stem, load(file))], {}, "en")


def test_its_losses_are_those_of_the_lesson():
    (X, y), table = PROBE.iris("cpu"), data.iris()
    rows, expected_rows = ([tuple(row) for row in torch.column_stack(pair).tolist()] for pair in ((X, y), (table.X_train, table.y_train)))
    assert sorted(rows) == sorted(expected_rows)
    expected = loops.read_every_step(model.make_model(), table.X_train, table.y_train, 300)
    assert PROBE.train(PROBE.new_model("cpu"), X, y, 300) == pytest.approx(expected, abs=1e-5)
    assert PROBE.train(PROBE.new_model("cpu"), *PROBE.iris("cpu", times=10), 50) == pytest.approx(expected[:50], abs=1e-5)


intervals = st.lists(st.floats(0.3, 3), min_size=3, max_size=3).map(sorted)


@given(intervals, intervals)
def test_it_compares_as_the_package_does(case, twin):
    low, middle, high = case
    twin_low, twin_middle, twin_high = twin
    expected = timing.verdict(timing.Ratio(middle, low, high), timing.Ratio(twin_middle, twin_low, twin_high))
    assert PROBE.compare((middle, low, high), (twin_middle, twin_low, twin_high)) == expected


@pytest.mark.parametrize("factor", [0.5, 0.97, 1.0, 1.3, 4.0])
@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_its_intervals_are_those_of_the_package(factor, noise):
    draw = random.Random(1)
    base = [draw.gauss(1, noise) for _ in range(100)]
    case = [factor * draw.gauss(1, noise) for _ in range(100)]
    expected = timing.ratio(case, base)
    assert PROBE.ratio(case, base) == pytest.approx(tuple(expected), abs=0.3 * expected.half_width)


def made_up(times: dict[str, float], launched: float | None, noise: float = 0.01) -> tuple[dict, Measured]:
    """The cases of a CUDA device and their file, from made-up times of a step in microseconds."""
    draw = random.Random(2)
    cases = {}
    for name, microseconds in times.items():
        cases[name] = PROBE.Case(None)
        cases[name].samples = [microseconds * 1e-6 * draw.gauss(1, noise) for _ in range(60)]
        cases[name].length = 40
        if name.startswith("device, batch"):
            cases[name].parameters = {"graph": 1}
    if "lesson" in times:
        cases["lesson again"] = cases["lesson"]
    cases |= {name: SimpleNamespace(samples=[1e-4] * 60, length=9, failure=None, parameters={}) for name in ("cpu", "cpu again", "plain Python")}
    content = PROBE.results(cases, None, None, None) | {"records": PROBE.records(cases, CUDA, launched)}
    content["hardware"]["accelerators"] = [{"device": "cuda:0", "name": "Example GPU"}]
    return cases, Measured.model_validate(content)


def judged_by_both(times: dict[str, float], launched: float | None) -> tuple[str, str]:
    """The verdicts of the probe and of the package."""
    cases, results = made_up(times, launched)
    found = bound(results, "cuda:0")
    return PROBE.bound(cases, launched), f"{found.word}-bound".replace("open-bound", "open") if found else "none"


LESSON = {"lesson": 320, "never": 300, "host": 290, "device, launched": 60, "device": 40, "device, batch 1200": 41, "synchronize": 20, "kernel launch": 3}


@pytest.mark.parametrize(
    ("changes", "launched", "verdict"),
    [
        ({}, 20, "host-bound"),
        ({}, None, "host-bound"),
        ({}, 60, "launch-bound"),
        ({}, 47, "host-bound"),  # launches are nearly half of it
        ({"host": 100, "device, launched": 290, "device": 280, "device, batch 1200": 300}, 20, "latency-bound"),
        ({"host": 100, "device, launched": 290, "device": 280, "device, batch 1200": 2500}, 20, "throughput-bound"),
        ({"host": 100, "device, launched": 290, "device": 30, "device, batch 1200": 31}, 20, "latency-bound"),  # the launches take their time there
        ({"host": 100}, 20, "open"),  # the parts do not add up
        ({"host": 500}, 20, "open"),
        ({"lesson": 500}, 20, "open"),
        ({"lesson": 700, "synchronize": 400}, 20, "open"),  # waiting is most of it
        ({"device, launched": 290}, 20, "open"),  # which of them is longer cannot be told
    ],
)
def test_what_holds_the_loop_up(changes, launched, verdict):
    assert judged_by_both(LESSON | changes, launched) == (verdict, verdict)
    assert verdict in PROBE.MEANING


times = st.floats(10, 1000)


@settings(max_examples=50, deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys(LESSON, times)), st.floats(1, 100))
def test_it_judges_as_the_package_does(drawn, launched):
    # Each bootstrap has its own random numbers: where the interval only just touches the limit, they may differ.
    assume(abs(drawn["host"] / drawn["device, launched"] - 1) > 0.02)
    assume(abs(launched * drawn["kernel launch"] / drawn["host"] - 0.5) > 0.02)
    assume(abs(drawn["device, batch 1200"] / drawn["device"] - 1.1) > 0.02)
    # Every other one is made to add up, or nearly all would be open.
    if int(drawn["lesson"]) % 2:
        drawn["never"] = max(drawn["host"], drawn["device, launched"])
        drawn["lesson"] = drawn["never"] + drawn["synchronize"]
    ours, theirs = judged_by_both(drawn, launched)
    assert ours == theirs


@pytest.mark.parametrize("launched", [None, 20.0])
@pytest.mark.parametrize("missing", [set(), {"kernel launch"}, {"device", "device, batch 1200"}, {"device, launched"}, {"never", "host"}])
def test_the_site_shows_what_a_cuda_device_tells(launched, missing):
    told = {name: microseconds for name, microseconds in LESSON.items() if name not in missing}
    _, results = made_up(told, launched if "kernel launch" in told else None)
    assert "Example GPU" in fragments([Machine("x", results)], {}, "en")["tables/training.md"]


def test_the_report_of_a_cuda_device(capsys):
    cases, _ = made_up(LESSON | {"lesson": 330}, 60)
    PROBE.report(cases, 60)
    told = capsys.readouterr().out
    for line in ("The GPU against the CPU: slower, 3", "The GPU calculates for 12% of a step", "makes it 1.09 times as long", "Verdict: launch-bound.", "Read the chapter Make it faster."):
        assert line in told, told


@pytest.mark.parametrize("missing", ["host", "device, launched"])
def test_without_the_host_or_the_device_alone_nobody_is_blamed(missing):
    """Not even the host where it alone explains the loop within 20 %: the device may take as long."""
    told = {name: LESSON[name] for name in ("lesson", "never", "host", "device, launched", "synchronize")}
    assert judged_by_both(told, None) == ("host-bound", "host-bound")
    del told[missing]
    assert judged_by_both(told, None) == ("open", "none")


def test_each_chapter_that_it_names_is_one_of_the_guide():
    pages = Path(__file__).parents[1] / "docs" / "en"
    titles = {page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").split(" {")[0] for page in pages.glob("*.md")}
    named = {chapter for _, chapters in PROBE.MEANING.values() for chapter in chapters.split(", then ")}
    assert named <= titles and {"Set up PyTorch", "Train on the CPU"} <= titles


def test_on_a_cpu_alone_it_writes_what_the_site_shows(probe, capsys, tmp_path):
    threads = torch.get_num_threads()
    probe.main()
    assert torch.get_num_threads() == threads
    told = capsys.readouterr().out
    assert "20,000 steps take about" in told and "Written: probe-" in told
    pages = rendered(tmp_path)
    assert "profile `probe`" in pages["tables/training.md"] and "not measured here" in pages["tables/training.md"]
    (file,) = tmp_path.iterdir()
    results = load(file)
    assert [(r.group, r.role, r.device) for r in results.records] == [("step", "base", "cpu"), ("step", "twin", "cpu"), ("step", "witness", "cpu")]


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "cp932"])
def test_an_output_without_the_micro_sign_ends_nothing(probe, monkeypatch, tmp_path, encoding):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    probe.main()
    sys.stdout.flush()
    told = written.getvalue().decode(encoding)
    assert " ?s\n" in told and "20,000 steps take about" in told
    (file,) = tmp_path.iterdir()
    assert told.splitlines()[-1].startswith(f"Written: {file.name}.")


def test_a_notebook_has_an_output_of_another_kind(probe, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(write=told.append, flush=lambda: None))
    probe.main()
    assert " µs" in "".join(told) and "Written: probe-" in "".join(told)


def test_the_file_is_there_before_the_report(probe, monkeypatch, tmp_path):
    """So an error of the report, whatever it is, loses no measurement."""
    monkeypatch.setattr(probe, "report", lambda cases, launched: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        probe.main()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_replaces_no_earlier_one_and_has_a_name_that_the_site_accepts(probe, tmp_path):
    _, results = made_up(LESSON, None)
    content = results.model_dump(mode="json")
    content["hardware"]["cpu"]["model"] = "Пример ® CPU @ 2.00GHz"
    for when in ("2026-12-01T04:15:00Z", "2026-12-01T04:16:00Z"):
        probe.write(content | {"when": when})
    names = [f"probe-cpu-2-00ghz-example-gpu-2026-12-01t04-{minute}-00z" for minute in (15, 16)]
    assert list(load_all(tmp_path)) == names and len(list(tmp_path.iterdir())) == 2


def test_without_any_time_of_a_training_there_is_no_file(probe, tmp_path, capsys):
    def broken():
        raise RuntimeError("no kernel\nmore")

    made = probe.cases_for
    probe.cases_for = lambda device: made(None) | dict.fromkeys(("cpu", "cpu again"), broken)
    with pytest.raises(SystemExit, match=r"Nothing could be timed, so nothing was written\."):
        probe.main()
    assert "not told: no kernel\n" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def no_argument():
    """`torch.accelerator.current_accelerator` of PyTorch 2.6."""


@pytest.mark.parametrize("accelerator", [None, SimpleNamespace(current_accelerator=no_argument)], ids=["2.5", "2.6"])
def test_an_older_pytorch_is_told_in_a_line(monkeypatch, accelerator, capsys):
    monkeypatch.delattr(torch, "accelerator")
    if accelerator:
        monkeypatch.setattr(torch, "accelerator", accelerator, raising=False)
    with pytest.raises(SystemExit) as stopped:
        as_module().main()
    assert stopped.value.code == f"This needs PyTorch 2.7 or newer, and here is {torch.__version__}. Read the chapter Set up PyTorch."
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("making", "step", "samples"),
    [
        (60, 0.001, 40),  # a slow start takes nothing from the measurement
        (0, 1.2, 6),
        (0, 2, 4),  # 18 s of preparing, and 6 s a rotation
        (0, 10, 3),
    ],
)
def test_a_slow_machine_rotates_less_often(probe, making, step, samples):
    now = [0.0]

    def passes(seconds):
        now[0] += seconds

    def make():
        passes(making / 3)
        return probe.Case(lambda steps: passes(steps * step))

    probe.time = SimpleNamespace(monotonic=lambda: now[0], perf_counter=lambda: now[0])
    probe.cases_for = lambda device: dict.fromkeys(("cpu", "cpu again", "plain Python"), make)
    cases = probe.measure(None, 20)
    assert [len(case.samples) for case in cases.values()] == [samples] * 3


def test_the_time_that_it_promises_is_the_same_everywhere(probe, capsys):
    probe.main()
    assert "this takes about a minute ..." in capsys.readouterr().out
    assert "Takes about a minute." in probe.__doc__


@pytest.mark.parametrize("noise", [0.001, 1])
def test_a_disturbed_machine_is_told_before_its_figures(capsys, noise):
    cases, _ = made_up(LESSON, 20)
    draw = random.Random(3)
    cases["cpu again"].samples = [1e-4 * draw.lognormvariate(0, noise) for _ in range(60)]
    PROBE.report(cases, 20)
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("The CPU against itself: ")
    assert told[1].startswith("That should be 1. Other programs disturb this machine" if noise == 1 else "W on the CPU")


def test_its_file_tells_nothing_of_a_person(probe, monkeypatch, tmp_path):
    (tmp_path / "secret folder").mkdir()
    monkeypatch.chdir(tmp_path / "secret folder")
    for name in ("USER", "LOGNAME", "HOSTNAME", "HOME"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setattr(probe.platform, "node", lambda: "secret")
    probe.main()
    (file,) = Path.cwd().iterdir()
    assert "secret" not in file.read_text(encoding="utf-8") + file.name
    assert str(Path.home()) not in file.read_text(encoding="utf-8")


SIMULATED = """
import runpy, sys
import torch
import simulated_accelerator
if not simulated_accelerator.AVAILABLE:
    sys.exit(77)
torch.Event = simulated_accelerator.Event
probe = runpy.run_path(sys.argv[1])
probe["main"].__globals__["SECONDS"] = 0.2
probe["main"]()
"""


def test_on_another_accelerator_it_tells_what_can_be_told(tmp_path):
    """The simulated one stands for `mps` and `xpu`: no graph, no sleeping kernel, no launch alone. Its times mean nothing."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, "-c", SIMULATED, str(PROGRAM)]
    run = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    if run.returncode == 77:
        pytest.skip("this PyTorch cannot simulate an accelerator")
    assert run.returncode == 0, run.stderr
    assert "PyTorch uses" in run.stdout and "Verdict: " in run.stdout
    (file,) = tmp_path.iterdir()
    records = load(file).select("bound", "on simulated:0")
    told = {r.case for r in records if r.samples}
    assert told == {
        "lesson", "never", "host", "device, launched", "device, batch 1200", "device, batch 12000", "synchronize", "fixed kernel", "plain Python",
    }  # fmt: skip
    assert not [r.failure for r in records if r.failure]
    assert [r.role for r in records][:3] == ["witness", "base", "twin"]
    pages = rendered(tmp_path)
    assert "simulated:0" in html.unescape(pages["tables/training.md"])


@pytest.fixture
def cuda(probe, monkeypatch):
    """A probe for which the CPU answers to `cuda:0`, as far as the device's own calls are concerned."""
    iris, slept = probe.iris, []
    monkeypatch.setattr(probe, "iris", lambda device, times=1: iris("cpu", times))
    monkeypatch.setattr(probe, "new_model", lambda device, new_model=probe.new_model: new_model("cpu"))
    monkeypatch.setattr(probe, "synchronize", lambda device: None)
    monkeypatch.setattr(torch.cuda, "_sleep", slept.append, raising=False)
    probe.slept = slept
    return probe


def awake_after(slept, cycles):
    """Events of a device that sleeps long enough from so many cycles on."""
    return lambda device: SimpleNamespace(record=lambda: None, query=lambda: slept[-1] < cycles, synchronize=lambda: None)


@pytest.mark.parametrize("side", ["host", "device"])
def test_the_device_sleeps_until_the_host_is_ready(cuda, monkeypatch, side):
    monkeypatch.setattr(torch, "Event", awake_after(cuda.slept, 3_500_000))
    case = cuda.HeldCase(lambda steps: None, CUDA, 10, side)
    assert case.block(10) > 0
    assert cuda.slept == [1_000_000, 2_000_000, 4_000_000]
    case.block(10)
    assert cuda.slept[3:] == [4_000_000]


def test_a_host_that_waits_for_the_device_cannot_be_timed_alone(cuda, monkeypatch):
    monkeypatch.setattr(torch, "Event", awake_after(cuda.slept, float("inf")))
    with pytest.raises(RuntimeError, match="timed alone"):
        cuda.HeldCase(lambda steps: None, CUDA, 10, "host").block(10)


def test_the_host_is_timed_until_all_is_queued_and_the_device_from_when_it_is_free(cuda, monkeypatch):
    now = [0.0]

    def passes(seconds):
        now[0] += seconds

    monkeypatch.setattr(cuda.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(torch, "Event", lambda device: SimpleNamespace(record=lambda: None, query=lambda: False, synchronize=lambda: passes(100)))
    monkeypatch.setattr(cuda, "synchronize", lambda device: passes(7))
    for side, seconds in (("host", 3), ("device", 7)):
        assert cuda.HeldCase(lambda steps: passes(3), CUDA, 1, side).block(1) == seconds


def graphs(monkeypatch, replay):
    """CUDA graphs that train while they are recorded, as real ones do not, and do `replay` when they are replayed."""
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: SimpleNamespace(wait_stream=lambda other: None))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: SimpleNamespace(wait_stream=lambda other: None))
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, stream: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: SimpleNamespace(replay=replay))


def test_a_graph_that_trains_something_else_is_void(cuda, monkeypatch):
    graphs(monkeypatch, replay=lambda: None)  # so the loss is that of the recording, after the warm-up's steps
    with pytest.raises(RuntimeError, match="void: the graph's loss"):
        cuda.graph_of_steps(CUDA, times=1)


def test_a_block_of_a_graph_is_a_number_of_replays(cuda, monkeypatch):
    replays = []
    graphs(monkeypatch, replay=lambda: replays.append(1))
    monkeypatch.setattr(cuda, "train", lambda *args: [float("nan")])  # no loss to compare with: nothing is void
    case = cuda.graph_of_steps(CUDA, times=1)
    assert len(replays) == 1 and case.multiple == cuda.GRAPH
    case.work(3 * cuda.GRAPH)
    assert len(replays) == 4


def test_what_a_graph_works_on_lives_as_long_as_its_case(cuda, monkeypatch):
    """Freed, the memory of the labels would be given to others, and a replay would read their numbers as classes."""
    graphs(monkeypatch, replay=lambda: None)
    used = []
    monkeypatch.setattr(cuda, "iris", lambda device, times, iris=cuda.iris: used.extend(iris("cpu")) or tuple(used))
    monkeypatch.setattr(cuda, "train", lambda *args: [float("nan")])
    monkeypatch.setattr(cuda, "new_model", lambda device, make=cuda.new_model: used.append(make("cpu")) or used[-1])
    case = cuda.graph_of_steps(CUDA, times=1)
    used = [weakref.ref(thing) for thing in (*used[:3], *used[2].parameters())]
    gc.collect()
    assert all(thing() is not None for thing in used)
    del case
    gc.collect()
    assert not any(thing() is not None for thing in used)


def test_launches_are_counted_by_whatever_call_they_are_made(monkeypatch):
    counted = {
        "cudaLaunchKernel": 140, "cudaLaunchKernelExC": 20, "cuLaunchKernelEx": 30, "hipExtModuleLaunchKernel": 10,
        "cudaMemcpyAsync": 10, "cudaStreamSynchronize": 10, "aten::mm": 30, "cudaStreamIsCapturing": 5,
    }  # fmt: skip
    averages = [SimpleNamespace(key=key, count=count) for key, count in counted.items()]
    profiler = contextlib.nullcontext(SimpleNamespace(key_averages=lambda: averages))
    monkeypatch.setattr(torch.profiler, "profile", lambda activities: profiler)
    monkeypatch.setattr(PROBE, "training", lambda device, read: lambda steps: None)
    monkeypatch.setattr(PROBE, "synchronize", lambda device: None)
    assert PROBE.launches_per_step(CUDA) == 200 / PROBE.QUEUED


def test_what_fails_is_recorded_and_the_rest_goes_on(probe, tmp_path, capsys):
    def out_of_memory():
        raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB.\nmore")

    made = probe.cases_for
    probe.cases_for = lambda device: made(None) | dict.fromkeys(("lesson", "never", "host"), out_of_memory)
    probe.find_accelerator = lambda: (CPU, None)
    probe.launches_per_step = lambda device: 20
    probe.main()
    told = capsys.readouterr().out
    assert "not told: CUDA out of memory. Tried to allocate 2 GiB." in told
    assert "restart it first" in told and told.splitlines()[-1].startswith("Written: ")
    (file,) = tmp_path.iterdir()
    records = load(file).select("bound")
    assert {r.failure for r in records if r.case == "lesson"} == {"CUDA out of memory. Tried to allocate 2 GiB."}


@pytest.mark.parametrize("error", [TypeError("unsupported"), AssertionError(), RuntimeError("\n"), MemoryError("\n unsupported\nmore")])
@pytest.mark.parametrize("late", [False, True])
def test_an_error_of_any_kind_is_recorded(probe, tmp_path, error, late):
    """Also one without a text, and one that comes in the middle of the measurement."""

    class Failing(probe.Case):
        def block(self, length):
            if not late or self.length:  # found by `prepare`
                raise error
            return super().block(length)

    made = probe.cases_for
    probe.cases_for = lambda device: made(None) | {"cpu again": lambda: Failing(probe.spin)}
    probe.main()
    (file,) = tmp_path.iterdir()
    base, twin, witness = load(file).records
    assert base.samples and witness.samples
    assert twin.failure == timing.reason(error) and twin.failure in ("unsupported", type(error).__name__)


def test_a_profiler_that_fails_costs_the_counts_alone(monkeypatch):
    def refused(activities):
        raise AssertionError

    monkeypatch.setattr(torch.profiler, "profile", refused)
    monkeypatch.setattr(PROBE, "training", lambda device, read: lambda steps: None)
    assert PROBE.launches_per_step(CUDA) is None


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", "cannot use it: RuntimeError"),
        ("CUDA error: no kernel image is available for execution on the device\nmore", "none for this chip"),
        ("CUDA out of memory. Tried to allocate 20 MiB.", "end that first"),
        ("CUDA error: unknown error", "Set up PyTorch"),
    ],
)
def test_an_accelerator_that_cannot_be_used(probe, monkeypatch, tmp_path, capsys, message, said):
    """It is told, it stands in the file as one that does not work, and nothing of the CPU passes as measured on it."""

    def refused(*args, **kwargs):
        raise RuntimeError(message)

    probe.find_accelerator = as_module().find_accelerator
    card = SimpleNamespace(name="Example GPU", total_memory=2**34, major=6, minor=0)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available: torch.device("cuda"))
    monkeypatch.setattr(torch, "get_device_module", lambda device: SimpleNamespace(get_device_properties=lambda device: card))
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_75", "sm_80"])
    monkeypatch.setattr(torch, "ones", refused)
    probe.main()
    told = capsys.readouterr().out
    first = message.split("\n")[0] or "RuntimeError"
    assert f"PyTorch sees Example GPU (cuda:0) and cannot use it: {first}\n" in told
    assert said in told and "measured on the CPU alone" in told and "Verdict" not in told
    (file,) = tmp_path.iterdir()
    results = load(file)
    assert [(card.name, card.works) for card in results.hardware.accelerators] == [("Example GPU", False)]
    assert {record.device for record in results.records} == {"cpu"}
    row = next(line for line in rendered(tmp_path)["tables/training.md"].splitlines() if "| Example GPU" in line)
    assert "not measured here" in row


def test_a_folder_that_cannot_be_written_is_told_in_a_line(probe, monkeypatch, tmp_path, capsys):
    def refused(*args, **kwargs):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "write_text", refused)
    with pytest.raises(SystemExit, match="could not be written into this folder: Read-only file system"):
        probe.main()
    assert "20,000 steps take about" in capsys.readouterr().out  # the answer is not lost
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is sent another way there")
def test_ctrl_c_twice_leaves_a_line_and_no_file(tmp_path):
    changed = PROGRAM.read_text(encoding="utf-8").replace("SECONDS / 4", "60").replace("enough=0.02", "enough=0")
    process = subprocess.Popen([sys.executable, "-c", changed], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "Measuring" not in process.stdout.readline():
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode != 0 and told == "Stopped.\n"
    assert list(tmp_path.iterdir()) == []
