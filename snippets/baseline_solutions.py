"""Solutions to the exercises of the chapter "Train on the CPU"."""

import torch
from sklearn.datasets import load_iris
from sklearn.preprocessing import MinMaxScaler
from torch import nn

torch.set_num_threads(1)  # a small network, as in the chapter


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 10)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(10, 3)

    def forward(self, x):
        return self.fc2(self.relu(self.fc1(x)))


rows, labels = load_iris(return_X_y=True)
X_train = torch.tensor(MinMaxScaler().fit_transform(rows), dtype=torch.float32)  # all 150 rows: no test here
y_train = torch.tensor(labels, dtype=torch.int64)

# --8<-- [start:one]
model = MLP()

for name, parameter in model.named_parameters():
    print(f"{name:10} {tuple(parameter.shape)!s:8} {parameter.numel():3}")
print("together", sum(parameter.numel() for parameter in model.parameters()))
# --8<-- [end:one]


# --8<-- [start:two]
def first_losses(seed, epochs=200):
    torch.manual_seed(seed)
    model = MLP()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for epoch in range(epochs):
        loss = criterion(model(X_train), y_train)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


once, again, other = first_losses(42), first_losses(42), first_losses(43)
print("seed 42 twice, the same losses:", once == again)
print("seeds 42 and 43, the same losses:", once == other)
# --8<-- [end:two]

# --8<-- [start:three]
criterion = nn.CrossEntropyLoss()
kept = [criterion(model(X_train), y_train) for _ in range(3)]
print("appended as it is, with its history:", kept[-1].grad_fn is not None)

kept = [criterion(model(X_train), y_train).detach() for _ in range(3)]
print("detached, with its history:", kept[-1].grad_fn is not None)

kept = [criterion(model(X_train), y_train).item() for _ in range(3)]
print("read with item(), a plain", type(kept[-1]).__name__)
# --8<-- [end:three]
