"""Explaining a pasted text or a name, from the command line."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tutorial import cli
from tutorial.hardware.paste import LARGEST, decode_text, read_paste
from tutorial.hardware.schema import Hardware, NotRecognized

run = CliRunner().invoke

LSCPU = """Architecture:            x86_64
CPU(s):                  24
On-line CPU(s) list:     0-23
Vendor ID:               GenuineIntel
Model name:              12th Gen Intel(R) Core(TM) i7-12800HX
CPU family:              6
Model:                   151
Thread(s) per core:      2
Core(s) per socket:      12
Socket(s):               1
Flags:                   fpu sse avx avx2 hypervisor avx_vnni
Virtualization features:
Hypervisor vendor:       Microsoft
Virtualization type:     full
"""
SMI = """GPU 0: NVIDIA GeForce RTX 4070 Laptop GPU (UUID: GPU-01234567-89ab-cdef-0123-456789abcdef)
"""


def test_the_lessons_own_machine():
    hardware = read_paste(LSCPU + SMI)
    cpu, (card,) = hardware.cpu, hardware.accelerators
    assert (cpu.physical_cores, cpu.performance_cores, cpu.efficiency_cores, cpu.logical) == (16, 8, 8, 24)
    assert cpu.presented_cores == 12 and cpu.topology_trusted is False
    assert (card.line, card.series, card.tier, card.suffix, card.form) == ("GeForce", "RTX 40", "70", None, "laptop")
    assert card.architecture == "Ada Lovelace"


def test_the_order_of_a_paste_does_not_matter():
    assert read_paste(SMI + LSCPU) == read_paste(LSCPU + SMI)


@pytest.mark.parametrize("text", ["", "\n\n", "hello", "total 12\ndrwxr-xr-x 2 root root 4096 .\n", "{", "{}", "[1, 2]"])
def test_other_text_is_not_recognized(text):
    with pytest.raises(NotRecognized):
        read_paste(text)


def test_encodings_of_a_paste():
    chinese = "型号名称：        AMD EPYC 7451\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "gb18030"):
        assert decode_text(chinese.encode(encoding)) == chinese
    with pytest.raises(NotRecognized, match="binary"):
        decode_text(b"\x7fELF\0\0")
    with pytest.raises(NotRecognized, match="too large"):
        decode_text(b"a" * (LARGEST + 1))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_mutated_paste_gives_a_report_or_is_not_recognized(data):
    text = list(LSCPU + SMI)
    for _ in range(data.draw(st.integers(0, 30))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place] = data.draw(st.characters(codec="utf-8"))
    start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    for content in ("".join(text), "".join(text[start:end])):
        try:
            hardware = read_paste(content)
        except NotRecognized:
            continue
        assert Hardware.model_validate_json(hardware.model_dump_json()) == hardware


def test_inspect_a_file(tmp_path):
    path = tmp_path / "paste.txt"
    path.write_text(LSCPU + SMI, encoding="utf-8")
    outcome = run(cli.app, ["inspect", str(path)], env={"COLUMNS": "120"})
    assert outcome.exit_code == 0, outcome.output
    for words in ("i7-12800HX", "8 performance + 8 efficiency", "12 cores", "RTX 40", "Ada Lovelace"):
        assert words in outcome.output
    assert "UUID" not in outcome.output and "01234567" not in outcome.output
    told = json.loads(run(cli.app, ["inspect", str(path), "--json"]).output)
    assert told["cpu"]["physical_cores"] == 16


def test_inspect_standard_input():
    assert run(cli.app, ["inspect", "-", "--json"], input=LSCPU).exit_code == 0


def test_inspect_a_name():
    outcome = run(cli.app, ["inspect", "--json", "--gpu", "NVIDIA GeForce RTX 4070 Ti SUPER"])
    (card,) = json.loads(outcome.output)["accelerators"]
    assert (card["series"], card["tier"], card["suffix"], card["form"]) == ("RTX 40", "70", "Ti SUPER", "desktop")


@pytest.mark.parametrize("arguments", [["inspect", "no-such-file"], ["inspect", "--gpu", "a toaster"], ["inspect", "x", "--gpu", "y"], ["inspect", "."]])
def test_what_cannot_be_explained_ends_with_2_and_a_line(arguments):
    outcome = run(cli.app, arguments)
    assert outcome.exit_code == 2
    assert outcome.output.strip() and "Traceback" not in outcome.output


def test_a_binary_file_ends_with_2(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(range(256)) * 10)
    outcome = run(cli.app, ["inspect", str(path)])
    assert outcome.exit_code == 2 and "binary" in outcome.output


def test_inspect_here():
    outcome = run(cli.app, ["inspect", "--json"])
    assert outcome.exit_code == 0, outcome.output
    hardware = Hardware.model_validate_json(outcome.output)
    assert hardware.cpu.logical and hardware.pytorch.version


def test_a_text_or_a_name_is_explained_without_torch():
    code = "import sys\nfrom tutorial import cli\ntry:\n    cli.app(['inspect', '--gpu', 'NVIDIA A100'])\nexcept SystemExit:\n    pass\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace(" ", "\xa0"),
        lambda text: text.replace(" ", "&nbsp;"),
        lambda text: text.replace(":", "&#58;"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("e", "e\u200b"),
        lambda text: text.replace("NVIDIA", "\x1b[1;32mNVIDIA\x1b[0m"),
        lambda text: "<pre>\n" + text.replace(">", "&gt;") + "</pre>",
        lambda text: "```text\n$ lscpu\n" + text + "```\n",
        lambda text: "".join(f"> {line}\n" for line in text.split("\n")),
    ],
)
def test_what_web_pages_and_terminals_do_to_a_text(spoil):
    text = LSCPU + "\nGPU 0: NVIDIA GeForce RTX 3090\n\nDriver Version: 550.54.14    CUDA Version: 12.4\n"
    assert read_paste(spoil(text)) == read_paste(text)


def test_a_report_without_a_cpu_and_lscpu_below_it():
    text = "PyTorch version: 2.1.0\nOS: Ubuntu 22.04 (x86_64)\nIs CUDA available: True\nGPU models and configuration: GPU 0: NVIDIA L4\n\n"
    assert read_paste(text + "$ lscpu\n" + LSCPU).cpu.model == read_paste(LSCPU).cpu.model


def test_what_is_not_told_is_named_in_one_note():
    hardware = read_paste("CPU(s): 8\nModel name: Intel(R) Core(TM) i7-9700\n\nGPU 0: NVIDIA Graphics Device (UUID: GPU-1)\n")
    assert [note for note in hardware.cpu.notes if note.startswith("Not told: ")] == [hardware.cpu.notes[-1]]
    assert "cores" in hardware.cpu.notes[-1] and "maximum frequency" in hardware.cpu.notes[-1]
    assert "architecture" in hardware.accelerators[0].notes[-1] and "gfx" not in hardware.accelerators[0].notes[-1]


SECRETS = "ada-laptop", "/home/ada", "GPU-5d5ba0d6", "1324519012345"


def test_names_paths_and_numbers_of_a_paste_stay_there(tmp_path):
    path = tmp_path / "paste.txt"
    path.write_text(
        "ada@ada-laptop:~$ lscpu\n" + LSCPU + "ada@ada-laptop:~$ nvidia-smi -L\nGPU 0: NVIDIA L4 (UUID: GPU-5d5ba0d6-d33d-2b2c)\n\n"
        "|   0  NVIDIA L4                      Off |   00000000:01:00.0 Off |                    0 |\n|  0%   45C    P8              3W /  350W |     751MiB /  24576MiB |      1%      Default |\n"
        "|    0   N/A  N/A      1234      G   /home/ada/Xwayland                     N/A      |\nSerial Number: 1324519012345\n"
        "PyTorch version: 2.5.1+cu124\nIs CUDA available: False\ncuDNN version: /home/ada/libcudnn.so.9.1.0\nCUDA used to build PyTorch: 12.4\n",
        encoding="utf-8",
    )
    for arguments in ([], ["--json"]):
        outcome = run(cli.app, ["inspect", str(path), *arguments])
        assert outcome.exit_code == 0 and "NVIDIA L4" in outcome.output
        assert not [secret for secret in SECRETS if secret in outcome.output]


def test_the_report_fits_its_width(tmp_path):
    path = tmp_path / "paste.txt"
    path.write_text(LSCPU + "".join(f"GPU {number}: NVIDIA H100 80GB HBM3 (UUID: GPU-{number})\n" for number in range(8)), encoding="utf-8")
    for columns in (80, 100, 160):
        lines = run(cli.app, ["inspect", str(path)], env={"COLUMNS": str(columns)}).output.splitlines()
        assert len(lines) < 50 and "8 × NVIDIA H100" in " ".join(lines)
        assert all(len(line) <= columns for line in lines if not line.startswith("Note"))
