"""Claims: what the chapters say about speed, each decided for each machine from that machine's own results.

A claim is a function from one machine's results and one of its devices to a finding: it *holds*, it *does not hold*,
the results *cannot tell*, or it was *not measured here*; with the figures that decided. Its texts (statement, what was
inside the clock, what against what, the sentence of the figures) are in `texts/<language>.toml`, section `[claim.<id>]`.

Times are compared within rotations (`timing.ratio`), and an interval decides. Across groups of rotations only ratios
to the same loop are compared: what the CPU's best is to the accelerator's goes over the lesson's loop on both, which
took turns in `training`.
"""

import itertools
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from tutorial.measure.experiments.size import LESSON_WIDTH
from tutorial.measure.experiments.step import PHASES
from tutorial.measure.experiments.training import LOSS_TOLERANCE
from tutorial.measure.results import Measured, Record
from tutorial.measure.timing import Ratio, ratio, verdict
from tutorial.publish.bound import LAUNCHES, Bound, bound, growth, launch_share
from tutorial.publish.comparison import ADDS_UP, FLAT, Machine, median, paid_after, sweeps
from tutorial.publish.words import byte_count, duration, percent, significant, whole

HOLDS, FAILS, UNDECIDED, NOT_MEASURED = VERDICTS = ("holds", "does not hold", "cannot tell", "not measured here")

NO_GAIN = 0.95  # a loop whose interval stays above this share of the base's time is not measurably faster
LESSON_ROWS = 120
FEWEST_PROCESSES = 3  # of which the spread says something
ENOUGH_MODELS = 10_000
STRATEGY = "strategies.cases"  # the section of the texts that has the names of the ways to write the loop


class Finding(NamedTuple):
    """What the results of one machine say to a claim."""

    verdict: str
    """One of VERDICTS."""
    n: int = 0
    """How many repeats decided: blocks of the smallest group, runs or processes."""
    figures: dict[str, str] = {}
    """The values of the claim's sentence, ready to be shown."""
    sentence: str = "figures"
    """The key of that sentence among the claim's texts."""
    named: dict[str, tuple[str, str]] = {}
    """Cases that the sentence names: the section of their texts, and what the results call them."""


class NotMeasured(Exception):
    """The results lack what a claim needs. The message is the reason that the case gave, or empty."""


class Claim(NamedTuple):
    """One statement about speed."""

    id: str
    chapter: str
    """Name of the page that makes the statement."""
    about: Literal["cpu", "accelerator", "each"]
    """Whether the CPU, every accelerator, or each of both is judged."""
    judge: Callable[[Measured, str], Finding]
    """From the results and the device, `cpu` or `cuda:0` and the like."""


def findings(claim: Claim, results: Measured) -> dict[str | None, Finding]:
    """What the results say to ``claim``, by device. Without any accelerator its key is None: not measured here."""
    devices: list[str | None] = ["cpu"] if claim.about in ("cpu", "each") else []
    if claim.about in ("accelerator", "each"):
        devices += [accelerator.device for accelerator in results.hardware.accelerators] or [None]
    return {device: finding(claim, results, device) for device in devices}


def finding(claim: Claim, results: Measured, device: str | None) -> Finding:
    if device is None:
        return Finding(NOT_MEASURED)
    try:
        return claim.judge(results, device)
    except NotMeasured as missing:
        return Finding(NOT_MEASURED, figures={"reason": str(missing)})


# ---- What the judges use ----


