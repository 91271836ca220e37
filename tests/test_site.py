"""The site as a browser gets it: it builds without a warning, asks no other host for anything, and all can use it."""

import contextlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from pymdownx.snippets import SnippetMissingError

ROOT = Path(__file__).parent.parent
OVERRIDES = ROOT / "overrides"
STYLE = (OVERRIDES / "assets" / "site.css").read_text(encoding="utf-8")
SCRIPT = (OVERRIDES / "assets" / "site.js").read_text(encoding="utf-8")

LOADING = {"src", "srcset", "poster", "data", "background"}
LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
ELSEWHERE = re.compile(r"^\s*([a-z][a-z+.-]*:)?//", re.IGNORECASE)
STYLE_ELSEWHERE = re.compile(r"""(?:url\(|@import)\s*["']?\s*(?:https?:)?//[^"')\s]+""", re.IGNORECASE)

# Hosts that Material's scripts name, and what on a page makes them ask there. No page has that. (Nothing on a page
# leads to the last two: one is for browsers of before 2020, which are refused it; one is text in a message.)
TRIGGERS = {
    "api.github.com": 'data-md-component="source"',
    "gitlab.com": 'data-md-component="source"',
    "unpkg.com/mermaid": 'class="mermaid"',
    "unpkg.com/resize-observer-polyfill": "",
    "bit.ly": "",
}


