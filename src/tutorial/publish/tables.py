"""The tables of the pages, as Markdown. Every figure is computed here from the raw samples of the results."""

import contextlib
from collections.abc import Callable

import numpy as np

from tutorial.measure.experiments.logging import LESSON_INTERVALS
from tutorial.measure.experiments.size import LESSON_WIDTH
from tutorial.measure.results import Record, Reported, ResultsError
from tutorial.measure.timing import ratio
from tutorial.publish.comparison import ADDS_UP, Group, Machine, Sweep, flops, logging_curve, logging_groups, median, middle_half, share_of_peak, sweeps
from tutorial.publish.words import Texts, byte_count, byte_rate, duration, percent, safe, significant, span, whole
from tutorial.training.loops import LESSON_STEPS


LESSON_ROWS = 120  # in the lesson's batch
LEFT_OUT = "left out: "  # how the reason of a case begins that an experiment did not try
RESTLESS = 0.05  # a base that differs from itself by more than this makes every other difference doubtful


def markdown_table(header: list[str], rows: list[list[str]], right: int = 1) -> str:
    """A Markdown table; the columns from the ``right``-th on are numbers."""
    rule = [":--" if column < right else "--:" for column in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *rows])


def indented(block: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in block.split("\n"))


@contextlib.contextmanager
def blaming(path: str):
    """Turn what goes wrong with records that this package did not write into an error that names their file."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
        raise ResultsError(f"{path}: records: are not what this package measures: {error!r}") from error


def tabs(machines: list[Machine], text: Texts, content: Callable[[Machine], str | None]) -> str:
    """One tab a machine, linked across the site by its title; machines without the experiment are left out."""
    parts = []
    for machine in machines:
        with blaming(machine.raw()):
            block = content(machine)
        if block is not None:
            mark = "===" if parts else "===!"  # the "!" begins a new set, or two sets in a row would become one
            parts.append(f'{mark} "{machine.tab(text)}"\n\n' + indented(block + "\n\n" + provenance(machine, text)))
    return "\n\n".join(parts) if parts else text("not_measured_anywhere")


def provenance(machine: Machine, text: Texts) -> str:
    """Machine, versions, date, profile and raw data: the line under every table and plot."""
    results = machine.results
    line = text(
        "provenance",
        machine=machine.title(text),
        environment=text.name("environment", results.hardware.cpu.environment),
        torch=safe(results.software["torch"]),
        python=safe(results.software["python"]),
        date=results.when.date().isoformat(),
        profile=results.profile,
        raw=machine.raw(),
    )
    return line + "\n{ .measured }"


def fold(title: str, content: str) -> str:
    return f'??? note "{title}"\n\n' + indented(content)


def details(group: Group, text: Texts, name: Callable[[Record], str]) -> str:
    """The fold under a comparison: A/A row, intervals, repeats, threads and block lengths of one group."""
    method = fold(text("details.title"), text("details.method") + "\n\n" + details_table(group, text, name))
    share = reach(group)
    return method if share <= RESTLESS else text("details.restless", share=percent(share)) + "\n\n" + method


def reach(group: Group) -> float:
    """How far the interval of the base against itself reaches from 1; 0 where there is none."""
    twin = group.find("twin")
    return ratio(twin.samples, group.base.samples).reach if twin and group.base else 0.0


def details_table(group: Group, text: Texts, name: Callable[[Record], str]) -> str:
    rows = []
    for record in group.records:
        if record.role == "part" or not record.samples:
            continue
        case = text.name("details.witnesses", record.case) if record.role == "witness" else name(record)
        row = [text(f"role.{record.role}", case=case) if record.role != "case" else case, duration(median(record))]
        if group.base is None or record.role in ("base", "witness"):
            row += ["", ""]
        else:
            compared = ratio(record.samples, group.base.samples)
            row += [significant(compared.median), span(significant(compared.low), significant(compared.high))]
        rows.append([*row, str(len(record.samples)), str(record.parameters.get("block", "")), str(record.threads)])
    header = [text(f"details.{column}") for column in ("case", "median", "ratio", "interval", "repeats", "block", "threads")]
    return "\n\n".join([markdown_table(header, rows), *readings(group, text)])


def readings(group: Group, text: Texts) -> list[str]:
    """A sentence for each accelerator that told its clock, power or temperature between the blocks."""
    sentences = []
    for device in dict.fromkeys(record.device for record in group.records if record.conditions):
        told: dict[str, list[float]] = {}
        for record in group.records:
            for name, values in record.conditions.items() if record.device == device else ():
                told.setdefault(name, []).extend(values)
        ranges = [text(f"details.readings.{name}", low=significant(min(values)), high=significant(max(values))) for name, values in told.items()]
        sentences.append(text("details.conditions", device=safe(device), readings=", ".join(ranges)))
    return sentences


def failed(record: Record, text: Texts) -> str:
    """Why a case has no times."""
    return why(record.failure or "", text)


def why(reason: str, text: Texts) -> str:
    """A reason in words; what an experiment left out on purpose has not failed."""
    left_out = reason.startswith(LEFT_OUT)
    return text("left_out" if left_out else "failed", reason=safe(reason.removeprefix(LEFT_OUT)))


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
    for name in machine.unmeasured({record.device for record in group.records}, text):
        rows.append([name, text("not_measured_here"), *[""] * (len(rows[0]) - 2)])
    return rows


def training(machines: list[Machine], text: Texts) -> str:
    """The lesson on each device: whole run, final loss, accuracy, one step."""

    def content(machine: Machine) -> str | None:
        records = machine.results.select("training")
        if not records:
            return None
        group = Group([r for r in records if r.group == "step"])

        def whole(record: Record) -> list[str]:
            shown = {"whole run": lambda r: duration(median(r)), "loss curve": lambda r: f"{r.samples[-1]:.4g}", "test accuracy": lambda r: percent(r.samples[0])}
            same = {r.case: r for r in records if r.group == "whole" and r.device == record.device}
            if not same:  # the probe makes no whole run
                return [text("not_measured_here"), "", ""]
            return [failed(same[case], text) if same[case].failure else show(same[case]) for case, show in shown.items()]

        header = [text(f"training.{column}") for column in ("device", "whole", "loss", "accuracy", "step", "middle_half", "verdict")]
        blocks = [markdown_table(header, device_rows(machine, group, text, whole))]
        blocks += [text("training.during", readings=said) for said in readings(Group([r for r in records if r.group == "whole"]), text)]
        return "\n\n".join([*blocks, details(group, text, lambda r: machine.device_title(r.device, text))])

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
        group = Group(machine.results.select("step", "cpu"))
        if group.base is None:
            return None
        parts = [r for r in group.records if r.role == "part"]
        whole = group.base.samples
        sums = list(np.sum([r.samples for r in parts], axis=0))
        share = ratio(sums, whole).median
        rows = [[text.name("step.phases", r.case), duration(median(r)), middle_half(r), percent(ratio(r.samples, whole).median)] for r in parts]
        rows.append([text("step.sum"), duration(float(np.median(sums))), "", percent(share)])
        rows.append([text("step.whole"), duration(median(group.base)), middle_half(group.base), percent(1)])
        products = next(r for r in group.records if r.case == "matrix products")
        if products.samples:
            rows.append([text("step.products"), duration(median(products)), middle_half(products), percent(ratio(products.samples, whole).median)])
        said = text("step.adds_up" if abs(share - 1) <= ADDS_UP else "step.does_not_add_up", share=percent(share))
        header = [text(f"step.{column}") for column in ("phase", "time", "middle_half", "share")]
        return markdown_table(header, rows) + f"\n\n{said}\n\n" + details(group, text, lambda r: text.name("step.cases", r.case))

    return tabs(machines, text, content)


def logging(machines: list[Machine], text: Texts) -> str:
    """How often the loss is read, against the time of a step; and what the fitted curve says where nothing was measured."""

    def content(machine: Machine) -> str | None:
        blocks = []
        for device, group in logging_groups(machine, "short blocks").items():
            whole = logging_groups(machine, "whole loops").get(device)
            curve = logging_curve(group)
            rows = [logging_row(record, group, text) for record in group.records if record.role in ("base", "case")]
            if whole is None and curve is not None:
                for interval in LESSON_INTERVALS:
                    if interval not in {record.parameters.get("interval") for record in group.records}:
                        name, seconds = text("logging.every", interval=interval), curve.at(interval)
                        rows.append([name, duration(seconds), text("logging.from_curve"), duration(seconds * LESSON_STEPS), ""])
            header = [text(f"logging.{column}") for column in ("interval", "step", "middle_half", "whole", "verdict")]
            blocks.append(f"**{machine.device_title(device, text)}**\n\n" + markdown_table(header, rows))
            if curve is not None:
                figures = dict(a=duration(curve.a.median), c=signed_duration(curve.c.median), low=signed_duration(curve.c.low), high=signed_duration(curve.c.high))
                blocks.append(text("logging.fit", **figures))
            blocks.append(details(group, text, lambda r: logging_name(r, text)))
            if whole is not None:
                rows = [logging_row(record, whole, text) for record in whole.records if record.role in ("base", "case")]
                blocks.append(text("logging.whole_loops"))
                blocks.append(markdown_table(header, rows))
                blocks.append(details(whole, text, lambda r: logging_name(r, text)))
        if blocks:
            measured = {record.device for record in machine.results.select("logging")}
            blocks += [f"**{name}**: {text('not_measured_here')}" for name in machine.unmeasured(measured, text)]
        return "\n\n".join(blocks) or None

    return tabs(machines, text, content)


def logging_row(record: Record, group: Group, text: Texts) -> list[str]:
    name = logging_name(record, text)
    if not record.samples:
        return [name, failed(record, text), "", "", ""]
    return [name, duration(median(record)), middle_half(record), duration(median(record) * LESSON_STEPS), group.verdict_words(record, text)]


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
                    more = "" if r.role == "base" or group.base is None else signed_duration(float(np.median(np.subtract(r.samples, group.base.samples))))
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
            blocks.append(f"**{text('device.gpu')}**: {text('not_measured_here')}. {text('transfer.instead')}")
        for device in dict.fromkeys(r.device for r in records):
            iris = [r for r in records if r.device == device and r.case == "all iris tensors" and r.samples]
            for r in iris:
                blocks.append(
                    text("transfer.iris", bytes=whole(r.parameters["bytes"]), copies=r.parameters["copies"], time=duration(median(r)), device=machine.device_title(device, text))
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
                        row.append(f"{duration(median(record))}<br>{byte_rate(size, median(record))}")
                rows.append(row)
            header = [text("transfer.size"), *(text.name("transfer.ways", way) for way in ways)]
            blocks.append(markdown_table(header, rows))
            spread = [[byte_count(r.parameters["bytes"]), text.name("transfer.ways", r.case), middle_half(r), str(len(r.samples))] for r in iris + ladder if r.samples]
            blocks.append(fold(text("transfer.spread"), markdown_table([text(f"transfer.{c}") for c in ("size", "way", "middle_half", "repeats")], spread, right=2)))
        return "\n\n".join(blocks)

    return tabs(machines, text, content)


def threads(machines: list[Machine], text: Texts) -> str:
    """The lesson's step and the wide network's with 1, 2, ... CPU threads."""

    def content(machine: Machine) -> str | None:
        blocks = []
        for name in ("lesson", "wide"):
            group = Group(machine.results.select("threads", name))
            rows = []
            for r in group.records:
                if r.role in ("base", "case"):
                    row = [duration(median(r)), middle_half(r), group.verdict_words(r, text)] if r.samples else [failed(r, text), "", ""]
                    rows.append([str(r.threads), *row])
            if rows:
                header = [text(f"threads.{name}"), *(text(f"threads.{column}") for column in ("time", "middle_half", "verdict"))]
                blocks.append(markdown_table(header, rows) + "\n\n" + details(group, text, lambda r: text("threads.case", count=r.threads)))
        return "\n\n".join(blocks) or None

    return tabs(machines, text, content)


def size(machines: list[Machine], text: Texts) -> str:
    """For each width and device: the floor, how far it is flat, the share of the device's peak, and the crossover."""

    def content(machine: Machine) -> str | None:
        widths = sweeps(machine)
        blocks = []
        devices = list(dict.fromkeys(device for sweep in widths for device in sweep.devices()))
        for device in devices:
            rows = [size_row(sweep, device, machine, text) for sweep in widths if sweep.best(device)]
            columns = ["width", "floor", "flat", "lesson_share", "best_share"] + ["crossover"] * (device != "cpu")
            if rows:
                table = markdown_table([text(f"size.{column}") for column in columns], rows)
                blocks.append(f"**{machine.device_title(device, text)}**. {peaks(machine, device, text)}\n\n{table}")
            else:
                record = next(r for sweep in widths for r in sweep.group.records if r.device == device and r.failure)
                blocks.append(f"**{machine.device_title(device, text)}**: {failed(record, text)}")
        if not blocks:
            return None
        blocks += [f"**{name}**: {text('not_measured_here')}" for name in machine.unmeasured(set(devices), text)]
        restless = {sweep.width: share for sweep in widths if (share := reach(sweep.group)) > RESTLESS}
        if restless:
            said = "; ".join(text("size.restless_width", width=width_name(width, text), share=percent(share)) for width, share in restless.items())
            blocks.append(text("size.restless", widths=said))
        every = [text("size.of_width", width=width_name(sweep.width, text)) + "\n\n" + details_table(sweep.group, text, lambda r: size_name(r, machine, text)) for sweep in widths]
        return "\n\n".join([*blocks, fold(text("size.all"), "\n\n".join([text("details.method"), *every]))])

    return tabs(machines, text, content)


