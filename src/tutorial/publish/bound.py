"""What holds the lesson's loop up on a device: the model W = max(H, G) + drain x waits, held against what was measured."""

from dataclasses import dataclass
from typing import Literal

from tutorial.measure.results import Measured, Record
from tutorial.measure.timing import Ratio, ratio
from tutorial.publish.comparison import ADDS_UP, FLAT, median

LAUNCHES = 0.5  # more of H than this is "most of it"

Word = Literal["host", "launch", "latency", "throughput", "open"]


@dataclass
class Prediction:
    """One loop: seconds a step by the model and by the clock."""

    loop: str
    waits: float
    """How often a step waits for the device."""
    predicted: float
    measured: float

    @property
    def share(self) -> float:
        """The predicted time as a share of the measured one."""
        return self.predicted / self.measured

    @property
    def explains(self) -> bool:
        return abs(self.share - 1) <= ADDS_UP


@dataclass
class Bound:
    """The verdict on one device, with the figures that decided; times in seconds a step."""

    device: str
    wall: float
    host: float
    device_time: float
    """G as in the loop: each kernel launched for itself."""
    busy: float
    """The share of a step's time for which the device calculates: G without what it takes to begin each launch, to W."""
    drain: float | None
    """What one wait adds; None where it was not measured, and then only the loop without readings is explained."""
    predictions: list[Prediction]
    host_against_device: Ratio
    growth: Ratio | None
    """G with ten times the rows against G; None where that was not measured."""
    launch_share: Ratio | None
    """The launch calls' share of H; None where the launches were not counted or one was not timed."""

    @property
    def explained(self) -> bool:
        """Whether the model comes within 20 % of every loop that it is asked about."""
        return all(prediction.explains for prediction in self.predictions)

    @property
    def word(self) -> Word:
        """`host`: host-bound; `launch`: host-bound, and most of H is launch calls; `latency`, `throughput`: the device.

        `open` where the model does not explain the loop, where the waiting is longer than both H and G, and where the
        intervals cannot tell H from G or whether G has grown.
        """
        if not self.explained or (self.drain or 0) > max(self.host, self.device_time):
            return "open"
        if self.host_against_device.low > 1:
            return "launch" if self.launch_share and self.launch_share.low > LAUNCHES else "host"
        if self.host_against_device.high < 1 and self.growth is not None:
            if self.growth.high <= 1 + FLAT:  # ten times the rows in no more time: the device was not full
                return "latency"
            if self.growth.low > 1 + FLAT:
                return "throughput"
        return "open"


def bound(results: Measured, device: str) -> Bound | None:
    """The verdict for one device; None where W, H or G were not measured there."""
    records = {r.case: r for r in results.select("bound", f"on {device}") if r.role in ("base", "case") and r.samples}
    if not {"lesson", "never", "host", "device, launched"} <= records.keys():
        return None
    launched = records["device, launched"]
    host, device_time = median(records["host"]), median(launched)
    drain = median(records["synchronize"]) if "synchronize" in records else None
    # A block ends with a wait, so the loop that never reads waits once a block.
    predictions = [predict(records["never"], 1 / records["never"].parameters["block"], host, device_time, drain or 0)]
    if drain is not None:
        predictions.append(predict(records["lesson"], 1.0, host, device_time, drain))
    return Bound(
        device=device,
        wall=median(records["lesson"]),
        host=host,
        device_time=device_time,
        busy=median(records.get("device", launched)) / median(records["lesson"]),  # from a graph, where there are graphs
        drain=drain,
        predictions=predictions,
        host_against_device=ratio(records["host"].samples, launched.samples),
        growth=growth(results, device),
        launch_share=launch_share(results, device),
    )


def growth(results: Measured, device: str) -> Ratio | None:
    """G with ten times the rows against G, both from a graph or both launch by launch; None where one was not measured."""
    records = {r.case: r for r in results.select("bound", f"on {device}") if r.samples}
    more = records.get("device, batch 1200")
    base = records.get("device" if more and more.parameters["graph"] else "device, launched")
    return ratio(more.samples, base.samples) if more and base else None


def predict(record: Record, waits: float, host: float, device_time: float, drain: float) -> Prediction:
    return Prediction(record.case, waits, max(host, device_time) + drain * waits, median(record))


def launch_share(results: Measured, device: str) -> Ratio | None:
    """Launches of a step, each as long as one alone, as a share of H; None where one of the three was not measured."""
    timed = {r.case: r for r in results.select("bound", f"on {device}") if r.samples}
    counted = [r for r in results.select("step", f"counts on {device}") if r.case == "launches" and r.samples]
    if not counted or not {"kernel launch", "host"} <= timed.keys():
        return None
    launches = median(counted[0])
    return Ratio(*(launches * value for value in ratio(timed["kernel launch"].samples, timed["host"].samples)))
