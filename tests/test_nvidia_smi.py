"""What `nvidia-smi` prints: each form with its traps, and that no text breaks the reader."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutorial.hardware.nvidia_smi import parse_nvidia_smi
from tutorial.hardware.schema import Hardware, NotRecognized

OLD = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 440.33.01    Driver Version: 440.33.01    CUDA Version: 10.2     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  GeForce RTX 208...  Off  | 00000000:01:00.0 Off |                  N/A |
| 30%   40C    P8    12W / 250W |    100MiB / 11019MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
|   1  Tesla T4            On   | 00000000:02:00.0 Off |                    0 |
| N/A   36C    P8     9W /  70W |      0MiB / 15109MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
+-----------------------------------------------------------------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0      1234      G   /usr/lib/xorg/Xorg                            45MiB |
+-----------------------------------------------------------------------------+
"""

NEW = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 560.31.01              Driver Version: 560.81         CUDA Version: 12.6     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA GeForce RTX 4060 ...    On  |   00000000:01:00.0  On |                  N/A |
| N/A   45C    P8              3W /   55W |     188MiB /   8188MiB |      1%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|    0   N/A  N/A        25      G   /Xwayland                                   N/A      |
+-----------------------------------------------------------------------------------------+
"""

LIST = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-11111111-2222-3333-4444-555555555555)
  MIG 3g.20gb     Device  0: (UUID: MIG-11111111-2222-3333-4444-555555555555)
  MIG 2g.10gb     Device  1: (UUID: MIG-21111111-2222-3333-4444-555555555555)
GPU 1: NVIDIA H100 NVL (UUID: GPU-61111111-2222-3333-4444-555555555555)
"""

QUERY = """\
==============NVSMI LOG==============
Timestamp                                 : Mon Nov 30 12:00:00 2026
Driver Version                            : 535.104.05
CUDA Version                              : 12.2
Attached GPUs                             : 1
GPU 00000000:01:00.0
    Product Name                          : NVIDIA L4
    Product Brand                         : NVIDIA
    Serial Number                         : 1234567890123
    GPU UUID                              : GPU-71111111-2222-3333-4444-555555555555
    FB Memory Usage
        Total                             : 23034 MiB
        Reserved                          : 384 MiB
        Used                              : 10 MiB
        Free                              : 22639 MiB
    BAR1 Memory Usage
        Total                             : 32768 MiB
"""


def test_the_old_table():
    report = parse_nvidia_smi(OLD)
    assert (report.pytorch.driver, report.pytorch.driver_cuda) == ("440.33.01", "10.2")
    first, second = report.accelerators
    assert (first.series, first.form, first.memory_mib, first.free_mib) == ("RTX 20", None, 11019, 10919)
    assert (second.name, second.memory_mib, second.architecture) == ("Tesla T4", 15109, "Turing")


def test_the_new_table_and_a_name_cut_short():
    report = parse_nvidia_smi(NEW)
    assert (report.pytorch.driver, report.pytorch.driver_cuda) == ("560.81", "12.6")
    [card] = report.accelerators
    assert (card.series, card.tier, card.form, card.memory_mib, card.free_mib) == ("RTX 40", "60", None, 8188, 8000)


def test_windows_mig_and_a_board_without_memory():
    windows = "|   0  NVIDIA GeForce RTX 3070      WDDM  |   00000000:2B:00.0  On |   N/A |\n| 0%   40C   P8   9W / 220W |    900MiB /   8192MiB |  0% Default |"
    assert parse_nvidia_smi(windows).accelerators[0].memory_mib == 8192
    jetson = "| NVIDIA-SMI 540.4.0   Driver Version: 540.4.0   CUDA Version: 12.6 |\n|   0  Orin (nvgpu)      N/A  | N/A     N/A |     N/A |\n| N/A  N/A  N/A  N/A /  N/A | Not Supported        |  N/A N/A |"
    [orin] = parse_nvidia_smi(jetson).accelerators
    assert (orin.series, orin.memory_mib) == ("Orin", None)
    mig = "|   0  NVIDIA A100-SXM4-40GB  On | 00000000:07:00.0 Off |  On |\n| N/A 30C P0 45W / 400W | 24MiB / 40536MiB | N/A Default |\n| | | Enabled |"
    assert any("MIG" in note for note in parse_nvidia_smi(mig).accelerators[0].notes)


