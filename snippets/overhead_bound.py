"""Ask a machine what holds its training loop up: the host's time H for a step, the wall time W, and more rows."""

# --8<-- [start:setup]
import statistics
import time

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.set_num_threads(1)
STEPS = 10  # few, so that the queue does not fill up: a full queue makes the host wait


def synchronize():
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def training(rows):
    torch.manual_seed(42)
    X, y = torch.rand(rows, 4).to(device), torch.randint(3, (rows,)).to(device)
    model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3)).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def train():
        for step in range(STEPS):
            loss = criterion(model(X), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return train
# --8<-- [end:setup]


# --8<-- [start:measure]
def host_and_wall(train):
    """Microseconds a step until the host has queued everything, and until the device has done everything."""
    synchronize()
    start = time.perf_counter()
    train()
    queued = time.perf_counter()
    synchronize()
    done = time.perf_counter()
    return (queued - start) / STEPS * 1e6, (done - start) / STEPS * 1e6


print(f"{device}:    rows   H µs   W µs")
for rows in (120, 1_200, 12_000, 120_000):
    train = training(rows)
    train()  # warm-up
    times = [host_and_wall(train) for block in range(3)]
    host, wall = (statistics.median(column) for column in zip(*times))
    print(f"{rows:12,} {host:6.0f} {wall:6.0f}")
# --8<-- [end:measure]
