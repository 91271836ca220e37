"""The page of the machines: each with its headline figures, its report and its raw data."""

from tutorial.measure.results import Record
from tutorial.publish import inspection
from tutorial.publish.claims import NotMeasured, Rotation, best, record_of
from tutorial.publish.comparison import Machine, median
from tutorial.publish.findings import count
from tutorial.publish.tables import blaming, fold, markdown_table, provenance, why
from tutorial.publish.words import Texts, duration, safe, significant


def machine_reports(machines: list[Machine], text: Texts) -> str:
    """One section a machine."""
    parts = []
    for machine in machines:
        with blaming(machine.raw()):
            parts.append(f"## {machine.title(text)} {{ #{machine.anchor} }}")
            parts.append(headline(machine, text))
            parts.append(text("machines.claims", count=count(machine, text)))
            parts.append(provenance(machine, text))
            rows = [[safe(cell) for cell in row] for row in inspection.report(machine.results.hardware, text)]
            header = [text(f"inspect.{column}") for column in ("criterion", "value", "means")]
            parts.append(fold(text("machines.report"), markdown_table(header, rows, right=3)))
    return "\n\n".join(parts) or text("not_measured_anywhere")


def headline(machine: Machine, text: Texts) -> str:
    """The few figures that place a machine, one column a device."""
    devices = ["cpu", *(accelerator.device for accelerator in machine.results.hardware.accelerators)]
    rows = []
    for key, figure in (("step", lesson_step), ("whole", whole_run), ("best", best_loop), ("wide", wide_step), ("peak", peak)):
        cells = []
        for device in devices:
            try:
                cells.append(figure(machine, device, text))
            except NotMeasured as missing:
                cells.append(why(str(missing), text) if str(missing) else text("not_measured_here"))
        rows.append([text(f"machines.{key}"), *cells])
    return markdown_table([text("machines.figure"), *(machine.device_title(device, text) for device in devices)], rows)


def lesson_step(machine: Machine, device: str, text: Texts) -> str:
    return duration(median(record_of(machine.results, "training", "step", "lesson", device)))


def whole_run(machine: Machine, device: str, text: Texts) -> str:
    return duration(median(record_of(machine.results, "training", "whole", "whole run", device)))


def best_loop(machine: Machine, device: str, text: Texts) -> str:
    name, compared, _ = best(machine.results, device)
    return text("machines.best_loop", name=text.name("strategies.cases", name), ratio=significant(compared.median, 2))


def wide_step(machine: Machine, device: str, text: Texts) -> str:
    return duration(median(record_of(machine.results, "wide", "step", "wide network", device)))


def peak(machine: Machine, device: str, text: Texts) -> str:
    """What the fastest large matrix product reaches: on a CPU, with one thread or with all cores."""
    rotation = Rotation(machine.results, "size", f"peak on {device}")
    products = [record for record in [rotation.base, *rotation.cases()] if record.device == device]
    return f"{significant(max(record.parameters['flop'] / median(record) for record in products) / 1e9)}\u00a0GFLOP/s"
