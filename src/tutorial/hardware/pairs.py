"""The fields of a pasted `lscpu` text, whatever its version, language and layout.

Layouts: one field a line; the same with an indented hierarchy and wrapped values, as a terminal gets it; `lscpu -J`, flat
or nested; `/proc/cpuinfo`. The labels of each language are data (data/lscpu_labels.toml).
"""

import json
import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files

LONGEST_TEXT = 500_000
"""Characters that are looked at; the longest real report (hundreds of NUMA nodes) has fewer than 100,000."""

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
LABEL_ROOM = 200
"""Characters at the start of a line in which its label ends."""
JSON_FIELD = re.compile(r'"field"\s*:\s*"((?:[^"\\]|\\.)*)"\s*,\s*"data"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|null)')
CPUINFO = re.compile(r"^processor[ \t]*: *\d+[ \t]*$", re.MULTILINE)
WINDOWS = re.compile(r"^[ \t]*([A-Z][A-Za-z]{3,30})[ \t]*[:=](.*)$", re.MULTILINE)
FLAGS_ONLY = re.compile(r"^[a-z0-9_ ]+$")


def read_pairs(text: str) -> list[tuple[str, str]]:
    """The known fields of ``text`` in their order, as (canonical field, value). Only the first machine of several."""
    text = ESCAPES.sub("", text[:LONGEST_TEXT]).replace("\r\n", "\n").replace("\r", "\n").expandtabs()
    if "ProcessorType" in text:
        found = _windows_pairs(text)
    elif '"field"' in text:
        found = [(_field(_unescape(m[1])), _unescape(m[2] or "")) for m in JSON_FIELD.finditer(text)]
        found = [(field, value) for field, value in found if field]
    elif CPUINFO.search(text):
        found = _cpuinfo_pairs(text)
    else:
        found = _line_pairs(text)
    machines = [index for index, (field, _) in enumerate(found) if field == "architecture"]
    return found[: machines[1]] if len(machines) > 1 else found


@cache
def label_table() -> dict[str, dict]:
    """data/lscpu_labels.toml."""
    return tomllib.loads((files("tutorial.hardware") / "data" / "lscpu_labels.toml").read_text(encoding="utf-8"))


@cache
def _labels() -> dict[str, str]:
    return {_plain(label): field for field, labels in label_table()["lscpu"].items() for label in labels}


def _plain(label: str) -> str:
    """A label without what versions and languages write differently: case, spaces (no-break ones too), colons."""
    return "".join(label.split()).rstrip(":：").casefold()


def _field(label: str) -> str | None:
    return _labels().get(_plain(label))


def _unescape(value: str) -> str:
    try:
        return json.loads(f'"{value}"')
    except ValueError:
        return value


def _line_pairs(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    field, column, chunks = None, 0, []

    def finish():
        if field:
            found.append((field, _join(chunks)))

    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if chunks and column > 6 and indent >= column - 1 and line.strip():  # the rest of a wrapped value
            chunks.append(line[min(column, indent) if indent >= column else indent :])
            continue
        end = _label_end(line)
        if end:
            finish()
            field = _field(line[: end - 1].strip(" \t\xa0>|*"))
            value = line[end:]
            start = end + len(value) - len(value.lstrip())
            column, chunks = _width(line[:start]), [value.lstrip()]
        elif field == "flags" and line.strip() and FLAGS_ONLY.match(line):  # wrapped by whatever it was pasted through
            chunks.append(line)
        else:
            finish()
            field, chunks = None, []
    finish()
    return found


def _label_end(line: str) -> int:
    """The position after the colon that ends the line's label, an ordinary or a full-width one; 0 without a label."""
    ends = [position for position in (line.find(":", 0, LABEL_ROOM), line.find("：", 0, LABEL_ROOM)) if position > 0]
    return min(ends) + 1 if ends else 0


def _width(text: str) -> int:
    """Columns that ``text`` takes on a terminal: East Asian characters take two."""
    return len(text) + (0 if text.isascii() else sum(unicodedata.east_asian_width(c) in "WF" for c in text))


def _join(chunks: list[str]) -> str:
    """A wrapped value in one line. Words are cut at the last column; a space there is often lost in pasting."""
    if len(chunks) == 1:
        return chunks[0].strip()
    chunks = [re.sub(r"\s{2,}$", "", chunk) for chunk in chunks]
    width = max(len(chunk) for chunk in chunks[:-1])
    return "".join(chunk if len(chunk) >= width else chunk + " " for chunk in chunks).strip()


def _cpuinfo_pairs(text: str) -> list[tuple[str, str]]:
    """`/proc/cpuinfo` as if lscpu had read it: the first processor, and how many there are."""
    names = {"model name": "model_name", "vendor_id": "vendor", "cpu family": "family", "model": "model_number",
             "stepping": "stepping", "flags": "flags", "features": "flags", "cpu cores": "cores_per_socket"}  # fmt: skip
    found, seen = [], set()
    for line in text.split("\n"):
        label, _, value = line.partition(":")
        field = names.get(label.strip().casefold())
        if field and field not in seen:
            seen.add(field)
            found.append((field, value.strip()))
    found.append(("logical", str(len(CPUINFO.findall(text)))))
    sockets = set(re.findall(r"^physical id\s*: *(\d+)", text, re.MULTILINE))
    siblings = re.search(r"^siblings\s*: *(\d+)", text, re.MULTILINE)
    cores = dict(found).get("cores_per_socket", "")
    if sockets:
        found.append(("sockets", str(len(sockets))))
    if siblings and cores.isdigit() and int(cores) and int(siblings[1]) % int(cores) == 0:
        found.append(("threads_per_core", str(int(siblings[1]) // int(cores))))
    return found


def _windows_pairs(text: str) -> list[tuple[str, str]]:
    """What collect_env prints on Windows, as `Name=...` or `Name: ...`."""
    fields = {label: field for field, labels in label_table()["windows"].items() for label in labels}
    return [(fields[match[1]], match[2].strip()) for match in WINDOWS.finditer(text) if match[1] in fields]
