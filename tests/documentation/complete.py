"""Both ways complete: what a page includes exists (`includes.py`), and what is there to be included is on some page."""

from pathlib import Path

from pymdownx.snippets import SnippetPreprocessor

from .site import Site


def complete(file: Path, site: Site) -> str | None:
    """What is wrong with a Python file of which sections are shown, and with the .out file beside it."""
    shown = site.shown.get(file.resolve(), set())
    problems = []
    started: dict[str, int] = {}
    ended: set[str] = set()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        mark = SnippetPreprocessor.RE_SNIPPET_SECTION.match(line) if "8<" in line else None
        if mark is None or mark["escape"]:
            continue
        name = mark["name"]
        if mark["type"] == "end":
            if name not in started:
                problems.append((number, f"section {name!r} ends here and does not start"))
            ended.add(name)
        elif name in started:
            # The site would show the first one only.
            problems.append((number, f"section {name!r} starts here again"))
        else:
            started[name] = number
            if name not in shown and None not in shown:
                problems.append((number, f"no page shows section {name!r}"))
    # Without an end, the site would show everything down to the end of the file.
    problems += [(number, f"section {name!r} does not end") for name, number in started.items() if name not in ended]
    messages = [f"{site.name(file)}:{number}: {text}" for number, text in problems]
    if file.is_relative_to(site.root / "snippets"):
        if not shown and not site.linked(file):
            messages.append(f"{site.name(file)}:1: no page shows this program or links to it")
        output = file.with_suffix(".out")
        if output.exists() and not site.shown.get(output.resolve()):
            messages.append(f"{site.name(output)}:1: no page shows this output")
    return "\n".join(messages) or None


def orphan(output: Path, site: Site) -> str | None:
    """What is wrong with an .out file that has no program beside it."""
    if output.with_suffix(".py").exists():
        return None
    return f"{site.name(output)}:1: there is no program {output.stem}.py that prints this"
