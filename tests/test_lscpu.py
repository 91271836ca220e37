"""Pasted lscpu texts: a small input for each trap that real machines set, and texts that nobody meant to write."""

import json
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutorial.hardware.chips import _chips, _data, find_chip
from tutorial.hardware.lscpu import count, cpu_list_length, parse_lscpu
from tutorial.hardware.schema import CPU, NotRecognized

FLAGS = "fpu tsc cx8 lm sse2 avx avx2"


def lscpu(model, cpus, threads, cores, sockets, flags=FLAGS, **more):
    """An lscpu text; underscores in the names of further fields stand for spaces."""
    fields = {
        "Architecture": "x86_64",
        "CPU(s)": cpus,
        "On-line CPU(s) list": f"0-{cpus - 1}",
        "Vendor ID": "AuthenticAMD" if "AMD" in model else "GenuineIntel",
        "Model name": model,
        "Thread(s) per core": threads,
        "Core(s) per socket": cores,
        "Socket(s)": sockets,
        **({"Flags": flags} if flags else {}),
    } | {name.replace("_", " "): value for name, value in more.items()}
    return "\n".join(f"{label + ':':<30}{value}" for label, value in fields.items() if value is not None) + "\n"


def cores(cpu):
    return cpu.physical_cores, cpu.performance_cores, cpu.efficiency_cores, cpu.low_power_cores


VM = FLAGS + " hypervisor"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (lscpu("13th Gen Intel(R) Core(TM) i9-13900KS", 32, 2, 24, 1), (24, 8, 16, 0)),
        (lscpu("Intel(R) Core(TM) i9-14900HX", 32, 2, 24, 1), (24, 8, 16, 0)),
        (lscpu("Intel(R) Core(TM) Ultra 9 185H", 22, 2, 16, 1), (16, 6, 8, 2)),
        (lscpu("Intel(R) Core(TM) Ultra 9 285K", 24, 1, 24, 1), (24, 8, 16, 0)),
        (lscpu("Intel(R) Core(TM) Ultra 7 258V", 8, 1, 8, 1), (8, 4, 0, 4)),
        (lscpu("Intel(R) Core(TM) Ultra 7 255H", 16, 1, 16, 1), (16, 6, 8, 2)),
        (lscpu("Intel(R) Core(TM) i5-L16G7 CPU @ 1.40GHz", 5, 1, 5, 1), (5, 1, 4, 0)),
        (lscpu("Intel(R) Core(TM) 7 150U", 12, 2, 10, 1), (10, 2, 8, 0)),
        (lscpu("12th Gen Intel(R) Core(TM) i5-12400F", 12, 2, 6, 1), (6, 6, 0, 0)),
        (lscpu("AMD Ryzen AI 9 HX 370 w/ Radeon 890M", 24, 2, 12, 1), (12, 4, 8, 0)),
        (lscpu("AMD Ryzen 5 8540U w/ Radeon 740M Graphics", 12, 2, 6, 1), (6, 2, 4, 0)),
        (lscpu("AMD Ryzen Z1 Extreme", 16, 2, 8, 1), (8, 8, 0, 0)),
        (lscpu("Intel(R) N100", 4, 1, 4, 1), (4, 0, 4, 0)),
        (lscpu("Intel(R) Core(TM) i3-N305", 8, 1, 8, 1), (8, 0, 8, 0)),
        (lscpu("Intel(R) Xeon(R) 6710E", 128, 1, 64, 2), (128, 0, 128, 0)),
        # a mixed generation without a row: the threads tell on the machine itself, and nothing in a virtual one
        (lscpu("13th Gen Intel(R) Core(TM) i5-13999X", 16, 2, 10, 1), (10, 6, 4, 0)),
        (lscpu("13th Gen Intel(R) Core(TM) i5-13999X", 16, 2, 8, 1, VM), (8, None, None, None)),
        # a chip that nobody knows yet
        (lscpu("Intel(R) Core(TM) Hyper 9 999", 32, 2, 16, 1), (16, None, None, None)),
        # efficiency cores switched off in the firmware
        (lscpu("12th Gen Intel(R) Core(TM) i9-12900K", 16, 2, 8, 1), (8, 8, 0, 0)),
        # favored cores are no second kind
        (lscpu("AMD Ryzen 9 5950X 16-Core Processor", 32, 2, 16, 1), (16, 16, 0, 0)),
        (lscpu("AMD Instinct MI300A Accelerator", 192, 2, 24, 4), (96, 96, 0, 0)),
    ],
)
def test_the_kinds_of_core(text, expected):
    cpu = parse_lscpu(text)
    assert cores(cpu) == expected
    assert cpu.topology_trusted is not (False if "hypervisor" not in text else True)


