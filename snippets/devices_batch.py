"""Move every tensor of a nested batch, whatever holds it."""

import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


# --8<-- [start:move]
def move(thing, device):
    """The same dicts, lists and plain tuples, with their tensors on `device`."""
    if hasattr(thing, "to"):
        return thing.to(device)
    if isinstance(thing, dict):
        return {key: move(value, device) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return type(thing)(move(item, device) for item in thing)
    return thing


batch = {"X": torch.ones(2, 4), "labels": [torch.zeros(2)], "file": "iris.csv"}
batch = move(batch, device)
print(batch["X"].device.type == device.type)
print(batch["labels"][0].device.type == device.type)
print(batch["file"])
# --8<-- [end:move]
