"""The programs that the pages show and the functions that the tables time do the same training."""

from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import torch

from tutorial.training import data, loops, model

SNIPPETS = Path(__file__).parent.parent / "snippets"
EPOCHS = 300


@pytest.fixture(autouse=True)
def one_thread(tmp_path, monkeypatch):
    """The programs set one thread for the whole process, draw a figure and write a file: leave nothing of it behind."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    yield
    torch.set_num_threads(threads)
    plt.close("all")


def run(program: str, *changes: tuple[str, str]) -> dict:
    """Run a program of ``snippets/`` with these pieces of its text changed, and return its names."""
    source = (SNIPPETS / program).read_text(encoding="utf-8")
    for old, new in changes:
        assert source.count(old) == 1, f"{program} should hold {old!r} once"
        source = source.replace(old, new)
    names = {"__name__": "__main__"}
    exec(compile(source, program, "exec"), names)
    return names


def train_here(program: str) -> dict:
    return run(program, ("EPOCHS = 20_000", f"EPOCHS = {EPOCHS}"))


@pytest.fixture(scope="module")
def timed_losses() -> list[float]:
    """The losses of the function that the tables time, on the CPU."""
    table = data.iris()
    return loops.read_every_step(model.make_model(), table.X_train, table.y_train, EPOCHS)


def test_cpu_program_trains_as_the_timed_function_does(timed_losses):
    names = train_here("cpu_baseline.py")

    assert names["losses"] == pytest.approx(timed_losses, abs=1e-6)
    for name, tensor in data.iris()._asdict().items():
        torch.testing.assert_close(names[name], tensor, rtol=0, atol=0)


def test_gpu_program_trains_as_the_timed_function_does(timed_losses):
    names = train_here("gpu_training.py")

    assert names["losses"] == pytest.approx(timed_losses, abs=1e-3)
    held = [*names["model"].parameters(), *(names[name] for name in ("X_train", "y_train", "X_test", "y_test"))]
    assert {tensor.device.type for tensor in held} == {names["device"].type}


def test_wide_program_trains_as_the_timed_function_does():
    names = run("gpu_training_wide.py", ('report(torch.device("cpu"))', ""), ("if accelerator:", "if False:"))
    batches = list(zip(names["X"].split(names["BATCH"]), names["y"].split(names["BATCH"])))

    program, timed = names["make_model"](), model.make_model(kind=model.WideMLP)
    names["train"](program, batches, 2)
    loops.minibatches(timed, names["X"], names["y"], 2, batch=names["BATCH"])

    torch.testing.assert_close(list(program.parameters()), list(timed.parameters()))
