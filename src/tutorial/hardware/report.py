"""The whole machine in one report: the hardware part of every results file."""

from pydantic import BaseModel, ConfigDict

from tutorial.hardware.cpu import CPU, this_cpu
from tutorial.hardware.gpu import Accelerator, these_accelerators


class Hardware(BaseModel):
    """One machine. Holds no host name, user name, serial number or path."""

    model_config = ConfigDict(extra="forbid")

    cpu: CPU
    accelerators: list[Accelerator] = []


def this_machine() -> Hardware:
    """Report the machine that this process runs on."""
    return Hardware(cpu=this_cpu(), accelerators=these_accelerators())
