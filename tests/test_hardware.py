"""The hardware report, and the cures for a card that PyTorch cannot use."""

import sys

import pytest
import torch

from tutorial.hardware import gpu
from tutorial.hardware.chips import _chips, find_chip, find_generation
from tutorial.hardware.diagnosis import Situation, diagnose
from tutorial.hardware.report import this_machine
from tutorial.hardware.wheels import cuda_of_driver, cudnn_version, cure, has_code

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
    assert set(report.model_dump()) == {"cpu", "accelerators", "pytorch"}
    assert report.pytorch.version


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
        ("12.8", "10.0", "on Linux"),  # a B200: cu129 has code for it and runs with the driver, but is not made for Windows
        ("12.9", "12.1", "whl/cu129"),
        ("12.4", "12.0", "install a newer NVIDIA driver, then run this again"),
        ("12.8", "8.9", "whl/cu126"),
    ],
)
def test_the_cure_fits_the_card_as_well_as_the_driver(monkeypatch, cuda, capability, cure):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: driver(cuda) + capability + "\n")
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)
    assert cure in gpu.unusable_nvidia_card()


@pytest.mark.parametrize(
    ("version", "newest", "capability", "pinned"),
    [
        ("2.13.0+cpu", (12, 4), (6, 1), "torch==2.13.0 "),
        ("2.15.0+cu132", (12, 4), (6, 1), "torch "),  # cu126 ends with 2.14
        ("2.5.1+cu124", (12, 4), (8, 6), "torch "),  # cu126 begins with 2.6
        ("2.14.1+cpu", (12, 8), (12, 0), "torch "),  # cu129 ends with 2.13
    ],
)
def test_a_version_that_an_index_does_not_have_is_not_asked_of_it(version, newest, capability, pinned):
    assert f"pip install --force-reinstall {pinned}" in cure(newest, capability, version, None)


def test_the_driver_tells_cuda_where_nothing_else_does():
    drivers = ("580.65.06", "570.124.06", "565.57.01", "525.105.17", "470.199.02", "390.157", None)
    assert [cuda_of_driver(driver) for driver in drivers] == [(13, 0), (12, 8), (12, 0), (12, 0), (11, 0), None, None]


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


CARD = "| Driver Version: 580.65.06  CUDA Version: 13.0 |\nGPU 0: NVIDIA GeForce RTX 4070 (UUID: GPU-0)\n8.9\n"
OLD_CARD = CARD.replace("RTX 4070", "GTX 1080").replace("8.9", "6.1")
NEW_BUILD = dict(version="2.13.0+cu130", cuda="13.0")


@pytest.mark.parametrize(
    ("situation", "problem", "cure"),
    [
        (Situation("2.13.0+cpu", listing=CARD), "CPU only", "torch==2.13.0 --index-url https://download.pytorch.org/whl/cu130"),
        (Situation("2.8.0+cpu", listing=CARD), "CPU only", "torch --index-url https://download.pytorch.org/whl/cu130"),
        (Situation(**NEW_BUILD, listing=CARD.replace("13.0", "12.4")), "too old", "whl/cu126"),
        (Situation(**NEW_BUILD, listing=CARD, variables={"CUDA_VISIBLE_DEVICES": ""}), "CUDA_VISIBLE_DEVICES", "unset CUDA_VISIBLE_DEVICES"),
        (Situation(**NEW_BUILD, listing=CARD, variables={"CUDA_VISIBLE_DEVICES": "1"}), "CUDA_VISIBLE_DEVICES", "unset"),
        (Situation(**NEW_BUILD, listing=CARD, variables={"CUDA_VISIBLE_DEVICES": "0"}), "new enough", "right one"),
        (Situation(**NEW_BUILD, listing=OLD_CARD, available=True, failure="no kernel image", built_for=["sm_75", "sm_80"]), "no code", "whl/cu126"),
        (Situation(**NEW_BUILD, listing=CARD, available=True, failure="out of memory", built_for=["sm_75", "sm_86"]), "out of memory", ""),
        (Situation(**NEW_BUILD, wsl=True, windows_driver=False), "WSL", "in Windows"),
        (Situation(**NEW_BUILD), "no NVIDIA driver", "--gpus all"),
        (Situation(**NEW_BUILD, listing="Failed to initialize NVML: Driver/library version mismatch"), "mismatch", "Restart"),
        (Situation("2.13.0+cpu", nvidia_hardware=True), "no NVIDIA driver", "install the NVIDIA driver"),
        (Situation("2.9.0+rocm6.4", hip="6.4", variables={"HIP_VISIBLE_DEVICES": "-1"}, kfd=True), "HIP_VISIBLE_DEVICES", "unset"),
        (Situation("2.9.0+rocm6.4", hip="6.4", kfd=False), "may not use", "render"),
        (Situation("2.9.0+rocm6.4", hip="6.4"), "/dev/kfd is missing", "rocm.docs.amd.com"),
        (Situation("2.13.0", unusable_mps=True), "mps", "macOS"),
    ],
)
def test_why_there_is_no_accelerator(situation, problem, cure):
    told = diagnose(situation)
    assert problem in told[0] and cure in told[1]


