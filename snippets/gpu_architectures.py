"""Tell from two lists whether a PyTorch build has code for a card, before a kernel fails."""

import torch


# --8<-- [start:runs_on]
def has_code_for(capability, arch_list):
    """Whether a build with these architectures runs on a card of this compute capability.

    Machine code (sm_86) runs on the same major version from its own minor version up: on 8.6 and 8.9, not on 8.0, not
    on 9.0. PTX (compute_90) is translated by the driver for that capability and all later ones. Names that end in a
    letter (sm_90a) serve one chip or family and are left out here.
    """
    for arch in arch_list:
        kind, _, digits = arch.partition("_")
        if not digits.isdigit():
            continue
        major, minor = divmod(int(digits), 10)
        if kind == "sm" and capability[0] == major and capability[1] >= minor:
            return True
        if kind == "compute" and capability >= (major, minor):
            return True
    return False
# --8<-- [end:runs_on]


# --8<-- [start:print]
older_build = "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90".split()
newer_build = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120".split()

for card, capability in [
    ("RTX 5090", (12, 0)),
    ("RTX 4070 Laptop GPU", (8, 9)),
    ("T4", (7, 5)),
    ("P100", (6, 0)),
]:
    older, newer = has_code_for(capability, older_build), has_code_for(capability, newer_build)
    print(f"{card}: older build {older}, newer build {newer}")

if torch.cuda.is_available() and torch.version.cuda:
    answer = has_code_for(torch.cuda.get_device_capability(), torch.cuda.get_arch_list())
else:
    answer = "no CUDA card here"
print("this card:", answer)
# --8<-- [end:print]
