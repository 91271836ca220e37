"""Makes a Sybil document, and so pytest items, of each file that holds examples."""

import unittest
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.document import PythonDocStringDocument
from sybil.example import SybilFailure
from sybil.integration.pytest import SybilFile, SybilItem

from .census import census
from .complete import complete, orphan
from .evaluate import evaluate, run_doctests
from .fences import RUN
from .includes import Line
from .programs import isolated, run
from .site import Site
from .skips import Skips

Check = Callable[[Example], str | None]


class OrderedDocument(Document):
    """A document that runs as the main program, as a reader's does, and in which regions may begin at one place.

    (Sybil allows no overlap; but one line of a page may include several fences.)
    """

    def __init__(self, text, path):
        super().__init__(text, path)
        self.main = ModuleType("__main__")
        self.namespace = vars(self.main)

    def add(self, region):
        self.regions.append((region.start, region))
        self.regions.sort(key=lambda entry: entry[0])


def region(document: Document, line: int, kind: str, check: Check, parsed=None) -> Region:
    """An example that stands at this line of the document. What `check` returns, Sybil takes for a failure."""
    start = sum(map(len, document.text.splitlines(keepends=True)[: line - 1]))
    return Region(start, start, parsed, check, {"kind": kind})


def whole_file(kind: str, check, site: Site, document: Document) -> Iterator[Region]:
    yield region(document, 1, kind, lambda example: check(Path(example.path), site))


def examples_of_page(site: Site, skips: Skips, document: Document) -> Iterator[Region]:
    page = site.page(Path(document.path))
    mistakes, skipped = skips.find(document, page)
    for line, text in [*page.mistakes, *mistakes]:
        message = f"{site.place(line)}: {text}"
        if line.file != page.path:
            message += f" (included by {site.name(page.path)}:{line.on_page})"
        yield region(document, line.on_page, "mistake", lambda example, message=message: message)
    yield from skipped
    yield region(document, 1, "census", lambda example: census(page, site))
    for fence in page.fences:
        if fence.language in RUN:
            # One example a fence, not one a prompt as Sybil has it: there, `skip: next` would skip a single prompt.
            yield region(document, fence.opening.on_page, "python", partial(evaluate, site=site), fence.code)


def examples_of_docstring(site: Site, document: Document) -> Iterator[Region]:
    def check(example):
        texts = enumerate(document.text.split("\n"), start=example.line)
        lines = [Line(text, Path(example.path), number, number) for number, text in texts]
        return run_doctests(lines, example, site, prose=True)

    if ">>>" in document.text:
        yield region(document, 1, "docstring", check)


def notebook(path: Path, site: Site) -> str | None:
    from .notebooks import run_notebook  # Jupyter takes a while to import

    return run_notebook(path, site)


class Documentation(Sybil):
    """A Sybil for the files of one pattern, relative to the root."""

    def __init__(self, site: Site, pattern: str, parser, document_type=OrderedDocument):
        super().__init__([parser], path=str(site.root), document_types={Path(pattern).suffix: document_type})
        self.site, self.pattern = site, pattern

    def should_parse(self, path: Path) -> bool:
        return fnmatch(self.site.name(path), self.pattern)

    def identify(self, example: Example) -> str:
        return f"{example.region.lexemes['kind']}:{example.line}"


def sybils(root: Path) -> list[Documentation]:
    site, skips = Site(root), Skips()
    return [
        Documentation(site, "README.md", partial(examples_of_page, site, skips)),
        Documentation(site, "docs/*.md", partial(examples_of_page, site, skips)),
        Documentation(site, "src/*.py", partial(examples_of_docstring, site), PythonDocStringDocument),
        *(
            Documentation(site, pattern, partial(whole_file, kind, check, site))
            for pattern, kind, check in (
                ("docs/*.ipynb", "notebook", notebook),
                ("snippets/*.py", "program", lambda path, site: run(path, site).problem),
                ("snippets/*.py", "complete", complete),
                ("snippets/*.out", "complete", orphan),
                ("src/*.py", "complete", complete),
            )
        ),
    ]


class Item(SybilItem):
    def reportinfo(self):  # pytest counts lines from zero, Sybil from one
        return self.path, self.example.line - 1, self.nodeid.replace("::", " ")

    def runtest(self):
        try:
            super().runtest()
        except unittest.SkipTest as skip:  # reported at the line of the page, not at the line of Sybil that raised it
            raise pytest.skip.Exception(str(skip), _use_item_location=True) from None
        except SybilFailure as failure:  # what the check said, without the traceback of the machinery
            raise pytest.fail.Exception(failure.result, pytrace=False) from None

    def _traceback_filter(self, excinfo):
        return excinfo.traceback  # Sybil's breaks, and ends the session, on an exception with a cause


class File(SybilFile):
    def collect(self):
        for sybil in self.sybils:
            document = sybil.parse(self.path)
            self.documents.append(document)
            for example in document.examples():
                yield Item.from_parent(self, sybil=sybil, example=example)

    def setup(self):
        import torch

        main = getattr(self.documents[0], "main", ModuleType("__main__"))
        self.isolation = isolated(main)
        self.isolation.__enter__()
        for document in self.documents:
            document.namespace["accelerator"] = torch.accelerator.current_accelerator(check_available=True)

    def teardown(self):
        self.isolation.__exit__(None, None, None)


def collect_file(sybils: list[Documentation], path: Path, parent) -> File | None:
    active = [sybil for sybil in sybils if sybil.should_parse(path)]
    return File.from_parent(parent, path=path, sybils=active) if active else None
