"""The chapter "Train on the GPU" marks exactly the lines in which its program differs from the CPU program."""

import difflib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CPU_PROGRAM = (ROOT / "snippets" / "cpu_baseline.py").read_text(encoding="utf-8")
GPU_PROGRAM = (ROOT / "snippets" / "gpu_training.py").read_text(encoding="utf-8")
PAGES = sorted((ROOT / "docs").glob("*/gpu-training.md"))

SECTION = re.compile(r"^# --8<-- \[start:(\w+)\]\n(.*?)^# --8<-- \[end:\1\]$", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r'^[ ]*```python(?P<options>.*)\n[ ]*--8<-- "snippets/gpu_training\.py:(?P<section>\w+)"$', re.MULTILINE)
HL_LINES = re.compile(r'hl_lines="([\d\- ]*)"')


def sections(program: str) -> dict[str, list[str]]:
    """The lines of each named section."""
    return {name: body.splitlines() for name, body in SECTION.findall(program)}


def changed_lines(before: list[str], after: list[str]) -> set[int]:
    """Numbers, from 1, of the lines of ``after`` that ``before`` has not; blank lines do not count."""
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    numbers = {n + 1 for kind, _, _, first, end in blocks if kind != "equal" for n in range(first, end)}
    return {number for number in numbers if after[number - 1].strip()}


def marked_lines(options: str) -> set[int]:
    """The lines that a fence highlights: ``hl_lines="2 8-11"``."""
    found = HL_LINES.search(options)
    numbers = set()
    for part in found[1].split() if found else ():
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def outside_sections(program: str) -> list[str]:
    """What no section holds, without the line that says what the program does."""
    return SECTION.sub("", program).splitlines()[1:]


def test_there_is_a_page():
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_page_marks_the_changed_lines(page):
    before, after = sections(CPU_PROGRAM), sections(GPU_PROGRAM)
    marked = {shown["section"]: marked_lines(shown["options"]) for shown in SHOWN.finditer(page.read_text(encoding="utf-8"))}

    assert marked == {name: changed_lines(before[name], lines) for name, lines in after.items()}


def test_nothing_is_lost_and_nothing_differs_elsewhere():
    before, after = sections(CPU_PROGRAM), sections(GPU_PROGRAM)

    assert list(before) == list(after)
    assert outside_sections(CPU_PROGRAM) == outside_sections(GPU_PROGRAM)
    for name in before:
        assert len(changed_lines(after[name], before[name])) <= len(changed_lines(before[name], after[name]))
