"""Solutions to the exercises of "Measure time"."""

# --8<-- [start:one]
import statistics
import time

import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


def synchronize():
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


a = torch.rand(500, 500, device=device)  # made before the clock starts
times = []
for block in range(12):
    synchronize()
    start = time.perf_counter()
    for repetition in range(10):
        a @ a
    synchronize()
    times.append((time.perf_counter() - start) / 10)
times = times[2:]  # the first two blocks were the warm-up

print(f"a product: {statistics.median(times) * 1e6:.0f} µs, from {min(times) * 1e6:.0f} to {max(times) * 1e6:.0f}")
# --8<-- [end:one]

# --8<-- [start:two]
from torch import nn

default = torch.get_num_threads()
torch.manual_seed(42)
X, y = torch.rand(120, 4), torch.randint(3, (120,))
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def block(threads, steps=10):
    torch.set_num_threads(threads)
    start = time.perf_counter()  # all on the CPU: there is no queue to wait for
    for step in range(steps):
        loss = criterion(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return time.perf_counter() - start


ratios = []
for turn in range(12):
    if turn % 2:
        one, many = block(1), block(default)
    else:
        many, one = block(default), block(1)
    if turn >= 2:  # the first two pairs were the warm-up
        ratios.append(many / one)
print(f"{default} threads take {statistics.median(ratios):.2f} times as long as one, in the worst turn {max(ratios):.2f}")
# --8<-- [end:two]


# --8<-- [start:three]
def verdict(ratio, low, high, twin_low, twin_high):
    excludes_one = low > 1 or high < 1
    noise = max(1 - twin_low, twin_high - 1)  # how far the A/A interval reaches from 1
    if excludes_one and abs(ratio - 1) > max(0.02, noise):
        return "slower" if ratio > 1 else "faster"
    if 0.95 <= low and high <= 1.05:
        return "same"
    return "cannot tell"


print(verdict(1.31, 1.28, 1.35, 0.99, 1.01))
print(verdict(1.01, 1.004, 1.02, 0.99, 1.01))
print(verdict(0.93, 0.88, 0.99, 0.92, 1.08))
# --8<-- [end:three]
