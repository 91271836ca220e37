"""The one schema of a machine: what `tutorial inspect --json` prints and what every results file holds.

A field that cannot be told is None, and a note says why where that helps. No field holds a host name, user name, serial
number or path.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class NotRecognized(ValueError):
    """Nothing in a text could be recognized; the message says what was looked for."""


class Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class CPU(Fields):
    """A CPU, or what a virtual machine presents as one."""

    model: str | None = None
    """The model's name, without trademark signs and doubled spaces."""
    vendor: str | None = None
    """`Intel`, `AMD`, `ARM`, `Apple`, `Ampere`, ...: in the vendor's own spelling."""
    generation: str | None = None
    """Code name of the chip or its cores, where the model name or the family tells: `Alder Lake`, `Zen 4`, `Neoverse N1`."""
    architecture: str | None = None
    """`x86_64`, `aarch64`, `riscv64`, ..."""
    logical: int | None = None
    """Logical processors of the system, offline ones included."""
    online: int | None = None
    """Logical processors that are online."""
    physical_cores: int | None = None
    """Cores of the chip(s): the known ones where the model is known and the topology is not trusted, else as presented."""
    performance_cores: int | None = None
    efficiency_cores: int | None = None
    low_power_cores: int | None = None
    threads_per_core: int | None = None
    """None where cores differ in it."""
    sockets: int | None = None
    presented_cores: int | None = None
    """Cores that the system presents, where they are not the chip's."""
    topology_trusted: bool | None = None
    """False in a virtual machine: its cores, sockets and threads are what somebody configured."""
    environment: str = "unknown"
    """`bare-metal`, `wsl2`, `hyper-v`, `kvm`, `vmware`, `xen`, `container`, ..., `unknown`."""
    max_mhz: float | None = None
    caches_kib: dict[str, int] = {}
    """Total of each kind: `L1d`, `L1i`, `L2`, `L3`."""
    instruction_sets: list[str] = []
    """Those that matter to PyTorch, as far as they are visible here: `AVX2`, `AVX-512`, `VNNI`, `AMX`, `NEON`, `SVE`, `bf16`."""
    memory_mib: int | None = None
    usable: int | None = None
    """Logical processors that this process may run on (affinity)."""
    quota: float | None = None
    """Processors' worth of time that a container grants; None where there is no limit."""
    torch_capability: str | None = None
    """The instruction set that this PyTorch uses: `AVX512`, `AVX2`, `DEFAULT`, ..."""
    torch_threads: int | None = None
    notes: list[str] = []


class Accelerator(Fields):
    """One accelerator."""

    device: str | None = None
    """As PyTorch writes it: `cuda:0`, `mps:0`, `xpu:0`; None in a pasted text."""
    name: str | None = None
    vendor: str | None = None
    """`NVIDIA`, `AMD`, `Intel`, `Apple`."""
    line: str | None = None
    """`GeForce`, `RTX workstation`, `data center`, `Jetson`, `Radeon`, `Radeon Pro`, `Instinct`, `Arc`, `Apple`, ..."""
    series: str | None = None
    """`RTX 40`, `GTX 16`, `RTX Ada`, `RX 7000`, `MI300`, ..."""
    tier: str | None = None
    """The class within the series: `70` of an RTX 4070, `4000` of an RTX 4000 Ada, `100` of an A100."""
    suffix: str | None = None
    """`Ti`, `SUPER`, `Ti SUPER`, `D`, `XTX`, ...; None without one."""
    form: Literal["desktop", "laptop", "workstation", "data center", "integrated", "embedded"] | None = None
    """None is unknown: many laptop chips carry no mark."""
    architecture: str | None = None
    """`Ada Lovelace`, `Ampere`, `RDNA 3`, `CDNA 3`, `Xe-HPG`, ..."""
    compute_capability: str | None = None
    """NVIDIA's, `8.9`; never the number that ROCm prints in its place."""
    gfx: str | None = None
    """AMD's, `gfx1100`."""
    memory_mib: int | None = None
    """Read from the device or the text, never looked up."""
    free_mib: int | None = None
    multiprocessors: int | None = None
    has_code: bool | None = None
    """Whether this PyTorch build has machine code for the chip; None where it compiles on the spot (`mps`) or cannot be told."""
    works: bool | None = None
    """Whether a one-element operation gave the right result."""
    notes: list[str] = []


class PyTorch(Fields):
    """The PyTorch that sees the hardware, and why it may not see an accelerator."""

    version: str | None = None
    cuda: str | None = None
    """The CUDA that the build carries."""
    hip: str | None = None
    driver: str | None = None
    driver_cuda: str | None = None
    """The newest CUDA that the driver runs."""
    cudnn: str | None = None
    """Decoded: `9.1.0`."""
    problem: str | None = None
    """Why no accelerator can be used, as far as it can be told."""
    cure: str | None = None
    """What to do about it, to the exact line."""


class Hardware(Fields):
    """One machine."""

    cpu: CPU = CPU()
    accelerators: list[Accelerator] = []
    pytorch: PyTorch = PyTorch()


UNTOLD = {
    "model": "model", "generation": "generation", "physical_cores": "cores", "performance_cores": "kinds of core", "sockets": "sockets",
    "max_mhz": "maximum frequency", "instruction_sets": "instruction sets", "topology_trusted": "whether this is a virtual machine",
    "vendor": "vendor", "line": "line", "series": "series", "form": "form", "compute_capability": "compute capability", "gfx": "gfx name",
    "memory_mib": "memory", "multiprocessors": "multiprocessors",
}  # fmt: skip
"""Fields whose absence is worth a word, and the word."""


def note_untold(hardware: Hardware) -> Hardware:
    """Add to the CPU and to each accelerator one note that names what could not be told of it."""
    if hardware.cpu != CPU():
        _note(hardware.cpu, {"memory_mib"})
    for accelerator in hardware.accelerators:
        others = {"NVIDIA": {"gfx"}, "AMD": {"compute_capability"}}
        _note(accelerator, others.get(accelerator.vendor, {"gfx", "compute_capability", "multiprocessors"}))
    return hardware


def _note(part: CPU | Accelerator, foreign: set[str]) -> None:
    untold = [word for field, word in UNTOLD.items() if field in type(part).model_fields and field not in foreign and getattr(part, field) in (None, [])]
    if isinstance(part, Accelerator) and part.architecture is None:
        untold.append("architecture")
    if untold:
        part.notes = [*part.notes, f"Not told: {', '.join(untold)}."]
