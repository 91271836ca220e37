"""The CPU of this machine, from its operating system. Needs no privilege, sends nothing, and fails on nothing."""

import json
import os
import platform
import re
import sys
from pathlib import Path

import psutil

from tutorial.hardware.chips import find_chip, vendor_name
from tutorial.hardware.environment import WSL1, WSL2
from tutorial.hardware.limits import cpu_quota, read, usable_processors
from tutorial.hardware.lscpu import clean, cpu_list_length, parse_lscpu
from tutorial.hardware.programs import outputs
from tutorial.hardware.schema import CPU, NotRecognized
from tutorial.hardware.topology import Presented, settle


def this_cpu() -> CPU:
    """Read the CPU of this machine, and what limits this process. What cannot be read is None."""
    system = platform.system()
    if system == "Linux":
        cpu = linux_cpu()
    elif system == "Darwin":
        cpu = mac_cpu()
    elif system == "Windows":
        cpu = windows_cpu()
    else:
        cpu = CPU()
    cpu.architecture = cpu.architecture or platform.machine().lower() or None
    cpu.logical = cpu.logical or psutil.cpu_count(logical=True)
    cpu.online = cpu.online or cpu.logical
    try:
        cpu.memory_mib = psutil.virtual_memory().total // 2**20
    except (OSError, RuntimeError):  # /proc is not there, or is not what psutil expects
        pass
    cpu.usable = usable_processors()
    return fill_torch(cpu) if "torch" in sys.modules else cpu


def fill_torch(cpu: CPU) -> CPU:
    """Add what PyTorch makes of the CPU, and a warning where it starts more threads than the process has processors."""
    import torch

    cpu.torch_capability = torch.backends.cpu.get_cpu_capability()
    cpu.torch_threads = torch.get_num_threads()
    cpu.notes = [note for note in cpu.notes if not note.startswith("PyTorch uses ")] + thread_notes(cpu)
    return cpu


def thread_notes(cpu: CPU) -> list[str]:
    if cpu.torch_threads is None:
        return []
    if cpu.quota is not None and cpu.torch_threads > max(1, cpu.quota):
        fit = max(1, int(cpu.quota))
        return [
            f"PyTorch uses {cpu.torch_threads} threads, but this container grants the time of {cpu.quota:g} processors: the threads "
            f"will wait for each other; try torch.set_num_threads({fit})"
        ]
    if cpu.usable is not None and cpu.torch_threads > cpu.usable:
        return [f"PyTorch uses {cpu.torch_threads} threads, but this process may run on {cpu.usable} processors only"]
    return []


def linux_cpu(root: Path = Path("/"), lscpu: str | None = None) -> CPU:
    """The CPU of a Linux system. ``root`` is where /proc and /sys are found; ``lscpu`` what that program printed."""
    lscpu = outputs(["lscpu"], LC_ALL="C")[0] if lscpu is None else lscpu
    cpuinfo, kernel = read(root / "proc/cpuinfo"), read(root / "proc/version")
    cpu = CPU()
    for text in (lscpu, cpuinfo):
        try:
            cpu = parse_lscpu(f"Kernel: {' '.join(kernel.split())}\n{text}")
            break
        except NotRecognized:
            continue
    if WSL2.search(kernel) and not WSL1.search(kernel):
        cpu.environment, cpu.topology_trusted = "wsl2", False
    kinds = core_kinds(root)
    if kinds and cpu.environment in ("bare-metal", "unknown"):
        believe_kernel(cpu, *kinds)
    if in_container(root):
        if cpu.environment in ("bare-metal", "unknown"):
            cpu.environment = "container"
        else:
            cpu.notes = [*cpu.notes, "inside a container"]
    cpu.quota = cpu_quota(root)
    return cpu


