"""Call a function in a Python process of its own: for what happens only once in a process, or once in a folder of caches."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

import psutil

FLOAT32 = {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "0"}  # as `runner.measure` sets it for its own process

CALL = """
import importlib, json, sys
module, function, *arguments = json.loads(sys.argv[1])
print(json.dumps(getattr(importlib.import_module(module), function)(*arguments)))
"""


def in_new_process(function: Callable, *arguments: str | int | float, seconds: float = 120, environment: dict[str, str] = {}):
    """What ``function``, one of a module's own, returns there; arguments and result must fit into JSON.

    Raises RuntimeError with the last line of what the process said where it fails or takes longer than ``seconds``. However
    this ends, no process is left behind: neither that one nor those that it has started itself, a compiler for example.
    """
    request = json.dumps([function.__module__, function.__name__, *arguments])
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **FLOAT32, **environment}
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", CALL, request],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # a group of its own, which can be ended as a whole
        )
    except OSError as error:
        raise RuntimeError(f"no new process: {error.strerror}") from error
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"not done after {seconds:g} s") from error
    finally:  # an interruption comes by here, too
        end(process)
    if process.returncode != 0:
        raise RuntimeError((errors.strip().splitlines() or [f"the process ended with {process.returncode}"])[-1])
    return json.loads(output.splitlines()[-1])


@contextlib.contextmanager
def temporary_folder() -> Iterator[str]:
    """The path of a folder that is there inside the block. Raises RuntimeError where none can be made."""
    try:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    except OSError as error:  # its own text lists the folders that were tried, and results name no path
        raise RuntimeError(f"no temporary folder: {os.strerror(error.errno)}") from error
    with folder as path:
        yield path


@contextlib.contextmanager
def empty_caches() -> Iterator[dict[str, str]]:
    """The environment for a process in which the compiler finds nothing that was compiled before. Raises RuntimeError as `temporary_folder`."""
    with temporary_folder() as folder:
        yield {"TORCHINDUCTOR_CACHE_DIR": folder, "TRITON_CACHE_DIR": os.path.join(folder, "triton")}


def end(process: subprocess.Popen) -> None:
    """End a process that has a group of its own, and its group with it; where there are no groups, those that it started."""
    with contextlib.suppress(OSError, psutil.Error):  # all of them have ended
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            for started in psutil.Process(process.pid).children(recursive=True):
                started.kill()
            process.kill()
    process.wait()
