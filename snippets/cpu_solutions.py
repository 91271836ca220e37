"""Solutions to the exercises of the chapter on CPUs. Each one checks itself and prints nothing."""


# --8<-- [start:one]
def p_and_e_cores(cores, threads):
    """A P-core runs two threads and an E-core one, so every thread beyond one a core belongs to a P-core."""
    p_cores = threads - cores
    return p_cores, cores - p_cores


assert p_and_e_cores(10, 12) == (2, 8)  # 2 P-cores, 8 E-cores
# --8<-- [end:one]


# --8<-- [start:two]
def fields(text):
    """The lines of lscpu as a dictionary."""
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def verdict(text):
    """What the numbers of lscpu allow you to say."""
    cpu = fields(text)
    expected = int(cpu["Thread(s) per core"]) * int(cpu["Core(s) per socket"]) * int(cpu["Socket(s)"])
    if "Hypervisor vendor" in cpu or "hypervisor" in cpu.get("Flags", "").split():
        return "virtual: the cores are what the machine was told"
    if expected != int(cpu["CPU(s)"]):
        return "hybrid: not every core runs the same number of threads"
    return "uniform, as far as lscpu can tell"


wsl2 = """
CPU(s):               24
Model name:           12th Gen Intel(R) Core(TM) i7-12800HX
Thread(s) per core:   2
Core(s) per socket:   12
Socket(s):            1
Hypervisor vendor:    Microsoft
"""
bare_metal = """
CPU(s):               32
Model name:           13th Gen Intel(R) Core(TM) i9-13900KS
Thread(s) per core:   2
Core(s) per socket:   24
Socket(s):            1
"""
assert verdict(wsl2).startswith("virtual")
assert verdict(bare_metal).startswith("hybrid")
# --8<-- [end:two]


# --8<-- [start:three]
def threads_for(quota, usable):
    """As many threads as there is CPU time for, and at least one."""
    cpus = usable if quota is None else min(quota, usable)
    return max(1, int(cpus))


assert threads_for(quota=150_000 / 100_000, usable=64) == 1
assert threads_for(quota=None, usable=64) == 64
assert threads_for(quota=0.5, usable=64) == 1
# --8<-- [end:three]