class Rotation:
    """The cases of one group, which were timed in the same rotations."""

    def __init__(self, results: Measured, experiment: str, group: str):
        self.records = results.select(experiment, group)
        if not self.records:
            raise NotMeasured()

    def record(self, case: str, device: str | None = None) -> Record:
        """The record of a case. Raises NotMeasured where it is missing or failed."""
        for record in self.records:
            if record.case == case and record.role != "twin" and device in (None, record.device):
                if record.failure:
                    raise NotMeasured(record.failure)
                return record
        raise NotMeasured()

    def role(self, role: str) -> Record:
        for record in self.records:
            if record.role == role:
                if record.failure:
                    raise NotMeasured(record.failure)
                return record
        raise NotMeasured()

    @property
    def base(self) -> Record:
        return self.role("base")

    def cases(self) -> list[Record]:
        """The cases that were timed, without the base."""
        return [record for record in self.records if record.role == "case" and record.samples]

    def word(self, record: Record, against: Record | None = None) -> str:
        """`faster`, `slower`, `same` or `cannot tell`."""
        twin = ratio(self.role("twin").samples, self.base.samples)
        return verdict(ratio(record.samples, (against or self.base).samples), twin)


def record_of(results: Measured, experiment: str, group: str, case: str, device: str) -> Record:
    """One record. Raises NotMeasured where it is missing or failed."""
    return Rotation(results, experiment, group).record(case, device)


def times(one: Ratio, other: Ratio) -> Ratio:
    """The product of two ratios. Their intervals are taken at their worst, so the product's is rather too wide."""
    return Ratio(one.median * other.median, one.low * other.low, one.high * other.high)


def over(one: Ratio, other: Ratio) -> Ratio:
    """The quotient of two ratios, with the interval at its worst."""
    return times(one, Ratio(1 / other.median, 1 / other.high, 1 / other.low))


def shown(value: Ratio) -> str:
    """A ratio with its interval: `3.71 [3.65, 3.77]`."""
    return f"{significant(value.median)} [{significant(value.low)}, {significant(value.high)}]"


def shown_share(value: Ratio) -> str:
    return f"{percent(value.median)} [{percent(value.low)}, {percent(value.high)}]"


def at_most(value: Ratio, limit: float) -> str:
    """HOLDS where the whole interval is below ``limit``, FAILS where it is above."""
    return HOLDS if value.high < limit else FAILS if value.low > limit else UNDECIDED


def at_least(value: Ratio, limit: float) -> str:
    return HOLDS if value.low > limit else FAILS if value.high < limit else UNDECIDED


def expected(word: str, wanted: Literal["faster", "slower"]) -> str:
    """The verdict of a claim that one case is ``wanted``: `same` and the opposite are a no."""
    return HOLDS if word == wanted else UNDECIDED if word == "cannot tell" else FAILS


def all_of(verdicts: list[str]) -> str:
    """The verdict of a claim that has several parts."""
    return FAILS if FAILS in verdicts else UNDECIDED if UNDECIDED in verdicts else HOLDS


def apart(low: float, high: float, limit: float) -> str:
    """HOLDS where the range of the samples lies above ``limit``: for a few samples that no rotation pairs."""
    return HOLDS if low > limit else FAILS if high < limit else UNDECIDED


# ---- The accelerator against the CPU ----


def race(results: Measured, device: str, experiment: str, case: str, wanted: Literal["faster", "slower"]) -> Finding:
    """The same loop on the CPU and on the accelerator, in turns."""
    rotation = Rotation(results, experiment, "step")
    cpu, accelerator = rotation.record(case, "cpu"), rotation.record(case, device)
    figures = dict(cpu=duration(median(cpu)), accelerator=duration(median(accelerator)), ratio=shown(ratio(accelerator.samples, cpu.samples)))
    return Finding(expected(rotation.word(accelerator, cpu), wanted), len(cpu.samples), figures)


def accelerator_loses(results: Measured, device: str) -> Finding:
    return race(results, device, "training", "lesson", "slower")


def wide_wins(results: Measured, device: str) -> Finding:
    return race(results, device, "wide", "wide network", "faster")


def same_loss(results: Measured, device: str) -> Finding:
    cpu, accelerator = (record_of(results, "training", "whole", "loss curve", name).samples[-1] for name in ("cpu", device))
    return Finding(HOLDS if abs(cpu - accelerator) <= LOSS_TOLERANCE else FAILS, 1, dict(cpu=f"{cpu:.4g}", accelerator=f"{accelerator:.4g}"))


