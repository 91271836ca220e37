"""Names of accelerators: one case per trap, and that no text breaks the reader."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutorial.hardware.gpu_names import DATA, architecture_of, decode, explain
from tutorial.hardware.schema import Accelerator

GEFORCE_40 = dict(vendor="NVIDIA", line="GeForce", series="RTX 40", architecture="Ada Lovelace", compute_capability="8.9")
UNKNOWN = dict(series=None, form=None, architecture=None, compute_capability=None)


def check(name: str, wanted: dict, **device):
    told = decode(name, **device)
    assert {field: getattr(told, field) for field in wanted} == wanted
    return told


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("NVIDIA GeForce RTX 4070", GEFORCE_40 | dict(tier="70", suffix=None, form="desktop")),
        ("NVIDIA GeForce RTX 4070 Ti SUPER", GEFORCE_40 | dict(tier="70", suffix="Ti SUPER", form="desktop")),
        ("NVIDIA GeForce RTX 4070 Laptop GPU", GEFORCE_40 | dict(tier="70", suffix=None, form="laptop")),
        ("GeForce RTX 4080 SUPER", GEFORCE_40 | dict(tier="80", suffix="SUPER")),
        ("rtx4070tisuper", GEFORCE_40 | dict(tier="70", suffix="Ti SUPER")),
        ("NVIDIA GeForce RTX 4090 D", GEFORCE_40 | dict(tier="90", suffix="D")),
        ("NVIDIA GeForce RTX 5090D", dict(series="RTX 50", suffix="D", compute_capability="12.0")),
        ("NVIDIA GeForce RTX 5090 D V2", dict(series="RTX 50", suffix="D V2", form="desktop")),
        ("NVIDIA GeForce RTX 3050 4GB Laptop GPU", dict(series="RTX 30", tier="50", suffix=None, form="laptop")),
        ("NVIDIA GeForce RTX 3050Ti Laptop GPU", dict(series="RTX 30", tier="50", suffix="Ti", form="laptop")),
    ],
)
def test_geforce(name, wanted):
    check(name, wanted)


@pytest.mark.parametrize(
    ("name", "series", "architecture", "capability"),
    [
        ("NVIDIA GeForce RTX 2050", "RTX 20", "Ampere", "8.6"),
        ("NVIDIA GeForce RTX 2060", "RTX 20", "Turing", "7.5"),
        ("NVIDIA GeForce MX570", "MX", "Ampere", "8.6"),
        ("NVIDIA GeForce MX550", "MX", "Turing", "7.5"),
        ("NVIDIA GeForce MX330", "MX", "Pascal", "6.1"),
        ("NVIDIA GeForce GTX 1650", "GTX 16", "Turing", "7.5"),
        ("GeForce GTX 1080 Ti", "GTX 10", "Pascal", "6.1"),
        ("NVIDIA GeForce GTX 750 Ti", "GTX 700", "Maxwell", "5.0"),
        ("NVIDIA GeForce GTX 780 Ti", "GTX 700", "Kepler", "3.5"),
        ("NVIDIA GeForce GT 730", "GT 700", None, None),
        ("NVIDIA GeForce GTX 860M", "GTX 800M", None, None),
        ("NVIDIA GeForce RTX 3050 A Laptop GPU", "RTX 30", None, None),
    ],
)
def test_the_digits_say_the_series_and_not_the_architecture(name, series, architecture, capability):
    check(name, dict(series=series, architecture=architecture, compute_capability=capability))


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("NVIDIA GeForce GTX 1650", None),
        ("NVIDIA GeForce RTX 2070", None),
        ("NVIDIA GeForce RTX 2070 Super", None),
        ("NVIDIA GeForce RTX 2070 Super with Max-Q Design", "laptop"),
        ("GeForce GTX 1050 Ti with Max-Q Design", "laptop"),
        ("NVIDIA GeForce RTX 2080 Ti", "desktop"),
        ("NVIDIA GeForce RTX 3060", "desktop"),
        ("Quadro RTX 5000", None),
        ("Quadro P2000", None),
        ("Quadro T2000", "laptop"),
        ("NVIDIA T500", "laptop"),
        ("NVIDIA T1000 8GB", "workstation"),
        ("NVIDIA RTX A2000 Laptop GPU", "laptop"),
        ("NVIDIA RTX A2000 Embedded GPU", "embedded"),
        ("NVIDIA RTX A2000", "workstation"),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "workstation"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "data center"),
        ("NVIDIA RTX PRO 3000 Blackwell Generation Laptop GPU", "laptop"),
        ("NVIDIA A800 40GB Active", "workstation"),
        ("NVIDIA A800-SXM4-80GB", "data center"),
        ("NVIDIA GB10", "integrated"),
    ],
)
def test_the_form_is_told_only_where_the_name_says_it(name, form):
    told = check(name, dict(form=form))
    assert form or told.notes


@pytest.mark.parametrize(
    ("name", "series", "architecture"),
    [
        ("Quadro RTX 6000", "Quadro RTX", "Turing"),
        ("NVIDIA RTX A6000", "RTX A", "Ampere"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX Ada", "Ada Lovelace"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO", "Blackwell"),
        ("NVIDIA RTX 6000", None, None),
        ("NVIDIA RTX 5000 Ada Generation Laptop GPU", "RTX Ada", "Ada Lovelace"),
        ("NVIDIA RTX 4000 SFF Ada Generation", "RTX Ada", "Ada Lovelace"),
    ],
)
def test_rtx_6000_is_four_products(name, series, architecture):
    check(name, dict(series=series, architecture=architecture))


def test_the_capability_says_which_rtx_6000_it_is():
    check("NVIDIA RTX 6000", dict(series="Quadro RTX", architecture="Turing"), compute_capability="7.5")
    check("NVIDIA RTX 6000", dict(series="RTX Ada", architecture="Ada Lovelace"), compute_capability="8.9")


@pytest.mark.parametrize(
    ("name", "series", "tier", "suffix", "capability"),
    [
        ("NVIDIA A100-SXM4-40GB", "A", "100", "SXM4", "8.0"),
        ("NVIDIA A100 80GB PCIe", "A", "100", "PCIe", "8.0"),
        ("NVIDIA A10G", "A", "10", "G", "8.6"),
        ("NVIDIA A30", "A", "30", None, "8.0"),
        ("NVIDIA A40", "A", "40", None, "8.6"),
        ("Tesla T4", "T", "4", None, "7.5"),
        ("Tesla V100S-PCIE-32GB", "V", "100", "S PCIe", "7.0"),
        ("Tesla K80", "K", "80", None, "3.7"),
        ("Tesla M10", "M", "10", None, "5.0"),
        ("NVIDIA L40S", "L", "40", "S", "8.9"),
        ("NVIDIA H100 NVL", "H", "100", "NVL", "9.0"),
        ("NVIDIA H20-3e", "H", "20", "3e", "9.0"),
        ("NVIDIA H800", "H", "800", None, "9.0"),
        ("NVIDIA GH200 480GB", "GH", "200", None, "9.0"),
        ("NVIDIA GB200", "GB", "200", None, "10.0"),
        ("NVIDIA B300 SXM6 AC", "B", "300", "SXM6 AC", "10.3"),
        ("NVIDIA L20Y", None, "20", "Y", None),
    ],
)
def test_data_center(name, series, tier, suffix, capability):
    told = check(name, dict(line="data center", series=series, tier=tier, suffix=suffix, compute_capability=capability))
    assert told.memory_mib is None


def test_a_gb10_is_no_card_of_a_data_center():
    check("NVIDIA GB10", dict(line="Grace Blackwell", series="GB", tier="10", form="integrated", compute_capability="12.1"))


@pytest.mark.parametrize(
    ("name", "tier", "word"),
    [
        ("NVIDIA A100-SXM4-40GB MIG 3g.20gb", "100", "MIG slice (3g.20gb)"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb+me", "100", "MIG slice (1g.10gb+me)"),
        ("GRID A100-10C", "100", "profile 10C"),
        ("GRID V100DX-16Q", "100", "profile 16Q"),
        ("NVIDIA H100L-2-24C", "100", "profile 2-24C"),
        ("NVIDIA A16-8Q", "16", "profile 8Q"),
        ("NVIDIA RTXA6000-24C", "6000", "profile 24C"),
    ],
)
def test_slices_are_noted(name, tier, word):
    told = check(name, dict(tier=tier, vendor="NVIDIA"))
    assert any(word in note for note in told.notes)


def test_grid_k520_is_a_card():
    check("GRID K520", dict(series="GRID K", tier="520", architecture="Kepler"))


@pytest.mark.parametrize(
    ("name", "architecture", "form"),
    [
        ("NVIDIA TITAN X (Pascal)", "Pascal", "desktop"),
        ("NVIDIA GeForce GTX TITAN X", "Maxwell", "desktop"),
        ("TITAN X", None, "desktop"),
        ("NVIDIA TITAN V", "Volta", "desktop"),
        ("NVIDIA TITAN RTX", "Turing", "desktop"),
        ("GeForce GTX TITAN Black", "Kepler", "desktop"),
        ("Orin (nvgpu)", "Ampere", "embedded"),
        ("Xavier", "Volta", "embedded"),
        ("NVIDIA Thor", "Blackwell", "embedded"),
        ("NVIDIA Tegra X1", "Maxwell", "embedded"),
    ],
)
def test_names_without_a_number(name, architecture, form):
    check(name, dict(vendor="NVIDIA", architecture=architecture, form=form))


def test_names_that_are_no_product():
    check("NVIDIA Graphics Device", dict(vendor="NVIDIA", line=None) | UNKNOWN)
    check("NVIDIA Graphics Device", dict(architecture="Blackwell", series=None), compute_capability="12.0")
    check("NVIDIA PG506-230", dict(vendor="NVIDIA", series=None, architecture="Ampere"))
    told = check("Intel(R) Graphics [0xe223]", dict(vendor="Intel", name="Intel(R) Graphics [0xe223]") | UNKNOWN)
    assert any("0xe223" in note for note in told.notes)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("NVIDIA GeForce RTX 4060 ...", GEFORCE_40 | dict(tier="60", suffix=None, form=None)),
        ("NVIDIA GeForce RTX 3070 Lapt...", dict(series="RTX 30", tier="70", form="laptop")),
        ("NVIDIA RTX 6000 Ada Gene...", dict(series="RTX Ada", tier="6000", architecture="Ada Lovelace", form=None)),
        ("NVIDIA RTX PRO 6000 Blac...", dict(series="RTX PRO", architecture="Blackwell", form=None)),
        ("NVIDIA RTX 6000 ...", dict(series=None, architecture=None)),
        ("GeForce RTX 208...", dict(series="RTX 20", architecture="Turing", form=None)),
        ("NVIDIA GeForce ...", dict(line="GeForce") | UNKNOWN),
        ("NVIDIA A10...", dict(series="A", tier=None, architecture="Ampere", compute_capability=None)),
        ("NVIDIA A100-SXM...", dict(series="A", tier="100", compute_capability="8.0")),
    ],
)
def test_of_a_name_cut_short_only_what_is_sure_is_told(name, wanted):
    told = check(name, wanted)
    assert any("cut" in note for note in told.notes)


@pytest.mark.parametrize(
    ("name", "printed", "wanted"),
    [
        ("AMD Instinct MI300X", "9.4", dict(series="MI300", suffix="X", architecture="CDNA 3")),
        ("AMD Instinct MI250X/MI250", "9.0 (gfx90a:sramecc+:xnack-)", dict(series="MI200", architecture="CDNA 2", gfx="gfx90a")),
        ("AMD Radeon RX 7900 XTX", "11.0", dict(series="RX 7000", suffix="XTX", architecture="RDNA 3", form="desktop")),
        ("AMD Radeon RX 9070 XT", "12.0", dict(series="RX 9000", architecture="RDNA 4")),
        ("AMD Radeon Graphics", "gfx1201", dict(series=None, form=None, architecture="RDNA 4")),
        ("AMD Radeon Graphics", "11.5 (gfx1151)", dict(form="integrated", architecture="RDNA 3.5")),
        ("AMD Radeon Graphics", "9.0", dict(form=None, architecture=None)),
        ("AMD Radeon Graphics", "9.4", dict(form=None, architecture="CDNA 3")),
        ("AMD Radeon Graphics", None, dict(form=None, architecture=None)),
        ("AMD Radeon 890M Graphics", "gfx1102", dict(series="Radeon 800M", architecture=None, form="integrated")),
    ],
)
def test_what_rocm_prints_is_no_compute_capability(name, printed, wanted):
    told = check(name, dict(vendor="AMD", compute_capability=None) | wanted, compute_capability=printed)
    assert not printed or "gfx" in printed or any("ROCm" in note for note in told.notes)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("AMD Radeon RX 6600M", dict(series="RX 6000", suffix="M", form="laptop", gfx=None, architecture="RDNA 2")),
        ("AMD Radeon RX 7600M XT", dict(series="RX 7000", suffix="M XT", form="laptop")),
        ("AMD Radeon RX 6750 GRE 12GB", dict(series="RX 6000", suffix="GRE", gfx="gfx1031")),
        ("AMD Radeon 780M Graphics", dict(form="integrated", gfx="gfx1103")),
        ("AMD Radeon(TM) 8060S Graphics", dict(form="integrated", architecture="RDNA 3.5")),
        ("AMD Radeon PRO W7900NoGCNArchNameOnOldPyTorch", dict(name="AMD Radeon PRO W7900", line="Radeon Pro", form="workstation", gfx="gfx1100")),
        ("Radeon RX Vega", dict(series="RX Vega", architecture="GCN 5", form=None)),
        ("AMD Radeon RX Vega 11 Graphics", dict(form="integrated", architecture="GCN 5")),
        ("Intel(R) Arc(TM) A770 Graphics", dict(line="Arc", series="Arc A", tier="770", form="desktop", architecture="Xe-HPG")),
        ("Intel(R) Arc(TM) A730M Graphics", dict(form="laptop", architecture="Xe-HPG")),
        ("Intel(R) Arc(TM) B580 Graphics", dict(form="desktop", architecture="Xe2-HPG")),
        ("Intel(R) Arc(TM) B390 GPU", dict(form="integrated", architecture="Xe3")),
        ("Intel(R) Arc(TM) 140V GPU (16GB)", dict(form="integrated", architecture="Xe2-LPG")),
        ("Intel(R) Arc(TM) Graphics", dict(form="integrated", architecture=None)),
        ("Intel(R) Data Center GPU Max 1550", dict(series="Max", form="data center", architecture="Xe-HPC")),
        ("Intel(R) Data Center GPU Flex Series 170 [0x56c0]", dict(series="Flex", tier="170")),
        ("Apple M2 Ultra", dict(vendor="Apple", series="M2", suffix="Ultra", form="integrated")),
        ("Apple M4", dict(vendor="Apple", series="M4", suffix=None)),
    ],
)
def test_other_vendors(name, wanted):
    check(name, dict(compute_capability=None) | wanted)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        # Chips that carry the name of another generation, or no product's name
        ("NVIDIA GeForce GTX 675M", dict(series="GTX 600M", architecture="Fermi", compute_capability="2.1", form="laptop")),
        ("NVIDIA GeForce GTX 675MX", dict(series="GTX 600M", architecture="Kepler", compute_capability="3.0", form="laptop")),
        ("NVIDIA GeForce 920M", dict(architecture="Kepler", compute_capability="3.5")),
        ("NVIDIA GeForce 920MX", dict(architecture="Maxwell", compute_capability="5.0")),
        ("NVIDIA GeForce GT 730", dict(series="GT 700", architecture=None, compute_capability=None)),
        ("Quadro K2100M", dict(series="Quadro K", architecture="Kepler", compute_capability="3.0", form="laptop")),
        ("Quadro K2200M", dict(series="Quadro K", architecture="Maxwell", compute_capability="5.0", form="laptop")),
        ("NVIDIA NVS 810", dict(line="NVS", architecture="Maxwell", compute_capability="5.0")),
        ("P106-100", dict(vendor="NVIDIA", line="CMP", architecture="Pascal", compute_capability="6.1")),
        ("NVIDIA P102-100", dict(line="CMP", architecture="Pascal", compute_capability="6.1")),
        ("Tesla PG503-216", dict(line="data center", architecture="Volta", compute_capability="7.0")),
        ("Tesla T10", dict(series="T", architecture="Turing", form="data center")),
        ("NVIDIA RTX 6000D", dict(series="RTX PRO", architecture="Blackwell", compute_capability="12.0", form=None)),
        ("NVIDIA H100 CNX", dict(series="H", suffix="CNX", compute_capability="9.0")),
        ("NVIDIA GeForce RTX 3060 Lite Hash Rate", dict(series="RTX 30", architecture="Ampere", form="desktop")),
        # as libdrm's list of names (data/amdgpu.ids) spells them
        ("AMD Radeon RX 580 2048SP", dict(series="RX 500", architecture="GCN 4", gfx="gfx803", form=None)),
        ("AMD Radeon RX 5700 XT 50th Anniversary", dict(series="RX 5000", gfx="gfx1010", form="desktop")),
        ("AMD Radeon RX 9060 XT LP", dict(series="RX 9000", gfx="gfx1200")),
        ("AMD Radeon Pro WX 7100 Graphics", dict(series="Pro WX", architecture="GCN 4", form=None)),
        ("AMD Radeon Pro 560X", dict(series="Pro 500", architecture="GCN 4")),
        ("AMD Radeon 860M Graphics", dict(architecture="RDNA 3.5", gfx="gfx1152", form="integrated")),
        ("AMD Radeon 840M Graphics", dict(architecture="RDNA 3.5", gfx=None, form="integrated")),
        ("AMD Instinct MI250X / MI250", dict(series="MI200", gfx="gfx90a")),
        ("AMD Instinct MI60 / MI50", dict(series="MI50", gfx="gfx906")),
        ("AMD Instinct MI350P", dict(series="MI350", gfx="gfx950")),
        ("AMD Instinct MI455X", dict(series="MI400", architecture="CDNA 5", gfx="gfx1250")),
        # as Mesa's list of names (iris_pci_ids.h) spells them
        ("Intel(R) Arc(tm) Pro B390", dict(series="Arc B", architecture="Xe3", form="integrated")),
        ("Intel(R) Arc(tm) Pro A40/A50 Graphics", dict(series="Arc Pro A", architecture="Xe-HPG", form="workstation")),
        ("Intel(R) Arc(tm) A380E Graphics", dict(series="Arc A", suffix="E", form="embedded")),
        ("Intel(R) Data Center GPU Flex 170V", dict(series="Flex", suffix="V", form="data center")),
        ("Intel(R) UHD Graphics P630", dict(architecture="Gen9.5", form="integrated")),
        ("Intel(R) HD Graphics 530", dict(architecture="Gen9", form="integrated")),
    ],
)
def test_rarer_names(name, wanted):
    check(name, wanted)


@pytest.mark.parametrize(("capability", "architecture"), [("10.3", "Blackwell"), ("10.7", "Rubin"), ("10.9", None), ("13.0", None), ("9.5", None)])
def test_the_first_digit_of_a_capability_is_no_architecture(capability, architecture):
    told = decode("NVIDIA Graphics Device", capability)
    assert (told.architecture, told.compute_capability) == (architecture, capability)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1)", GEFORCE_40 | dict(tier="90", form="desktop")),
        ("NVIDIA Corporation TU117M [GeForce GTX 1650 Mobile / Max-Q] (rev a1)", dict(series="GTX 16", form="laptop")),
        ("NVIDIA GeForce RTX 4070（Laptop GPU）", GEFORCE_40 | dict(form="laptop")),
        ("NVIDIA GeForce RTX 4060 笔记本电脑 GPU", GEFORCE_40 | dict(form="laptop")),
        ("NVIDIA® GeForce RTX™ 4070 Laptop GPU", GEFORCE_40 | dict(form="laptop")),
        ("GPU 0: NVIDIA GeForce RTX 4090 (UUID: GPU-00000000-0000-0000-0000-000000000000)", GEFORCE_40 | dict(name="NVIDIA GeForce RTX 4090")),
    ],
)
def test_other_spellings(name, wanted):
    check(name, wanted)


def test_what_the_device_says_wins_over_the_name():
    told = check("NVIDIA GeForce RTX 4090", dict(series="RTX 40", architecture="Ampere", compute_capability="8.6"), compute_capability="8.6")
    assert any("the name says 8.9" in note for note in told.notes)


def test_a_card_of_the_future():
    check("NVIDIA GeForce RTX 6090", dict(line="GeForce", series="RTX 60", tier="90", architecture=None, form=None))
    check("NVIDIA GeForce RTX 6090 Laptop GPU", dict(form="laptop", architecture=None, compute_capability="14.0"), compute_capability="14.0")
    check("NVIDIA GeForce RTX 4010", dict(series="RTX 40", architecture=None))
    check("NVIDIA GeForce RTX 4090 Whatever", dict(series="RTX 40", architecture=None, form=None))


def test_what_is_no_accelerator():
    for name in ("", "Mali-G78", "llvmpipe (LLVM 15.0.7, 256 bits)", "12345", "...", "RTX"):
        told = decode(name)
        assert told.vendor is None and told.architecture is None


def test_a_card_is_one_row_with_its_source():
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    assert all("https://" in table["source"] for table in data["table"])
    for table in data["table"]:
        for row in table["rows"]:
            fields = table | row
            if fields.get("capability"):
                assert architecture_of(fields["capability"]) == fields["architecture"], row


def test_every_row_is_reached_by_its_own_name():
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    for table in data["table"]:
        for row in table["rows"]:
            if "{n}" in row["name"]:
                continue
            for tier in row.get("tiers", [""]):
                name = row["name"].replace("{tier}", tier).replace("[", "").replace("]", "")
                told = decode(name if name.startswith(table["vendor"]) else f"{table['vendor']} {name}")
                fields = table | row
                assert (told.vendor, told.series) == (table["vendor"], fields.get("series") or None), name
                assert told.architecture == fields.get("architecture"), name


NAMES = [
    "NVIDIA GeForce RTX 4070 Ti SUPER", "NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb", "GRID V100DX-16Q", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
    "AMD Instinct MI250X/MI250 (gfx90a:sramecc+:xnack-)", "Intel(R) Graphics [0xe223]", "NVIDIA RTX 6000 Ada Gene...", "Apple M2 Ultra", "Orin (nvgpu)",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 60), st.integers(0, 60), st.text(max_size=12), st.sampled_from([None, "8.9", "9.0 (gfx90a)", "gfx", "nan", "99.9"]), st.sampled_from([None, True, False]))
def test_a_mutated_name_gives_a_result(name, start, end, inserted, capability, hip):
    told = decode(name[:start] + inserted + name[end:], capability, hip=hip)
    assert isinstance(told, Accelerator)
    assert told.memory_mib is None
    assert told.compute_capability is None or told.vendor == "NVIDIA"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_any_text_gives_a_result(text):
    assert isinstance(decode(text, text, text), Accelerator)


@pytest.mark.parametrize(
    ("typed", "line", "series", "form", "architecture"),
    [
        ("4090", "GeForce", "RTX 40", None, "Ada Lovelace"),
        ("3060 12gb", "GeForce", "RTX 30", None, "Ampere"),
        ("1080ti", "GeForce", "GTX 10", None, "Pascal"),
        ("4070 laptop", "GeForce", "RTX 40", "laptop", "Ada Lovelace"),
        ("7900xtx", "Radeon", "RX 7000", None, "RDNA 3"),
        ("A6000", "RTX workstation", "RTX A", "workstation", "Ampere"),
        ("m3 pro", "Apple", "M3", "integrated", "Apple9"),
        ("MSI GeForce RTX 3060 VENTUS 2X 12G OC", "GeForce", "RTX 30", None, None),
        ("my new RTX 4070 Ti SUPER", "GeForce", "RTX 40", "desktop", "Ada Lovelace"),
        ("NVIDIA GeForce RTX 4090/PCIe/SSE2", "GeForce", "RTX 40", "desktop", "Ada Lovelace"),
    ],
)
def test_names_as_people_type_them(typed, line, series, form, architecture):
    told = explain(typed)
    assert (told.line, told.series, told.form, told.architecture) == (line, series, form, architecture)


@pytest.mark.parametrize("typed", ["", "4", "100", "12345", "6000", "5090x", "a toaster", "4090 or 7900xtx", "\U0001f600", "٤٠٩٠", "4090" * 1000])
def test_what_is_no_name_is_not_taken_for_one(typed):
    assert explain(typed).series is None
    assert decode("4090").vendor is None  # what a program prints is taken as it is