@pytest.mark.parametrize(
    ("text", "expected", "presented", "environment"),
    [
        # the lessons' own machine: 8 + 8 cores, which WSL2 presents as 12 cores with 2 threads
        (lscpu("12th Gen Intel(R) Core(TM) i7-12800HX", 24, 2, 12, 1, VM, Hypervisor_vendor="Microsoft"), (16, 8, 8, 0), 12, "hyper-v"),
        (lscpu("12th Gen Intel(R) Core(TM) i7-12800HX", 24, 2, 12, 1, None), (16, 8, 8, 0), 12, "unknown"),
        (
            "Python platform: Linux-5.15.167.4-microsoft-standard-WSL2-x86_64-with-glibc2.39\n"
            + lscpu("12th Gen Intel(R) Core(TM) i7-12800HX", 24, 2, 12, 1, VM, Hypervisor_vendor="Microsoft"),
            (16, 8, 8, 0),
            12,
            "wsl2",
        ),
        (lscpu("Intel(R) Core(TM) i7-14700K", 8, 1, 1, 8, VM, Hypervisor_vendor="Xen"), (20, 8, 12, 0), 8, "xen"),
        (lscpu("AMD EPYC 9654 96-Core Processor", 44, 1, 1, 44, VM, Hypervisor_vendor="KVM", CPU_family=25, Model=17), (44, 44, 0, 0), 44, "kvm"),
        (lscpu("AMD EPYC 7B13", 24, 2, 12, 1, VM, CPU_family=25, Model=1), (12, 12, 0, 0), 12, "virtual machine"),
        (lscpu("Intel(R) Core(TM) i7-8565U CPU @ 1.80GHz", 8, 8, 1, 1, VM, Hypervisor_vendor="Xen", CPU_family=6, Model=142, Stepping=12), (None,) * 4, 1, "xen"),
    ],
)  # fmt: skip
def test_a_virtual_machine_presents_what_it_likes(text, expected, presented, environment):
    cpu = parse_lscpu(text)
    assert cores(cpu) == expected
    assert cpu.presented_cores == presented
    assert cpu.environment == environment
    assert cpu.topology_trusted is False
    assert any("virtual machine" in note for note in cpu.notes)


@pytest.mark.parametrize("vendor", ["(null)", "vertical", "horizontal"])
def test_a_hypervisor_that_old_versions_make_up(vendor):
    text = lscpu("AMD Athlon(tm) II X2 255 Processor", 2, 1, 2, 1, CPU_family=16, Model=6, Hypervisor_vendor=vendor, Virtualization="AMD-V")
    cpu = parse_lscpu(text)
    assert (cpu.environment, cpu.topology_trusted, cpu.physical_cores) == ("bare-metal", True, 2)
    assert "mistake" in cpu.notes[0]


def test_virtualization_is_a_capability():
    assert parse_lscpu(lscpu("Intel(R) Core(TM) i5-6600K", 4, 1, 4, 1, Virtualization="VT-x")).environment == "bare-metal"


def test_power_always_has_a_hypervisor_below():
    text = (
        "Architecture: ppc64le\nCPU(s): 320\nOn-line CPU(s) list: 0-319\nModel name: POWER10 (architected), altivec supported\n"
        "Thread(s) per core: 8\nCore(s) per socket: 10\nSocket(s): 4\nHypervisor vendor: pHyp\nVirtualization type: para\n"
    )
    cpu = parse_lscpu(text)
    assert (cpu.vendor, cpu.physical_cores, cpu.topology_trusted, cpu.environment) == ("IBM", 40, True, "unknown")
    assert "PowerVM" in cpu.notes[0]


