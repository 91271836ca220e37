"""Solutions to the exercises of the chapter on calling a model; prints nothing when all is well."""

import torch
from torch import nn


# --8<-- [start:one]
class CountCalls:
    """Wraps a function and counts how often it is called."""

    def __init__(self, function):
        self.function = function
        self.count = 0

    def __call__(self, *args, **kwargs):
        self.count += 1
        return self.function(*args, **kwargs)


@CountCalls
def double(number):
    return 2 * number


assert double(4) == 8
assert double(number=5) == 10
assert double.count == 2
# --8<-- [end:one]


# --8<-- [start:two]
class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc1.forward(x)


class Mended(Broken):
    def forward(self, x):
        return self.fc1(x)


def calls_seen(model):
    seen = []
    model.fc1.register_forward_hook(lambda *args: seen.append("fc1"))
    model(torch.ones(2, 4))
    return seen


assert calls_seen(Broken()) == []
assert calls_seen(Mended()) == ["fc1"]
# --8<-- [end:two]


# --8<-- [start:three]
torch.manual_seed(42)
output = torch.randn(5, 3)
target = torch.tensor([0, 1, 2, 0, 1])
weight = torch.tensor([1.0, 1.0, 2.0])

criterion = nn.CrossEntropyLoss(weight=weight)  # what stays the same
loss = criterion(output, target)  # what changes

same = nn.functional.cross_entropy(output, target, weight=weight)
assert torch.equal(loss, same)
# --8<-- [end:three]
