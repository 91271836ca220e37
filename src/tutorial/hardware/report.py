"""The whole machine in one report: what `tutorial inspect` shows, and the hardware part of every results file."""

from tutorial.hardware.cpu import this_cpu
from tutorial.hardware.gpu import every_accelerator, this_pytorch
from tutorial.hardware.schema import Hardware, note_untold


def this_machine() -> Hardware:
    """Report the machine that this process runs on."""
    return note_untold(Hardware(cpu=this_cpu(), accelerators=every_accelerator(), pytorch=this_pytorch()))
