"""Read the output of `python -m torch.utils.collect_env`, and of the forks of it that vLLM, SGLang and others ship.

Fields: torch/utils/collect_env.py. Its CPU section is raw `lscpu` text on Linux, the chip's name on macOS, and the fields
of Win32_Processor on Windows.
"""

import re

from tutorial.hardware.gpu_names import decode
from tutorial.hardware.lscpu import parse_lscpu
from tutorial.hardware.nvidia_smi import NO_CARD
from tutorial.hardware.schema import CPU, Accelerator, Hardware, NotRecognized, PyTorch
from tutorial.hardware.wheels import TEGRA, cuda_of_driver, cudnn_version, cure, numbers

LARGEST = 2_000_000  # characters that are looked at
MOST = 512  # lines of cards; the largest machines have 16 cards
LONGEST_LINE = 20_000  # the flags of a CPU have about 2,000

KEYS = (
    "PyTorch version",
    "Is debug build",
    "CUDA used to build PyTorch",
    "ROCM used to build PyTorch",
    "XPU used to build PyTorch",
    "OS",
    "GCC version",
    "Clang version",
    "CMake version",
    "Libc version",
    "Python version",
    "Python platform",
    "Is CUDA available",
    "CUDA runtime version",
    "CUDA_MODULE_LOADING set to",
    "GPU models and configuration",
    "Nvidia driver version",
    "cuDNN version",
    "Is XPU available",
    "HIP runtime version",
    "MIOpen runtime version",
    "Is XNNPACK available",
    "Caching allocator config",
    "Intel GPU driver version",
    "Intel GPU models onboard",
    "Intel GPU models detected",
)
KEY = re.compile(r"^[\s>]*(" + "|".join(map(re.escape, KEYS)) + r")[ \t]*:(.*)$")
ENOUGH = ("PyTorch version", "CUDA used to build PyTorch", "Python platform", "Is CUDA available", "GPU models and configuration", "Is debug build")
# What PyTorch's own wheels have machine code for, by the CUDA they are built for: (from this CUDA, below this one, from this
# compute capability, below this one, whether what is older has surely none): `torch.cuda.get_arch_list()` of releases 1.8 to 2.13,
# https://github.com/pytorch/pytorch/blob/main/.ci/manywheel/build_cuda.sh
OFFICIAL = (
    ((11, 1), (11, 8), (3, 7), (9, 0), True),
    ((11, 8), (12, 8), (5, 0), (10, 0), True),
    ((12, 8), (13, 0), (7, 5), (13, 0), False),
    ((13, 0), (14, 0), (7, 5), (13, 0), True),
)
NOTHING = ("", "N/A", "None", "Could not collect", "No CUDA")


