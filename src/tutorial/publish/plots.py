"""The plots of the pages: matplotlib figures as inline SVG that follows the colors of the site."""

import html
import io
import re
import textwrap
import warnings

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from tutorial.measure.results import Reported
from tutorial.publish.comparison import Group, Machine, Sweep, logging_curve, logging_groups, median, sweeps
from tutorial.publish.tables import provenance, tabs
from tutorial.publish.words import Texts, duration, safe, significant, whole
from tutorial.training.loops import LESSON_STEPS

# Colors that a plot is drawn with, and what takes their place in the page: the site's text color and its four series.
TEXT = "#010203"
SERIES = ("#010210", "#010220", "#010230", "#010240")
COLORS = {TEXT: "currentColor", **{color: f"var(--plot-{number})" for number, color in enumerate(SERIES, 1)}}

NARROW = 380  # units: a picture up to this width can be read on a phone, and does not scroll there
STRONGEST = 0.35  # of a color behind a number, which has to be read on it in light and dark

STYLE = {
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and translated
    "svg.hashsalt": "tutorial",  # the same plot has the same ids in every run
    "font.family": "sans-serif",
    "font.size": 11,
    "text.parse_math": False,  # a dollar sign in a machine's name is a dollar sign
    "text.color": TEXT,
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "legend.framealpha": 0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def figure(draw, title: str, description: str, name: str, size=(7.2, 3.4)) -> str:
    """One `<figure>` on one line: the SVG that ``draw(axes)`` makes, with a title and a description for who cannot see it."""
    with plt.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the text is drawn by the browser, which has other fonts
        drawing, axes = plt.subplots(figsize=size, layout="constrained")
        draw(axes)
        buffer = io.StringIO()
        drawing.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(drawing)
    return inline(buffer.getvalue(), title, description, name)


def inline(svg: str, title: str, description: str, name: str) -> str:
    """Make matplotlib's SVG part of a page: one line, the site's colors, ids that no other plot of the page has."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = svg.replace("<g", '<g stroke-linejoin="round"', 1)  # what the style said, which would hold for the whole page
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"\b\d+\.\d{3,}\b", lambda number: f"{float(number[0]):.2f}", tag[0]), svg)  # shorter; text stays
    for color, replacement in COLORS.items():
        svg = svg.replace(color, replacement)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)  # the page's own font
    svg = svg.replace("xlink:href", "href")
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()
    return wrap(svg[svg.index(">") + 1 : svg.rindex("</svg>")], float(width), float(height), title, description, name)


def wrap(content: str, width: float, height: float, title: str, description: str, name: str) -> str:
    """The `<figure>` and `<svg>` around the shapes of a picture, on one line, as Markdown wants it."""
    kind = "plot narrow" if width <= NARROW else "plot"
    line = (
        f'<figure class="{kind}"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-labelledby="{name}-title {name}-description"><title id="{name}-title">{html.escape(title)}</title>'
        f'<desc id="{name}-description">{html.escape(description)}</desc>{content.strip()}</svg></figure>'
    )
    return re.sub(r"\s*\n\s*", " ", line)


def overview(machines: list[Machine], reports: dict[str, Reported], text: Texts) -> str:
    """The one picture: seconds for the same training on the CPU and on the GPU, measured and reported."""
    groups = []  # (heading, was it measured, [(device, seconds or None, is it a GPU)])
    for machine in machines:
        measured = {r.device: median(r) for r in machine.results.select("training", "whole") if r.case == "whole run" and r.samples}
        if measured:
            accelerators = [a.device or "" for a in machine.results.hardware.accelerators] or [""]
            shown = measured | {device: None for device in accelerators if device not in measured}
            # The heading names the accelerators; a bar says which only where there are several.
            gpu = text("overview.gpu") + (" {:.10}" if len(accelerators) > 1 else "")
            bars = [(text("overview.cpu") if device == "cpu" else gpu.format(device), seconds, device != "cpu") for device, seconds in shown.items()]
            groups.append((plain(machine.title(text)), True, bars))
    for report in reports.values():
        lessons = [r for r in report.records if r.case == "lesson" and r.parameters.get("steps") == LESSON_STEPS]
        if lessons:
            bars = [(text("overview.cpu" if r.device == "cpu" else "overview.gpu"), r.samples[0], r.device != "cpu") for r in lessons]
            groups.append((plain(safe(report.machine)), False, bars))

    def draw(axes):
        top = max((seconds for _, _, bars in groups for _, seconds, _ in bars if seconds), default=1)
        place, ticks = 0.0, []
        for heading, measured, bars in groups:
            origin = text("overview.measured" if measured else "overview.reported")
            for line in folded(heading):
                axes.text(0, place, line, va="center", weight="bold").set_in_layout(False)
                place += 0.6
            place -= 0.6
            for label, seconds, gpu in bars:
                place += 0.8
                ticks.append((place, label))
                if seconds is None:
                    axes.text(top * 0.02, place, text("overview.not_measured"), va="center", style="italic")
                else:
                    axes.barh(place, seconds, color=SERIES[1 if gpu else 0], alpha=1 if measured else 0.45, height=0.62)
                    axes.text(seconds + top * 0.02, place, f"{seconds:.4g} s, {origin}", va="center")
            place += 1.1
        axes.set_yticks([place for place, _ in ticks], [label for _, label in ticks])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(place - 0.4, -0.6)
        axes.set_xlim(0, top * 1.6)
        axes.set_xlabel(text("overview.axis"))

    told = "; ".join(
        f"{heading}: " + ", ".join(f"{label} {text('overview.not_measured') if seconds is None else f'{seconds:.4g} s'}" for label, seconds, _ in bars)
        for heading, _, bars in groups
    )
    rows = sum(len(folded(heading)) + len(bars) for heading, _, bars in groups)
    plot = figure(draw, text("overview.title"), text("overview.description", bars=told), "overview", size=(4.6, 0.3 * rows + 0.9))
    sources = [provenance(machine, text) for machine in machines]
    return "\n\n".join([plot, text("overview.caption") + "\n{ .measured }", *sources])


def folded(heading: str) -> list[str]:
    """A heading in lines that the plot is wide enough for."""
    return textwrap.wrap(heading, 38, max_lines=3, placeholder=" …") or [""]


def loss_curve(machines: list[Machine], text: Texts) -> str:
    """The loss of the lesson's training, on each device of a machine."""

    def content(machine: Machine) -> str | None:
        curves = [r for r in machine.results.select("training", "whole") if r.case == "loss curve"]
        if not curves:
            return None

        def draw(axes):
            for number, record in enumerate(curves):
                interval = record.parameters["interval"]
                epochs = np.arange(1, len(record.samples) + 1) * interval
                style = ("solid", "dashed", "dotted", "dashdot")[number % 4]
                axes.plot(epochs, record.samples, color=SERIES[number % 4], linestyle=style, label=f"{plain(machine.device_title(record.device, text)):.60}")
            axes.set_xlabel(text("loss_curve.x"))
            axes.set_ylabel(text("loss_curve.y"))
            axes.set_ylim(bottom=0)
            axes.legend()

        key = "loss_curve.description" if len(curves) > 1 else "loss_curve.description_one"
        told = text(key, first=f"{curves[0].samples[0]:.2f}", last=f"{curves[0].samples[-1]:.2f}")
        return figure(draw, text("loss_curve.title"), told, f"loss-curve-{machine.key}")

    return tabs(machines, text, content)


def logging(machines: list[Machine], text: Texts) -> str:
    """Time of a step against the interval at which the loss is read, with the fitted curve; one plot a device."""

    def content(machine: Machine) -> str | None:
        whole = logging_groups(machine, "whole loops")
        plots = []
        for device, group in logging_groups(machine, "short blocks").items():
            described = text("logging_plot.description", device=plain(machine.device_title(device, text)))
            name = f"logging-{machine.key}-{device.replace(':', '')}"
            plots.append(figure(intervals(group, whole.get(device), text), text("logging_plot.title"), described, name))
        return "\n\n".join(plots) or None

    return tabs(machines, text, content)


def intervals(short: Group, whole: Group | None, text: Texts):
    """How to draw the ratios to reading every epoch, which are free of the machine's drift, against the interval."""
    never_at = 4000  # "never" has no place on the axis; it stands to the right of all intervals

    def draw(axes):
        for group, color, label in ((short, SERIES[0], "short"), (whole, SERIES[2], "whole")):
            if group is None:
                continue
            for record in group.records:
                place = never_at if record.case == "never" else record.parameters.get("interval")
                if record.role in ("base", "case") and record.samples and place:
                    low, middle, high = np.percentile(np.asarray(record.samples) / np.asarray(group.base.samples), (25, 50, 75))
                    shown = None if record.role == "case" else text(f"logging_plot.{label}")
                    axes.errorbar(place, middle, [[middle - low], [high - middle]], fmt="o", color=color, capsize=3, label=shown)
        curve = logging_curve(short)
        if curve is not None:
            ks = np.geomspace(1, never_at / 2, 80)
            axes.plot(ks, [curve.at(k) / curve.at(1) for k in ks], color=SERIES[1], label=text("logging_plot.curve"))
        ticks = [1, 10, 100, 1000]
        axes.set_xscale("log")
        axes.set_xticks([*ticks, never_at], [*map(str, ticks), text("logging_plot.never")])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel(text("logging_plot.x"))
        axes.set_ylabel(text("logging_plot.y"))
        axes.legend()

    return draw


def transfer(machines: list[Machine], text: Texts) -> str:
    """Bandwidth of a copy against its size, for each way to copy."""

    def content(machine: Machine) -> str | None:
        records = [r for r in machine.results.select("transfer") if r.role in ("base", "case") and r.samples and r.case != "all iris tensors"]
        ways = list(dict.fromkeys(r.case for r in records if "on the fly" not in r.case and not ("pageable" in r.case and "non_blocking" in r.case)))
        if not records:
            return None

        def draw(axes):
            for number, way in enumerate(ways):
                line = sorted((r.parameters["bytes"], r.parameters["bytes"] / median(r) / 1e9) for r in records if r.case == way)
                axes.plot(
                    *zip(*line),
                    marker="os^Dv"[number % 5],
                    color=SERIES[number % 4],
                    linestyle="solid" if number < 4 else "dashed",
                    label=text.name("transfer.ways", way).replace("`", ""),
                )
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            powers = (2, 10, 20, 28)
            axes.set_xticks([2.0**power for power in powers], ["4 B", "1 KiB", "1 MiB", "256 MiB"])
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.minorticks_off()
            axes.set_xlabel(text("transfer_plot.x"))
            axes.set_ylabel(text("transfer_plot.y"))
            axes.legend()

        return figure(draw, text("transfer_plot.title"), text("transfer_plot.description"), f"transfer-{machine.key}", size=(7.2, 4.2))

    return tabs(machines, text, content)


def size(machines: list[Machine], text: Texts) -> str:
    """Time of a step against the batch, one line for each width and device."""

    def content(machine: Machine) -> str | None:
        lines = [(sweep, device, sweep.best(device)) for sweep in sweeps(machine) for device in sweep.devices() if sweep.best(device)]
        if not lines:
            return None
        devices = list(dict.fromkeys(device for _, device, _ in lines))

        def draw(axes):
            for sweep, device, best in lines:
                unit = median(sweep.group.base) if sweep.group.base else 1.0
                times = {batch: sweep.pace(record) * unit for batch, record in best.items()}
                first, last = sweep.flat(device)
                flat = {batch: seconds for batch, seconds in times.items() if first <= batch <= last}
                number = devices.index(device)
                style = dict(color=SERIES[number % 4], linestyle=("solid", "dashed", "dotted", "dashdot")[number % 4])
                axes.plot(list(times), list(times.values()), marker="os^D"[number % 4], markersize=4, **style)
                axes.plot(list(flat), list(flat.values()), linewidth=5, alpha=0.5, solid_capstyle="round", color=style["color"])
                axes.annotate(whole(sweep.width), (max(times), times[max(times)]), xytext=(6, 0), textcoords="offset points", va="center")
            for number, device in enumerate(devices):
                style = ("solid", "dashed", "dotted", "dashdot")[number % 4]
                axes.plot([], [], marker="os^D"[number % 4], markersize=4, color=SERIES[number % 4], linestyle=style, label=f"{plain(machine.device_title(device, text)):.60}")
            axes.plot([], [], linewidth=5, alpha=0.5, color=TEXT, label=text("size_plot.flat"))
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: whole(value))
            axes.yaxis.set_major_formatter(lambda value, _: duration(value))
            axes.minorticks_off()
            axes.set_xlabel(text("size_plot.x"))
            axes.set_ylabel(text("size_plot.y"))
            axes.figure.legend(loc="outside upper left")

        told = []
        for sweep, device, _ in lines:
            first, last = sweep.flat(device)
            told.append(text("size_plot.told" if last > first else "size_plot.told_one", device=plain(machine.device_title(device, text)), width=sweep.width, first=first, last=last))
        plot = figure(draw, text("size_plot.title"), text("size_plot.description", told=" ".join(told)), f"size-{machine.key}", size=(6.4, 4.8))
        return plot + "\n\n" + text("size_plot.caption") + "\n{ .measured }"

    return tabs(machines, text, content)