@dataclass
class Page:
    """What the tests ask about one HTML file."""

    path: str
    html: str = field(repr=False)
    loads: list[str] = field(default_factory=list, repr=False)
    links: list[str] = field(default_factory=list, repr=False)
    ids: list[str] = field(default_factory=list, repr=False)
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list, repr=False)
    inline: dict[str, list[str]] = field(default_factory=lambda: {"script": [], "style": []}, repr=False)

    def find(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        return [a for name, a in self.tags if name == tag and attributes.items() <= a.items()]


class Reader(HTMLParser):
    def __init__(self, page: Page):
        super().__init__()
        self.page = page
        self.within = ""
        self.feed(page.html)

    def handle_starttag(self, tag, attrs):
        page, attributes = self.page, {name: value or "" for name, value in attrs}
        page.tags.append((tag, attributes))
        page.loads += [value for name, value in attributes.items() if name in LOADING]
        page.inline["style"].append(attributes.get("style", ""))
        if "id" in attributes:
            page.ids.append(attributes["id"])
        if tag == "a" and "href" in attributes:
            page.links.append(attributes["href"])
        if tag == "link" and LOADING_LINKS & set(attributes.get("rel", "").split()):
            page.loads.append(attributes["href"])
        if tag in {"use", "image", "feimage"}:
            page.loads += [attributes.get("href", ""), attributes.get("xlink:href", "")]
        self.within = tag

    def handle_data(self, data):
        if self.within in self.page.inline:
            self.page.inline[self.within].append(data)


@pytest.fixture(scope="module")
def config():
    """The settings. Reading them fails for a watched folder that git does not keep: `mkdocs serve` would not start."""
    return load_config(str(ROOT / "mkdocs.yml"), strict=True)


@pytest.fixture(scope="module")
def site(config, tmp_path_factory):
    """The site, built strictly. The labs are rendered but not run: `pytest --doctest` runs them."""
    config.site_dir = str(tmp_path_factory.mktemp("site"))
    config.plugins["mkdocs-jupyter"].config.update(execute=False, cache=False)
    with contextlib.chdir(ROOT):
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    return Path(config.site_dir)


@pytest.fixture(scope="module")
def pages(site):
    found = [Page(p.relative_to(site).as_posix(), p.read_text(encoding="utf-8")) for p in sorted(site.rglob("*.html"))]
    for page in found:
        Reader(page)
    return found


def complaints(pages, find):
    return [f"{page.path}: {what}" for page in pages for what in find(page)]


# ---- Nothing comes from elsewhere ----


def test_pages_load_nothing_from_another_host(pages):
    assert not complaints(pages, lambda page: [url for url in page.loads if ELSEWHERE.match(url)])
    assert not complaints(pages, lambda page: STYLE_ELSEWHERE.findall("\n".join(page.inline["style"])))
    assert not complaints(pages, lambda page: re.findall(r"https?://[^\s\"')]+", "\n".join(page.inline["script"])))


def test_a_load_from_another_host_would_be_seen():
    page = Page("x", '<img src="//a.org/x.png"><link rel="icon" href="https://b.org/"><a href="https://c.org/">c</a>')
    Reader(page)
    assert [url for url in page.loads if ELSEWHERE.match(url)] == ["//a.org/x.png", "https://b.org/"]
    assert STYLE_ELSEWHERE.search("@import 'https://d.org/x.css'") and STYLE_ELSEWHERE.search("url(//e.org/f.woff)")
    assert not STYLE_ELSEWHERE.search("url(\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>\")")


def test_styles_load_nothing_from_another_host(site):
    for sheet in site.rglob("*.css"):
        assert not STYLE_ELSEWHERE.findall(sheet.read_text(encoding="utf-8")), sheet


def test_scripts_are_never_led_to_another_host(site, pages):
    scripts = [file for file in site.rglob("*.js") if "lunr" not in file.parts]  # lunr: word lists, which name sources
    code = re.sub(r"/\*.*?\*/", "", "\n".join(file.read_text(encoding="utf-8") for file in scripts), flags=re.DOTALL)
    named = set(re.findall(r"https?://([\w.-]+\.[a-z]+(?:/[\w-]+)?)", code))
    known = {name for name in named for host in TRIGGERS if name.startswith(host)}
    assert named == known, "a new version names a new host: find out when it asks it"
    assert not complaints(pages, lambda page: [t for t in TRIGGERS.values() if t and t in page.html])


def test_the_browser_refuses_other_hosts(pages):
    for page in pages:
        (policy,) = page.find("meta", **{"http-equiv": "Content-Security-Policy"})
        assert policy["content"].startswith("default-src 'self';"), page.path
        assert "http" not in policy["content"] and "*" not in policy["content"], page.path


# ---- Everybody can use it ----


def test_ids_are_unique(pages):
    assert not complaints(pages, lambda page: {i for i in page.ids if page.ids.count(i) > 1})


def test_images_have_a_text(pages):
    assert not complaints(pages, lambda page: [a for a in page.find("img") if "alt" not in a])
    drawings = r'<svg[^>]*role="img"[^>]*>(?!\s*<title)'
    assert not complaints(pages, lambda page: re.findall(drawings, page.html))


def test_the_frame_of_a_page(pages):
    for page in pages:
        assert len(page.find("h1")) == 1, page.path
        assert page.find("html", lang="en"), page.path
        assert all(nav.get("aria-label") or nav.get("aria-labelledby") for nav in page.find("nav")), page.path
        assert all(dialog.get("aria-label") for dialog in page.find("div", role="dialog")), page.path


def test_links_within_the_site_lead_somewhere(site, pages, config):
    """Anchors too: MkDocs does not know those of a notebook, nor links written in HTML."""
    root = config.site_url
    ids = {page.path: {"", *page.ids} for page in pages}

    def dead(page):
        here = urljoin(root, page.path.removesuffix("index.html"))
        for link in page.links:
            target = urljoin(here, link)
            if target.startswith(root):
                path = unquote(urlsplit(target.removeprefix(root)).path)
                file = f"{path}index.html" if path.endswith("/") or not path else path
                anchor = unquote(urlsplit(target).fragment)
                if not (site / file).is_file() or anchor not in ids.get(file, {"", anchor}):
                    yield link

    assert not complaints(pages, dead)


def test_links_in_text_are_underlined():
    assert re.search(r":is\(p, li, td[^{]*\) a[^{]*\{\s*text-decoration: underline", STYLE)


def channels(color, below=(1, 1, 1)):
    """`#rrggbb` or `#rrggbbaa` over the color below it."""
    *rgb, alpha = (int(f"{color[1:]:f<8}"[i : i + 2], 16) / 255 for i in (0, 2, 4, 6))
    return [alpha * c + (1 - alpha) * b for c, b in zip(rgb, below, strict=True)]


def contrast(one, other):
    def luminance(rgb):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("scheme", "page", "code"), [("default", "#ffffff", "#f5f5f5"), ("slate", "#1e2129", "#272a35")]
)
def test_colors_can_be_read(scheme, page, code):
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] {{([^}}]*)}}', STYLE)[1]
    colors = dict(re.findall(r"--([\w-]+): (#\w+);", block))
    page, code = channels(page), channels(code)
    line = channels(colors["md-code-hl-color--light"], code)
    for name, color in colors.items():
        if name.startswith("plot") or name in {"md-typeset-a-color", "md-accent-fg-color"}:
            assert contrast(channels(color), page) >= 4.5, name
        elif re.fullmatch(r"md-code-hl-\w+-color", name):
            assert min(contrast(channels(color), below) for below in (page, code, line)) >= 4.5, name
    assert contrast(channels("#ffffff"), channels(colors["md-primary-fg-color"])) >= 4.5


