"""The claims: each of them on machines that are made up to give every verdict it can give, and on the pages."""

import random
import re
from pathlib import Path

import numpy as np
import pytest

from tutorial.measure.experiments.step import PHASES
from tutorial.measure.results import Record, load_all
from tutorial.publish import findings as pages
from tutorial.publish.bound import bound as bound_of
from tutorial.publish.claims import CLAIMS, FAILS, HOLDS, NOT_MEASURED, UNDECIDED, VERDICTS, Claim, findings
from tutorial.publish.comparison import Machine
from tutorial.publish.machines import machine_reports
from tutorial.publish.words import Texts

ROOT = Path(__file__).parents[1]
GPU = "cuda:0"
ROTATIONS = 40
UNIT = 2e-4  # seconds of a base, before the machine's drift


def rotation(experiment, group, cases, base="lesson", device="cpu", twin=True, **parameters):
    """One group of records: a base of a machine that drifts, and by name the cases' ratios to it.

    A ratio may be a pair with a spread: then its interval reaches so far to both sides. A name may be a pair with a device.
    """
    base_samples = UNIT * np.random.default_rng(1).uniform(1, 2, ROTATIONS)
    sides = np.where(np.arange(ROTATIONS) % 2, 1, -1)

    def record(case, role, ratio, own=None):
        name, where = case if isinstance(case, tuple) else (case, device)
        ratio, spread = ratio if isinstance(ratio, tuple) else (ratio, 0.001)
        about = parameters | {"block": 20} | (own or {})
        return Record(experiment=experiment, group=group, case=name, role=role, device=where, threads=1, parameters=about, samples=list(base_samples * ratio * (1 + spread * sides)))

    records = [record(base, "base", 1.0)] + [record(base, "twin", 1.0)] * twin
    for case, ratio in cases.items():
        ratio, own = ratio if isinstance(ratio, tuple) and isinstance(ratio[1], dict) else (ratio, None)
        records.append(record(case, "case", ratio, own))
    return records


def alone(experiment, group, case, device, samples, unit="s", **parameters):
    return [Record(experiment=experiment, group=group, case=case, role="single", device=device, threads=1, unit=unit, samples=samples, parameters=parameters)]


def around(limit, above=HOLDS):
    """Ratios for a claim that has a limit: on either side of it, and across it."""
    below = FAILS if above == HOLDS else HOLDS
    return {above: limit * 1.3, below: limit * 0.7, UNDECIDED: (limit, 0.1)}


def scenarios(make, ratios):
    return {verdict: make(ratio) for verdict, ratio in ratios.items()}


def race(experiment, case="lesson"):
    return lambda ratio: rotation(experiment, "step", {(case, GPU): ratio}, base=case)


def lesson_on_both(ratio=4.0):
    return race("training")(ratio)


def logging(device, **cases):
    names = {"ten": "every 10", "never": "never", "kept": "kept on the device"}
    intervals = {"ten": {"interval": 10}}
    return rotation("logging", f"short blocks on {device}", {names[key]: (ratio, intervals.get(key, {})) for key, ratio in cases.items()}, "every 1", device, interval=1)


def never(device):
    return lambda ratio: [r.model_copy(update={"parameters": {"block": 20}}) if r.case == "never" else r for r in logging(device, never=ratio)]


def intervals(ten, never, whole=None):
    """Records of `logging` on the CPU: with every 10th reading, with none, and with none in whole loops (every 2 000th: 1)."""
    records = logging("cpu", ten=ten, never=never)
    if whole is not None:
        cases = {"every 2000": (1.0, {"interval": 2000}), "never": (whole, {})}
        records += rotation("logging", "whole loops on cpu", cases, "every 1", interval=1)
    for record in records:
        if record.case == "never":
            del record.parameters["interval"]
    return records


def step_parts(**parts):
    """The phases of a step; those that are not named take next to nothing."""
    parts = dict.fromkeys(PHASES, 0.01) | parts
    records = rotation("step", "cpu", {"matrix products": 0.03, **parts})
    return [r.model_copy(update={"role": "part"}) if r.case in parts else r for r in records]


def bound(host, device, wall=None, drain=0.1, more=1.0, launch=0.01):
    """W with readings and without, H, G and the drain, in units of the base (which is W with readings)."""
    wall = wall or max(host, device)
    cases = {"never": wall, "host": host, "device, launched": device, "device": device, "synchronize": drain, "kernel launch": launch}
    cases["device, batch 1200"] = ((device * more[0], more[1]) if isinstance(more, tuple) else device * more, {"graph": 1})
    return rotation("bound", f"on {GPU}", cases, device=GPU)