def test_nothing_is_wrong_where_an_accelerator_works_or_none_is_there():
    assert diagnose(Situation("2.13.0+cpu")) == (None, None)
    assert diagnose(Situation(**NEW_BUILD, listing=CARD, available=True)) == (None, None)
    assert diagnose(Situation(**NEW_BUILD, available=True)) == (None, None)  # a driver without nvidia-smi
    assert diagnose(Situation("2.9.0+rocm6.4", hip="6.4", available=True)) == (None, None)


@pytest.mark.parametrize(
    ("built_for", "capability", "fits"),
    [
        (["sm_80", "sm_86"], "8.9", True),  # machine code runs on a later minor number
        (["sm_86"], "8.0", False),
        (["sm_75", "sm_90"], "12.0", False),
        (["sm_75", "compute_90"], "12.0", True),  # PTX is translated for what came later
        (["compute_120"], "9.0", False),
        (["sm_90a"], "9.0", True),
        (["sm_100a"], "10.3", False),
        (["sm_100f"], "10.3", True),
        (["sm_80"], "8.7", False),  # a Jetson runs no code for cards
        (["sm_87"], "8.7", True),
        (["sm_120"], "12.1", True),
        ([], "8.9", None),
        (["sm_80"], None, None),
    ],
)
def test_which_code_runs_on_which_chip(built_for, capability, fits):
    assert has_code(built_for, capability) is fits


def test_code_for_amd_chips_is_named_exactly():
    assert has_code(["gfx90a", "gfx1100"], gfx="gfx1100") is True
    assert has_code(["gfx90a", "gfx1100"], gfx="gfx1101") is False
    assert has_code(["gfx11-generic"], gfx="gfx1101") is True


@pytest.mark.parametrize(("number", "version"), [(90100, "9.1.0"), (91002, "9.10.2"), (8902, "8.9.2"), (7605, "7.6.5"), (None, None)])
def test_cudnn_is_decoded(number, version):
    assert cudnn_version(number) == version


def test_cards_that_only_the_driver_sees(monkeypatch):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: CARD)
    monkeypatch.setattr(gpu, "_visible_devices", lambda: [])
    monkeypatch.setattr(torch.version, "hip", None)
    [card] = gpu.every_accelerator()
    assert (card.series, card.compute_capability, card.device, card.works) == ("RTX 40", "8.9", None, False)
    assert gpu.these_accelerators() == []


def test_pytorch_and_its_driver(monkeypatch):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: CARD)
    monkeypatch.setattr(gpu, "_visible_devices", lambda: [])
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)
    report = gpu.this_pytorch()
    assert (report.driver, report.driver_cuda) == ("580.65.06", "13.0")
    assert "CPU only" in report.problem and "pip install" in report.cure


class Properties:
    """What torch tells of a device."""

    name, total_memory, multi_processor_count, major, minor, gcnArchName = "NVIDIA GeForce RTX 4090", 49140 * 2**20, 128, 8, 9, "gfx1100:x"


