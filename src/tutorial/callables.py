"""Objects that are called like functions, from a counter to a small ``Module``."""


# --8<-- [start:counter]
class Counter:
    """Counts how often it is called."""

    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1
        return self.count
# --8<-- [end:counter]


# --8<-- [start:adder]
class Adder:
    """Adds ``amount`` to the number that it is called with."""

    def __init__(self, amount):
        self.amount = amount

    def __call__(self, number):
        return number + self.amount
# --8<-- [end:adder]


# --8<-- [start:module]
class Module:
    """What ``torch.nn.Module`` does when it is called, and nothing else."""

    def __init__(self):
        self.forward_pre_hooks = []
        self.forward_hooks = []

    def __call__(self, *args):
        for hook in self.forward_pre_hooks:
            new_args = hook(self, args)
            if new_args is not None:
                args = new_args
        output = self.forward(*args)
        for hook in self.forward_hooks:
            new_output = hook(self, args, output)
            if new_output is not None:
                output = new_output
        return output

    def forward(self, *args):
        """Compute the output; every subclass writes its own."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def register_forward_pre_hook(self, hook):
        """Run ``hook(module, args)`` before each ``forward``."""
        self.forward_pre_hooks.append(hook)

    def register_forward_hook(self, hook):
        """Run ``hook(module, args, output)`` after each ``forward``."""
        self.forward_hooks.append(hook)
# --8<-- [end:module]