def size(ratios, width=10):
    """By batch: time on the GPU and on the CPU in units of the CPU's with one row."""
    cases = {}
    for batch, (gpu, cpu) in ratios.items():
        about = {"batch": batch, "width": width, "flop": batch * width * 100}
        cases[(f"{GPU}, batch {batch}", GPU)] = (gpu, about)
        cases[(f"cpu, batch {batch}", "cpu")] = (cpu, about)
    return rotation("size", f"width {width}", cases, base="cpu, batch 1", batch=1, width=width, flop=width * 100)


def strategies(device, cases, group=None):
    return rotation("strategies", group or f"on {device}", cases, device=device)


def compiled(case, ratio, device="cpu", first=20.0):
    return strategies(device, {case: ratio}, f"{case} on {device}") + alone("strategies", f"{case} on {device}", f"{case}: first call", device, [first])


def many(device, ratios):
    cases = {f"batched {models}": (ratio, {"models": models}) for models, ratio in ratios.items()}
    return rotation("many", f"on {device}", cases, device=device)


def many_models(gpu, models=10_000):
    """The CPU's price for so many models, and the GPU's in units of its own lesson's loop."""
    return [*lesson_on_both(), *strategies("cpu", {"by hand": 0.25}), *strategies(GPU, {"never": 0.9}), *many("cpu", {1: 2.0, models: 100.0}), *many(GPU, {1: 2.0, models: gpu})]


def pinned(ratio):
    cases = {"to the device, pinned on the fly": ratio}
    return rotation("transfer", f"4096 B to {GPU}", cases, base="to the device, pageable", device=GPU, bytes=4096)


def moved(share):
    share, spread = share if isinstance(share, tuple) else (share, 0)
    return [*rotation("transfer", f"iris to {GPU}", {}, "all iris tensors", GPU), *alone("training", "whole", "whole run", GPU, [UNIT * 1.5 / share])]


def first(factor, processes=4):
    low, high = factor
    return alone("first-call", "on cpu", "first operation", "cpu", [low * 1e-6, high * 1e-6, *[high * 1e-6] * 2][:processes]) + alone("first-call", "on cpu", "later operation", "cpu", [1e-6, 1e-6])


def launches(count):
    """So many launches a step, each of a fiftieth of H; or a pair, with how far the time of one varies."""
    count, spread = count if isinstance(count, tuple) else (count, 0.001)
    return alone("step", f"counts on {GPU}", "launches", GPU, [count], "count") + bound(1.0, 0.5, launch=(0.02, spread))


def unsynchronized(ratio):
    records = rotation("unsynchronized", f"unsynchronized on {GPU}", {"not synchronized": ratio}, "synchronized", GPU)
    return [r.model_copy(update={"role": "part"}) if r.case == "not synchronized" else r for r in records]


def curves(cpu, other):
    return alone("training", "whole", "loss curve", "cpu", [1.0, cpu], "loss") + alone("training", "whole", "loss curve", GPU, [1.0, other], "loss")


def graph(ratio):
    return [*lesson_on_both(), *strategies(GPU, {"graph of k steps": ratio})]


