"""Time a tiny training step and a large matrix product with one thread and with PyTorch's default."""

import time
from statistics import median

import torch
from torch import nn

# --8<-- [start:jobs]
torch.manual_seed(42)
X, y = torch.rand(120, 4), torch.randint(0, 3, (120,))
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
matrix = torch.rand(1024, 1024)


def tiny_step():
    """One step of the lesson's training."""
    loss = criterion(model(X), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def large_product():
    """One product of two matrices of 1024 rows and columns."""
    matrix @ matrix
# --8<-- [end:jobs]


# --8<-- [start:compare]
def block(job, threads, calls):
    """Seconds for one call of the job, from a short block of calls with this number of threads."""
    torch.set_num_threads(threads)
    job()
    start = time.perf_counter()
    for _ in range(calls):
        job()
    return (time.perf_counter() - start) / calls


def compare(job, calls, rounds=5):
    """Run the blocks in turn, so that a slow moment of the machine hits both choices alike."""
    choices = {"1 thread": 1, f"default ({default})": default}
    times = {name: [] for name in choices}
    for _ in range(rounds):
        for name, threads in choices.items():
            times[name].append(block(job, threads, calls))
    print(job.__name__)
    for name, samples in times.items():
        print(f"  {name}: median {median(samples) * 1e3:.3f} ms, worst {max(samples) * 1e3:.3f} ms")


default = torch.get_num_threads()
compare(tiny_step, calls=10)
compare(large_product, calls=1)
torch.set_num_threads(default)
# --8<-- [end:compare]