def parse_collect_env(text: str) -> Hardware:
    """The machine and the PyTorch that a text tells of. Raises NotRecognized where it is not of collect_env."""
    text = "\n".join(line[:LONGEST_LINE] for line in text[:LARGEST].replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    fields = _fields(text)
    if sum(key in fields for key in ENOUGH) < 2:
        raise NotRecognized("no lines such as `PyTorch version:` and `Is CUDA available:`")
    pytorch = PyTorch(
        version=_known(fields.get("PyTorch version")),
        cuda=_version(fields.get("CUDA used to build PyTorch")),
        hip=_known(fields.get("ROCM used to build PyTorch")) or _known(fields.get("HIP runtime version")),
        driver=_version(fields.get("Nvidia driver version")),
        cudnn=_cudnn(fields.get("cuDNN version", ""), text),
    )
    cpu = _cpu(_section(text), fields)
    accelerators = _accelerators(fields, pytorch, cpu)
    _diagnose(pytorch, accelerators, _known(fields.get("Is CUDA available")), without_cuda=fields.get("CUDA used to build PyTorch") == "None", arm=cpu.architecture == "aarch64")
    return Hardware(cpu=cpu, accelerators=accelerators, pytorch=pytorch)


def _fields(text: str) -> dict[str, str]:
    """Each field's value; that of some goes on in the lines below, to an empty line or the next field."""
    fields: dict[str, str] = {}
    key = None
    for line in text.split("\n"):
        found = KEY.match(line)
        if found:
            key = found[1]
            if key in fields:  # a second report in the text
                key = None
                continue
            fields[key] = found[2].strip()
        elif not line.strip(" >\t") or line.startswith("====") or line.strip(" >") == "CPU:":
            key = None
        elif key:
            fields[key] += "\n" + line.strip(" >\t")
    return fields


def _known(value: str | None) -> str | None:
    value = (value or "").split("\n")[0].strip()
    return None if value in NOTHING else value[:80]


def _version(value: str | None) -> str | None:
    found = re.match(r"\d+(?:\.\d+)+", _known(value) or "")
    return found[0] if found else None


def _cudnn(value: str, text: str) -> str | None:
    """The cuDNN that PyTorch brought with it, else the one that is installed, where all of its files are of one version."""
    packaged = set(re.findall(r"nvidia-cudnn-cu\d+(?:==|\s+)(\d+\.\d+\.\d+)", text))
    if len(packaged) == 1:
        return packaged.pop()
    plain = re.match(r"(\d+(?:\.\d+){1,3}|\d{4,6})\s*$", value)
    if plain:
        return plain[1] if "." in plain[1] else cudnn_version(plain[1])
    for files in (re.findall(r"libcudnn\.so\.(\d+\.\d+\.\d+)", value), re.findall(r"libcudnn\w*\.so\.(\d+\.\d+\.\d+)", value)):
        if files:
            return files[0] if len(set(files)) == 1 else None
    windows = set(re.findall(r"cudnn\w*?64_(\d+)\.dll", value))
    return windows.pop() if len(windows) == 1 else None


def _section(text: str) -> str:
    """The lines of the CPU section. In a Chinese lscpu a field is named `CPU:` as well; the heading has nothing behind it."""
    start = re.search(r"^[ \t>]*CPU:[ \t]*$|^=+\n\s*CPU Info\s*\n=+[ \t]*$", text, re.MULTILINE)
    if not start:
        return ""
    rest = text[start.end() :]
    end = re.search(r"^[ \t>]*(?:Versions of relevant libraries|={10,}|\[(?:pip\d*|conda)\])", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def _cpu(section: str, fields: dict[str, str]) -> CPU:
    lines = [line.strip(" >\t") for line in section.split("\n") if line.strip(" >\t")]
    platform = fields.get("Python platform", "")
    if lines and len(lines) < 3 and (lines[0].startswith("Apple ") or fields.get("OS", "").startswith("macOS")):  # the chip's name alone
        section = f"Model name: {lines[0]}\n"
    try:
        cpu = parse_lscpu(section)
    except NotRecognized:
        cpu = CPU()
    machine = re.search(r"\((x86_64|aarch64|arm64|riscv64|ppc64le|s390x|loongarch64)\)", fields.get("OS", "")) or re.search(r"-(x86_64|aarch64|arm64|riscv64|ppc64le|s390x|loongarch64)\b", platform)
    if cpu.architecture is None and machine:
        cpu.architecture = "aarch64" if machine[1] == "arm64" else machine[1]
    if re.search(r"microsoft.*WSL2|-microsoft-standard", platform):
        cpu.environment, cpu.topology_trusted = "wsl2", False
    elif re.search(r"Microsoft", section) and platform and "microsoft" not in platform.lower():
        cpu.environment, cpu.topology_trusted = "hyper-v", False
    if cpu.environment in ("wsl2", "hyper-v"):  # the platform line has settled what lscpu alone leaves open
        cpu.notes = [note for note in cpu.notes if not note.startswith("Microsoft's hypervisor")]
    if not section.strip() or cpu == CPU():
        cpu.notes = [*cpu.notes, "The report tells nothing of the CPU."]
    return cpu


def _accelerators(fields: dict[str, str], pytorch: PyTorch, cpu: CPU) -> list[Accelerator]:
    models = [line.strip() for line in fields.get("GPU models and configuration", "").split("\n")][:MOST]
    found: list[Accelerator] = []
    slices: dict[int, list[str]] = {}
    for line in models:
        part = re.match(r"MIG (\S+)\s+Device", line)
        if part and found:
            slices.setdefault(len(found) - 1, []).append(part[1])
        elif line not in NOTHING and re.search("[A-Za-z]", line) and not re.match(r"(?:nvidia-smi|failed|error|unable|NVIDIA-SMI has)", line, re.I):
            numbered = re.match(r"GPU \d+: *(.+)", line)
            found.append(decode(numbered[1] if numbered else line, hip=bool(pytorch.hip)))
    for index, names in slices.items():
        found[index].notes = [*found[index].notes, f"Split into MIG slices: {', '.join(names)}."]
    if pytorch.hip and len(found) == 1:
        found[0].notes = [*found[0].notes, "collect_env names the first AMD device only; there may be more."]
    found += [_xpu(line) for line in fields.get("Intel GPU models detected", "").split("\n") if "_XpuDeviceProperties(" in line]
    if not found:
        found += [decode(line.strip(" *")) for line in fields.get("Intel GPU models onboard", "").split("\n") if re.search("Intel", line)]
    if not found and cpu.vendor == "Apple" and cpu.model:
        chip = decode(cpu.model)
        chip.notes = [*chip.notes, "Part of the chip. The report does not say whether PyTorch's `mps` works."]
        found.append(chip)
    return found


def _xpu(line: str) -> Accelerator:
    name = re.search(r"\(name='([^']*)'", line)
    accelerator = decode(name[1] if name else "", hip=False)
    memory = re.search(r"total_memory=(\d{1,9})MB", line)
    accelerator.memory_mib = int(memory[1]) if memory else None
    return accelerator


def _diagnose(pytorch: PyTorch, accelerators: list[Accelerator], available: str | None, without_cuda: bool, arm: bool) -> None:
    """Why this PyTorch cannot use the first NVIDIA card that the report names, where the report shows it."""
    if pytorch.hip:
        return
    cards = [accelerator for accelerator in accelerators if accelerator.vendor == "NVIDIA"]
    for card in cards:
        card.has_code = False if without_cuda else _has_code(pytorch, card.compute_capability, arm)
    unavailable = available in ("False", "No")
    if not cards:
        if unavailable and pytorch.cuda and not accelerators:
            shown = "an NVIDIA driver and no card" if pytorch.driver else "no NVIDIA driver and no card"
            pytorch.problem, pytorch.cure = f"This PyTorch is built for CUDA {pytorch.cuda}, and the report shows {shown}.", NO_CARD
        return
    card = cards[0]
    newest, built = cuda_of_driver(pytorch.driver), numbers(pytorch.cuda)
    if unavailable and (without_cuda or "+cpu" in (pytorch.version or "")):
        only = "for the CPU only" if "+xpu" not in (pytorch.version or "") else "for Intel's GPUs"
        pytorch.problem = f"The machine has an {card.name}, but this PyTorch ({pytorch.version}) is built {only}."
    elif unavailable and built and newest and newest[0] < built[0]:
        pytorch.problem = f"The driver ({pytorch.driver}) is too old for this PyTorch (CUDA {pytorch.cuda})."
    elif card.has_code is False:
        although = "" if unavailable else ", although CUDA is available"
        pytorch.problem = f"This PyTorch ({pytorch.version}) has no code for the {card.name} (compute capability {card.compute_capability}){although}."
    elif unavailable and built:
        pytorch.problem = f"PyTorch cannot use the {card.name}; the report does not say why. It may be hidden (CUDA_VISIBLE_DEVICES)."
    if pytorch.problem:
        pytorch.cure = cure(newest, numbers(card.compute_capability), pytorch.version, pytorch.cuda)


def _has_code(pytorch: PyTorch, capability: str | None, arm: bool) -> bool | None:
    """Whether a wheel of PyTorch's own has code for a chip; None for what somebody built, and where it cannot be told."""
    built, chip = numbers(pytorch.cuda), numbers(capability)
    if not built or not chip or "+cu" not in (pytorch.version or "") or capability in TEGRA or chip[0] == 11 or (arm and chip < (8, 0)):
        return None  # wheels for ARM have fewer, and those of a Jetson are NVIDIA's
    for first, below, oldest, beyond, exact in OFFICIAL:
        if first <= built < below:
            return True if oldest <= chip < beyond else None if chip < oldest and not exact else False
    return None
