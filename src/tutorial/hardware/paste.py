"""Explain what somebody pasted: `lscpu`, `nvidia-smi` and `collect_env` output, alone or one after the other."""

from tutorial.hardware.collect_env import parse_collect_env
from tutorial.hardware.lscpu import parse_lscpu
from tutorial.hardware.nvidia_smi import parse_nvidia_smi
from tutorial.hardware.schema import CPU, Accelerator, Hardware, NotRecognized

LARGEST = 4 * 2**20  # bytes; a report is a few kilobytes


def decode_text(content: bytes) -> str:
    """The text of a file of unknown encoding, as far as it is one.

    Raises NotRecognized for binary content and for what is larger than any report.
    """
    if len(content) > LARGEST:
        raise NotRecognized(f"too large for a report: {len(content)} bytes")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # PowerShell's `>` writes UTF-16
        return content.decode("utf-16", errors="replace")
    if b"\0" in content:
        raise NotRecognized("this is binary, not the text of a report")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def read_paste(text: str) -> Hardware:
    """The machine that a pasted text tells of. Raises NotRecognized where nothing in it is recognized."""
    found = [report for report in (_attempt(parse_collect_env, text), _attempt(parse_nvidia_smi, text)) if report is not None]
    if not any(report.cpu != CPU() for report in found):
        cpu = _attempt(parse_lscpu, text)
        if cpu is not None:
            found.append(Hardware(cpu=cpu))
    if not found:
        raise NotRecognized("nothing here looks like lscpu, nvidia-smi or collect_env output")
    whole = Hardware()
    for report in found:
        if whole.cpu == CPU():
            whole.cpu = report.cpu
        whole.accelerators = _merge(whole.accelerators, report.accelerators)
        for field, value in report.pytorch:
            if getattr(whole.pytorch, field) is None:
                setattr(whole.pytorch, field, value)
    return whole


def _attempt(parse, text: str):
    try:
        return parse(text)
    except NotRecognized:
        return None


def _merge(known: list[Accelerator], more: list[Accelerator]) -> list[Accelerator]:
    """The same cards told of twice, in the same order: what one report lacks, the other adds."""
    if not known or len(known) != len(more) or any(a.vendor != b.vendor for a, b in zip(known, more)):
        return known or more
    merged = []
    for one, other in zip(known, more):
        values = {field: value for field, value in other if value not in (None, [])}
        values |= {field: value for field, value in one if value not in (None, [])}
        merged.append(Accelerator(**values))
    return merged
