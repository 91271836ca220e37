"""The accelerators of this machine, and why PyTorch may not be able to use one."""

import re
import shutil
import subprocess
from pathlib import Path

import torch
from pydantic import BaseModel, ConfigDict

# The wheels, newest first: (CUDA version that the driver must offer, name of the wheel index, the compute capabilities
# that it has code for: from the first on, below the second).
# A driver of the same major version runs every minor version of CUDA, so 12.0 is enough for cu126:
# https://docs.nvidia.com/deploy/cuda-compatibility/
# Capabilities: PYTORCH_RELEASES_CODE_CC in torch/cuda/__init__.py.
WHEELS = (((13, 0), "cu130", (7, 5), (13, 0)), ((12, 0), "cu126", (5, 0), (10, 0)))

NVIDIA_SMI = ("nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi", r"C:\Windows\System32\nvidia-smi.exe")


class Accelerator(BaseModel):
    """What PyTorch says of one accelerator; a field that it does not tell is None."""

    model_config = ConfigDict(extra="forbid")

    device: str
    """As PyTorch writes it: `cuda:0`, `mps:0`, `xpu:0`."""
    name: str | None = None
    compute_capability: str | None = None
    gfx: str | None = None
    memory_mib: int | None = None
    multiprocessors: int | None = None


def accelerator_devices() -> list[torch.device]:
    """The accelerators on which a one-element operation really runs; `is_available` alone is no proof of that."""
    if not torch.accelerator.is_available():
        return []
    kind = torch.accelerator.current_accelerator().type
    devices = [torch.device(kind, index) for index in range(torch.accelerator.device_count())]
    return [device for device in devices if why_it_fails(device) is None]


def why_it_fails(device: torch.device) -> str | None:
    """The error of a one-element addition on ``device``, or None where it gives the right answer."""
    try:
        return None if (torch.ones(1, device=device) + 1).item() == 2 else "1 + 1 is not 2"
    except RuntimeError as error:
        return str(error).splitlines()[0]


def these_accelerators() -> list[Accelerator]:
    """Every usable accelerator of this machine with what PyTorch tells of it."""
    return [_describe(device) for device in accelerator_devices()]


def _describe(device: torch.device) -> Accelerator:
    accelerator = Accelerator(device=str(device))
    if device.type == "mps":  # newer versions of PyTorch tell the name of the chip, and nothing else
        get_name = getattr(torch.backends.mps, "get_name", None)
        accelerator.name = get_name() if get_name else None
    if device.type not in ("cuda", "xpu"):
        return accelerator
    properties = torch.get_device_module(device).get_device_properties(device)
    accelerator.name = properties.name
    accelerator.memory_mib = properties.total_memory // 2**20
    if device.type == "cuda":
        accelerator.multiprocessors = properties.multi_processor_count
        if torch.version.hip:  # ROCm fills in a "capability" that is not one
            accelerator.gfx = properties.gcnArchName.split(":")[0]
        else:
            accelerator.compute_capability = f"{properties.major}.{properties.minor}"
    return accelerator


def unusable_nvidia_card() -> str | None:
    """Why this PyTorch cannot use the NVIDIA card that the driver lists, with the line that cures it.

    None where there is no such card, or where it works.
    """
    if torch.version.hip:
        return None
    listing = nvidia_smi()
    cards = re.findall(r"^GPU \d+: (.+?) \(UUID", listing, re.MULTILINE)
    if not cards:
        return None
    driver = re.search(r"CUDA (?:UMD )?Version\s*:\s*(\d+)\.(\d+)", listing)
    cure = _cure(listing, driver and tuple(map(int, driver.groups())))
    if torch.version.cuda is None:
        return f"This machine has an {cards[0]}, but this PyTorch ({torch.__version__}) is built for the CPU only.\n{cure}"
    if not torch.cuda.is_available():
        return (
            f"This machine has an {cards[0]}, but its driver (CUDA {driver and driver[0].split()[-1] or 'unknown'}) is too old for "
            f"this PyTorch (CUDA {torch.version.cuda}), or the card is hidden (CUDA_VISIBLE_DEVICES).\n{cure}"
        )
    failure = why_it_fails(torch.device("cuda", 0))
    if failure:
        return f"PyTorch sees the {cards[0]}, but a one-element addition fails on it: {failure}\n{cure}"
    return None


def _cure(listing: str, newest: tuple[int, int] | None) -> str:
    """What to do: the build that runs with a driver for CUDA ``newest`` and has code for the first card of the listing."""
    told = re.search(r"^(\d+)\.(\d+)$", listing, re.MULTILINE)
    capability = told and tuple(map(int, told.groups()))
    fits = [
        wheel
        for needed, wheel, first, beyond in WHEELS
        if newest and newest >= needed and (capability is None or first <= capability < beyond)
    ]
    if not fits:
        return "install a newer NVIDIA driver, then run this again"
    if torch.version.cuda and fits[0] == "cu" + torch.version.cuda.replace(".", ""):
        return "This build is the right one for the driver and the card; the chapter \"Set up PyTorch\" lists other causes."
    version = torch.__version__.split("+")[0]
    return f"pip install --force-reinstall torch=={version} --index-url https://download.pytorch.org/whl/{fits[0]}"


def nvidia_smi() -> str:
    """The driver's own report: its table, the cards, and their compute capabilities; or nothing where there is no driver."""
    for program in NVIDIA_SMI:
        found = shutil.which(program) or (program if Path(program).is_file() else None)
        if found:
            questions = ([], ["-L"], ["--query-gpu=compute_cap", "--format=csv,noheader"])
            try:
                runs = [subprocess.run([found, *options], capture_output=True, encoding="utf-8", errors="replace", timeout=10) for options in questions]
                return "\n".join(run.stdout for run in runs)
            except (OSError, subprocess.SubprocessError):
                return ""
    return ""
