"""Say on which device each tensor of a step lies."""

import torch
from torch import nn


# --8<-- [start:where]
def where(model, **tensors):
    """Print each device and what lies on it: the model's tensors, and `tensors`."""
    found = [*model.named_parameters(), *model.named_buffers(), *tensors.items()]
    for module in model.modules():
        found += vars(module).items()  # plain attributes
    places = {}
    for name, value in found:
        if isinstance(value, torch.Tensor):
            places.setdefault(str(value.device), []).append(name)
    for device, names in places.items():
        print(f"{device}: {', '.join(names)}")


model = nn.Linear(4, 3, device="meta")
X = torch.ones(2, 4, device="meta")
y = torch.tensor([0, 2])
where(model, X=X, y=y)
# --8<-- [end:where]
