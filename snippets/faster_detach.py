"""Count what a list of losses keeps alive: with append(loss), with a running total, and with detach."""

# --8<-- [start:nodes]
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(42)
X, y = torch.rand(120, 4), torch.randint(3, (120,))
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train_step():
    loss = criterion(model(X), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def graph_nodes(tensors):
    """How many records of past operations can be reached from these tensors, and so cannot be freed."""
    reached, waiting = set(), [tensor.grad_fn for tensor in tensors]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in reached:
            reached.add(node)
            waiting.extend(parent for parent, _ in node.next_functions)
    return len(reached)
# --8<-- [end:nodes]


# --8<-- [start:keep]
for steps in (10, 100):
    kept = [train_step() for step in range(steps)]
    print(f"{steps:3} steps: append(loss) keeps {graph_nodes(kept)} nodes")

    total = torch.zeros(())
    for step in range(steps):
        total = total + train_step()
    print(f"{steps:3} steps: total + loss keeps {graph_nodes([total])} nodes")

    kept = [train_step().detach() for step in range(steps)]
    print(f"{steps:3} steps: append(loss.detach()) keeps {graph_nodes(kept)} nodes")
# --8<-- [end:keep]
