"""The drawn pictures of the pages: time lines of host and device, one step, and the decision chart. No measured number."""

import html

from tutorial.publish.plots import wrap
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
    left, launch, kernel = 70, 40, 92
    parts = [words(0, 52, text("asynchronous.host")), words(0, 92, text("asynchronous.device"))]
    parts += [box(left + number * launch, 35, launch - 4, 26, text("asynchronous.launch") if number == 0 else "", HOST) for number in range(5)]
    device_start = left + launch
    end = device_start + 5 * kernel
    parts.append(box(left + 5 * launch, 35, end - left - 5 * launch, 26, text("asynchronous.wait"), WAIT))
    parts += [box(device_start + number * kernel, 75, kernel - 4, 26, text("asynchronous.kernel"), DEVICE) for number in range(5)]
    early = left + 5 * launch
    parts += [line(left, 20, left, 170, dashed=True), words(left, 14, text("asynchronous.start"))]
    parts += [line(early, 61, early, 135, dashed=True), arrow(left, 130, early, 130), words(early + 8, 134, text("asynchronous.too_early"))]
    parts += [line(end, 20, end, 170, dashed=True), arrow(left, 165, end, 165), words(left + 4, 159, text("asynchronous.right"))]
    return picture(parts, 590, 178, "asynchronous", text)


def bounds(text: Texts) -> str:
    """Three loops: the host holds up the first, the chain of kernels the second, the work the third."""
    left, width = 70, 510
    parts = []
    for row, (key, launches, kernels) in enumerate(
        (
            ("host_bound", [(n * 51, 47) for n in range(10)], [(n * 51 + 40, 11) for n in range(10)]),
            ("latency_bound", [(n * 22, 19) for n in range(14)], [(n * 36 + 12, 33) for n in range(14)]),
            ("throughput_bound", [(n * 22, 19) for n in range(4)], [(n * 124 + 12, 120) for n in range(4)]),
        )
    ):
        top = row * 112
        parts.append(words(0, top + 16, text(f"bounds.{key}"), weight="bold"))
        parts += [words(0, top + 44, text("bounds.host")), words(0, top + 78, text("bounds.device"))]
        parts += [box(left + x, top + 28, w, 24, color=HOST) for x, w in launches]
        parts += [box(left + x, top + 62, w, 24, color=DEVICE) for x, w in kernels if x + w <= width + 10]
    return picture(parts, 590, 325, "bounds", text)


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
    """Should I use the GPU for this? Three questions and a measurement."""
    parts, y = [], 4
    for question in ("fits", "care", "work"):
        parts += paragraph(8, y, 260, text(f"decision.{question}"), "currentColor")
        parts += [arrow(268, y + 26, 320, y + 26), words(294, y + 19, text("decision.no"), anchor="middle")]
        parts += paragraph(320, y, 260, text(f"decision.{question}_no"), HOST)
        parts += [arrow(138, y + 52, 138, y + 90), words(146, y + 76, text("decision.yes"))]
        y += 90
    parts += paragraph(8, y, 572, text("decision.measure"), DEVICE)
    return picture(parts, 590, y + 56, "decision", text)


def paragraph(x: float, y: float, width: float, label: str, color: str) -> list[str]:
    """A box with its label on as many lines as it takes; a letter counts 7 units, a Chinese character 14."""
    lines, current, size = [], "", 0.0
    for token in label.split(" ") if " " in label else list(label):
        space = " " if " " in label and current else ""
        length = sum(14 if ord(letter) > 0x2E80 else 7 for letter in space + token)
        if current and size + length > width - 16:
            lines.append(current)
            current, size, space = "", 0.0, ""
        current, size = current + space + token, size + length
    lines.append(current)
    top = y + 26 - (len(lines) - 1) * 8 + 4.5
    return [box(x, y, width, 52, color=color)] + [words(x + width / 2, top + number * 16, label, anchor="middle") for number, label in enumerate(lines)]


def picture(parts: list[str], width: float, height: float, name: str, text: Texts) -> str:
    return wrap("".join(parts), width, height, text(f"{name}.title"), text(f"{name}.description"), name)