FASTER = {HOLDS: 0.5, FAILS: 1.0, UNDECIDED: (0.97, 0.1)}
SLOWER = {HOLDS: 2.0, FAILS: 1.0, UNDECIDED: (1.03, 0.1)}
NO_GAIN = {HOLDS: 1.0, FAILS: 0.5, UNDECIDED: (0.97, 0.1)}
SCENARIOS = {
    "accelerator-loses": scenarios(race("training"), SLOWER),
    "same-loss": {HOLDS: curves(0.0612, 0.0613), FAILS: curves(0.0612, 0.0712)},
    "wide-wins": scenarios(race("wide", "wide network"), FASTER),
    "unsynchronized": scenarios(unsynchronized, around(0.5, FAILS)),
    "first-call": scenarios(first, {HOLDS: (900, 1100), FAILS: (10, 20), UNDECIDED: (50, 300)}),
    "one-thread": scenarios(lambda ratio: [r.model_copy(update={"threads": int(r.case[0])}) for r in rotation("threads", "lesson", {"2 threads": ratio}, "1 thread")], NO_GAIN),
    "phases-add-up": scenarios(lambda ratio: step_parts(forward=ratio), {HOLDS: 0.9, FAILS: 0.5, UNDECIDED: (0.75, 0.1)}),
    "arithmetic-is-small": scenarios(lambda ratio: rotation("step", "cpu", {"matrix products": ratio}), around(0.1, FAILS)),
    "backward-is-largest": scenarios(lambda ratio: step_parts(backward=0.4, forward=ratio), {HOLDS: 0.2, FAILS: 0.6, UNDECIDED: (0.4, 0.1)}),
    "host-bound": {HOLDS: bound(0.95, 0.3), FAILS: bound(0.3, 0.95), UNDECIDED: bound(0.4, 0.3, wall=0.9)},
    "bound-adds-up": {HOLDS: bound(0.9, 0.3), FAILS: bound(0.4, 0.3, wall=0.9)},
    "launches-less-than-half": scenarios(launches, {HOLDS: 10, FAILS: 40, UNDECIDED: (25, 0.3)}),
    "hand-over": scenarios(lambda ratio: strategies(GPU, {"backward on the calling thread": ratio}), FASTER),
    "transfer-is-small": {HOLDS: moved(1e-4), FAILS: moved(0.1), UNDECIDED: moved(0.01)},
    "item-less-than-a-quarter": scenarios(never(GPU), {HOLDS: 0.9, FAILS: 0.5, UNDECIDED: (0.75, 0.1)}),
    "rows-are-free": scenarios(lambda ratio: bound(0.9, 0.3, more=ratio), {HOLDS: 1.0, FAILS: 2.0, UNDECIDED: (1.1, 0.1)}),
    "flat": scenarios(lambda ratio: size({120: (1.0, 1.0), 1200: (ratio, 1.0), 12000: (5.0, 1.0)}), {HOLDS: 1.0, FAILS: 2.0, UNDECIDED: (1.1, 0.1)}),
    "crossover": {
        HOLDS: size({1: (4.0, 1.0), 120: (4.0, 1.1), 12000: (5.0, 50.0)}),
        FAILS: size({1: (4.0, 1.0), 12000: (60.0, 50.0)}),
        UNDECIDED: size({1: (4.0, 1.0), 12000: ((50.0, 0.2), 50.0)}),
    },
    "item-on-the-cpu": scenarios(never("cpu"), {HOLDS: 0.99, FAILS: 0.7, UNDECIDED: (0.95, 0.04)}),
    "less-than-linear": {HOLDS: intervals(0.72, 0.72), FAILS: intervals(0.8, 0.7, whole=0.7), UNDECIDED: intervals(0.8, 0.7, whole=(0.99, 0.1))},
    "keeping-on-the-cpu": scenarios(lambda ratio: logging("cpu", kept=ratio), NO_GAIN),
    "by-hand": scenarios(lambda ratio: strategies("cpu", {"by hand": 0.6, "NumPy by hand": ratio}), around(0.25, FAILS)),
    "naive-compilation": scenarios(lambda ratio: compiled("compile(model)", ratio) + compiled("compile(loss)", 2.0), SLOWER),
    "whole-step-compilation": {HOLDS: compiled("whole step compiled", 0.4), FAILS: compiled("whole step compiled", 1.5), UNDECIDED: compiled("whole step compiled", (0.97, 0.1))},
    "ten-times": scenarios(lambda ratio: compiled("many steps compiled", ratio), around(0.1, FAILS)),
    "graph-beats-eager": scenarios(graph, around(1 / 3, FAILS)),
    "graph-frees-the-host": scenarios(lambda ratio: rotation("bound", f"on {GPU}", {"host, graph": ratio, "device": 1.0}, device=GPU, steps_per_call=100), around(0.1, FAILS)),
    "graph-beats-cpu-loop": scenarios(graph, around(1 / 4, FAILS)),
    "cpu-best-wins": scenarios(lambda ratio: graph(ratio) + strategies("cpu", {"by hand": 0.25, "matrix products": (0.01, {"trains": 0})}), around(1 / 16)),
    "hundred-models": scenarios(lambda ratio: many("cpu", {100: ratio}), around(15, FAILS)),
    "many-models": scenarios(many_models, around(25.0, FAILS)),
    "pinning-on-the-fly": scenarios(pinned, NO_GAIN),
    "call-is-small": scenarios(lambda ratio: rotation("call", "lesson's step", {"call": ratio}, base="forward"), around(1.05, FAILS)),
}
# What there is no third side to: a loss is near the other or not, and the model's 20 % are of medians.
NEVER_UNDECIDED = {"same-loss", "bound-adds-up"}
# Sentences that no case of the table above comes to: with other records beside it.
FURTHER = {
    "less-than-linear": [(HOLDS, intervals(1.0, 1.0)), (HOLDS, intervals(0.8, 0.7, whole=1.0)), (UNDECIDED, intervals(0.8, 0.7)), (FAILS, intervals(0.1, 0.1))],
    "crossover": [
        (FAILS, size({1: (0.5, 1.0), 120: (4.0, 1.1), 12000: (5.0, 50.0)})),  # slower in the middle alone is no "smallest"
        (FAILS, size({1: (4.0, 1.0), 120: ((1.1, 0.2), 1.1), 12000: (60.0, 50.0)})),  # a step that cannot tell does not make up for the largest
    ],
    "bound-adds-up": [(FAILS, bound(0.9, 0.3, drain=0.5)), (FAILS, bound(0.4, 0.3, wall=0.9, drain=0.6))],  # of two loops, one is explained
    "host-bound": [(HOLDS, launches(60)), (UNDECIDED, bound(0.5, 0.5, wall=0.5, drain=0.5))],  # launch-bound is host-bound
    "first-call": [(UNDECIDED, first((10, 20), processes=2))],  # two of them say nothing of the spread
    "many-models": [(UNDECIDED, many_models(32.5, models=1000))],  # more might win
    "transfer-is-small": [(HOLDS, moved(1e-4) + alone("overheads", f"on {GPU}", "context creation", GPU, [0.3]))],
}


