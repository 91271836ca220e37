"""Which hooks run when a model is called, and which when its forward is called."""

# --8<-- [start:hooks]
import torch
from torch import nn


def report(module, args, output):
    print(f"    {type(module).__name__} returned {tuple(output.shape)}")


model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
handles = [module.register_forward_hook(report) for module in model.modules()]
x = torch.ones(2, 4)

print("model(x)")
model(x)

print("model.forward(x)")
model.forward(x)

for handle in handles:
    handle.remove()

print("model(x) without hooks")
model(x)
# --8<-- [end:hooks]