def crossover(results: Measured, device: str) -> Finding:
    """The smallest step is slower on the accelerator, the largest faster; and where the change is, by the work of a step.

    Each batch of each width against the CPU's better time for the same: with one thread or with all cores.
    """
    cells = []  # (floating-point operations of a step, batch, width, verdict, ratio, repeats)
    for sweep in sweeps(Machine("", results)):
        records = sweep.best(device)
        for batch, (compared, word) in sweep.against_cpu(device).items():
            cells.append((records[batch].parameters["flop"], batch, sweep.width, word, compared, len(records[batch].samples)))
    if not cells:
        raise NotMeasured()
    cells.sort()
    n = min(cell[5] for cell in cells)
    decided = all_of([expected(cells[0][3], "slower"), expected(cells[-1][3], "faster")])
    if decided == HOLDS:
        flop, batch, width, _, compared, _ = next(cell for cell in cells if cell[3] == "faster")
        figures = dict(batch=whole(batch), width=str(width), flop=significant(flop, 2), ratio=shown(compared), largest_ratio=shown(cells[-1][4]))
        return Finding(HOLDS, n, figures)
    return Finding(decided, n, dict(smallest=shown(cells[0][4]), largest=shown(cells[-1][4])), "figures_none")


# ---- What a step is made of, on the CPU ----


def phases(results: Measured) -> tuple[Rotation, list[Record]]:
    rotation = Rotation(results, "step", "cpu")
    return rotation, [rotation.record(phase) for phase in PHASES]  # a sum without one of them would be too small


def phases_add_up(results: Measured, device: str) -> Finding:
    rotation, parts = phases(results)
    total = ratio(list(np.sum([part.samples for part in parts], axis=0)), rotation.base.samples)
    verdicts = [at_least(total, 1 - ADDS_UP), at_most(total, 1 + ADDS_UP)]
    return Finding(all_of(verdicts), len(rotation.base.samples), dict(share=shown_share(total), whole=duration(median(rotation.base))))


def arithmetic_is_small(results: Measured, device: str) -> Finding:
    rotation = Rotation(results, "step", "cpu")
    products = rotation.record("matrix products")
    share = ratio(products.samples, rotation.base.samples)
    return Finding(at_most(share, 0.1), len(products.samples), dict(products=duration(median(products)), whole=duration(median(rotation.base)), share=shown_share(share)))


def backward_is_largest(results: Measured, device: str) -> Finding:
    rotation, parts = phases(results)
    backward = rotation.record("backward")
    others = {part.case: ratio(part.samples, backward.samples) for part in parts if part.case != "backward"}
    closest = max(others, key=lambda case: others[case].median)
    share = ratio(backward.samples, rotation.base.samples)
    return Finding(at_most(others[closest], 1), len(backward.samples), dict(share=shown_share(share), ratio=shown(others[closest])), named=dict(closest=("step.phases", closest)))


def call_is_small(results: Measured, device: str) -> Finding:
    rotation = Rotation(results, "call", "lesson's step")
    compared = ratio(rotation.record("call").samples, rotation.record("forward").samples)
    return Finding(at_most(compared, 1.05), len(rotation.base.samples), dict(ratio=shown(compared)))


def one_thread(results: Measured, device: str) -> Finding:
    rotation = Rotation(results, "threads", "lesson")
    compared = {record.threads: ratio(record.samples, rotation.base.samples) for record in rotation.cases()}
    if not compared:
        raise NotMeasured()
    figures = dict(one=duration(median(rotation.base)), ratios="; ".join(f"{threads}: {shown(value)}" for threads, value in sorted(compared.items())))
    return Finding(no_gain(rotation, rotation.cases()), len(rotation.base.samples), figures)


def no_gain(rotation: Rotation, records: list[Record], against: Record | None = None) -> str:
    """The verdict of a claim that none of the cases is faster than the base, or than ``against``."""
    other = against or rotation.base
    if any(rotation.word(record, other) == "faster" for record in records):
        return FAILS
    return HOLDS if all(ratio(record.samples, other.samples).low > NO_GAIN for record in records) else UNDECIDED


