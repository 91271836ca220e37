"""Solutions of the exercises of "Sources and corrections"."""

from statistics import mean, stdev

import torch
from torch import nn

# --8<-- [start:one]
cores, threads = 16, 24
p_cores = threads - cores  # each P-core adds one thread more than cores
e_cores = cores - p_cores
assert (p_cores, e_cores) == (8, 8)

p_cores, e_cores = 8, 4  # as the lesson has it
assert p_cores + e_cores == 12 and 2 * p_cores + e_cores == 20
# --8<-- [end:one]

# --8<-- [start:two]
every_epoch = 16.85
sparse = [4.6 + rest for rest in (10, 9.35, 11.55, 8.5)]
fewer_reads = 20_000 - mean((200, 100, 20, 10))

saved = (every_epoch - mean(sparse)) / fewer_reads
doubt = stdev(sparse) * (1 + 1 / len(sparse)) ** 0.5 / fewer_reads
print(f"one .item(): {saved * 1e6:.0f} us, give or take {doubt * 1e6:.0f}")
# --8<-- [end:two]


# --8<-- [start:three]
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 10)
        self.fc2 = nn.Linear(10, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


assert sum(p.numel() for p in MLP().parameters()) == 83
# --8<-- [end:three]
