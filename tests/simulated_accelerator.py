"""A simulated accelerator, so that the code for a device runs where there is none: the CPU computes, and everything is counted.

It registers PyTorch's device type for out-of-tree backends (PrivateUse1) under the name `simulated`, in pure Python. Its
tensors hold a CPU tensor and say that they live on `simulated:0`; every operation on them arrives at `perform`. So losses
are those of the CPU bit for bit, mixing devices fails as it does on a GPU, and `counts` holds what a program asked of the
device. `clock` adds up made-up times for a host that queues and a device that works; nothing of it is a measurement.

Registration holds for the whole process and cannot be undone: import this in a process of its own. The function that it
rests on is private to PyTorch; where it is missing, `AVAILABLE` is False and the import registers nothing.
"""

from collections import Counter

import torch
from torch.utils import backend_registration
from torch.utils._pytree import tree_iter, tree_map

NAME = "simulated"
AVAILABLE = hasattr(backend_registration, "_setup_privateuseone_for_python_backend")
VIEWS = set("alias as_strided detach expand permute select slice split squeeze t transpose unbind unsqueeze view _reshape_alias _unsafe_view".split())
ALLOCATIONS = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
READINGS = {"_local_scalar_dense", "equal", "nonzero"}  # the host needs the answer, so it waits
COPIES = {"_to_copy", "_copy_from", "_copy_from_and_resize", "copy_"}

counts: Counter[str] = Counter()
"""`calls` that the dispatcher made to the device, of which `views` and `allocations` compute nothing; `copies to device`,
`copies from device` and their bytes; `synchronizations`: how often the host had to wait."""


class Clock:
    """Two made-up clocks, in microseconds: how far the host is, and until when the device is busy."""

    QUEUE, WORK, COPY, BYTES_PER_US = 5.0, 2.0, 8.0, 12_000.0

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        self.host = self.device = 0.0

    def queue(self, work: float) -> None:
        """The host hands over something that keeps the device busy for ``work``."""
        self.host += self.QUEUE
        self.device = max(self.device, self.host) + work

    def wait(self) -> None:
        self.host = max(self.host, self.device)


clock = Clock()


def reset() -> None:
    """Forget what was counted and set the clocks to zero."""
    counts.clear()
    clock.reset()


def synchronize(device=None) -> None:
    counts["synchronizations"] += 1
    clock.wait()


class SimulatedTensor(torch.Tensor):
    """A tensor on the device; ``held`` is the CPU tensor with its numbers."""

    @staticmethod
    def __new__(cls, held):
        about = dict(strides=held.stride(), storage_offset=held.storage_offset(), dtype=held.dtype, device=torch.device(NAME, 0))
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, **about)

    def __init__(self, held):
        self.held = held

    def __repr__(self):
        return f"tensor({self.held.tolist()}, device='{self.device}')"

    def __deepcopy__(self, memo):
        return SimulatedTensor(self.held.detach().clone()).requires_grad_(self.requires_grad)

    def numpy(self, *args, **kwargs):
        raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")

    def __array__(self, *args, **kwargs):
        return self.numpy()

    def tolist(self):
        return self.cpu().tolist()

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return perform(operation, args, kwargs or {})


def held(value):
    return value.held if isinstance(value, SimulatedTensor) else value


def perform(operation, args, kwargs):
    """One operation with the device's tensors, or one that makes some: count it, and let the CPU compute it."""
    name = operation._schema.name.removeprefix("aten::")
    tensors = [value for value in tree_iter((args, kwargs)) if isinstance(value, torch.Tensor)]
    counts["calls"] += 1
    if name in COPIES:
        return copy(name, args, kwargs)
    refuse_two_devices(name, args, tensors)
    if name in READINGS:
        synchronize()
    if name == "_local_scalar_dense":
        moved("from device", args[0].held, waits=True)
        return args[0].held.item()

    options = tree_map(held, kwargs)
    wanted = options.get("device")
    if wanted is not None:
        options["device"] = torch.device("cpu")
        options.pop("pin_memory", None)
    result = operation(*tree_map(held, args), **options)
    if name in VIEWS:
        counts["views"] += 1
    elif name in ALLOCATIONS:
        counts["allocations"] += 1
    else:
        clock.queue(Clock.WORK)
    if wanted is not None and torch.device(wanted).type == "cpu":
        return result
    same = {id(tensor.held): tensor for tensor in tensors if isinstance(tensor, SimulatedTensor)}

    def placed(value):
        if not isinstance(value, torch.Tensor):
            return value
        return same[id(value)] if id(value) in same else SimulatedTensor(value)  # in place: the same object comes back

    return tree_map(placed, result)


