"""Read what `nvidia-smi` printed: its table, `-L`, `-q`, and the CSV of `--query-gpu`. One text may hold several.

Forms: https://docs.nvidia.com/deploy/nvidia-smi/ . UUIDs, serial numbers and process lists are passed over.
"""

import re

from tutorial.hardware.gpu_names import decode
from tutorial.hardware.schema import Accelerator, Hardware, NotRecognized, PyTorch

LARGEST = 2_000_000  # characters that are looked at
LONGEST_LINE = 1000  # the table is 91 wide
MOST = 512  # cards; the largest machines have 16

# |   0  NVIDIA GeForce RTX 4060 ...  WDDM  | 00000000:01:00.0  On |   N/A |      the column behind the name is the persistence mode
ROW = re.compile(r"\|\s+(\d{1,3})\s+(\S[^|]*?)\s+(?:On|Off|N/A|WDDM|TCC|MCDM|ERR!)\s*\|\s*(?:[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.\d|N/A)", re.I)
USED = re.compile(r"(\d+)\s*MiB\s*/\s*(\d+)\s*MiB")
LISTED = re.compile(r"^[\s>*-]*GPU (\d{1,3}): (.+?)\s*(?:\(UUID:.*)?$")
SLICE = re.compile(r"^[\s>*-]*MIG (\S+)\s+Device\s+\d+")
FIELDS = {
    "name": "name",
    "gpu_name": "name",
    "memory.total": "memory_mib",
    "memory.free": "free_mib",
    "memory.used": "used_mib",
    "compute_cap": "compute_capability",
    "driver_version": "driver",
}
# Other fields that may stand beside them, so that a header is known for one:
# https://docs.nvidia.com/deploy/nvidia-smi/ (`nvidia-smi --help-query-gpu`)
FIELD = re.compile(r"[a-z_]+(?:\.[a-z_]+)*(?: \[[^\]]+\])?")

NO_CARD = "If the machine has an NVIDIA card, install its driver (https://www.nvidia.com/drivers); a container must be started with `--gpus all`. Without a card, PyTorch uses the CPU."
# What it prints instead, what that means, and what to do.
FAILURES = (
    (r"couldn't communicate with the NVIDIA driver", "The NVIDIA driver is not running (nvidia-smi cannot communicate with it).", "Install the NVIDIA driver again, or restart after an update of the kernel or the driver."),
    (r"Driver/library version mismatch", "The NVIDIA driver was updated and the old one is still loaded (version mismatch).", "Restart the computer."),
    (r"No devices were found", "The NVIDIA driver runs and finds no card.", "Look whether the card is seated, powered and switched on in the firmware."),
    (r"Unable to determine the device handle", "The NVIDIA driver lost a card (nvidia-smi cannot reach it).", "Restart the computer."),
    (r"GPU access blocked by the operating system", "Windows does not let the NVIDIA driver into WSL (GPU access blocked by the operating system).", "Update Windows and its NVIDIA driver, then run `wsl --update` and `wsl --shutdown` in Windows."),
    (r"Failed to initialize NVML: Unknown Error", "The NVIDIA driver cannot be reached, as in a container that has lost its access to the card (NVML: Unknown Error).", "Start the container again; without one, restart the computer."),
    (r"Failed to initialize NVML: Insufficient Permissions", "This user may not use the NVIDIA driver (NVML: Insufficient Permissions).", "Look at the rights of /dev/nvidia*: ls -l /dev/nvidia*"),
    (r"NVML: Driver Not Loaded", "The NVIDIA driver is installed and not loaded.", "Restart the computer; if that does not help, install the NVIDIA driver again."),
    (r"couldn't find libnvidia-ml\.so", "The library of the NVIDIA driver is missing (libnvidia-ml).", NO_CARD),
    (r"nvidia-smi['\"]?:? (?:command )?not found|command not found: nvidia-smi|nvidia-smi['\"]? is not recognized|term 'nvidia-smi' is not recognized", "There is no nvidia-smi, so no NVIDIA driver is installed, or it cannot be seen from here.", NO_CARD),
)  # fmt: skip


