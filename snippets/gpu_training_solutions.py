"""Solutions to the exercises of the chapter "Train on the GPU"."""

import time

import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 10)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(10, 3)

    def forward(self, x):
        return self.fc2(self.relu(self.fc1(x)))


device = torch.accelerator.current_accelerator(check_available=True)
device = device or torch.device("cpu")

# --8<-- [start:one]
def kinds_of_device(model, *tensors):
    held = [*model.parameters(), *model.buffers(), *tensors]
    return {tensor.device.type for tensor in held}


model = MLP().to(device)
X, y = torch.rand(120, 4), torch.zeros(120, dtype=torch.int64)

kinds = kinds_of_device(model, X.to(device), y.to(device))
print("all in one place:", kinds == {device.type})
# --8<-- [end:one]

# --8<-- [start:two]
X_train, X_test = torch.zeros(120, 4), torch.zeros(30, 4)
y_train = torch.zeros(120, dtype=torch.int64)
y_test = torch.zeros(30, dtype=torch.int64)

travelers = [X_train, y_train, X_test, y_test, *MLP().parameters()]
print(len(travelers), "tensors,", sum(tensor.nbytes for tensor in travelers), "bytes")
# --8<-- [end:two]


# --8<-- [start:three]
def step_time(device, width, steps=10, batch=512):
    model = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
    model.to(device)
    X = torch.rand(batch, 64, device=device)
    y = torch.zeros(batch, dtype=torch.int64, device=device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def train():
        for _ in range(steps):
            loss = criterion(model(X), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()  # waits until the device is done

    train()  # warm-up, not timed
    start = time.perf_counter()
    train()
    return (time.perf_counter() - start) / steps


for width in 16, 256, 4096:
    here = step_time(torch.device("cpu"), width) * 1000
    there = step_time(device, width) * 1000
    print(f"width {width:4}: CPU {here:.2f} ms, {device.type} {there:.2f} ms a step")
# --8<-- [end:three]
