"""What the name of an accelerator says: vendor, series, tier, form, architecture. Drawn from data/gpus.toml.

Digits say the series; compute capability (NVIDIA) or the gfx name (AMD) says the architecture. What neither the device nor
the name tells stays None, with a note. Memory is never looked up.
"""

import re
import tomllib
import unicodedata
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from pathlib import Path

from tutorial.hardware.schema import Accelerator

DATA = Path(__file__).parent / "data" / "gpus.toml"
LONGEST = 160  # characters of a name; the longest known has 60

VENDORS = (("NVIDIA", r"nvidia(?: corporation)?\b"), ("AMD", r"(?:amd(?:/ati)?|advanced micro devices,? inc\.?)\b"), ("Intel", r"intel(?: corporation)?\b"), ("Apple", r"apple\b"))

# Marks that say where a chip sits, wherever in the name they stand. The first that fits counts; all are taken out.
FORMS = (
    (r"\bwith max-?q design\b|\bmobile\s*/\s*max-?q\b|\blaptop(?: gpu)?\b|\bnotebook(?: gpu)?\b|\bmobile\b", "laptop"),
    (r"\bembedded gpu\b", "embedded"),
)
# They come before the marks: a Max-Q Workstation Edition is a card.
EDITIONS = {"workstation": "workstation", "server": "data center"}

# How the card is built. Part of the product's name in data centers (A100-SXM4, H100 NVL), so it goes to the suffix.
BOARDS = {"pcie": "PCIe", "nvl": "NVL", "sff": "SFF", "lc": "LC", "oam": "OAM", "ac": "AC", "active": "Active", "fhhl": "FHHL"}
# Words that tell nothing beyond the row.
NOISE = re.compile(r"\d+gb?|hbm\d?e?|gddr\d\w?|generation|gen|edition|graphics|gpu|accelerator|design|series|rev|pg\d+|\d{3}|oem|tm|r|c|hgx|dgxs?|gfx\w+", re.I)

MIG = re.compile(r"\s*\bMIG\s+((?:\d+c\.)?\d+g\.\d+gb(?:[+-]\w+(?:\.\w+)*)*)", re.I)
# https://docs.nvidia.com/vgpu/latest/grid-vgpu-user-guide/ : memory in GB and the licence (C, Q, B, A), after slices where there are some
VGPU = re.compile(r"-((?:\d+-)?\d+[CQBA])\b", re.I)
GFX = re.compile(r"\bgfx[0-9a-f]{3,5}", re.I)


@dataclass
class Row:
    """One row of the data with what it shares with its table."""

    fields: dict
    regex: re.Pattern
    names: list[str] = field(default_factory=list)
    """Every name of the row, squeezed, with its tier: what a name that was cut short is compared with."""

    def get(self, key: str, default=None):
        return self.fields.get(key, default)


def _squeeze(text: str) -> str:
    """A name without what may differ in spelling."""
    return re.sub(r"[\s_-]+", "", text).lower()


def _regex(template: str, tiers: list[str]) -> re.Pattern:
    pattern = ""
    for part in re.findall(r"\[[^\]]*\]|\{\w+\}|[^\[{]+", template):
        if part == "{tier}":
            pattern += "(?P<tier>" + "|".join(sorted(map(re.escape, tiers), key=len, reverse=True)) + ")"
        elif part in ("{n}", "{t}"):
            pattern += rf"(?P<{part[1]}>\d{{1,2}})" if "Apple" in template else rf"(?P<{part[1]}>\d\d)"
        else:
            body = r"[\s_-]*".join(map(re.escape, part.strip("[]").split(" ")))
            pattern += f"(?:{body})?" if part.startswith("[") else body
    # A name ends where its number ends, and a word where its letters end.
    return re.compile(rf"{pattern}(?!(?<=[a-z])[a-z]|(?<=\d)\d)", re.I)


def _names(template: str, tiers: list[str]) -> list[str]:
    parts = re.findall(r"\[[^\]]*\]|\{\w+\}|[^\[{]+", template)
    choices = [["", part[1:-1]] if part.startswith("[") else (tiers if part == "{tier}" else [part]) for part in parts]
    return [] if "{n}" in template else [_squeeze("".join(choice)) for choice in product(*choices)]