# ---- Reading the loss ----


def never_against_every(results: Measured, device: str) -> tuple[Rotation, Ratio]:
    """What the readings cost: the share of the lesson's loop that goes with them."""
    rotation = Rotation(results, "logging", f"short blocks on {device}")
    left = ratio(rotation.record("never").samples, rotation.base.samples)
    return rotation, Ratio(1 - left.median, 1 - left.high, 1 - left.low)


def reading_costs_less_than(limit: float) -> Callable[[Measured, str], Finding]:
    def judge(results: Measured, device: str) -> Finding:
        rotation, cost = never_against_every(results, device)
        figures = dict(every=duration(median(rotation.base)), share=shown_share(cost))
        return Finding(at_most(cost, limit), len(rotation.base.samples), figures)

    return judge


def less_than_linear(results: Measured, device: str) -> Finding:
    """A tenth of the readings takes far more than a tenth of the time, and from some interval on nothing more is saved."""
    short = Rotation(results, "logging", f"short blocks on {device}")
    tenth = ratio(short.record("every 10").samples, short.base.samples)
    far_more = at_least(tenth, 0.2)
    from_on, quiet = quiet_interval(short)
    if from_on is None:
        try:
            from_on, quiet = quiet_interval(Rotation(results, "logging", f"whole loops on {device}"))
        except NotMeasured:  # profile quick: larger intervals might be quiet
            quiet = UNDECIDED
    never = ratio(short.record("never").samples, short.base.samples)
    figures = dict(tenth=shown(tenth), never=shown(never), interval=whole(from_on or 0))
    sentence = "figures_one" if from_on == 1 else "figures" if from_on else "figures_open" if quiet == UNDECIDED else "figures_none"
    return Finding(all_of([far_more, quiet]), len(short.base.samples), figures, sentence)


def quiet_interval(rotation: Rotation) -> tuple[int | None, str]:
    """The smallest interval from which on never reading brings no gain over reading that often; and the verdict on the largest."""
    never = rotation.record("never")
    every = {r.parameters["interval"]: r for r in [rotation.base, *rotation.cases()] if "interval" in r.parameters}
    verdicts = {interval: no_gain(rotation, [never], every[interval]) for interval in sorted(every, reverse=True)}
    quiet = list(itertools.takewhile(lambda interval: verdicts[interval] == HOLDS, verdicts))
    return (quiet[-1], HOLDS) if quiet else (None, next(iter(verdicts.values())))


def keeping_brings_nothing(results: Measured, device: str) -> Finding:
    rotation = Rotation(results, "logging", f"short blocks on {device}")
    kept = rotation.record("kept on the device")
    return Finding(no_gain(rotation, [kept]), len(kept.samples), dict(ratio=shown(ratio(kept.samples, rotation.base.samples))))


# ---- What holds the loop up on an accelerator ----


def host_bound(results: Measured, device: str) -> Finding:
    """The verdict of `bound.py`: an explanation first of all, so that "open" is no yes."""
    found, n = held_up(results, device)
    decided = {"host": HOLDS, "launch": HOLDS, "open": UNDECIDED}.get(found.word, FAILS)
    figures = dict(W=duration(found.wall), H=duration(found.host), G=duration(found.device_time), busy=percent(found.busy), ratio=shown(found.host_against_device))
    return Finding(decided, n, figures)


def held_up(results: Measured, device: str) -> tuple[Bound, int]:
    """What holds the lesson's loop up on a device, and the number of blocks."""
    host = record_of(results, "bound", f"on {device}", "host", device)
    found = bound(results, device)
    if found is None:
        raise NotMeasured()
    return found, len(host.samples)


def bound_adds_up(results: Measured, device: str) -> Finding:
    """The model W = max(H, G) + drain x waits, against W with and without the readings."""
    found, n = held_up(results, device)
    if found.drain is None:
        raise NotMeasured()
    shares = {prediction.loop: percent(prediction.share) for prediction in found.predictions}
    return Finding(HOLDS if found.explained else FAILS, n, dict(lesson=shares["lesson"], never=shares["never"]))


