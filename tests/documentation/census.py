"""The census: the code blocks that the site shows are the fences that the tests know.

The lexer is ours and could be wrong. So each page is rendered as the site renders it, and its blocks are compared
with the fences, one by one, by language and text. (To search the source with a regular expression, and count, would
not do: it miscounts fences in fences.)
"""

from collections import Counter
from html.parser import HTMLParser

from markdown import Markdown

from .fences import NOT_RUN, RUN
from .site import Page, Site


class _Blocks(HTMLParser):
    """Collects `[language, text]` of each highlighted block."""

    def __init__(self, html: str):
        super().__init__()
        self.blocks: list[list[str]] = []
        self.waiting = self.inside = False  # between the block's <div> and its <code>; in its <code>
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        classes = (dict(attributes).get("class") or "").split()
        if tag == "div" and "highlight" in classes:
            language = next((name for name in classes if name.startswith("language-")), "language-")
            self.blocks.append([language.removeprefix("language-"), ""])
            self.waiting = True
        elif tag == "code" and self.waiting:
            self.waiting, self.inside = False, True

    def handle_endtag(self, tag):
        if tag == "code":
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.blocks[-1][1] += data


def _key(language: str, text: str) -> tuple[str, str]:
    # The site shows an unknown language as text, and cuts empty lines off at both ends.
    language = language if language in RUN | NOT_RUN else "text"
    return language, "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def census(page: Page, site: Site) -> str | None:
    """What differs, or None."""
    # The includes are expanded already; what still looks like one is text.
    extensions = [name for name in page.config["markdown_extensions"] if name != "pymdownx.snippets"]
    html = Markdown(extensions=extensions, extension_configs=page.config["mdx_configs"]).convert("\n".join(page.lines))
    rendered = Counter(_key(*block) for block in _Blocks(html).blocks)
    differences = []
    for fence in page.fences:
        key = _key(fence.language, "\n".join(fence.lines))
        if rendered[key]:
            rendered[key] -= 1
        else:
            place = site.place(fence.opening)
            differences.append(f"{place}: the site does not show this {fence.language} fence as a code block")
    for language, text in rendered.elements():
        first = text.split("\n")[0].strip()
        line = next((line for line in page.lines if line.strip() == first), page.lines[0])
        place = site.place(line)
        differences.append(f"{place}: no fence accounts for the {language} block that the site shows: {first}")
    return "\n".join(differences) or None