@cache
def _data() -> dict:
    with DATA.open("rb") as file:
        return tomllib.load(file)


@cache
def _rows() -> list[Row]:
    rows = []
    for table in _data()["table"]:
        shared = {key: value for key, value in table.items() if key not in ("rows", "source")}
        for row in table["rows"]:
            fields = shared | row
            tiers = fields.get("tiers", [])
            rows.append(Row(fields, _regex(fields["name"], tiers), _names(fields["name"], tiers)))
    return rows


def architecture_of(capability: str | None) -> str | None:
    """The architecture of an NVIDIA chip of this compute capability."""
    return _longest(_data()["capabilities"], capability)


def _longest(table: dict, key: str | None):
    """The value of the longest key that ``key`` starts with."""
    found = [known for known in table if key and key.startswith(known)]
    return table[max(found, key=len)] if found else None


def decode(name: str, compute_capability: str | None = None, gfx: str | None = None, hip: bool | None = None) -> Accelerator:
    """What a name says, with what the device told: its ``compute_capability`` or ``gfx`` name.

    ROCm fills in a "capability" too, which is the front of the gfx name and not NVIDIA's number; ``hip`` says that the
    program that printed it was built for ROCm (None: not known). ``compute_capability`` may be the text that a program
    printed, such as `9.0 (gfx90a:sramecc+:xnack-)`.
    """
    # a text may name the same card many times, and a name is short
    return _decode(*(part[: 4 * LONGEST] if part else None for part in (name, compute_capability, gfx)), hip).model_copy(deep=True)


# What a person leaves out, and what a shop puts in front.
LEFT_OUT = (
    (re.compile(r"\d{3,4} ?(?:ti|super|laptop|mobile|m|d|xtx?|gre|\d+ ?gb?|\s)*", re.I), ("GeForce RTX", "GeForce GTX", "Radeon RX")),
    (re.compile(r"A\d{4}\b.*", re.I), ("RTX",)),
    (re.compile(r"M\d\b(?: (?:pro|max|ultra))?", re.I), ("Apple",)),
)
BRAND = re.compile(r"\b(?:NVIDIA|GeForce|RTX|GTX|Quadro|Tesla|TITAN|Radeon|RX|Instinct|Arc)\b.*", re.I)


def explain(name: str) -> Accelerator:
    """:func:`decode` for a name that a person typed: `4090`, `7900xtx`, `MSI Ventus GeForce RTX 3060`."""
    told = decode(name)
    if told.vendor is not None:
        return told
    shown = " ".join(name.split())
    for pattern, fronts in LEFT_OUT:
        if pattern.fullmatch(shown):
            guesses = [decode(f"{front} {shown}") for front in fronts]
            guesses = [guess for guess in guesses if guess.architecture]
            if len(guesses) != 1:
                continue
            told = guesses[0]
            if told.form == "desktop":  # whoever leaves out the line may leave out that it is a laptop
                told.form = None
            told.notes = [f"Taken for {told.name}.", *told.notes]
            told.name = shown[:LONGEST]
            return told
    brand = BRAND.search(shown)
    return decode(brand[0]).model_copy(update={"name": shown[:LONGEST]}) if brand and brand.start() else told


@lru_cache(maxsize=1024)
def _decode(name: str | None, compute_capability: str | None, gfx: str | None, hip: bool | None) -> Accelerator:
    name = name or ""
    notes: list[str] = []
    found = [GFX.search(text or "") for text in (gfx, compute_capability, name)]
    gfx = next((match[0].lower() for match in found if match), None)
    number = re.match(r"\s*(\d{1,2}\.\d)\b", compute_capability or "")
    number = number[1] if number else None
    shown, text, cut = _clean(name, notes)
    vendor, text = _vendor(text)
    if vendor is None and (gfx or hip):
        vendor = "AMD"
    form, suffix_words, text = _form(text, cut)
    row, rest = _find(text, vendor, cut, notes)
    accelerator = Accelerator(name=shown or None)
    if row is None:
        accelerator.vendor = vendor or ("NVIDIA" if hip is False and number else None)
        if shown:
            notes.append("This version does not know the name.")
    else:
        _fill(accelerator, row, rest, cut, form, suffix_words, notes)
    if form and accelerator.line != "Jetson":
        accelerator.form = form
    if accelerator.vendor in (None, "NVIDIA") and not gfx and hip is not True:
        _capability(accelerator, row, number, notes)
    elif accelerator.vendor == "AMD" or gfx:
        _gfx(accelerator, gfx, number, notes)
    accelerator.notes = list(dict.fromkeys(notes))
    return accelerator


