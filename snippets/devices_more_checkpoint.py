"""Save a training, and go on with it on whatever device the next machine has."""

import tempfile
from pathlib import Path

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


def train(model, optimizer, steps):
    X = torch.ones(8, 4, device=device)
    y = torch.zeros(8, dtype=torch.int64, device=device)
    for step in range(steps):
        loss = nn.functional.cross_entropy(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


path = Path(tempfile.mkdtemp()) / "checkpoint.pt"

# --8<-- [start:save]
torch.manual_seed(42)
model = nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
train(model, optimizer, steps=10)
checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
torch.save(checkpoint, path)
expected = train(model, optimizer, steps=10)
# --8<-- [end:save]

# --8<-- [start:load]
checkpoint = torch.load(path, map_location="cpu", weights_only=True)

model = nn.Linear(4, 3)
model.load_state_dict(checkpoint["model"])
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
optimizer.load_state_dict(checkpoint["optimizer"])

print("file:", checkpoint["model"]["weight"].device)
momentum = optimizer.state[model.weight]["momentum_buffer"]
print("momentum beside its weight:", momentum.device == model.weight.device)
loss = train(model, optimizer, steps=10)
print(f"difference in loss: {abs(loss - expected):.3f}")
# --8<-- [end:load]
path.unlink()
path.parent.rmdir()
