"""Runs the programs in snippets/, each once in a test session, and compares what they print."""

import contextlib
import doctest
import io
import os
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from .output import OutputChecker, first_difference
from .site import Site
from .trace import report


@contextlib.contextmanager
def isolated(main: ModuleType):
    """An empty folder to work in, `main` as the program that runs, and nothing left behind for the next example."""
    import matplotlib
    import torch

    argv, path, program, environment = sys.argv, list(sys.path), sys.modules["__main__"], dict(os.environ)
    threads, grad = torch.get_num_threads(), torch.is_grad_enabled()
    dtype, device = torch.get_default_dtype(), torch.get_default_device()
    matplotlib.use("Agg")
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with folder, contextlib.chdir(folder.name), matplotlib.rc_context():
        sys.modules["__main__"] = main  # pickle and multiprocessing look there
        try:
            yield
        finally:
            sys.argv, sys.path[:], sys.modules["__main__"] = argv, path, program
            os.environ.clear()
            os.environ.update(environment)
            torch.set_num_threads(threads)
            torch.set_grad_enabled(grad)
            torch.set_default_dtype(dtype)
            torch.set_printoptions(profile="default")
            if torch.get_default_device() != device:
                torch.set_default_device(device if device.type != "cpu" else None)
            if pyplot := sys.modules.get("matplotlib.pyplot"):
                pyplot.close("all")


@dataclass
class Run:
    """What became of a program: its globals, and what is wrong with it."""

    globals: dict = field(default_factory=dict)
    problem: str | None = None


def run(program: Path, site: Site) -> Run:
    if program not in site.runs:
        site.runs[program] = _run(program, site)
    return site.runs[program]


def _run(program: Path, site: Site) -> Run:
    main = ModuleType("__main__")
    main.__file__ = str(program)
    printed = io.StringIO()
    try:
        with isolated(main), warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            sys.argv = [str(program)]
            sys.path.insert(0, str(program.parent))
            exec(compile(program.read_text(encoding="utf-8"), program, "exec", dont_inherit=True), main.__dict__)
    except (Exception, SystemExit) as error:
        if not (isinstance(error, SystemExit) and error.code in (None, 0)):
            return Run(vars(main), report(error, site))
    return Run(vars(main), compare(program, printed.getvalue(), site))


def compare(program: Path, printed: str, site: Site) -> str | None:
    expected = program.with_suffix(".out")
    want = expected.read_text(encoding="utf-8") if expected.exists() else ""
    example, checker = doctest.Example("", want), OutputChecker()
    if checker.check_output(example.want, printed, doctest.ELLIPSIS):
        return None
    if not want:
        return f"{site.name(program)}:1: it prints something, and there is no {expected.name} to say what:\n{printed}"
    place = f"{site.name(expected)}:{first_difference(want, printed)}: {site.name(program)} prints something else"
    return f"{place}\n{checker.output_difference(example, printed, doctest.ELLIPSIS)}"
