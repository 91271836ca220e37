"""A tensor made inside `forward` must be made where the input is."""

import torch
from torch import nn


# --8<-- [start:wrong]
class MadeOnCPU(nn.Module):
    def forward(self, x):
        memory = torch.zeros(len(x), 4)
        return x + memory
# --8<-- [end:wrong]


# --8<-- [start:right]
class MadeWithTheInput(nn.Module):
    def forward(self, x):
        memory = torch.zeros(len(x), 4, device=x.device, dtype=x.dtype)
        return x + memory
# --8<-- [end:right]
