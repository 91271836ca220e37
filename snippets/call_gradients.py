"""Compare the outputs and the gradients of model(X) and model.forward(X)."""

# --8<-- [start:gradients]
import copy

import torch
from torch import nn

torch.manual_seed(42)
X = torch.rand(120, 4)
y = torch.randint(0, 3, (120,))
called = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
forwarded = copy.deepcopy(called)

output_called = called(X)
output_forwarded = forwarded.forward(X)

criterion = nn.CrossEntropyLoss()
criterion(output_called, y).backward()
criterion(output_forwarded, y).backward()

print("forward builds a graph:", output_forwarded.grad_fn is not None)
print("same output:", torch.equal(output_called, output_forwarded))
for (name, a), b in zip(called.named_parameters(), forwarded.parameters()):
    print(f"same gradient of {name}:", torch.equal(a.grad, b.grad))
# --8<-- [end:gradients]
