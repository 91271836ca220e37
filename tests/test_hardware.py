"""The hardware report, and the cures for a card that PyTorch cannot use."""

import sys

import pytest
import torch

from tutorial.hardware import cpu, gpu
from tutorial.hardware.report import this_machine

TABLE = """Mon Nov 30 12:00:00 2026
| NVIDIA-SMI {version}        Driver Version: {version}      CUDA {label}: {cuda}     |
GPU 0: NVIDIA GeForce RTX 4070 Laptop GPU (UUID: GPU-00000000-0000-0000-0000-000000000000)
"""


def driver(cuda, label="Version", version="580.65.06"):
    return TABLE.format(cuda=cuda, label=label, version=version)


def test_this_machine_is_told_without_names_or_paths():
    report = this_machine()
    assert report.cpu.logical >= 1
    assert report.cpu.memory_mib > 100
    assert set(report.model_dump()) == {"cpu", "accelerators"}


@pytest.mark.parametrize(
    ("cuda", "label", "cure"),
    [
        ("13.0", "Version", "whl/cu130"),
        ("13.1", "UMD Version", "whl/cu130"),
        ("12.8", "Version", "whl/cu126"),
        ("12.4", "Version", "whl/cu126"),
        ("11.8", "Version", "install a newer NVIDIA driver"),
        ("N/A", "Version", "install a newer NVIDIA driver"),
    ],
)
def test_a_card_behind_a_cpu_build_gets_the_line_that_cures_it(monkeypatch, cuda, label, cure):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: driver(cuda, label))
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)
    message = gpu.unusable_nvidia_card()
    assert "NVIDIA GeForce RTX 4070 Laptop GPU" in message
    assert "built for the CPU only" in message
    assert cure in message
    assert "UUID" not in message


def test_a_driver_that_is_too_old_is_told(monkeypatch):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: driver("12.8"))
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    message = gpu.unusable_nvidia_card()
    assert "12.8" in message and "13.0" in message and "whl/cu126" in message


def test_a_card_without_code_in_the_wheel_is_told(monkeypatch):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: driver("13.0"))
    monkeypatch.setattr(torch.version, "cuda", "12.6")
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(gpu, "why_it_fails", lambda device: "CUDA error: no kernel image is available for execution on the device")
    assert "no kernel image" in gpu.unusable_nvidia_card()


def test_a_card_that_works_and_no_card_are_silent(monkeypatch):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: "")
    assert gpu.unusable_nvidia_card() is None
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: driver("13.0"))
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(gpu, "why_it_fails", lambda device: None)
    assert gpu.unusable_nvidia_card() is None


@pytest.mark.parametrize(
    ("cuda", "capability", "cure"),
    [
        ("13.0", "6.1", "whl/cu126"),  # a GTX 1080 with the newest driver that knows it: cu130 has no code for it
        ("13.0", "8.9", "whl/cu130"),
        ("12.8", "12.0", "install a newer NVIDIA driver"),  # an RTX 50: cu126 has no code for it
        ("12.8", "8.9", "whl/cu126"),
    ],
)
def test_the_cure_fits_the_card_as_well_as_the_driver(monkeypatch, cuda, capability, cure):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: driver(cuda) + capability + "\n")
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)
    assert cure in gpu.unusable_nvidia_card()


def test_the_right_build_is_not_installed_again(monkeypatch):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: driver("13.0") + "8.9\n")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    message = gpu.unusable_nvidia_card()
    assert "CUDA_VISIBLE_DEVICES" in message and "pip install" not in message


def test_a_mac_names_its_chip_where_pytorch_knows_it(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "get_name", lambda: "Apple M3", raising=False)
    assert gpu._describe(torch.device("mps", 0)).name == "Apple M3"
    monkeypatch.delattr(torch.backends.mps, "get_name")
    assert gpu._describe(torch.device("mps", 0)).name is None


@pytest.mark.skipif(sys.platform == "win32", reason="the program made here is a shell script")
@pytest.mark.parametrize("script", ["printf '\\377\\000GPU 0: \\376 (UUID: x)'", "echo no driver >&2; exit 9", "kill -9 $$"])
def test_whatever_the_drivers_program_does_it_stops_nothing(tmp_path, monkeypatch, script):
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(gpu, "NVIDIA_SMI", (str(program),))
    assert isinstance(gpu.nvidia_smi(), str)
    gpu.unusable_nvidia_card()


def test_one_plus_one_is_tried_on_the_device():
    assert gpu.why_it_fails(torch.device("cpu")) is None
    # meta computes nothing, so it stands for a device that is there and does not work
    assert "meta" in gpu.why_it_fails(torch.device("meta"))


@pytest.mark.parametrize(
    ("cpuinfo", "release", "model", "environment"),
    [
        ("model name\t: Intel(R) Core(TM) i7-12800HX\nflags\t\t: fpu avx2 hypervisor\n", "5.15.0-microsoft-standard-WSL2", "Intel Core i7-12800HX", "wsl2"),
        ("model name\t: AMD EPYC 7B12\nflags\t\t: fpu hypervisor\n", "6.1.0", "AMD EPYC 7B12", "virtual machine"),
        ("model name\t: AMD Ryzen 9 5950X 16-Core Processor\nflags\t\t: fpu avx2\n", "6.1.0", "AMD Ryzen 9 5950X 16-Core Processor", "bare-metal"),
        ("processor\t: 0\nBogoMIPS\t: 108.00\n", "6.1.0", None, "unknown"),
        ("", "6.1.0", None, "unknown"),
    ],
)
def test_the_model_and_what_it_runs_in(monkeypatch, cpuinfo, release, model, environment):
    monkeypatch.setattr(cpu.platform, "system", lambda: "Linux")
    monkeypatch.setattr(cpu.platform, "release", lambda: release)
    monkeypatch.setattr(cpu, "_read", lambda path: cpuinfo)
    assert cpu._model() == model
    assert cpu._environment() == environment


def test_a_command_that_is_missing_or_fails_says_nothing():
    assert cpu._output(["no-such-program-anywhere"]) == ""
    assert cpu._output(["false"]) == ""
