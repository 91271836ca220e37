"""Read the output of `python -m torch.utils.collect_env`, and of the forks of it that vLLM, SGLang and others ship.

Fields: torch/utils/collect_env.py. Its CPU section is raw `lscpu` text on Linux, the chip's name on macOS, and the fields
of Win32_Processor on Windows.
"""

import re

from tutorial.hardware.gpu_names import decode
from tutorial.hardware.lscpu import parse_lscpu
from tutorial.hardware.schema import CPU, Accelerator, Hardware, NotRecognized, PyTorch
from tutorial.hardware.wheels import cuda_of_driver, cudnn_version, cure, numbers

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
    _diagnose(pytorch, accelerators, _known(fields.get("Is CUDA available")))
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
    if lines and re.match(r"Apple \S", lines[0]):
        return CPU(model=lines[0][:80], vendor="Apple", architecture="arm64")
    if fields.get("OS", "").startswith("macOS") and lines and len(lines) < 3:  # a Mac with an Intel chip
        section = f"Vendor ID: GenuineIntel\nModel name: {lines[0]}\n"
    try:
        cpu = parse_lscpu(section)
    except NotRecognized:
        cpu = CPU()
    machine = re.search(r"\((x86_64|aarch64|arm64|riscv64|ppc64le|s390x|loongarch64)\)", fields.get("OS", "")) or re.search(r"-(x86_64|aarch64|arm64|riscv64|ppc64le|s390x|loongarch64)\b", platform)
    if cpu.architecture is None and machine:
        cpu.architecture = machine[1]
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
    for line in models:
        part = re.match(r"MIG (\S+)\s+Device", line)
        if part and found:
            found[-1].notes = [*found[-1].notes, f"Split into MIG slices: {part[1]}."]
        elif line not in NOTHING and re.search("[A-Za-z]", line) and not re.match(r"(?:nvidia-smi|failed|error|unable|NVIDIA-SMI has)", line, re.I):
            numbered = re.match(r"GPU \d+: *(.+)", line)
            found.append(decode(numbered[1] if numbered else line, hip=bool(pytorch.hip)))
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


def _diagnose(pytorch: PyTorch, accelerators: list[Accelerator], available: str | None) -> None:
    """Why this PyTorch cannot use the first NVIDIA card that the report names, where the report shows it."""
    cards = [accelerator for accelerator in accelerators if accelerator.vendor == "NVIDIA"]
    if not cards or pytorch.hip:
        return
    card = cards[0]
    capability = numbers(card.compute_capability)
    newest = cuda_of_driver(pytorch.driver)
    built = numbers(pytorch.cuda)
    cpu_build = "+cpu" in (pytorch.version or "")
    if available in ("False", "No") and (cpu_build or (pytorch.cuda is None and pytorch.version)):
        pytorch.problem = f"The machine has an {card.name}, but this PyTorch ({pytorch.version}) is built for the CPU only." if cpu_build else None
    elif available in ("False", "No") and built and newest and newest[0] < built[0]:
        pytorch.problem = f"The driver ({pytorch.driver}) is too old for this PyTorch (CUDA {pytorch.cuda})."
    elif available in ("False", "No") and built:
        pytorch.problem = f"PyTorch cannot use the {card.name}; the report does not say why. It may be hidden (CUDA_VISIBLE_DEVICES)."
    elif built and capability and "+cu" in (pytorch.version or "") and ((built < (12, 8) and capability >= (10, 0)) or (built >= (13, 0) and capability < (7, 5))):
        pytorch.problem = f"This PyTorch ({pytorch.version}) has no code for the {card.name} (compute capability {card.compute_capability}), although CUDA is available."
    if pytorch.problem:
        pytorch.cure = cure(newest, capability, pytorch.version, pytorch.cuda)
