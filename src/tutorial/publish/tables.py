"""The tables of the pages, as Markdown. Every figure is computed here from the raw samples of the results."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tutorial.measure.experiments.logging import LESSON_INTERVALS
from tutorial.measure.results import Measured, Record, Reported, ResultsError
from tutorial.measure.timing import Ratio, ratio, verdict
from tutorial.publish.words import Texts, byte_count, duration, percent, safe, significant
from tutorial.training.loops import LESSON_STEPS


@dataclass
class Machine:
    """One measured machine as the pages show it."""

    name: str
    """Name of its results file, without suffix."""
    results: Measured
    local: bool = False
    """Whether the reader measured it, in this checkout."""

    def title(self, text: Texts) -> str:
        """What its tab says: CPU, cores, accelerators."""
        cpu, accelerators = self.results.hardware.cpu, self.results.hardware.accelerators
        title = text(
            "machine.title",
            cpu=safe(cpu.model or text("machine.unknown_cpu")),
            cores=cpu.physical_cores or "?",
            accelerator=", ".join(safe(a.name or a.device.split(":")[0]) for a in accelerators) or text("machine.no_accelerator"),
        )
        return text("machine.local", title=title) if self.local else title

    def device_title(self, device: str, text: Texts) -> str:
        """What a row of a device says."""
        accelerators = self.results.hardware.accelerators
        for accelerator in accelerators:
            if accelerator.device == device:
                name = safe(accelerator.name or device)
                return name if len(accelerators) == 1 else f"{name} ({safe(device)})"
        return text("device.cpu") if device == "cpu" else safe(device)

    def raw(self) -> str:
        """Where the site has its raw data."""
        return f"results/{'local/' if self.local else ''}{self.name}.json"


def median(record: Record) -> float:
    """The median of the samples."""
    return float(np.median(record.samples))


def middle_half(record: Record) -> str:
    """The range of the middle half of the samples."""
    low, high = np.percentile(record.samples, (25, 75))
    return f"{duration(low)} – {duration(high)}"


def markdown_table(header: list[str], rows: list[list[str]], right: int = 1) -> str:
    """A Markdown table; the columns from the ``right``-th on are numbers."""
    rule = [":--" if column < right else "--:" for column in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *rows])


def indented(block: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in block.split("\n"))


def tabs(machines: list[Machine], text: Texts, content: Callable[[Machine], str | None]) -> str:
    """One tab a machine, linked across the site by its title; machines without the experiment are left out."""
    parts = []
    for machine in machines:
        try:
            block = content(machine)
        except (KeyError, IndexError, StopIteration, TypeError, ValueError) as error:
            raise ResultsError(f"{machine.raw()}: records: are not what this package measures: {error!r}") from error
        if block is not None:
            parts.append(f'=== "{machine.title(text)}"\n\n' + indented(block + "\n\n" + provenance(machine, text)))
    return "\n\n".join(parts) if parts else text("not_measured_anywhere")


def provenance(machine: Machine, text: Texts) -> str:
    """Machine, versions, date, profile and raw data: the line under every table and plot."""
    results = machine.results
    line = text(
        "provenance",
        machine=machine.title(text),
        environment=text(f"environment.{results.hardware.cpu.environment.replace(' ', '-')}"),
        torch=safe(results.software["torch"]),
        python=safe(results.software["python"]),
        date=results.when.date().isoformat(),
        profile=results.profile,
        raw=machine.raw(),
    )
    return line + "\n{ .measured }"


def fold(title: str, content: str) -> str:
    return f'??? note "{title}"\n\n' + indented(content)


@dataclass
class Group:
    """The cases of one comparison, with what they are compared against."""

    records: list[Record]

    def find(self, role: str) -> Record | None:
        return next((r for r in self.records if r.role == role and r.samples), None)

    @property
    def base(self) -> Record | None:
        return self.find("base")

    def verdict_words(self, record: Record, text: Texts) -> str:
        """`slower: 1.9 times as long`, in the words of the language; a dash for the base and where nothing can be compared."""
        twin = self.find("twin")
        if self.base is None or twin is None or not record.samples or record.role == "base":
            return text("verdict.base")
        compared = ratio(record.samples, self.base.samples)
        word = verdict(compared, ratio(twin.samples, self.base.samples))
        return text(f"verdict.{word.replace(' ', '_')}", ratio=significant(compared.median, 2 if abs(compared.median - 1) > 0.1 else 3))


def details(group: Group, text: Texts, name: Callable[[Record], str]) -> str:
    """The fold under a comparison: A/A row, intervals, repeats, threads and block lengths of one group."""
    rows = []
    for record in group.records:
        if record.role == "part" or not record.samples:
            continue
        case = "" if record.role == "witness" else name(record)
        row = [text(f"role.{record.role}", case=case), duration(median(record))]
        if group.base is None or record.role in ("base", "witness"):
            row += ["", ""]
        else:
            compared = ratio(record.samples, group.base.samples)
            row += [significant(compared.median), f"{significant(compared.low)} – {significant(compared.high)}"]
        rows.append([*row, str(len(record.samples)), str(record.parameters.get("block", "")), str(record.threads)])
    header = [text(f"details.{column}") for column in ("case", "median", "ratio", "interval", "repeats", "block", "threads")]
    return fold(text("details.title"), text("details.method") + "\n\n" + markdown_table(header, rows))


def failed(record: Record, text: Texts) -> str:
    return text("failed", reason=safe(record.failure or ""))


def device_rows(machine: Machine, group: Group, text: Texts, more: Callable[[Record], list[str]]) -> list[list[str]]:
    """One row a device, with the columns that ``more`` adds after the name; a row that says so where there is no GPU."""
    rows = []
    for record in group.records:
        if record.role not in ("base", "case"):
            continue
        name = machine.device_title(record.device, text)
        if record.failure:
            rows.append([name, *[""] * len(more(record)), failed(record, text), "", ""])
        else:
            rows.append([name, *more(record), duration(median(record)), middle_half(record), group.verdict_words(record, text)])
    if not machine.results.hardware.accelerators:
        rows.append([text("device.gpu"), text("not_measured_here"), *[""] * (len(rows[0]) - 2)])
    return rows


def training(machines: list[Machine], text: Texts) -> str:
    """The lesson on each device: whole run, final loss, accuracy, one step."""

    def content(machine: Machine) -> str | None:
        records = machine.results.select("training")
        if not records:
            return None
        group = Group([r for r in records if r.group == "step"])

        def whole(record: Record) -> list[str]:
            same = {r.case: r for r in records if r.group == "whole" and r.device == record.device}
            return [
                duration(median(same["whole run"])) if same["whole run"].samples else failed(same["whole run"], text),
                f"{same['loss curve'].samples[-1]:.4f}",
                percent(same["test accuracy"].samples[0]),
            ]

        header = [text(f"training.{column}") for column in ("device", "whole", "loss", "accuracy", "step", "middle_half", "verdict")]
        table = markdown_table(header, device_rows(machine, group, text, whole))
        return table + "\n\n" + details(group, text, lambda r: machine.device_title(r.device, text))

    return tabs(machines, text, content)


def wide(machines: list[Machine], text: Texts) -> str:
    """The wide network on mini-batches, on each device."""

    def content(machine: Machine) -> str | None:
        group = Group(machine.results.select("wide"))
        if not group.records:
            return None
        header = [text(f"wide.{column}") for column in ("device", "step", "middle_half", "verdict")]
        table = markdown_table(header, device_rows(machine, group, text, lambda record: []))
        return table + "\n\n" + details(group, text, lambda r: machine.device_title(r.device, text))

    return tabs(machines, text, content)


def step(machines: list[Machine], text: Texts) -> str:
    """The phases of one step, their sum against the whole, and the arithmetic alone."""

    def content(machine: Machine) -> str | None:
        group = Group(machine.results.select("step"))
        if group.base is None:
            return None
        parts = [r for r in group.records if r.role == "part"]

        def row(name: str, samples: list[float]) -> list[str]:
            share = float(np.median(np.asarray(samples) / np.asarray(group.base.samples)))
            return [name, duration(float(np.median(samples))), percent(share)]

        rows = [row(text.name("step.phases", r.case), r.samples) for r in parts]
        rows.append(row(text("step.sum"), list(np.sum([r.samples for r in parts], axis=0))))
        rows.append(row(text("step.whole"), group.base.samples))
        products = next(r for r in group.records if r.case == "matrix products")
        if products.samples:
            rows.append(row(text("step.products"), products.samples))
        header = [text(f"step.{column}") for column in ("phase", "time", "share")]
        return markdown_table(header, rows) + "\n\n" + details(group, text, lambda r: text.name("step.cases", r.case))

    return tabs(machines, text, content)


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


def logging_groups(machine: Machine) -> dict[str, Group]:
    """The short blocks of each device that has them."""
    groups: dict[str, Group] = {}
    for record in machine.results.select("logging"):
        if record.group.startswith("short blocks"):
            groups.setdefault(record.device, Group([])).records.append(record)
    return {device: group for device, group in groups.items() if group.base is not None}


def logging(machines: list[Machine], text: Texts) -> str:
    """How often the loss is read, against the time of a step; and what the fitted curve says of the lesson's intervals."""

    def content(machine: Machine) -> str | None:
        blocks = []
        for device, group in logging_groups(machine).items():
            measured = {r.parameters.get("interval"): r for r in group.records if r.role in ("base", "case") and (r.case == "never" or "interval" in r.parameters)}
            kept = next((r for r in group.records if r.case == "kept on the device"), None)
            curve = logging_curve(group)
            rows = []
            for interval in sorted({*(k for k in measured if k), *LESSON_INTERVALS}) + [None]:
                name = text("logging.every", interval=interval) if interval else text("logging.never")
                record = measured.get(interval)
                if record is not None and record.samples:
                    whole = duration(median(record) * LESSON_STEPS)
                    rows.append([name, duration(median(record)), middle_half(record), whole, group.verdict_words(record, text)])
                elif curve is not None:
                    rows.append([name, duration(curve.at(interval)), text("logging.from_curve"), duration(curve.at(interval) * LESSON_STEPS), ""])
            if kept is not None and kept.samples:
                rows.append([text("logging.kept"), duration(median(kept)), middle_half(kept), duration(median(kept) * LESSON_STEPS), group.verdict_words(kept, text)])
            header = [text(f"logging.{column}") for column in ("interval", "step", "middle_half", "whole", "verdict")]
            block = f"**{machine.device_title(device, text)}**\n\n" + markdown_table(header, rows)
            if curve is not None:
                block += "\n\n" + text(
                    "logging.fit", a=duration(curve.a.median), c=signed_duration(curve.c.median), low=signed_duration(curve.c.low), high=signed_duration(curve.c.high)
                )
            blocks.append(block + "\n\n" + details(group, text, lambda r: logging_name(r, text)))
        whole = [r for r in machine.results.select("logging") if r.group.startswith("whole loops")]
        for device in dict.fromkeys(r.device for r in whole):
            group = Group([r for r in whole if r.device == device])
            blocks.append(details(group, text, lambda r: logging_name(r, text)))
        if blocks and not machine.results.hardware.accelerators:
            blocks.append(f"**{text('device.gpu')}**: {text('not_measured_here')}")
        return "\n\n".join(blocks) or None

    return tabs(machines, text, content)