@pytest.mark.parametrize(
    ("printed", "mhz", "noted"),
    [("4700,0000", 4700, False), ("3600.0000", 3600, False), ("7228.3198", None, True), ("25500.0000", None, True), ("24.0000", None, True), ("-", None, False)],
)  # fmt: skip
def test_the_maximum_frequency(printed, mhz, noted):
    cpu = parse_lscpu(lscpu("AMD Ryzen 9 5950X 16-Core Processor", 32, 2, 16, 1, CPU_max_MHz=printed))
    assert cpu.max_mhz == mhz
    assert any("MHz" in note for note in cpu.notes) == noted


def test_offline_processors_and_no_threads_per_core():
    text = lscpu("Intel(R) Xeon(R) CPU E5-2660 0 @ 2.20GHz", 32, 0, 8, 2, CPU_family=6, Model=45)
    text = text.replace("0-31\n", "1,7,9,11,21,25,30,31\n").replace("Vendor", "Off-line CPU(s) list: 0,2-6,8,10,12-20,22-24,26-29\nVendor")
    cpu = parse_lscpu(text)
    assert (cpu.logical, cpu.online, cpu.physical_cores, cpu.threads_per_core) == (32, 8, 16, None)
    assert "24 of 32" in " ".join(cpu.notes)


def test_a_sandbox_that_prints_zeros():
    cpu = parse_lscpu(lscpu("unknown", 4, 0, 0, 0, flags=None))
    assert (cpu.model, cpu.logical, cpu.physical_cores, cpu.sockets) == (None, 4, None, None)


def test_four_lines_are_enough():
    cpu = parse_lscpu("Architecture:        riscv64\nByte Order:          Little Endian\nCPU(s):              8\nOn-line CPU(s) list: 0-7\n")
    assert (cpu.architecture, cpu.logical, cpu.online) == ("riscv64", 8, 8)
    assert cpu.model is cpu.physical_cores is cpu.topology_trusted is None


def test_empty_numa_lines_and_clusters():
    text = (
        "Architecture: aarch64\nCPU(s): 6\nOn-line CPU(s) list: 0-5\nVendor ID: ARM\nModel name: Cortex-A78AE\n"
        "Thread(s) per core: 1\nCore(s) per cluster: 3\nSocket(s): -\nCluster(s): 2\nCPU max MHz: 1728.0000\nFlags: fp asimd\n"
        "NUMA node(s): 2\nNUMA node0 CPU(s): 0-5\nNUMA node1 CPU(s):\n"
    )
    cpu = parse_lscpu(text)
    assert (*cores(cpu), cpu.sockets, cpu.instruction_sets) == (6, 6, 0, 0, None, ["NEON"])


def arm(*blocks, cpus, vendor="ARM"):
    text = f"Architecture: aarch64\nCPU(s): {cpus}\nOn-line CPU(s) list: 0-{cpus - 1}\nVendor ID: {vendor}\n"
    for name, count_, mhz in blocks:
        text += f"Model name: {name}\nThread(s) per core: 1\nCore(s) per socket: {count_}\nSocket(s): 1\nCPU(s) scaling MHz: 5%\nCPU max MHz: {mhz}\nFlags: fp asimd\n"
    return text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the first block may be the little cores, and one of the others may have no name
        (arm(("Cortex-A510", 3, 2016), ("Cortex-A715", 2, 2803), ("Cortex-A710", 2, 2803), ("-", 1, 3187), cpus=8), (8, 5, 3, 0)),
        # two blocks may be one kind
        (arm(("Cortex-A720", 1, 2500), ("Cortex-A520", 4, 1800), ("Cortex-A720", 7, 2500), cpus=12), (12, 8, 4, 0)),
        (arm(("Kryo-4XX-Silver", 6, 1804), ("Kryo-4XX-Gold", 2, 2553), cpus=8, vendor="Qualcomm"), (8, 2, 6, 0)),
        (arm(("Icestorm-M1-Pro", 2, 2064), ("Firestorm-M1-Pro", 8, 3228), cpus=10, vendor="Apple"), (10, 8, 2, 0)),
        (arm(("Cortex-X925", 10, 3900), ("Cortex-A725", 10, 2800), cpus=20), (20, 10, 10, 0)),
        (arm(("-", 4, 3801), ("-", 8, 4300), cpus=12, vendor="Qualcomm"), (12, None, None, None)),
        (arm(("-\nBIOS Model name: Snapdragon(R) X Elite - X1E001DE", 4, 3801), ("-", 8, 4300), cpus=12, vendor="Qualcomm"), (12, 12, 0, 0)),
        # not all blocks are there
        (arm(("Cortex-A510", 4, 2016), cpus=8), (None, None, None, None)),
        # an old lscpu gives every core the name of the first
        (arm(("Cortex-A55", 8, 2256), cpus=8).replace("CPU(s) scaling MHz: 5%\n", ""), (8, None, None, None)),
    ],
)  # fmt: skip
def test_big_and_little(text, expected):
    assert cores(parse_lscpu(text)) == expected


