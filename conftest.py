"""Adds the documentation's examples to the tests, and the option `--doctest` that runs nothing else."""

from pathlib import Path

import pytest
from documentation.collect import collect_file, sybils

ROOT = Path(__file__).parent


def pytest_addoption(parser):
    parser.addoption(
        "--doctest", action="store_true", help="verify the examples of the documentation, and nothing else"
    )


def pytest_configure(config):
    config.sybils = sybils(ROOT)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    """A file of examples is not a module of tests too: pytest would import, and so run, a program named to it."""
    others = yield
    examples = collect_file(parent.config.sybils, file_path, parent)
    if examples:
        return [examples]
    return [] if parent.config.getoption("doctest") else others
