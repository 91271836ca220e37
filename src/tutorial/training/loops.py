"""Ways to write the training loop: one short function a strategy, all with one signature.

Each takes the model, the features ``(rows, columns)``, the class numbers ``(rows,)`` and the number of steps; trains in
place by full-batch SGD with a learning rate of 0.01; and returns the losses it read, as Python numbers, in the order
of the steps. All of them do the same training: from the same start they end with the same weights.
"""

import torch
from torch import nn

LEARNING_RATE = 0.01
LESSON_STEPS = 20_000


# --8<-- [start:read_every_step]
def read_every_step(model, X, y, steps):
    """The lesson's loop: read the loss at every step."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for step in range(steps):
        output = model(X)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
# --8<-- [end:read_every_step]


# --8<-- [start:read_every]
def read_every(model, X, y, steps, interval=100):
    """Read the loss at every ``interval``-th step."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for step in range(steps):
        output = model(X)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % interval == 0:
            losses.append(loss.item())
    return losses
# --8<-- [end:read_every]


# --8<-- [start:read_never]
def read_never(model, X, y, steps):
    """Do not read the loss at all."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    for step in range(steps):
        output = model(X)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return []
# --8<-- [end:read_never]


# --8<-- [start:keep_on_device]
def keep_on_device(model, X, y, steps):
    """Keep every loss on the device, and fetch them all once at the end."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for step in range(steps):
        output = model(X)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).tolist() if losses else []
# --8<-- [end:keep_on_device]


# --8<-- [start:minibatches]
def minibatches(model, X, y, steps, batch=512):
    """Train on the next ``batch`` rows at each step, starting over at the end of the table; read no loss."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    batches = list(zip(X.split(batch), y.split(batch)))
    for step in range(steps):
        X_batch, y_batch = batches[step % len(batches)]
        loss = criterion(model(X_batch), y_batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return []
# --8<-- [end:minibatches]