def test_arm_counts_clusters_as_sockets():
    text = arm(("ARMv8 Processor rev 0 (v8l)", 2, 1907), cpus=6, vendor="Nvidia").replace("Socket(s): 1", "Socket(s): 3")
    cpu = parse_lscpu(text)
    assert (*cores(cpu), cpu.sockets) == (6, 6, 0, 0, None)


def test_a_server_core_without_a_frequency_may_be_a_guest():
    text = arm(("Neoverse-N1", 4, ""), cpus=4)
    assert parse_lscpu(text).topology_trusted is False


def test_an_engineering_sample_prints_numbers():
    cpu = parse_lscpu(lscpu("06/55", 8, 2, 4, 1, CPU_family=6, Model=85, Stepping=7))
    assert (cpu.model, cpu.generation) == ("06/55", "Cascade Lake")


def test_hidden_instruction_sets_are_noted():
    text = lscpu("Intel(R) Xeon(R) Platinum 8457C", 180, 2, 45, 2, VM, Hypervisor_vendor="KVM", CPU_family=6, Model=143)
    assert "AMX" in " ".join(parse_lscpu(text).notes)
    assert "AMX" not in parse_lscpu(text).instruction_sets


@pytest.mark.parametrize(
    "text",
    [
        "架构：                   x86_64\nCPU:                     16\n在线 CPU 列表：          0-15\n厂商 ID：                GenuineIntel\n"
        "型号名称：               13th Gen Intel(R) Core(TM) i7-13700H\n每个核的线程数：     1\n每个座的核数：       1\n座：   16\n"
        "虚拟化：               VT-x\n超管理器厂商：         VMware\n虚拟化类型：           完全\n",
        "Architektur: x86_64\nCPU(s): 16\nListe der Online-CPU(s): 0-15\nAnbieterkennung: GenuineIntel\n"
        "Modellname: 13th Gen Intel(R) Core(TM) i7-13700H\nThread(s) pro Kern: 1\nKern(e) pro Sockel: 1\nSockel: 16\n"
        "Hypervisor-Anbieter: VMware\nVirtualisierungstyp: voll\n",
        "Architecture\u00a0: x86_64\nProcesseur(s)\u00a0: 16\nListe de processeur(s) en ligne\u00a0: 0-15\n"
        "Identifiant constructeur\u00a0: GenuineIntel\nNom de modèle\u00a0: 13th Gen Intel(R) Core(TM) i7-13700H\n"
        "Thread(s) par cœur\u00a0: 1\nCœur(s) par socket\u00a0: 1\nSocket(s)\u00a0: 16\nConstructeur d'hyperviseur\u00a0: VMware\n",
        "アーキテクチャ: x86_64\nCPU: 16\nオンラインになっている CPU のリスト: 0-15\nベンダー ID: GenuineIntel\n"
        "モデル名: 13th Gen Intel(R) Core(TM) i7-13700H\nコアあたりのスレッド数: 1\nソケットあたりのコア数: 1\nソケット数: 16\n"
        "ハイパーバイザのベンダー: VMware\n",
    ],
    ids=["zh", "de", "fr", "ja"],
)
def test_languages(text):
    cpu = parse_lscpu(text)
    assert (*cores(cpu), cpu.logical, cpu.presented_cores, cpu.environment) == (14, 6, 8, 0, 16, 16, "vmware")


