"""Measure one training step in three wrong ways, and look at the symptoms. Runs on the CPU."""

# --8<-- [start:step]
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(42)
X, y = torch.rand(120, 4), torch.randint(3, (120,))  # the shapes of the iris table; the values do not matter here
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train(steps):
    for step in range(steps):
        loss = criterion(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def microseconds_per_step(steps):
    start = time.perf_counter()
    train(steps)
    return (time.perf_counter() - start) / steps * 1e6
# --8<-- [end:step]


# --8<-- [start:first_call]
for step in range(1, 4):
    print(f"step {step}: {microseconds_per_step(1):.0f} µs")
train(300)
print(f"step 304: {microseconds_per_step(1):.0f} µs")
# --8<-- [end:first_call]

# --8<-- [start:one_run]
runs = [microseconds_per_step(100) for run in range(10)]
print(f"ten runs of the same loop: from {min(runs):.0f} to {max(runs):.0f} µs a step")
# --8<-- [end:one_run]

# --8<-- [start:in_turn]
first = microseconds_per_step(500)
second = microseconds_per_step(500)
print(f"the second loop takes {second / first:.2f} times as long as the first")
# --8<-- [end:in_turn]
