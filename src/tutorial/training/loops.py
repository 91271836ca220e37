"""Ways to write the training loop: one short function a strategy, all with one signature.

Each takes the model, the features ``(rows, columns)``, the class numbers ``(rows,)`` and the number of steps; trains in
place by full-batch SGD with a learning rate of 0.01; and returns the losses it read, as Python numbers, in the order
of the steps. All but `minibatches` do the same training: from the same start they end with the same weights, to rounding.

Those from `functional` to `numpy_by_hand` are written for the lesson's network, `MLP`. `compiled.py` and `graphs.py` have more.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

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


# --8<-- [start:backward_on_calling_thread]
def backward_on_calling_thread(model, X, y, steps):
    """The lesson's loop, but autograd hands nothing over to the thread that it keeps for each accelerator."""
    with torch.autograd.set_multithreading_enabled(False):
        return read_every_step(model, X, y, steps)
# --8<-- [end:backward_on_calling_thread]


# --8<-- [start:optimizers]
def foreach_off(model, X, y, steps):
    """Update one parameter after the other, instead of letting SGD decide at every step how to group them."""
    return train(model, X, y, steps, torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, foreach=False))


def fused(model, X, y, steps):
    """Update all parameters in one operation."""
    return train(model, X, y, steps, torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, fused=True))


def train(model, X, y, steps, optimizer):
    """The lesson's loop with an optimizer of your own."""
    criterion = nn.CrossEntropyLoss()
    losses = []
    for step in range(steps):
        output = model(X)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
# --8<-- [end:optimizers]


# --8<-- [start:functional]
def functional(model, X, y, steps):
    """Call functions instead of modules, and take the gradients where you need them: nothing to zero, no optimizer."""
    parameters = list(model.parameters())
    W1, b1, W2, b2 = parameters
    losses = []
    for step in range(steps):
        hidden = F.relu(F.linear(X, W1, b1))
        loss = F.cross_entropy(F.linear(hidden, W2, b2), y)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            torch._foreach_add_(parameters, gradients, alpha=-LEARNING_RATE)
        losses.append(loss.detach())
    return torch.stack(losses).tolist() if losses else []
# --8<-- [end:functional]


# --8<-- [start:by_hand]
def by_hand(model, X, y, steps):
    """Write the gradients down: no autograd, and a gradient goes straight into the parameter that it changes."""
    W1, b1, W2, b2 = model.parameters()
    rows = len(X)
    one_hot = F.one_hot(y, 3).to(X.dtype)  # (rows, 3): 1 at the right class
    losses = []
    with torch.no_grad():
        for step in range(steps):
            hidden = torch.addmm(b1, X, W1.T).relu_()
            log_probabilities = torch.addmm(b2, hidden, W2.T).log_softmax(dim=1)
            losses.append(F.nll_loss(log_probabilities, y))

            output_gradient = log_probabilities.exp_().sub_(one_hot).div_(rows)
            hidden_gradient = (output_gradient @ W2).mul_(hidden > 0)
            W2.addmm_(output_gradient.T, hidden, alpha=-LEARNING_RATE)
            b2.sub_(output_gradient.sum(dim=0), alpha=LEARNING_RATE)
            W1.addmm_(hidden_gradient.T, X, alpha=-LEARNING_RATE)
            b1.sub_(hidden_gradient.sum(dim=0), alpha=LEARNING_RATE)
    return torch.stack(losses).tolist() if losses else []
# --8<-- [end:by_hand]


# --8<-- [start:by_hand_in_place]
@torch.inference_mode()
def by_hand_in_place(model, X, y, steps):
    """The same by hand with fewer operations: a column of ones carries the bias, and no step makes a new matrix."""
    rows, rate = len(X), LEARNING_RATE / len(X)
    layer1 = torch.cat([model.fc1.weight.T, model.fc1.bias[None]])  # (5, 10): the bias is the last row
    layer2 = torch.cat([model.fc2.weight.T, model.fc2.bias[None]])  # (11, 3)
    inputs = torch.cat([X, X.new_ones(rows, 1)], dim=1)
    hidden_and_one = X.new_ones(rows, 11)
    hidden = hidden_and_one[:, :10]
    log_probabilities, output_gradient, hidden_gradient = X.new_empty(rows, 3), X.new_empty(rows, 3), X.new_empty(rows, 10)
    one_hot = F.one_hot(y, 3).to(X.dtype)
    losses = []
    for step in range(steps):
        torch.mm(inputs, layer1, out=hidden).relu_()
        torch.mm(hidden_and_one, layer2, out=log_probabilities)
        torch.log_softmax(log_probabilities, dim=1, out=log_probabilities)
        losses.append(torch.dot(log_probabilities.view(-1), one_hot.view(-1)))

        torch.exp(log_probabilities, out=output_gradient).sub_(one_hot)  # of the sum over the rows; the rate takes the mean
        torch.mm(output_gradient, layer2[:10].T, out=hidden_gradient).mul_(hidden > 0)
        layer2.addmm_(hidden_and_one.T, output_gradient, alpha=-rate)
        layer1.addmm_(inputs.T, hidden_gradient, alpha=-rate)
    for layer, trained in ((model.fc1, layer1), (model.fc2, layer2)):
        layer.weight.copy_(trained[:-1].T)
        layer.bias.copy_(trained[-1])
    return (torch.stack(losses) / -rows).tolist() if losses else []
# --8<-- [end:by_hand_in_place]


# --8<-- [start:numpy_by_hand]
def numpy_by_hand(model, X, y, steps):
    """The same by hand without PyTorch; only on the CPU, where NumPy can use the memory of the tensors."""
    W1, b1, W2, b2 = (parameter.detach().numpy() for parameter in model.parameters())
    X, y, rows = X.numpy(), y.numpy(), np.arange(len(X))
    losses = []
    for step in range(steps):
        hidden = np.maximum(X @ W1.T + b1, 0)
        output = hidden @ W2.T + b2
        probabilities = np.exp(output - output.max(axis=1, keepdims=True))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        losses.append(float(-np.log(probabilities[rows, y]).mean()))

        probabilities[rows, y] -= 1  # now the gradient of the output, but for the mean
        output_gradient = probabilities / len(X)
        hidden_gradient = (output_gradient @ W2) * (hidden > 0)
        W2 -= LEARNING_RATE * (output_gradient.T @ hidden)
        b2 -= LEARNING_RATE * output_gradient.sum(axis=0)
        W1 -= LEARNING_RATE * (hidden_gradient.T @ X)
        b1 -= LEARNING_RATE * hidden_gradient.sum(axis=0)
    return losses
# --8<-- [end:numpy_by_hand]


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
