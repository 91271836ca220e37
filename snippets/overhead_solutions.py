"""Solutions to the exercises of "Where the time goes"."""

# --8<-- [start:one]
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class Counter(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        name = operation._schema.name.removeprefix("aten::")
        if operation.namespace == "aten" and name not in {"t", "view", "detach"}:
            self.count += 1
        return operation(*args, **(kwargs or {}))


def operations_per_step(model):
    X, y = torch.rand(120, 4), torch.randint(3, (120,))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with Counter() as counter:
        loss = criterion(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return counter.count


lesson = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
deeper = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 3))
print(f"two layers: {operations_per_step(lesson)} operations, three layers: {operations_per_step(deeper)}")
# --8<-- [end:one]

# --8<-- [start:two]
steps, copies_per_step, bytes_per_step = 20_000, 2, 1_920 + 960
bandwidth = 31.5e9  # bytes a second: PCIe 4.0 with 16 lanes, in theory
smallest_copy = 6e-6  # seconds, as GDRCopy's README reports for cudaMemcpy

print(f"bytes moved: {steps * bytes_per_step:,}")
print(f"for the bytes: {steps * bytes_per_step / bandwidth * 1e3:.1f} ms")
print(f"for starting the copies: {steps * copies_per_step * smallest_copy * 1e3:.0f} ms")
# --8<-- [end:two]


# --8<-- [start:three]
def bound(host, wall, wall_with_ten_times_the_rows):
    if wall < 1.2 * host:
        return "host-bound"
    if wall_with_ten_times_the_rows < 1.2 * wall:
        return "device-latency-bound"
    return "throughput-bound"


print(bound(host=300, wall=310, wall_with_ten_times_the_rows=312))
print(bound(host=40, wall=120, wall_with_ten_times_the_rows=125))
print(bound(host=300, wall=2_000, wall_with_ten_times_the_rows=19_000))
# --8<-- [end:three]