def rule(selector):
    """The declarations of the rule with exactly this selector."""
    return re.search(rf"(?m)^\s*{re.escape(selector)} {{([^}}]*)}}", STYLE)[1]


def test_a_link_beside_a_heading_takes_no_line_and_does_not_widen_the_page():
    assert "position: absolute" in rule(".md-typeset :is(h1, h2, h3, h4) > .headerlink")
    assert "padding-right" in rule(".md-typeset :is(h1, h2, h3, h4):has(> .headerlink)")


def test_a_table_that_scrolls_shows_it_and_keeps_its_first_column():
    assert "local" in rule(".md-typeset :is(figure.plot, .md-typeset__scrollwrap)")
    assert "transparent" in rule(".md-typeset__scrollwrap table:not([class])"), "the table would hide the shadow"
    assert "overflow: visible" in rule(".md-typeset .holds-first table"), "nothing is sticky in a box that hides"
    assert "position: sticky" in rule(".md-typeset .holds-first table :is(th, td):first-child")
    assert '"holds-first"' in SCRIPT


def test_paper_is_light_and_full():
    paper = STYLE[STYLE.index("@media print") :]
    assert re.search(r":root {\s*color-scheme: light;", paper)
    assert re.search(r":is\(tr, figure, \.claim\) {\s*break-inside: avoid;", paper)
    assert not re.search(r"\btable\b[^{]*{\s*break-inside", paper), "a long table leaves half a page empty"


def test_a_session_is_copied_without_prompts_and_answers():
    """The pattern of site.js, which has no other way to be run here."""
    pattern, start = re.search(r"filter\(line => /(.*?)/\.test\(line\)\)\.map\(line => line\.slice\((\d)\)\)", SCRIPT).groups()
    session = ">>> for n in range(2):\n...     print(n)\n...\n0\n1\n>>> x\nTraceback (most recent call last):\n  ...\nNameError: x\n>>>>"
    lines = [line[int(start) :] for line in session.split("\n") if re.search(pattern, line)]
    assert lines == ["for n in range(2):", "    print(n)", "", "x"]


# ---- Labs ----


CELLS = '<style></style><div class="jupyter-wrapper">cells</div> <!-- jupyter-wrapper --><style></style>'


def render_lab(config, content=CELLS, **settings):
    """The template of a lab by itself, with other settings."""
    settings = {"theme": {"language": "en"}, "docs_dir": config.docs_dir, **settings}
    notebook = SimpleNamespace(
        content=content,
        file=SimpleNamespace(src_uri="labs/one.ipynb"),
    )
    html = config.theme.get_env().get_template("partials/lab.html").render(config=settings, page=notebook)
    page = Page("lab", html)
    Reader(page)
    return page


def test_lab_links_follow_the_repository(config):
    links = render_lab(config, repo_url="https://github.com/someone/guide").find("a")
    path = "someone/guide/blob/main/docs/en/labs/one.ipynb"
    assert [link["href"] for link in links] == [
        "one.ipynb",
        f"https://colab.research.google.com/github/{path}",
        f"https://kaggle.com/kernels/welcome?src=https://github.com/{path}",
    ]
    assert "download" in links[0]
    assert all(link["rel"] == "noopener" for link in links[1:])


@pytest.mark.parametrize("repository", [None, "", "https://gitlab.com/someone/guide"])
def test_without_a_github_repository_a_lab_can_only_be_downloaded(config, repository):
    assert render_lab(config, repo_url=repository).links == ["one.ipynb"]


def test_labs_bring_no_style_or_script_of_their_own(config):
    html = render_lab(config, repo_url=None).html
    assert "<style" not in html and "cells" in html


