"""The two tables that the guide trains on. Both ship with scikit-learn; nothing is downloaded."""

from typing import NamedTuple

import torch
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler


class Split(NamedTuple):
    """Features ``(rows, columns)`` float32 and class numbers ``(rows,)`` int64, for training and for the test."""

    X_train: torch.Tensor
    y_train: torch.Tensor
    X_test: torch.Tensor
    y_test: torch.Tensor

    def to(self, device: torch.device | str) -> "Split":
        """The same four tensors on ``device``: four copies, made once, before any clock starts."""
        return Split(*(tensor.to(device) for tensor in self))


# --8<-- [start:split]
def split_and_scale(features, labels) -> Split:
    """Keep 20 % of the rows for the test, and scale every column to 0..1 as the training rows are."""
    X_train, X_test, y_train, y_test = train_test_split(features, labels, test_size=0.2, random_state=42)

    scaler = MinMaxScaler().fit(X_train)  # the test rows must not take part in this

    return Split(
        torch.tensor(scaler.transform(X_train), dtype=torch.float32),
        torch.tensor(y_train, dtype=torch.int64),
        torch.tensor(scaler.transform(X_test), dtype=torch.float32),
        torch.tensor(y_test, dtype=torch.int64),
    )
# --8<-- [end:split]


def iris() -> Split:
    """The lesson's table: 120 rows of 4 columns to train on, 30 to test, 3 classes."""
    return split_and_scale(*load_iris(return_X_y=True))


def digits() -> Split:
    """The wide model's table: 1437 images of 8 x 8 pixels to train on, 360 to test, 10 classes."""
    return split_and_scale(*load_digits(return_X_y=True))