def size_map(machines: list[Machine], text: Texts) -> str:
    """A grid of batches and widths: which device is the faster; on a machine without an accelerator, the CPU's times."""

    def content(machine: Machine) -> str | None:
        widths = sweeps(machine)
        devices = list(dict.fromkeys(device for sweep in widths for device in sweep.devices()))
        accelerators = [device for device in devices if device != "cpu"] if "cpu" in devices else devices
        maps = [f"**{machine.device_title(device, text)}**\n\n" + size_grid(machine, widths, device, text) for device in accelerators or devices]
        absent = [] if accelerators or not maps else [f"**{name}**: {text('not_measured_here')}" for name in machine.unmeasured(set(devices), text)]
        return "\n\n".join([*maps, *absent]) or None

    return tabs(machines, text, content)


def size_grid(machine: Machine, widths: list[Sweep], device: str, text: Texts) -> str:
    """The map of one accelerator against the CPU, or of one device alone."""
    batches = sorted({batch for sweep in widths for batch in sweep.batches()})
    compares = any(sweep.against_cpu(device) for sweep in widths) and device != "cpu"
    cells = [cell for column, sweep in enumerate(widths) for cell in (compared_cells if compares else timed_cells)(machine, sweep, device, column, batches, text)]

    def draw(axes):
        for column, row, value, series, strength in cells:
            axes.add_patch(plt.Rectangle((column, row), 1, 1, facecolor=SERIES[series], alpha=strength, edgecolor="none"))
            axes.add_patch(plt.Rectangle((column, row), 1, 1, fill=False, edgecolor=TEXT, linewidth=0.6))
            axes.text(column + 0.5, row + 0.5, value, ha="center", va="center")
        axes.set_xlim(0, len(widths))
        axes.set_ylim(0, len(batches))
        axes.set_xticks(np.arange(len(widths)) + 0.5, [whole(sweep.width) for sweep in widths])
        axes.set_yticks(np.arange(len(batches)) + 0.5, [whole(batch) for batch in batches])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlabel(text("size_map.x"))
        axes.set_ylabel(text("size_map.y"))

    told = "; ".join(
        text("size_map.column", width=sweep.width, cells=", ".join(text("size_map.cell", rows=batches[row], value=value) for place, row, value, *_ in cells if place == column))
        for column, sweep in enumerate(widths)
    )
    kind = "" if compares else "_cpu"
    described = text(f"size_map.description{kind}", device=plain(machine.device_title(device, text)), told=told)
    name = f"size-map-{machine.key}-{device.replace(':', '')}"
    plot = figure(draw, text(f"size_map.title{kind}"), described, name, size=(6, 0.38 * len(batches) + 0.8))
    return plot + "\n\n" + text(f"size_map.caption{kind}") + "\n{ .measured }"