def believe_kernel(cpu: CPU, performance: int, small: int, low_power: int) -> None:
    """Put in the kernel's count of the kinds of core, unless the chip's own row says the same and more.

    Kernels before 6.13 count low-power cores among the small ones, so only with their own counters, or in a generation that
    has none, are the small ones the efficiency cores.
    """
    known = (cpu.performance_cores, cpu.efficiency_cores, cpu.low_power_cores)
    if None not in known and known[0] == performance and known[1] + known[2] == small + low_power:
        return
    cpu.physical_cores, cpu.performance_cores = performance + small + low_power, performance
    told = low_power or cpu.generation in ("Alder Lake", "Raptor Lake", "Lakefield")
    cpu.efficiency_cores, cpu.low_power_cores = (small, low_power) if told else (None, None)
    cpu.notes = [note for note in cpu.notes if not note.endswith("cannot be told")]
    if not told:
        cpu.notes = [*cpu.notes, f"of the {small} small cores some may be low-power ones: this kernel does not tell them apart"]


def core_kinds(root: Path = Path("/")) -> tuple[int, int, int] | None:
    """Performance, efficiency and low-power cores that are online, where the kernel tells kinds apart; else None.

    Kernels name a set of counters for each kind on Intel's hybrids: `cpu_core`, `cpu_atom`, and from 6.13 `cpu_lowpower`:
    https://docs.kernel.org/admin-guide/perf/index.html . On ARM the capacity of each CPU, 0 to 1024, is no kind: two speeds
    of one design differ in it too.
    """
    devices = root / "sys/devices"
    lists = [read(devices / name / "cpus").strip() for name in ("cpu_core", "cpu_atom", "cpu_lowpower")]
    if not lists[0] or not lists[1]:
        return None
    cores = [cores_of(root, cpu_list(members)) for members in lists]
    return None if None in cores[:2] else (cores[0], cores[1], cores[2] or 0)


def cores_of(root: Path, cpus: set[int]) -> int | None:
    """How many cores these logical processors are threads of."""
    cores = set()
    for cpu in cpus:
        topology = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        siblings = (read(topology / "core_cpus_list") or read(topology / "thread_siblings_list")).strip()
        if not siblings:
            return None
        cores.add(siblings)
    return len(cores)


def cpu_list(text: str) -> set[int]:
    """The numbers in a list such as `0-3,8`."""
    if cpu_list_length(text) is None:
        return set()
    ranges = [part.split("-") for part in "".join(text.split()).split(",")]
    return {cpu for part in ranges for cpu in range(int(part[0]), int(part[-1]) + 1)}


def in_container(root: Path = Path("/")) -> bool:
    """Whether the files that container runtimes leave are there."""
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return True
    return bool(re.search(r"docker|kubepods|containerd|libpod|/lxc", read(root / "proc/1/cgroup") + read(root / "proc/self/cgroup")))


def mac_cpu() -> CPU:
    """The CPU of a Mac. `hw.perflevel0` are the fast cores, `hw.perflevel1` mostly the efficient ones, on Apple silicon.

    https://developer.apple.com/documentation/kernel/1387446-sysctlbyname/determining_system_capabilities
    """
    names = [
        "machdep.cpu.brand_string", "hw.physicalcpu", "hw.logicalcpu", "hw.packages", "kern.hv_vmm_present",
        "hw.perflevel0.physicalcpu", "hw.perflevel1.physicalcpu", "hw.perflevel1.name", "hw.optional.avx2_0", "hw.optional.avx512f",
        "hw.optional.neon", "hw.optional.AdvSIMD", "hw.optional.arm.FEAT_BF16",
    ]  # fmt: skip
    return cpu_from_sysctl(outputs(["/usr/sbin/sysctl", *names])[0], platform.machine())


