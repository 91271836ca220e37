"""What the tables and plots show: machines, groups of cases with their verdicts, and the curve through the intervals."""

from dataclasses import dataclass

import numpy as np

from tutorial.measure.results import Measured, Record
from tutorial.measure.timing import Ratio, ratio, verdict
from tutorial.publish.words import Texts, duration, safe, significant, span


@dataclass
class Machine:
    """One measured machine as the pages show it."""

    name: str
    """Name of its results file, without suffix."""
    results: Measured
    local: int = 0
    """1, 2, ... for machines that the reader measured, in this checkout; 0 for the reference ones."""

    @property
    def key(self) -> str:
        """A name for the ids of a page. The reader's machine may be of the same kind as a reference one."""
        return f"local-{self.name}" if self.local else self.name

    def tab(self, text: Texts) -> str:
        """What its tab says."""
        if not self.local or self.results.profile == "probe":
            return self.title(text)
        return text("machine.local_tab", number=self.local if self.local > 1 else "").strip()

    def title(self, text: Texts) -> str:
        """CPU, cores, accelerators."""
        cpu, accelerators = self.results.hardware.cpu, self.results.hardware.accelerators
        title = text(
            "machine.title",
            cpu=safe(cpu.model or text("machine.unknown_cpu")),
            cores=cpu.physical_cores or "?",
            accelerator=", ".join(safe(a.name or a.device or "?") for a in accelerators) or text("machine.no_accelerator"),
        )
        if not self.local:
            return title
        return text("machine.probe" if self.results.profile == "probe" else "machine.local", title=title)

    def device_title(self, device: str, text: Texts) -> str:
        """What a row of a device says."""
        accelerators = self.results.hardware.accelerators
        for accelerator in accelerators:
            if accelerator.device == device:
                name = safe(accelerator.name or device or "?")
                return name if len(accelerators) == 1 else f"{name} ({safe(device)})"
        return text("device.cpu") if device == "cpu" else safe(device)

    def unmeasured(self, devices: set[str], text: Texts) -> list[str]:
        """Accelerators that are not among ``devices``; where the machine has none, the word for one."""
        accelerators = [a.device for a in self.results.hardware.accelerators]
        missing = [self.device_title(device, text) for device in accelerators if device not in devices]
        return missing if accelerators else [text("device.gpu")]

    def raw(self) -> str:
        """Where the site has its raw data."""
        return f"results/{'local/' if self.local else ''}{self.name}.json"

    @property
    def anchor(self) -> str:
        """Its place on the page of the machines."""
        return f"machine-{self.key}"

    def link(self, text: Texts) -> str:
        """Its title, which leads there."""
        return f"[{self.title(text)}](machines.md#{self.anchor})"


def median(record: Record) -> float:
    """The median of the samples."""
    return float(np.median(record.samples))


def middle_half(record: Record) -> str:
    """The range of the middle half of the samples."""
    low, high = np.percentile(record.samples, (25, 75))
    return span(duration(low), duration(high))


def paid_after(price: float, record: Record, base: Record) -> float:
    """The number of steps after which a ``price`` in seconds is saved; only for a record that is faster than the base."""
    return price / float(np.median(np.subtract(base.samples, record.samples)))


@dataclass
class Group:
    """The cases of one comparison, with what they are compared against."""

    records: list[Record]

    def find(self, role: str) -> Record | None:
        return next((r for r in self.records if r.role == role and r.samples), None)

    @property
    def base(self) -> Record | None:
        return self.find("base")

    def verdict(self, record: Record) -> str | None:
        """`faster`, `slower`, `same` or `cannot tell`; None for the base and where nothing can be compared."""
        twin = self.find("twin")
        if self.base is None or twin is None or not record.samples or record.role == "base":
            return None
        return verdict(ratio(record.samples, self.base.samples), ratio(twin.samples, self.base.samples))

    def verdict_words(self, record: Record, text: Texts) -> str:
        """`slower: 1.9 times as long`, in the words of the language; a dash where there is no verdict."""
        word = self.verdict(record)
        if word is None:
            return text("verdict.base")
        compared = ratio(record.samples, self.base.samples).median
        return text(f"verdict.{word.replace(' ', '_')}", ratio=significant(compared, 2 if abs(compared - 1) > 0.1 else 3))


@dataclass
class LoggingCurve:
    """Seconds a step as a + c/k, fitted to the short blocks of one device: c is what one reading of the loss costs."""

    a: Ratio
    c: Ratio

    def at(self, interval: int | None) -> float:
        """Seconds a step when the loss is read every ``interval`` steps; None: never."""
        return self.a.median + (self.c.median / interval if interval else 0.0)


