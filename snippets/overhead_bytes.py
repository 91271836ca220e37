"""Add up the bytes that the lesson moves to the device, before and after its clock starts."""

# --8<-- [start:bytes]
import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from torch import nn

features, labels = load_iris(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(features, labels, test_size=0.2, random_state=42)

model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
copies = {
    "training data": [torch.tensor(X_train, dtype=torch.float32), torch.tensor(y_train, dtype=torch.int64)],
    "test data": [torch.tensor(X_test, dtype=torch.float32), torch.tensor(y_test, dtype=torch.int64)],
    "parameters": list(model.parameters()),
}

total = 0
for what, tensors in copies.items():
    size = sum(tensor.nbytes for tensor in tensors)
    total += size
    print(f"{what:14} {len(tensors)} copies {size:5,} bytes")
print(f"{'together':14} {sum(map(len, copies.values()))} copies {total:5,} bytes, before the clock starts")
# --8<-- [end:bytes]

# --8<-- [start:loss]
loss = nn.CrossEntropyLoss()(model(copies["training data"][0]), copies["training data"][1])
print(f"each loss.item() {loss.nbytes} bytes; all 20,000 of them {20_000 * loss.nbytes:,} bytes")
# --8<-- [end:loss]
