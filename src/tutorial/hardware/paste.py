"""Explain what somebody pasted: `lscpu`, `nvidia-smi` and `collect_env` output, alone or one after the other."""

import html
import re

from tutorial.hardware.collect_env import parse_collect_env
from tutorial.hardware.lscpu import parse_lscpu
from tutorial.hardware.nvidia_smi import parse_nvidia_smi
from tutorial.hardware.schema import CPU, Accelerator, Hardware, NotRecognized, note_untold

LARGEST = 4 * 2**20  # bytes; a report is a few kilobytes
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# What web pages and word processors make of a space: spaces of other widths, and characters of no width at all.
SPACES = {ord(space): " " for space in "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"}
SPACES |= {ord("\u3000"): "  "} | dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad"))


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


def plain(text: str) -> str:
    """A text without what a terminal or a web page put into it: colors, HTML entities, spaces that are none, `\\r\\n`."""
    text = ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if re.search(r"&(?:nbsp|#\d+|#x[0-9a-f]+|lt|gt|amp|quot);", text, re.IGNORECASE):
        text = html.unescape(text)
    return text if text.isascii() else text.translate(SPACES)


def read_paste(text: str) -> Hardware:
    """The machine that a pasted text tells of. Raises NotRecognized where nothing in it is recognized."""
    text = plain(text)
    found = [report for report in (_attempt(parse_collect_env, text), _attempt(parse_nvidia_smi, text)) if report is not None]
    if not any(_tells(report.cpu) for report in found):
        cpu = _attempt(parse_lscpu, text)
        if cpu is not None:
            found.insert(0, Hardware(cpu=cpu))
    if not found:
        raise NotRecognized("nothing here looks like lscpu, nvidia-smi or collect_env output")
    whole = Hardware()
    for report in found:
        if not _tells(whole.cpu):
            whole.cpu = report.cpu
        whole.accelerators = _merge(whole.accelerators, report.accelerators)
        for field, value in report.pytorch:
            if getattr(whole.pytorch, field) is None:
                setattr(whole.pytorch, field, value)
    return note_untold(whole)


def _tells(cpu: CPU) -> bool:
    return bool(cpu.model or cpu.logical or cpu.physical_cores)


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
