"""The tables on loops: what holds one up, the price of each move, first calls, counts, and the ways to write it."""

import json
from importlib.resources import files

from tutorial.measure.results import Record
from tutorial.measure.timing import ratio
from tutorial.publish.bound import Bound, Prediction, bound
from tutorial.publish.comparison import Group, Machine, median, middle_half, paid_after
from tutorial.publish.tables import details, failed, fold, markdown_table, tabs
from tutorial.publish.words import Texts, duration, percent, safe, significant, span, whole


def bounds(machines: list[Machine], text: Texts) -> str:
    """W, H and G on each accelerator, the model's prediction against the clock, and the verdict."""

    def content(machine: Machine) -> str | None:
        blocks = []
        devices = list(dict.fromkeys(r.device for r in machine.results.select("bound") if r.device != "cpu"))
        for device in devices:
            group = Group(machine.results.select("bound", f"on {device}"))
            shown = [r for r in group.records if r.role in ("base", "case")]
            rows = [[text.name("bound.cases", r.case), *times(r, text)] for r in shown]
            blocks.append(f"**{machine.device_title(device, text)}**\n\n" + markdown_table([text(f"bound.{c}") for c in ("quantity", "time", "middle_half")], rows))
            verdict = bound(machine.results, device)
            if verdict is None:
                blocks.append(text("bound.not_enough"))
            else:
                header = [text(f"bound.{column}") for column in ("loop", "waits", "predicted", "measured", "share")]
                blocks.append(markdown_table(header, [prediction_row(p, text) for p in verdict.predictions]))
                blocks.append(verdict_words(verdict, text))
            blocks.append(details(group, text, lambda r: text.name("bound.cases", r.case)))
        blocks += [f"**{name}**: {text('not_measured_here')}" for name in machine.unmeasured(set(devices), text)]
        return "\n\n".join(blocks)

    return tabs(machines, text, content)


def times(record: Record, text: Texts) -> list[str]:
    """Median and middle half; the reason where there are none."""
    return [duration(median(record)), middle_half(record)] if record.samples else [failed(record, text), ""]


def prediction_row(prediction: Prediction, text: Texts) -> list[str]:
    return [
        text.name("bound.cases", prediction.loop),
        significant(prediction.waits, 2),
        duration(prediction.predicted),
        duration(prediction.measured),
        percent(prediction.share),
    ]


def verdict_words(verdict: Bound, text: Texts) -> str:
    """The verdict, what it rests on, and the share of the time for which the device has work."""
    sentences = [text(f"bound.verdict.{verdict.word}")]
    if not verdict.explained:
        sentences.append(text("bound.unexplained"))
    if verdict.launch_share is not None:
        sentences.append(text("bound.launches", share=percent(verdict.launch_share.median)))
    elif verdict.word == "host":
        sentences.append(text("bound.launches_unknown"))
    sentences.append(text("bound.busy", share=percent(verdict.busy)))
    return " ".join(sentences)


def columns_by_device(machine: Machine, experiment: str, section: str, text: Texts, cell, prefix: str = "on ") -> str | None:
    """A table with a row for each case and a column for each device, those without results included."""
    records = [r for r in machine.results.select(experiment) if r.group.startswith(prefix) and r.role in ("base", "case", "single")]
    if not records:
        return None
    devices = list(dict.fromkeys(r.device for r in records))
    missing = machine.unmeasured(set(devices), text)
    rows = []
    for case in dict.fromkeys(r.case for r in records):
        found = {r.device: r for r in records if r.case == case}
        rows.append([text.name(f"{section}.cases", case), *(cell(found[d]) if d in found else "–" for d in devices), *[text("not_measured_here")] * len(missing)])
    header = [text(f"{section}.case"), *(machine.device_title(device, text) for device in devices), *missing]
    return markdown_table(header, rows)


def overheads(machines: list[Machine], text: Texts) -> str:
    """What a call, a launch, a wait, a reading, a copy and a hand-over cost, on each device."""

    def content(machine: Machine) -> str | None:
        table = columns_by_device(machine, "overheads", "overheads", text, lambda r: times(r, text)[0])
        if table is None:
            return None
        blocks = [table]
        for device in dict.fromkeys(r.device for r in machine.results.select("overheads")):
            group = Group([r for r in machine.results.select("overheads", f"on {device}") if r.role != "single"])
            blocks.append(f"**{machine.device_title(device, text)}**\n\n" + details(group, text, lambda r: text.name("overheads.cases", r.case)))
        return "\n\n".join(blocks)

    return tabs(machines, text, content)


