"""A machine's report in words: each criterion, what the machine has, and what that means for training."""

from typing import NamedTuple

from tutorial.hardware.schema import CPU, Accelerator, Hardware, PyTorch
from tutorial.publish.words import Texts, byte_count, significant


class Row(NamedTuple):
    """One line of the report. All three are plain text."""

    criterion: str
    value: str
    meaning: str


def report(hardware: Hardware, text: Texts) -> list[Row]:
    """The lines of a report; what is not known has no line."""
    rows = cpu_rows(hardware.cpu, text)
    for accelerator, count in _counted(hardware.accelerators):
        rows += accelerator_rows(accelerator, text, count)
    # Only a PyTorch that was asked tells its threads; a pasted report may be silent about an accelerator.
    if not hardware.accelerators and hardware.pytorch.version and hardware.cpu.torch_threads:
        rows.append(Row(text("inspect.gpu.name"), text("inspect.no_accelerator"), text("inspect.meaning.no_accelerator")))
    return rows + pytorch_rows(hardware.pytorch, text)


def _counted(accelerators: list[Accelerator]) -> list[tuple[Accelerator, int]]:
    """Each kind of accelerator and how many there are; what differs among equal ones is the least free memory."""
    kinds: list[list[Accelerator]] = []
    for one in accelerators:
        equal = next((kind for kind in kinds if kind[0].model_copy(update={"device": one.device, "free_mib": one.free_mib}) == one), None)
        if equal is None:
            kinds.append([one])
        else:
            equal.append(one)
    counted = []
    for kind in kinds:
        free = [one.free_mib for one in kind if one.free_mib is not None]
        devices = ", ".join(one.device for one in kind if one.device)
        counted.append((kind[0].model_copy(update={"device": devices or None, "free_mib": min(free, default=None)}), len(kind)))
    return counted


def cpu_rows(cpu: CPU, text: Texts) -> list[Row]:
    """The CPU, from its name to what limits this process."""

    def row(key: str, value: str, meaning: str | None = None) -> Row:
        return Row(text(f"inspect.cpu.{key}"), value, text(f"inspect.meaning.{meaning or key}"))

    def cores(count: int) -> str:
        return text("inspect.cores.one") if count == 1 else text("inspect.cores.total", count=count)

    rows = []
    if cpu.model or cpu.vendor:
        about = [part for part in (cpu.vendor, cpu.generation, cpu.architecture) if part]
        rows.append(row("model", f"{cpu.model or text('inspect.unknown')} ({', '.join(about)})" if about else cpu.model))
    if cpu.physical_cores:
        kinds = [(cpu.performance_cores, "performance"), (cpu.efficiency_cores, "efficiency"), (cpu.low_power_cores, "low_power")]
        parts = [text(f"inspect.cores.{kind}", count=count) for count, kind in kinds if count]
        hybrid = len(parts) > 1
        value = cores(cpu.physical_cores) + (f" ({' + '.join(parts)})" if hybrid else "")
        only_small = not hybrid and bool(cpu.efficiency_cores)
        rows.append(row("cores", value, "cores_hybrid" if hybrid else "cores_efficiency" if only_small else "cores"))
    if cpu.presented_cores and cpu.presented_cores != cpu.physical_cores:
        rows.append(row("presented", cores(cpu.presented_cores)))
    if cpu.online or cpu.logical:
        value = str(cpu.online or cpu.logical)
        if cpu.online and cpu.logical and cpu.online != cpu.logical:
            value = text("inspect.online", online=cpu.online, logical=cpu.logical)
        rows.append(row("threads", value))
    if cpu.sockets and cpu.sockets > 1:
        rows.append(row("sockets", str(cpu.sockets), "sockets" if cpu.topology_trusted else "sockets_virtual"))
    if cpu.environment != "unknown":
        key = "bare_metal" if cpu.environment == "bare-metal" else "virtual"
        rows.append(row("environment", cpu.environment, key))
    if cpu.max_mhz:
        rows.append(row("frequency", f"{significant(cpu.max_mhz / 1000)} GHz"))
    if cpu.caches_kib:
        rows.append(row("caches", ", ".join(f"{name} {byte_count(size * 1024)}" for name, size in cpu.caches_kib.items())))
    if cpu.instruction_sets or cpu.torch_capability:
        value = ", ".join(cpu.instruction_sets) or text("inspect.unknown")
        if cpu.torch_capability:
            value += f" ({text('inspect.torch_uses', capability=cpu.torch_capability)})"
        rows.append(row("instructions", value))
    if cpu.memory_mib:
        rows.append(row("memory", byte_count(cpu.memory_mib * 2**20)))
    limits = []
    if cpu.usable and cpu.usable != cpu.online:
        limits.append(text("inspect.usable", count=cpu.usable))
    if cpu.quota:
        limits.append(text("inspect.quota", count=significant(cpu.quota)))
    if limits:
        rows.append(row("limits", ", ".join(limits)))
    if cpu.torch_threads:
        too_many = cpu.quota is not None and cpu.torch_threads > cpu.quota
        rows.append(row("torch_threads", str(cpu.torch_threads), "too_many_threads" if too_many else "torch_threads"))
    return rows + notes(cpu.notes, text)


