"""Explain a pasted `lscpu` text."""

import re
from dataclasses import dataclass, field

from tutorial.hardware.chips import core_kind, find_chip, find_generation, is_server_core, vendor_name
from tutorial.hardware.environment import VIRTUAL, environment
from tutorial.hardware.pairs import read_pairs
from tutorial.hardware.schema import CPU, NotRecognized
from tutorial.hardware.topology import Presented, settle

BLOCK = {
    "model_name", "bios_model", "family", "model_number", "stepping", "threads_per_core", "cores_per_socket",
    "cores_per_cluster", "sockets", "clusters", "max_mhz", "flags",
}  # fmt: skip
"""Fields of one kind of core; lscpu prints a block of them for each kind."""

CREDIBLE_MHZ = (100, 7000)
"""Outside of it the number is a fault of the firmware or the driver: no CPU is sold for it."""

INSTRUCTION_SETS = {
    "AVX2": {"avx2"},
    "AVX-512": {"avx512f"},
    "VNNI": {"avx512_vnni", "avx_vnni"},
    "AMX": {"amx_tile"},
    "bf16": {"avx512_bf16", "amx_bf16", "bf16", "svebf16"},
    "NEON": {"asimd", "neon"},
    "SVE": {"sve"},
}
"""What matters to PyTorch: the flags of Linux that show it."""

X86 = {"x86_64", "i686", "i586", "i486", "i386", "amd64", "x64"}
NOTHING = {"", "-", "unknown", "n/a", "none", "(null)"}


@dataclass
class Report:
    """The fields of an lscpu text."""

    common: dict[str, str] = field(default_factory=dict)
    blocks: list[dict[str, str]] = field(default_factory=lambda: [{}])

    def first(self, name: str) -> str | None:
        return next((block[name] for block in self.blocks if block.get(name, "").casefold() not in NOTHING), None)


def parse_lscpu(text: str) -> CPU:
    """The CPU that ``text`` describes; :class:`NotRecognized` where it describes none.

    Reads lscpu of any version in English, Chinese, German, French and Japanese, `lscpu -J`, `/proc/cpuinfo`, and the CPU
    part of `torch.utils.collect_env`, with anything around it.
    """
    report = _report(read_pairs(text))
    cpu = _cpu(report)
    if cpu is None:
        apple = re.search(r"^CPU:[ \t]*\n[ \t]*(Apple M\d{1,3}[ A-Za-z]{0,20})$", text, re.MULTILINE)  # collect_env on macOS
        if apple:
            report.blocks[0]["model_name"] = apple[1]
            report.common["architecture"] = "aarch64"
            cpu = _cpu(report)
    if cpu is None:
        raise NotRecognized("no CPU in this text: neither a model's name nor a number of processors was found")
    return cpu


def _report(pairs: list[tuple[str, str]]) -> Report:
    report = Report()
    for name, value in pairs:
        if name not in BLOCK:
            if value or name == "hypervisor":
                report.common.setdefault(name, value)
        elif name == "model_name" and name in report.blocks[-1]:
            report.blocks.append({name: value})
        else:
            report.blocks[-1].setdefault(name, value)
    return report


