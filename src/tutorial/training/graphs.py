"""Loops that replay a CUDA graph: one step, or many, recorded once. The signature is that of `loops.py`.

A replay repeats the recorded work on the same memory, so the host has one launch to do and not one for each kernel.
"""

import functools

import torch
from torch import nn

from tutorial.training.loops import LEARNING_RATE

STEPS = 100  # in the graph of many


# --8<-- [start:capture]
@functools.lru_cache(maxsize=8)  # one recording for each model, as one compilation serves all calls
def capture(model, X, y, steps):
    """Record ``steps`` steps of training as one graph; the model keeps its parameters.

    Returns the graph and the tensor ``(steps,)`` that holds the loss of each of its steps after a replay. Raises
    RuntimeError where the device cannot record.
    """
    start = [parameter.detach().clone() for parameter in model.parameters()]
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses = torch.zeros(steps, device=X.device)

    def step_once(step):
        optimizer.zero_grad()  # in each recorded step, or the gradients of a replay add up
        loss = criterion(model(X), y)
        loss.backward()
        optimizer.step()
        losses[step] = loss.detach()

    with torch.cuda.device(X.device):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # warm up where the recording will be: what is made at the first use exists then
            for _ in range(3):
                step_once(0)
        torch.cuda.current_stream().wait_stream(side)
        optimizer.zero_grad()  # the graph's gradients must lie in the graph's own memory
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=side):
            for step in range(steps):
                step_once(step)

    with torch.no_grad():
        for parameter, value in zip(model.parameters(), start):
            parameter.copy_(value)  # the warm-up has trained; in place, since the graph knows this memory
    return graph, losses
# --8<-- [end:capture]


# --8<-- [start:replay]
def graph_of_one_step(model, X, y, steps):
    """Replay one recorded step again and again."""
    graph, losses = capture(model, X, y, 1)
    read = []
    for step in range(steps):
        graph.replay()
        read.append(losses.clone())  # the next replay writes over it
    return torch.cat(read).tolist() if read else []


def graph_of_many_steps(model, X, y, steps):
    """Replay a hundred recorded steps; raises ValueError where ``steps`` is not a multiple of a hundred."""
    if steps % STEPS:
        raise ValueError(f"{steps} steps are not whole graphs of {STEPS}")
    graph, losses = capture(model, X, y, STEPS)
    read = []
    for _ in range(steps // STEPS):
        graph.replay()
        read.append(losses.clone())
    return torch.cat(read).tolist() if read else []
# --8<-- [end:replay]