def notes(told: list[str], text: Texts) -> list[Row]:
    """Notes as sentences."""
    return [Row(text("inspect.note"), "", f"{note[0].upper()}{note[1:]}" + "." * (note[-1] not in ".!?")) for note in told if note]


def accelerator_rows(accelerator: Accelerator, text: Texts, count: int = 1) -> list[Row]:
    """One accelerator, or ``count`` equal ones: its name taken apart, its memory, and whether it works."""

    def row(key: str, value: str, meaning: str | None = None) -> Row:
        return Row(text(f"inspect.gpu.{key}"), value, text(f"inspect.meaning.{meaning or key}"))

    name = accelerator.name or text("inspect.unknown")
    if count > 1:
        name = text("inspect.several", count=count, name=name)
    rows = [row("name", f"{name} ({accelerator.device})" if accelerator.device else name)]
    product = dict.fromkeys(part for part in (accelerator.vendor, accelerator.line, accelerator.series) if part)
    if product:
        rows.append(row("series", ", ".join(product)))
    tier = " ".join(part for part in (accelerator.tier, accelerator.suffix) if part)
    if tier:
        rows.append(row("tier", tier))
    rows.append(row("form", text.name("inspect.form", accelerator.form) if accelerator.form else text("inspect.unknown"), f"form_{(accelerator.form or 'unknown').replace(' ', '_')}"))
    chip = [part for part in (accelerator.architecture, accelerator.compute_capability and text("inspect.capability", number=accelerator.compute_capability), accelerator.gfx) if part]
    if chip:
        rows.append(row("architecture", ", ".join(chip), _build_for(accelerator)))
    if accelerator.memory_mib:
        value = byte_count(accelerator.memory_mib * 2**20)
        if accelerator.free_mib is not None:
            value = text("inspect.free", total=value, free=byte_count(accelerator.free_mib * 2**20))
        rows.append(row("memory", value, "gpu_memory"))
    if accelerator.multiprocessors:
        rows.append(row("multiprocessors", str(accelerator.multiprocessors)))
    if accelerator.has_code is not None:
        rows.append(row("has_code", text("inspect.yes" if accelerator.has_code else "inspect.no"), "has_code" if accelerator.has_code else "has_code_not"))
    if accelerator.works is not None:
        rows.append(row("works", text("inspect.yes" if accelerator.works else "inspect.no"), "works" if accelerator.works else "works_not"))
    return rows + notes(accelerator.notes, text)


def _build_for(accelerator: Accelerator) -> str:
    """What a chip of this vendor wants of PyTorch's build (Intel's: https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html)."""
    if accelerator.vendor == "Intel" and accelerator.line == "integrated" and accelerator.device is None:
        return "architecture_intel_integrated"
    return f"architecture_{accelerator.vendor.lower()}" if accelerator.vendor in ("AMD", "Apple", "Intel") else "architecture"


def pytorch_rows(pytorch: PyTorch, text: Texts) -> list[Row]:
    """PyTorch's build, the driver, and what stands between them."""
    rows = []
    if pytorch.version or pytorch.cuda or pytorch.hip or pytorch.cudnn:
        parts = [text(f"inspect.pytorch.{key}", version=getattr(pytorch, key)) for key in ("cuda", "hip", "cudnn") if getattr(pytorch, key)]
        value = pytorch.version or text("inspect.unknown")
        rows.append(Row(text("inspect.pytorch.version"), f"{value} ({', '.join(parts)})" if parts else value, text("inspect.meaning.pytorch_cpu" if value.endswith("+cpu") else "inspect.meaning.pytorch")))
    if pytorch.driver or pytorch.driver_cuda:
        value = pytorch.driver or text("inspect.unknown")
        newest = pytorch.driver_cuda and text("inspect.pytorch.driver_cuda", version=pytorch.driver_cuda)
        rows.append(Row(text("inspect.pytorch.driver"), f"{value} ({newest})" if newest else value, text("inspect.meaning.driver")))
    if pytorch.problem:
        rows.append(Row(text("inspect.pytorch.problem"), pytorch.problem, pytorch.cure or ""))
    return rows
