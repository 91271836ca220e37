"""Solutions of the exercises of "The machines"."""

# --8<-- [start:one]
base, twin = [100, 200, 110], [104, 190, 112]
print([round(one / other, 2) for one, other in zip(twin, base)])
# --8<-- [end:one]


# --8<-- [start:two]
def failures(results):
    """Experiment, group, case and reason of what failed in a results file, as it was read with json.load."""
    return [(r["experiment"], r["group"], r["case"], r["failure"]) for r in results["records"] if r["failure"]]


made_up = {"experiment": "strategies", "group": "on cuda:0", "case": "graph of k steps", "failure": "out of memory"}
for experiment, group, case, reason in failures({"records": [made_up, made_up | {"case": "fused", "failure": None}]}):
    print(f"{experiment}, {group}, {case}: {reason}")
# --8<-- [end:two]
