"""The CPU of this machine, as the operating system presents it."""

import platform
import re
import subprocess
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict


class CPU(BaseModel):
    """What is known of a CPU; a field that cannot be told is None."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = None
    logical: int | None = None
    """Logical processors that the system presents."""
    physical_cores: int | None = None
    """Cores that the system presents; a virtual machine may present other numbers than the chip has."""
    environment: str = "unknown"
    """`bare-metal`, `virtual machine`, `wsl2` or `unknown`."""
    memory_mib: int | None = None


def this_cpu() -> CPU:
    """Read the CPU of this machine. Needs no privilege and fails on nothing: what cannot be read is None."""
    return CPU(
        model=_model(),
        logical=psutil.cpu_count(logical=True),
        physical_cores=psutil.cpu_count(logical=False),
        environment=_environment(),
        memory_mib=psutil.virtual_memory().total // 2**20,
    )


def _model() -> str | None:
    """The model's name, without trademark signs and doubled spaces."""
    name = None
    if platform.system() == "Linux":
        found = re.search(r"^(?:model name|Model)\s*: (.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
        name = found and found[1]
    elif platform.system() == "Darwin":
        name = _output(["sysctl", "-n", "machdep.cpu.brand_string"])
    elif platform.system() == "Windows":
        import winreg

        key = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as processor:
            name = winreg.QueryValueEx(processor, "ProcessorNameString")[0]
    name = re.sub(r"\((?:R|TM|r|tm)\)", "", name or "")
    return " ".join(name.split()) or None


def _environment() -> str:
    if platform.system() != "Linux":
        return "unknown"
    if "microsoft" in platform.release().lower():
        return "wsl2"
    flags = re.search(r"^flags\s*: (.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    if flags is None:  # not an x86 machine: nothing in cpuinfo tells
        return "unknown"
    return "virtual machine" if "hypervisor" in flags[1].split() else "bare-metal"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _output(command: list[str]) -> str:
    """What a command prints, or nothing where it is missing, fails or hangs."""
    try:
        return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
