"""A function in a process of its own: its answer, its failure, and that nothing of it is left behind."""

import contextlib
import json
import math
import subprocess
import sys
import time

import psutil
import pytest

from tutorial.measure.new_process import in_new_process


def start_a_compiler(path: str, then: str) -> None:
    """Start a process that would go on for minutes and holds the same pipes; then `hang`, or `leave` it running."""
    compiler = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    with open(path, "w", encoding="utf-8") as file:
        json.dump(compiler.pid, file)
    if then == "hang":
        time.sleep(300)


def ended(number: int) -> bool:
    """Whether a process ends within some seconds; one that nobody has asked about since is a zombie."""
    for _ in range(100):
        with contextlib.suppress(psutil.NoSuchProcess):
            if psutil.Process(number).status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.1)
                continue
        return True
    return False


def test_the_answer_comes_back():
    assert in_new_process(math.hypot, 3.0, 4.0) == 5.0


def test_a_failure_is_told_by_its_last_line():
    with pytest.raises(RuntimeError, match="ValueError: "):
        in_new_process(math.sqrt, -1.0)


@pytest.mark.parametrize("then", ["hang", "leave"])
def test_what_takes_too_long_is_ended_with_all_that_it_has_started(tmp_path, then):
    path = tmp_path / "compiler"
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="not done after 2 s"):
        in_new_process(start_a_compiler, str(path), then, seconds=2)
    assert time.monotonic() - began < 30
    assert ended(json.loads(path.read_text(encoding="utf-8")))
