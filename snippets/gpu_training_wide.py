"""Train a wide network on mini-batches: on the CPU, and on the accelerator where there is one."""

# --8<-- [start:setup]
import time

import torch
from sklearn.datasets import load_digits
from torch import nn

STEPS = 20  # five times through the table
BATCH = 512
# --8<-- [end:setup]

# --8<-- [start:data]
images, labels = load_digits(return_X_y=True)
X = torch.tensor(images / 16, dtype=torch.float32)  # pixels from 0 to 1
y = torch.tensor(labels, dtype=torch.int64)
# --8<-- [end:data]


# --8<-- [start:model]
def make_model(width=1024):
    torch.manual_seed(42)
    return nn.Sequential(
        nn.Linear(64, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, 10),
    )
# --8<-- [end:model]


# --8<-- [start:train]
def train(model, batches, steps):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        X_batch, y_batch = batches[step % len(batches)]
        loss = criterion(model(X_batch), y_batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()  # waits for all the steps
# --8<-- [end:train]


# --8<-- [start:compare]
def report(device):
    batches = list(zip(X.to(device).split(BATCH), y.to(device).split(BATCH)))
    train(make_model().to(device), batches, steps=4)  # warm-up, not timed
    model = make_model().to(device)

    start = time.perf_counter()
    loss = train(model, batches, STEPS)
    milliseconds = (time.perf_counter() - start) / STEPS * 1000
    print(f"{device.type:5} loss {loss:.3f}  {milliseconds:.2f} ms a step")


report(torch.device("cpu"))

accelerator = torch.accelerator.current_accelerator(check_available=True)
if accelerator:
    report(accelerator)
else:
    print("no accelerator found: nothing to compare with")
# --8<-- [end:compare]
