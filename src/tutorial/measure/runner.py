"""Run experiments one by one and keep each as soon as it is done."""

import platform
import re
import subprocess
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from tutorial.hardware.gpu import accelerator_devices, nvidia_smi
from tutorial.hardware.schema import Hardware
from tutorial.measure.experiments import Plan, experiments
from tutorial.measure.results import Measured, ResultsError, load, now, same_machine, save
from tutorial.measure.timing import reason

PACKAGES = ("numpy", "scikit-learn", "matplotlib", "pydantic", "typer", "rich", "mkdocs", "mkdocs-material", "pymdown-extensions", "mkdocs-jupyter", "pytest", "sybil")


class UnknownName(Exception):
    """An experiment or device was asked for that is not there; the message says which there are."""


class NotAllMeasured(ResultsError):
    """Experiments ended in an error; the message names the file, the experiments and why. What the others found is in the file."""


def software() -> dict[str, str]:
    """What ran: Python, PyTorch and what it was built for, and the packages of the guide that are installed."""
    found = {"python": platform.python_version(), "system": platform.system(), "torch": torch.__version__}
    if torch.version.cuda:
        found["cuda"] = torch.version.cuda
        found["cudnn"] = str(torch.backends.cudnn.version())
        driver = re.search(r"Driver Version\s*: ([\d.]+)", nvidia_smi())
        if driver:
            found["driver"] = driver[1]
    if torch.version.hip:
        found["hip"] = torch.version.hip
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            pass
    return found


def commit() -> str | None:
    """The commit of the guide's repository that this package lies in, marked where files differ from it; None outside it."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():  # installed, maybe into an environment that lies in somebody else's repository
        return None
    try:
        run = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        return subprocess.run(run, capture_output=True, encoding="utf-8", errors="replace", timeout=5, check=True).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def choose_devices(wanted: list[str]) -> list[torch.device]:
    """The CPU and every usable accelerator, or those of them that are ``wanted`` (`cpu`, `cuda`, `cuda:0`, ...).

    Raises UnknownName where one of them is not there.
    """
    present = [torch.device("cpu"), *accelerator_devices()]
    if not wanted:
        return present
    chosen = []
    for name in wanted:
        matching = [device for device in present if name in (str(device), device.type)]
        if not matching:
            raise UnknownName(f"no usable device {name!r} here; there is: {', '.join(map(str, present))}")
        chosen += [device for device in matching if device not in chosen]
    return sorted(chosen, key=present.index)


def choose_experiments(wanted: list[str]) -> list[str]:
    """All experiments, or those ``wanted``. Raises UnknownName where one of them is not there."""
    known = list(experiments())
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UnknownName(f"no experiment {unknown[0]!r}; there is: {', '.join(known)}")
    return [name for name in known if name in wanted] if wanted else known


def measure(
    hardware: Hardware,
    profile: str,
    devices: list[torch.device],
    names: list[str],
    path: Path,
    watch: Callable[[str], Callable[[float], None]],
) -> None:
    """Measure the experiments ``names`` on ``devices`` of the machine ``hardware``; write ``path`` after each of them.

    An earlier file of the same machine, software and profile is completed: if some of ``names`` are pending there, only
    those are measured; else all of ``names`` are measured anew. What it holds of an experiment is replaced when the new
    measurement is done, and not before; so two processes may fill the same file. A file of another machine, software or
    profile is set aside under a name with its date. ``watch(name)`` gives the progress of an experiment. One that ends
    in an error stays pending, and the rest goes on.

    Raises ResultsError where ``path`` holds something else or cannot be written; nothing is measured then. Raises it
    later too where another process has put something else there in the meantime, which then stays. Raises NotAllMeasured
    in the end where experiments ended in an error.
    """
    results = Measured(hardware=hardware, software=software(), when=now(), profile=profile, commit=commit())
    results.pending = list(experiments())
    to_do = list(names)
    if path.exists():
        earlier = load(path)
        if not isinstance(earlier, Measured):
            raise ResultsError(f"{path}: kind: is {earlier.kind!r}; it is not overwritten by a measurement")
        if same_machine(earlier, results):
            results.records = earlier.records
            to_do = [name for name in names if name in earlier.pending] or to_do
            results.pending = earlier.pending
        else:
            set_aside(path, earlier)
    results.pending = [name for name in experiments() if name in {*results.pending, *to_do}]
    save(results, path)

    torch.set_float32_matmul_precision("highest")  # float32, and not the shorter TF32 that an environment may have chosen
    failures = []
    for name in to_do:
        progress = watch(name)
        try:
            records = experiments()[name](Plan(profile, devices, progress))
        except Exception as error:
            failures.append(f"{name} ({type(error).__name__}: {reason(error)})")
            continue
        progress(1.0)  # also where it has nothing to measure on these devices
        read_again(results, path)
        results.records = [record for record in results.records if record.experiment != name] + records
        results.pending = [other for other in results.pending if other != name]
        results.when = now()
        save(results, path)
    if failures:
        raise NotAllMeasured(f"{path}: not measured: {', '.join(failures)}. The rest is kept; the same command tries these again")


def read_again(results: Measured, path: Path) -> None:
    """Take over what another process has added to the file since. Raises ResultsError where it has put something else there."""
    if not path.exists():
        return
    there = load(path)
    if not isinstance(there, Measured) or not same_machine(there, results):
        raise ResultsError(f"{path}: another measurement has written it in the meantime; it is left as it is. Measure again when that one is done")
    results.records, results.pending = there.records, there.pending


def set_aside(path: Path, earlier: Measured) -> None:
    """Rename a results file so that another can take its place; it is then no longer read."""
    try:
        path.rename(name_aside(path, earlier))
    except OSError as error:
        raise ResultsError(f"{path}: cannot be set aside: {error.strerror}") from error


def name_aside(path: Path, earlier: Measured) -> Path:
    """Where a results file goes that is set aside."""
    return path.with_name(f"{path.stem}-{earlier.when:%Y%m%d-%H%M%S}.json.old")
