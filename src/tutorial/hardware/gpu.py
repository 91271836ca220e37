"""The accelerators of this machine, and why PyTorch may not be able to use one.

Facts come from PyTorch and the driver; the name adds what they lack (gpu_names.py).
"""

import os
import platform
import re
import shutil
from pathlib import Path

import torch

from tutorial.hardware.diagnosis import HIDING, Situation, cards_of, diagnose
from tutorial.hardware.environment import WSL1
from tutorial.hardware.gpu_names import decode
from tutorial.hardware.programs import outputs
from tutorial.hardware.schema import Accelerator, PyTorch
from tutorial.hardware.wheels import WHEELS, cudnn_version, has_code

__all__ = ["WHEELS", "Accelerator", "accelerator_devices", "every_accelerator", "nvidia_smi", "these_accelerators", "this_pytorch", "unusable_nvidia_card", "why_it_fails"]

NVIDIA_SMI = ("nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi", r"C:\Windows\System32\nvidia-smi.exe")
# An error of PyTorch may name a file, whose path names its owner.
PATHS = re.compile(r"(?<![\w:/])/(?:[\w.+@~-]+/)+[\w.+@~-]+|\b[A-Za-z]:\\[^\s'\":]+")


def accelerator_devices() -> list[torch.device]:
    """The accelerators on which a one-element operation really runs; `is_available` alone is no proof of that."""
    return [device for device in _visible_devices() if why_it_fails(device) is None]


def _visible_devices() -> list[torch.device]:
    if not torch.accelerator.is_available():
        return []
    kind = torch.accelerator.current_accelerator().type
    return [torch.device(kind, index) for index in range(torch.accelerator.device_count())]


def why_it_fails(device: torch.device) -> str | None:
    """The error of a one-element addition on ``device``, or None where it gives the right answer."""
    try:
        return None if (torch.ones(1, device=device) + 1).item() == 2 else "1 + 1 is not 2"
    except RuntimeError as error:
        return PATHS.sub("(a file)", (str(error).splitlines() or [type(error).__name__])[0])


def these_accelerators() -> list[Accelerator]:
    """Every usable accelerator, with what does not change from one minute to the next: for results files."""
    found = [_describe(device) for device in accelerator_devices()]
    for accelerator in found:
        accelerator.works = True
    return found


def every_accelerator() -> list[Accelerator]:
    """Every accelerator that PyTorch sees, usable or not, with its free memory; else the cards that only the driver sees."""
    found = []
    for device in _visible_devices():
        accelerator = _describe(device)
        failure = why_it_fails(device)
        accelerator.works = failure is None
        if failure:
            accelerator.notes = [*accelerator.notes, f"A one-element addition fails: {failure}"]
        else:
            accelerator.free_mib = _free(device)
        found.append(accelerator)
    if not found and not torch.version.hip:
        found = cards_of(nvidia_smi())[0]
        for card in found:
            card.has_code = code_for(card)
            card.works = False
            card.notes = [*card.notes, "The driver sees it, PyTorch does not."]
    return found


def code_for(accelerator: Accelerator) -> bool | None:
    """Whether this build of PyTorch has code for the chip; None where that cannot be told (`mps` and `xpu` compile)."""
    if accelerator.vendor == "NVIDIA" and torch.version.cuda is None:
        return False
    if accelerator.compute_capability is None and (accelerator.gfx is None or not torch.version.hip):
        return None
    return has_code(_built_for(), accelerator.compute_capability, accelerator.gfx)


def _built_for() -> list[str]:
    """What the build has code for, also where no device is available."""
    flags = getattr(torch._C, "_cuda_getArchFlags", lambda: None)()
    return (flags or "").split()


