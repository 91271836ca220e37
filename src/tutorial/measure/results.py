"""Results files: one JSON a machine, either measured by this package or reported by a named source."""

import json
import math
import os
import re
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from tutorial.hardware.schema import Hardware

SCHEMA_VERSION = 1


class ResultsError(Exception):
    """A results file cannot be read or written; the message names the file and the field."""


# What a page says of a record's parameters are numbers, and no text that could be more than a number.
Number = Annotated[int | float, Field(ge=0, le=1e15)]


class Record(BaseModel):
    """The raw times of one case of one experiment.

    Cases of the same experiment and group were timed in the same rotations: sample ``i`` of each belongs to rotation
    ``i``, so their ratio is free of the machine's drift.
    """

    model_config = ConfigDict(extra="forbid")

    experiment: str
    group: str
    """Cases of one group are compared with each other."""
    case: str
    role: Literal["base", "twin", "case", "part", "witness", "single"]
    """`base`: what the others are compared with; `twin`: the base once more, which shows what the machine can resolve;
    `part`: a phase of another case; `witness`: a block of plain Python; `single`: timed alone, in no rotation."""
    device: str
    threads: int
    parameters: dict[str, Number] = {}
    unit: Literal["s", "loss", "share", "count"] = "s"
    """`s`: seconds for one repetition (a step, a call, a copy); `count`: how often something happens in one."""
    samples: Annotated[list[float], Field(max_length=10_000)] = []
    conditions: dict[Literal["clock_mhz", "power_w", "temperature_c"], Annotated[list[Number], Field(max_length=10_000)]] = {}
    """What the accelerator said of itself after each block; empty where it cannot be read."""
    failure: str | None = None
    """Why there is no sample."""

    @model_validator(mode="after")
    def _samples_or_failure(self):
        if bool(self.samples) == (self.failure is not None):
            raise ValueError("has either samples or a failure")
        if not all(math.isfinite(sample) for sample in self.samples):
            raise ValueError("samples must be finite numbers")
        if self.unit == "s" and not all(sample > 0 for sample in self.samples):
            raise ValueError("seconds must be above zero")
        if any(len(readings) != len(self.samples) for readings in self.conditions.values()):
            raise ValueError("conditions have one reading for each sample")
        return self


class Measured(BaseModel):
    """What this package measured on one machine."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1] = SCHEMA_VERSION
    kind: Literal["measured"] = "measured"
    hardware: Hardware
    software: dict[str, str]
    when: AwareDatetime
    profile: Literal["quick", "full", "probe"]
    """`probe`: by snippets/why_is_my_gpu_slower.py, which measures less than either."""
    commit: str | None
    """The commit of the package that measured; None where it ran outside its repository."""
    pending: list[str] = []
    """Experiments that are not done: not asked for yet, interrupted, failed, or being measured anew."""
    records: list[Record] = []

    @model_validator(mode="after")
    def _names_what_ran(self):
        if not {"python", "torch"} <= self.software.keys():
            raise ValueError("software must name python and torch")
        return self

    @model_validator(mode="after")
    def _one_sample_a_rotation(self):
        rotations: dict[tuple[str, str], int] = {}
        for number, record in enumerate(self.records):
            if record.samples and record.role != "single":
                count = rotations.setdefault((record.experiment, record.group), len(record.samples))
                if len(record.samples) != count:
                    raise ValueError(f"records.{number}.samples: {len(record.samples)}, where others of the group have {count}")
        return self

    def select(self, experiment: str, group: str | None = None) -> list[Record]:
        """The records of an experiment, or of one group of it."""
        return [r for r in self.records if r.experiment == experiment and group in (None, r.group)]


class Reported(BaseModel):
    """What a named public source published."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1] = SCHEMA_VERSION
    kind: Literal["reported"]
    machine: str
    source_name: str
    source_url: Annotated[str, Field(pattern=r"^https?://[^\s()<>\"|`\\]+$")] | None
    """None where the figures are passed on without an address."""
    caveats: list[str]
    """What is known to be wrong with the method: keys of the `[caveat]` texts."""
    records: list[Record]


Results = Measured | Reported
_schema = TypeAdapter(Annotated[Results, Field(discriminator="kind")])


def load(path: Path) -> Results:
    """Read and check a results file.

    Raises ResultsError, naming the file and the first field that is wrong.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, a number of thousands of digits, too deep
        raise ResultsError(f"{path}: is not JSON: {error}") from error
    version = content.get("schema_version") if isinstance(content, dict) else None
    if version != SCHEMA_VERSION:
        raise ResultsError(f"{path}: schema_version: is {version!r}; this package reads version {SCHEMA_VERSION}")
    try:
        return _schema.validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"] if part not in ("measured", "reported", "int", "float"))
        raise ResultsError(f"{path}: {field or 'file'}: {first['msg']}") from error


def load_all(folder: Path) -> dict[str, Results]:
    """Every results file of a folder, by name without suffix, in the order of the names.

    Raises ResultsError for a file that `load` refuses, and for a name that could not stand in a link and in an id.
    """
    paths = sorted(folder.glob("*.json"))
    for path in paths:
        if not re.fullmatch(r"\w[\w.-]*", path.stem):
            raise ResultsError(f"{path}: its name: a results file is named with letters, digits, `-`, `_` and `.` alone; rename it")
    return {path.stem: load(path) for path in paths}


def save(results: Results, path: Path) -> None:
    """Write a results file whole or not at all.

    Raises ResultsError where the folder cannot be written or the disk is full; an older file then stays as it was.
    """
    content = results.model_dump(mode="json")
    for record in content["records"]:
        record["samples"] = [float(f"{sample:.5g}") for sample in record["samples"]]
    text = json.dumps(content, indent=1, ensure_ascii=False)
    # A list of samples on one line: the file stays short, and a change of one case is one line of a diff.
    text = re.sub(r"\[\s+((?:-?[\d.e+-]+,?\s+)+)\]", lambda found: "[" + " ".join(found[1].split()) + "]", text)
    write(path, text + "\n")


def write(path: Path, text: str) -> None:
    """Write a text file whole or not at all. Raises ResultsError with the reason."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n", dir=path.parent, prefix=".", delete=False) as file:
            temporary = Path(file.name)
            file.write(text)
        temporary.chmod(0o644)  # a temporary file is private; these are for everybody
        os.replace(temporary, path)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        if temporary is not None:  # still there when something went wrong, an interruption too
            temporary.unlink(missing_ok=True)


def machine_slug(hardware: Hardware) -> str:
    """A file name for a machine, made of the names of its CPU and accelerators."""
    names = [hardware.cpu.model or "unknown cpu", f"{hardware.cpu.physical_cores or '?'} cores"]
    names += [accelerator.name or accelerator.device or "accelerator" for accelerator in hardware.accelerators]
    words = re.findall(r"[a-z0-9.]+", " ".join(names).lower())
    dull = {"cpu", "processor", "nvidia", "geforce", "amd", "with", "graphics", "gen"}
    return "-".join(word.replace(".", "-") for word in words if word not in dull)


def same_machine(one: Measured, other: Measured) -> bool:
    """Whether two files can be one: the same chips, software and profile. (Free memory and the like differ every time.)"""

    def key(results: Measured):
        cpu = results.hardware.cpu
        cards = [(card.device, card.name, card.memory_mib) for card in results.hardware.accelerators]
        return (cpu.model, cpu.logical, cpu.physical_cores, cards), results.software, results.profile

    return key(one) == key(other)


def now() -> datetime:
    """This moment in UTC, to the second; the time zone would say where the machine stands."""
    return datetime.now(timezone.utc).replace(microsecond=0)