def launches_are_less_than_half(results: Measured, device: str) -> Finding:
    """The launches of a step, at what one costs past the dispatcher, against H."""
    launches = record_of(results, "step", f"counts on {device}", "launches", device)
    rotation = Rotation(results, "bound", f"on {device}")
    launch, host = rotation.record("kernel launch"), rotation.record("host")
    share = launch_share(results, device)
    figures = dict(launches=significant(median(launches)), launch=duration(median(launch)), H=duration(median(host)), share=shown_share(share))
    return Finding(at_most(share, LAUNCHES), len(host.samples), figures)


def rows_are_free(results: Measured, device: str) -> Finding:
    """G, the device's own time for a step, with ten times the rows."""
    rotation = Rotation(results, "bound", f"on {device}")
    ten = rotation.record("device, batch 1200")
    base = rotation.record("device" if ten.parameters["graph"] else "device, launched")
    compared = growth(results, device)
    return Finding(at_most(compared, 1 + FLAT), len(base.samples), dict(G=duration(median(base)), ten=duration(median(ten)), ratio=shown(compared)))


def flat(results: Measured, device: str) -> Finding:
    """W of the lesson's network: how many rows cost no more than the lesson's 120."""
    rotation = Rotation(results, "size", f"width {LESSON_WIDTH}")
    timed = [rotation.base, *rotation.cases()]
    rows = {r.parameters["batch"]: r for r in timed if r.device == device and r.parameters["batch"] >= LESSON_ROWS}
    if LESSON_ROWS not in rows or 10 * LESSON_ROWS not in rows:
        raise NotMeasured()
    floor = rows[LESSON_ROWS]
    compared = {batch: ratio(record.samples, floor.samples) for batch, record in sorted(rows.items())}
    within = list(itertools.takewhile(lambda batch: compared[batch].median <= 1 + FLAT, compared))
    largest = max(compared)
    figures = dict(until=whole(within[-1]), floor=duration(median(floor)), ten=shown(compared[10 * LESSON_ROWS]), largest=whole(largest), ratio=shown(compared[largest]))
    return Finding(at_most(compared[10 * LESSON_ROWS], 1 + FLAT), len(floor.samples), figures)


def transfer_is_small(results: Measured, device: str) -> Finding:
    """All tensors of the lesson, moved once, against the whole run. The first use of the device is not in it."""
    moved = record_of(results, "transfer", f"iris to {device}", "all iris tensors", device)
    whole = record_of(results, "training", "whole", "whole run", device).samples[0]
    figures = dict(moved=duration(median(moved)), whole=duration(whole), share=percent(median(moved) / whole))
    decided = apart(whole / max(moved.samples), whole / min(moved.samples), 100)
    try:
        context = record_of(results, "overheads", f"on {device}", "context creation", device)
    except NotMeasured:
        return Finding(decided, len(moved.samples), figures)
    return Finding(decided, len(moved.samples), figures | dict(context=duration(median(context))), "figures_context")


def hand_over_costs(results: Measured, device: str) -> Finding:
    rotation = Rotation(results, "strategies", f"on {device}")
    calling = rotation.record("backward on the calling thread")
    figures = dict(step=duration(median(rotation.base)), ratio=shown(ratio(calling.samples, rotation.base.samples)))
    word = rotation.word(calling)
    if word != "faster":
        return Finding(expected(word, "faster"), len(calling.samples), figures, "figures_none")
    saved = float(np.median(np.subtract(rotation.base.samples, calling.samples)))
    return Finding(HOLDS, len(calling.samples), figures | dict(saved=duration(saved)))