def _describe(device: torch.device) -> Accelerator:
    if device.type == "mps":  # newer versions of PyTorch tell the name of the chip, and nothing else
        get_name = getattr(torch.backends.mps, "get_name", None)
        accelerator = decode((get_name() if get_name else None) or _apple_chip() or "")
        accelerator.device = str(device)
        return accelerator
    if device.type not in ("cuda", "xpu"):
        return Accelerator(device=str(device))
    properties = torch.get_device_module(device).get_device_properties(device)
    if device.type == "xpu":
        accelerator = decode(properties.name)
    elif torch.version.hip:  # ROCm fills in a "capability" that is not one
        accelerator = decode(properties.name, gfx=properties.gcnArchName.split(":")[0], hip=True)
    else:
        accelerator = decode(properties.name, f"{properties.major}.{properties.minor}", hip=False)
    accelerator.device = str(device)
    accelerator.name = properties.name
    accelerator.memory_mib = properties.total_memory // 2**20
    if device.type == "cuda":
        accelerator.multiprocessors = properties.multi_processor_count
        if getattr(properties, "is_integrated", 0) and accelerator.form is None:
            accelerator.form = "integrated"
        accelerator.has_code = code_for(accelerator)
    return accelerator


def _free(device: torch.device) -> int | None:
    if device.type not in ("cuda", "xpu"):
        return None
    try:
        return torch.get_device_module(device).mem_get_info(device)[0] // 2**20
    except (RuntimeError, AttributeError):
        return None


def _apple_chip() -> str | None:
    """The name of the chip, which PyTorch does not tell: the GPU is a part of it."""
    if platform.system() != "Darwin":
        return None
    return outputs(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"])[0].strip() or None


def this_pytorch() -> PyTorch:
    """This PyTorch and the driver below it, and why no accelerator can be used where none can."""
    listing = "" if torch.version.hip else nvidia_smi()
    driver = cards_of(listing)[1].pytorch
    report = PyTorch(
        version=str(torch.__version__),
        cuda=torch.version.cuda,
        hip=torch.version.hip,
        driver=driver.driver,
        driver_cuda=driver.driver_cuda,
        cudnn=None if torch.version.hip else cudnn_version(torch.backends.cudnn.version()),
    )
    if not accelerator_devices():
        report.problem, report.cure = diagnose(_situation(listing))
    return report


def _situation(listing: str) -> Situation:
    available = torch.cuda.is_available()
    mps = getattr(torch.backends, "mps", None)
    kfd = Path("/dev/kfd")
    return Situation(
        version=str(torch.__version__),
        cuda=torch.version.cuda,
        hip=torch.version.hip,
        listing=listing,
        available=available,
        failure=why_it_fails(torch.device("cuda", 0)) if available else None,
        built_for=_built_for(),
        variables={name: os.environ[name] for name in HIDING if name in os.environ},
        wsl="microsoft" in platform.release().lower(),
        wsl1=bool(WSL1.search(platform.release())),
        windows_driver=Path("/dev/dxg").exists() and any(Path("/usr/lib/wsl/lib").glob("libcuda.so*")),
        nvidia_hardware=_nvidia_on_the_bus(),
        kfd=os.access(kfd, os.R_OK | os.W_OK) if kfd.exists() else None,
        unusable_mps=bool(mps and mps.is_built() and not mps.is_available()),
    )


def _nvidia_on_the_bus() -> bool:
    """Whether the PCI bus has a display device of NVIDIA (https://www.kernel.org/doc/html/latest/PCI/sysfs-pci.html)."""
    try:
        return any(
            (device / "vendor").read_text().strip() == "0x10de" and (device / "class").read_text().startswith("0x03")
            for device in Path("/sys/bus/pci/devices").iterdir()
        )
    except OSError:
        return False


def unusable_nvidia_card() -> str | None:
    """Why this PyTorch cannot use the NVIDIA card that the driver lists, with the line that cures it.

    None where there is no such card, or where it works.
    """
    if torch.version.hip:
        return None
    listing = nvidia_smi()
    if not cards_of(listing)[0]:
        return None
    problem, cure = diagnose(_situation(listing))
    return problem and f"{problem}\n{cure}"


def nvidia_smi() -> str:
    """The driver's own report: its table, the cards, and their compute capabilities; or nothing where there is no driver."""
    for program in NVIDIA_SMI:
        found = shutil.which(program) or (program if Path(program).is_file() else None)
        if found:
            return "\n".join(outputs([found], [found, "-L"], [found, "--query-gpu=compute_cap", "--format=csv,noheader"]))
    return ""