def _clean(name: str, notes: list[str]) -> tuple[str, str, bool]:
    """The name to show, the text to read, and whether a program cut it short."""
    shown = re.sub(r"\s+", " ", re.sub(r"[\x00-\x1f\x7f]", " ", name)).strip()
    shown = re.sub(r"^GPU \d+: ", "", re.sub(r"\s*\(UUID:.*", "", shown, flags=re.I))
    shown = re.sub(r"\s*\(gfx[^)]*\)|NoGCNArchNameOnOldPyTorch", "", shown, flags=re.I).strip()[:LONGEST]
    text = unicodedata.normalize("NFKC", re.sub("[®™©]", " ", shown)).translate(str.maketrans("【】〔〕‐‑–", "()()---"))
    text = re.sub(r"\((?:R|TM|C)\)", " ", text, flags=re.I)
    for foreign, word in _data()["translate"].items():
        text = text.replace(foreign, f" {word} ")
    inside = re.findall(r"\[(?!0x)([^\]]*[a-z][^\]]*)\]", text, re.I)  # lspci: NVIDIA Corporation AD102 [GeForce RTX 4090]
    if inside:
        text = inside[-1] if _vendor(inside[-1])[0] else f"{_vendor(text)[0] or ''} {inside[-1]}"
    number = re.search(r"\[(0x[0-9a-f]+)\]", text, re.I)
    if number:
        notes.append(f"{number[1]} is its PCI number.")
        text = text.replace(number[0], " ")
    mig = MIG.search(text)
    if mig:
        notes.append(f"A MIG slice ({mig[1]}) of the card: its memory and multiprocessors are a part of the card's.")
        text = text.replace(mig[0], " ")
    vgpu = VGPU.search(text)
    if vgpu:
        notes.append(f"A virtual GPU (profile {vgpu[1]}): a part of a card in a server.")
        text = re.sub(r"\bGRID\b", " ", text.replace(vgpu[0], " "), flags=re.I)
        text = re.sub(r"(?<=\d)(?:DX|XM|XL|D|L|X|P)(?=\s|$)", " ", text)  # the card's kind, in the profile's spelling
        text = re.sub(r"\bDC\b", " ", text)
    text = re.sub(r"/PCIe/SSE2$", "", re.sub(r"\bPCI-E\b", "PCIe", text, flags=re.I))  # as OpenGL names it
    text = re.sub(r"\s+", " ", text)
    cut = re.search(r"(?:\.{2,}|…)\s*$", text)
    if cut:
        text = text[: cut.start()]
        notes.append("The program cut the name short.")
        return shown, text.lstrip(), True
    return shown, text.strip(), False


def _vendor(text: str) -> tuple[str | None, str]:
    text = text.lstrip()
    for vendor, pattern in VENDORS:
        if re.match(pattern, text, re.I):
            return vendor, text
    return None, text


def _form(text: str, cut: bool) -> tuple[str | None, list[str], str]:
    """The form that a mark says, marks that belong to the suffix, and the text without them."""
    form, words = None, []
    edition = re.search(r"\b(workstation|server) edition\b", text, re.I)
    if edition:
        form = EDITIONS[edition[1].lower()]
        text = text.replace(edition[0], " ")
        if re.search(r"\bmax-?q\b", text, re.I):
            text = re.sub(r"\bmax-?q\b", " ", text, flags=re.I)
            words.append("Max-Q")
        if form == "data center":
            words.append("Server")
    for pattern, says in FORMS:
        if re.search(pattern, text, re.I):
            form = form or says
            text = re.sub(pattern, " ", text, flags=re.I)
    if cut and re.search(r"\b(?:lapt?|lapto|laptop g?p?|with m[\w-]*(?: d\w*)?)$", text, re.I):
        form, text = "laptop", re.sub(r"\b(?:lap|with)\w*.*$", "", text, flags=re.I)
    return form, words, re.sub(r"\s+", " ", text) if cut else re.sub(r"\s+", " ", text).strip()


