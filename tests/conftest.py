"""A small measured machine, made up, for the tests of what is rendered and checked."""

from datetime import datetime, timezone

import pytest

from tutorial.hardware.schema import CPU, Accelerator, Hardware
from tutorial.measure.results import Measured, Record


@pytest.fixture
def results():
    """Results of a machine with one accelerator, with the experiment `training`."""
    about = dict(experiment="training", threads=1)
    step = dict(about, group="step", case="lesson", parameters={"block": 50})
    records = [Record(**step, role="base", device="cpu", samples=[2e-4, 3e-4, 2.5e-4, 2e-4]), Record(**step, role="twin", device="cpu", samples=[2e-4, 3e-4, 2.5e-4, 2e-4])]
    records.append(Record(**step, role="case", device="cuda:0", samples=[8e-4, 9e-4, 8.5e-4, 8e-4]))
    for device, seconds in (("cpu", 4.5), ("cuda:0", 17.0)):
        whole = dict(about, group="whole", role="single", device=device)
        records += [
            Record(**whole, case="whole run", samples=[seconds], parameters={"steps": 20000}),
            Record(**whole, case="loss curve", unit="loss", samples=[1.0, 0.5, 0.0613], parameters={"interval": 100}),
            Record(**whole, case="test accuracy", unit="share", samples=[0.9667]),
        ]
    return Measured(
        hardware=Hardware(
            cpu=CPU(model="Example CPU 9", logical=8, physical_cores=4, environment="wsl2", memory_mib=16000),
            accelerators=[Accelerator(device="cuda:0", name="Example GPU | <b>_x_</b>", compute_capability="8.9", memory_mib=8188)],
        ),
        software={"python": "3.11.7", "torch": "2.13.0+cu130"},
        when=datetime(2026, 11, 30, 12, tzinfo=timezone.utc),
        profile="quick",
        commit="0123456789ab",
        records=records,
    )