def size_row(sweep: Sweep, device: str, machine: Machine, text: Texts) -> list[str]:
    best = sweep.best(device)
    first, last = sweep.flat(device)
    fullest = max(best.values(), key=flops)
    row = [
        width_name(sweep.width, text),
        duration(median(min(best.values(), key=sweep.pace))),
        whole(last) if first == last else text("size.from_to", first=whole(first), last=whole(last)),
        share_words(best[LESSON_ROWS], machine, text) if LESSON_ROWS in best else "",
        text("size.at", share=share_words(fullest, machine, text), rows=whole(fullest.parameters["batch"])),
    ]
    if device != "cpu":
        crossover = sweep.crossover(device)
        compared = sweep.against_cpu(device)
        row.append(text("size.from", rows=whole(crossover)) if crossover else text("size.at_none") if compared else text("not_measured_here"))
    return row


def size_name(record: Record, machine: Machine, text: Texts) -> str:
    return text("size.case", device=machine.device_title(record.device, text), rows=whole(record.parameters["batch"]))


def width_name(width: int, text: Texts) -> str:
    return text("size.lessons_network", width=whole(width)) if width == LESSON_WIDTH else whole(width)


def share_words(record: Record, machine: Machine, text: Texts) -> str:
    """`0.18 GFLOP/s, 0.2 %`: what a step reaches, and its share of the large product's."""
    share = share_of_peak(record, machine)
    reached = f"{significant(flops(record) / 1e9)}\u00a0GFLOP/s"
    return reached if share is None else text("size.share", reached=reached, share=percent(share))


