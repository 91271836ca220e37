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
def first_step_seen_below(goal, interval):
    for step, loss in losses_of_training(2000):
        if step % interval == 0 and loss.item() < goal:
            return step


exact = first_step_seen_below(0.8, interval=1)
late = first_step_seen_below(0.8, interval=50)
print("both reached the goal:", None not in (exact, late))
print("fewer than 50 steps late:", 0 <= late - exact < 50)
# --8<-- [end:three]
