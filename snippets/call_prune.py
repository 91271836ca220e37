"""Train a pruned layer through its call, then through its forward."""

# --8<-- [start:layer]
import torch
from torch import nn
from torch.nn.utils import prune

torch.manual_seed(42)
X = torch.rand(120, 4)
y = torch.randint(0, 3, (120,))


def pruned_layer():
    torch.manual_seed(42)
    layer = nn.Linear(4, 3)
    prune.l1_unstructured(layer, "weight", amount=0.5)  # half of them off
    return layer


def train(compute, layer):
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for step in (1, 2, 3):
        loss = nn.functional.cross_entropy(compute(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"    step {step}: loss {loss.item():.3f}")
# --8<-- [end:layer]


# --8<-- [start:compare]
print("layer(X)")
layer = pruned_layer()
train(layer, layer)

print("layer.forward(X)")
layer = pruned_layer()
try:
    train(layer.forward, layer)
except RuntimeError as error:
    print(f"    RuntimeError: {error}")

with torch.no_grad():
    stale = layer.forward(X)
    fresh = layer(X)
print("forward uses the trained weights:", torch.equal(stale, fresh))
# --8<-- [end:compare]
