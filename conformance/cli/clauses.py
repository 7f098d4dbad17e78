"""``conformance clauses``: list all clauses with their levels."""

from __future__ import annotations

import json
from itertools import groupby

import click

from conformance.cli._options import json_flag
from conformance.contain.text import many
from conformance.contract.clause import Clause
from conformance.contract.mending import mending_of
from conformance.engine.selection import all_clauses
from conformance.records import Level
from conformance.report.terminallayout import columns, flowed


@click.command()
@click.option("--level", type=click.Choice([level.value for level in Level]), help="List only clauses of this level.")
@json_flag("Print all facts about each clause as a JSON array.")
def command(*, level: str | None, as_json: bool) -> None:
    """List the clauses by chapter, each with its level and the first sentence of its text."""
    chosen = [clause for clause in all_clauses().values() if level is None or clause.level == level]
    if as_json:
        click.echo(json.dumps([facts(clause) for clause in chosen], indent=1, ensure_ascii=False))
        return
    for chapter, clauses in groupby(chosen, key=lambda clause: clause.chapter):
        members = list(clauses)
        click.secho(f"\n{chapter} ({len(members)})", bold=True)
        for clause in members:
            for line in (
                *flowed(f"{clause.id}  [{clause.level.upper()}]", columns(), head="  "),
                *flowed(first_sentence(clause.explanation), columns(), head="      "),
            ):
                click.echo(line)
    click.echo(f"\n{many(len(chosen), 'clause')}; `conformance explain ID` explains one")


def first_sentence(text: str) -> str:
    """The first sentence of ``text``, on one line."""
    flat = " ".join(text.split())
    head, stop, _ = flat.partition(". ")
    return head + stop.strip()


def facts(clause: Clause) -> dict[str, object]:
    """The facts about ``clause``, as plain values."""
    return {
        "id": clause.id,
        "level": clause.level.value,
        "explanation": clause.explanation,
        "source": clause.source,
        "also": list(clause.also),
        "evidence": [kind.value for kind in clause.evidence],
        "breaks": clause.breaks,
        "profiles": list(clause.profiles),
        "role": clause.role.value,
        "question": clause.question.value if clause.question else "",
        "mending": dict(mending_of(clause.id)),
    }
