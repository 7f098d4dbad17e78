"""``conformance explain``: explain one clause, or one cause of a run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from conformance.cli._common import find_clause
from conformance.cli._group import Unusable
from conformance.cli._options import json_flag
from conformance.cli.clauses import facts
from conformance.contain.text import unknown
from conformance.contract.clause import MESSAGES, Clause, Role
from conformance.engine.log import read_log
from conformance.engine.result import fold
from conformance.engine.selection import all_clauses
from conformance.records import to_json
from conformance.report.document import CauseResult, Report, document
from conformance.report.reading import read_report
from conformance.report.terminal import print_cause, terminal


@click.command()
@click.argument("subject", metavar="CLAUSE | RUN")
@click.argument("cause", required=False)
@json_flag("Print the same facts as JSON.")
def command(*, subject: str, cause: str | None, as_json: bool) -> None:
    """Explain CLAUSE: what it requires, which text says so, and which public client breaks without it.

    \b
    conformance explain framing.batch-prefix                  one clause
    conformance explain .conformance/mine.jsonl 1             one cause of a run, by its number on the screen
    conformance explain mine.json framing.batch-prefix~1f0a   the same by its key, from the JSON report

    With a RUN, the path of its log or JSON report, explain one CAUSE: its deviations with their bytes, what sets them
    apart from what is right, the smallest case, what follows from it and what was not judged because of it.
    """  # noqa: D301  # click wants the character, not the escape
    if cause is not None:
        _explain_cause(_report(Path(subject)), cause, as_json=as_json)
        return
    if Path(subject).suffix in (".json", ".jsonl"):
        raise click.UsageError("expected a CAUSE of the RUN, its number on the screen or its key")
    clause = find_clause(subject)
    if as_json:
        click.echo(json.dumps(facts(clause), indent=1, ensure_ascii=False))
        return
    click.secho(f"{clause.id}  [{clause.level.upper()}]", bold=True)
    click.echo(f"\n{clause.explanation}\n")
    click.echo(f"source    {clause.source}")
    for address in clause.also:
        click.echo(f"also      {address}")
    click.echo(f"evidence  {clause.evidence_in_words}")
    click.echo(f"breaks    {clause.breaks or 'no public client is known to break'}")
    click.echo(f"applies   to {', '.join(clause.profiles)}")
    click.echo(f"judge it  {_judged_by(clause)}")


def _report(path: Path) -> Report:
    """The report of a run, from its log or its JSON report."""
    all_clauses()
    try:
        return read_report(path) if path.suffix == ".json" else document(fold(read_log(path)))
    except OSError as error:
        raise Unusable(f"expected the path of a log or a JSON report, got {path}: {error.strerror}") from None


def _explain_cause(report: Report, name: str, *, as_json: bool) -> None:
    cause = _find(report, name)
    if as_json:
        click.echo(json.dumps(to_json(cause), indent=1, ensure_ascii=False))
    else:
        print_cause(terminal(), report, cause)


def _find(report: Report, name: str) -> CauseResult:
    """The cause with this number or key; raises Unusable if there is none."""
    if not report.causes:
        why = "its report has none; make it again from the log" if report.failed else "it has none"
        raise Unusable(f"expected a run with causes, got one where {why}")
    if name.isdecimal():
        if not 0 < int(name) <= len(report.causes):
            raise Unusable(f"expected a cause from 1 to {len(report.causes)}, got {name}")
        return report.causes[int(name) - 1]
    by_key = {cause.key: cause for cause in report.causes}
    if name not in by_key:
        raise Unusable(unknown("cause", name, by_key, f"this run has 1 to {len(by_key)}"))
    return by_key[name]


def _judged_by(clause: Clause) -> str:
    """The command that judges the clause."""
    if MESSAGES[0] in clause.profiles:
        return f"conformance run --target FILE --clause {clause.id}"
    if clause.role is Role.READER:
        return "conformance read"
    if clause.chapter == "written":
        return "conformance write"
    return f"conformance check {'--writer ' if clause.role is Role.WRITER else ''}FILE"
