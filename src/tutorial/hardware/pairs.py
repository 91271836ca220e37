"""The fields of a pasted `lscpu` text, whatever its version, language and layout.

Layouts: one field a line; the same with an indented hierarchy and wrapped values, as a terminal gets it; `lscpu -J`, flat
or nested; the tables of `lscpu -p` and `lscpu -e`; `/proc/cpuinfo`. The labels of each language are data
(data/lscpu_labels.toml); a value that can be but one thing needs no label.
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
JSON_STRING = r'"((?:[^"\\]|\\.)*)"'
JSON_FIELD = re.compile(rf'"field"\s*:\s*{JSON_STRING}\s*,\s*"data"\s*:\s*(?:{JSON_STRING}|null|(\d+))')
CPUINFO = re.compile(r"^processor[ \t]*: *\d+[ \t]*$", re.MULTILINE)
WINDOWS = re.compile(r"^[ \t]*([A-Z][A-Za-z]{3,30})[ \t]*[:=](.*)$", re.MULTILINE)
FLAGS_ONLY = re.compile(r"^[a-z0-9_ ]+$")
TABLE = re.compile(r"^(?:# *CPU(?:,\w*)+|[ >]*CPU(?: +[\w:]+)+)[ \t]*$", re.MULTILINE)
VALUES = (
    ("architecture", re.compile(r"x86_64|aarch64|riscv64|ppc64le|s390x|loongarch64")),
    ("vendor", re.compile(r"GenuineIntel|AuthenticAMD|HygonGenuine")),
    ("model_name", re.compile(r"(?:\d\dth Gen )?Intel\((?:R|r)\) (?:Core|Xeon|Pentium|Celeron|Atom|N\d).*|AMD (?:Ryzen|EPYC|Athlon|Opteron).*")),
    ("flags", re.compile(r"(?:fpu vme|fp asimd) .*")),
)
"""What can stand behind a label of an unknown language, and be nothing else."""


def read_pairs(text: str) -> list[tuple[str, str]]:
    """The known fields of ``text`` in their order, as (canonical field, value). Only the first machine of several."""
    text = ESCAPES.sub("", text[:LONGEST_TEXT]).replace("\r\n", "\n").replace("\r", "\n").expandtabs()
    if "ProcessorType" in text:
        found = _windows_pairs(text)
    elif '"field"' in text:
        found = [(_field(_unescape(m[1])), _unescape(m[2] or m[3] or "")) for m in JSON_FIELD.finditer(text)]
        found = [(field, value) for field, value in found if field]
    elif CPUINFO.search(text):
        found = _cpuinfo_pairs(text)
    else:
        found = _line_pairs(text)
        if not any(field == "logical" for field, _ in found):
            found += _table_pairs(text)
    return found[: _end_of_machine(found)]


def _end_of_machine(pairs: list[tuple[str, str]]) -> int:
    """Where the next machine begins: at a second architecture or number of processors, which come first in each."""
    seen: set[str] = set()
    for index, (field, value) in enumerate(pairs):
        if value and (field in seen or (field == "architecture" and "logical" in seen)):
            return index
        if value and field in ("architecture", "logical"):
            seen.add(field)
    return len(pairs)


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


def _field_of_value(label: str, value: str) -> str | None:
    if "bios" in label.casefold():
        return None
    return next((field for field, pattern in VALUES if pattern.fullmatch(value)), None)


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
            label, value = line[: end - 1].strip(" \t\xa0>|*"), line[end:]
            field = _field(label) or _field_of_value(label, value.strip())
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


def _table_pairs(text: str) -> list[tuple[str, str]]:
    """`lscpu -p` and `lscpu -e` as if lscpu had summed it up: a row for each logical processor."""
    header = TABLE.search(text)
    if not header:
        return []
    comma = "," if "," in header[0] else None
    columns = [name.casefold() for name in header[0].lstrip("# >").rstrip().split(comma)]
    rows = []
    for line in text[header.end() :].lstrip("\n").split("\n"):
        cells = line.strip(" \t>").split(comma)
        if len(cells) != len(columns) or not cells[0].isdigit():
            break
        rows.append(dict(zip(columns, cells)))
    online = [row for row in rows if row.get("online", "yes") in ("yes", "Y")]
    if not online:
        return []
    found = [("logical", str(len(rows))), ("online_list", ",".join(row["cpu"] for row in online))]
    if "core" in columns:
        cores = {(row.get("socket"), row["core"]) for row in online}
        sockets = {row.get("socket", "0") for row in online}
        if len(cores) % len(sockets) == 0:
            found += [("sockets", str(len(sockets))), ("cores_per_socket", str(len(cores) // len(sockets)))]
        if len(rows) == len(online) and len(online) % len(cores) == 0:
            found.append(("threads_per_core", str(len(online) // len(cores))))
    speeds = [row["maxmhz"] for row in online if re.fullmatch(r"\d{1,6}(?:[.,]\d+)?", row.get("maxmhz", ""))]
    return found + [("max_mhz", max(speeds, key=lambda speed: float(speed.replace(",", "."))))] if speeds else found


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
