"""Feed mini-batches through pinned memory where that exists, and plainly where it does not."""

import torch
from torch.utils.data import DataLoader, TensorDataset

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

# --8<-- [start:loader]
def main():
    table = TensorDataset(torch.ones(1000, 64), torch.zeros(1000, dtype=torch.int64))
    pinned = device.type == "cuda"
    workers = 2 if pinned else 0
    loader = DataLoader(table, batch_size=128, shuffle=True, num_workers=workers, pin_memory=pinned)

    rows = torch.zeros((), device=device)
    for X, y in loader:
        X = X.to(device, non_blocking=pinned)
        y = y.to(device, non_blocking=pinned)
        rows += X[:, 0].sum()  # your training step
    print("rows seen:", rows.item())


if __name__ == "__main__":  # a worker may import this file, and must not start all over
    main()
# --8<-- [end:loader]