def parse_nvidia_smi(text: str) -> Hardware:
    """The cards and the driver that a text tells of. Raises NotRecognized where it tells of none."""
    lines = [line[:LONGEST_LINE] for line in text[:LARGEST].replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    text = "\n".join(lines)
    pytorch = PyTorch()
    header = re.search(r"(?:Driver|KMD) Version {0,60}: *(\d+(?:\.\d+)+)", text)
    pytorch.driver = header and header[1]
    newest = re.search(r"CUDA (?:UMD )?Version {0,60}: *(\d+\.\d+)", text)
    pytorch.driver_cuda = newest and newest[1]
    readings = [reading[:MOST] for reading in (_table(lines), _listing(lines), _query(lines), _csv(lines)) if reading]
    cards = readings[0] if readings else []
    for more in readings[1:]:
        cards = _combine(cards, more)
    for card in cards:
        pytorch.driver = pytorch.driver or card.get("driver")
    for phrase, problem, cure in FAILURES:
        if re.search(phrase, text, re.IGNORECASE):
            pytorch.problem, pytorch.cure = problem, cure
            break
    if not cards and not pytorch.problem and not (pytorch.driver and re.search(r"NVIDIA-SMI|NVSMI", text)):
        raise NotRecognized("no nvidia-smi table, `GPU 0:` line, or CSV with the names of the fields")
    return Hardware(accelerators=[_accelerator(card) for card in cards], pytorch=pytorch)


def _accelerator(card: dict) -> Accelerator:
    accelerator = decode(card["name"], card.get("compute_capability"), hip=False)
    accelerator.memory_mib = card.get("memory_mib")
    accelerator.free_mib = card.get("free_mib")
    if accelerator.free_mib is None and card.get("memory_mib") is not None and card.get("used_mib") is not None:
        accelerator.free_mib = max(card["memory_mib"] - card["used_mib"], 0)
    accelerator.notes = [*accelerator.notes, *card.get("notes", [])]
    return accelerator


def _combine(cards: list[dict], more: list[dict]) -> list[dict]:
    """Two readings of the same cards in one, or the cards of both where they are not the same."""
    if len(cards) != len(more) or any(not _one_name(a["name"], b["name"]) for a, b in zip(cards, more)):
        known = [card["name"] for card in cards]
        return cards if all(any(_one_name(name, card["name"]) for name in known) for card in more) else (cards + more)[:MOST]
    return [
        {**b, **a, "name": max(a["name"], b["name"], key=lambda name: (not _is_cut(name), len(name))), "notes": a.get("notes", []) + b.get("notes", [])}
        for a, b in zip(cards, more)
    ]


def _is_cut(name: str) -> bool:
    return name.rstrip().endswith(("...", "…"))


def _one_name(one: str, other: str) -> bool:
    """Whether two spellings are of one card; either may be cut short."""
    fronts = [re.sub(r"(\.{2,}|…)\s*$", "", name).strip().lower() for name in (one, other)]
    return not all(fronts) or fronts[0] == fronts[1] or (_is_cut(one) and fronts[1].startswith(fronts[0])) or (_is_cut(other) and fronts[0].startswith(fronts[1]))


def _table(lines: list[str]) -> list[dict]:
    """The rows of the table; the memory stands in the line below the name."""
    cards = []
    for number, line in enumerate(lines):
        row = ROW.search(line)
        if not row:
            continue
        card = {"name": row[2], "notes": []}
        if row[2] == "ERR!":  # the driver cannot read it
            card = {"name": "", "notes": ["nvidia-smi prints ERR!: the driver cannot read this card. A restart of the computer often helps."]}
        for below in lines[number + 1 : number + 4]:
            if ROW.search(below) or "+--" in below:
                break
            memory = USED.search(below)
            if memory and "memory_mib" not in card:
                card["used_mib"], card["memory_mib"] = int(memory[1]), int(memory[2])
            if re.search(r"\|\s*Enabled\*?\s*\|", below):
                card["notes"].append("MIG is on: PyTorch sees its slices instead of the card.")
        cards.append(card)
    return cards


def _listing(lines: list[str]) -> list[dict]:
    """The lines of `nvidia-smi -L`, also without their UUIDs."""
    cards: list[dict] = []
    for line in lines:
        listed, part = LISTED.match(line), SLICE.match(line)
        if listed and not re.match(r"0+:|[\d.]+\s*(?:MiB|%|W)", listed[2]):
            cards.append({"name": listed[2], "notes": []})
        elif part and cards:
            cards[-1]["notes"].append(f"Split into MIG slices: {part[1]}.")
    for card in cards:
        slices = [note.split(": ")[1].rstrip(".") for note in card["notes"]]
        card["notes"] = [f"Split into MIG slices: {', '.join(slices)}."] if slices else []
    return cards


def _query(lines: list[str]) -> list[dict]:
    """The cards of `nvidia-smi -q`, whose memory is in the section `FB Memory Usage`."""
    cards: list[dict] = []
    section = ""
    for line in lines:
        label, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or re.match(r"GPU [0-9A-F]{8}$", label):
            section = label
        elif label == "Product Name" and value:
            cards.append({"name": value, "notes": []})
        elif cards and section == "FB Memory Usage" and (size := re.match(r"(\d+) MiB", value)):
            key = {"Total": "memory_mib", "Used": "used_mib", "Free": "free_mib"}.get(label)
            if key:
                cards[-1].setdefault(key, int(size[1]))
    return cards


def _csv(lines: list[str]) -> list[dict]:
    """CSV with the names of its fields above it, or without where each value shows what it is."""
    cards, fields, telling = [], None, False
    for line in lines:
        if not line.strip() or len(cards) > MOST:
            fields = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("`").split(",")]
        header = [re.sub(r"\s*\[.*", "", cell).lower() for cell in cells]
        if set(header) & set(FIELDS) and all(FIELD.fullmatch(cell.lower()) for cell in cells):
            fields, telling = header, bool(set(header) & set(FIELDS) - {"name"})
            continue
        if fields and len(cells) == len(fields) and cells != [""]:
            card = _values(dict(zip(fields, cells)))
            if card and (card["name"] or len(card) > 2) and (telling or decode(card["name"]).vendor == "NVIDIA"):
                cards.append(card)
        elif not fields:
            card = _guess(cells)
            if card:
                cards.append(card)
        else:
            fields = None
    return cards


