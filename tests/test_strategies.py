"""The experiment `strategies`: who does another training, or is not what it says, gets no time."""

import os
import shutil

import pytest
import torch

from tutorial.measure import timing
from tutorial.measure.experiments import Plan, strategies
from tutorial.training import compiled, loops
from tutorial.training.model import make_model

CPU = torch.device("cpu")
NAMES = [
    "never", "kept on the device", "backward on the calling thread", "foreach off", "fused",
    "functional", "by hand", "by hand, inference mode", "NumPy by hand", "matrix products",
]  # fmt: skip
needs_compiler = pytest.mark.skipif(not shutil.which(os.environ.get("CXX", "g++")), reason="needs a C++ compiler")


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Two short blocks of each case."""

    def rotate(experiment, group, cases, **options):
        return timing.rotate(experiment, group, cases, rotations=2, seconds=60, block=0.0, progress=options.get("progress", print))

    monkeypatch.setattr(strategies, "rotate", rotate)


def test_quick_times_everything_that_needs_no_compiler():
    told = []
    records = strategies.measure(Plan("quick", [CPU], told.append))
    assert [(r.case, r.role) for r in records[:3]] == [("lesson", "base"), ("lesson", "twin"), ("plain Python", "witness")]
    assert [r.case for r in records[3:]] == NAMES
    assert all(r.failure is None and r.group == "on cpu" and r.threads == 1 for r in records)
    assert [r.case for r in records if r.parameters.get("trains") == 0] == ["matrix products"]
    assert told[-1] == 1


def test_full_times_the_compiled_ones_too_each_in_a_group_of_its_own(monkeypatch):
    asked = []
    monkeypatch.setattr(strategies, "LONG", 20)
    monkeypatch.setattr(strategies, "compiled_case", lambda name, device: asked.append((name, device)) or [])
    told = []
    records = strategies.measure(Plan("full", [CPU], told.append))
    assert records[3].case == "every 100" and records[3].parameters["block"] % 100 == 0
    assert asked == [(name, CPU) for name in strategies.COMPILED]
    assert told == sorted(told) and told[-1] == 1


def fewer_steps(model, X, y, steps):
    return loops.read_every_step(model, X, y, steps - 1)


def another_rate(model, X, y, steps):
    return loops.train(model, X, y, steps, torch.optim.SGD(model.parameters(), lr=0.0101))


def trains_without_telling(model, X, y, steps):
    another_rate(model, X, y, steps)
    return []


def tells_without_training(model, X, y, steps):
    return loops.read_every_step(make_model(), X, y, steps)


def not_a_number(model, X, y, steps):
    return [float("nan")] * steps


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        (fewer_steps, "void: 199 losses of 200 steps"),
        (another_rate, "void: a loss differs by "),
        (trains_without_telling, "void: a weight differs by "),
        (tells_without_training, "void: a weight differs by "),
        (not_a_number, "void: a loss differs by nan"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_another_training_is_void(loop, told):
    made = strategies.case("other", loop, CPU)
    *others, record = strategies.rotate("strategies", "on cpu", [strategies.lesson_case(CPU), made])
    assert record.failure.startswith(told) and not record.samples
    assert others[0].samples


def test_what_a_compiler_or_driver_raises_is_recorded():
    class CompilerError(Exception):
        pass

    def fails(model, X, y, steps):
        raise CompilerError("no compiler\nread this and that")

    *_, record = strategies.rotate("strategies", "on cpu", [strategies.lesson_case(CPU), strategies.case("other", fails, CPU)])
    assert record.failure == "no compiler"


def failure(name: str) -> str:
    (record,) = strategies.compiled_case(name, CPU)
    assert (record.case, record.group, record.role, record.samples) == (name, f"{name} on cpu", "case", [])
    return record.failure


@pytest.fixture
def dynamo():
    """The compiler of this process, fresh before and after."""
    import torch._dynamo
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    yield torch._dynamo
    torch._dynamo.reset()
    counters.clear()


def test_a_compiler_that_is_switched_off_does_not_pass(dynamo):
    with dynamo.config.patch(disable=True):
        (record,) = strategies.measure_compiled("compile(loss)", "cpu", 1)
    assert record["failure"] == "void: nothing was compiled; is the compiler switched off?" and not record["samples"]


def test_a_machine_without_a_compiler_is_recorded_even_where_errors_are_suppressed(monkeypatch):
    monkeypatch.setenv("TORCHDYNAMO_SUPPRESS_ERRORS", "1")
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert "ompiler" in failure("compile(model)")


def test_a_compilation_without_end_is_recorded(monkeypatch):
    monkeypatch.setattr(strategies, "PATIENCE", 1)
    assert failure("many steps compiled") == "not done after 1 s"


def test_a_graph_break_does_not_pass(dynamo):
    @torch.compile(backend="eager")
    def broken(x):
        x = x + 1
        dynamo.graph_break()
        return x + 1

    broken(torch.ones(1))
    with pytest.raises(RuntimeError, match="void: not compiled in one piece"):
        strategies.refuse_fallback()


def test_what_was_compiled_in_one_piece_passes(dynamo):
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
    strategies.refuse_fallback()


@needs_compiler
def test_what_is_compiled_does_the_same_training(monkeypatch):
    name = "many steps compiled"  # one is enough: a compilation takes half a minute
    monkeypatch.setattr(strategies, "COMPILED_SECONDS", 1)
    records = strategies.compiled_case(name, CPU)
    assert [(r.case, r.role) for r in records] == [
        ("lesson", "base"), ("lesson", "twin"), ("plain Python", "witness"), (name, "case"), (f"{name}: first call", "single"),
    ]  # fmt: skip
    assert all(r.failure is None and r.group == f"{name} on cpu" for r in records)
    assert 0.1 < records[-1].samples[0] < strategies.PATIENCE


def test_the_whole_step_does_the_same_training(monkeypatch):
    monkeypatch.setattr(compiled, "compile_whole", lambda function, device_type: function)
    strategies.check(compiled.whole_step, CPU, 1e-6)


def test_each_compiled_case_is_known_by_its_name():
    for name in strategies.COMPILED:
        loop, parameters = strategies.compiled_loop(name)
        assert callable(loop)
    assert parameters == {"steps_per_call": 1000}
