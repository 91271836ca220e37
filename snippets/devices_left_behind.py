"""What `.to()` converts in a module, and what it leaves behind."""

import torch
from torch import nn


# --8<-- [start:wrong]
class Leaky(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)                     # a module
        self.scale = nn.Parameter(torch.ones(3))      # a parameter: trained
        self.register_buffer("mean", torch.zeros(4))  # a buffer: kept, not trained
        self.offset = torch.zeros(3)                  # a plain attribute
        self.heads = [nn.Linear(3, 3)]                # a module in a plain list

    def forward(self, x):
        return self.heads[0](self.fc(x - self.mean) * self.scale + self.offset)


leaky = Leaky().to(torch.float64)
print("fc    ", leaky.fc.weight.dtype)
print("scale ", leaky.scale.dtype)
print("mean  ", leaky.mean.dtype)
print("offset", leaky.offset.dtype)
print("heads ", leaky.heads[0].weight.dtype)
print("trained:", [name for name, _ in leaky.named_parameters()])
# --8<-- [end:wrong]


# --8<-- [start:right]
class Tight(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("offset", torch.zeros(3))
        self.heads = nn.ModuleList([nn.Linear(3, 3)])

    def forward(self, x):
        return self.heads[0](self.fc(x - self.mean) * self.scale + self.offset)


tight = Tight().to(torch.float64)
print("offset", tight.offset.dtype)
print("heads ", tight.heads[0].weight.dtype)
print("trained:", [name for name, _ in tight.named_parameters()])
# --8<-- [end:right]
