"""The two networks of the guide."""

import torch
from torch import nn


# --8<-- [start:mlp]
class MLP(nn.Module):
    """The lesson's network: 4 inputs, 10 hidden units, 3 classes; 83 parameters."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 10)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(10, 3)

    def forward(self, x):
        return self.fc2(self.relu(self.fc1(x)))
# --8<-- [end:mlp]


class WideMLP(nn.Module):
    """The network that gives a GPU something to do: 64 inputs, two hidden layers of ``width``, 10 classes."""

    def __init__(self, width: int = 1024):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(64, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 10),
        )

    def forward(self, x):
        return self.layers(x)


# --8<-- [start:make_model]
def make_model(device: torch.device | str = "cpu", seed: int = 42, kind: type[nn.Module] = MLP) -> nn.Module:
    """Make the model on the CPU, then move it.

    Each kind of device has a random generator of its own, so the same seed gives other numbers on a GPU. Made on the
    CPU, the model starts from the same weights wherever it goes.
    """
    torch.manual_seed(seed)
    return kind().to(device)
# --8<-- [end:make_model]
