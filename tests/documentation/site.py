"""The pages, read with the configuration that the site is built with. One `Site` lives as long as the test session."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from .fences import Fence, scan
from .includes import Includes, Line


@dataclass
class Page:
    path: Path
    text: str
    lines: list[Line]
    fences: list[Fence]
    mistakes: list[tuple[Line, str]]
    shown: set[tuple[Path, str | None]]  # what is included: file and section; no section means all of it
    config: dict


class Site:
    def __init__(self, root: Path):
        self.root = root
        # A training takes seconds and each page is read for several questions, so nothing is done twice.
        self.page = cache(self._page)
        self.runs: dict[Path, object] = {}

    @cached_property
    def configs(self) -> dict:
        """Of each edition: its folder of pages, and its configuration."""
        configs: dict[Path, dict] = {}
        for path in sorted(self.root.glob("mkdocs*.yml"), key=lambda path: len(path.name)):  # mkdocs.yml first
            try:
                config = load_config(str(path))
            except Abort as error:  # a SystemExit, which would end pytest
                raise ValueError(f"{self.name(path)}: {error}") from None
            configs.setdefault(Path(config["docs_dir"]), config)
        return configs

    def _page(self, path: Path) -> Page:
        text = path.read_text(encoding="utf-8")
        edition = next((folder for folder in self.configs if folder in path.parents), None)
        config = self.configs[edition or next(iter(self.configs))]
        includes = Includes(config["mdx_configs"].get("pymdownx.snippets", {}), self.root)
        lines = includes.expand(path, text)
        if edition is None and includes.shown:  # README.md, which is read where nothing expands an include
            text = "this page is not part of the site and cannot include anything"
            includes.mistakes.append((Line("", path, 1, 1), text))
        fences, mistakes = scan(lines)
        mistakes += includes.mistakes + [(fence.opening, fence.mistake) for fence in fences if fence.mistake]
        return Page(path, text, lines, fences, mistakes, includes.shown, config)

    @cached_property
    def pages(self) -> list[Page]:
        return [self.page(path) for folder in self.configs for path in sorted(folder.rglob("*.md"))]

    @cached_property
    def shown(self) -> dict[Path, set[str | None]]:
        """Of each file that some page includes: the sections that are included."""
        shown = defaultdict(set)
        for page in self.pages:
            for file, section in page.shown:
                shown[file.resolve()].add(section)
        return shown

    def name(self, path: Path | str) -> str:
        """The path as a message says it: from the root of the repository, with slashes."""
        path = Path(path)
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)

    def place(self, line: Line) -> str:
        return f"{self.name(line.file)}:{line.number}"

    def is_example(self, path: str) -> bool:
        """Is this file, met in a traceback, one that somebody wrote for the reader?"""
        return self.name(path).split("/")[0] in {"docs", "snippets", "src", "README.md"}
