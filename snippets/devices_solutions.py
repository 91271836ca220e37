"""Solutions to the exercises of the page on moving tensors and models."""

import torch
from torch import nn

# --8<-- [start:one]
x = torch.ones(2)
layer = nn.Linear(2, 1)
batch = [torch.ones(2), torch.ones(2)]

x.to(torch.float64)      # the result is thrown away
layer.to(torch.float64)  # a module converts itself
for tensor in batch:
    tensor = tensor.to(torch.float64)  # binds the name `tensor`, not the list

assert x.dtype == torch.float32
assert layer.weight.dtype == torch.float64
assert batch[0].dtype == torch.float32

x = x.to(torch.float64)
batch = [tensor.to(torch.float64) for tensor in batch]
assert x.dtype == batch[0].dtype == torch.float64
# --8<-- [end:one]


# --8<-- [start:two]
class Repaired(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("noise_level", torch.tensor([0.1, 0.1, 0.1]))
        self.layers = nn.ModuleDict({"in": nn.Linear(4, 10), "out": nn.Linear(10, 3)})

    def forward(self, x):
        x = self.layers["out"](self.layers["in"](x))
        return x + self.noise_level * torch.randn_like(x)


repaired = Repaired().to("meta")
output = repaired(torch.ones(2, 4, device="meta"))
everything = [*repaired.parameters(), *repaired.buffers(), output]
assert {tensor.device.type for tensor in everything} == {"meta"}
assert len(list(repaired.parameters())) == 4
# --8<-- [end:two]

# --8<-- [start:three]
weight = torch.ones(3, requires_grad=True)
losses = [(weight * step).sum() for step in range(4)]

curve = torch.stack([loss.detach() for loss in losses]).cpu().numpy()
assert curve.tolist() == [0.0, 3.0, 6.0, 9.0]
# --8<-- [end:three]
