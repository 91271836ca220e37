"""The drawn timeline: what host and device did during two steps of the lesson, event by event, as the profiler saw it."""

import html
import re

from tutorial.measure.results import Record
from tutorial.publish.comparison import Machine
from tutorial.publish.diagrams import DEVICE, HOST, line, words
from tutorial.publish.plots import plain, wrap
from tutorial.publish.tables import failed, tabs
from tutorial.publish.words import Texts, duration, safe

OPERATION = "var(--plot-3)"
LEFT, WIDTH = 130, 590  # where the lanes begin, and the width of the picture
LANE = 26


def timeline(machines: list[Machine], text: Texts) -> str:
    """One drawing a device: a block a step, with lanes for the host's phases, its operations, and the device."""

    def content(machine: Machine) -> str | None:
        records = [r for r in machine.results.select("step") if r.group.startswith("timeline on ")]
        drawings = []
        for device in dict.fromkeys(r.device for r in records):
            title = machine.device_title(device, text)
            events = sorted((r for r in records if r.device == device and r.samples), key=lambda r: r.parameters["start"])
            if events:
                name = re.sub("[^a-z0-9]+", "-", f"timeline-{machine.key}-{device}".lower())
                drawings.append(f"**{title}**\n\n" + draw(events, plain(title), name, text))
            drawings += [f"**{title}**: {failed(r, text)}" for r in records if r.device == device and r.failure]
        drawings += [f"**{name}**: {text('not_measured_here')}" for name in machine.unmeasured({r.device for r in records}, text)]
        return "\n\n".join([*drawings, text("timeline.caption")]) if records else None

    return tabs(machines, text, content)


def steps(events: list[Record]) -> list[list[Record]]:
    """The events of each step: a step begins with its forward phase."""
    starts = [e.parameters["start"] for e in events if e.case == "forward" and e.parameters["depth"] == 0 and e.parameters["track"] == 0]
    ends = [*starts[1:], float("inf")]
    return [[e for e in events if start <= e.parameters["start"] < end] for start, end in zip(starts, ends)]


def draw(events: list[Record], device: str, name: str, text: Texts) -> str:
    """The picture of all steps, one below the other and on one scale; a lane for the device where events of it were seen."""
    found = steps(events)
    longest = max(end(e) - step[0].parameters["start"] for step in found for e in step)
    scale = (WIDTH - LEFT - 2) / longest
    lanes = ["phases", "operations"] + ["device"] * any(e.parameters["track"] == 1 for e in events)
    parts, told, top = [], [], 0.0
    for number, step in enumerate(found, 1):
        begin = step[0].parameters["start"]
        parts.append(words(0, top + 16, text("timeline.step", number=number), weight="bold"))
        top += 24
        for place, lane in enumerate(lanes):
            parts.append(words(0, top + place * LANE + 16, text(f"timeline.{lane}")))
        for e in step:
            lane = 2 if e.parameters["track"] == 1 else int(e.parameters["depth"] > 0)
            parts.append(event_box(e, LEFT + (e.parameters["start"] - begin) * scale, top + lane * LANE, scale, lane, text))
        told.append(description(step, number, text))
        top += len(lanes) * LANE + 10
    parts += ruler(longest, scale, top)
    described = text("timeline.description", device=device, steps=" ".join(told))
    return wrap("".join(parts), WIDTH, top + 34, text("timeline.title", device=device), described, name)


def end(event: Record) -> float:
    return event.parameters["start"] + event.samples[0]


def phase_name(event: Record, text: Texts) -> str:
    return text.name("timeline.phase", event.case)


def event_box(event: Record, x: float, y: float, scale: float, lane: int, text: Texts) -> str:
    """One event; a phase carries its name where that fits, and every event says name and time when it is pointed at."""
    width = max(event.samples[0] * scale, 0.6)
    color = (HOST, OPERATION, DEVICE)[lane]
    label = phase_name(event, text) if lane == 0 else safe(event.case)
    rectangle = (
        f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="22" fill="{color}" fill-opacity="{0.25 if lane == 0 else 0.7}" stroke="{color}" '
        f'stroke-width="0.5"><title>{label}, {duration(event.samples[0])}</title></rect>'
    )
    fits = lane == 0 and len(html.unescape(label)) * 6.6 + 4 <= width
    return rectangle + (words(x + width / 2, y + 15.5, html.unescape(label), anchor="middle") if fits else "")


def description(step: list[Record], number: int, text: Texts) -> str:
    """A step in words, for who cannot see it."""
    phases = ", ".join(f"{html.unescape(phase_name(e, text))} {duration(e.samples[0])}" for e in step if e.parameters["track"] == 0 and e.parameters["depth"] == 0)
    operations = sum(e.parameters["track"] == 0 and e.parameters["depth"] > 0 for e in step)
    return text("timeline.step_description", number=number, phases=phases, operations=operations, events=sum(e.parameters["track"] == 1 for e in step))


def ruler(longest: float, scale: float, top: float) -> list[str]:
    """A line of a round length with its time: the profiler's clock, which runs slow."""
    length = max(factor * 10**power for power in range(-9, 2) for factor in (1, 2, 5) if factor * 10**power <= longest / 3 or power == -9)
    right = LEFT + length * scale
    ticks = [line(LEFT, top + 4, right, top + 4), line(LEFT, top, LEFT, top + 8), line(right, top, right, top + 8)]
    return [*ticks, words(LEFT, top + 24, text_of(length))]


def text_of(seconds: float) -> str:
    """A round time without decimals: `200 µs`."""
    number, unit = duration(seconds).split("\u00a0")
    return f"{float(number.replace(' ', '')):g}\u00a0{unit}"
