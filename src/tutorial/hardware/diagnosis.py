"""Why PyTorch sees no accelerator, as far as it can be told, and what to do about it."""

import re
from dataclasses import dataclass, field

from tutorial.hardware.nvidia_smi import NO_CARD, parse_nvidia_smi
from tutorial.hardware.schema import Accelerator, Hardware, NotRecognized
from tutorial.hardware.wheels import RIGHT_BUILD, cure, has_code, numbers


@dataclass
class Situation:
    """What is known when an accelerator is missing; gathered in gpu.py, made up in tests."""

    version: str
    cuda: str | None = None
    hip: str | None = None
    listing: str = ""
    """What nvidia-smi printed; empty where there is none."""
    available: bool = False
    """What `torch.cuda.is_available()` says."""
    failure: str | None = None
    """The error of a one-element operation on the first device."""
    built_for: list[str] = field(default_factory=list)
    """`torch.cuda.get_arch_list()`."""
    variables: dict[str, str] = field(default_factory=dict)
    """The environment variables that hide devices, where they are set."""
    wsl: bool = False
    wsl1: bool = False
    windows_driver: bool = True
    """In WSL: /dev/dxg and Windows' libcuda are there."""
    nvidia_hardware: bool = False
    """The PCI bus has an NVIDIA display device."""
    kfd: bool | None = None
    """/dev/kfd, the way to an AMD GPU: True usable, False without the right to use it, None missing."""
    unusable_mps: bool = False
    """A build for Apple's GPUs that does not find one."""


HIDING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
NOT_BUILT = "is built for the CPU only"


def cards_of(listing: str) -> tuple[list[Accelerator], Hardware]:
    """The NVIDIA cards that the driver lists, with their compute capabilities, and what it says of itself."""
    try:
        report = parse_nvidia_smi(listing)
    except NotRecognized:
        return [], Hardware()
    told = re.findall(r"^\s*(\d{1,2}\.\d)\s*$", listing, re.MULTILINE)
    if len(told) == len(report.accelerators):
        for card, capability in zip(report.accelerators, told):
            card.compute_capability = capability
    return report.accelerators, report


def diagnose(now: Situation) -> tuple[str, str] | tuple[None, None]:
    """(problem, cure), or (None, None) where an accelerator works or nothing shows that there is one."""
    if now.hip:
        return _amd(now)
    cards, report = cards_of(now.listing)
    if cards:
        return _nvidia(now, cards, report)
    if now.available and now.failure is None:
        return None, None
    if report.pytorch.problem:
        return report.pytorch.problem, report.pytorch.cure
    if now.cuda and (now.kfd is None or now.nvidia_hardware):
        return _hidden(now, None) or _no_driver(now)
    if now.nvidia_hardware and not now.wsl:
        return (
            "This machine has an NVIDIA card, but no NVIDIA driver answers (nvidia-smi is missing or silent).",
            "install the NVIDIA driver, then run this again",
        )
    if now.kfd is not None and not now.available:
        return (
            f"This machine may have an AMD GPU that ROCm can use (/dev/kfd is there), and this PyTorch ({now.version}) is not built for it.",
            "See whether ROCm supports the GPU, and take the install line for ROCm: https://pytorch.org/get-started/locally/",
        )
    if now.unusable_mps:
        return "PyTorch finds no GPU that its `mps` can use: it needs Apple silicon and a recent macOS.", "Update macOS, then run this again."
    return None, None


def _nvidia(now: Situation, cards: list[Accelerator], report: Hardware):
    name = cards[0].name
    newest = numbers(report.pytorch.driver_cuda)
    told = re.search(r"^\s*(\d{1,2})\.(\d)\s*$", now.listing, re.MULTILINE)
    capability = tuple(map(int, told.groups())) if told else numbers(cards[0].compute_capability)
    line = cure(newest, capability, now.version, now.cuda)
    if now.cuda is None:
        return f"This machine has an {name}, but this PyTorch ({now.version}) {NOT_BUILT}.", line
    if not now.available:
        hidden = _hidden(now, len(cards))
        if hidden:
            return hidden
        driver = f"its driver (CUDA {report.pytorch.driver_cuda or 'unknown'})"
        if newest is None or newest[0] < numbers(now.cuda)[0]:
            return f"This machine has an {name}, but {driver} is too old for this PyTorch (CUDA {now.cuda}).", line
        return (
            f"This machine has an {name}, and {driver} is new enough for this PyTorch (CUDA {now.cuda}), but PyTorch cannot use it: "
            "it may be hidden (CUDA_VISIBLE_DEVICES), or the driver needs a restart of the computer.",
            line,
        )
    if now.failure:
        if has_code(now.built_for, cards[0].compute_capability) is False or "no kernel image" in now.failure:
            made = f" (it is built for {' '.join(now.built_for)})" if now.built_for else ""
            chip = f" (compute capability {cards[0].compute_capability})" if cards[0].compute_capability else ""
            return f"This PyTorch has no code for the {name}{chip}{made}: {now.failure}", line
        return f"PyTorch sees the {name}, but a one-element addition fails on it: {now.failure}", line
    return None, None


def _amd(now: Situation):
    if now.available and now.failure is None:
        return None, None
    hidden = _hidden(now, None)
    if hidden:
        return hidden
    if now.available:
        made = f" It is built for {' '.join(now.built_for)}." if now.built_for else ""
        return f"PyTorch sees the AMD GPU, but a one-element addition fails on it: {now.failure}.{made}", "See which GPUs ROCm supports: https://rocm.docs.amd.com/projects/install-on-linux/en/latest/reference/system-requirements.html"
    if now.kfd is False:
        return "This user may not use the AMD GPU (/dev/kfd).", "sudo usermod -a -G render,video $LOGNAME, then log in again"
    return "This PyTorch is built for AMD GPUs (ROCm), and no AMD GPU driver answers" + ("." if now.kfd else " (/dev/kfd is missing)."), "Install the driver: https://rocm.docs.amd.com/projects/install-on-linux/en/latest/"


def _hidden(now: Situation, cards: int | None):
    """Whether an environment variable hides every device: empty, -1, or first of all an index that no card has."""
    for variable, value in now.variables.items():
        first = value.split(",")[0].strip()
        if first in ("", "-1") or first.lower() in ("none", "nodevfiles") or (cards and first.isdigit() and int(first) >= cards):
            return (
                f"The environment variable {variable} ({first or 'empty'}) hides every device from PyTorch.",
                f"unset {variable} (in PowerShell: Remove-Item Env:{variable}), then run this again",
            )
    return None


def _no_driver(now: Situation):
    if now.wsl1:
        return "This is WSL 1, which has no way to a GPU.", "wsl --set-version Ubuntu 2   (in Windows; the name is one of those that `wsl --list` prints)"
    if now.wsl and not now.windows_driver:
        return (
            "This is WSL, and Windows offers it no GPU driver (/dev/dxg or Windows' libcuda is missing).",
            "Install the NVIDIA driver in Windows (none in WSL), then run `wsl --update` and `wsl --shutdown` in Windows: https://docs.nvidia.com/cuda/wsl-user-guide",
        )
    if now.available:
        return f"PyTorch sees a device, but a one-element addition fails on it: {now.failure}", RIGHT_BUILD
    return (
        f"This PyTorch is built for CUDA {now.cuda}, and no NVIDIA driver answers (nvidia-smi is missing or silent).",
        NO_CARD,
    )
