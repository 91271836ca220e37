"""Does this run on the machine itself, in a virtual machine, or in WSL? As far as a text tells."""

import re

from tutorial.hardware.pairs import label_table

WSL2 = re.compile(r"microsoft-standard|WSL2", re.IGNORECASE)
VIRTUAL = re.compile(r"^VirtualApple|^QEMU |^Common (?:32-bit )?KVM|\(Virtual\)$", re.IGNORECASE)
"""What programs that make CPUs up call them: Rosetta in a Linux machine on a Mac, QEMU, and macOS in a machine on macOS."""
WSL1 = re.compile(r"\b4\.4\.0-\d+-Microsoft\b")


def environment(
    vendor: str | None, flags: set[str] | None, has_max_mhz: bool, x86: bool, kernel: str = ""
) -> tuple[str, list[str]]:
    """Where the CPU was read, and notes.

    ``vendor`` is what stands behind `Hypervisor vendor`, ``flags`` those of the CPU (None: not in the text), ``kernel`` a
    line that names the kernel. The x86 flag `hypervisor` is the surest sign, both ways: old versions of lscpu print a
    hypervisor of the name `(null)` or `vertical` on bare metal. A maximum frequency is shown by hardly any guest.
    `Virtualization: VT-x` says only what the CPU could do.
    """
    if WSL1.search(kernel):
        return "wsl1", []
    if WSL2.search(kernel):
        return "wsl2", []
    known = label_table()["hypervisors"].get((vendor or "").casefold())
    if known == "hyper-v":
        return known, ["Microsoft's hypervisor: WSL2, a Hyper-V machine and Azure print the same here"]
    if known:
        return known, []
    notes = []
    partition = label_table()["partitions"].get((vendor or "").casefold())
    if partition:
        return "unknown", [f"{partition} is below every system on this hardware: a whole machine and a part of it look alike"]
    if x86 and flags is not None:
        if "hypervisor" in flags:
            return "virtual machine", ["the CPU's flag `hypervisor` is set, and nothing says whose hypervisor it is"]
        if vendor:
            notes.append(f"`Hypervisor vendor: {vendor[:40]}` is an old lscpu's mistake: the CPU's flag `hypervisor` is not set")
        return "bare-metal", notes
    if has_max_mhz:
        return "bare-metal", notes
    return "unknown", notes
