"""Train the same network on the accelerator, where there is one: 20 000 epochs, the loss read at every one."""

# --8<-- [start:setup]
import time

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from torch import nn

torch.set_num_threads(1)  # the network is too small to share out

accelerator = torch.accelerator.current_accelerator(check_available=True)
device = accelerator or torch.device("cpu")
print("training on", accelerator or "the CPU: no accelerator found")
# --8<-- [end:setup]

# --8<-- [start:data]
features, labels = load_iris(return_X_y=True)
train_rows, test_rows, train_labels, test_labels = train_test_split(
    features, labels, test_size=0.2, random_state=42
)

scaler = MinMaxScaler().fit(train_rows)  # the test rows take no part in this
train_rows, test_rows = scaler.transform(train_rows), scaler.transform(test_rows)

X_train = torch.tensor(train_rows, dtype=torch.float32).to(device)
y_train = torch.tensor(train_labels, dtype=torch.int64).to(device)
X_test = torch.tensor(test_rows, dtype=torch.float32).to(device)
y_test = torch.tensor(test_labels, dtype=torch.int64).to(device)
# --8<-- [end:data]


# --8<-- [start:model]
class MLP(nn.Module):
    """4 inputs, 10 hidden units, 3 classes."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 10)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(10, 3)

    def forward(self, x):
        return self.fc2(self.relu(self.fc1(x)))


torch.manual_seed(42)
model = MLP().to(device)
# --8<-- [end:model]

# --8<-- [start:train]
EPOCHS = 20_000

criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
losses = []

start = time.perf_counter()
for epoch in range(1, EPOCHS + 1):
    output = model(X_train)
    loss = criterion(output, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if epoch % 100 == 0:
        print(f"epoch {epoch:5}  loss {losses[-1]:.3f}")
seconds = time.perf_counter() - start
# --8<-- [end:train]

# --8<-- [start:result]
with torch.no_grad():
    predicted = model(X_test).argmax(dim=1)
accuracy = (predicted == y_test).float().mean().item()

print(f"test accuracy {accuracy:.2f}")
print(f"training time {seconds:.2f} s")

plt.plot(losses)
plt.xlabel("epoch")
plt.ylabel("loss")
plt.savefig("loss.png")
# --8<-- [end:result]
