"""A device is chosen and printed, and then everything is computed on the CPU: the case of correction 1."""

import torch
from torch import nn

# --8<-- [start:chosen]
accelerator = torch.accelerator.current_accelerator(check_available=True)
device = accelerator or torch.device("cpu")
print("chosen:", device)
# --8<-- [end:chosen]

# --8<-- [start:used]
X = torch.rand(120, 4)
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
print("used:", model(X).device)
# --8<-- [end:used]

# --8<-- [start:guard]
def check_devices(device, model, *tensors):
    """Stop before the clock starts if something is not where it should be."""
    for tensor in (*model.parameters(), *model.buffers(), *tensors):
        assert tensor.device.type == device.type, f"one is on {tensor.device}"


model, X = model.to(device), X.to(device)
check_devices(device, model, X)
print("used:", model(X).device)
# --8<-- [end:guard]
