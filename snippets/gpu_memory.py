"""Count the bytes that training takes, for a model that fits anywhere and for one that does not."""

import torch
from torch import nn


# --8<-- [start:models]
def iris():
    """The lesson's network: 83 parameters."""
    return nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))


def giant():
    """Nine hidden layers of 8192 units: 0.5 billion parameters."""
    layers = [nn.Linear(64, 8192), nn.ReLU()]
    for _ in range(8):
        layers += [nn.Linear(8192, 8192), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(8192, 10))


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.01)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=0.001)
# --8<-- [end:models]


# --8<-- [start:count]
def count(make_model, make_optimizer, rows, columns):
    """Take one step on the meta device and add up the sizes of all that is alive."""
    with torch.device("meta"):
        model = make_model()
        X, y = torch.empty(rows, columns), torch.empty(rows, dtype=torch.int64)
    optimizer = make_optimizer(model.parameters())

    counted = {id(t.untyped_storage()) for t in [*model.parameters(), X, y]}
    kept = {}  # what the backward pass will need, each piece of memory once

    def note(tensor):
        storage = tensor.untyped_storage()
        if id(storage) not in counted:
            kept[id(storage)] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        loss = nn.CrossEntropyLoss()(model(X), y)
    loss.backward()
    optimizer.step()

    states = [tensor for state in optimizer.state.values() for tensor in state.values()]
    return {
        "weights": sum(p.nbytes for p in model.parameters()),
        "gradients": sum(p.grad.nbytes for p in model.parameters()),
        "optimizer state": sum(tensor.nbytes for tensor in states),
        "activations": sum(storage.nbytes() for storage in kept.values()),
        "batch": X.nbytes + y.nbytes,
    }
# --8<-- [end:count]


# --8<-- [start:table]
def readable(size):
    """5000 -> '5000 B', 5000000 -> '4.77 MiB'."""
    if size < 10_000:
        return f"{size} B"
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024:
            break
    return f"{size:.2f} {unit}"


for title, model, optimizer, rows, columns in [
    ("iris, SGD, 120 rows", iris, sgd, 120, 4),
    ("giant, SGD, 1024 rows", giant, sgd, 1024, 64),
    ("giant, Adam, 1024 rows", giant, adam, 1024, 64),
]:
    sizes = count(model, optimizer, rows, columns)
    print(title)
    for what, size in sizes.items():
        print(f"  {what:<16}{readable(size):>12}")
    print(f"  {'sum':<16}{readable(sum(sizes.values())):>12}")
# --8<-- [end:table]
