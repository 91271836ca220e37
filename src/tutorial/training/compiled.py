"""Loops that `torch.compile` takes part in, from the naive to the extreme. The signature is that of `loops.py`.

The first call of each compiles, which takes seconds to minutes. What is compiled stays for as long as the process lives.
"""

import functools

import torch
from torch._higher_order_ops.while_loop import while_loop  # a prototype feature: its name and place may change
from torch.func import functional_call, grad_and_value
from torch.nn import functional as F

from tutorial.training.loops import LEARNING_RATE, read_every_step


@functools.cache
def compile_whole(function, device_type):
    """Compile a function into one graph, or raise. On the CPU, what calls its kernels is compiled too (C++, not Python)."""
    return torch.compile(function, fullgraph=True, options={"cpp_wrapper": device_type == "cpu"})


# --8<-- [start:compiled_model]
compile_once = functools.lru_cache(torch.compile)  # the same model again gets the same compiled one


def compiled_model(model, X, y, steps):
    """The lesson's loop, but the model is compiled, and the rest of the step is not."""
    return read_every_step(compile_once(model), X, y, steps)
# --8<-- [end:compiled_model]


# --8<-- [start:compiled_loss]
@torch.compile
def loss_of(model, X, y):
    return F.cross_entropy(model(X), y)


def compiled_loss(model, X, y, steps):
    """The model and the loss compiled together; the backward pass comes from the same compilation."""
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for step in range(steps):
        loss = loss_of(model, X, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
# --8<-- [end:compiled_loss]


# --8<-- [start:whole_step]
def one_step(parameters, model, X, y):
    """From parameters (by name) to the parameters after one step, and the loss before it; nothing is changed in place."""

    def loss_with(parameters):
        return F.cross_entropy(functional_call(model, parameters, (X,)), y)

    gradients, loss = grad_and_value(loss_with)(parameters)
    return {name: parameters[name] - LEARNING_RATE * gradients[name] for name in parameters}, loss


def whole_step(model, X, y, steps):
    """Forward, loss, backward and update compiled as one function of the parameters."""
    step_once = compile_whole(one_step, X.device.type)
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
    losses = []
    for step in range(steps):
        parameters, loss = step_once(parameters, model, X, y)
        losses.append(loss)
    model.load_state_dict(parameters)
    return torch.stack(losses).tolist() if losses else []
# --8<-- [end:whole_step]


# --8<-- [start:many_steps]
CALL = 1000  # steps in one call, at most


def loss_of_columns(parameters, columns, one_hot):
    """The lesson's loss, with the rows of the table side by side: ``columns`` (4, rows), ``one_hot`` (3, rows).

    Products are written out as multiply and sum. The compiler turns them into loops of its own and merges these with
    what stands around them; a matrix product it would leave to a library, whose call costs more than such small work.
    """
    W1, b1, W2, b2 = parameters
    hidden = F.relu((W1[:, :, None] * columns).sum(dim=1) + b1[:, None])
    output = (W2[:, :, None] * hidden).sum(dim=1) + b2[:, None]
    return -(output.log_softmax(dim=0) * one_hot).sum() / columns.shape[1]


def up_to_a_call(parameters, columns, one_hot, steps):
    """Train for ``steps`` steps, a tensor, in one loop that is compiled too. Returns their losses and the parameters."""
    places = torch.arange(CALL, device=columns.device)

    def unfinished(step, losses, *parameters):
        return step < steps

    def train_once(step, losses, *parameters):
        gradients, loss = grad_and_value(loss_of_columns)(parameters, columns, one_hot)
        losses = torch.where(places == step, loss, losses)
        return step + 1, losses, *(old - LEARNING_RATE * change for old, change in zip(parameters, gradients))

    start = (torch.zeros_like(steps), columns.new_zeros(CALL), *parameters)
    _, losses, *parameters = while_loop(unfinished, train_once, start)
    return losses, parameters


def many_steps(model, X, y, steps):
    """A thousand steps in one compiled call: how far can it go?"""
    call = compile_whole(up_to_a_call, X.device.type)
    columns = X.T.contiguous()
    one_hot = F.one_hot(y, 3).T.to(X.dtype).contiguous()
    parameters = [parameter.detach() for parameter in model.parameters()]
    losses = []
    for start in range(0, steps, CALL):
        count = min(CALL, steps - start)
        read, trained = call(parameters, columns, one_hot, torch.tensor(count, device=X.device))
        losses += read[:count].tolist()
        torch._foreach_copy_(parameters, trained)
    return losses
# --8<-- [end:many_steps]
