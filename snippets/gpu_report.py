"""Say what PyTorch can use on this machine, and prove it with one addition. Runs with and without a GPU."""

import torch

# --8<-- [start:build]
print("PyTorch:         ", torch.__version__)
print("built for CUDA:  ", torch.version.cuda)
print("built for ROCm:  ", torch.version.hip)
print("cuDNN:           ", torch.backends.cudnn.version())
print("code for:        ", " ".join(torch.cuda.get_arch_list()) or "no CUDA device")
# --8<-- [end:build]

# --8<-- [start:devices]
print("CUDA available:  ", torch.cuda.is_available())
print("CUDA devices:    ", torch.cuda.device_count())
if torch.cuda.is_available():
    print("current:         ", torch.cuda.current_device())
    for index in range(torch.cuda.device_count()):
        card = torch.cuda.get_device_properties(index)
        free, total = torch.cuda.mem_get_info(index)
        print(f"cuda:{index}")
        print("  name:          ", card.name)
        print("  capability:    ", torch.cuda.get_device_capability(index))
        print("  multiprocessors", card.multi_processor_count)
        print(f"  memory:         {total / 2**30:.1f} GiB, {free / 2**30:.1f} GiB of it free")
print("MPS available:   ", torch.backends.mps.is_available())
# --8<-- [end:devices]

# --8<-- [start:proof]
device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
one = torch.ones(1, device=device)
print(f"1 + 1 on {device.type}:  {(one + one).item()}")
# --8<-- [end:proof]
