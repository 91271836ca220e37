"""Count what a step of each loop asks of the simulated accelerator; `python tests/simulated_counts.py` writes the file that
the guide shows as *simulated*. The tests compare that file with what is counted."""

import json
from functools import partial
from pathlib import Path

import simulated_accelerator as simulated
import torch

from tutorial.training import data, loops
from tutorial.training.model import make_model

FILE = Path(__file__).parents[1] / "src" / "tutorial" / "publish" / "simulated_counts.json"
STEPS = 100


def count_loops() -> dict:
    """For each loop: calls of the dispatcher, views among them, copies and waits, a step."""
    here = data.iris()
    there = here.to(simulated.NAME)

    def copying_loop(model, X, y, steps):
        for _ in range(steps):
            loops.read_never(model, here.X_train.to(simulated.NAME), here.y_train.to(simulated.NAME), 1)

    counted = {}
    for name, loop in (
        ("every 1", loops.read_every_step),
        ("every 10", partial(loops.read_every, interval=10)),
        ("never", loops.read_never),
        ("kept on the device", loops.keep_on_device),
        ("never, rows copied every step", copying_loop),
    ):
        model = make_model(simulated.NAME)
        simulated.reset()
        loop(model, there.X_train, there.y_train, STEPS)
        columns = ("calls", "views", "copies to device", "copies from device", "synchronizations")
        counted[name] = {column: simulated.counts[column] / STEPS for column in columns}
    return {"torch": torch.__version__.split("+")[0], "loops": counted}


if __name__ == "__main__":
    FILE.write_text(json.dumps(count_loops(), indent=1) + "\n", encoding="utf-8")