def pinning_does_not_pay(results: Measured, device: str) -> Finding:
    """Pinning and copying against a plain copy, at every size."""
    compared, verdicts, n = {}, [], []
    for record in results.select("transfer"):
        if record.case == "to the device, pinned on the fly" and record.device == device and record.samples:
            rotation = Rotation(results, "transfer", record.group)
            plain = rotation.record("to the device, pageable")
            compared[record.parameters["bytes"]] = ratio(record.samples, plain.samples)
            word = rotation.word(record, plain)
            verdicts.append(FAILS if word == "faster" else HOLDS if compared[record.parameters["bytes"]].low > NO_GAIN else UNDECIDED)
            n.append(len(record.samples))
    if not compared:
        raise NotMeasured()
    closest = min(compared, key=lambda size: compared[size].median)  # where pinning comes closest to paying
    largest = max(compared)
    figures = dict(closest=byte_count(closest), ratio=shown(compared[closest]), largest=byte_count(largest), largest_ratio=shown(compared[largest]))
    return Finding(all_of(verdicts), min(n), figures)


# ---- Measuring ----


def unsynchronized_is_wrong(results: Measured, device: str) -> Finding:
    rotation = Rotation(results, "unsynchronized", f"unsynchronized on {device}")
    right, wrong = rotation.base, rotation.record("not synchronized")
    compared = ratio(wrong.samples, right.samples)
    figures = dict(right=duration(median(right)), wrong=duration(median(wrong)), factor=significant(1 / compared.median, 2), ratio=shown(compared))
    return Finding(at_most(compared, 0.5), len(right.samples), figures)


def first_call_is_dear(results: Measured, device: str) -> Finding:
    group = f"on {device}"
    first, later = (record_of(results, "first-call", group, case, device) for case in ("first operation", "later operation"))
    low, high = min(first.samples) / max(later.samples), max(first.samples) / min(later.samples)
    decided = apart(low, high, 100) if len(first.samples) >= FEWEST_PROCESSES else UNDECIDED
    figures = dict(first=duration(median(first)), later=duration(median(later)), factor=significant(median(first) / median(later), 2))
    figures |= dict(low=significant(low, 2), high=significant(high, 2))
    return Finding(decided, len(first.samples), figures)


# ---- The remedies ----


def compiled(results: Measured, device: str, case: str) -> tuple[Rotation, Record]:
    rotation = Rotation(results, "strategies", f"{case} on {device}")
    return rotation, rotation.record(case)


def naive_compilation_is_slower(results: Measured, device: str) -> Finding:
    (in_model, model), (in_loss, loss) = compiled(results, device, "compile(model)"), compiled(results, device, "compile(loss)")
    figures = dict(model=shown(ratio(model.samples, in_model.base.samples)), loss=shown(ratio(loss.samples, in_loss.base.samples)))
    verdicts = [expected(in_model.word(model), "slower"), expected(in_loss.word(loss), "slower")]
    return Finding(all_of(verdicts), min(len(model.samples), len(loss.samples)), figures)


def whole_step_compilation_pays(results: Measured, device: str) -> Finding:
    case = "whole step compiled"
    rotation, record = compiled(results, device, case)
    first = rotation.record(f"{case}: first call")
    figures = dict(ratio=shown(ratio(record.samples, rotation.base.samples)), first=duration(median(first)))
    word = rotation.word(record)
    if word != "faster":  # a difference that is not there to be seen pays for nothing
        return Finding(expected(word, "faster"), len(record.samples), figures, "figures_never")
    return Finding(HOLDS, len(record.samples), figures | dict(steps=significant(paid_after(median(first), record, rotation.base), 2)))


def best(results: Measured, device: str, only: tuple[str, ...] = ()) -> tuple[str, Ratio, int]:
    """The fastest way that does the lesson's training: name, ratio to the lesson's loop, number of blocks.

    ``only``: among these cases. A case whose parameter `trains` is 0 does no training and is left out.
    """
    found = []
    for group in dict.fromkeys(record.group for record in results.select("strategies")):
        rotation = Rotation(results, "strategies", group)
        base = [record for record in rotation.records if record.role == "base" and record.samples]  # none where a compiler failed
        for record in base + rotation.cases() if base else []:
            if record.device == device and record.parameters.get("trains", 1) and (not only or record.case in only):
                found.append((record.case, ratio(record.samples, base[0].samples), len(record.samples)))
    if not found:
        raise NotMeasured()
    return min(found, key=lambda case: case[1].median)


