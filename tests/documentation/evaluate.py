"""Runs a Python fence: as a doctest, as typed code, or by running the program that it is included from."""

import doctest
import re
import traceback
from pathlib import Path

from sybil import Example
from sybil.evaluators.doctest import DocTest
from sybil.python import import_path

from .includes import Line
from .output import OutputChecker, first_difference
from .programs import run
from .site import Site
from .trace import report


def evaluate(example: Example, site: Site) -> str | None:
    """What is wrong with the fence, or None. Its names go into the namespace of the page."""
    lines: list[Line] = example.parsed
    files = {line.file for line in lines if line.strip()}
    if all(file.suffix == ".py" for file in files):
        return _included(sorted(files), example.namespace, site)
    if len(files) > 1:
        return f"{site.name(example.path)}:{example.line}: this fence is partly typed, partly included: make two of it"
    if any(line.lstrip().startswith(">>>") for line in lines):
        return run_doctests(lines, example, site)
    return _typed(lines, example.namespace, site)


def _included(files: list[Path], namespace: dict, site: Site) -> str | None:
    problems = []
    for file in files:
        if file.is_relative_to(site.root / "snippets"):
            program = run(file, site)
            names, problem = program.globals, program.problem
            problems += [problem] if problem else []
        else:
            names = vars(import_path(file))
        namespace.update((name, value) for name, value in names.items() if not name.startswith("__"))
    return "\n".join(problems) or None


def _typed(lines: list[Line], namespace: dict, site: Site) -> str | None:
    above = "\n" * (lines[0].number - 1)  # an error then names the line of the page
    try:
        exec(compile(above + "\n".join(lines), lines[0].file, "exec", dont_inherit=True), namespace)
    except (Exception, SystemExit) as error:
        return report(error, site)
    return None


class _Runner(doctest.DocTestRunner):
    def __init__(self, lines: list[Line], site: Site):
        super().__init__(OutputChecker(), verbose=False, optionflags=doctest.ELLIPSIS)
        self.lines, self.site = lines, site

    def report_failure(self, out, test, example, got):
        # Name the line of the page that differs, not only the prompt above it.
        below = example.source.count("\n") + first_difference(example.want, got) - 1 if example.want else 0
        got = re.sub(r'  File "[^"]*doctest\.py".*?(?=  File "<doctest)', "", got, flags=re.DOTALL)
        difference = self._checker.output_difference(example, got, self.optionflags)
        out(f"{self.site.place(self.lines[example.lineno + below])}: >>> {example.source}{difference}")

    def report_unexpected_exception(self, out, test, example, exc_info):
        error = "".join(traceback.format_exception(*exc_info))
        self.report_failure(out, test, example, error)


def run_doctests(lines: list[Line], example: Example, site: Site, prose: bool = False) -> str | None:
    """Of a docstring only a part is examples, the rest is `prose`; of a fence, all is."""
    try:
        examples = doctest.DocTestParser().get_examples("\n".join(lines) + "\n", site.name(example.path))
    except ValueError as error:
        return f"{site.place(lines[0])}: {error}"
    for e in examples:
        if e.options.get(doctest.SKIP) or e.options.get(doctest.IGNORE_EXCEPTION_DETAIL):
            return f"{site.place(lines[e.lineno])}: this directive would let the example pass untested; a fence is skipped with a reason, above it"
    # doctest passes over what belongs to no prompt: a statement without one, output after an empty line or a comment.
    tested = {e.lineno + n for e in examples for n in range(e.source.count("\n") + e.want.count("\n"))}
    for number, line in enumerate(lines):
        if not prose and line.strip() and number not in tested and not line.startswith(">>>"):
            return f"{site.place(line)}: this line belongs to no >>> and would not be tested: {line}"
    failures: list[str] = []
    # Sybil's DocTest differs from Python's in that the names stay in the namespace. The line is in the name since doctest
    # keeps the source of one test by name: a function of an earlier fence would be looked up in this one.
    test = DocTest(examples, example.namespace, f"{site.name(example.path)}:{example.line}", None, 0, None)
    _Runner(lines, site).run(test, out=failures.append, clear_globs=False)
    return "\n".join(failures) or None
