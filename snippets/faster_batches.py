"""Train on iris with batches of 1, 12 and 120 rows: the time for an epoch, and the loss after 20 epochs."""

import time

import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from torch import nn

features, labels = load_iris(return_X_y=True)
X_train, _, y_train, _ = train_test_split(features, labels, test_size=0.2, random_state=42)
device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
torch.set_num_threads(1)
X = torch.tensor(MinMaxScaler().fit_transform(X_train), dtype=torch.float32).to(device)
y = torch.tensor(y_train, dtype=torch.int64).to(device)
criterion = nn.CrossEntropyLoss()


# --8<-- [start:batches]
def train(batch, epochs=20):
    torch.manual_seed(42)
    model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = list(zip(X.split(batch), y.split(batch)))
    for epoch in range(epochs):
        for X_batch, y_batch in batches:
            loss = criterion(model(X_batch), y_batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        return len(batches) * epochs, criterion(model(X), y).item()


train(batch=120)  # warm-up
for batch in (1, 12, 120):
    start = time.perf_counter()
    steps, loss = train(batch)
    seconds = time.perf_counter() - start  # reading the loss has waited for the device
    print(f"batch {batch:3}: {steps:4} steps, {seconds / 20 * 1e3:.1f} ms an epoch, loss {loss:.3f}")
# --8<-- [end:batches]
