"""The documentation's test machinery finds every example, passes over none, and names the line to mend."""

import json
import re
import shutil
import textwrap
from pathlib import Path

import hypothesis  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import mkdocs.contrib.search  # noqa: F401
import pytest
import torch
from documentation import notebooks, site  # noqa: F401
from documentation.fences import scan
from documentation.includes import Includes, Line
from documentation.output import first_difference, matches

# The small documentations below are tested in this process, which is quick. But pytester forgets what is imported there
# for the first time, and torch and MkDocs cannot be imported twice: hence the imports above that look unused.
pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]


# Outputs


@pytest.mark.parametrize(
    ("want", "got"),
    [
        ("0.97", "0.9666666666666667"),
        ("3.14", "3.14159"),
        ("tensor([0.10, -0.20])", "tensor([0.1049, -0.1951])"),
        ("1.0e-05", "1.04e-05"),
        ("1,234.5", "1,234.46"),
        ("0.00", "-0.001"),
        ("4.6s", "4.64s"),
        ("loss ...", "loss 0.0613"),
        ("0.97...", "0.9712"),
        ("took ... s\naccuracy 0.97\n", "took 1.25 s\naccuracy 0.966\n"),
        ("a 0.5...b 0.5\n", "a 0.51 0.9 b 0.2 b 0.5\n"),
        ("Linear(in_features=4, out_features=10)", "Linear(in_features=4, out_features=10)"),
    ],
)
def test_an_output_matches_to_the_printed_precision(want, got):
    assert matches(want, got)


@pytest.mark.parametrize(
    "want, got",
    [
        ("3.15", "3.14159"),  # within a unit of the last digit, not within half of it
        ("3.13", "3.14159"),
        ("0.961", "0.9666666666666667"),
        ("3.14159", "3.14"),
        ("3", "3.14"),
        ("3", "4"),
        ("tensor([1., 1.])", "tensor([1., 0.9])"),
        ("tensor([0.10, -0.20])", "tensor([0.10, 0.20])"),
        ("1.0e-05", "1.06e-05"),
        ("1.0e-05", "1.0e-06"),
        ("1,234.5", "1234.5"),
        ("1,234", "1,235"),
        ("+1.5", "1.5"),
        ("1.0", "1"),
        ("2.13.0+cpu", "2.13.1+cpu"),
        ("fc1.50", "fc1.504"),
        ("loss 0.97", "los 0.97"),
        ("took ... s\naccuracy 0.97\n", "took 1.25 s\naccuracy 0.95\n"),
        ("0.97...", "0.98"),
        ("a...a", "a"),
        ("", "something"),
    ],
)
def test_an_output_that_differs_does_not_match(want, got):
    assert not matches(want, got)


def test_the_first_line_that_differs():
    assert first_difference("took ... s\nloss 0.061\nend\n", "took 3 s\nloss 0.071\nend\n") == 2


# Fences


def page_lines(text):
    return [Line(line, Path("page.md"), number, number) for number, line in enumerate(text.split("\n"), start=1)]


