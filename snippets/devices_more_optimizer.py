"""An optimizer made before the model moves: what goes on working, and what does not."""

import torch
from torch import nn

# --8<-- [start:before]
model = nn.Linear(4, 3)
weight = model.weight
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # made first

model.to(torch.float64)  # moved afterwards
old = model.weight.detach().clone()
model(torch.ones(2, 4, dtype=torch.float64)).sum().backward()
optimizer.step()

print("the same parameter object:", model.weight is weight)
print("the step changed it:", not torch.equal(model.weight, old))
# --8<-- [end:before]

# --8<-- [start:state]
model = nn.Linear(4, 3)
optimizer = torch.optim.Adagrad(model.parameters())  # makes its state at once
model.to(torch.float64)

print("parameter:", model.weight.dtype)
print("its state:", optimizer.state[model.weight]["sum"].dtype)

optimizer.load_state_dict(optimizer.state_dict())
print("its state, loaded again:", optimizer.state[model.weight]["sum"].dtype)
# --8<-- [end:state]