def readable_and_fast(results: Measured, device: str) -> Finding:
    name, compared, n = best(results, device, ("by hand", "by hand, inference mode", "NumPy by hand"))
    return Finding(at_most(compared, 1 / 4), n, dict(ratio=shown(compared)), named=dict(case=(STRATEGY, name)))


def ten_times(results: Measured, device: str) -> Finding:
    rotation, record = compiled(results, device, "many steps compiled")
    compared = ratio(record.samples, rotation.base.samples)
    return Finding(at_most(compared, 1 / 10), len(record.samples), dict(ratio=shown(compared)))


def lesson_to_cpu(results: Measured, device: str) -> tuple[Ratio, Record]:
    """The lesson's loop on ``device`` to the lesson's loop on the CPU, and the CPU's record."""
    rotation = Rotation(results, "training", "step")
    cpu = rotation.record("lesson", "cpu")
    return ratio(rotation.record("lesson", device).samples, cpu.samples), cpu


def graph(results: Measured, device: str) -> tuple[Rotation, Record]:
    rotation = Rotation(results, "strategies", f"on {device}")
    return rotation, rotation.record("graph of k steps")


def graph_beats_eager(results: Measured, device: str) -> Finding:
    rotation, record = graph(results, device)
    compared = ratio(record.samples, rotation.base.samples)
    return Finding(at_most(compared, 1 / 3), len(record.samples), dict(eager=duration(median(rotation.base)), graph=duration(median(record)), ratio=shown(compared)))


def graph_frees_the_host(results: Measured, device: str) -> Finding:
    """What queueing one replay takes of the time that its steps take: the rest of the host is free."""
    rotation = Rotation(results, "bound", f"on {device}")
    host, whole = rotation.record("host, graph"), rotation.record("device")
    share = ratio(host.samples, whole.samples)
    figures = dict(host=duration(median(host)), whole=duration(median(whole)), share=shown_share(share), steps=str(whole.parameters["steps_per_call"]))
    return Finding(at_most(share, 0.1), len(host.samples), figures)


def graph_beats_cpu_loop(results: Measured, device: str) -> Finding:
    rotation, record = graph(results, device)
    lesson, cpu = lesson_to_cpu(results, device)
    compared = times(ratio(record.samples, rotation.base.samples), lesson)
    figures = dict(graph=duration(median(record)), cpu=duration(median(cpu)), ratio=shown(compared))
    return Finding(at_most(compared, 1), min(len(record.samples), len(cpu.samples)), figures)


def cpu_best_wins(results: Measured, device: str) -> Finding:
    """Best against best, for one model."""
    name, theirs, n = best(results, device)
    cpu_name, ours, cpu_n = best(results, "cpu")
    compared = over(times(theirs, lesson_to_cpu(results, device)[0]), ours)
    return Finding(at_least(compared, 1), min(n, cpu_n), dict(ratio=shown(compared)), named=dict(accelerator=(STRATEGY, name), cpu=(STRATEGY, cpu_name)))


def many(results: Measured, device: str, models: int) -> tuple[Ratio, Record]:
    """The fastest way to train so many models for one step on ``device``, in steps of the lesson's loop there."""
    rotation = Rotation(results, "many", f"on {device}")
    records = [record for record in rotation.cases() if record.parameters.get("models") == models]
    if not records:
        raise NotMeasured()
    compared = [(ratio(record.samples, rotation.base.samples), record) for record in records]
    return min(compared, key=lambda pair: pair[0].median)


def hundred_models(results: Measured, device: str) -> Finding:
    compared, record = many(results, device, 100)
    return Finding(at_most(compared, 15), len(record.samples), dict(time=duration(median(record)), ratio=shown(compared)))


