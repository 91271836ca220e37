"""Choose the best device of this machine, and prove that it works."""

import torch

# --8<-- [start:choose]
device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
# --8<-- [end:choose]


# --8<-- [start:by_hand]
def best_device():
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.xpu.is_available():
        return torch.device("xpu")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")
# --8<-- [end:by_hand]


# --8<-- [start:prove]
one = torch.ones(1, device=device)
print("device:", device)
print("chosen by hand:", best_device())
print("one and one:", (one + one).item())
# --8<-- [end:prove]
