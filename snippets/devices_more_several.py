"""List the CUDA devices of this machine by number, name and memory."""

import torch

# --8<-- [start:list]
print("CUDA devices:", torch.cuda.device_count())
for index in range(torch.cuda.device_count()):
    properties = torch.cuda.get_device_properties(index)
    memory = properties.total_memory / 2**30
    print(f"cuda:{index}  {properties.name}  {memory:.1f} GiB")
# --8<-- [end:list]