@pytest.mark.parametrize(("hip", "capability", "gfx"), [(None, "8.9", None), ("6.4", None, "gfx1100")])
def test_torch_tells_the_facts_and_the_name_adds(monkeypatch, hip, capability, gfx):
    properties = Properties()
    properties.name = "AMD Radeon Graphics" if hip else Properties.name
    monkeypatch.setattr(torch.version, "hip", hip)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    accelerator = gpu._describe(torch.device("cuda", 0))
    assert (accelerator.compute_capability, accelerator.gfx, accelerator.memory_mib, accelerator.multiprocessors) == (capability, gfx, 49140, 128)
    assert accelerator.architecture == ("RDNA 3" if hip else "Ada Lovelace") and accelerator.device == "cuda:0"


def test_the_rows_of_chips_can_be():
    for name, chip in _chips().items():
        assert chip.source.startswith("https://"), name
        if chip.vendor == "Intel":  # only performance cores have two threads, and then all of them
            assert chip.threads in (chip.cores, chip.cores + chip.performance), name
        else:
            assert chip.threads == (chip.cores if chip.vendor == "Apple" else 2 * chip.cores), name


@pytest.mark.parametrize(
    ("model", "generation", "cores"),
    [
        ("12th Gen Intel(R) Core(TM) i3-1220PE", "Alder Lake", (4, 4, 0, 12)),
        ("13th Gen Intel(R) Core(TM) i7-1365UE", "Raptor Lake", (2, 8, 0, 12)),
        ("Intel(R) Core(TM) Ultra 7 270K Plus", "Arrow Lake", (8, 16, 0, 24)),
        ("Intel(R) Core(TM) Ultra 7 251HX", "Arrow Lake", (6, 12, 0, 18)),
        ("Intel(R) Core(TM) Ultra 7 258V", "Lunar Lake", (4, 0, 4, 8)),
        ("Intel(R) Core(TM) Ultra X7 358H", "Panther Lake", (4, 8, 4, 16)),
        ("Intel(R) Core(TM) Ultra 7 355", "Panther Lake", (4, 0, 4, 8)),
        ("Intel(R) Core(TM) 5 320", "Wildcat Lake", (2, 0, 4, 6)),
        ("Intel(R) Core(TM) 9 273PQE", "Bartlett Lake", (12, 0, 0, 24)),
        ("AMD Ryzen AI 9 HX 470 w/ Radeon 890M", "Zen 5", (4, 8, 0, 24)),
        ("AMD Ryzen AI 5 435G w/ Radeon 840M", "Zen 5", (2, 4, 0, 12)),
    ],
)
def test_a_hybrid_chip_by_its_printed_name(model, generation, cores):
    chip = find_chip(model)
    assert chip.generation == generation
    assert (chip.performance, chip.efficiency, chip.low_power, chip.threads) == cores


@pytest.mark.parametrize("model", ["AMD Ryzen 3 7440U w/ Radeon 740M", "Apple M4", "Apple M2 Pro", "Snapdragon X2 Elite - X2E88100", "AMD Ryzen AI 5 430"])
def test_a_name_that_several_chips_have_or_that_no_source_tells_has_no_row(model):
    assert find_chip(model) is None


@pytest.mark.parametrize(
    ("vendor", "model", "family", "number", "told"),
    [
        ("Intel", "Xeon E-2414", 6, 183, ("Raptor Lake", "performance")),
        ("Intel", "Intel Core 9 273PE", 6, 215, ("Bartlett Lake", "performance")),
        ("Intel", "Intel Atom P6900", 6, 182, ("Grand Ridge", "efficiency")),
        ("Intel", "Intel Xeon 6369P", None, None, ("Raptor Lake", "performance")),
        ("Intel", "Intel Xeon 6787P", None, None, ("Granite Rapids", "performance")),
        ("Intel", "Intel Xeon Platinum 8380H", None, None, ("Cooper Lake", "performance")),
        ("Intel", "Intel Xeon Platinum 8380", None, None, ("Ice Lake", "performance")),
        ("Intel", "Intel Xeon CPU Max 9480", None, None, ("Sapphire Rapids", "performance")),
        ("Intel", "Intel Core 7 150U", None, None, ("Raptor Lake", "mixed")),
        ("AMD", "AMD EPYC 8534P 64-Core Processor", None, None, ("Zen 4c", "efficiency")),
        ("Qualcomm", "Snapdragon X - X126100 - Qualcomm Oryon CPU", None, None, ("Oryon", "performance")),
        ("Qualcomm", "Snapdragon X2 Elite - X2E88100", None, None, ("Oryon", "mixed")),
    ],
)
def test_the_rule_that_tells_a_generation(vendor, model, family, number, told):
    rule = find_generation(vendor, model, family, number, None)
    assert (rule.name, rule.cores) == told


