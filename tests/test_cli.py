"""The command line: what it says, what it keeps, and how it ends when things are wrong."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from test_new_process import ended
from typer.testing import CliRunner

from tutorial import cli
from tutorial.hardware import gpu
from tutorial.measure import runner
from tutorial.measure.results import Record, load, save

run = CliRunner().invoke


@dataclass
class Checkout:
    """A folder that looks like a checkout, and experiments that take no time."""

    folder: Path
    measured: list[str] = field(default_factory=list)
    """The experiments in the order in which they ran."""
    table: dict = field(default_factory=dict)

    def experiment(self, name, raises=None):
        def measure(plan):
            plan.progress(0.5)
            if raises:
                raise raises
            self.measured.append(name)
            return [Record(experiment=name, group="g", case="c", role="single", device="cpu", threads=1, samples=[1e-3])]

        self.table[name] = measure

    @property
    def results(self) -> Path:
        (path,) = (self.folder / "results" / "local").glob("*.json")
        return path


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    (tmp_path / "results" / "local").mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    made = Checkout(tmp_path)
    for name in ("first", "second", "third"):
        made.experiment(name)
    monkeypatch.setattr(runner, "experiments", lambda: made.table)
    monkeypatch.setattr(runner, "accelerator_devices", lambda: [])
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: "")
    handler = signal.getsignal(signal.SIGINT)
    yield made
    signal.signal(signal.SIGINT, handler)  # an interrupted measurement ignores it from then on


def test_measure_writes_a_file_named_for_the_machine(checkout):
    outcome = run(cli.app, ["measure"])
    assert outcome.exit_code == 0, outcome.output
    assert "Measuring on cpu" in outcome.output and "not measured here" in outcome.output
    results = load(checkout.results)
    assert [r.experiment for r in results.records] == ["first", "second", "third"]
    assert results.pending == [] and results.profile == "quick"


def test_an_interrupted_measurement_goes_on_from_where_it_was(checkout):
    checkout.experiment("second", raises=KeyboardInterrupt())
    outcome = run(cli.app, ["measure"])
    assert outcome.exit_code == 130
    assert "kept" in outcome.output
    assert load(checkout.results).pending == ["second", "third"]
    checkout.experiment("second")
    assert run(cli.app, ["measure"]).exit_code == 0
    assert checkout.measured == ["first", "second", "third"]
    assert load(checkout.results).pending == []


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory.\nmore"), TypeError("no float64 here"), KeyError("x")])
def test_an_experiment_that_fails_stays_pending_and_the_rest_goes_on(checkout, error):
    checkout.experiment("second", raises=error)
    outcome = run(cli.app, ["measure"])
    assert outcome.exit_code == 2 and "Traceback" not in outcome.output
    told = outcome.output.strip().splitlines()[-1]
    assert f"not measured: second ({type(error).__name__}: {str(error).splitlines()[0]})" in told
    results = load(checkout.results)
    assert [r.experiment for r in results.records] == ["first", "third"] and results.pending == ["second"]
    checkout.experiment("second")
    assert run(cli.app, ["measure"]).exit_code == 0
    assert checkout.measured == ["first", "third", "second"] and load(checkout.results).pending == []


def meanwhile(checkout, do):
    """While the first experiment is measured, something else happens."""

    def measure(plan):
        do()
        checkout.measured.append("first")
        return [Record(experiment="first", group="g", case="c", role="single", device="cpu", threads=1, samples=[1e-3])]

    checkout.table["first"] = measure


def test_two_measurements_at_the_same_time_fill_one_file(checkout):
    meanwhile(checkout, lambda: run(cli.app, ["measure", "--only", "third"]))
    assert run(cli.app, ["measure", "--only", "first"]).exit_code == 0
    results = load(checkout.results)
    assert [r.experiment for r in results.records] == ["third", "first"] and results.pending == ["second"]


def test_what_both_have_measured_is_there_once(checkout):
    meanwhile(checkout, lambda: checkout.experiment("first") or run(cli.app, ["measure"]))
    assert run(cli.app, ["measure"]).exit_code == 0
    assert sorted(r.experiment for r in load(checkout.results).records) == ["first", "second", "third"]
    assert load(checkout.results).pending == []


def test_another_file_put_there_meanwhile_is_left(checkout):
    meanwhile(checkout, lambda: run(cli.app, ["measure", "--only", "third", "--profile", "full"]))
    outcome = run(cli.app, ["measure", "--only", "first"])
    assert outcome.exit_code == 2 and "another measurement" in outcome.output
    results = load(checkout.results)
    assert results.profile == "full" and [r.experiment for r in results.records] == ["third"]


def test_after_one_experiment_the_others_are_still_to_be_measured(checkout):
    run(cli.app, ["measure", "--only", "second"])
    assert load(checkout.results).pending == ["first", "third"]
    run(cli.app, ["measure", "--only", "second"])  # done, so anew
    assert checkout.measured == ["second"] * 2 and load(checkout.results).pending == ["first", "third"]
    run(cli.app, ["measure"])
    assert checkout.measured == ["second"] * 2 + ["first", "third"] and load(checkout.results).pending == []


def test_a_finished_measurement_is_made_anew(checkout):
    run(cli.app, ["measure"])
    run(cli.app, ["measure"])
    assert checkout.measured == ["first", "second", "third"] * 2
    assert len(load(checkout.results).records) == 3


def test_a_later_run_completes_the_file(checkout):
    run(cli.app, ["measure", "--only", "second"])
    assert [r.experiment for r in load(checkout.results).records] == ["second"]
    run(cli.app, ["measure", "--only", "first", "--only", "third"])
    assert sorted(r.experiment for r in load(checkout.results).records) == ["first", "second", "third"]
    assert checkout.measured == ["second", "first", "third"]


def test_another_profile_starts_a_new_file_and_sets_the_old_one_aside(checkout):
    run(cli.app, ["measure", "--only", "first", "--profile", "full"])
    outcome = run(cli.app, ["measure", "--only", "second", "--profile", "quick"])
    results = load(checkout.results)
    assert results.profile == "quick" and [r.experiment for r in results.records] == ["second"]
    (aside,) = checkout.results.parent.glob("*.json.old")
    assert f"(profile full) is now {aside}" in outcome.output
    assert load(aside).profile == "full" and [r.experiment for r in load(aside).records] == ["first"]


def test_measuring_anew_and_being_interrupted_loses_nothing(checkout):
    run(cli.app, ["measure"])
    checkout.experiment("first", raises=KeyboardInterrupt())
    assert run(cli.app, ["measure"]).exit_code == 130
    results = load(checkout.results)
    assert [r.experiment for r in results.records] == ["first", "second", "third"]
    assert results.pending == ["first", "second", "third"]


def test_a_device_that_is_not_there(checkout):
    outcome = run(cli.app, ["measure", "--device", "cuda:3"])
    assert outcome.exit_code == 2
    assert "'cuda:3'" in outcome.output and "there is: cpu" in outcome.output
    assert list((checkout.folder / "results" / "local").iterdir()) == []


def test_an_experiment_that_is_not_there(checkout):
    outcome = run(cli.app, ["measure", "--only", "thirst"])
    assert outcome.exit_code == 2
    assert "there is: first, second, third" in outcome.output


def test_devices_are_chosen_by_name_or_kind(monkeypatch):
    cards = [torch.device("cuda", 0), torch.device("cuda", 1)]
    monkeypatch.setattr(runner, "accelerator_devices", lambda: cards)
    cpu = torch.device("cpu")
    assert runner.choose_devices([]) == [cpu, *cards]
    assert runner.choose_devices(["cuda"]) == cards
    assert runner.choose_devices(["cuda:1", "cpu"]) == [cpu, cards[1]]


def test_a_broken_file_in_the_way_is_named_and_kept(checkout):
    path = checkout.folder / "mine.json"
    path.write_text("{", encoding="utf-8")
    outcome = run(cli.app, ["measure", "--out", str(path)])
    assert outcome.exit_code == 2
    assert "mine.json" in outcome.output
    assert checkout.measured == [] and path.read_text(encoding="utf-8") == "{"


def test_a_reported_file_is_not_overwritten(checkout):
    source = Path(cli.__file__).parents[2] / "results" / "reported-kaggle.json"
    path = checkout.folder / "mine.json"
    path.write_bytes(source.read_bytes())
    outcome = run(cli.app, ["measure", "--out", str(path)])
    assert outcome.exit_code == 2 and checkout.measured == []
    assert path.read_bytes() == source.read_bytes()


def test_a_place_that_cannot_be_written_is_told_before_anything_is_measured(checkout):
    (checkout.folder / "file").write_text("", encoding="utf-8")
    outcome = run(cli.app, ["measure", "--out", str(checkout.folder / "file" / "mine.json")])
    assert outcome.exit_code == 2
    assert "cannot be" in outcome.output and checkout.measured == []


def test_output_that_knows_few_characters_is_no_reason_to_stop(checkout):
    outcome = CliRunner(charset="ascii").invoke(cli.app, ["measure", "--out", "µ⠋.json"])
    assert outcome.exit_code == 0, outcome.exception
    assert "Written: ??.json" in outcome.output


def test_the_command_begins_without_the_seconds_that_pytorch_takes():
    subprocess.run([sys.executable, "-c", "import sys, tutorial.cli; sys.exit('torch' in sys.modules)"], env=os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[1])}, check=True)


def test_a_card_that_cannot_be_used_is_told_first(checkout, monkeypatch):
    monkeypatch.setattr(gpu, "nvidia_smi", lambda: "CUDA Version: 13.0\nGPU 0: NVIDIA GeForce RTX 4070 (UUID: GPU-1)\n")
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)
    outcome = run(cli.app, ["measure"], env={"COLUMNS": "60"})
    assert outcome.exit_code == 0
    assert "cannot use the graphics card" in outcome.output
    line = next(line for line in outcome.output.splitlines() if "pip install" in line)  # whole, to be copied
    assert line.startswith(sys.executable) and line.endswith("whl/cu130")
    assert outcome.output.index("pip install") < outcome.output.index("Measuring on")
    assert len(checkout.measured) == 3


def test_render_names_a_broken_file(checkout):
    (checkout.folder / "results" / "x.json").write_text("[]", encoding="utf-8")
    outcome = run(cli.app, ["render"])
    assert outcome.exit_code == 2 and "x.json" in outcome.output
    assert not (checkout.folder / ".build").exists()


def test_render_writes_the_readers_results_beside_the_reference(checkout, results):
    save(results, checkout.folder / "results" / "local" / "mine.json")
    outcome = run(cli.app, ["render"])
    assert outcome.exit_code == 0, outcome.output
    assert "Your machine" in (checkout.folder / ".build/generated/en/tables/training.md").read_text(encoding="utf-8")
    assert not (checkout.folder / "generated").exists()


def test_build_measures_renders_and_builds(checkout, monkeypatch):
    order = []
    monkeypatch.setattr(cli, "measure", lambda *arguments: order.append("measure"))
    monkeypatch.setattr(cli, "render", lambda **options: order.append("render"))
    monkeypatch.setattr(cli, "build_site", lambda root: order.append("site"))
    outcome = run(cli.app, ["build"])
    assert order == ["measure", "render", "site"]
    assert "index.html" in outcome.output and "mkdocs" in outcome.output
    run(cli.app, ["build", "--no-measure"])
    assert order[3:] == ["render", "site"]


def test_without_a_checkout_the_file_is_written_here_and_says_where_to_send_it(checkout, monkeypatch, tmp_path):
    (checkout.folder / "mkdocs.yml").unlink()
    monkeypatch.setattr(cli, "__file__", str(tmp_path / "lib" / "python3" / "site-packages" / "tutorial" / "cli.py"))
    outcome = run(cli.app, ["measure"])
    assert outcome.exit_code == 0, outcome.output
    (file,) = checkout.folder.glob("*.json")
    assert f"Written: {file}" in outcome.output and "Attach it to an issue" in outcome.output
    assert len(load(file).records) == 3
    for command in ("render", "build"):
        outcome = run(cli.app, [command, "--no-measure"][: 1 + (command == "build")])
        assert outcome.exit_code == 2 and "No checkout" in outcome.output


INSTALLED = """
import sys
from tutorial import cli
sys.modules.update(dict.fromkeys(["mkdocs", "material", "pymdownx", "mkdocs_jupyter", "ipykernel", "matplotlib"]))  # None: not installed
cli.app()
"""


def test_the_package_alone_measures(tmp_path):
    """A copy of it far from any repository, without the packages that build the site."""
    site, here = tmp_path / "site-packages", tmp_path / "here"
    here.mkdir()
    shutil.copytree(Path(cli.__file__).parent, site / "tutorial", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # somebody else's repository
    command = [sys.executable, "-c", INSTALLED, "measure", "--only", "call", "--device", "cpu"]
    outcome = subprocess.run(command, cwd=here, env=os.environ | {"PYTHONPATH": str(site)}, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    (file,) = here.iterdir()
    results = load(file)
    assert {record.experiment for record in results.records} == {"call"}
    assert results.commit is None
    outcome = subprocess.run([*command[:3], "render"], cwd=here, env=os.environ | {"PYTHONPATH": str(site)}, capture_output=True, text=True)
    assert outcome.returncode == 2 and outcome.stderr.startswith("No checkout")


def test_every_file_of_the_package_is_in_the_wheel():
    package = Path(cli.__file__).parent
    patterns = tomllib.loads((package.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]["tutorial"]
    files = {path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert files == {path for pattern in patterns for path in package.glob(pattern)}


ENDLESS = """
import subprocess, sys, time
from pathlib import Path
from tutorial import cli
from tutorial.measure import runner
from tutorial.measure.new_process import in_new_process
from tutorial.measure.results import Record
import endless

