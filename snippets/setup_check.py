"""Say in words what PyTorch finds on this machine, and prove it with one operation on the device."""

import torch


# --8<-- [start:has_code]
def has_code(capability, arch_list):
    """Has a PyTorch built for ``arch_list`` code for such a card?"""
    for arch in arch_list:
        kind, _, digits = arch.partition("_")
        if not digits.isdigit():  # sm_90a serves one chip only
            continue
        major, minor = divmod(int(digits), 10)  # sm_86: (8, 6)
        if kind == "sm" and capability[0] == major and capability[1] >= minor:
            return True
        if kind == "compute" and capability >= (major, minor):
            return True
    return False
# --8<-- [end:has_code]


# --8<-- [start:find]
# What this PyTorch is built for; None: for the CPU only.
built_for = torch.accelerator.current_accelerator()
# The same, but None as well without a driver or card that it can use.
usable = torch.accelerator.current_accelerator(check_available=True)
device = usable or torch.device("cpu")

print("PyTorch:", torch.__version__)
print("Built for:", built_for or "the CPU only")
print("Finds here:", usable or "no accelerator")
if device.type == "cuda" and torch.version.cuda:  # AMD cards are "cuda", too
    name = torch.cuda.get_device_name()
    capability = torch.cuda.get_device_capability()
    known = has_code(capability, torch.cuda.get_arch_list())
    print(f"Card: {name}, compute capability {capability[0]}.{capability[1]}")
    print("Code for this card in this PyTorch:", "yes" if known else "no")
# --8<-- [end:find]

# --8<-- [start:operate]
try:
    result = (torch.ones(1, device=device) + 1).item()
    print(f"One element: 1 + 1 = {result:g} on {device}")
except RuntimeError as error:
    result = None
    print("One element: failed.", str(error).splitlines()[0])
# --8<-- [end:operate]

# --8<-- [start:verdict]
if result != 2:
    print(f"Verdict: {device} is there, but this PyTorch cannot compute on it.")
elif usable:
    print(f"Verdict: it works. {device} computed, and the result came back.")
elif built_for:
    print(f"Verdict: only the CPU works. No driver or no card for {built_for}.")
else:
    print("Verdict: the CPU works. This PyTorch has no code for any GPU.")
# --8<-- [end:verdict]
