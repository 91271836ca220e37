"""Bring a result back without blocking, and wait before reading it."""

import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


# --8<-- [start:synchronize]
def synchronize(device):
    """Wait until `device` has done all that was queued. The CPU has no queue to wait for."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
# --8<-- [end:synchronize]


# --8<-- [start:read_back]
result = torch.ones(1_000_000, device=device) * 2
copy = result.to("cpu", non_blocking=True)
# other work for the CPU goes here; `copy` must not be read yet
synchronize(device)
print("sum:", copy.sum().item())
# --8<-- [end:read_back]
