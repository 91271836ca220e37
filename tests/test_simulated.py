"""Runs the tests of `simulated_session.py` in a process of their own, where a simulated accelerator is registered."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from torch.utils import backend_registration

SESSION = Path(__file__).with_name("simulated_session.py")


@pytest.mark.skipif(
    not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"),
    reason="this PyTorch cannot register a device in Python",
)
def test_the_accelerator_branches_on_a_simulated_accelerator():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SESSION)]
    run = subprocess.run(command, cwd=SESSION.parents[1], env=os.environ | {"PYTEST_ADDOPTS": ""}, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_this_process_has_no_simulated_accelerator():
    assert "simulated_accelerator" not in sys.modules
