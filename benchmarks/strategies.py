"""Does the experiment `strategies` give the same ratios on a busy machine, and are the loops as fast as the guide says?

    python benchmarks/strategies.py            # about five minutes on two cores
    python benchmarks/strategies.py --quick    # without what has to be compiled

Measures twice as `tutorial measure --quick` does, the second time with another process that keeps one core busy. After
each, `torch.utils.benchmark` times the same loops, one after the other, on the machine as it then is. The exit status is 1
where a bar is not met.
"""

import argparse
import contextlib
import os
import platform
import subprocess
import sys

import torch
from torch.utils.benchmark import Timer

from tutorial.hardware.cpu import this_cpu
from tutorial.measure.cases import lesson_case
from tutorial.measure.experiments import Plan, strategies
from tutorial.measure.results import Record
from tutorial.measure.timing import Ratio, ratio, threads, verdict

CPU = torch.device("cpu")
REPEATABLE, MOST_UNTOLD = 0.05, 2
READABLE, EXTREME, AIM = 4, 10, 20
ORIENTATION = ("A/A", "matrix products")  # no strategies: they are shown, and not judged
READABLE_CASES = ("by hand", "by hand, inference mode", "NumPy by hand")


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--quick", action="store_true", help="leave out what has to be compiled")
    quick = arguments.parse_args().quick

    print(f"{this_cpu().model}, {os.cpu_count()} logical CPUs, Python {platform.python_version()}, PyTorch {torch.__version__}\n")
    quiet, quiet_timer = measured(), timed_by_torch()
    with busy_core():
        busy, busy_timer = measured(), timed_by_torch()
    met = [repeatable(quiet, busy, quiet_timer, busy_timer), readable(quiet)]
    if not quick:
        met.append(extreme())
    return 0 if all(met) else 1


@contextlib.contextmanager
def busy_core():
    """Another process that never waits."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def measured() -> dict[str, tuple[Ratio, str]]:
    """Ratio to the lesson's loop and verdict of every case, from one run of the profile `quick`; the twin is `A/A`."""
    records = strategies.measure(Plan("quick", [CPU]))
    return {("A/A" if record.role == "twin" else record.case): found for record, found in judged(records)}


def judged(records: list[Record]) -> list[tuple[Record, tuple[Ratio, str]]]:
    base, twin = records[0].samples, ratio(records[1].samples, records[0].samples)
    compared = [record for record in records[1:] if record.role in ("twin", "case")]
    for record in compared:
        if record.failure:
            raise SystemExit(f"{record.case}: {record.failure}")
    ratios = [ratio(record.samples, base) for record in compared]
    return [(record, (found, verdict(found, twin))) for record, found in zip(compared, ratios)]


def timed_by_torch() -> dict[str, float]:
    """Ratio to the lesson's loop by `torch.utils.benchmark`: the median of each case's own runs, one case after the other."""
    seconds = {}
    with threads(1):
        for case in [lesson_case(CPU), lesson_case(CPU), *strategies.cases(CPU, quick=True)]:
            name = "A/A" if case.name in seconds else case.name
            steps = 10 * case.multiple
            timer = Timer("run(steps)", globals={"run": case.run, "steps": steps})
            seconds[name] = timer.adaptive_autorange(min_run_time=0.3, max_run_time=2).median / steps
    return {name: taken / seconds["lesson"] for name, taken in seconds.items()}


def repeatable(quiet, busy, quiet_timer, busy_timer) -> bool:
    """Print both runs side by side; True where every strategy agrees within 5 %, but for two that say "cannot tell"."""
    print(f"{'ratio to the lesson':32}{'quiet':>22}{'one core busy':>24}{'apart':>8}   verdicts")
    print(f"{'':32}{'torch.utils.benchmark':>22}{'':>24}{'apart':>16}")
    told, untold, timer_apart = [], [], []
    for name, (first, first_word) in quiet.items():
        second, second_word = busy[name]
        apart, by_timer = second.median / first.median - 1, busy_timer[name] / quiet_timer[name] - 1
        print(f"{name:32}{interval(first):>22}{interval(second):>24}{apart:>+8.1%}   {first_word}, {second_word}")
        print(f"{'':32}{quiet_timer[name]:>14.3f}{busy_timer[name]:>24.3f}{by_timer:>+24.1%}")
        if name in ORIENTATION:
            continue
        if abs(apart) > REPEATABLE:
            (untold if "cannot tell" in (first_word, second_word) else told).append(name)
        if abs(by_timer) > REPEATABLE:
            timer_apart.append(name)
    met = not told and len(untold) <= MOST_UNTOLD
    print(f"\nevery strategy within {REPEATABLE:.0%}, or cannot tell ({MOST_UNTOLD} at most): {'met' if met else 'NOT MET'}")
    for what, names in (("apart with a verdict", told), ("apart, cannot tell", untold), ("apart by torch.utils.benchmark", timer_apart)):
        print(f"  {what}: {', '.join(names) or 'none'}")
    return met


def interval(found: Ratio) -> str:
    return f"{found.median:.3f} [{found.low:.3f}, {found.high:.3f}]"


def readable(quiet) -> bool:
    """True where a loop that a learner can read is four times as fast as the lesson's."""
    best = min(READABLE_CASES, key=lambda name: quiet[name][0].median)
    return bar(best, quiet[best][0], READABLE)


def extreme() -> bool:
    """True where the compiled thousand steps are ten times as fast; says whether they are twenty times."""
    name = "many steps compiled"
    records = strategies.compiled_case(name, CPU)
    if records[0].failure:
        print(f"{name}: {records[0].failure}")
        return False
    found = next(found for record, (found, _) in judged([r for r in records if r.role != "single"]) if record.case == name)
    print(f"{name}: first call {records[-1].samples[0]:.1f} s")
    bar(name, found, AIM)
    return bar(name, found, EXTREME)


def bar(name: str, found: Ratio, times: int) -> bool:
    """The whole interval has to be below 1 / ``times``."""
    met = found.high <= 1 / times
    print(f"{name}: {interval(found)}, {1 / found.median:.1f} times as fast; {times} times: {'met' if met else 'NOT MET'}")
    return met


if __name__ == "__main__":
    sys.exit(main())
