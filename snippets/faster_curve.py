"""Read the loss at every 100th step, and draw the curve against the steps at which it was read."""

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from torch import nn

torch.set_num_threads(1)
features, labels = load_iris(return_X_y=True)
X_train, _, y_train, _ = train_test_split(features, labels, test_size=0.2, random_state=42)
device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
X = torch.tensor(MinMaxScaler().fit_transform(X_train), dtype=torch.float32).to(device)
y = torch.tensor(y_train, dtype=torch.int64).to(device)

torch.manual_seed(42)
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

# --8<-- [start:curve]
interval = 100
steps, losses = [], []
for step in range(1, 2001):
    loss = criterion(model(X), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % interval == 0:
        steps.append(step)
        losses.append(loss.item())

plt.plot(steps, losses, marker=".")
plt.xlabel("step")
plt.ylabel("loss")
plt.savefig("loss_every_100.png")

print(f"{len(losses)} readings, from step {steps[0]} to step {steps[-1]}")
print(f"loss: first {losses[0]:.3f}, last {losses[-1]:.3f}")
# --8<-- [end:curve]