def logging_name(record: Record, text: Texts) -> str:
    if "interval" in record.parameters:
        return text("logging.every", interval=record.parameters["interval"])
    return text("logging.never") if record.case == "never" else text("logging.kept")


def signed_duration(seconds: float) -> str:
    return f"−{duration(-seconds)}" if seconds < 0 else duration(seconds)


def call(machines: list[Machine], text: Texts) -> str:
    """Calling a module against calling its forward, with and without a hook; and in the lesson's step."""

    def content(machine: Machine) -> str | None:
        if not machine.results.select("call"):
            return None
        blocks = []
        for key, name in (("empty_module", "empty module"), ("lessons_step", "lesson's step")):
            group = Group(machine.results.select("call", name))
            rows = []
            for r in group.records:
                if r.role in ("base", "case") and r.samples:
                    more = "" if r.role == "base" else signed_duration(float(np.median(np.subtract(r.samples, group.base.samples))))
                    rows.append([text.name("call.cases", r.case), duration(median(r)), middle_half(r), more, group.verdict_words(r, text)])
            header = [text(f"call.{key}"), *(text(f"call.{column}") for column in ("time", "middle_half", "difference", "verdict"))]
            blocks.append(markdown_table(header, rows))
            blocks.append(details(group, text, lambda r: text.name("call.cases", r.case)))
        return "\n\n".join(blocks)

    return tabs(machines, text, content)


