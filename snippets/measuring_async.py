"""Stop the clock with and without waiting for the device. On a CPU both agree; on an accelerator they do not."""

# --8<-- [start:wrong]
import time

import torch

device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
a = torch.rand(2000, 2000, device=device)
a @ a  # warm-up

start = time.perf_counter()
b = a @ a
wrong = time.perf_counter() - start
# --8<-- [end:wrong]


# --8<-- [start:right]
def synchronize():
    """Wait until the device has done everything that was queued. The CPU has no queue."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


synchronize()  # nothing is left from before
start = time.perf_counter()
b = a @ a
synchronize()  # the product is there
right = time.perf_counter() - start

print(f"{device}: {wrong * 1e3:.3f} ms with the clock stopped at once, {right * 1e3:.3f} ms after synchronize")
# --8<-- [end:right]

# --8<-- [start:blame]
b[0, 0].item()  # warm-up

b = a @ a
start = time.perf_counter()
b[0, 0].item()
after_product = time.perf_counter() - start

start = time.perf_counter()
b[0, 0].item()
alone = time.perf_counter() - start

print(f"reading a number: {after_product * 1e3:.3f} ms behind a product, {alone * 1e3:.3f} ms on its own")
# --8<-- [end:blame]
