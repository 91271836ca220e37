"""Solutions to the exercises of the chapter on GPUs. Each one checks itself and prints nothing."""

# --8<-- [start:one]
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
optimizer = torch.optim.Adam(model.parameters())
model(torch.rand(120, 4)).sum().backward()
optimizer.step()

weights = sum(p.nbytes for p in model.parameters())
gradients = sum(p.grad.nbytes for p in model.parameters())
state = [tensor for entry in optimizer.state.values() for tensor in entry.values()]

assert weights == gradients == 83 * 4
assert sum(t.nbytes for t in state) == 2 * 83 * 4 + 4 * 4  # two averages for each weight, a step counter for each tensor
# --8<-- [end:one]


# --8<-- [start:two]
def cudnn_version(number):
    """Five digits or more are cuDNN 9 or later."""
    major, rest = divmod(number, 10_000 if number >= 90_000 else 1_000)
    return (major, *divmod(rest, 100))


assert cudnn_version(8907) == (8, 9, 7)
assert cudnn_version(90700) == (9, 7, 0)
assert (8907 // 10_000, 8907 % 10_000 // 100, 8907 % 100) == (0, 89, 7)  # the wrong rule: 'cuDNN 0.89.7'
# --8<-- [end:two]


# --8<-- [start:three]
def trainable_parameters(gib, bytes_per_parameter=16, context_gib=1):
    """Billions of parameters that Adam can train in float32, before the first activation."""
    return (gib - context_gib) * 2**30 / bytes_per_parameter / 1e9


assert round(trainable_parameters(8), 2) == 0.47
assert trainable_parameters(8) < 0.54 < trainable_parameters(12)
# --8<-- [end:three]