def test_a_language_that_is_not_known_leaves_fields_unknown():
    cpu = parse_lscpu("Arkitekturo: x86_64\nCPU(s): 8\nNomo: Intel(R) Core(TM) i7-9700\nKernoj: 8\nVendisto: GenuineIntel\nBIOS-nomo: Intel(R) Core(TM) i9-1\n")
    assert (cpu.logical, cpu.physical_cores) == (8, None)
    # a value that can be but one thing needs no label
    assert (cpu.model, cpu.vendor, cpu.architecture) == ("Intel Core i7-9700", "Intel", "x86_64")


WRAPPED = """\
架构：                   x86_64
  CPU 运行模式：         32-bit, 64-bit
CPU:                     8
  在线 CPU 列表：        0-7
厂商 ID：                GenuineIntel
  型号名称：             Intel(R) Core(TM) i7-8650U CPU @ 1.9
                         0GHz
    标记：               fpu tsc cx8 lm avx512f hyperv
                         isor avx2
    每个核的线程数：     2
    每个座的核数：       4
    座：                 1
Caches (sum of all):     
  L1d:                   1,5 MiB (48 instances)
"""


def test_a_terminal_wraps_values_in_the_middle_of_a_word():
    cpu = parse_lscpu(WRAPPED)
    assert cpu.model == "Intel Core i7-8650U CPU @ 1.90GHz"
    assert cpu.instruction_sets == ["AVX2", "AVX-512"]
    assert cpu.environment == "virtual machine"
    assert cpu.caches_kib == {"L1d": 1536}


def test_a_space_at_the_wrap_may_be_lost_in_pasting():
    text = "Flags:           fpu lm cx8 tsc\n                 avx2 sse aes vm\n                 x xsave\nCPU(s):          2\nModel name:      X\n"
    assert parse_lscpu(text).instruction_sets == ["AVX2"]