def _find(text: str, vendor: str | None, cut: bool, notes: list[str]) -> tuple[Row | None, str]:
    """The row that explains the most of the text, and what it leaves."""
    bare = text
    for stated, pattern in VENDORS:
        if stated == vendor:
            bare = re.sub(f"^{pattern}\\s*", "", text, flags=re.I)
    # sizes and board words may stand in the middle: RTX 4000 SFF Ada, RTX PRO 5000 72GB Blackwell
    middle = re.compile(r"\b(?:sff|\d+ ?gb)\b(?= *(?:ada|blackwell|graphics))", re.I)
    moved = middle.search(bare)
    tail = f" {moved[0]}" if moved else ""
    variants = {re.sub(r"\s+", " ", middle.sub("", bare)) + tail, bare, text}
    best = None
    for row in _rows():
        if vendor and row.get("vendor") != vendor:
            continue
        for variant in variants:
            match = row.regex.match(variant)
            if match and match.end():
                rest = variant[match.end() :]
                rank = (len(_squeeze(rest)), bool(row.get("open")), -len(row.fields["name"]))
                if best is None or rank < best[0]:
                    best = rank, row, rest, match
    if cut:
        return _agreement(bare, text, vendor, best)
    if best is None:
        return None, text
    _, row, rest, match = best
    return _told(row, match.groupdict()), rest


def _told(row: Row, groups: dict) -> Row:
    """The row with the tier and the series that the digits say."""
    told = dict(row.fields)
    tier = groups.get("tier") or groups.get("t")
    if tier:
        spelled = [known for known in told.get("tiers", []) if known.lower() == tier.lower()]
        told["tier"] = spelled[0] if spelled else tier
    if groups.get("n") and "{n}" in told.get("series", ""):
        told["series"] = told["series"].replace("{n}", groups["n"])
        told["note"] = "Newer or rarer than the names that this version knows."
    return Row(told, row.regex)


def _agreement(bare: str, text: str, vendor: str | None, best) -> tuple[Row | None, str]:
    """What all names agree on that a name cut short can be the front of."""
    ended = bare != bare.rstrip()  # `RTX 4060 ...` was cut behind the word, `A10...` may be in it
    wanted = {_squeeze(bare), _squeeze(text)}
    rows, rest = [], ""
    if best is not None:
        _, row, rest, match = best
        if not row.get("open"):
            rows.append(_told(row, match.groupdict()))
    for row in _rows():
        if row.get("open") or (vendor and row.get("vendor") != vendor):
            continue
        for name in row.names:
            for front in wanted:
                longer = name[len(front) :]
                if front and name.startswith(front) and longer and not (ended and front[-1].isdigit() and longer[0].isdigit()):
                    tier = [t for t in row.get("tiers", []) if t.lower() in name]
                    rows.append(Row(row.fields | ({"tier": max(tier, key=len)} if tier else {}), row.regex))
                    break
    if not rows:
        return (_told(best[1], best[3].groupdict()), rest) if best else (None, text)
    keys = ("vendor", "line", "series", "tier", "architecture", "capability", "gfx", "open")
    agreed = {key: rows[0].get(key) for key in keys if all(row.get(key) == rows[0].get(key) for row in rows)}
    agreed["name"] = ""
    if len(rows) == 1:
        agreed |= {key: rows[0].get(key) for key in ("suffixes", "forms", "by_capability", "note") if rows[0].get(key)}
    return Row(agreed, rows[0].regex), rest


