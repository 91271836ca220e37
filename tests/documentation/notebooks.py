"""Runs the notebooks. They are stored without outputs: what a notebook shows is made where it runs."""

import re
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from .site import Site


class _ThisPython(KernelSpecManager):
    """Whatever kernels a machine has registered: the notebook runs in the Python that runs the tests."""

    def get_kernel_spec(self, kernel_name):
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python", name=kernel_name)


def run_notebook(path: Path, site: Site) -> str | None:
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:
        return f"{site.name(path)}: this is not a notebook: {error}"
    cells = [(f"{site.name(path)}: cell {number}", cell) for number, cell in enumerate(notebook.cells, start=1)]
    for place, cell in cells:
        if cell.get("outputs") or cell.get("execution_count"):
            return f"{place} is stored with its output; clear all outputs and save"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = NotebookClient(
            notebook,
            km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=_ThisPython()),
            resources={"metadata": {"path": folder}},
            timeout=170,
        )
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            # The cells run in order, and each that has begun has a number: the last one of these failed.
            begun = [place for place, cell in cells if cell.get("execution_count")] or [site.name(path)]
            text = re.sub(r"\x1b\[[\d;]*m", "", str(error))  # without colors
            return f"{begun[-1]}: {text.strip().splitlines()[-1]}\n\n{text}"
    return None