def first(plan):
    return [Record(experiment="first", group="g", case="c", role="single", device="cpu", threads=1, samples=[1e-3])]

def second(plan):
    in_new_process(endless.compile_something)

runner.experiments = lambda: {"first": first, "second": second}
cli.app()
"""

COMPILING = """
import os, subprocess, sys, time
from pathlib import Path

def compile_something():
    compiler = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    Path("processes.part").write_text(f"{os.getpid()} {compiler.pid}")
    os.rename("processes.part", "processes")
    time.sleep(300)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is sent another way there")
@pytest.mark.parametrize("pause", [0.0, 0.1, 0.5])
def test_ctrl_c_twice_leaves_a_valid_file_and_no_process(tmp_path, pause):
    (tmp_path / "endless.py").write_text(COMPILING, encoding="utf-8")
    path = os.pathsep.join([str(Path(cli.__file__).parents[1]), str(tmp_path)])
    command = [sys.executable, "-c", ENDLESS, "measure", "--out", "mine.json"]
    process = subprocess.Popen(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not (tmp_path / "processes").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to all in the foreground
    time.sleep(pause)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130 and "kept in mine.json" in told and "Traceback" not in told
    results = load(tmp_path / "mine.json")
    assert [record.experiment for record in results.records] == ["first"] and results.pending == ["second"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["endless.py", "mine.json", "processes"]
    for number in map(int, (tmp_path / "processes").read_text(encoding="utf-8").split()):
        assert ended(number)


@pytest.mark.parametrize("command", ["measure", "build"])
@pytest.mark.parametrize("device", ["cuda", "cuda:3", "mps", "tpu", ""])
def test_every_command_refuses_a_device_that_is_not_there(checkout, command, device):
    outcome = run(cli.app, [command, "--device", device])
    assert outcome.exit_code == 2 and len(outcome.output.strip().splitlines()) == 1
    assert f"no usable device {device!r} here; there is: cpu" in outcome.output
    assert checkout.measured == [] and not (checkout.folder / "site").exists()


def test_outside_a_checkout_the_packages_own_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.repository() == Path(cli.__file__).parents[2]


def test_a_build_that_fails_leaves_the_site(checkout):
    (checkout.folder / "site").mkdir()
    (checkout.folder / "site" / "index.html").write_text("before", encoding="utf-8")
    (checkout.folder / "docs").mkdir()
    (checkout.folder / "docs" / "index.md").write_text("[dead](nowhere.md)\n", encoding="utf-8")
    with pytest.raises(cli.typer.Exit) as ended:
        cli.build_site(checkout.folder)
    assert ended.value.exit_code == 1
    assert (checkout.folder / "site" / "index.html").read_text(encoding="utf-8") == "before"
    assert [name for name in os.listdir(checkout.folder) if name.startswith(".site")] == []


def test_a_missing_section_is_told_in_a_line(checkout, capfd):
    (checkout.folder / "mkdocs.yml").write_text("site_name: x\nmarkdown_extensions:\n  pymdownx.snippets: {check_paths: true}\n", encoding="utf-8")
    (checkout.folder / "docs").mkdir()
    (checkout.folder / "docs" / "index.md").write_text('--8<-- "mkdocs.yml:nowhere"\n', encoding="utf-8")
    with pytest.raises(cli.typer.Exit):
        cli.build_site(checkout.folder)
    told = capfd.readouterr().err
    assert "index.md" in told and "nowhere" in told and "Traceback" not in told and len(told.splitlines()) < 6


def test_a_site_that_cannot_take_its_place_leaves_the_old_one(checkout, monkeypatch):
    (checkout.folder / "site").mkdir()
    (checkout.folder / "site" / "index.html").write_text("before", encoding="utf-8")
    (checkout.folder / "docs").mkdir()
    (checkout.folder / "docs" / "index.md").write_text("# Fresh\n", encoding="utf-8")
    replace = os.replace

    def refused(source, target):
        if Path(source).name.startswith(".site-") and source.name != ".site-old":
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(cli.os, "replace", refused)
    with pytest.raises(cli.typer.Exit) as ended:
        cli.build_site(checkout.folder)
    assert ended.value.exit_code == 2
    assert (checkout.folder / "site" / "index.html").read_text(encoding="utf-8") == "before"
    assert [name for name in os.listdir(checkout.folder) if name.startswith(".site")] == []


def test_a_build_that_succeeds_takes_the_place_of_the_site(checkout):
    (checkout.folder / "site").mkdir()
    (checkout.folder / "site" / "old.html").write_text("before", encoding="utf-8")
    (checkout.folder / "docs").mkdir()
    (checkout.folder / "docs" / "index.md").write_text("# Fresh\n", encoding="utf-8")
    cli.build_site(checkout.folder)
    assert "Fresh" in (checkout.folder / "site" / "index.html").read_text(encoding="utf-8")
    assert not (checkout.folder / "site" / "old.html").exists()
    assert (checkout.folder / "site" / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = {")
    assert [name for name in os.listdir(checkout.folder) if name.startswith(".site")] == []


def built(monkeypatch, *options):
    """`tutorial build` without what it renders and builds."""
    monkeypatch.setattr(cli, "render", lambda reference: None)
    monkeypatch.setattr(cli, "build_site", lambda root: None)
    return run(cli.app, ["build", *options])


@pytest.mark.parametrize("options", [["--only", "second"], ["--only", "second", "--device", "cpu"], ["--only", "second", "--profile", "full"]])
def test_a_build_measures_what_it_is_asked_for(checkout, monkeypatch, options):
    run(cli.app, ["measure", "--profile", "full"])
    assert built(monkeypatch, *options).exit_code == 0
    assert checkout.measured == ["first", "second", "third", "second"]


def test_what_was_measured_in_full_is_not_measured_again_by_a_build(checkout, monkeypatch):
    run(cli.app, ["measure", "--profile", "full"])
    outcome = built(monkeypatch)
    assert outcome.exit_code == 0 and "measured in full" in outcome.output
    assert checkout.measured == ["first", "second", "third"]
    assert load(checkout.results).profile == "full"


def test_a_measurement_without_a_profile_completes_the_one_that_is_there(checkout, monkeypatch):
    checkout.experiment("second", raises=KeyboardInterrupt())
    run(cli.app, ["measure", "--profile", "full"])
    checkout.experiment("second")
    assert built(monkeypatch).exit_code == 0
    assert checkout.measured == ["first", "second", "third"]
    results = load(checkout.results)
    assert results.profile == "full" and results.pending == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device file")
def test_results_go_into_a_file_and_nothing_else(checkout):
    outcome = run(cli.app, ["measure", "--out", "/dev/full"])
    assert outcome.exit_code == 2 and outcome.output.startswith("/dev/full: is no file")
