"""Solutions to the exercises of "Make it faster"."""

# --8<-- [start:one]
import math


def smallest_interval(every, never, percent=1):
    """The smallest interval at which reading makes the loop at most `percent` longer than never reading."""
    return max(1, math.ceil(100 * (every - never) / never / percent))


print(smallest_interval(every=26, never=20))
print(smallest_interval(every=26, never=20, percent=5))
# --8<-- [end:one]

# --8<-- [start:two]
import torch
from sklearn.datasets import load_iris
from sklearn.preprocessing import MinMaxScaler
from torch import nn

features, labels = load_iris(return_X_y=True)
torch.set_num_threads(1)
device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
X = torch.tensor(MinMaxScaler().fit_transform(features), dtype=torch.float32).to(device)
y = torch.tensor(labels, dtype=torch.int64).to(device)
criterion = nn.CrossEntropyLoss()


def losses_of_training(steps):
    torch.manual_seed(42)
    model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(1, steps + 1):
        loss = criterion(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield step, loss.detach()


total = torch.zeros((), device=device)
for step, loss in losses_of_training(300):
    total += loss  # on the device: nothing is read
    if step % 100 == 0:
        print(f"step {step}: mean of the last 100 losses {total.item() / 100:.3f}, last loss {loss.item():.3f}")
        total.zero_()
# --8<-- [end:two]


# --8<-- [start:three]
def losses_by_hand(steps, update_first):
    torch.manual_seed(42)
    model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3)).to(device)
    W1, b1, W2, b2 = (parameter.detach() for parameter in model.parameters())
    right = nn.functional.one_hot(y, 3)
    for step in range(steps):
        hidden = torch.relu(X @ W1.T + b1)
        log_shares = (hidden @ W2.T + b2).log_softmax(dim=1)
        yield nn.functional.nll_loss(log_shares, y).item()

        output_gradient = (log_shares.exp() - right) / len(X)
        back_through = W2 if update_first else W2.clone()  # the next line changes W2 in place
        W2 -= 0.01 * (output_gradient.T @ hidden)
        b2 -= 0.01 * output_gradient.sum(dim=0)
        hidden_gradient = (output_gradient @ back_through) * (hidden > 0)
        W1 -= 0.01 * (hidden_gradient.T @ X)
        b1 -= 0.01 * hidden_gradient.sum(dim=0)


expected = [loss.item() for step, loss in losses_of_training(200)]
for update_first in (False, True):
    losses = list(losses_by_hand(200, update_first))
    difference = max(abs(ours - theirs) for ours, theirs in zip(losses, expected))
    print(f"W2 first: {update_first}, last loss {losses[-1]:.3f}, differs by {difference:.1g}, passes: {difference <= 1e-4}")
# --8<-- [end:three]