def transfer(machines: list[Machine], text: Texts) -> str:
    """The lesson's tensors, and the ladder of sizes: time and bandwidth of each way that the machine has."""

    def content(machine: Machine) -> str | None:
        records = [r for r in machine.results.select("transfer") if r.role in ("base", "case", "single")]
        if not records:
            return None
        blocks = []
        if not machine.results.hardware.accelerators:
            blocks.append(f"**{text('device.gpu')}**: {text('not_measured_here')} {text('transfer.instead')}")
        for device in dict.fromkeys(r.device for r in records):
            iris = [r for r in records if r.device == device and r.case == "all iris tensors" and r.samples]
            for r in iris:
                blocks.append(
                    text("transfer.iris", bytes=f"{r.parameters['bytes']:,}".replace(",", " "), copies=r.parameters["copies"], time=duration(median(r)), device=machine.device_title(device, text))
                )
            ladder = [r for r in records if r.device == device and r.case != "all iris tensors"]
            ways = list(dict.fromkeys(r.case for r in ladder if r.role != "single"))
            rows = []
            for size in sorted({r.parameters["bytes"] for r in ladder}):
                row = [byte_count(size)]
                for way in ways:
                    record = next((r for r in ladder if r.parameters["bytes"] == size and r.case == way), None)
                    if record is None or record.failure:
                        row.append(failed(record or ladder[-1], text))
                    else:
                        row.append(f"{duration(median(record))}<br>{significant(size / median(record) / 1e9, 2)} GB/s")
                rows.append(row)
            header = [text("transfer.size"), *(text.name("transfer.ways", way) for way in ways)]
            blocks.append(markdown_table(header, rows))
        return "\n\n".join(blocks)

    return tabs(machines, text, content)