def _fill(accelerator: Accelerator, row: Row, rest: str, cut: bool, form: str | None, marks: list[str], notes: list[str]) -> None:
    """Take the row's fields, and what the words behind the name add."""
    accelerator.vendor = row.get("vendor") or None
    accelerator.line = row.get("line") or None
    accelerator.series = row.get("series") or None
    accelerator.tier = row.get("tier") or None
    accelerator.architecture = row.get("architecture") or None
    accelerator.gfx = row.get("gfx") or None
    if row.get("note"):
        notes.append(row.get("note"))
    if row.get("open"):
        accelerator.form = row.get("form") or None
        accelerator.suffix = row.get("suffix") or None
        if not accelerator.series and not row.get("note"):
            notes.append("The name says the line and no more that this version knows.")
        return
    if cut:
        return
    known = {_squeeze(suffix): suffix for suffix in (*row.get("suffixes", []), *row.get("forms", {}))}
    words = re.findall(r"[^\W_]+", re.sub(r"max-?q", " maxq ", re.sub(r"\brev [0-9a-f]+", " ", rest, flags=re.I), flags=re.I))
    known.setdefault("maxq", "Max-Q")
    suffix, boards, strange = "", [], []
    plain = [word for word in words if _board(word) is None]
    # the longest run of words that is a suffix: Ti SUPER before Ti
    position = 0
    while position < len(plain):
        for end in range(len(plain), position, -1):
            run = "".join(plain[position:end]).lower()
            if run in known and not suffix:
                suffix, position = known[run], end
                break
        else:
            if not NOISE.fullmatch(plain[position]):
                strange.append(plain[position])
            elif plain[position].lower() == "oem" and "OEM" in row.get("suffixes", []):
                suffix = suffix or "OEM"
            position += 1
    boards = [board for board in map(_board, words) if board]
    own = row.get("suffix") or ""
    if suffix == "Max-Q" and row.get("line") != "RTX workstation":
        suffix, form = "", form or "laptop"
        accelerator.form = "laptop"
    parts = [part for part in (own, suffix, *boards, *marks) if part]
    accelerator.suffix = " ".join(dict.fromkeys(parts)) or None
    if strange:
        notes.append("Unknown in the name: " + " ".join(strange)[:60] + ".")
        accelerator.architecture = accelerator.gfx = accelerator.form = None
        row.fields["capability"] = None
        return
    if accelerator.form is None:
        forms = row.get("forms", {})
        accelerator.form = (forms[suffix] if suffix in forms else row.get("form")) or None
        if accelerator.form is None and form is None and accelerator.line in ("GeForce", "Quadro"):
            notes.append("The same name may be a card or a laptop chip: not every laptop chip carries a mark.")
    if accelerator.form == "laptop" or form == "laptop":
        for key in row.get("without", []):
            setattr(accelerator, key, None)


def _board(word: str) -> str | None:
    word = word.lower()
    return BOARDS.get(word) or (word.upper() if re.fullmatch(r"sxm\d?", word) else None)


def _capability(accelerator: Accelerator, row: Row | None, number: str | None, notes: list[str]) -> None:
    """NVIDIA's compute capability: what the device told wins over what the name says."""
    if accelerator.vendor is None:
        return
    known = row.get("capability") if row else None
    accelerator.compute_capability = number or known or None
    if row and number and row.get("by_capability", {}).get(number) is not None:
        for key, value in row.get("by_capability")[number].items():
            setattr(accelerator, key, value)
    if number:
        says = architecture_of(number)
        if known and number != known:
            notes.append(f"The device says compute capability {number}, the name says {known}: the device is right.")
        accelerator.architecture = says
        if says is None:
            notes.append(f"Compute capability {number} is newer than this version knows.")


def _gfx(accelerator: Accelerator, gfx: str | None, number: str | None, notes: list[str]) -> None:
    """AMD's gfx name: what the device told, against what the name says."""
    accelerator.vendor = accelerator.vendor or "AMD"
    named, known = accelerator.architecture, accelerator.gfx
    if number and not gfx:
        notes.append(f"ROCm prints {number} where CUDA has the compute capability: it is the front of the gfx name.")
        fronts = {known_gfx: told.get("architecture") for known_gfx, told in _data()["gfx"].items() if known_gfx.startswith("gfx" + number.replace(".", ""))}
        if named is None and len(set(fronts.values())) == 1:
            accelerator.architecture = next(iter(fronts.values()))
        return
    if not gfx:
        return
    accelerator.gfx = gfx
    told = _longest(_data()["gfx"], gfx)
    if told is None:
        notes.append(f"{gfx} is newer than this version knows.")
        return
    says = told.get("architecture")
    if named and says and named != says:
        notes.append(f"The name says {named}{f' ({known})' if known else ''}, the device says {gfx}: HSA_OVERRIDE_GFX_VERSION makes a chip pass for another.")
        accelerator.architecture = None
        return
    accelerator.architecture = says or named
    if accelerator.form is None and told.get("apu"):
        accelerator.form = "integrated"