def cpu_from_sysctl(text: str, machine: str) -> CPU:
    """The CPU from `name: value` lines of sysctl."""
    values = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)

    def number(name: str) -> int | None:
        value = values.get(name, "").strip()
        return int(value) if value.isdigit() and len(value) < 7 else None

    model = clean(values.get("machdep.cpu.brand_string", "")) or None
    chip = find_chip(model)
    virtual = number("kern.hv_vmm_present")
    fast, efficient, physical = number("hw.perflevel0.physicalcpu"), number("hw.perflevel1.physicalcpu"), number("hw.physicalcpu")
    sets = {"hw.optional.avx2_0": "AVX2", "hw.optional.avx512f": "AVX-512", "hw.optional.neon": "NEON", "hw.optional.AdvSIMD": "NEON"}
    found = [name for key, name in sets.items() if number(key)] + (["bf16"] if number("hw.optional.arm.FEAT_BF16") else [])
    cpu = CPU(
        model=model,
        vendor=vendor_name(None, model),
        generation=chip.generation if chip else None,
        architecture={"arm64": "aarch64"}.get(machine, machine) or None,
        logical=number("hw.logicalcpu"),
        physical_cores=physical,
        sockets=number("hw.packages"),
        instruction_sets=list(dict.fromkeys(found)),
        topology_trusted=None if virtual is None else not virtual,
        environment={0: "bare-metal", 1: "virtual machine"}.get(virtual, "unknown"),
    )
    if physical and not virtual:
        # Newer chips may have a second level that is not called Efficiency; what it is then, is not told.
        second = values.get("hw.perflevel1.name", "Efficiency").strip()
        if fast is not None and fast + (efficient or 0) == physical and (not efficient or second == "Efficiency"):
            cpu.performance_cores, cpu.efficiency_cores, cpu.low_power_cores = fast, efficient or 0, 0
        elif cpu.vendor == "Intel":  # no Mac has a hybrid of Intel's
            cpu.performance_cores, cpu.efficiency_cores, cpu.low_power_cores = physical, 0, 0
    return cpu


def windows_cpu() -> CPU:
    """The CPU of a Windows system, from CIM: https://learn.microsoft.com/windows/win32/cimwin32prov/win32-processor ."""
    query = (
        "$c = Get-CimInstance Win32_Processor; $s = Get-CimInstance Win32_ComputerSystem; ConvertTo-Json -Compress -Depth 3 @{"
        "processors = @($c | Select-Object Name,Manufacturer,NumberOfCores,NumberOfLogicalProcessors,MaxClockSpeed); "
        "machine = $s.Model; hypervisor = $s.HypervisorPresent}"
    )
    return cpu_from_cim(outputs(["powershell", "-NoProfile", "-NonInteractive", "-Command", query])[0])


def cpu_from_cim(text: str) -> CPU:
    """The CPU from the JSON that :func:`windows_cpu` asks for; without an answer, from the variables of the environment."""
    try:
        answer = json.loads(text)
        processors = [row for row in answer["processors"] if isinstance(row, dict)]
        first = processors[0]
    except (ValueError, LookupError, TypeError):
        return CPU(physical_cores=psutil.cpu_count(logical=False), notes=["Windows did not tell the CPU's name in time"])
    model = clean(str(first.get("Name") or "")) or None
    vendor = vendor_name(str(first.get("Manufacturer") or ""), model)
    logical = sum(row.get("NumberOfLogicalProcessors") or 0 for row in processors) or None
    cores = sum(row.get("NumberOfCores") or 0 for row in processors) or None
    virtual = bool(re.search(r"virtual|vmware|kvm|qemu|xen|bochs", str(answer.get("machine") or ""), re.IGNORECASE))
    where = "virtual machine" if virtual else "unknown" if answer.get("hypervisor") else "bare-metal"
    said = Presented(logical, logical, cores, None, len(processors))
    if cores and logical and logical in (cores, 2 * cores):
        said.threads_per_core = logical // cores
    chip = find_chip(model)
    result = settle(said, chip, None, where)
    return CPU(
        model=model, vendor=vendor, generation=chip.generation if chip else None, logical=logical, online=logical,
        physical_cores=result.physical, performance_cores=result.performance, efficiency_cores=result.efficiency,
        low_power_cores=result.low_power, presented_cores=result.presented, topology_trusted=result.trusted,
        threads_per_core=said.threads_per_core, sockets=len(processors), environment=where, notes=result.notes,
    )  # fmt: skip