def device_of(claim: Claim):
    return GPU if claim.about == "accelerator" else "cpu"


@pytest.fixture
def machine(results):
    results.records = []
    return Machine("example", results)


@pytest.fixture(scope="module")
def text():
    return Texts("en")


CASES = [(claim, verdict, records) for claim in CLAIMS for verdict, records in [*SCENARIOS[claim.id].items(), *FURTHER.get(claim.id, [])]]


@pytest.mark.parametrize(("claim", "verdict", "records"), CASES, ids=[f"{c.id}: {v}" for c, v, _ in CASES])
def test_every_claim_gives_every_verdict(machine, text, claim, verdict, records):
    machine.results.records = records
    found = findings(claim, machine.results)[device_of(claim)]
    assert found.verdict == verdict, found
    assert found.n >= 1
    shown = pages.block(claim, [machine], text)
    assert re.search(rf": {verdict}\.\*\*", shown) and "(n = " in shown and "(machines.md#machine-example)" in shown
    assert "{" not in re.sub(r"\{ \.measured \}", "", shown)


def test_every_verdict_and_every_sentence_has_a_case(machine, text):
    assert SCENARIOS.keys() == {claim.id for claim in CLAIMS} >= FURTHER.keys()
    for claim in CLAIMS:
        assert SCENARIOS[claim.id].keys() == {HOLDS, FAILS, UNDECIDED} - ({UNDECIDED} if claim.id in NEVER_UNDECIDED else set())
        used = set()
        for _, verdict, records in (case for case in CASES if case[0] is claim):
            machine.results.records = records
            used.add(findings(claim, machine.results)[device_of(claim)].sentence)
        assert used == text._texts["claim"][claim.id].keys() - {"statement", "clock", "against"}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_what_was_not_measured_is_called_so(machine, text, claim):
    assert {f.verdict for f in findings(claim, machine.results).values()} == {NOT_MEASURED}
    assert "*not measured here*" in pages.block(claim, [machine], text)
    machine.results.hardware.accelerators = []
    assert {f.verdict for f in findings(claim, machine.results).values()} == {NOT_MEASURED}
    machine.results.records = SCENARIOS[claim.id][HOLDS]
    verdicts = {device: f.verdict for device, f in findings(claim, machine.results).items()}
    assert verdicts == ({None: NOT_MEASURED} if claim.about == "accelerator" else {"cpu": HOLDS} | ({None: NOT_MEASURED} if claim.about == "each" else {}))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_case_that_failed_decides_nothing_and_breaks_nothing(machine, text, claim):
    """Whichever record it is: a claim that needs it was not measured; one that has others goes on."""
    for place, record in enumerate(SCENARIOS[claim.id][HOLDS]):
        records = list(SCENARIOS[claim.id][HOLDS])
        records[place] = record.model_copy(update={"samples": [], "failure": "no <b>compiler</b>"})
        machine.results.records = records
        assert "<b>" not in pages.block(claim, [machine], text)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_whatever_is_missing_breaks_nothing(machine, text, claim):
    draw = random.Random(claim.id)
    records = [record for case, _, made in CASES if case is claim for record in made]
    for _ in range(20):
        share = draw.random()
        machine.results.records = [record for record in records if draw.random() < share]
        found = findings(claim, machine.results)
        assert {finding.verdict for finding in found.values()} <= set(VERDICTS)
        pages.block(claim, [machine], text)


