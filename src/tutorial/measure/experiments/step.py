"""One step of the lesson's loop taken apart: what each phase costs, and whether the phases add up to the whole.

Only on the CPU, where a phase is over when its line is. On an accelerator the line that queues the work is not the work.
"""

import time

import numpy as np
import torch
from torch import nn

from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate, threads
from tutorial.training import data
from tutorial.training.loops import LEARNING_RATE, read_every_step
from tutorial.training.model import make_model


def measure(plan: Plan) -> list[Record]:
    """The whole step, the step with a clock between its phases, and its five matrix products alone."""
    if torch.device("cpu") not in plan.devices:
        return []
    split = data.iris()
    model, watched = make_model(), make_model()
    with threads(1):
        return rotate(
            "step",
            "cpu",
            [
                Case("lesson", lambda steps: read_every_step(model, split.X_train, split.y_train, steps)),
                Case("clock between phases", lambda steps: phases(watched, split.X_train, split.y_train, steps)),
                Case("matrix products", products(split.X_train)),
            ],
            rotations=60 if plan.quick else 300,
            seconds=3 if plan.quick else 40,
            progress=plan.progress,
        )


# --8<-- [start:phases]
def phases(model, X, y, steps):
    """The lesson's loop with a clock read between its phases; returns the seconds of each, summed over the steps."""
    clock = time.perf_counter
    seconds = dict.fromkeys(("forward", "loss", "zero_grad", "backward", "optimizer step", "item"), 0.0)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    for step in range(steps):
        started = clock()
        output = model(X)
        forward_done = clock()
        loss = criterion(output, y)
        loss_done = clock()
        optimizer.zero_grad()
        zeroed = clock()
        loss.backward()
        backward_done = clock()
        optimizer.step()
        updated = clock()
        loss.item()
        read = clock()
        seconds["forward"] += forward_done - started
        seconds["loss"] += loss_done - forward_done
        seconds["zero_grad"] += zeroed - loss_done
        seconds["backward"] += backward_done - zeroed
        seconds["optimizer step"] += updated - backward_done
        seconds["item"] += read - updated
    return seconds
# --8<-- [end:phases]


def products(X: torch.Tensor):
    """The five matrix products of a step, in NumPy and into arrays made beforehand: its arithmetic without a framework."""
    rng = np.random.default_rng(0)
    x = X.numpy()  # 120 x 4
    weight1, weight2 = rng.random((10, 4), np.float32), rng.random((3, 10), np.float32)
    hidden, output = np.empty((120, 10), np.float32), rng.random((120, 3), np.float32)
    hidden_gradient = np.empty((120, 10), np.float32)
    weight1_gradient, weight2_gradient = np.empty_like(weight1), np.empty_like(weight2)
    logits = np.empty_like(output)

    def run(steps: int) -> None:
        for _ in range(steps):
            np.matmul(x, weight1.T, out=hidden)
            np.matmul(hidden, weight2.T, out=logits)
            np.matmul(output.T, hidden, out=weight2_gradient)
            np.matmul(output, weight2, out=hidden_gradient)
            np.matmul(hidden_gradient.T, x, out=weight1_gradient)

    return run