def test_the_newest_name_of_the_cuda_version():
    assert parse_nvidia_smi(NEW.replace("CUDA Version", "CUDA UMD Version")).pytorch.driver_cuda == "12.6"
    assert parse_nvidia_smi(NEW.replace("CUDA Version: 12.6", "CUDA Version: N/A")).pytorch.driver_cuda is None


def test_the_list_without_what_identifies_a_card():
    report = parse_nvidia_smi(LIST)
    assert [card.name for card in report.accelerators] == ["NVIDIA A100-SXM4-40GB", "NVIDIA H100 NVL"]
    assert "Split into MIG slices: 3g.20gb, 2g.10gb." in report.accelerators[0].notes
    assert "1111" not in report.model_dump_json()


def test_the_long_query():
    report = parse_nvidia_smi(QUERY)
    [card] = report.accelerators
    assert (card.name, card.memory_mib, card.free_mib, report.pytorch.driver_cuda) == ("NVIDIA L4", 23034, 22639, "12.2")
    assert "1234567890123" not in report.model_dump_json() and "7111" not in report.model_dump_json()


@pytest.mark.parametrize(
    "text",
    [
        "name, memory.total [MiB], compute_cap, driver_version\nNVIDIA GeForce RTX 4090, 24564 MiB, 8.9, 550.54.14\n",
        "driver_version, name, compute_cap, memory.total [MiB]\n550.54.14, NVIDIA GeForce RTX 4090, 8.9, 24564\n",
        "index, uuid, name, compute_cap, memory.total [MiB], driver_version\r\n0, GPU-81111111-2222-3333-4444-555555555555, NVIDIA GeForce RTX 4090, 8.9, 24564 MiB, 550.54.14\r\n",
        "NVIDIA GeForce RTX 4090, 24564 MiB, 8.9, 550.54.14\n",
        "550.54.14, 8.9, 24564 MiB, NVIDIA GeForce RTX 4090\n",
    ],
)
def test_csv_in_any_order(text):
    report = parse_nvidia_smi(text)
    [card] = report.accelerators
    assert (card.name, card.memory_mib, card.compute_capability) == ("NVIDIA GeForce RTX 4090", 24564, "8.9")
    assert report.pytorch.driver == "550.54.14"
    assert "8111" not in report.model_dump_json()


def test_csv_that_does_not_tell_which_size_is_the_memory():
    [card] = parse_nvidia_smi("NVIDIA GeForce RTX 4090, 24564 MiB, 800 MiB\n").accelerators
    assert card.memory_mib is None and card.notes
    [card] = parse_nvidia_smi("name, memory.total [MiB], memory.used [MiB]\nNVIDIA GB10, [N/A], [N/A]\n").accelerators
    assert card.memory_mib is None


def test_the_memory_is_what_the_text_says():
    [card] = parse_nvidia_smi("name, memory.total [MiB]\nNVIDIA GeForce RTX 4090, 49140 MiB\n").accelerators
    assert card.memory_mib == 49140


def test_two_forms_of_one_machine_are_one_machine():
    both = NEW + "GPU 0: NVIDIA GeForce RTX 4060 Laptop GPU (UUID: GPU-91111111-2222-3333-4444-555555555555)\n"
    [card] = parse_nvidia_smi(both).accelerators
    assert (card.name, card.form, card.memory_mib) == ("NVIDIA GeForce RTX 4060 Laptop GPU", "laptop", 8188)