def refuse_two_devices(name, args, tensors) -> None:
    """Raise as a GPU does where tensors of the device meet others; a single number may come from the CPU."""
    here = [tensor for tensor in tensors if isinstance(tensor, SimulatedTensor)]
    if name in ("index", "index_put", "index_put_"):
        if not isinstance(args[0], SimulatedTensor):
            raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")
    elif here and any(tensor.dim() > 0 for tensor in tensors if tensor.device.type != NAME):
        first, second = (here[0].device, "cpu") if isinstance(tensors[0], SimulatedTensor) else ("cpu", here[0].device)
        raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!")


def copy(name, args, kwargs):
    """A copy to the device, from it, or on it. Unless it is `non_blocking`, the host waits for one that leaves or arrives."""
    if name == "_to_copy":
        source, target_device = args[0], torch.device(kwargs.get("device") or args[0].device)
        numbers = held(source).detach().to(kwargs.get("dtype") or source.dtype, copy=True)
        result = SimulatedTensor(numbers) if target_device.type == NAME else numbers
        waits = not kwargs.get("non_blocking", False)
    else:
        result, source = args[:2] if name == "copy_" else (args[1], args[0])
        held(result).copy_(held(source))
        numbers = held(result)
        waits = not (args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
    if source.device.type == result.device.type:
        clock.queue(Clock.WORK)
    else:
        moved("to device" if result.device.type == NAME else "from device", numbers, waits)
        counts["synchronizations"] += waits
    return result


def moved(direction: str, numbers: torch.Tensor, waits: bool) -> None:
    counts[f"copies {direction}"] += 1
    counts[f"bytes {direction}"] += numbers.nbytes
    clock.queue(Clock.COPY + numbers.nbytes / Clock.BYTES_PER_US)
    if waits:
        clock.wait()


class DeviceModule:
    """What PyTorch finds as `torch.simulated`."""

    synchronize = staticmethod(synchronize)

    def is_available(self):
        return True

    is_initialized = is_available

    def device_count(self):
        return 1

    def current_device(self):
        return 0

    def set_device(self, device):
        pass

    def get_device_name(self, device=0):
        return "Simulated accelerator"

    def _is_in_bad_fork(self):
        return False

    def manual_seed_all(self, seed):
        pass

    manual_seed = manual_seed_all

    def get_amp_supported_dtype(self):
        return [torch.float16, torch.bfloat16]


def register() -> None:
    """Make `simulated` a device type of this process, and mend the calls that PyTorch does not send to a Python backend."""

    class Guard(torch._C._acc.DeviceGuard):
        def type_(self):
            return torch._C._autograd.DeviceType.PrivateUse1

    class Hooks(torch._C._acc.PrivateUse1Hooks):
        def is_available(self):
            return True

        is_built = is_available

        def has_primary_context(self, index):
            return True

    backend_registration._setup_privateuseone_for_python_backend(NAME, backend_module=DeviceModule(), hook=Hooks(), device_guard=Guard())
    library.fallback(lambda operation, *args, **kwargs: perform(operation, args, kwargs), "PrivateUse1")
    torch.__future__.set_swap_module_params_on_conversion(True)  # `Module.to` keeps its parameters, as on CUDA

    synchronize_real, tensor_real = torch.accelerator.synchronize, torch.tensor

    def accelerator_synchronize(device=None, /):
        return synchronize(device) if device is None or torch.device(device).type == NAME else synchronize_real(device)

    def tensor(data, *args, device=None, **kwargs):
        made = tensor_real(data, *args, **kwargs)
        return made if device is None or torch.device(device).type == "cpu" else made.to(device)

    torch.accelerator.synchronize, torch.tensor = accelerator_synchronize, tensor


if AVAILABLE:
    library = torch.library.Library("_", "IMPL")  # it unregisters when it is collected, so the module keeps it
    register()


class Event:
    """Stands for `torch.Event`, which a device in Python cannot give: that of a device which is busy until it is waited for."""

    def __init__(self, device):
        assert device.type == NAME

    def record(self):
        self.done = False

    def query(self):
        return self.done

    def synchronize(self):
        self.done = True
