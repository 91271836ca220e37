"""Move a model and its data once, train, and bring the results back."""

import torch
from torch import nn

# --8<-- [start:program]
device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

torch.manual_seed(42)
X = torch.rand(120, 4)
y = (X.sum(dim=1) > 2).long()
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 2))
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))

X, y = X.to(device), y.to(device)  # tensors: keep what comes back
model.to(device)                   # modules move themselves
criterion.to(device)               # the class weights are a buffer of the loss
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

losses = []
for step in range(200):
    loss = criterion(model(X), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())  # stays on the device

losses = torch.stack(losses).tolist()  # one transfer for all of them
with torch.no_grad():
    predictions = model(X).argmax(dim=1).cpu().numpy()

print(f"loss: {losses[0]:.3f} at first, {losses[-1]:.3f} at last")
print(type(predictions), predictions.shape)
# --8<-- [end:program]
