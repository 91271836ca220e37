"""What a rendered part says: its texts in one language, and numbers and foreign strings made fit for a page."""

import re
import tomllib
from importlib.resources import files


class Texts:
    """The texts of one language, by dotted key, from `texts/<language>.toml`.

    Raises KeyError for a key that the language lacks: a page must not silently lose a sentence.
    """

    def __init__(self, language: str):
        self.language = language
        self._texts = tomllib.loads((files("tutorial.publish") / "texts" / f"{language}.toml").read_text(encoding="utf-8"))

    def __call__(self, key: str, **values: object) -> str:
        text = self._texts
        for part in key.split("."):
            text = text[part]
        return text.format(**values)

    def name(self, section: str, case: str, **values: object) -> str:
        """The text for a case's name in a results file; the name itself, made safe, where there is no text for it."""
        key = re.sub("[^a-z0-9]+", "_", case.lower())
        section_texts = self._texts
        for part in section.split("."):
            section_texts = section_texts[part]
        return section_texts[key].format(**values) if key in section_texts else safe(case)


def languages() -> list[str]:
    """The languages that have texts."""
    return sorted(file.name.removesuffix(".toml") for file in (files("tutorial.publish") / "texts").iterdir() if file.name.endswith(".toml"))


def safe(text: str) -> str:
    """A string from a results file, to be shown as it is: no HTML, no Markdown, one line, nothing invisible."""
    text = " ".join(str(text).split())
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", "", text)
    return re.sub(r"""([&<>"'\\`*_{}\[\]()#+!|~^=:-])""", lambda found: f"&#{ord(found[1])};", text)


def significant(value: float, digits: int = 3) -> str:
    """A number to so many significant digits, without an exponent: 0.0123, 1.23, 123, 12 300. The spaces do not break."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - int(f"{abs(rounded):e}".split("e")[1]))
    return f"{rounded:,.{decimals}f}".replace(",", "\u00a0").replace("-", "−")


def whole(number: float) -> str:
    """A count with its thousands apart: 12 000. The space does not break."""
    return f"{number:,.0f}".replace(",", "\u00a0")


def span(low: str, high: str) -> str:
    """A range that does not break: `5.34 µs – 7.36 µs`."""
    return f"{low}\u00a0–\u00a0{high}"


def byte_rate(count: float, seconds: float) -> str:
    """Bytes in a second, in decimal units, as data sheets have them: `12 GB/s`, two significant digits."""
    rate = count / seconds
    for unit, size in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1)):
        if rate >= size:
            break
    return f"{significant(rate / size, 2)}\u00a0{unit}"


def duration(seconds: float) -> str:
    """A time in the unit that gives 1 to 999: `231 µs`. The space does not break."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size * 0.9995:
            break
    return f"{significant(seconds / size)}\u00a0{unit}"


def byte_count(count: float) -> str:
    """A number of bytes in binary units: `16 KiB`."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{significant(count / size)}\u00a0{unit}"
    return f"{count:.0f}\u00a0B"


def percent(share: float) -> str:
    """A share as a percentage with two significant digits, `3.4 %`; with three from 100 % on, `118 %`."""
    return f"{significant(share * 100, 2 if share < 0.995 else 3)}\u00a0%"
