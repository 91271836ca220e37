"""The output of `torch.utils.collect_env` and its forks: each trap, and that no text breaks the reader."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutorial.hardware.collect_env import parse_collect_env
from tutorial.hardware.schema import Hardware, NotRecognized

REPORT = """\
Collecting environment information...
PyTorch version: {torch}
Is debug build: False
CUDA used to build PyTorch: {cuda}
ROCM used to build PyTorch: {rocm}

OS: {os}
GCC version: Could not collect
Clang version: Could not collect
CMake version: Could not collect
Libc version: glibc-2.35

Python version: 3.11.9 (main, Apr  1 2024, 12:00:00) [GCC 11.4.0] (64-bit runtime)
Python platform: {platform}
Is CUDA available: {available}
CUDA runtime version: Could not collect
CUDA_MODULE_LOADING set to: LAZY
GPU models and configuration: {gpus}
Nvidia driver version: {driver}
cuDNN version: {cudnn}
HIP runtime version: N/A
MIOpen runtime version: N/A
Is XNNPACK available: True

CPU:
{cpu}
Versions of relevant libraries:
[pip3] numpy==2.0.0
[pip3] torch=={torch}
"""

LSCPU = """\
Architecture:                         x86_64
CPU op-mode(s):                       32-bit, 64-bit
CPU(s):                               16
On-line CPU(s) list:                  0-15
Vendor ID:                            AuthenticAMD
Model name:                           AMD Ryzen 7 5800X 8-Core Processor
Thread(s) per core:                   2
Core(s) per socket:                   8
Socket(s):                            1
Flags:                                fpu sse2 avx avx2{flag}
{more}
"""

LINUX = "Linux-6.8.0-50-generic-x86_64-with-glibc2.35"
WSL = "Linux-5.15.167.4-microsoft-standard-WSL2-x86_64-with-glibc2.35"
BARE = LSCPU.format(flag="", more="")
MICROSOFT = LSCPU.format(flag=" hypervisor", more="Hypervisor vendor:                    Microsoft\nVirtualization type:                  full")


def report(**fields) -> str:
    usual = dict(torch="2.9.1+cu126", cuda="12.6", rocm="N/A", os="Ubuntu 22.04.5 LTS (x86_64)", platform=LINUX, available="True", gpus="GPU 0: NVIDIA GeForce RTX 3070", driver="560.35.03", cudnn="Could not collect", cpu=BARE)
    return REPORT.format(**usual | fields)


def test_a_usual_machine():
    machine = parse_collect_env(report())
    assert machine.cpu.model == "AMD Ryzen 7 5800X 8-Core Processor" and machine.cpu.physical_cores == 8
    assert [card.tier for card in machine.accelerators] == ["70"]
    pytorch = machine.pytorch
    assert (pytorch.version, pytorch.cuda, pytorch.hip, pytorch.driver, pytorch.cudnn) == ("2.9.1+cu126", "12.6", None, "560.35.03", None)
    assert pytorch.problem is None


def test_several_cards_in_the_lines_below():
    machine = parse_collect_env(report(gpus="\nGPU 0: NVIDIA A100-SXM4-80GB\nGPU 1: NVIDIA A100-SXM4-80GB\n  MIG 3g.40gb     Device  0:\n"))
    assert [card.suffix for card in machine.accelerators] == ["SXM4", "SXM4"]
    assert any("3g.40gb" in note for note in machine.accelerators[1].notes)
    assert machine.pytorch.driver == "560.35.03"


@pytest.mark.parametrize("nothing", ["Could not collect", "No CUDA", ""])
def test_no_cards(nothing):
    machine = parse_collect_env(report(gpus=nothing, driver=nothing, available="False", torch="2.9.1+cpu", cuda="None"))
    assert machine.accelerators == [] and machine.pytorch.driver is None and machine.pytorch.cuda is None and machine.pytorch.problem is None


@pytest.mark.parametrize(
    ("cudnn", "version"),
    [
        ("Could not collect", None),
        ("/usr/lib/x86_64-linux-gnu/libcudnn.so.9.1.0", "9.1.0"),
        ("Probably one of the following:\n/usr/lib/libcudnn.so.8.9.7\n/usr/lib/libcudnn_adv_infer.so.8.9.7", "8.9.7"),
        ("Probably one of the following:\n/a/libcudnn.so.8.9.7\n/b/libcudnn.so.9.1.0", None),
        ("90100", "9.1.0"),
        ("8902", "8.9.2"),
        ("91002", "9.10.2"),
        ("8.5.0", "8.5.0"),
        (r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v11.7\bin\cudnn_ops_train64_8.dll", "8"),
    ],
)
def test_cudnn(cudnn, version):
    machine = parse_collect_env(report(cudnn=cudnn))
    assert machine.pytorch.cudnn == version
    assert "usr" not in machine.model_dump_json() and "Program" not in machine.model_dump_json()


def test_the_cudnn_that_came_with_pytorch_counts():
    text = report(cudnn="/usr/lib/libcudnn.so.8.9.7") + "[pip3] nvidia-cudnn-cu12==9.10.2.21\n"
    assert parse_collect_env(text).pytorch.cudnn == "9.10.2"


def test_wsl_and_hyper_v_say_the_same_in_lscpu():
    wsl = parse_collect_env(report(platform=WSL, cpu=MICROSOFT)).cpu
    azure = parse_collect_env(report(cpu=MICROSOFT)).cpu
    assert (wsl.environment, wsl.topology_trusted) == ("wsl2", False)
    assert (azure.environment, azure.topology_trusted) == ("hyper-v", False)


def test_rocm():
    machine = parse_collect_env(report(torch="2.7.0+rocm6.3", cuda="N/A", rocm="6.3.42131-fa1d09cbd", gpus="AMD Instinct MI250X/MI250 (gfx90a:sramecc+:xnack-)", driver="Could not collect"))
    [card] = machine.accelerators
    assert (card.vendor, card.gfx, card.architecture, card.compute_capability) == ("AMD", "gfx90a", "CDNA 2", None)
    assert machine.pytorch.hip.startswith("6.3") and machine.pytorch.cuda is None
    [old] = parse_collect_env(report(rocm="6.0.32830", gpus="AMD Radeon PRO W6800NoGCNArchNameOnOldPyTorch")).accelerators
    assert (old.name, old.form) == ("AMD Radeon PRO W6800", "workstation")


def test_a_mac():
    machine = parse_collect_env(report(torch="2.9.1", cuda="None", os="macOS 15.3.1 (arm64)", platform="macOS-15.3.1-arm64-arm-64bit", available="False", gpus="No CUDA", driver="No CUDA", cpu="Apple M1 Max\n"))
    assert (machine.cpu.model, machine.cpu.vendor, machine.cpu.architecture) == ("Apple M1 Max", "Apple", "aarch64")
    [chip] = machine.accelerators
    assert (chip.vendor, chip.series, chip.suffix) == ("Apple", "M1", "Max")


@pytest.mark.parametrize("mark", ["=", ": "])
def test_windows(mark):
    fields = {"Name": "Intel(R) Core(TM) i7-10700 CPU @ 2.90GHz", "Manufacturer": "GenuineIntel", "Family": "198", "Architecture": "9", "ProcessorType": "3", "DeviceID": "CPU0", "CurrentClockSpeed": "2904", "MaxClockSpeed": "2904", "L2CacheSize": "2048"}
    cpu = "".join(f"{key}{mark}{value}\n" for key, value in fields.items())
    machine = parse_collect_env(report(os="Microsoft Windows 11 Pro (10.0.22631 64-bit)", platform="Windows-10-10.0.22631-SP0", cpu=cpu).replace("\n", "\r\n"))
    assert "i7-10700" in machine.cpu.model and machine.cpu.vendor == "Intel"
    assert machine.cpu.environment in ("unknown", "bare-metal")


def test_a_fork_with_headings_and_a_chinese_lscpu():
    cpu = BARE.replace("Architecture:  ", "架构：  ").replace("CPU(s):   ", "CPU:      ").replace("Model name:", "型号名称：")
    text = report(cpu=cpu).replace("PyTorch version:", "PyTorch version              :").replace("\nCPU:\n", "\n==============================\n          CPU Info\n==============================\n", 1)
    text = text.replace("\nVersions of", "\n==============================\nVersions of")
    machine = parse_collect_env(text)
    assert machine.pytorch.version == "2.9.1+cu126"
    assert machine.cpu.logical == 16 and machine.cpu.model == "AMD Ryzen 7 5800X 8-Core Processor"


def test_intel_gpus():
    text = report(gpus="Could not collect", torch="2.8.0+xpu", cuda="None", available="False").replace(
        "\nCPU:\n", "Intel GPU models detected:\n* [0] _XpuDeviceProperties(name='Intel(R) Arc(TM) A770 Graphics', platform_name='x', total_memory=15473MB, max_compute_units=512)\n\nCPU:\n", 1
    )
    [card] = parse_collect_env(text).accelerators
    assert (card.series, card.memory_mib, card.compute_capability) == ("Arc A", 15473, None)


@pytest.mark.parametrize(
    ("fields", "problem", "cure"),
    [
        (dict(torch="2.9.1+cpu", cuda="None", available="False"), "CPU only", "torch==2.9.1 --index-url https://download.pytorch.org/whl/cu126"),
        (dict(torch="2.3.1+cpu", cuda="Could not collect", available="False"), "CPU only", "torch --index-url https://download.pytorch.org/whl/cu126"),
        (dict(torch="2.9.1+cu130", cuda="13.0", available="False"), "too old", "whl/cu126"),
        (dict(gpus="GPU 0: NVIDIA GeForce RTX 5090", driver="580.65.06"), "no code", "whl/cu130"),
        (dict(torch="2.9.1+cu130", cuda="13.0", gpus="GPU 0: NVIDIA GeForce GTX 1080", driver="580.65.06"), "no code", "whl/cu126"),
        (dict(available="False"), "CUDA_VISIBLE_DEVICES", ""),
    ],
)
def test_why_pytorch_cannot_use_the_card(fields, problem, cure):
    pytorch = parse_collect_env(report(**fields)).pytorch
    assert problem in pytorch.problem and cure in pytorch.cure


def test_a_report_with_little_in_it():
    machine = parse_collect_env("PyTorch version: N/A\nIs CUDA available: N/A\n")
    assert machine.pytorch.version is None and machine.accelerators == []
    quoted = "\n".join("> " + line for line in report().split("\n"))
    assert parse_collect_env(quoted).accelerators[0].series == "RTX 30"


@pytest.mark.parametrize("text", ["", "\0\1\2", BARE, "PyTorch version: 2.0", "GPU 0: NVIDIA L4\n", "OS: Linux\n" * 100])
def test_other_texts_are_not_recognized(text):
    with pytest.raises(NotRecognized):
        parse_collect_env(text)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([report(), report(platform=WSL, cpu=MICROSOFT), report(gpus="\nGPU 0: NVIDIA L4\nGPU 1: NVIDIA L4\n")]), st.integers(0, 2000), st.integers(0, 2000), st.text(max_size=30))
def test_a_mutated_text_is_read_or_not_recognized(text, start, end, inserted):
    try:
        assert isinstance(parse_collect_env(text[:start] + inserted + text[end:]), Hardware)
    except NotRecognized:
        pass


@pytest.mark.parametrize(
    ("torch", "cuda", "card", "os", "has_code"),
    [
        ("2.5.1+cu124", "12.4", "NVIDIA GeForce RTX 4090", "x86_64", True),
        ("2.5.1+cu124", "12.4", "NVIDIA GeForce GTX 1080", "x86_64", True),
        ("2.5.1+cu124", "12.4", "NVIDIA GeForce RTX 5090", "x86_64", False),
        ("2.9.0+cu130", "13.0", "NVIDIA GeForce RTX 5090", "x86_64", True),
        ("2.9.0+cu130", "13.0", "NVIDIA GeForce GTX 1080", "x86_64", False),
        ("2.8.0+cu128", "12.8", "Tesla V100-SXM2-16GB", "x86_64", None),  # some releases have it, some do not
        ("1.13.1+cu117", "11.7", "NVIDIA H100 PCIe", "x86_64", False),
        ("2.5.1+cu124", "12.4", "Tesla T4", "aarch64", None),  # wheels for ARM have code for fewer chips
        ("2.5.0a0+872d972e41.nv24.08", "12.6", "Orin (nvgpu)", "aarch64", None),
        ("2.6.0a0+gitabc", "12.6", "NVIDIA GeForce RTX 5090", "x86_64", None),  # somebody's own build
        ("2.5.1+cpu", "None", "NVIDIA GeForce RTX 4090", "x86_64", False),
        ("2.5.1+cu124", "12.4", "NVIDIA Graphics Device", "x86_64", None),
    ],
)
def test_whether_a_wheel_has_code_for_the_card(torch, cuda, card, os, has_code):
    machine = parse_collect_env(report(torch=torch, cuda=cuda, os=f"Ubuntu 22.04.5 LTS ({os})", gpus=f"GPU 0: {card}", cpu=f"Architecture: {os}\nCPU(s): 8\n"))
    assert machine.accelerators[0].has_code is has_code
    if torch.endswith(("cu124", "cu130", "cu117")) and has_code is False:
        assert "has no code for the" in machine.pytorch.problem


@pytest.mark.parametrize(
    ("changes", "problem", "cure"),
    [
        ({"torch": "2.13.0+cpu", "cuda": "None"}, "built for the CPU only", "pip install --force-reinstall torch==2.13.0"),
        ({"torch": "2.3.0", "cuda": "None"}, "built for the CPU only", "pip install"),  # conda's builds have no +cpu
        ({"torch": "2.8.0+xpu", "cuda": "None"}, "built for Intel's GPUs", "pip install"),
        ({"torch": "2.13.0+cu130", "cuda": "13.0", "driver": "535.183.01"}, "too old", "pip install --force-reinstall torch==2.13.0"),
        ({"gpus": "Could not collect", "driver": "Could not collect"}, "no NVIDIA driver and no card", "https://www.nvidia.com/drivers"),
        ({"gpus": "Could not collect"}, "an NVIDIA driver and no card", "https://www.nvidia.com/drivers"),
        ({}, "may be hidden", ""),
    ],
)
def test_why_a_report_shows_no_usable_card(changes, problem, cure):
    machine = parse_collect_env(report(**{"available": "False", "driver": "580.95.05", **changes}))
    assert problem in machine.pytorch.problem and cure in machine.pytorch.cure


def test_a_mac_names_its_cores():
    mac = {"torch": "2.9.1", "cuda": "None", "os": "macOS 15.3.1 (arm64)", "platform": "macOS-15.3.1-arm64-arm-64bit", "available": "False", "gpus": "No CUDA", "driver": "No CUDA"}
    cpu = parse_collect_env(report(**mac, cpu="Apple M1 Max\n")).cpu
    assert (cpu.generation, cpu.architecture, cpu.physical_cores, cpu.performance_cores, cpu.efficiency_cores) == ("M1 Max", "aarch64", 10, 8, 2)
    guest = parse_collect_env(report(**mac, cpu="Apple M1 (Virtual)\n")).cpu
    assert (guest.vendor, guest.environment, guest.topology_trusted, guest.physical_cores) == ("Apple", "virtual machine", False, None)


def test_slices_are_told_once():
    machine = parse_collect_env(report(gpus="\nGPU 0: NVIDIA A100-SXM4-80GB\n  MIG 1g.10gb     Device  0:\n  MIG 3g.40gb     Device  1:"))
    assert machine.accelerators[0].notes == ["Split into MIG slices: 1g.10gb, 3g.40gb."]
