"""Ask some classes of PyTorch, Python and NumPy whether they have a method `.to`."""

import numpy
import torch
from torch import nn

# --8<-- [start:ask]
classes = [
    torch.Tensor,
    nn.Parameter,
    nn.Module,
    nn.CrossEntropyLoss,
    nn.ModuleList,
    nn.utils.rnn.PackedSequence,
    torch.UntypedStorage,
    torch.optim.SGD,
    torch.optim.lr_scheduler.StepLR,
    torch.amp.GradScaler,
    torch.utils.data.Dataset,
    torch.utils.data.DataLoader,
    torch.distributions.Normal,
    torch.Generator,
    torch.Size,
    numpy.ndarray,
    list,
    dict,
    tuple,
]
for cls in classes:
    print(f"{cls.__name__:17}", "has .to" if hasattr(cls, "to") else "-")
# --8<-- [end:ask]