@pytest.mark.parametrize("nested", [False, True])
def test_json(nested):
    fields = [("架构：", "x86_64"), ("CPU:", "24"), ("型号名称：", "12th Gen Intel(R) Core(TM) i7-12800HX"), ("每个核的线程数：", "2"), ("每个座的核数：", "12"), ("座：", "1")]
    rows = [{"field": label, "data": data} for label, data in fields]
    if nested:
        rows = [{"field": "Caches:", "data": None, "children": rows[:2]}, rows[2] | {"children": rows[3:]}]
    text = json.dumps({"lscpu": rows}, ensure_ascii=nested, indent=3)
    assert cores(parse_lscpu("$ lscpu -J\n" + text)) == (16, 8, 8, 0)
    assert parse_lscpu(text[: len(text) * 3 // 4]).logical == 24  # cut short


def test_old_cache_sizes_are_those_of_one_cache():
    cpu = parse_lscpu(lscpu("AMD EPYC 7302P 16-Core Processor", 32, 2, 16, 1, L1d_cache="32K", L3_cache="16384K"))
    assert cpu.caches_kib == {} and "one cache" in " ".join(cpu.notes)
    assert parse_lscpu(lscpu("AMD EPYC", 32, 2, 16, 1, L2_cache="6.5 MiB (4 instances)")).caches_kib == {"L2": 6656}


def test_other_forms():
    mac = parse_lscpu("OS: macOS 14.7 (arm64)\n\nCPU:\nApple M2 Pro\n\nVersions of relevant libraries:\n")
    assert (mac.model, mac.vendor, mac.generation, mac.physical_cores) == ("Apple M2 Pro", "Apple", "M2", None)
    windows = parse_lscpu("CPU:\nArchitecture=9\nCurrentClockSpeed=2000\nManufacturer=GenuineIntel\nMaxClockSpeed=2000\nName=Intel(R) Core(TM) i9-14900HX\nProcessorType=3\n")
    assert (windows.model, windows.architecture) == ("Intel Core i9-14900HX", "x86_64")
    stanza = "processor\t: {}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\nmodel name\t: Intel(R) Core(TM) i7-6700\nphysical id\t: 0\nsiblings\t: 8\ncpu cores\t: 4\nflags\t\t: fpu lm cx8 avx2\n\n"  # fmt: skip
    info = parse_lscpu("".join(stanza.format(number) for number in range(8)))
    assert (*cores(info), info.logical, info.threads_per_core, info.generation) == (4, 4, 0, 0, 8, 2, "Skylake")


def test_only_the_first_of_two_machines_is_read():
    two = lscpu("Intel(R) Core(TM) i9-14900HX", 32, 2, 24, 1) + lscpu("AMD EPYC 9654 96-Core Processor", 192, 1, 96, 2)
    assert parse_lscpu(two).model == "Intel Core i9-14900HX"


@pytest.mark.parametrize(
    "text",
    ["", " \n", "\x00\x01\xff" * 100, "hello", "Package: bash\nArchitecture: amd64\nVersion: 5", "{}", '{"lscpu": []}', "total 8\ndrwxr-xr-x 2", "a:" * 100_000, "GPU 0: NVIDIA H100"],
)  # fmt: skip
def test_what_is_no_cpu_is_not_recognized(text):
    with pytest.raises(NotRecognized, match="no CPU"):
        parse_lscpu(text)


TEXTS = [
    lscpu("12th Gen Intel(R) Core(TM) i7-12800HX", 24, 2, 12, 1, VM, Hypervisor_vendor="Microsoft"),
    lscpu("Intel(R) Core(TM) Ultra 9 185H", 22, 2, 16, 1, CPU_max_MHz="5100.0000"),
    lscpu("AMD EPYC 9654 96-Core Processor", 192, 1, 96, 2, CPU_family=25, Model=17, L3_cache="768 MiB (24 instances)"),
    arm(("Cortex-A720", 1, 2500), ("Cortex-A520", 4, 1800), ("Cortex-A720", 7, 2500), cpus=12),
    WRAPPED,
]


def check(text):
    """Nothing but a CPU or NotRecognized, and a CPU that does not contradict itself."""
    try:
        cpu = parse_lscpu(text)
    except NotRecognized:
        return
    assert isinstance(cpu, CPU)
    kinds = (cpu.performance_cores, cpu.efficiency_cores, cpu.low_power_cores)
    if None not in kinds:
        assert sum(kinds) == cpu.physical_cores
    if cpu.environment not in ("bare-metal", "unknown", "container"):
        assert cpu.topology_trusted is False
    if cpu.physical_cores and cpu.online and cpu.topology_trusted is not False and cpu.online == cpu.logical:
        assert cpu.physical_cores <= cpu.online  # a chip known by name may have more than a virtual machine gets
    assert json.loads(cpu.model_dump_json())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutated_texts(data):
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.text(max_size=5) | st.sampled_from(["0", "99999", "-1", "\n", ":", "：", " \t", "\x1b[0m"])) + text[end:]
    check(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([line for text in TEXTS for line in text.splitlines()]), max_size=40))
def test_shuffled_lines(lines):
    check("\n".join(lines))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300) | st.binary(max_size=300).map(lambda raw: raw.decode("utf-8", errors="replace")))
def test_any_text(text):
    check(text)


def test_ten_thousand_texts_take_less_than_a_minute():
    texts = [lscpu(f"Intel(R) Core(TM) i{i % 9}-{i}K", i + 1, 2, i + 1, 1, flags=FLAGS * 30) for i in range(500)]
    begin = time.process_time()
    for text in texts:
        parse_lscpu(text)
    assert time.process_time() - begin < 3  # 500 of 10,000, in their share of 60 s


def test_a_very_large_text():
    begin = time.process_time()
    parse_lscpu(TEXTS[0] + "x" * 50_000_000)
    assert time.process_time() - begin < 5


def test_pytorch_is_not_needed():
    program = "import sys; from tutorial.hardware.lscpu import parse_lscpu; parse_lscpu('CPU(s): 8'); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"


