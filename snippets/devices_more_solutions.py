"""Solutions to the exercises of the page on the fine print of moving."""

import torch
from torch import nn

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

# --8<-- [start:one]
scale = torch.ones(3, device=device, requires_grad=True)      # made there, as a leaf
shift = torch.zeros(3).to(device).requires_grad_()            # moved first, then marked
optimizer = torch.optim.SGD([scale, shift], lr=0.1)

(scale * 2 + shift).sum().backward()
optimizer.step()
assert scale.is_leaf and shift.is_leaf
assert [round(value, 3) for value in scale.tolist()] == [0.8, 0.8, 0.8]
# --8<-- [end:one]

# --8<-- [start:two]
pixels = 512 * 3 * 224 * 224
link = 15.75e9  # bytes a second: PCIe 3.0 x16, one direction, in theory

as_float32 = pixels * 4
as_uint8 = pixels * 1
assert as_float32 == 308_281_344
assert as_float32 / link < 0.020     # seconds, at best, for each batch
assert as_uint8 * 4 == as_float32    # send uint8 ...

batch = torch.randint(0, 256, (2, 3, 8, 8), dtype=torch.uint8)
images = batch.to(device).float() / 255    # ... and convert on the device
assert images.dtype == torch.float32 and images.device.type == device.type
# --8<-- [end:two]


# --8<-- [start:three]
def state_devices(optimizer):
    """The devices of what an optimizer keeps, step counters left out."""
    return {
        value.device.type
        for state in optimizer.state.values()
        for name, value in state.items()
        if name != "step" and torch.is_tensor(value)
    }


model = nn.Linear(4, 3)
optimizer = torch.optim.Adagrad(model.parameters())
model.to(device)
optimizer.load_state_dict(optimizer.state_dict())
assert state_devices(optimizer) == {device.type}
# --8<-- [end:three]
