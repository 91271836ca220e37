"""The drawn pictures of the pages: time lines of host and device, one step, and the decision chart. No measured number."""

import html

from tutorial.publish.plots import NARROW, wrap
from tutorial.publish.words import Texts

HOST, DEVICE, WAIT = "var(--plot-1)", "var(--plot-2)", "var(--plot-muted)"


def box(x: float, y: float, width: float, height: float, label: str = "", color: str = "currentColor") -> str:
    """A rectangle with its label in the middle, in the color of the text."""
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{color}" fill-opacity="0.25" stroke="{color}"/>'
    return shape + (words(x + width / 2, y + height / 2 + 4.5, label, anchor="middle") if label else "")


def words(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="13" font-weight="{weight}" fill="currentColor">{html.escape(text)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="currentColor"{dashes}/>'


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line with a head; horizontal to the right or vertical down."""
    head = f"{x2 - 7:g},{y2 - 4:g} {x2:g},{y2:g} {x2 - 7:g},{y2 + 4:g}" if y1 == y2 else f"{x2 - 4:g},{y2 - 7:g} {x2:g},{y2:g} {x2 + 4:g},{y2 - 7:g}"
    return line(x1, y1, x2, y2) + f'<polyline points="{head}" fill="none" stroke="currentColor"/>'


def asynchronous(text: Texts) -> str:
    """Two clocks on the same work: one stops when the host is done, one after synchronize."""
    left, launch, kernel, count = 54, 50, 91, 3
    early, end = left + count * launch, left + launch + count * kernel
    parts = [words(0, 47, text("asynchronous.host")), words(0, 87, text("asynchronous.device"))]
    parts += [box(left + number * launch, 30, launch - 4, 26, text("asynchronous.launch"), HOST) for number in range(count)]
    parts.append(box(early, 30, end - early, 26, text("asynchronous.wait"), WAIT))
    parts += [box(left + launch + number * kernel, 70, kernel - 4, 26, text("asynchronous.kernel"), DEVICE) for number in range(count)]
    parts += [words(left, 12, text("asynchronous.start")), line(left, 18, left, 156, dashed=True)]
    parts += [line(early, 56, early, 114, dashed=True), arrow(left, 114, early, 114), words(left + 6, 130, text("asynchronous.too_early"))]
    parts += [line(end, 18, end, 156, dashed=True), arrow(left, 150, end, 150), words(left + 6, 167, text("asynchronous.right"))]
    return picture(parts, NARROW, 174, "asynchronous", text)


def bounds(text: Texts) -> str:
    """Three loops: the host holds up the first, the chain of kernels the second, the work the third."""
    left = 54
    parts, top = [], 0
    for key, launches, kernels in (
        ("host_bound", [(n * 32, 29) for n in range(10)], [(n * 32 + 25, 7) for n in range(10)]),
        ("latency_bound", [(n * 14, 12) for n in range(14)], [(n * 22 + 8, 20) for n in range(14)]),
        ("throughput_bound", [(n * 14, 12) for n in range(4)], [(n * 77 + 8, 75) for n in range(4)]),
    ):
        heading = folded(text(f"bounds.{key}"), NARROW, letter=8.2)
        parts += [words(0, top + 16 + number * 17, part, weight="bold") for number, part in enumerate(heading)]
        top += 17 * len(heading)
        parts += [words(0, top + 27, text("bounds.host")), words(0, top + 59, text("bounds.device"))]
        parts += [box(left + x, top + 10, w, 24, color=HOST) for x, w in launches]
        parts += [box(left + x, top + 42, w, 24, color=DEVICE) for x, w in kernels]
        top += 86
    return picture(parts, NARROW, top - 14, "bounds", text)


def step(text: Texts) -> str:
    """One training step: its phases from left to right, and the operations of each."""
    phases = (
        ("forward", ("linear1", "relu", "linear2")),
        ("loss", ("cross_entropy",)),
        ("zero", ("gradients",)),
        ("backward", ("cross_entropy_back", "linear2_back", "relu_back", "linear1_back")),
        ("update", ("updates",)),
        ("read", ("item",)),
    )
    parts, y = [], 4.0
    for number, (phase, operations) in enumerate(phases):
        rows = (len(operations) + 1) // 2
        parts.append(words(0, y + 20, text(f"step_picture.{phase}"), weight="bold"))
        for place, operation in enumerate(operations):
            row, column = divmod(place, 2)
            label = text(f"step_picture.{operation}")
            parts.append(box(130 + column * 190, y + row * 36, 176, 28, label, HOST))
            if column == 1:
                parts.append(arrow(306, y + row * 36 + 14, 320, y + row * 36 + 14))
        y += rows * 36
        if number < len(phases) - 1:
            parts.append(arrow(60, y - rows * 36 + 26, 60, y + 4))
        y += 6
    return picture(parts, 510, y, "step_picture", text)


def decision(text: Texts) -> str:
    """Should I use the GPU for this? Three questions, each with its answer below, and a measurement."""
    parts, y = [], 2
    for question in ("fits", "care", "work"):
        parts += paragraph(2, y, NARROW - 4, text(f"decision.{question}"), "currentColor")
        parts += [arrow(230, y + 44, 230, y + 72), words(238, y + 63, text("decision.no"))]
        parts += paragraph(82, y + 72, NARROW - 84, text(f"decision.{question}_no"), HOST)
        parts += [arrow(40, y + 44, 40, y + 136), words(48, y + 98, text("decision.yes"))]
        y += 136
    parts += paragraph(2, y, NARROW - 4, text("decision.measure"), DEVICE)
    return picture(parts, NARROW, y + 46, "decision", text)


def folded(label: str, width: float, letter: float = 7.4) -> list[str]:
    """A label in lines of a width; a letter counts ``letter`` units, a Chinese character 14."""
    lines, current, size = [], "", 0.0
    for token in label.split(" ") if " " in label else list(label):
        space = " " if " " in label and current else ""
        length = sum(14 if ord(character) > 0x2E80 else letter for character in space + token)
        if current and size + length > width:
            lines.append(current)
            current, size, space = "", 0.0, ""
        current, size = current + space + token, size + length
    return [*lines, current]


def paragraph(x: float, y: float, width: float, label: str, color: str) -> list[str]:
    """A box with its label on one line or on two of about the same length."""
    room = width - 16
    lines = folded(label, room)
    while room > 8 and len(folded(label, room - 8)) == len(lines):
        room -= 8
    lines = folded(label, room)
    top = y + 22 - (len(lines) - 1) * 8 + 4.5
    return [box(x, y, width, 44, color=color)] + [words(x + width / 2, top + number * 16, label, anchor="middle") for number, label in enumerate(lines)]


def picture(parts: list[str], width: float, height: float, name: str, text: Texts) -> str:
    return wrap("".join(parts), width, height, text(f"{name}.title"), text(f"{name}.description"), name)
