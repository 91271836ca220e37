"""Say which CPU this is and how much of it this process may use. Runs on Linux, Windows, macOS and in WSL2."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import torch


# --8<-- [start:name]
def cpu_name():
    """The name of the CPU. Each operating system keeps it elsewhere."""
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    elif sys.platform == "darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    elif sys.platform == "win32":
        import winreg

        path = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
            return winreg.QueryValueEx(key, "ProcessorNameString")[0].strip()
    return platform.processor() or platform.machine()
# --8<-- [end:name]


# --8<-- [start:limits]
def usable_cpus():
    """The logical CPUs that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def quota(cpu_max):
    """The share that the text of the file cpu.max grants, in CPUs; None is no limit."""
    granted, period = cpu_max.split()
    return None if granted == "max" else int(granted) / int(period)


def container_quota():
    """The share of CPU time that this Linux container was given."""
    file = Path("/sys/fs/cgroup/cpu.max")
    return quota(file.read_text()) if file.exists() else None
# --8<-- [end:limits]


# --8<-- [start:report]
print("name:                ", cpu_name())
print("logical CPUs:        ", os.cpu_count())
print("usable here:         ", usable_cpus())
print("container quota:     ", container_quota())
print("PyTorch threads:     ", torch.get_num_threads())
print("vector instructions: ", torch.backends.cpu.get_cpu_capability())
# --8<-- [end:report]
