"""Both ways complete: what a page includes exists (`includes.py`), and what is there to be included is on some page."""

from pathlib import Path

from pymdownx.snippets import SnippetPreprocessor

from .site import Site


def complete(file: Path, site: Site) -> str | None:
    """What is wrong with a Python file of which sections are shown, and with the .out file beside it."""
    shown = site.shown.get(file.resolve(), set())
    marks = {}  # where each section starts and ends
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        mark = SnippetPreprocessor.RE_SNIPPET_SECTION.match(line) if "8<" in line else None
        if mark and not mark["escape"]:
            marks.setdefault(mark["name"], []).append((number, mark["type"]))
    messages = []
    for name, places in marks.items():
        place = f"{site.name(file)}:{places[-1][0]}"
        if [kind for _, kind in places] != ["start", "end"]:  # the site would show too much of the file, or too little
            messages.append(f"{place}: section {name!r} should start once, and then end once")
        elif name not in shown and None not in shown:
            messages.append(f"{place}: no page shows section {name!r}")
    if file.is_relative_to(site.root / "snippets"):
        if not shown:
            messages.append(f"{site.name(file)}:1: no page shows this program")
        output = file.with_suffix(".out")
        if output.exists() and not site.shown.get(output.resolve()):
            messages.append(f"{site.name(output)}:1: no page shows this output")
    return "\n".join(messages) or None


def orphan(output: Path, site: Site) -> str | None:
    """What is wrong with an .out file that has no program beside it."""
    if output.with_suffix(".py").exists():
        return None
    return f"{site.name(output)}:1: there is no program {output.stem}.py that prints this"