def test_every_row_has_a_source_and_adds_up():
    for row in _data()["chip"] + _data()["generation"] + _data()["core"]:
        assert row["source"].startswith("https://")
    for chip in _chips().values():
        assert chip.cores <= chip.threads <= 2 * chip.cores
        assert all(find_chip(name) is chip for name in chip.names)
    names = [name for row in _data()["chip"] for name in row["names"]]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("text", "number"), [("12", 12), (" 7 ", 7), ("-", None), ("0x1f", None), ("1.5", None), ("9999999", None), (None, None)])
def test_count(text, number):
    assert count(text) == number


@pytest.mark.parametrize(("text", "length"), [("0-7", 8), ("0,2-3", 3), ("", None), ("7-0", None), ("0-9999999", None), ("x", None), ("0-7, 16-23", 16)])
def test_cpu_lists(text, length):
    assert cpu_list_length(text) == length


LABELS = ("Architecture", "CPU(s)", "On-line CPU(s) list", "Vendor ID", "Model name", "Thread(s) per core", "Core(s) per socket", "Socket(s)")


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        ("Arquitectura", "CPU(s)", "Lista de la(s) CPU(s) en línea", "ID de fabricante", "Nombre del modelo", "Hilo(s) de procesamiento por núcleo", "Núcleo(s) por «socket»", "«Socket(s)»"),
        ("Arquitetura", "CPU(s)", "Lista de CPU(s) on-line", "ID de fornecedor", "Nome do modelo", "Thread(s) per núcleo", "Núcleo(s) por soquete", "Soquete(s)"),
        ("Архитектура", "CPU(s)", "On-line CPU(s) list", "ID прроизводителя", "Имя модели", "Thread(s) per core", "Ядер на сокет", "Сокетов"),
        ("Architektura", "CPU", "Lista aktywnych CPU", "ID producenta", "Nazwa modelu", "Wątków na rdzeń", "Rdzeni na gniazdo", "Gniazd"),
        ("架構：", "CPU(s)", "On-line CPU(s) list", "供應商識別號：", "Model name", "每核心執行緒數：", "每通訊端核心數：", "Socket(s)"),
        ("Architecture\xa0", "Processeur(s)\xa0", "Liste de processeur(s) en ligne\xa0", "Identifiant constructeur\xa0", "Nom de modèle\xa0", "Thread(s) par cœur\xa0", "Cœur(s) par socket\xa0", "Socket(s)\xa0"),
    ],
)  # fmt: skip
def test_languages_say_the_same(labels):
    values = ("x86_64", "12", "0-11", "GenuineIntel", "Intel(R) Core(TM) i7-8750H CPU @ 2.20GHz", "2", "6", "1")
    text = "".join(f"{label if label.endswith('：') else label + ':'}   {value}\n" for label, value in zip(labels, values))
    assert parse_lscpu(text) == parse_lscpu("".join(f"{label}: {value}\n" for label, value in zip(LABELS, values)))


@pytest.mark.parametrize(
    "text",
    [
        "# The following is the parsable format\n# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,0\n1,1,0,0,,1,1,1,0\n2,0,0,0,,0,0,0,0\n3,1,0,0,,1,1,1,0\n",
        "$ lscpu -e\nCPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE    MAXMHZ   MINMHZ\n  0    0      0    0 0:0:0:0          yes 800.0000 800.0000\n"
        "  1    0      0    1 1:1:1:0          yes 4900.0000 800.0000\n  2    0      0    0 0:0:0:0          yes 800.0000 800.0000\n  3    0      0    1 1:1:1:0          yes 4900.0000 800.0000\n",
    ],
)
def test_the_tables_of_lscpu(text):
    cpu = parse_lscpu(text)
    assert (cpu.logical, cpu.online, cpu.physical_cores, cpu.threads_per_core, cpu.sockets) == (4, 4, 2, 2, 1)
    assert cpu.max_mhz == (4900 if "MAXMHZ" in text else None)


