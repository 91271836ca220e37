"""Count the operations of one training step, phase by phase: which ones compute, and which only make a view."""

# --8<-- [start:counter]
from collections import Counter

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

VIEWS = {"t", "view", "detach"}  # a new tensor object over the same numbers: nothing is computed


class Recorder(TorchDispatchMode):
    """Inside a `with` block, note the name of every operation before it runs."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        if operation.namespace == "aten":  # PyTorch's own operations; the rest are marks for the profiler
            self.names.append(operation._schema.name.removeprefix("aten::"))
        return operation(*args, **(kwargs or {}))
# --8<-- [end:counter]


# --8<-- [start:count]
torch.manual_seed(42)
X, y = torch.rand(120, 4), torch.randint(3, (120,))
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def record(phase, call):
    with Recorder() as recorder:
        result = call()
    computed = Counter(name for name in recorder.names if name not in VIEWS)
    views = len(recorder.names) - computed.total()
    what = ", ".join(f"{count} {name}" if count > 1 else name for name, count in computed.items())
    print(f"{phase:12} {computed.total():7} {views:6}  {what}".rstrip())
    return result


print("phase        compute  views")
output = record("forward", lambda: model(X))
loss = record("loss", lambda: criterion(output, y))
record("zero_grad", optimizer.zero_grad)
record("backward", loss.backward)
record("optimizer", optimizer.step)
record("loss.item()", loss.item)
# --8<-- [end:count]

# --8<-- [start:flops]
from torch.utils.flop_counter import FlopCounterMode

with FlopCounterMode(display=False) as counter:
    criterion(model(X), y).backward()

print(f"{counter.get_total_flops():,} multiplications and additions in the matrix products")
# --8<-- [end:flops]