@pytest.mark.parametrize("case", PHASES)
def test_a_sum_of_phases_lacks_none(machine, case):
    machine.results.records = [record for record in step_parts(forward=0.9) if record.case != case]
    (claim,) = (claim for claim in CLAIMS if claim.id == "phases-add-up")
    assert findings(claim, machine.results)["cpu"].verdict == NOT_MEASURED


@pytest.mark.parametrize("records", [records for claim, _, records in CASES if claim.id in ("bound-adds-up", "host-bound")])
def test_the_claims_of_the_bound_agree_with_its_table(machine, records):
    machine.results.records = records
    verdicts = {claim.id: findings(claim, machine.results)[GPU].verdict for claim in CLAIMS if claim.id in ("bound-adds-up", "host-bound")}
    found = bound_of(machine.results, GPU)
    assert (verdicts["bound-adds-up"] == HOLDS) == found.explained
    assert (verdicts["host-bound"] == HOLDS) == (found.word in ("host", "launch")) and (verdicts["host-bound"] == UNDECIDED) == (found.word == "open")


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.about != "cpu"], ids=lambda claim: claim.id)
def test_each_of_two_accelerators_has_its_own_finding(machine, text, claim):
    second = "cuda:1"
    accelerators = machine.results.hardware.accelerators
    accelerators.append(accelerators[0].model_copy(update={"device": second}))
    machine.results.records = SCENARIOS[claim.id][HOLDS]
    if claim.about == "accelerator":
        verdicts = {device: finding.verdict for device, finding in findings(claim, machine.results).items()}
        assert verdicts == {GPU: HOLDS, second: NOT_MEASURED}
        assert "Example GPU" in pages.block(claim, [machine], text) and "cuda&#58;1" in pages.block(claim, [machine], text)
    else:  # a CPU's records never stand for an accelerator
        assert {device: finding.verdict for device, finding in findings(claim, machine.results).items()} == {"cpu": HOLDS, GPU: NOT_MEASURED, second: NOT_MEASURED}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_full_measurement_decides_every_claim_or_says_why_not(claim):
    """On the results that this repository has: so the names that a claim looks for are those that are measured."""
    for name, results in load_all(ROOT / "results").items():
        if results.kind == "measured" and results.profile == "full" and not results.pending:
            for device, finding in findings(claim, results).items():
                if device == "cpu" or (device or "").startswith("cuda"):
                    assert finding.verdict != NOT_MEASURED or finding.figures.get("reason"), (name, device)


def test_the_reason_of_a_failure_is_shown(machine, text):
    machine.results.records = [Record(experiment="strategies", group="many steps compiled on cpu", case="many steps compiled", role="case", device="cpu", threads=1, failure="no | compiler")]
    claim = next(claim for claim in CLAIMS if claim.id == "ten-times")
    assert "(CPU: no &#124; compiler)" in pages.block(claim, [machine], text)


def test_the_table_has_every_claim_and_every_machine(machine, text, results):
    machine.results.records = SCENARIOS["accelerator-loses"][FAILS]
    other = Machine("other", results.model_copy(update={"records": SCENARIOS["accelerator-loses"][HOLDS]}))
    table = pages.table([machine, other], text)
    rows = table.splitlines()
    assert len(rows) == len(CLAIMS) + 3 and {row.count("|") for row in rows} == {5}
    assert rows[2].endswith("| **does not hold** | holds |")
    assert pages.table([], text).count("\n") == len(CLAIMS) + 2


def test_the_machines_page_names_each_machine_and_what_it_measured(machine, text):
    machine.results.records = lesson_on_both() + strategies("cpu", {"by hand": 0.25})
    page = machine_reports([machine], text).replace("\u00a0", " ")
    assert page.startswith("## Example CPU 9") and "{ #machine-example }" in page
    assert "by hand: 0.25 of the lesson" in page and "*not measured here*" in page
    assert "<b>" not in page and "holds: 1" in page


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_has_its_page(claim, text):
    chapter = (ROOT / "docs" / "en" / f"{claim.chapter}.md").read_text(encoding="utf-8")
    title = re.match(r"# (.+?) \{", chapter)[1]
    assert text(f"claims.chapter.{claim.chapter}") == title
    include = f'--8<-- "claims/{claim.id}.md"'
    assert chapter.splitlines().count(include) == 1
    assert (ROOT / "docs" / "en" / "claims.md").read_text(encoding="utf-8").splitlines().count(include) == 1
    assert '"' not in text(f"claim.{claim.id}.statement") and "|" not in text(f"claim.{claim.id}.statement")


def test_every_text_belongs_to_a_claim(text):
    assert text._texts["claim"].keys() == {claim.id for claim in CLAIMS}