def peaks(machine: Machine, device: str, text: Texts) -> str:
    """What the large matrix product reaches on a device, with each number of threads."""
    said = []
    for r in machine.results.select("size", f"peak on {device}"):
        if r.role in ("base", "case"):
            reached = f"{significant(flops(r) / 1e9)}\u00a0GFLOP/s" if r.samples else failed(r, text)
            said.append(text("size.peak_threads", reached=reached, threads=r.threads) if device == "cpu" else reached)
    return text("size.peak", reached="; ".join(said)) if said else ""


def many(machines: list[Machine], text: Texts) -> str:
    """Many iris models at once: a step of all, its share for one model, and both against the lesson's step."""

    def content(machine: Machine) -> str | None:
        blocks = []
        devices = list(dict.fromkeys(r.device for r in machine.results.select("many") if r.role == "base"))
        for device in devices:
            group = Group(machine.results.select("many", f"on {device}"))
            rows = []
            for r in sorted((r for r in group.records if r.role in ("base", "case")), key=lambda r: r.parameters.get("models", 0)):
                cells = [failed(r, text), "", ""]
                if r.samples:
                    total = median(r)
                    against = "" if group.base is None else significant(ratio(r.samples, group.base.samples).median)
                    cells = [duration(total), against, duration(total / r.parameters.get("models", 1))]
                rows.append([many_name(r, text), whole(r.parameters.get("models", 1)), str(r.threads), *cells])
            header = [text(f"many.{column}") for column in ("way", "models", "threads", "all", "steps", "one")]
            blocks.append(f"**{machine.device_title(device, text)}**\n\n" + markdown_table(header, rows))
            blocks.append(details(group, text, lambda r: many_name(r, text) + (f", {whole(r.parameters['models'])}" if "models" in r.parameters else "")))
        if blocks:
            blocks += [f"**{name}**: {text('not_measured_here')}" for name in machine.unmeasured(set(devices), text)]
        return "\n\n".join(blocks) or None

    return tabs(machines, text, content)


def many_name(record: Record, text: Texts) -> str:
    return text.name("many.ways", record.case.split()[0])


def reported(reports: dict[str, Reported], text: Texts) -> str:
    """What the lessons published, with what is known to be wrong with each method."""
    rows = []
    for name, report in reports.items():
        with blaming(f"results/{name}.json"):
            times = [text.name("reported.cases", r.case, time=f"{r.samples[0]:g} s", device=text.name("device", r.device), **r.parameters) for r in report.records]
            caveats = [text.name("caveat", caveat) for caveat in report.caveats]
        source = f"[{safe(report.source_name)}]({report.source_url})" if report.source_url else safe(report.source_name)
        rows.append([safe(report.machine), "<br>".join(times), source, "<br>".join(caveats)])
    return markdown_table([text(f"reported.{column}") for column in ("machine", "times", "source", "caveats")], rows, right=4)


def machines_list(machines: list[Machine], text: Texts) -> str:
    """Every machine that has results, with what it ran and where its raw data are."""
    rows = [
        [
            m.link(text),
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