def test_a_table_with_an_offline_processor():
    cpu = parse_lscpu("CPU SOCKET CORE ONLINE\n0 0 0 yes\n1 0 1 yes\n2 - - no\n")
    assert (cpu.logical, cpu.online, cpu.physical_cores) == (3, 2, 2)


def test_of_two_machines_the_first_counts():
    first = lscpu("AMD Ryzen 9 7950X 16-Core Processor", 32, 2, 16, 1)
    second = lscpu("Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz", 8, 2, 4, 1)
    for one in (first, first.partition("\n")[2]):  # an excerpt may lack the architecture
        for other in (second, second.partition("\n")[2]):
            cpu = parse_lscpu(one + "\n--- the other one\n" + other)
            assert (cpu.model, cpu.logical, cpu.physical_cores, cpu.vendor) == ("AMD Ryzen 9 7950X 16-Core Processor", 32, 16, "AMD")


def test_windows_tells_the_base_frequency_and_not_where_it_runs():
    cpu = parse_lscpu("Name: 12th Gen Intel(R) Core(TM) i7-12700H\nManufacturer: GenuineIntel\nArchitecture: 9\nProcessorType: 3\nMaxClockSpeed: 2300\n")
    assert (cores(cpu), cpu.max_mhz, cpu.environment, cpu.topology_trusted) == ((14, 6, 8, 0), None, "unknown", None)


def test_more_cores_than_processors_are_explained():
    for text in (
        lscpu("Intel(R) Core(TM) i7-14700K", 8, 1, 1, 8, VM, Hypervisor_vendor="Xen"),
        lscpu("Intel(R) Xeon(R) CPU E5-2660 0 @ 2.20GHz", 32, 2, 8, 2, CPU_family=6, Model=45).replace("0-31\n", "0-7\n"),
    ):
        cpu = parse_lscpu(text)
        assert cpu.physical_cores > cpu.online
        assert any("virtual machine" in note or "offline" in note for note in cpu.notes)


def test_more_cores_than_processors_are_no_trusted_chip():
    cpu = parse_lscpu("Model name: 12th Gen Intel(R) Core(TM) i7-12800HX\nCore(s) per socket: 16\nSocket(s): 1\nCPU(s): 12\n")
    assert (cpu.physical_cores, cpu.topology_trusted) == (16, False)


@pytest.mark.parametrize(
    "text",
    [
        lscpu("VirtualApple @ 2.50GHz", 8, 1, 8, 1).replace("GenuineIntel", "VirtualApple"),  # Docker on a Mac, for x86
        lscpu("QEMU TCG CPU version 2.5+", 4, 1, 1, 4),
        lscpu("Common KVM processor", 4, 1, 4, 1),
        "Architecture: aarch64\nCPU(s): 10\nOn-line CPU(s) list: 0-9\nVendor ID: Apple\nModel name: -\nModel: 0\nThread(s) per core: 1\nCore(s) per cluster: 10\nSocket(s): -\nCluster(s): 1\nFlags: fp asimd\n",
        "Architecture: aarch64\nCPU(s): 5\nOn-line CPU(s) list: 0-4\nThread(s) per core: 1\nCore(s) per socket: 5\nSocket(s): 1\nVendor ID: 0x61\nModel: 0\nFlags: fp asimd\n",
    ],
)
def test_names_that_only_virtual_machines_have(text):
    cpu = parse_lscpu(text)
    assert (cpu.environment, cpu.topology_trusted) == ("virtual machine", False)
    assert any("virtual machine" in note for note in cpu.notes)


def test_linux_on_a_mac_itself():
    block = "Model name: {}-M1-Pro\nThread(s) per core: 1\nCore(s) per socket: {}\nSocket(s): 1\nCPU max MHz: {}\n"
    cpu = parse_lscpu("Architecture: aarch64\nCPU(s): 10\nOn-line CPU(s) list: 0-9\nVendor ID: Apple\n" + block.format("Icestorm", 2, 2064) + block.format("Firestorm", 8, 3228))
    assert (cores(cpu), cpu.environment, cpu.topology_trusted, cpu.max_mhz) == ((10, 8, 2, 0), "bare-metal", True, 3228)