@pytest.mark.parametrize(
    "info, language",
    [
        ("python", "python"),
        ("py", "py"),
        (" python", "python"),
        ('python title="snippets/train.py"', "python"),
        ('python hl_lines="1" linenums="1"', "python"),
        ("{.python .annotate}", "python"),
        ('{ .python title="x" }', "python"),
        (".python", "python"),
        ("pycon", "pycon"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("mark", ["```", "~~~", "````"])
@pytest.mark.parametrize("indent", ["", "    ", "\t", "        ", "> "])
def test_the_first_word_of_any_info_string_is_the_language(info, language, mark, indent):
    text = "\n".join(indent + line for line in (mark + info, "x = 1", "", "    y = 2", mark))
    [fence], mistakes = scan(page_lines(text))
    assert (fence.language, fence.lines, mistakes) == (language, ["x = 1", "", "    y = 2"], [])


def test_a_fence_in_a_fence_is_text():
    fences, _ = scan(page_lines("````text\n```python\nx\n```\n````\n~~~text\n```python\n~~~\n```py\ny\n```"))
    assert [fence.language for fence in fences] == ["text", "text", "py"]


def test_code_that_is_indented_as_a_whole_is_dedented():
    [fence], _ = scan(page_lines("```python\n    def forward(self):\n        pass\n```"))
    assert fence.code == ["def forward(self):", "    pass"]


@pytest.mark.parametrize(
    "text", ["- ```python\n  x\n  ```", "```python\nx", "    ```python\n    x\ny\n    ```", "```x```"]
)
def test_what_looks_like_a_fence_and_is_none_is_a_mistake(text):
    _, mistakes = scan(page_lines(text))
    assert mistakes[0][0].number == 1


# Includes


def expand(tmp_path, text):
    includes = Includes({"base_path": ["own", "."], "dedent_subsections": True}, tmp_path)
    return includes, includes.expand(tmp_path / "page.md", textwrap.dedent(text))


def test_an_included_line_remembers_its_file_and_line(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n# --8<-- [start:f]\nif x:\n    y = 2\n# --8<-- [end:f]\n", encoding="utf-8")
    (tmp_path / "own").mkdir()
    (tmp_path / "own/b.md").write_text("one\n--8<-- 'a.py:f'\n", encoding="utf-8")
    text = """\
        typed
            --8<-- "a.py:f"
        --8<--
        b.md
        --8<--
        ;--8<-- "escaped"
        """
    includes, lines = expand(tmp_path, text)
    assert [(line, line.file.name, line.number, line.on_page) for line in lines] == [
        ("typed", "page.md", 1, 1),
        ("    if x:", "a.py", 3, 2),
        ("        y = 2", "a.py", 4, 2),
        ("one", "b.md", 1, 4),
        ("if x:", "a.py", 3, 4),
        ("    y = 2", "a.py", 4, 4),
        ("", "b.md", 3, 4),
        ('--8<-- "escaped"', "page.md", 6, 6),
        ("", "page.md", 7, 7),
    ]
    assert includes.mistakes == []


@pytest.mark.parametrize(
    "include, mistake",
    [
        ('--8<-- "a.py:g"', "has no section 'g'; it has: f"),
        ('--8<-- "b.py"', "b.py does not exist"),
        ('--8<-- ":f"', "an include without a file"),
        ("--8<-- a.py", "does not take this for an include"),
        ('--8<-- "a.py" ', "does not take this for an include"),
    ],
)
def test_a_broken_include_is_one_mistake_and_the_page_goes_on(tmp_path, include, mistake):
    (tmp_path / "a.py").write_text("# --8<-- [start:f]\nx = 1\n# --8<-- [end:f]\n", encoding="utf-8")
    includes, lines = expand(tmp_path, f'one\n{include}\n--8<-- "a.py:f"\n')
    [(line, text)] = includes.mistakes
    assert line.number == 2 and mistake in text
    assert "x = 1" in lines


# The whole of it, on a small documentation

PAGE, TRAIN, NUMBERS = "docs/en/page.md", "snippets/train.py", "src/small_package/numbers.py"
TREE = {
    "mkdocs.yml": """\
        site_name: Small
        docs_dir: docs/en
        theme: {name: mkdocs}
        plugins: []
        markdown_extensions:
          admonition: {}
          pymdownx.highlight: {pygments_lang_class: true, anchor_linenums: true}
          pymdownx.superfences: {}
          pymdownx.tabbed: {alternate_style: true}
          pymdownx.snippets: {base_path: [generated, .], check_paths: true, dedent_subsections: true}
        """,
    "README.md": """\
        # Small

        ```console
        $ python -m pip install .
        ```
        """,
    "docs/en/page.md": """\
        # Page

        ```python title="snippets/train.py" hl_lines="2"
        --8<-- "snippets/train.py:double"
        ```

        ```text title="Output"
        --8<-- "snippets/train.out"
        ```

        === "Linux"

            !!! note

                ```py
                >>> double(2)
                4
                >>> 1 / 3
                0.333
                >>> double()
                Traceback (most recent call last):
                  ...
                TypeError: ...missing 1 required positional argument...
                ```

        ``` python
        y = 1

        z = y + more
        ```

        ```python
        >>> z
        4.0
        ```

        <!-- skip: next if(not accelerator, reason="needs an accelerator") -->
        ```{.python .annotate}
        assert accelerator
        ```

        ```python
        --8<-- "src/small_package/numbers.py:third"
        ```

        ```python
        --8<-- "snippets/train.py:more"
        ```

        --8<-- "generated/table.md"
        """,
    "snippets/train.py": '''\
        """Doubles."""

        # --8<-- [start:double]
        def double(x):
            return x * 2
        # --8<-- [end:double]


        # --8<-- [start:more]
        more = double(1.5)
        # --8<-- [end:more]
        print("twice", double(1 / 3))
        ''',
    "snippets/train.out": "twice 0.667\n",
    "src/small_package/__init__.py": "",
    "src/small_package/numbers.py": '''\
        # --8<-- [start:third]
        def third():
            """Says three.

            >>> third()
            3
            """
            return 3
        # --8<-- [end:third]
        ''',
    "generated/table.md": "| a |\n|---|\n| 1 |\n",
    "tests/test_other.py": "def test_other(): assert False, 'not an example'\n",
}


@pytest.fixture
def tree(pytester):
    for name, text in TREE.items():
        file = pytester.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, pytester.path)
    return pytester


def change(tree, name, old, new):
    file = tree.path / name
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


SKIPPED = 0 if torch.accelerator.is_available() else 1


def test_all_is_well(tree):
    result = tree.runpytest_inprocess("--doctest", "-v")
    result.assert_outcomes(passed=16 - SKIPPED, skipped=SKIPPED)
    if SKIPPED:
        result.stdout.fnmatch_lines(["SKIPPED * docs/en/page.md:38: needs an accelerator"])
    result.stdout.no_fnmatch_line("*test_other*")


def test_without_the_option_the_tests_run_too(tree):
    result = tree.runpytest_inprocess()
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(["*not an example*"])


def test_a_program_alone_is_not_imported_as_a_module_of_tests(tree):
    change(tree, TRAIN, "x * 2", "x * y")
    tree.runpytest_inprocess("--doctest", TRAIN).assert_outcomes(passed=1, failed=1)


def test_a_page_alone(tree):
    (tree.path / "docs/en/other.md").write_text("```sh\nx\n```\n", encoding="utf-8")
    assert tree.runpytest_inprocess("--doctest", PAGE).ret == 0
    assert tree.runpytest_inprocess("--doctest", "docs/en/other.md").ret == 1


MUTATIONS = {
    # one expected output
    "doctest": (PAGE, "0.333", "0.334", "docs/en/page.md:19: >>> 1 / 3"),
    "integer": (PAGE, ">>> double(2)\n        4", ">>> double(2)\n        5", "docs/en/page.md:17: >>> double(2)"),
    "error": (PAGE, "missing 1", "missing 2", "docs/en/page.md:23: >>> double()"),
    "output": ("snippets/train.out", "0.667", "0.666", "snippets/train.out:1: snippets/train.py prints something else"),
    "no output": (TRAIN, "print(", "(", "snippets/train.out:1: snippets/train.py prints something else"),
    "docstring": (NUMBERS, "    3\n", "    4\n", "src/small_package/numbers.py:6: >>> third()"),
    # one section name
    "include": (PAGE, "py:double", "py:dubble", "docs/en/page.md:4: *no section 'dubble'; it has: double, more"),
    "section": (TRAIN, "[start:double]", "[start:twice]", "snippets/train.py:3: section 'twice' should start once, *"),
    "section end": (TRAIN, "[end:double]", "[end:doubl]", "snippets/train.py:3: section 'double' should start once, *"),
    "new section": (NUMBERS, "", "# --8<-- [start:n]\n# --8<-- [end:n]\n", "*numbers.py:2: no page shows section 'n'"),
    "file": (PAGE, "snippets/train.out", "snippets/train.txt", "docs/en/page.md:8: *snippets/train.txt does not exist"),
    "hidden output": (PAGE, '--8<-- "snippets/train.out"', "", "snippets/train.out:1: no page shows this output"),
    "typed output": (PAGE, '--8<-- "snippets/train.out"', "twice 0.667", "docs/en/page.md:7: an output is not typed*"),
    "orphan": ("snippets/other.out", "", "x", "snippets/other.out:1: there is no program other.py that prints this"),
    "unseen": ("snippets/other.py", "", "x = 1\n", "snippets/other.py:1: no page shows this program"),
    # one fence's language
    "unknown": (PAGE, "``` python", "``` pyhton", "docs/en/page.md:26: unknown language 'pyhton'; allowed: *"),
    "pycon": (PAGE, "```py\n", "```pycon\n", "docs/en/page.md:15: write `python` in place of `pycon`*"),
    "none": (PAGE, "``` python", "```", "docs/en/page.md:26: a fence without a language; allowed: *"),
    "prompts as text": (PAGE, "```py\n", "```text\n", "docs/en/page.md:15: this shows Python and would not be run*"),
    "program as text": (PAGE, "```python title", "```console title", "docs/en/page.md:3: this shows Python and would not be run*"),
    "readme": ("README.md", "console", "shell", "README.md:3: unknown language 'shell'; allowed: *"),
    # one line of code
    "included line": (TRAIN, "x * 2", "x * y", "snippets/train.py:5: NameError: name 'y' is not defined"),
    "typed line": (PAGE, "y + more", "y + mare", "docs/en/page.md:29: NameError: name 'mare' is not defined"),
    "syntax": (PAGE, "y = 1\n", "y = = 1\n", "docs/en/page.md:27: SyntaxError: invalid syntax*"),
    "mixed": (PAGE, "py:more\"", "py:more\"\nx = 1", "docs/en/page.md:46: this fence is partly typed, partly *"),
    "program's syntax": (TRAIN, "x * 2", "x *", "snippets/train.py:5: SyntaxError: *"),
    # one skip
    "no reason": (PAGE, ', reason="needs an accelerator"', "", "docs/en/page.md:37: a skip needs a reason*"),
    "no condition": (
        PAGE,
        'if(not accelerator, reason="needs an accelerator") ',
        "",
        "docs/en/page.md:37: a skip needs*",
    ),
    "far skip": (PAGE, "```{.python", "text\n\n```{.python", "docs/en/page.md:37: a skip must stand right before *"),
    "useless skip": (PAGE, "```{.python .annotate}", "```text", "docs/en/page.md:37: a skip must stand right before *"),
    # what nobody would test
    "no prompt": (PAGE, ">>> z\n", "w = 5\n>>> z\n", "docs/en/page.md:33: this line belongs to no >>>*: w = 5"),
    "switched off": (PAGE, "1 / 3\n", "1 / 0  # doctest: +SKIP\n", "docs/en/page.md:18: this directive would let the example pass*"),
    "any message": (PAGE, "double()\n", "double()  # doctest: +IGNORE_EXCEPTION_DETAIL\n", "docs/en/page.md:20: this directive would*"),
    "late output": (PAGE, ">>> z\n4.0\n", ">>> z\n4.0\n\n5\n", "docs/en/page.md:36: this line belongs to no >>>*: 5"),
    "in a list": (PAGE, "``` python", "- ``` python", "docs/en/page.md:26: the site does not take this for a fence*"),
    "options": (
        PAGE,
        "``` python\n",
        '``` python foo="x"\n',
        "docs/en/page.md:26: the site does not show this python fence*",
    ),
    "comment": (
        PAGE,
        "# Page",
        "<!--\n```python\nx = 1\n```\n-->",
        "docs/en/page.md:2: the site does not show this python*",
    ),
    "indented": (
        PAGE,
        "# Page",
        "# Page\n\n    x = 1\n",
        "docs/en/page.md:3: no fence accounts for the text block*: x = 1",
    ),
    "readme include": (
        "README.md",
        "# Small",
        '--8<-- "generated/table.md"',
        "README.md:1: this page is not part of the site*",
    ),
}


@pytest.mark.parametrize("name, old, new, message", MUTATIONS.values(), ids=MUTATIONS)
def test_one_change_fails_and_names_the_line(tree, name, old, new, message):
    change(tree, name, old, new)
    result = tree.runpytest_inprocess("--doctest")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([message.replace("[", "[[]")])


def test_a_broken_include_is_one_failing_item(tree):
    change(tree, PAGE, "numbers.py:third", "numbers.py:fourth")
    change(tree, NUMBERS, "# --8<-- [start:third]\n", "")
    change(tree, NUMBERS, "# --8<-- [end:third]\n", "")
    result = tree.runpytest_inprocess("--doctest")
    result.assert_outcomes(passed=16 - SKIPPED, skipped=SKIPPED, failed=1)
    result.stdout.fnmatch_lines(["docs/en/page.md:43: the included file has no section 'fourth'; it has: none"])


def test_a_fence_that_the_lexer_passes_over_fails_the_census(tree, monkeypatch):
    def forgetful(lines):
        fences, mistakes = scan(lines)
        return [fence for fence in fences if fence.language != "py"], mistakes

    monkeypatch.setattr(site, "scan", forgetful)
    result = tree.runpytest_inprocess("--doctest", PAGE)
    result.assert_outcomes(passed=7 - SKIPPED, skipped=SKIPPED, failed=1)
    result.stdout.fnmatch_lines(
        ["docs/en/page.md:16: no fence accounts for the py block that the site shows: >>> double(2)"]
    )


def test_both_editions(tree):
    """Each page is read as its own edition's configuration has it."""
    zh = "INHERIT: mkdocs.yml\ndocs_dir: docs/zh\nmarkdown_extensions:\n  pymdownx.snippets: {base_path: [zh]}\n"
    (tree.path / "mkdocs.zh.yml").write_text(zh, encoding="utf-8")
    for folder in ("docs/zh", "zh"):
        (tree.path / folder).mkdir()
    (tree.path / "docs/zh/page.md").write_text('--8<-- "part.md"\n', encoding="utf-8")
    (tree.path / "zh/part.md").write_text("\n```python\n>>> '\u5feb'\n'\u6162'\n```\n", encoding="utf-8")
    result = tree.runpytest_inprocess("--doctest", "docs")
    result.stdout.fnmatch_lines(["zh/part.md:4: >>> '\u5feb'"])


def test_a_function_of_an_earlier_fence_may_be_in_a_stack_of_a_later_one(tree):
    fences = "\n```python\n>>> 1\n1\n>>> def f():\n...     import traceback\n...     return traceback.format_stack()\n```\n\n```python\n>>> len(f()) > 0\nTrue\n```\n"
    (tree.path / "docs/en/page.md").open("a", encoding="utf-8").write(fences)
    tree.runpytest_inprocess("--doctest", PAGE).assert_outcomes(passed=11 - SKIPPED, skipped=SKIPPED)


def test_a_skipped_fence_does_not_run_and_the_next_one_does(tree):
    change(tree, PAGE, "if(not accelerator", "if(z == 4")
    change(tree, PAGE, "assert accelerator", "z = 1 / 0")
    (tree.path / "docs/en/page.md").open("a", encoding="utf-8").write("\n```python\nassert z == 5, 'it ran'\n```\n")
    result = tree.runpytest_inprocess("--doctest", PAGE)
    result.assert_outcomes(passed=8, skipped=1, failed=1)
    result.stdout.fnmatch_lines(["docs/en/page.md:*: AssertionError: it ran"])


def test_a_program_runs_once_and_leaves_nothing_behind(tree):
    change(
        tree,
        TRAIN,
        '"""Doubles."""\n',
        textwrap.dedent('''\
            """Doubles."""
            import os, sys, torch, pathlib
            assert __name__ == "__main__" and sys.argv == [__file__] and os.listdir() == []
            pathlib.Path("model.pt").write_text("x")
            with open(os.environ["RUNS"], "a") as file: file.write("x")
            os.environ["LEFT"] = "x"
            torch.set_default_dtype(torch.float64)
            torch.set_default_device("meta")
            torch.set_num_threads(torch.get_num_threads() + 1)
            torch.set_printoptions(precision=1)
            '''),
    )
    change(
        tree,
        PAGE,
        ">>> z\n",
        ">>> import os, torch\n>>> os.listdir(), torch.tensor(1 / 3)\n([], tensor(0.3333))\n>>> z\n",
    )
    runs = tree.path / "runs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNS", str(runs))
        threads = torch.get_num_threads()
        result = tree.runpytest_inprocess("--doctest")
        assert "LEFT" not in __import__("os").environ
    assert result.ret == 0
    assert runs.read_text() == "x"
    assert torch.get_num_threads() == threads


def notebook(*sources, **fields):
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        | fields
        for n, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_notebooks(tree):
    folder = tree.path / "docs/en/labs"
    folder.mkdir()
    good = "import os, sys\nassert os.path.samefile(sys.executable, {!r}) and os.listdir() == []".format(
        __import__("sys").executable
    )
    (folder / "good.ipynb").write_text(notebook(good), encoding="utf-8")
    (folder / "bad.ipynb").write_text(notebook("x = 1", "x / 0", "x"), encoding="utf-8")
    (folder / "stored.ipynb").write_text(notebook("x = 1", execution_count=1), encoding="utf-8")
    (folder / "broken.ipynb").write_text("{", encoding="utf-8")
    result = tree.runpytest_inprocess("--doctest", "docs/en/labs")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "docs/en/labs/bad.ipynb: cell 2: ZeroDivisionError: division by zero",
            "docs/en/labs/broken.ipynb: this is not a notebook: *",
            "docs/en/labs/stored.ipynb: cell 1 is stored with its output; *",
        ]
    )


# Pages


SPLIT = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)|\d (?:%|µs|ms|ns|s|GB|GiB|MB|MiB|KiB|kB|MHz|GHz)(?![\w/])")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*/*.md")), ids=lambda page: page.stem)
def test_no_number_is_torn_from_its_thousands_or_its_unit(page):
    """A space that breaks would put them on two lines of a narrow screen."""
    prose = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->|\{[^}]*\}|^ *[<#>].*$", "", prose, flags=re.MULTILINE)
    assert not SPLIT.findall(prose)