def _cpu(report: Report) -> CPU | None:
    notes: list[str] = []
    logical = count(report.common.get("logical"))
    online = online_count(report.common)
    offline = cpu_list_length(report.common.get("offline_list"))
    if online is None and logical is not None:
        online = logical - offline if offline and offline < logical else logical
    if logical is not None and online is not None and online > logical:
        notes.append(f"the list of online processors has {online}, the count says {logical}: neither is believed")
        logical = online = None
    model = _model(report)
    if model is None and not logical and len(report.common) + len(report.blocks[0]) < 3:
        return None
    if model is None and not logical and not report.common.get("vendor") and not online:
        return None

    flags = _flags(report)
    architecture = _architecture(report.common.get("architecture"), flags)
    x86 = architecture in X86 or bool(flags and "fpu" in flags and "cx8" in flags)
    vendor = vendor_name(report.common.get("vendor"), model)
    frequencies = [_mhz(block.get("max_mhz")) for block in report.blocks]
    frequencies = [mhz for mhz in frequencies if mhz is not None]
    hypervisor = report.common.get("hypervisor")
    where, more = environment(hypervisor, flags, bool(frequencies), x86, report.common.get("kernel", ""))
    notes += more
    # Apple's hypervisor hides which core it is; on the machine itself Linux knows it
    if where in ("bare-metal", "unknown") and (VIRTUAL.search(model or "") or (vendor == "Apple" and model is None)):
        where = "virtual machine"
        notes.append("the name is one that only a virtual machine shows" if model else "only a virtual machine hides which of Apple's chips this is")

    family, number, stepping = (count(report.first(name)) for name in ("family", "model_number", "stepping"))
    chip = find_chip(model)
    generation = find_generation(vendor, model, family, number, stepping)
    said = _presented(report, logical, online, x86, vendor, notes)
    if said.cores is None and chip is None and generation and generation.cores in ("performance", "efficiency"):
        _cores_from_threads(said)
    result = settle(said, chip, generation, where)
    if hypervisor and where == "unknown" and result.trusted is None:
        result.trusted = True  # a partition of a Power machine shows real cores
    if x86 and generation and generation.name not in ("Knights Landing", "Knights Mill") and (said.threads_per_core or 0) > 2:
        notes.append(f"{said.threads_per_core} threads a core cannot be: no x86 core of this kind has more than 2")
        if not chip:
            result.presented, result.physical, result.trusted = said.cores, None, False
            result.kinds(None, None, None)
    sets = [name for name, signs in INSTRUCTION_SETS.items() if flags and signs & flags]
    hidden = [name for name in generation.instruction_sets if name not in sets] if generation and flags else []
    if hidden:
        notes.append(f"{generation.name} has {', '.join(hidden)}, which is not visible here: virtual machines and old kernels hide it")
    if result.trusted is None and any(is_server_core(block.get("model_name", "").strip()) for block in report.blocks):
        result.trusted = False
        notes.append("no maximum frequency is shown, as in a virtual machine: whether these are the chip's numbers cannot be told")
    if logical and online and online < logical:
        notes.append(f"{logical - online} of {logical} logical processors are offline")
    return CPU(
        model=model,
        vendor=vendor,
        generation=chip.generation if chip else generation.name if generation else _core_names(report),
        architecture=architecture,
        logical=logical,
        online=online,
        physical_cores=result.physical,
        performance_cores=result.performance,
        efficiency_cores=result.efficiency,
        low_power_cores=result.low_power,
        threads_per_core=_threads(said, result, chip),
        sockets=said.sockets,
        presented_cores=result.presented,
        topology_trusted=result.trusted,
        environment=where,
        max_mhz=_max_mhz(frequencies, notes),
        caches_kib=_caches(report.common, notes),
        instruction_sets=sets,
        notes=notes + result.notes,
    )


def count(text: str | None) -> int | None:
    """A whole number, or None; up to six digits, since no machine has a million of anything that is counted here."""
    found = re.match(r"\s*(\d{1,6})(?![\dx.,])", text or "")
    return int(found[1]) if found else None