def test_the_build_without_code_for_a_chip(monkeypatch):
    card = gpu.decode("NVIDIA GeForce GTX 1080", "6.1", hip=False)
    monkeypatch.setattr(gpu, "_built_for", lambda: ["sm_75", "sm_90", "compute_90"])
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert gpu.code_for(card) is False
    assert gpu.code_for(gpu.decode("NVIDIA L4", "8.9", hip=False)) is False
    assert gpu.code_for(gpu.decode("NVIDIA B200", "10.0", hip=False)) is True
    assert gpu.code_for(gpu.decode("Apple M2")) is None
    monkeypatch.setattr(torch.version, "cuda", None)
    assert gpu.code_for(card) is False


@pytest.mark.parametrize(
    ("situation", "problem", "cure"),
    [
        (Situation("2.13.0+cpu", listing=CARD), "built for the CPU only", "pip install --force-reinstall torch==2.13.0 --index-url"),
        (Situation("2.13.0+cu130", "13.0"), "no NVIDIA driver answers", "https://www.nvidia.com/drivers"),
        (Situation("2.13.0+cu130", "13.0", wsl=True, windows_driver=False), "Windows offers it no GPU driver", "wsl --update"),
        (Situation("2.13.0+cu130", "13.0", wsl=True, wsl1=True), "WSL 1", "wsl --set-version"),
        (Situation("2.13.0+cu130", "13.0", listing=CARD, variables={"CUDA_VISIBLE_DEVICES": "-1"}), "hides every device", "unset CUDA_VISIBLE_DEVICES"),
        (Situation("2.13.0+cu130", "13.0", listing="Failed to initialize NVML: Driver/library version mismatch"), "version mismatch", "Restart"),
        (Situation("2.13.0+cpu", nvidia_hardware=True), "no NVIDIA driver", "install the NVIDIA driver"),
        (Situation("2.13.0+cpu", kfd=True), "not built for it", "https://pytorch.org/get-started/locally/"),
        (Situation("2.13.0+cu130", "13.0", kfd=True), "not built for it", "ROCm"),
        (Situation("2.13.0+rocm7.0", hip="7.0", kfd=False), "may not use", "usermod -a -G render,video"),
    ],
)
def test_each_reason_has_its_cure(situation, problem, cure):
    told = diagnose(situation)
    assert problem in told[0] and cure in told[1], told


def test_what_hides_a_device_is_told_without_the_ids_of_the_others():
    told = diagnose(Situation("2.13.0+cu130", "13.0", listing=CARD, variables={"CUDA_VISIBLE_DEVICES": "7,GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"}))
    assert "(7)" in told[0] and "8932f937" not in told[0]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("/home/ada/.venv/lib/libtorch_cuda.so: undefined symbol: x\nmore", "(a file): undefined symbol: x"),
        (r"Error loading C:\Users\Ada\torch\lib\c10.dll now", "Error loading (a file) now"),
        ("CUDA error: no kernel image is available; see https://pytorch.org/docs/stable/cuda", "CUDA error: no kernel image is available; see https://pytorch.org/docs/stable/cuda"),
        ("", "RuntimeError"),
    ],
)
def test_an_error_is_told_without_paths(monkeypatch, said, told):
    def fails(*_, **__):
        raise RuntimeError(said)

    monkeypatch.setattr(torch, "ones", fails)
    assert gpu.why_it_fails(torch.device("cpu")) == told