def test_several_machines_are_all_told():
    assert len(parse_nvidia_smi(OLD + NEW).accelerators) == 3


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "not running"),
        ("Failed to initialize NVML: Driver/library version mismatch", "mismatch"),
        ("No devices were found", "no card"),
    ],
)
def test_a_failure_is_told(text, word):
    report = parse_nvidia_smi(text)
    assert word in report.pytorch.problem and report.pytorch.cure and not report.accelerators


@pytest.mark.parametrize(
    "text",
    ["", "\0\0\0", "hello", "name,age\nBob,5\n", "name\nBob\n", "GPU 0", "Architecture: x86_64\nModel name: AMD EPYC 7742\n", "nvidia is a company, 5 MiB", "| a | b |\n" * 50],
)
def test_other_texts_are_not_recognized(text):
    with pytest.raises(NotRecognized):
        parse_nvidia_smi(text)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([OLD, NEW, LIST, QUERY, "name, memory.total [MiB]\nNVIDIA L4, 23034 MiB\n"]), st.integers(0, 1500), st.integers(0, 1500), st.text(max_size=30))
def test_a_mutated_text_is_read_or_not_recognized(text, start, end, inserted):
    try:
        report = parse_nvidia_smi(text[:start] + inserted + text[end:])
    except NotRecognized:
        return
    assert isinstance(report, Hardware)
    assert all(card.free_mib is None or card.free_mib >= 0 for card in report.accelerators)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read_or_not_recognized(text):
    try:
        parse_nvidia_smi(text)
    except NotRecognized:
        pass


def test_a_card_that_the_driver_cannot_read():
    row = "|   {}  {:<27} Off  |   00000000:0{}:00.0 Off |                  N/A |\n|  0%   45C    P8              3W /  350W |     751MiB /  24576MiB |      1%      Default |\n"
    first, second = parse_nvidia_smi(row.format(0, "NVIDIA GeForce RTX 3090", 1) + row.format(1, "ERR!", 2)).accelerators
    assert (first.name, second.name, second.vendor) == ("NVIDIA GeForce RTX 3090", None, None)
    assert "ERR!" in second.notes[0]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("Failed to initialize NVML: Unknown Error", "container"),
        ("Failed to initialize NVML: Insufficient Permissions", "may not use"),
        ("Failed to initialize NVML: Driver Not Loaded", "not loaded"),
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", "library"),
        ("bash: nvidia-smi: command not found", "no nvidia-smi"),
        ("zsh: command not found: nvidia-smi", "no nvidia-smi"),
        ("Command 'nvidia-smi' not found, but can be installed with:\nsudo apt install nvidia-utils-390", "no nvidia-smi"),
        ("'nvidia-smi' is not recognized as an internal or external command,\noperable program or batch file.", "no nvidia-smi"),
        ("nvidia-smi : The term 'nvidia-smi' is not recognized as the name of a cmdlet", "no nvidia-smi"),
    ],
)
def test_what_is_printed_where_there_is_no_driver(said, problem):
    told = parse_nvidia_smi(f"$ nvidia-smi\n{said}\n").pytorch
    assert problem in told.problem and told.cure


def test_a_query_that_did_not_ask_for_the_name():
    report = parse_nvidia_smi("memory.total [MiB], driver_version, compute_cap\n24576 MiB, 550.54.14, 8.6\n")
    card = report.accelerators[0]
    assert (card.name, card.memory_mib, card.compute_capability, card.architecture, report.pytorch.driver) == (None, 24576, "8.6", "Ampere", "550.54.14")


def test_the_header_of_newer_drivers():
    assert parse_nvidia_smi("| NVIDIA-SMI 590.44.01     KMD Version: 591.44     CUDA UMD Version: 13.1     |").pytorch.driver == "591.44"


def test_a_list_in_markdown():
    assert parse_nvidia_smi("- GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)\n").accelerators[0].series == "RTX 30"