def cpu_list_length(text: str | None) -> int | None:
    """How many CPUs a list such as `0-3,8` names; None where it is none."""
    text = "".join((text or "").split())
    if not re.fullmatch(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*", text):
        return None
    ranges = [part.split("-") for part in text.split(",")]
    length = sum(int(part[-1]) - int(part[0]) + 1 for part in ranges if int(part[-1]) >= int(part[0]))
    return length if 0 < length < 1_000_000 else None


def online_count(common: dict[str, str]) -> int | None:
    length = cpu_list_length(common.get("online_list"))
    mask = re.fullmatch(r"0x([0-9a-fA-F,]{1,4096})", common.get("online_mask", ""))
    if length is None and mask:
        length = int(mask[1].replace(",", "") or "0", 16).bit_count() or None
    return length


def clean(name: str) -> str:
    """A model's name without trademark signs and doubled spaces."""
    return " ".join(re.sub(r"\((?:R|TM)\)|[®™]", "", name, flags=re.IGNORECASE).split())


def _model(report: Report) -> str | None:
    names = [clean(block.get("model_name", "")) for block in report.blocks]
    names = list(dict.fromkeys(name for name in names if name.casefold() not in NOTHING))
    if names:
        return " + ".join(names)[:200]
    bios = clean(report.first("bios_model") or "")
    return bios[:200] if bios.casefold() not in NOTHING else None


def _core_names(report: Report) -> str | None:
    names = [block.get("model_name", "") for block in report.blocks]
    known = list(dict.fromkeys(name.strip() for name in names if core_kind(name.strip())))
    return " + ".join(known) or None


def _flags(report: Report) -> set[str] | None:
    texts = [block["flags"] for block in report.blocks if block.get("flags")]
    if not texts:
        return None
    sets = [set(text.split()) for text in texts]
    flags = set.intersection(*sets)
    if "hypervisor" in "".join(texts[0].split()):  # cut in two by a terminal, perhaps
        flags.add("hypervisor")
    return flags


def _architecture(printed: str | None, flags: set[str] | None) -> str | None:
    known = {"9": "x86_64", "12": "aarch64", "amd64": "x86_64", "arm64": "aarch64"}  # of Windows, BSD, Apple
    if printed is None:
        return "x86_64" if flags and "lm" in flags and "cx8" in flags else None
    return known.get(printed.casefold(), printed[:40]) or None


def _mhz(text: str | None) -> float | None:
    found = re.match(r"\s*(\d{1,9}(?:[.,]\d{1,6})?)", text or "")
    return float(found[1].replace(",", ".")) if found else None


def _max_mhz(frequencies: list[float], notes: list[str]) -> float | None:
    lowest, highest = CREDIBLE_MHZ
    credible = [mhz for mhz in frequencies if lowest <= mhz <= highest]
    if not credible and frequencies:
        notes.append(f"a maximum of {max(frequencies):g} MHz cannot be: the firmware or the driver is mistaken")
    return max(credible, default=None)


def _presented(
    report: Report, logical: int | None, online: int | None, x86: bool, vendor: str | None, notes: list[str]
) -> Presented:
    said = Presented(logical=logical or None, online=online or None)
    counts = [_block_cores(block) for block in report.blocks]
    threads = {count(block.get("threads_per_core")) for block in report.blocks} - {None, 0}
    said.threads_per_core = threads.pop() if len(threads) == 1 else None
    said.sockets = count(report.first("sockets")) or None
    if all(counts):
        said.cores = sum(counts)
    if x86 or vendor == "IBM":
        return said
    # ARM and others: the blocks are kinds of core, and a "socket" may be a cluster
    names = [block.get("model_name", "").strip() for block in report.blocks]
    if said.sockets and said.sockets > 1 and not any(is_server_core(name) for name in names) and vendor in ("ARM", "NVIDIA", "Qualcomm"):
        notes.append(f"lscpu prints {said.sockets} sockets; on such a chip they are clusters")
        said.sockets = None
        clustered = True
    else:
        clustered = False
    if said.cores and online and said.threads_per_core == 1 and said.cores != online and logical == online:
        notes.append(f"the blocks of lscpu add up to {said.cores} cores, not to the {online} processors that are online")
        said.cores = None
        return said
    _kinds_of_blocks(said, report, names, counts, clustered)
    return said


def _kinds_of_blocks(said: Presented, report: Report, names: list[str], counts: list[int | None], clustered: bool) -> None:
    """Performance and efficiency cores from the names of ARM cores: the little ones are the efficiency cores."""
    # before 2.37 lscpu gives all cores the name of the first: an RK3588 is "8 Cortex-A55"
    several = len(names) > 1 or "scaling" in report.common or "clusters" in report.blocks[0]
    several = several or any(re.search("instan", report.common.get(cache, ""), re.IGNORECASE) for cache in ("L1d", "L1i", "L2"))
    if said.cores is None or clustered or not (several or is_server_core(names[0])):
        return
    kinds = [core_kind(name) for name in names]
    if len(kinds) > 1 and "little" in kinds:
        slow = max((_mhz(block.get("max_mhz")) or 0 for block, kind in zip(report.blocks, kinds) if kind == "little"), default=0)
        kinds = [
            kind or ("big" if slow and (_mhz(block.get("max_mhz")) or 0) > slow else None)
            for block, kind in zip(report.blocks, kinds)
        ]
    if None in kinds:
        return
    lowest = "little" if "little" in kinds else "middle" if "big" in kinds and "middle" in kinds else None
    said.efficiency = sum(number for number, kind in zip(counts, kinds) if kind == lowest)
    said.performance, said.low_power = said.cores - said.efficiency, 0


def _block_cores(block: dict[str, str]) -> int | None:
    clusters, per_cluster = count(block.get("clusters")), count(block.get("cores_per_cluster"))
    if clusters and per_cluster:
        return clusters * per_cluster
    sockets, per_socket = count(block.get("sockets")), count(block.get("cores_per_socket"))
    return sockets * per_socket if sockets and per_socket else None


def _cores_from_threads(said: Presented) -> None:
    """Cores from the threads a core, for an excerpt without the other lines; only where all cores are alike."""
    if said.threads_per_core and said.logical and said.logical == said.online and said.logical % said.threads_per_core == 0:
        said.cores = said.logical // said.threads_per_core


def _threads(said: Presented, result, chip) -> int | None:
    if chip and chip.threads not in (chip.cores, 2 * chip.cores):
        return None
    if chip and result.presented:
        return chip.threads // chip.cores
    return said.threads_per_core


def _caches(common: dict[str, str], notes: list[str]) -> dict[str, int]:
    """Totals in KiB. lscpu before 2.34 prints one cache instead (`32K`): no total can be told from it."""
    units = {"": 1 / 1024, "B": 1 / 1024, "K": 1, "M": 1024, "G": 1024**2}
    caches, single = {}, False
    for name in ("L1d", "L1i", "L2", "L3"):
        found = re.match(r"\s*(\d{1,9}(?:[.,]\d{1,3})?)\s*([KMGB]?)(iB)?\s*(\(\d+)?", common.get(name, ""))
        if not found:
            continue
        if found[3] or found[4]:
            caches[name] = round(float(found[1].replace(",", ".")) * units[found[2]])
        else:
            single = True
    if single:
        notes.append("this old lscpu prints the size of one cache of each kind, not the total")
    return caches