def test_the_plots_of_a_lab_have_a_text_and_their_ink_can_be_read(config):
    """Their ink is inverted on the dark page; a notebook opened elsewhere may be on white or on black."""
    from nbconvert.exporters import html as exporter

    unsaid = 'alt="No description has been provided for this image"'
    assert unsaid[5:-1] in Path(exporter.__file__).read_text(encoding="utf-8"), "nbconvert has other words: mend lab.html"
    content = f'<div class="jupyter-wrapper"><img {unsaid}></div> <!-- jupyter-wrapper -->'
    (plot,) = render_lab(config, content).find("img")
    assert plot["alt"] == "The plot that the text above the cell describes"
    for notebook in (ROOT / "docs" / "en" / "labs").glob("*.ipynb"):
        for gray in re.findall(r'gray = \\"(#\w{6})', notebook.read_text(encoding="utf-8")):
            inverted = [1 - c for c in channels(gray)]
            assert contrast(inverted, channels("#1e2129")) >= 4.5, notebook.name
            assert min(contrast(channels(gray), below) for below in (channels("#ffffff"), channels("#000000"))) >= 4.5


def test_labs_look_like_the_other_pages(site, pages, config):
    labs = [page for page in pages if page.path.startswith("labs/")]
    assert labs
    for page in labs:
        article = page.html.split("<article")[1].split("</article>")[0]
        assert "<style" not in article and "<script" not in article, page.path
        assert "highlight-ipynb" not in article, "mkdocs-jupyter has new markup: mend overrides/partials/lab.html"
        assert 0 < article.count("<pre><code>") == article.count("</code></pre>"), page.path
        repository = config.repo_url.removeprefix("https://github.com/")
        notebook = Path(page.path).with_suffix(".ipynb").as_posix()
        source = f"{repository}/blob/main/docs/en/{notebook}"
        assert sum(link.endswith(source) for link in page.links) == 2, page.path
        (download,) = [a["href"] for a in page.find("a") if "download" in a]
        assert (site / page.path).with_name(download).is_file()


# ---- Both languages ----


def test_the_words_of_the_templates_exist_in_each_language(config):
    used = {k for t in OVERRIDES.rglob("*.html") for k in re.findall(r"\btext\(['\"]([\w.]+)", t.read_text("utf-8"))}
    template = config.theme.get_env().get_template("partials/texts.html")

    def words(language):
        module = template.make_module({"config": {"theme": {"language": language}}})
        return {key: module.text(key).strip() for key in used}

    assert used and all(words("en").values()) and all(words("zh").values())
    assert not set(words("en").values()) & set(words("zh").values())
    assert words("fr") == words("en")


def test_chosen_tabs_hold_on_every_page(pages):
    """The memory's name is one for all pages and for both languages, not the page's own depth."""
    for page in pages:
        assert 'new URL("/",location)' in page.html, page.path
        assert '"content.tabs.link"' in page.html, page.path


# ---- Settings ----


@pytest.mark.parametrize(
    ("text", "nav", "wrong"),
    [
        ("# Fine", ["index.md"], False),
        ("# Fine", ["index.md", "nowhere.md"], True),
        ("[dead](nowhere.md)", ["index.md"], True),
        ("[dead](#nowhere)", ["index.md"], True),
        ('--8<-- "nothing.md"', ["index.md"], True),
        ('--8<-- "README.md:nothing"', ["index.md"], True),
    ],
)
def test_the_settings_let_nothing_broken_be_built(tmp_path, text, nav, wrong):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(text, encoding="utf-8")
    folders = {"docs_dir": str(tmp_path / "docs"), "site_dir": str(tmp_path / "site")}
    config = load_config(str(ROOT / "mkdocs.yml"), strict=True, nav=nav, plugins=[], **folders)
    with contextlib.chdir(ROOT), pytest.raises((Abort, SnippetMissingError)) if wrong else contextlib.nullcontext():
        build(config)


def test_settings_can_be_inherited_and_built_by_others():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "\nplugins:\n  search: {}\n" in text, "a mapping: lists are replaced under INHERIT, mappings are merged"
    assert "\nhooks:" not in text and "!relative" not in text and "!!python" not in text
