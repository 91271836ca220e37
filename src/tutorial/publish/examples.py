"""The examples of the chapters on CPUs and GPUs: what `tutorial inspect` says of them, as Markdown."""

from pathlib import Path

from tutorial.hardware.chips import find_chip
from tutorial.hardware.gpu_names import decode
from tutorial.hardware.paste import decode_text, read_paste
from tutorial.hardware.schema import Hardware
from tutorial.publish.inspection import accelerator_rows, report
from tutorial.publish.tables import markdown_table
from tutorial.publish.words import Texts, safe

CHIPS = (
    "Core i5-12400", "Core i7-12800HX", "Core i7-1255U", "Core i5-12600K", "Core i5-13600K", "Core i7-13700",
    "Core i9-13900KS", "Core Ultra 7 155H", "Core Ultra 9 285K", "Intel N100", "Ryzen AI 9 HX 370", "Apple M2",
)  # fmt: skip
GEFORCE = (
    "NVIDIA GeForce GTX 1060", "NVIDIA GeForce GTX 1650", "NVIDIA GeForce RTX 2050", "NVIDIA GeForce RTX 2070",
    "NVIDIA GeForce RTX 3060", "NVIDIA GeForce RTX 4070", "NVIDIA GeForce RTX 4070 Ti SUPER",
    "NVIDIA GeForce RTX 4070 Laptop GPU", "NVIDIA GeForce RTX 5090 D",
)  # fmt: skip
PROFESSIONAL = (
    "Quadro RTX 6000", "NVIDIA RTX A6000", "NVIDIA RTX 6000 Ada Generation",
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "Tesla P100-PCIE-16GB", "Tesla V100-SXM2-16GB",
    "Tesla T4", "NVIDIA A100-SXM4-80GB", "NVIDIA A10G", "NVIDIA L4", "NVIDIA L40S", "NVIDIA H200", "NVIDIA B200",
    "NVIDIA B300", "NVIDIA GB10",
)  # fmt: skip
OTHERS = (
    "AMD Radeon RX 7900 XTX", "AMD Radeon RX 9070 XT", "AMD Radeon Graphics", "AMD Instinct MI300X",
    "Intel(R) Arc(TM) B580 Graphics", "Apple M2",
)  # fmt: skip


def read_pastes(root: Path) -> dict[str, str]:
    """The reports that the chapters explain, by the name of their file in `snippets/reports`."""
    return {file.stem: decode_text(file.read_bytes()) for file in sorted((root / "snippets" / "reports").glob("*.txt"))}


def fragments(pastes: dict[str, str], text: Texts) -> dict[str, str]:
    """The rendered examples, by their path."""
    return {f"tables/inspect-{name}.md": inspected(read_paste(paste), text) for name, paste in pastes.items()} | {
        "tables/chips.md": chips(CHIPS, text),
        "tables/gpu-names-geforce.md": names(GEFORCE, text),
        "tables/gpu-names-professional.md": names(PROFESSIONAL, text),
        "tables/gpu-names-others.md": names(OTHERS, text),
    }


def inspected(hardware: Hardware, text: Texts) -> str:
    """The report of one machine, with its notes below."""
    rows = report(hardware, text)
    table = markdown_table(
        [text(f"inspect.{column}") for column in ("criterion", "value", "means")],
        [[safe(cell) for cell in row] for row in rows if row.value],
        right=3,
    )
    notes = [f"- **{safe(row.criterion)}**: {safe(row.meaning)}" for row in rows if not row.value]
    return "\n\n".join([table, "\n".join(notes)]) if notes else table


def names(cards: tuple[str, ...], text: Texts) -> str:
    """What names of graphics cards say, one a row: the values of their reports."""
    columns = [text(f"inspect.gpu.{key}") for key in ("name", "architecture", "form", "series", "tier")]
    rows = []
    for card in cards:
        said = {row.criterion: safe(row.value) for row in accelerator_rows(decode(card), text)}
        rows.append([said.get(column, "–") for column in columns])
    return markdown_table(columns, rows, right=5)


def chips(models: tuple[str, ...], text: Texts) -> str:
    """The cores that chips have, and where that is from."""
    rows = []
    for model in models:
        chip = find_chip(model)
        counts = [str(count or "–") for count in (chip.performance, chip.efficiency, chip.low_power, chip.threads)]
        rows.append([f"`{model}`", f"[{safe(chip.generation)}](<{chip.source}>)", *counts])
    columns = ("chip", "generation", "performance", "efficiency", "low_power", "threads")
    return markdown_table([text(f"inspect.chips.{column}") for column in columns], rows, right=2)
