"""Find out which expressions need the value of a tensor, by trying them on tensors that have none."""

# --8<-- [start:reads]
import torch

# A tensor on the "meta" device has a shape and a dtype, but no numbers: whatever needs a number must fail.
loss = torch.empty((), device="meta")
losses = torch.empty(5, device="meta")

expressions = {
    "loss.item()": lambda: loss.item(),
    "float(loss)": lambda: float(loss),
    "if loss < 0.1": lambda: bool(loss < 0.1),
    "min(loss, best)": lambda: min(loss, loss),
    "losses.tolist()": lambda: losses.tolist(),
    "losses.cpu()": lambda: losses.cpu(),
    "losses.nonzero()": lambda: losses.nonzero(),
    "losses[losses < 0.1]": lambda: losses[losses < 0.1],
    "loss < 0.1": lambda: loss < 0.1,
    "loss.detach()": lambda: loss.detach(),
    "total + loss": lambda: loss + loss,
    "torch.stack([loss, loss])": lambda: torch.stack([loss, loss]),
    "losses.min()": lambda: losses.min(),
}

for text, expression in expressions.items():
    try:
        expression()
    except (RuntimeError, NotImplementedError):
        print(f"{text:26} needs the value")
    else:
        print(f"{text:26} does not")
# --8<-- [end:reads]