def first_call(machines: list[Machine], text: Texts) -> str:
    """What the first operation, backward pass and compiled call of a process cost, beside later ones."""

    def content(machine: Machine) -> str | None:
        records = machine.results.select("first-call")
        table = columns_by_device(machine, "first-call", "first_call", text, lambda r: times(r, text)[0])
        if table is None:
            return None
        spread = [
            [machine.device_title(r.device, text), text.name("first_call.cases", r.case), duration(min(r.samples)), duration(max(r.samples)), str(len(r.samples))]
            for r in records
            if r.samples
        ]
        header = [text(f"first_call.{column}") for column in ("device", "case", "lowest", "highest", "processes")]
        return table + "\n\n" + fold(text("first_call.spread"), markdown_table(header, spread, right=2))

    return tabs(machines, text, content)


def counts(machines: list[Machine], text: Texts) -> str:
    """How often a step of the lesson calls what, on each device, as PyTorch and its profiler count."""

    def content(machine: Machine) -> str | None:
        return columns_by_device(machine, "step", "counts", text, lambda r: times_counted(r, text), prefix="counts on ")

    return tabs(machines, text, content)


def times_counted(record: Record, text: Texts) -> str:
    if not record.samples:
        return failed(record, text)
    count = median(record)
    return whole(count) if count == int(count) else significant(count)


def simulated_counts(text: Texts) -> str:
    """Calls, copies and waits of a step on the simulated accelerator of the tests: counted, on no machine."""
    simulated = json.loads((files("tutorial.publish") / "simulated_counts.json").read_text(encoding="utf-8"))
    columns = ("calls", "views", "copies to device", "copies from device", "synchronizations")
    rows = [[text.name("simulated.loops", loop), *(significant(count.get(column, 0)) for column in columns)] for loop, count in simulated["loops"].items()]
    table = markdown_table([text("simulated.loop"), *(text.name("simulated.columns", column) for column in columns)], rows)
    return table + "\n\n" + text("simulated.caption", torch=safe(simulated["torch"])) + "\n{ .measured }"


def strategies(machines: list[Machine], text: Texts) -> str:
    """Each way to write the lesson's loop against the lesson's own, with what compiling costs and when that has paid."""

    def content(machine: Machine) -> str | None:
        records = machine.results.select("strategies")
        if not records:
            return None
        blocks = []
        devices = list(dict.fromkeys(r.device for r in records))
        for device in devices:
            together = Group([r for r in records if r.group == f"on {device}"])
            alone = list(dict.fromkeys(r.group for r in records if r.device == device and r.group != f"on {device}"))
            processes = [Group([r for r in records if r.group == group]) for group in alone]
            rows = [strategy_row(r, group, text) for group in (together, *processes) for r in group.records if r.role == "case" or (r.role == "base" and group is together)]
            header = [text(f"strategies.{column}") for column in ("strategy", "step", "ratio", "interval", "verdict", "first", "paid")]
            blocks.append(f"**{machine.device_title(device, text)}**\n\n" + markdown_table(header, rows))
            blocks.append(details(together, text, lambda r: text.name("strategies.cases", r.case)))
        blocks += [f"**{name}**: {text('not_measured_here')}" for name in machine.unmeasured(set(devices), text)]
        return "\n\n".join(blocks)

    return tabs(machines, text, content)


def strategy_row(record: Record, group: Group, text: Texts) -> list[str]:
    """One way: its step, its ratio to the lesson's loop beside it, and for a compiled one the first call and when it has paid."""
    name = text.name("strategies.cases", record.case)
    if not record.samples or group.base is None:
        return [name, "", "", "", failed(record, text) if record.failure else "", "", ""]
    # A step of another process met another machine: only its ratio stands beside the others.
    step = duration(median(record)) if group.find("single") is None else "–"
    if record.role == "base":
        return [name, step, "1", "", text("verdict.base"), "–", "–"]
    found, verdict = ratio(record.samples, group.base.samples), group.verdict(record)
    row = [name, step, significant(found.median), span(significant(found.low), significant(found.high)), text(f"strategies.verdicts.{verdict.replace(' ', '_')}") if verdict else text("verdict.base")]
    first = group.find("single")
    if first is None:
        return [*row, "–", "–"]
    steps = paid_after(median(first), record, group.base) if verdict == "faster" else None
    return [*row, duration(median(first)), text("strategies.steps", steps=significant(steps, 2)) if steps else text("verdict.base" if verdict == "cannot tell" else "strategies.never")]
