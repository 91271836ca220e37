"""The lexer: finds the code blocks of a page, line by line.

Sybil's own lexers compare the whole info string with the language. So they pass over ` ```py`, ` ``` python`,
` ```python title="x"` and ` ```{.python .annotate}` without a word, and what is passed over is never tested. This one
takes the first word of the info string, whatever stands after it; `census.py` asks the site whether it was right.
"""

import re
import textwrap
from dataclasses import dataclass

from .includes import Line

RUN = {"python", "py"}
NOT_RUN = {"text", "console", "powershell", "toml", "json", "yaml", "diff"}

# Before the mark: indentation (in tabs, admonitions, lists) or quotation marks.
OPENING = re.compile(
    r"(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})[ \t]*\{?[ \t]*\.?(?P<language>[\w#+.-]*)(?P<options>[^`]*)$"
)
# Looks like a fence, and is none: after the dash of a list, or with text behind the closing mark.
STRAY = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:`{3}|~{3})")


@dataclass
class Fence:
    opening: Line
    language: str
    lines: list[Line]
    options: str

    @property
    def mistake(self) -> str | None:
        if 'title="Output"' in self.options and any(line.file == self.opening.file for line in self.lines):
            return "an output is not typed: include the .out file of the program, or show a >>> example"
        if self.language in NOT_RUN and any(line.file.suffix == ".py" or line.lstrip().startswith(">>>") for line in self.lines):
            return f"this shows Python and would not be run: write `python` in place of `{self.language}`"
        if self.language in RUN | NOT_RUN:
            return None
        if self.language == "pycon":
            return "write `python` in place of `pycon`: then the example is tested"
        allowed = ", ".join(sorted(RUN) + sorted(NOT_RUN))
        what = f"unknown language {self.language!r}" if self.language else "a fence without a language"
        return f"{what}; allowed: {allowed}"

    @property
    def code(self) -> list[Line]:
        """The lines without the indentation that all of them share, as a method cut out of its class has it."""
        dedented = textwrap.dedent("\n".join(self.lines)).split("\n")
        return [line.with_text(text) for line, text in zip(self.lines, dedented)]


def scan(lines: list[Line]) -> tuple[list[Fence], list[tuple[Line, str]]]:
    """The fences, and what looks like one and is none."""
    fences, mistakes = [], []
    remaining = iter(lines)
    for opening in remaining:
        found = OPENING.match(opening)
        if not found:
            if STRAY.match(opening):
                mistakes.append((opening, "the site does not take this for a fence: it must begin a line"))
            continue
        width = len(found["indent"].expandtabs(4))
        body = []
        for line in remaining:
            text = line.expandtabs(4)
            if text[:width].strip(" >"):  # less indented: here the block that the fence stands in ends
                mistakes.append((opening, f"this fence does not end: line {line.number} is less indented"))
                break
            if text[width:].rstrip() == found["mark"]:
                fences.append(Fence(opening, found["language"], body, found["options"]))
                break
            body.append(line.with_text(text[width:]))
        else:
            mistakes.append((opening, "this fence does not end"))
    return fences, mistakes
