"""Solutions of the exercises of "Set up PyTorch"."""

import torch

# --8<-- [start:one]
BUILDS = {
    "cu130": (75, 80, 86, 90, 100, 120),
    "cu126": (50, 60, 70, 75, 80, 86, 90),
}


def index_for(major, minor):
    """The first index whose build has code for such a card."""
    for index, codes in BUILDS.items():
        for code in codes:
            if code // 10 == major and code % 10 <= minor:
                return index
    return "cpu"


assert index_for(6, 1) == "cu126"  # GTX 1080
assert index_for(7, 0) == "cu126"  # V100
assert index_for(8, 9) == "cu130"  # RTX 4070, by the code for 8.6
assert index_for(12, 0) == "cu130"  # RTX 5070
assert index_for(3, 5) == "cpu"  # too old for both
# --8<-- [end:one]


# --8<-- [start:two]
def proven_device():
    """The accelerator if one operation works on it, and else the CPU."""
    device = torch.accelerator.current_accelerator(check_available=True)
    if device is None:
        return torch.device("cpu")
    try:
        (torch.ones(1, device=device) + 1).item()
    except RuntimeError as error:
        print(f"the CPU instead of {device}:", str(error).splitlines()[0])
        return torch.device("cpu")
    return device


device = proven_device()
assert torch.zeros(3, device=device).device.type == device.type
# --8<-- [end:two]


# --8<-- [start:three]
def read_label(version):
    """The CUDA version after the +, or "cpu", or None if there is no +."""
    label = version.partition("+")[2]
    if label.startswith("cu"):
        return label[2:-1] + "." + label[-1]
    return label or None


assert read_label("2.13.0+cu130") == "13.0"
assert read_label("2.13.0+cu126") == "12.6"
assert read_label("2.13.0+cpu") == "cpu"
assert read_label("2.13.0") is None
# --8<-- [end:three]
