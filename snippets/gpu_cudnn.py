"""Decode the number that torch.backends.cudnn.version() returns."""

import torch


# --8<-- [start:decode]
def cudnn_version(number):
    """90100 is 9.1.0, but 8902 is 8.9.2: cuDNN 9 gave the major version a digit more room."""
    if number is None:
        return None
    major, rest = divmod(number, 10_000 if number >= 90_000 else 1_000)
    minor, patch = divmod(rest, 100)
    return f"{major}.{minor}.{patch}"
# --8<-- [end:decode]


# --8<-- [start:print]
for number in (7605, 8902, 90100, 91002, None):
    print(number, "->", cudnn_version(number))
print("here:", cudnn_version(torch.backends.cudnn.version()))
# --8<-- [end:print]
