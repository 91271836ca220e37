"""The census: the code blocks that the site shows are the fences that the tests know.

The lexer is ours and could be wrong. So each page is rendered as the site renders it, and its blocks are compared
with the fences, one by one, by language and text. (To search the source with a regular expression, and count, would
not do: it miscounts fences in fences.)
"""

import html
import re
from collections import Counter

from markdown import Markdown

from .fences import NOT_RUN, RUN
from .site import Page, Site

# In what the site shows, no text can be taken for a tag: there, a regular expression does.
BLOCK = re.compile(r'<div class="language-(\S+)[^"]* highlight">.*?<code>(.*?)</code>', re.DOTALL)


def _key(language: str, text: str) -> tuple[str, str]:
    # The site shows an unknown language as text, and cuts empty lines off at both ends.
    language = language if language in RUN | NOT_RUN else "text"
    return language, "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def census(page: Page, site: Site) -> str | None:
    """What differs, or None."""
    # The includes are expanded already; what still looks like one is text.
    extensions = [name for name in page.config["markdown_extensions"] if name != "pymdownx.snippets"]
    markdown = Markdown(extensions=extensions, extension_configs=page.config["mdx_configs"])
    shown = re.sub("<!--.*?-->", "", markdown.convert("\n".join(page.lines)), flags=re.DOTALL)
    rendered = Counter(_key(language, html.unescape(re.sub("<[^>]*>", "", code))) for language, code in BLOCK.findall(shown))
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
