"""The CPU of a live machine, with systems made of files and of what programs print."""

import json
import sys
import time

import pytest

from tutorial.hardware import programs
from tutorial.hardware.cpu import CPU, cpu_from_cim, cpu_from_sysctl, cpu_list, fill_torch, linux_cpu, this_cpu, thread_notes
from tutorial.hardware import limits
from tutorial.hardware.limits import cpu_quota, usable_cores
from tutorial.hardware.programs import outputs

INTEL = "Architecture: x86_64\nCPU(s): {n}\nOn-line CPU(s) list: 0-{last}\nVendor ID: GenuineIntel\nModel name: {model}\nThread(s) per core: {t}\nCore(s) per socket: {c}\nSocket(s): 1\nCPU max MHz: 4800\nFlags: fpu lm cx8 avx2{more}\n"


def intel(model, n, t, c, more=""):
    return INTEL.format(model=model, n=n, last=n - 1, t=t, c=c, more=more)


def tree(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def hybrid(root, performance, small, low_power=0):
    """A /sys in which the performance cores have two threads."""
    siblings = [f"{2 * core}-{2 * core + 1}" for core in range(performance) for _ in "ab"]
    first, last = 2 * performance, 2 * performance + small + low_power
    siblings += [str(cpu) for cpu in range(first, last)]
    files = {f"sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list": text + "\n" for cpu, text in enumerate(siblings)}
    files |= {"sys/devices/cpu_core/cpus": f"0-{first - 1}\n", "sys/devices/cpu_atom/cpus": f"{first}-{first + small - 1}\n"}
    if low_power:
        files["sys/devices/cpu_lowpower/cpus"] = f"{first + small}-{last - 1}\n"
    return tree(root, files)


def test_this_cpu():
    cpu = this_cpu()
    assert cpu.logical >= 1 and cpu.memory_mib > 100 and cpu.usable in (None, *range(1, cpu.logical + 1))
    assert cpu.torch_threads is None or "torch" in sys.modules


def kinds(cpu):
    return cpu.physical_cores, cpu.performance_cores, cpu.efficiency_cores, cpu.low_power_cores


def test_the_kernel_tells_the_kinds_of_core(tmp_path):
    cpu = linux_cpu(hybrid(tmp_path, 2, 4), intel("13th Gen Intel(R) Core(TM) new", 8, 2, 6))
    assert kinds(cpu) == (6, 2, 4, 0)


def test_low_power_cores_need_their_own_counters_or_a_row(tmp_path):
    new = intel("Intel(R) Core(TM) Ultra 7 399H", 10, 2, 8)
    assert kinds(linux_cpu(hybrid(tmp_path / "a", 2, 6), new)) == (8, 2, None, None)
    assert kinds(linux_cpu(hybrid(tmp_path / "b", 2, 4, 2), new)) == (8, 2, 4, 2)
    known = intel("Intel(R) Core(TM) Ultra 9 185H", 22, 2, 16)
    assert kinds(linux_cpu(hybrid(tmp_path / "c", 6, 10), known)) == (16, 6, 8, 2)


def test_wsl2_is_told_by_the_kernel(tmp_path):
    tree(tmp_path, {"proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2 (root@host)"})
    cpu = linux_cpu(tmp_path, intel("12th Gen Intel(R) Core(TM) i7-12800HX", 24, 2, 12, " hypervisor") + "Hypervisor vendor: Microsoft\n")
    assert (*kinds(cpu), cpu.presented_cores, cpu.environment, cpu.topology_trusted) == (16, 8, 8, 0, 12, "wsl2", False)


def test_without_lscpu_cpuinfo_is_read(tmp_path):
    tree(tmp_path, {"proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC 7B12\nflags\t\t: fpu lm cx8 hypervisor\n"})
    cpu = linux_cpu(tmp_path, "")
    assert (cpu.model, cpu.logical, cpu.environment, cpu.topology_trusted) == ("AMD EPYC 7B12", 1, "virtual machine", False)
    assert linux_cpu(tmp_path / "nothing", "").model is None


def test_a_container(tmp_path):
    tree(tmp_path, {".dockerenv": ""})
    assert linux_cpu(tmp_path, intel("Intel(R) Core(TM) i5-6600K", 4, 1, 4)).environment == "container"
    guest = linux_cpu(tmp_path, intel("Intel(R) Core(TM) i5-6600K", 4, 1, 4, " hypervisor"))
    assert guest.environment == "virtual machine" and "inside a container" in guest.notes


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        # the parent's limit counts
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "200000 100000\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "400000 100000\n", "sys/fs/cgroup/a/b/cpu.max": "250000 100000\n"}, 2.5),
        # in a container the path is the host's, and the mount is the group
        ({"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/../x\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3),
        # version 1
        ({"proc/self/cgroup": "4:cpu,cpuacct:/p\n", "sys/fs/cgroup/cpu,cpuacct/p/cpu.cfs_quota_us": "375000\n", "sys/fs/cgroup/cpu,cpuacct/p/cpu.cfs_period_us": "100000\n"}, 3.75),
        ({"proc/self/cgroup": "1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"proc/self/cgroup": "1:cpu:/\n0::/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "20000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "0\n"}, None),
        ({"proc/self/cgroup": "3:cpuset:/\nrubbish\n0::/\n", "sys/fs/cgroup/cpu.max": "x\n"}, None),
    ],
)  # fmt: skip
def test_quotas(tmp_path, files, quota):
    assert cpu_quota(tree(tmp_path, files)) == quota


def test_more_threads_than_the_container_grants():
    assert "set_num_threads(2)" in thread_notes(CPU(torch_threads=16, quota=2.5, usable=16))[0]
    assert "set_num_threads(1)" in thread_notes(CPU(torch_threads=2, quota=0.5))[0]
    assert "4 processors" in thread_notes(CPU(torch_threads=8, usable=4))[0]
    assert thread_notes(CPU(torch_threads=1, quota=0.5)) == thread_notes(CPU(torch_threads=4, quota=4.0, usable=8)) == thread_notes(CPU()) == []


def test_pytorchs_part():
    cpu = fill_torch(fill_torch(CPU(usable=1, quota=0.25)))
    assert cpu.torch_capability and cpu.torch_threads >= 1
    assert len(cpu.notes) == (cpu.torch_threads > 1)


def test_a_mac():
    text = "machdep.cpu.brand_string: Apple M2 Pro\nhw.physicalcpu: 12\nhw.logicalcpu: 12\nhw.packages: 1\nkern.hv_vmm_present: 0\nhw.perflevel0.physicalcpu: 8\nhw.perflevel1.physicalcpu: 4\nhw.optional.neon: 1\nhw.optional.arm.FEAT_BF16: 1\n"
    cpu = cpu_from_sysctl(text, "arm64")
    assert (*kinds(cpu), cpu.environment, cpu.instruction_sets, cpu.architecture) == (12, 8, 4, 0, "bare-metal", ["NEON", "bf16"], "aarch64")
    guest = cpu_from_sysctl(text.replace("present: 0", "present: 1"), "arm64")
    assert guest.topology_trusted is False and guest.performance_cores is None
    other = cpu_from_sysctl(text + "hw.perflevel1.name: Performance\n", "arm64")
    assert (other.physical_cores, other.performance_cores, other.efficiency_cores) == (12, None, None)
    assert cpu_from_sysctl(text + "hw.perflevel1.name: Efficiency\n", "arm64").efficiency_cores == 4
    assert cpu_from_sysctl("rubbish", "") == CPU()


def test_windows():
    row = {"Name": "Intel(R) Core(TM) i9-14900HX", "Manufacturer": "GenuineIntel", "NumberOfCores": 24, "NumberOfLogicalProcessors": 32}
    cpu = cpu_from_cim(json.dumps({"processors": [row], "machine": "Laptop", "hypervisor": True}))
    assert (*kinds(cpu), cpu.vendor, cpu.environment, cpu.topology_trusted) == (24, 8, 16, 0, "Intel", "unknown", True)
    guest = cpu_from_cim(json.dumps({"processors": [row | {"NumberOfCores": 4, "NumberOfLogicalProcessors": 8}], "machine": "Virtual Machine"}))
    assert (guest.physical_cores, guest.presented_cores, guest.topology_trusted) == (24, 4, False)
    for text in ("", "null", "[]", '{"processors": []}'):
        assert "in time" in cpu_from_cim(text).notes[0]


def test_a_program_that_hangs_is_given_up_and_not_asked_again(monkeypatch):
    monkeypatch.setattr(programs, "PATIENCE", 0.3)
    monkeypatch.setattr(programs, "_silent", set())
    hangs = [sys.executable, "-c", "import time; time.sleep(60)"]
    begin = time.monotonic()
    assert outputs(hangs, hangs, ["no-such-program-anywhere"]) == ["", "", ""]
    assert time.monotonic() - begin < 2
    monkeypatch.setattr(programs, "PATIENCE", 60)
    assert outputs(hangs) == [""]
    assert time.monotonic() - begin < 3


def test_a_command_that_fails_has_said_what_it_said():
    """sysctl ends with 1 where it does not know one of the names, and prints the others."""
    assert outputs(["no-such-program-anywhere"], [sys.executable, "-c", "print(3, flush=True); raise SystemExit(1)"])[1].strip() == "3"


def test_lists():
    assert cpu_list("0-2,8") == {0, 1, 2, 8} and cpu_list("") == cpu_list("x") == set()


@pytest.mark.parametrize(
    ("cores", "affinity", "quota", "usable"),
    [(64, None, None, 64), (64, 2, None, 2), (64, 128, 8.5, 8), (8, 16, 0.5, 1), (None, 6, None, 6), (8, 16, 12.0, 8)],
    ids=["all", "affinity", "quota", "half a processor", "cores not told", "more granted than there is"],
)
def test_no_more_threads_than_this_process_may_use(monkeypatch, cores, affinity, quota, usable):
    monkeypatch.setattr(limits.psutil, "cpu_count", lambda logical: cores)
    monkeypatch.setattr(limits, "usable_processors", lambda: affinity)
    monkeypatch.setattr(limits, "cpu_quota", lambda: quota)
    monkeypatch.setattr(limits.os, "cpu_count", lambda: 128)
    assert usable_cores() == usable
