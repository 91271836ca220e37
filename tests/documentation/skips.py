"""Skipped fences: Sybil's own `<!-- skip: next ... -->`, but only with a reason, and right before what it skips."""

import re

from sybil import Document, Region
from sybil.parsers.markdown import SkipParser

from .fences import RUN
from .includes import Line
from .site import Page

FORM = re.compile(r'next (if\(.+, reason="[^"]+"\)|"[^"]+")')


class Skips(SkipParser):
    def find(self, document: Document, page: Page) -> tuple[list[tuple[Line, str]], list[Region]]:
        """The lines that are wrong, and the skips."""
        mistakes, skips = [], []
        for lexed in self.lexers(document):
            number = document.text.count("\n", 0, lexed.start) + 1
            line = Line("", page.path, number, number)
            form = FORM.fullmatch(lexed.lexemes["arguments"])
            following = next((fence for fence in page.fences if fence.opening.on_page > number), None)
            between = page.text.split("\n")[number : following.opening.on_page - 1] if following else []
            if not form:
                mistakes.append((line, 'a skip needs a reason: <!-- skip: next if(not accelerator, reason="...") -->'))
            elif following is None or following.language not in RUN or any(map(str.strip, between)):
                mistakes.append((line, "a skip must stand right before a Python fence"))
            else:
                skips.append(Region(lexed.start, lexed.end, ("next", form[1]), self.skipper, {"kind": "skip"}))
        return mistakes, skips
