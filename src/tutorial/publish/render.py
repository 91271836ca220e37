"""Render every table, plot and diagram, for every language, from the results files."""

from pathlib import Path

from tutorial.measure.results import Measured, Reported, load_all, write
from tutorial.publish import diagrams, examples, findings, loop_tables, plots, tables
from tutorial.publish.comparison import Machine
from tutorial.publish.machines import machine_reports
from tutorial.publish.timeline import timeline
from tutorial.publish.words import Texts, languages


def read_results(root: Path, local: bool) -> tuple[list[Machine], dict[str, Reported]]:
    """The results of a checkout: the reader's own machines first (where ``local``), then the reference ones.

    Raises ResultsError for a file that is broken, foreign or of an unknown version.
    """
    reference = load_all(root / "results")
    own = load_all(root / "results" / "local") if local else {}
    measured = [(name, r) for name, r in own.items() if isinstance(r, Measured)]
    measured.sort(key=lambda one: one[1].profile == "probe")  # last: it may come from anywhere, and tells least
    machines = [Machine(name, r, local=number) for number, (name, r) in enumerate(measured, 1)]
    machines += [Machine(name, r) for name, r in reference.items() if isinstance(r, Measured)]
    return machines, {name: r for name, r in reference.items() if isinstance(r, Reported)}


def fragments(
    machines: list[Machine], reports: dict[str, Reported], language: str, pastes: dict[str, str] = {}
) -> dict[str, str]:
    """Every rendered part of one language, by its path below the language's folder."""
    text = Texts(language)
    return {
        "tables/training.md": tables.training(machines, text),
        "tables/wide.md": tables.wide(machines, text),
        "tables/step.md": tables.step(machines, text),
        "tables/logging.md": tables.logging(machines, text),
        "tables/call.md": tables.call(machines, text),
        "tables/transfer.md": tables.transfer(machines, text),
        "tables/threads.md": tables.threads(machines, text),
        "tables/size.md": tables.size(machines, text),
        "tables/many.md": tables.many(machines, text),
        "tables/strategies.md": loop_tables.strategies(machines, text),
        "tables/bound.md": loop_tables.bounds(machines, text),
        "tables/overheads.md": loop_tables.overheads(machines, text),
        "tables/first-call.md": loop_tables.first_call(machines, text),
        "tables/counts.md": loop_tables.counts(machines, text),
        "tables/simulated-counts.md": loop_tables.simulated_counts(text),
        "tables/reported.md": tables.reported(reports, text),
        "tables/machines.md": tables.machines_list(machines, text),
        "tables/toolchain.md": tables.toolchain(machines, text),
        "tables/claims.md": findings.table(machines, text),
        "tables/machine-reports.md": machine_reports(machines, text),
        "figures/overview.md": plots.overview(machines, reports, text),
        "figures/loss-curve.md": plots.loss_curve(machines, text),
        "figures/logging.md": plots.logging(machines, text),
        "figures/transfer.md": plots.transfer(machines, text),
        "figures/size.md": plots.size(machines, text),
        "figures/size-map.md": plots.size_map(machines, text),
        "figures/timeline.md": timeline(machines, text),
        "diagrams/asynchronous.md": diagrams.asynchronous(text),
        "diagrams/bounds.md": diagrams.bounds(text),
        "diagrams/step.md": diagrams.step(text),
        "diagrams/decision.md": diagrams.decision(text),
        **findings.fragments(machines, text),
        **examples.fragments(pastes, text),
    }


def render(root: Path, local: bool) -> list[Path]:
    """Write the rendered parts and the raw data that the site links.

    With ``local``: from all results, into `.build/generated/` (ignored by git). Without: from the reference results,
    into `generated/`. Everything is rendered before anything is written, so a broken file changes nothing.
    """
    machines, reports = read_results(root, local)
    pastes = examples.read_pastes(root)
    target = root / (".build/generated" if local else "generated")
    files = {
        target / language / path: content + "\n"
        for language in languages()
        for path, content in fragments(machines, reports, language, pastes).items()
    }
    for machine in machines:
        if bool(machine.local) == local:
            source = root / machine.raw()
            files[root / "docs" / "en" / machine.raw()] = source.read_text(encoding="utf-8")
    for path, content in files.items():
        write(path, content)
    return list(files)
