"""``conformance explain``: explain one clause."""

from __future__ import annotations

import json

import click

from conformance.cli._common import find_clause
from conformance.cli._options import json_flag
from conformance.cli.clauses import facts
from conformance.contract.clause import MESSAGES, Clause, Role
from conformance.contract.disputes import dispute_of
from conformance.engine.selection import today


@click.command()
@click.argument("clause_id", metavar="CLAUSE")
@json_flag("Print the same facts as JSON.")
def command(*, clause_id: str, as_json: bool) -> None:
    """Explain CLAUSE: what it requires, which text says so, and which public client breaks without it."""
    clause = find_clause(clause_id)
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
    click.echo(f"judge it  {_judged_by(clause)}")


def _judged_by(clause: Clause) -> str:
    """The command that judges the clause."""
    if MESSAGES[0] in clause.profiles:
        return f"conformance run --target FILE --clause {clause.id}"
    if clause.role is Role.READER:
        return "conformance read"
    if clause.chapter == "written":
        return "conformance write"
    return f"conformance check {'--writer ' if clause.role is Role.WRITER else ''}FILE"