def compared_cells(machine: Machine, sweep: Sweep, device: str, column: int, batches: list[int], text: Texts):
    """Column, row, what it says, series and strength of the color, for each batch that has a place in the map."""
    compared = sweep.against_cpu(device)
    for row, batch in enumerate(batches):
        if batch not in compared:
            yield column, row, text("size_map.left_out"), 0, 0.0
            continue
        times, word = compared[batch]
        if word in ("same", "cannot tell"):
            yield column, row, text(f"size_map.{word.replace(' ', '_')}"), 0, 0.0
            continue
        slower = word == "slower"
        winner = text("device.cpu" if slower else "device.gpu")
        factor = times.median if slower else 1 / times.median
        yield column, row, text("size_map.faster", device=winner, ratio=significant(factor, 2 if factor > 1.1 else 3)), 0 if slower else 1, min(0.15 + 0.12 * np.log2(factor), STRONGEST)


def timed_cells(machine: Machine, sweep: Sweep, device: str, column: int, batches: list[int], text: Texts):
    """The same for the times of one device; the color is the stronger, the longer the step."""
    best = sweep.best(device)
    first, last = sweep.flat(device) or (0, 0)
    unit = median(sweep.group.base) if sweep.group.base else 1.0
    floor = min((sweep.pace(record) for record in best.values()), default=1.0)
    for row, batch in enumerate(batches):
        if batch not in best:
            yield column, row, text("size_map.left_out"), 0, 0.0
            continue
        pace = sweep.pace(best[batch])
        yield column, row, duration(pace * unit) + (" •" if first <= batch <= last else ""), 0, min(0.07 * np.log2(max(pace / floor, 1)), STRONGEST)


def plain(text: str) -> str:
    """A title as a plot wants it: without the character references that a page needs."""
    return html.unescape(text)
