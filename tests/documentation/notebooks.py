"""Runs the notebooks. They are stored without outputs: what a notebook shows is made where it runs."""

import re
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from .site import Site


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
        client = NotebookClient(notebook, resources={"metadata": {"path": folder}}, timeout=170)
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            # The cells run in order, and each that has begun has a number: the last one of these failed.
            begun = [place for place, cell in cells if cell.get("execution_count")] or [site.name(path)]
            text = re.sub(r"\x1b\[[\d;]*m", "", str(error))  # without colors
            return f"{begun[-1]}: {text.strip().splitlines()[-1]}\n\n{text}"
    return None
