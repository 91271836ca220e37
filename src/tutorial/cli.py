"""The command `tutorial`: inspect and measure this machine, render what was measured, build the site."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

# Nothing is imported here that imports PyTorch: that takes seconds, which `inspect FILE` does not
# need, and in which Ctrl-C would end in a traceback.
if TYPE_CHECKING:
    from tutorial.hardware.schema import Hardware
    from tutorial.measure.results import Measured

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
say = Console()
warn = Console(stderr=True)


class Profile(str, Enum):
    """How long to measure."""

    quick = "quick"
    full = "full"


ProfileOption = Annotated[Profile | None, typer.Option(help="`quick` takes up to a minute and a half, `full` about a quarter of an hour. By default that of the results file which is there, else `quick`.")]
DeviceOption = Annotated[list[str], typer.Option("--device", help="Only this device (`cpu`, `cuda`, `cuda:0`, ...); may be given more than once.")]
OnlyOption = Annotated[list[str], typer.Option("--only", help="Only this experiment, such as `step` (another word lists them all); may be given more than once.")]


@app.callback()
def begin():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a log file on Windows has no ⠋, and that is no reason to stop


def checkout() -> Path | None:
    """The folder of this command or one above it that has the site's configuration; else the package's own; or None."""
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).parents[2]):
        if (folder / "mkdocs.yml").is_file() and (folder / "results").is_dir():
            return folder
    return None


def repository() -> Path:
    """The checkout, without which there is nothing to render or build."""
    return checkout() or stop("No checkout of the guide here: run this in the folder that has mkdocs.yml.")


def stop(message: str, code: int = 2):
    """End with a message on the error stream."""
    warn.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(code)


@app.command()
def inspect(
    file: Annotated[str | None, typer.Argument(help="A text with lscpu, nvidia-smi or collect_env output; `-` reads it from standard input.")] = None,
    gpu: Annotated[str | None, typer.Option(help="Explain the name of a graphics card, such as 'RTX 4070'.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, in the schema of the results files.")] = False,
):
    """Tell what this machine is and what that means for training; or explain a pasted text, or a name."""
    from tutorial.hardware.schema import Hardware, NotRecognized, note_untold

    if file is not None and gpu is not None:
        stop("Give either a file or --gpu.")
    try:
        if gpu is not None:
            from tutorial.hardware.gpu_names import explain

            name = gpu.encode("utf-8", errors="replace").decode("utf-8")  # an argument may hold bytes that are no text
            title, hardware = "title_name", note_untold(Hardware(accelerators=[explain(name)]))
            if hardware.accelerators[0].vendor is None:
                raise NotRecognized(f"no vendor's graphics card is recognized in {name[:80]!r}")
        elif file is not None:
            from tutorial.hardware.paste import LARGEST, decode_text, read_paste

            stream = sys.stdin.buffer if file == "-" else open(file, "rb")
            with stream:
                title, hardware = "title_text", read_paste(decode_text(stream.read(LARGEST + 1)))
        else:
            from tutorial.hardware.report import this_machine

            title, hardware = "title_here", this_machine()
    except OSError as error:
        stop(f"{file}: cannot be read: {error.strerror}")
    except NotRecognized as error:
        stop(f"{file or 'The name'}: {error}" if file != "-" else f"The text: {error}")
    if as_json:
        print(hardware.model_dump_json(indent=2))
        return

    from tutorial.publish.inspection import report
    from tutorial.publish.words import Texts

    text = Texts("en")
    rows = report(hardware, text)
    table = Table(title=text(f"inspect.{title}"), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for column, style in (("criterion", "bold"), ("value", ""), ("means", "dim")):
        table.add_column(text(f"inspect.{column}"), style=style, overflow="fold", no_wrap=column == "criterion")
    problem = hardware.pytorch.problem
    for row in rows:
        if row.value and row.value != problem:
            table.add_row(*map(Text, row))
    # A file and a pipe have no width: there nothing is wrapped.
    lines = Console(width=None if say.is_terminal or "COLUMNS" in os.environ else 200)
    lines.print(table)
    for row in rows:
        if not row.value:
            say.print(Text(f"{row.criterion}: {row.meaning}"), soft_wrap=not say.is_terminal)
    if problem:
        say.print(Text(f"{text('inspect.pytorch.problem')}: {problem}", style="yellow"), soft_wrap=not say.is_terminal)
    if hardware.pytorch.cure:  # in one line, whatever the width, so that it can be copied
        say.print(Text(hardware.pytorch.cure), soft_wrap=True)


@app.command()
def measure(
    profile: ProfileOption = None,
    device: DeviceOption = [],
    only: OnlyOption = [],
    out: Annotated[Path | None, typer.Option(help="The results file; by default one named for the machine, in results/local of the checkout or else in this folder.")] = None,
):
    """Measure this machine and write a results file."""
    from tutorial.hardware.gpu import unusable_nvidia_card
    from tutorial.hardware.report import this_machine
    from tutorial.measure import runner
    from tutorial.measure.results import ResultsError

    warning = unusable_nvidia_card()
    if warning:
        problem, cure = warning.rsplit("\n", 1)
        warn.print(Panel(Text(problem), title="PyTorch cannot use the graphics card", border_style="yellow"))
        # Outside the box, whose border would get into what is copied; and for the Python that runs this.
        warn.print(cure.replace("pip install", f"{sys.executable} -m pip install"), markup=False, highlight=False, soft_wrap=True)
    try:
        devices, names = runner.choose_devices(device), runner.choose_experiments(only)
    except runner.UnknownName as error:
        stop(str(error))
    hardware = this_machine()
    path = results_path(hardware, out)
    if path.exists() and not path.is_file():
        stop(f"{path}: is no file that results could be written to")
    earlier = earlier_results(path)
    if profile is None:  # complete, or make anew, what is there
        profile = Profile(earlier.profile) if earlier and earlier.profile in list(Profile) else Profile.quick
    titles = {"cpu": hardware.cpu.model or "CPU"} | {a.device: a.name or a.device for a in hardware.accelerators}
    say.print("Measuring on " + " and ".join(f"{d} ({titles[str(d)]})" for d in devices), highlight=False, markup=False, soft_wrap=True)
    if [str(d) for d in devices] == ["cpu"] and not device:
        say.print("No accelerator that PyTorch can use: the site will say \"not measured here\" for the GPU.", soft_wrap=True)

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    try:
        # No thread that redraws: it would take the interpreter from what is being timed. The bars move between the blocks.
        with Progress(*columns, console=say, auto_refresh=False) as progress:

            def watch(name: str):
                task = progress.add_task(name, total=1.0)
                drawn = float("-inf")

                def tell(done: float) -> None:
                    nonlocal drawn
                    progress.update(task, completed=min(done, 1.0))
                    if done >= 1 or time.monotonic() - drawn > 0.5:
                        progress.refresh()
                        drawn = time.monotonic()

                return tell

            runner.measure(hardware, profile.value, devices, names, path, watch)
    except ResultsError as error:
        stop(str(error))
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who presses Ctrl-C twice is to see the message, too
        stop(f"Interrupted. What was finished is kept in {path}; the same command goes on from there.", 130)
    say.print(f"Written: {path}", highlight=False, markup=False, soft_wrap=True)
    if earlier and runner.name_aside(path, earlier).exists():  # of another profile, machine or version
        say.print(f"The measurement that was there (profile {earlier.profile}) is now {runner.name_aside(path, earlier)}.", highlight=False, markup=False, soft_wrap=True)
    if checkout() is None:
        say.print(
            "It names the chips and the versions, and nobody. Attach it to an issue or a pull request of the guide's repository; "
            "or put it into results/local of a checkout, where `tutorial build --no-measure` shows it.",
            highlight=False, markup=False, soft_wrap=True,
        )


def results_path(hardware: "Hardware", out: Path | None = None) -> Path:
    """Where the results of this machine lie."""
    from tutorial.measure.results import machine_slug

    root = checkout()
    return out or (root / "results" / "local" if root else Path.cwd()) / f"{machine_slug(hardware)}.json"


def earlier_results(path: Path) -> "Measured | None":
    """What was measured into this file before; None where there is nothing that can be read, of which the measurement tells."""
    from tutorial.measure.results import Measured, ResultsError, load

    try:
        earlier = load(path) if path.exists() else None
    except ResultsError:
        return None
    return earlier if isinstance(earlier, Measured) else None


@app.command()
def render(
    reference: Annotated[bool, typer.Option("--reference", help="Render the repository's own results into generated/, for a commit.")] = False,
):
    """Render tables and plots from all results."""
    root = repository()
    from tutorial.measure.results import ResultsError
    from tutorial.publish.render import render as render_all

    try:
        written = render_all(root, local=not reference)
    except ResultsError as error:
        stop(str(error))
    say.print(f"Rendered {len(written)} files.")


@app.command()
def build(
    profile: ProfileOption = None,
    device: DeviceOption = [],
    only: OnlyOption = [],
    no_measure: Annotated[bool, typer.Option("--no-measure", help="Build from the results that are there.")] = False,
):
    """Measure, render, and build the site into site/."""
    root = repository()
    asked = profile or device or only
    if not no_measure and (asked or not measured_in_full()):
        measure(profile, device, only, None)
    render(reference=False)
    build_site(root)
    served = f"or run {Path(sys.executable).parent / 'mkdocs'} serve and open the address that it prints (search works only there)"
    say.print(f"The site is built. Open {root / 'site' / 'index.html'}, {served}.", highlight=False, markup=False, soft_wrap=True)


def measured_in_full() -> bool:
    """Whether this machine has all results of the profile `full`: a quarter of an hour that is not spent again for every build."""
    from tutorial.hardware.report import this_machine

    path = results_path(this_machine())
    earlier = earlier_results(path)
    done = earlier is not None and earlier.profile == Profile.full and not earlier.pending
    if done:
        say.print(f"This machine is measured in full: {path}. `tutorial measure` measures it anew.", highlight=False, markup=False, soft_wrap=True)
    return done


def build_site(root: Path) -> None:
    """Build into a new folder that takes the place of site/ only when all is well."""
    site = root / "site"
    try:
        fresh = Path(tempfile.mkdtemp(prefix=".site-", dir=root))
    except OSError as error:
        stop(f"{root}: cannot be written: {error.strerror}")
    try:
        # Not --quiet: it drops the warnings before --strict can count them.
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(fresh)]
        shutil.rmtree(root / ".cache" / "labs", ignore_errors=True)  # the labs' cache does not know the torch version
        with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=say) as progress:
            progress.add_task("Building the pages, and running the lab for them; about a minute")
            environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONIOENCODING": "utf-8:replace"}
            outcome = subprocess.run(command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace")
        if outcome.returncode != 0:
            told = [line for line in outcome.stdout.splitlines() if line.strip() and not line.startswith(("INFO", "[IPKernelApp]"))]
            if "Traceback (most recent call last):" in told:  # its last line says what, and the rest is of MkDocs
                told[told.index("Traceback (most recent call last):") : -1] = []
            stop("\n".join([*told, "The build failed; the site that was there before is untouched."]), 1)
        fresh.chmod(0o755)
        # Opened as a file, a page cannot fetch the search index; without this script Material's own script stops there.
        index = fresh / "search" / "search_index.json"
        if index.exists():
            index.with_suffix(".js").write_text("var __index = " + index.read_text(encoding="utf-8"), encoding="utf-8")
        old = root / ".site-old"
        shutil.rmtree(old, ignore_errors=True)
        if site.exists():
            os.replace(site, old)
        try:
            os.replace(fresh, site)
        except BaseException:
            if old.exists():
                os.replace(old, site)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        stop(f"{site}: cannot be written: {error.strerror}")
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


if __name__ == "__main__":
    app()
