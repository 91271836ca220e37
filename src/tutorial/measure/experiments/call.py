"""What does `model(x)` cost beyond `model.forward(x)`? Host work only, so it is timed on the CPU."""

import torch
from torch import nn

from tutorial.measure.cases import BLOCK_STEPS
from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate, threads
from tutorial.training import data
from tutorial.training.loops import LEARNING_RATE, read_every_step
from tutorial.training.model import make_model


def measure(plan: Plan) -> list[Record]:
    """Seconds a call for a module that does nothing, with and without a hook; and seconds a step of the lesson."""
    x = torch.ones(1)
    plain, hooked = nn.Identity(), nn.Identity()
    hooked.register_forward_hook(lambda module, inputs, output: None)
    split = data.iris()
    called, forwarded = make_model(), make_model()
    with threads(1):
        calls = rotate(
            "call",
            "empty module",
            [
                Case("forward", repeat(plain.forward, x)),
                Case("call", repeat(plain, x)),
                Case("forward, one hook", repeat(hooked.forward, x)),
                Case("call, one hook", repeat(hooked, x)),
            ],
            rotations=60 if plan.quick else 300,
            seconds=1.5 if plan.quick else 20,
            block=0.005,
            progress=plan.part(0, 2),
        )
        steps = rotate(
            "call",
            "lesson's step",
            [
                Case("forward", lambda steps: forward_every_step(forwarded, split.X_train, split.y_train, steps), multiple=BLOCK_STEPS),
                Case("call", lambda steps: read_every_step(called, split.X_train, split.y_train, steps), multiple=BLOCK_STEPS),
            ],
            rotations=80 if plan.quick else 400,
            seconds=2 if plan.quick else 30,
            progress=plan.part(1, 2),
        )
    return calls + steps


def repeat(function, x):
    """A run that calls ``function(x)`` so many times."""

    def run(times: int) -> None:
        for _ in range(times):
            function(x)

    return run


def forward_every_step(model, X, y, steps):
    """The lesson's loop with `model.forward(X)` in place of `model(X)`."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for step in range(steps):
        output = model.forward(X)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