def _values(cells: dict[str, str]) -> dict | None:
    card: dict = {"notes": []}
    for field, value in cells.items():
        key = FIELDS.get(field)
        if key in ("memory_mib", "free_mib", "used_mib"):
            size = re.fullmatch(r"(\d{1,9})(?:\s*MiB)?", value)
            if size:
                card[key] = int(size[1])
        elif key == "compute_capability":
            if re.fullmatch(r"\d{1,2}\.\d", value):
                card[key] = value
        elif key == "driver":
            if re.fullmatch(r"\d{3}(?:\.\d+)+", value):
                card[key] = value
        elif key and value and not value.startswith("["):
            card[key] = value
    if not {"name", "gpu_name"} & set(cells):  # a query that did not ask for it
        card["name"] = ""
    elif not re.search(r"[A-Za-z]", card.get("name", "")):
        return None
    return card


def _guess(cells: list[str]) -> dict | None:
    """A line of CSV without a header: a known NVIDIA name, and values whose form says what they are."""
    if len(cells) > 40 or any(len(cell) > 160 for cell in cells):
        return None
    named = [cell for cell in cells if re.match(r"(?:NVIDIA|GeForce|Quadro|Tesla|TITAN|GRID) [\w(]", cell) and ":" not in cell and "|" not in cell]
    rest = [cell for cell in cells if cell not in named]
    shape = r"\d+|\d+ (?:MiB|%|W|MHz|C)|[\d.]+(?: W)?|GPU-[0-9a-f-]+|\[?N/A\]?|\[Not Supported\]|[0-9A-Fa-f]{4,8}:[0-9A-Fa-f:.]+|P\d+|Default|Enabled|Disabled"
    if len(named) != 1 or not all(re.fullmatch(shape, cell) for cell in rest):
        return None
    if decode(named[0], hip=False).line is None and not rest:
        return None
    card: dict = {"name": named[0], "notes": []}
    sizes = [int(cell.split()[0]) for cell in rest if re.fullmatch(r"\d{1,9} MiB", cell)]
    capabilities = [cell for cell in rest if re.fullmatch(r"\d{1,2}\.\d", cell)]
    drivers = [cell for cell in rest if re.fullmatch(r"\d{3}\.\d+(?:\.\d+)?", cell)]
    if len(sizes) == 1:
        card["memory_mib"] = sizes[0]
        card["notes"].append("The line has one size and no header: taken for the whole memory.")
    elif sizes:
        card["notes"].append("The line has several sizes and no header: which is the memory is not known.")
    if len(capabilities) == 1:
        card["compute_capability"] = capabilities[0]
    if len(drivers) == 1:
        card["driver"] = drivers[0]
    return card
