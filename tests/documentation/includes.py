"""A page with its includes expanded by the very code that the site is built with, pymdownx.snippets.

The site forgets where an included line came from. Here each line remembers, so that a failure can name the line to
mend.
"""

import re
from pathlib import Path

from markdown import Markdown
from pymdownx.snippets import SnippetExtension, SnippetMissingError, SnippetPreprocessor


class Line(str):
    """A line of an expanded page: its text, where it was written, and the line of the page that stands for it.

    For a line typed on the page, `number` and `on_page` are the same; for an included one, `on_page` is the line that
    says `--8<--`. pymdownx moves lines about as plain strings, and the two methods that it calls on them keep the type.
    """

    def __new__(cls, text, file: Path, number: int, on_page: int):
        line = super().__new__(cls, text)
        line.file, line.number, line.on_page = file, number, on_page
        return line

    def with_text(self, text) -> "Line":
        return Line(text, self.file, self.number, self.on_page)

    def __radd__(self, indentation):
        return self.with_text(indentation + str(self))

    def replace(self, *arguments):
        return self.with_text(super().replace(*arguments))


class Includes(SnippetPreprocessor):
    """Expands one page; `mistakes` and `shown` are what was met on the way."""

    def __init__(self, options: dict, root: Path):
        settings = SnippetExtension(**options).getConfigs()
        # MkDocs is run in the root of the repository; tests may be started elsewhere.
        settings["base_path"] = [str(root / base) for base in settings["base_path"]]
        # A missing section would end the expansion. It is noted instead, and the other lines of the page are read.
        settings["check_paths"] = False
        super().__init__(settings, Markdown())
        self.mistakes: list[tuple[Line, str]] = []
        self.shown: set[tuple[Path, str | None]] = set()
        self.chain: list[Line] = []  # the line being read, in the page and in each file that is included on the way

    def expand(self, page: Path, text: str) -> list[Line]:
        typed = [Line(line, page, number, number) for number, line in enumerate(text.split("\n"), start=1)]
        for line in typed:
            if re.match(r"\s*-+8<-", line) and not (self.RE_ALL_SNIPPETS.match(line) or self.match_section(line)):
                self.mistakes.append(
                    (line, "the site does not take this for an include: no quotes? a space at the end?")
                )
        lines: list[Line] = []
        for line in self.run(typed):
            # The rare line that pymdownx makes anew (an escaped section mark) is put where the line before it is.
            lines.append(line if isinstance(line, Line) else (lines or typed)[-1].with_text(line))
        return lines

    def mistake(self, text: str) -> None:
        self.mistakes.append((self.chain[-1], text))

    def parse_snippets(self, lines, *arguments, **keywords):
        def followed():
            for line in lines:
                self.chain[-1] = line
                yield line

        self.chain.append(None)
        try:
            return super().parse_snippets(followed(), *arguments, **keywords)
        finally:
            self.chain.pop()

    def parse_snippet_target(self, path):
        target = super().parse_snippet_target(path)
        if target is None:
            self.mistake("an include without a file")
        return target

    def get_snippet_path(self, path):
        found = super().get_snippet_path(path)
        if found is None:
            self.mistake(f"the included file {path} does not exist")
        return found

    def read_lines(self, path):
        texts = enumerate(super().read_lines(path), start=1)
        return [Line(text, Path(path), number, self.chain[0].on_page) for number, text in texts]

    def extract_section(self, section, lines):
        self.check_paths = True
        try:
            return super().extract_section(section, lines)
        except SnippetMissingError:
            names = [mark["name"] for mark in map(self.match_section, lines) if mark and mark["type"] == "start"]
            self.mistake(f"the included file has no section {section!r}; it has: {', '.join(names) or 'none'}")
            return []
        finally:
            self.check_paths = False

    def dedent(self, lines):
        return [line.with_text(text) for line, text in zip(lines, super().dedent(lines))]

    def process_snippet_lines(self, lines, target):
        self.shown.add((Path(target["snippet"]), target["section"]))
        return lines
