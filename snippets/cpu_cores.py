"""Work out how many performance and efficiency cores an Intel hybrid CPU has."""


# --8<-- [start:split]
def p_and_e_cores(cores, threads):
    """Intel Core, 12th to 14th generation: a P-core runs 2 threads, an E-core 1."""
    p_cores = threads - cores
    return p_cores, cores - p_cores
# --8<-- [end:split]


# --8<-- [start:print]
for name, cores, threads in [
    ("i7-12800HX", 16, 24),
    ("i9-13900KS", 24, 32),
    ("i7-12800HX as WSL2 shows it", 12, 24),
]:
    p, e = p_and_e_cores(cores, threads)
    print(f"{name}: {p} P + {e} E = {cores} cores, {threads} threads")
# --8<-- [end:print]