def reported(reports: dict[str, Reported], text: Texts) -> str:
    """What the lessons published, with what is known to be wrong with each method."""
    rows = []
    for report in reports.values():
        times = "<br>".join(
            text(f"reported.cases.{r.case.replace(' ', '_')}", time=f"{r.samples[0]:g} s", device=text(f"device.{r.device}"), **r.parameters) for r in report.records
        )
        caveats = "<br>".join(text(f"caveat.{caveat}") for caveat in report.caveats)
        source = f"[{safe(report.source_name)}]({report.source_url})" if report.source_url else safe(report.source_name)
        rows.append([safe(report.machine), times, source, caveats])
    return markdown_table([text(f"reported.{column}") for column in ("machine", "times", "source", "caveats")], rows, right=4)


def machines_list(machines: list[Machine], text: Texts) -> str:
    """Every machine that has results, with what it ran and where its raw data are."""
    rows = [
        [
            m.title(text),
            safe(m.results.software["torch"]),
            m.results.when.date().isoformat(),
            m.results.profile,
            f"[{text('machines.raw_link')}]({m.raw()})",
        ]
        for m in machines
    ]
    return markdown_table([text(f"machines.{column}") for column in ("machine", "torch", "date", "profile", "raw")], rows, right=5)


def toolchain(machines: list[Machine], text: Texts) -> str:
    """The versions that the newest reference results ran with."""
    newest = max((m for m in machines if not m.local), key=lambda m: m.results.when, default=None)
    if newest is None:
        return text("not_measured_anywhere")
    rows = [[safe(name), safe(version)] for name, version in newest.results.software.items()]
    heading = text("toolchain.when", date=newest.results.when.date().isoformat(), machine=newest.title(text))
    return heading + "\n\n" + markdown_table([text("toolchain.package"), text("toolchain.version")], rows, right=2)
