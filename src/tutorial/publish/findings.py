"""What the results say to the claims, as Markdown: a block under the text that makes the claim, and all in one table."""

from collections import Counter

from tutorial.publish.claims import CLAIMS, NOT_MEASURED, VERDICTS, Claim, Finding, findings
from tutorial.publish.comparison import Machine
from tutorial.publish.tables import blaming, indented, markdown_table
from tutorial.publish.words import Texts, safe


def fragments(machines: list[Machine], text: Texts) -> dict[str, str]:
    """The block of each claim, by its path."""
    return {f"claims/{claim.id}.md": block(claim, machines, text) for claim in CLAIMS}


def judged(claim: Claim, machine: Machine) -> dict[str | None, Finding]:
    with blaming(machine.raw()):
        return findings(claim, machine.results)


def block(claim: Claim, machines: list[Machine], text: Texts) -> str:
    """The statement; for each machine verdict, figures and where they come from; what the comparison was."""
    parts, missing = [], []
    for machine in machines:
        said = judged(claim, machine)
        lines = [sentence(claim, machine, device, finding, text) for device, finding in said.items() if finding.verdict != NOT_MEASURED]
        if lines:
            parts += [*lines, source(machine, text)]
        absent = {device: finding for device, finding in said.items() if finding.verdict == NOT_MEASURED}
        if absent:
            missing.append(absence(machine, absent, text))
    if missing:
        parts.append(f"{text('not_measured_here')}: {'; '.join(missing)}")
    if not machines:
        parts.append(text("not_measured_anywhere"))
    about = {key: text(f"claim.{claim.id}.{key}") for key in ("clock", "against")}
    parts.append(text("claims.about", **about) + "\n{ .measured }")
    return f'!!! claim "{text(f"claim.{claim.id}.statement")}"\n\n' + indented("\n\n".join(parts))


def sentence(claim: Claim, machine: Machine, device: str, finding: Finding, text: Texts) -> str:
    """`**CPU: holds.** ...`"""
    named = {key: text.name(section, case) for key, (section, case) in finding.named.items()}
    return text(
        "claims.sentence",
        device=machine.device_title(device, text),
        verdict=word(finding, text),
        figures=text(f"claim.{claim.id}.{finding.sentence}", **finding.figures, **named),
        n=finding.n,
    )


def word(finding: Finding, text: Texts) -> str:
    return text(f"claims.verdict.{finding.verdict.replace(' ', '_')}")


def absence(machine: Machine, absent: dict[str | None, Finding], text: Texts) -> str:
    """Which devices of a machine have no result, and why, where the case said so."""
    devices = []
    for device, finding in absent.items():
        name = text("device.gpu") if device is None else machine.device_title(device, text)
        reason = finding.figures.get("reason")
        devices.append(f"{name}: {safe(reason)}" if reason else name)
    return text("claims.absent", devices="; ".join(devices), machine=machine.link(text))


def source(machine: Machine, text: Texts) -> str:
    results = machine.results
    line = text("claims.source", machine=machine.link(text), torch=safe(results.software["torch"]), date=results.when.date().isoformat(), profile=results.profile, raw=machine.raw())
    return line + "\n{ .measured }"


def table(machines: list[Machine], text: Texts) -> str:
    """All claims and all machines."""
    rows = []
    for claim in CLAIMS:
        chapter = f"[{text(f'claims.chapter.{claim.chapter}')}]({claim.chapter}.md)"
        cells = []
        for machine in machines:
            said = judged(claim, machine)
            named = len(said) > 1
            cells.append("<br>".join(f"{machine.device_title(device, text) if device else text('device.gpu')}: {mark(f, text)}" if named else mark(f, text) for device, f in said.items()))
        rows.append([text(f"claim.{claim.id}.statement"), chapter, *cells])
    rows.append([text("claims.sum"), "", *(count(machine, text) for machine in machines)])
    header = [text("claims.claim"), text("claims.in_chapter"), *(machine.link(text) for machine in machines)]
    return markdown_table(header, rows, right=len(header))


def mark(finding: Finding, text: Texts) -> str:
    """The verdict; what is news is set in bold, what is missing in italics."""
    style = {"does not hold": "**", NOT_MEASURED: "*"}.get(finding.verdict, "")
    return f"{style}{word(finding, text)}{style}"


def count(machine: Machine, text: Texts) -> str:
    """How many findings there are of each verdict."""
    found = Counter(finding.verdict for claim in CLAIMS for finding in judged(claim, machine).values())
    return ", ".join(text(f"claims.count.{verdict.replace(' ', '_')}", count=found[verdict]) for verdict in VERDICTS if found[verdict])