def logging_curve(group: Group) -> LoggingCurve | None:
    """Fit a + c/k by least squares to the ratios of the rotations, with a bootstrap over the rotations.

    Ratios to the base (k = 1) are fitted, since the machine's drift cancels in them; the base's median gives the unit.
    """
    base = group.base
    fitted = [r for r in group.records if r.role == "case" and r.samples and ("interval" in r.parameters or r.case == "never")]
    if base is None or len(fitted) < 2:
        return None
    shares = np.array([1.0] + [reads_per_step(r) for r in fitted])
    ratios = np.array([np.ones(len(base.samples))] + [np.asarray(r.samples) / np.asarray(base.samples) for r in fitted])
    design = np.stack([np.ones_like(shares), shares], axis=1)
    draws = np.random.default_rng(0).integers(ratios.shape[1], size=(500, ratios.shape[1]))
    medians = np.stack([np.median(ratios, axis=1), *(np.median(ratios[:, draw], axis=1) for draw in draws)])
    fits = np.linalg.lstsq(design, medians.T, rcond=None)[0] * median(base)
    (a, c), others = fits[:, 0], fits[:, 1:]
    a_range, c_range = np.percentile(others, (2.5, 97.5), axis=1).T
    return LoggingCurve(Ratio(a, *a_range), Ratio(c, *c_range))


def reads_per_step(record: Record) -> float:
    """How often a step waits for a value: on an accelerator each block ends with a wait, so "never" is once a block."""
    if "interval" in record.parameters:
        return 1 / record.parameters["interval"]
    return 0.0 if record.device == "cpu" else 1 / record.parameters["block"]


def logging_groups(machine: Machine, kind: str) -> dict[str, Group]:
    """The groups of one kind (`short blocks`, `whole loops`) by device."""
    groups: dict[str, Group] = {}
    for record in machine.results.select("logging"):
        if record.group.startswith(kind):
            groups.setdefault(record.device, Group([])).records.append(record)
    return {device: group for device, group in groups.items() if group.base is not None}


ADDS_UP = 0.2  # parts, or a model, explain a whole when they come within 20 % of it
FLAT = 0.1  # a time is flat while it is within 10 % of the floor


@dataclass
class Sweep:
    """One width of the experiment `size`: all batches on all devices, timed in the same rotations."""

    width: int
    group: Group

    def devices(self) -> list[str]:
        return list(dict.fromkeys(record.device for record in self.group.records if "batch" in record.parameters))

    def batches(self) -> list[int]:
        return sorted({record.parameters["batch"] for record in self.group.records if "batch" in record.parameters})

    def best(self, device: str) -> dict[int, Record]:
        """The fastest record of each batch on a device: on the CPU, that of the better number of threads."""
        found: dict[int, Record] = {}
        for record in self.group.records:
            if record.role in ("base", "case") and record.device == device and record.samples:
                batch = record.parameters["batch"]
                found[batch] = min(found.get(batch, record), record, key=self.pace)
        return dict(sorted(found.items()))

    def pace(self, record: Record) -> float:
        """Time in units of the base's, rotation by rotation, so that the machine's drift is out of it."""
        return median(record) if self.group.base is None else ratio(record.samples, self.group.base.samples).median

    def flat(self, device: str) -> tuple[int, int] | None:
        """The first and the last batch of those around the fastest that take at most 10 % longer than it."""
        paces = {batch: self.pace(record) for batch, record in self.best(device).items()}
        if not paces:
            return None
        batches, floor = list(paces), min(paces.values())
        first = last = min(range(len(batches)), key=lambda place: paces[batches[place]])
        while first > 0 and paces[batches[first - 1]] <= floor * (1 + FLAT):
            first -= 1
        while last + 1 < len(batches) and paces[batches[last + 1]] <= floor * (1 + FLAT):
            last += 1
        return batches[first], batches[last]

    def against_cpu(self, device: str) -> dict[int, tuple[Ratio, str]]:
        """By batch: the ratio to the CPU's better time and its verdict, where both were measured."""
        twin, cpu = self.group.find("twin"), self.best("cpu")
        if twin is None or self.group.base is None:
            return {}
        resolved = ratio(twin.samples, self.group.base.samples)
        compared = {batch: ratio(record.samples, cpu[batch].samples) for batch, record in self.best(device).items() if batch in cpu}
        return {batch: (one, verdict(one, resolved)) for batch, one in compared.items()}

    def crossover(self, device: str) -> int | None:
        """The smallest batch from which on the device is faster than the CPU's better time; None where there is none."""
        found = None
        for batch, (_, word) in reversed(self.against_cpu(device).items()):
            if word != "faster":
                break
            found = batch
        return found


def sweeps(machine: Machine) -> list[Sweep]:
    """The widths that were measured, from narrow to wide."""
    widths = {record.parameters["width"]: record.group for record in machine.results.select("size") if "width" in record.parameters}
    return [Sweep(width, Group(machine.results.select("size", group))) for width, group in sorted(widths.items())]


def share_of_peak(record: Record, machine: Machine) -> float | None:
    """What a step reaches of the FLOP/s of a large matrix product on the same device with as many threads."""
    for product in machine.results.select("size", f"peak on {record.device}"):
        if product.role in ("base", "case") and product.samples and product.threads == record.threads:
            return flops(record) / flops(product)
    return None


def flops(record: Record) -> float:
    """Floating-point operations in a second."""
    return record.parameters["flop"] / median(record)