def many_models_win(results: Measured, device: str) -> Finding:
    """From how many models on the accelerator's best beats the CPU's best; each may train them all at once or in turn."""
    lesson = {"cpu": Ratio(1, 1, 1), device: lesson_to_cpu(results, device)[0]}  # in steps of the lesson's loop on the CPU
    alone = {name: times(best(results, name)[1], lesson[name]) for name in lesson}
    numbers = [{r.parameters["models"] for r in Rotation(results, "many", f"on {name}").cases() if "models" in r.parameters} for name in alone]
    compared, repeats = {}, []
    for models in sorted(set.intersection(*numbers)):
        fastest = {}
        for name in alone:
            together, record = many(results, name, models)
            in_turn = times(alone[name], Ratio(models, models, models))
            fastest[name] = min(times(together, lesson[name]), in_turn, key=lambda value: value.median)
            repeats.append(len(record.samples))
        compared[models] = over(fastest[device], fastest["cpu"])
    if not compared:
        raise NotMeasured()
    largest, n = max(compared), min(repeats)
    wins = list(itertools.takewhile(lambda models: compared[models].high < 1, sorted(compared, reverse=True)))
    figures = dict(largest=whole(largest), largest_ratio=shown(compared[largest]))
    if not wins:  # a larger number might: "enough" is not refuted by a few
        decided = at_most(compared[largest], 1) if largest >= ENOUGH_MODELS else UNDECIDED
        return Finding(decided, n, figures, "figures_none")
    return Finding(HOLDS, n, figures | dict(models=whole(wins[-1]), ratio=shown(compared[wins[-1]])))


CLAIMS = [
    Claim("accelerator-loses", "gpu-training", "accelerator", accelerator_loses),
    Claim("same-loss", "gpu-training", "accelerator", same_loss),
    Claim("wide-wins", "gpu-training", "accelerator", wide_wins),
    Claim("unsynchronized", "measuring", "accelerator", unsynchronized_is_wrong),
    Claim("first-call", "measuring", "each", first_call_is_dear),
    Claim("one-thread", "measuring", "cpu", one_thread),
    Claim("phases-add-up", "overhead", "cpu", phases_add_up),
    Claim("arithmetic-is-small", "overhead", "cpu", arithmetic_is_small),
    Claim("backward-is-largest", "overhead", "cpu", backward_is_largest),
    Claim("host-bound", "overhead", "accelerator", host_bound),
    Claim("bound-adds-up", "overhead", "accelerator", bound_adds_up),
    Claim("launches-less-than-half", "overhead", "accelerator", launches_are_less_than_half),
    Claim("hand-over", "overhead", "accelerator", hand_over_costs),
    Claim("transfer-is-small", "overhead", "accelerator", transfer_is_small),
    Claim("item-less-than-a-quarter", "overhead", "accelerator", reading_costs_less_than(0.25)),
    Claim("rows-are-free", "overhead", "accelerator", rows_are_free),
    Claim("flat", "overhead", "accelerator", flat),
    Claim("crossover", "faster", "accelerator", crossover),
    Claim("item-on-the-cpu", "faster", "cpu", reading_costs_less_than(0.05)),
    Claim("less-than-linear", "faster", "each", less_than_linear),
    Claim("keeping-on-the-cpu", "faster", "cpu", keeping_brings_nothing),
    Claim("by-hand", "faster", "cpu", readable_and_fast),
    Claim("naive-compilation", "faster", "each", naive_compilation_is_slower),
    Claim("whole-step-compilation", "faster", "each", whole_step_compilation_pays),
    Claim("ten-times", "faster", "cpu", ten_times),
    Claim("graph-beats-eager", "faster", "accelerator", graph_beats_eager),
    Claim("graph-frees-the-host", "faster", "accelerator", graph_frees_the_host),
    Claim("graph-beats-cpu-loop", "faster", "accelerator", graph_beats_cpu_loop),
    Claim("cpu-best-wins", "faster", "accelerator", cpu_best_wins),
    Claim("hundred-models", "faster", "each", hundred_models),
    Claim("many-models", "faster", "accelerator", many_models_win),
    Claim("pinning-on-the-fly", "devices-more", "accelerator", pinning_does_not_pay),
    Claim("call-is-small", "call", "cpu", call_is_small),
]
