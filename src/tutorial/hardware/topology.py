"""How many cores, and of what kind: what the system presents against what is known of the chip."""

from dataclasses import dataclass, field

from tutorial.hardware.chips import Chip, Generation

AS_PRESENTED = "as this virtual machine presents it"


@dataclass
class Presented:
    """What the system says. Counts are None where it does not say."""

    logical: int | None = None
    online: int | None = None
    cores: int | None = None
    threads_per_core: int | None = None
    sockets: int | None = None
    performance: int | None = None
    """Cores of each kind, where the system names the kinds."""
    efficiency: int | None = None
    low_power: int | None = None


@dataclass
class Topology:
    """What to believe, and why."""

    physical: int | None = None
    performance: int | None = None
    efficiency: int | None = None
    low_power: int | None = None
    presented: int | None = None
    trusted: bool | None = None
    notes: list[str] = field(default_factory=list)

    def kinds(self, performance: int | None, efficiency: int | None, low_power: int | None) -> None:
        self.performance, self.efficiency, self.low_power = performance, efficiency, low_power


def settle(said: Presented, chip: Chip | None, generation: Generation | None, environment: str) -> Topology:
    """The cores of a machine.

    In a virtual machine: a known chip's own count beside the presented one; else what is presented, not trusted. On the
    machine itself what is presented, where it can be true of the chip. The kinds of core come from the system, from the
    chip's row, from counting threads where that tells, or from a generation whose cores are all of one kind.
    """
    virtual = environment not in ("bare-metal", "unknown", "container")
    if chip and chip.vendor != "Apple" and (said.cores or said.logical):
        return _known_chip(said, chip, environment, virtual)
    if chip:
        result = Topology(physical=chip.cores, trusted=False if virtual else None)
        result.kinds(chip.performance, chip.efficiency, chip.low_power)
        if said.online and chip.cores > said.online and not virtual:
            result = Topology(trusted=None, notes=["the chip has more cores than this system shows"])
        return result
    result = Topology(physical=said.cores, trusted=False if virtual else (True if environment != "unknown" else None))
    if virtual:
        result.presented = said.cores
        if said.cores is not None:
            result.notes.append(f"{AS_PRESENTED}: {_shape(said)}; the chip may have other numbers")
    if said.cores and said.online and said.cores > said.online and said.logical == said.online:
        result.notes.append(f"{said.cores} cores are more than {said.online} logical processors: neither is believed")
        result.physical, result.trusted = None, False
        return result
    if said.performance is not None or said.efficiency is not None:
        if (said.performance or 0) + (said.efficiency or 0) + (said.low_power or 0) == result.physical:
            result.kinds(said.performance, said.efficiency, said.low_power)
    elif generation and result.physical is not None:
        _kinds_of_generation(result, said, generation, virtual)
    return result


def _known_chip(said: Presented, chip: Chip, environment: str, virtual: bool) -> Topology:
    result = Topology(physical=chip.cores)
    result.kinds(chip.performance, chip.efficiency, chip.low_power)
    if virtual:
        result.trusted, result.presented = False, said.cores
        result.notes.append(f"{AS_PRESENTED}: {_shape(said)}; the chip has {_layout(chip)}")
        return result
    if said.cores is None:
        result.trusted = True if chip.threads in (said.logical, said.online) else None
        if said.online and chip.cores > said.online:
            return Topology(notes=[f"the chip has {_layout(chip)}; what of it is in use here cannot be told"])
        return result
    crowded = said.online is not None and said.logical == said.online < said.cores  # more cores than processors
    if said.cores == chip.cores and said.sockets in (None, 1) and (said.logical or 0) <= chip.threads and not crowded:
        result.trusted = True
        return result
    off = said.logical != said.online
    if said.sockets in (None, 1) and said.cores < chip.cores and (off or _possible(said, chip)):
        note = f"{said.cores} of the chip's {chip.cores} cores ({_layout(chip)}) are in use: the others are switched off"
        result = Topology(physical=said.cores, trusted=True if environment != "unknown" else None, notes=[note])
        if not off and said.threads_per_core == 2 and chip.threads == 2 * chip.performance + chip.efficiency + chip.low_power:
            performance = said.online - said.cores
            if not chip.low_power:
                result.kinds(performance, said.cores - performance, 0)
        return result
    result.trusted, result.presented = False, said.cores
    result.notes.append(
        f"{_shape(said)} cannot be this chip, which has {_layout(chip)}: so presents a virtual machine, such as WSL2, its processors"
    )
    return result


def _possible(said: Presented, chip: Chip) -> bool:
    """Whether a chip with some cores switched off can look like this."""
    if not said.online or said.cores > said.online:
        return False
    if said.threads_per_core == 2 and chip.threads == 2 * chip.performance + chip.efficiency + chip.low_power:
        performance = said.online - said.cores
        return 0 <= performance <= chip.performance and said.cores - performance <= chip.efficiency + chip.low_power
    return said.online <= chip.threads


def _kinds_of_generation(result: Topology, said: Presented, generation: Generation, virtual: bool) -> None:
    cores = result.physical
    if generation.cores == "performance":
        result.kinds(cores, 0, 0)
    elif generation.cores == "efficiency":
        result.kinds(0, cores, 0)
    elif generation.cores == "mixed":
        performance = (said.online or 0) - cores
        whole = said.logical == said.online and said.threads_per_core == 2 and said.sockets in (None, 1)
        if generation.smt_tells and whole and not virtual and 0 < performance <= cores:
            result.kinds(performance, cores - performance, 0)
        else:
            result.notes.append(f"{generation.name} chips mix kinds of core; how many of each this one has cannot be told")


def _shape(said: Presented) -> str:
    parts = [f"{said.sockets} socket{'s' * (said.sockets != 1)}"] if said.sockets else []
    if said.cores is not None:
        parts.append(f"{said.cores} core{'s' * (said.cores != 1)}")
    if said.logical is not None:
        parts.append(f"{said.logical} logical processors")
    return ", ".join(parts) or "nothing of its cores"


def _layout(chip: Chip) -> str:
    kinds = ((chip.performance, "performance"), (chip.efficiency, "efficiency"), (chip.low_power, "low-power"))
    return f"{' + '.join(f'{count} {kind}' for count, kind in kinds if count)} cores, {chip.threads} threads"
