"""Compare ways to train, on any device: warm-up, synchronization, blocks in random turns, medians, and A against A."""

# --8<-- [start:cases]
import random
import statistics
import time

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.set_num_threads(1)  # the same number for every case
torch.manual_seed(42)
X = torch.rand(120, 4).to(device)
y = torch.randint(3, (120,)).to(device)


def training(read):
    """A fresh model, and a function that trains it on; with `read`, every step reads the loss."""
    torch.manual_seed(42)
    model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3)).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def train(steps):
        for step in range(steps):
            loss = criterion(model(X), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if read:
                loss.item()
        return loss

    return train


cases = {
    "read every step": training(read=True),
    "the same again": training(read=True),
    "read never": training(read=False),
}
# --8<-- [end:cases]


# --8<-- [start:measure]
def synchronize():
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def block(train, steps=20):
    """Seconds that a block of steps takes, from an idle device to an idle device."""
    synchronize()
    start = time.perf_counter()
    train(steps)
    synchronize()
    return time.perf_counter() - start


for train in cases.values():  # warm-up: these times are thrown away
    block(train)

times = {name: [] for name in cases}
for turn in range(40):
    for name in random.sample(list(cases), len(cases)):  # all cases, in random order
        times[name].append(block(cases[name]))
# --8<-- [end:measure]


# --8<-- [start:report]
def ratio_with_interval(case, base):
    """The median of the ratios turn by turn, and the middle 95 % of the medians of 1,000 redrawn samples."""
    ratios = [a / b for a, b in zip(case, base)]
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for draw in range(1000))
    return statistics.median(ratios), medians[25], medians[974]


print(f"device: {device}")
for name, case in times.items():
    ratio, low, high = ratio_with_interval(case, times["read every step"])
    print(f"{name:15} {statistics.median(case) / 20 * 1e6:5.0f} µs a step, ratio {ratio:.3f} [{low:.3f}, {high:.3f}]")

losses = {round(train(1).item(), 3) for train in cases.values()}
print("all cases end with the same loss:", len(losses) == 1)
# --8<-- [end:report]
