"""What the name and the numbers of a CPU say of its cores: look-ups in data/cpus.toml, where a new chip is a new row."""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from tutorial.hardware.schema import Fields


class Chip(Fields):
    """A chip with several kinds of core, or with one that its name does not show: cores of one chip."""

    vendor: str
    generation: str
    names: list[str]
    performance: int
    efficiency: int
    low_power: int
    threads: int
    source: str

    @property
    def cores(self) -> int:
        return self.performance + self.efficiency + self.low_power


class Generation(Fields):
    """A rule that tells the generation of a CPU."""

    name: str
    vendor: str
    match: str | None = None
    family: int | None = None
    models: list[int] | None = None
    steppings: list[int] | None = None
    cores: str | None = None
    """What all cores are: `performance`, `efficiency`, `mixed`; None is unknown."""
    smt_tells: bool = False
    """Exactly the performance cores have two threads."""
    instruction_sets: list[str] = []
    """What all its chips have, for telling what is hidden here."""
    source: str

    def fits(self, vendor: str | None, model: str, family: int | None, number: int | None, stepping: int | None) -> bool:
        return (
            self.vendor == vendor
            and (self.family is None or self.family == family)
            and (self.models is None or number in self.models)
            and (self.steppings is None or stepping in self.steppings)
            and (self.match is None or re.search(self.match, model, re.IGNORECASE) is not None)
        )


@cache
def _data() -> dict:
    return tomllib.loads((files("tutorial.hardware") / "data" / "cpus.toml").read_text(encoding="utf-8"))


@cache
def _chips() -> dict[tuple[str, ...], Chip]:
    rows = [Chip(**row) for row in _data()["chip"]]
    return {tuple(name.casefold().split()): chip for chip in rows for name in chip.names}


@cache
def _generations() -> list[Generation]:
    return [Generation(**row) for row in _data()["generation"]]


@cache
def _cores() -> dict[str, dict]:
    return {name.casefold(): row for row in _data()["core"] for name in row["names"]}


@lru_cache(maxsize=4096)
def find_chip(model: str | None) -> Chip | None:
    """The chip that a model's name names, or None: `Intel Core i7-12800HX`."""
    words = (model or "").casefold().replace("(r)", "").replace("(tm)", "").split()
    for length in range(min(6, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            chip = _chips().get(tuple(words[start : start + length]))
            if chip and (chip.vendor != "Apple" or length == len(words)):  # an Apple M2 Pro is no M2
                return chip
    return None


@lru_cache(maxsize=4096)
def find_generation(
    vendor: str | None, model: str | None, family: int | None, number: int | None, stepping: int | None
) -> Generation | None:
    """The first rule that fits."""
    return next((rule for rule in _generations() if rule.fits(vendor, model or "", family, number, stepping)), None)


def core_kind(name: str | None) -> str | None:
    """`big`, `middle`, `little`, or None: of the name of an ARM core, `Cortex-A520`, `Icestorm-M1-Pro`."""
    row = _core(name)
    return row and row["kind"]


def is_server_core(name: str | None) -> bool:
    row = _core(name)
    return bool(row and row["server"])


def _core(name: str | None) -> dict | None:
    name = (name or "").casefold()
    while name:
        if name in _cores():
            return _cores()[name]
        name = name.rpartition("-")[0]
    return None


def vendor_name(printed: str | None, model: str | None) -> str | None:
    """The vendor in its own spelling; None for a number that nobody has named."""
    known = _data()["vendors"].get((printed or "").strip().casefold())
    if known:
        return known
    for start, vendor in _data()["vendors_by_name"].items():
        if (model or "").casefold().startswith(start):
            return vendor
    printed = " ".join((printed or "").split())
    return None if not printed or printed in ("-", "unknown") or printed.startswith("0x") else printed[:60]
