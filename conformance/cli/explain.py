"""``conformance explain``: explain one clause, or one cause of a run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from conformance.cli._common import find_clause
from conformance.cli._options import json_flag
from conformance.cli.clauses import facts
from conformance.contract.clause import MESSAGES, Clause, Role
from conformance.contract.disputes import dispute_of
from conformance.contract.mending import mending_of
from conformance.engine.selection import today


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
    conformance explain mine.json framing.batch-prefix        the same by its clause, if it has no other cause

    With a RUN, the path of its log or JSON report, explain one CAUSE: its deviations with their bytes, what sets them
    apart from what is right, the smallest case, what follows from it and what was not judged because of it.
    """  # noqa: D301  # click wants the character, not the escape
    if cause is not None:
        from conformance.cli._causes import explain_cause  # noqa: PLC0415  # a clause is explained without any extra

        explain_cause(Path(subject), cause, as_json=as_json)
        return
    if Path(subject).suffix in (".json", ".jsonl"):
        raise click.UsageError("expected a CAUSE of the RUN, its number on the screen, its key, or its clause")
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
    if dispute := dispute_of(clause.id, today()):
        click.echo(f"disputed  {dispute.text.removeprefix('disputed ')}; no run judges it until then")
    click.echo(f"applies   to {', '.join(clause.profiles)}")
    if clause.on_flight:
        click.echo(f"binds     the {'library' if clause.role is Role.LIBRARY else 'application'} of a Flight server")
    if clause.question is not None:
        click.echo(f"verdict   on the {clause.question} of a reader")
    for number, (library, call) in enumerate(mending_of(clause.id).items()):
        click.echo(f"{'' if number else 'mend it':<10}{library}: {call}")
    click.echo(f"judge it  {_judged_by(clause)}")


def _judged_by(clause: Clause) -> str:
    """The command that judges the clause."""
    if MESSAGES[0] in clause.profiles or clause.on_flight:
        return f"conformance run --target FILE --clause {clause.id}"
    if clause.role is Role.CLIENT:
        return f"conformance clients{' --flight' if clause.chapter == 'flight-client' else ''}"
    if clause.role is Role.READER:
        return "conformance read"
    if clause.chapter == "written":
        return "conformance write"
    return f"conformance check {'--writer ' if clause.role is Role.WRITER else ''}FILE"
