"""How wrong is a clock that does not wait? Large matrix products on each accelerator, with the clock stopped twice.

The same products are timed both ways: once when the last of them is in the queue, and once when it is done.
"""

import time

import torch

from tutorial.measure.experiments import Plan
from tutorial.measure.results import Record
from tutorial.measure.timing import Case, rotate, threads

SIZE = 2048  # rows and columns: large enough that one product takes much longer than to queue it
PRODUCTS = 10  # in a block: few enough that the queue does not fill, which would make the host wait after all


def measure(plan: Plan) -> list[Record]:
    """Seconds for one of ten products: the base waits for all of them, its part `not synchronized` for none."""
    records = []
    accelerators = [device for device in plan.devices if device.type != "cpu"]
    with threads(1):
        for number, device in enumerate(accelerators):
            records += rotate(
                "unsynchronized",
                f"unsynchronized on {device}",
                [Case("synchronized", products(device), device, parameters={"size": SIZE, "products": PRODUCTS}, multiple=PRODUCTS)],
                rotations=40 if plan.quick else 200,
                seconds=1 if plan.quick else 10,
                block=0.0,  # ten products, however long they take
                progress=plan.part(number, len(accelerators)),
            )
    return records


def products(device: torch.device):
    """A run that queues matrix products and tells how long that took; the block's own clock waits for them."""
    a = torch.ones(SIZE, SIZE, device=device)

    def run(times: int) -> dict[str, float]:
        start = time.perf_counter()
        for _ in range(times):
            a @ a
        return {"not synchronized": time.perf_counter() - start}

    return run
