"""``conformance explain``: explain one clause, or one cause of a run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import click

from conformance.cli._clausesets import ClauseSet, clause_sets, gone
from conformance.cli._common import find_clause
from conformance.cli._group import Unusable
from conformance.cli._options import json_flag
from conformance.cli._wirerules import facts_of_rule, lines_of_rule, wire_rule
from conformance.cli.clauses import facts, first_sentence
from conformance.contract.clause import MESSAGES, Clause, Role
from conformance.contract.disputes import dispute_of
from conformance.contract.mending import mending_of
from conformance.contract.wholecase import EXPLAINED, ON_THE_CASE, WHOLE_CASE
from conformance.engine.selection import all_clauses, today
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.report.terminallayout import columns, commanded, flowed, paint


@click.command()
@click.argument("subject", metavar="CLAUSE | NUMBER | RUN")
@click.argument("cause", required=False)
@json_flag("Print the same facts as JSON.")
def command(*, subject: str, cause: str | None, as_json: bool) -> None:
    """Explain CLAUSE: what it requires, which text says so, and which public client breaks without it.

    \b
    conformance explain framing.batch-prefix                  one clause
    conformance explain 1                                     a cause of the last run, by its number on the screen
    conformance explain .conformance/mine.jsonl 1             a cause of any run, from its log
    conformance explain mine.json framing.batch-prefix~1f0a   the same by its key, from the JSON report
    conformance explain mine.json framing.batch-prefix        the same by its clause, if it has no other cause

    With a NUMBER, explain that cause of the last run in this directory.

    Instead of CLAUSE, give any other name that a report prints: `case`, a profile, a chapter, or a rule on bytes, which
    `dissect` and `replay` print.

    With a RUN, the path of its log or JSON report, explain one CAUSE: its deviations with their bytes, what sets them
    apart from what is right, the smallest case, what follows from it and what was not judged because of it.
    """  # noqa: D301  # click wants the character, not the escape
    if cause is not None or subject.isdecimal():
        from conformance.cli._causes import explain_cause, last_run  # noqa: PLC0415  # a clause needs no extra

        path, name = (last_run(), subject) if cause is None else (Path(subject), cause)
        explain_cause(path, name, as_json=as_json)
        return
    if Path(subject).suffix in (".json", ".jsonl"):
        raise click.UsageError("expected a CAUSE of the RUN, its number on the screen, its key, or its clause")
    if (found := _clause_set(subject)) is not None:
        if as_json:
            click.echo(json.dumps(dataclasses.asdict(found), indent=1, ensure_ascii=False))
            return
        for line in _lines_of_set(found, columns()):
            click.echo(line)
        return
    if subject not in all_clauses() and (rule := wire_rule(subject)) is not None:
        click.echo(json.dumps(facts_of_rule(rule), indent=1) if as_json else "\n".join(lines_of_rule(rule, columns())))
        return
    clause = ON_THE_CASE if subject == WHOLE_CASE else find_clause(subject)
    if as_json:
        click.echo(json.dumps(facts(clause), indent=1, ensure_ascii=False))
        return
    for line in _lines(clause, columns()):
        click.echo(line)


def _clause_set(name: str) -> ClauseSet | None:
    """The set of clauses with this name; None if it is the name of a clause, or of nothing.

    Raises:
        Unusable: it is a clause that was given up.
    """
    clauses = all_clauses()
    if name in clauses or name == WHOLE_CASE:
        return None
    if sentence := gone(name, clauses):
        raise Unusable(sentence)
    return clause_sets().get(name)


def _lines_of_set(found: ClauseSet, width: int) -> Iterator[str]:
    """The set with the first sentence of each of its clauses."""
    yield paint(f"{found.name}  [{found.kind}]", bold=True)
    if found.title:
        yield ""
        yield from flowed(found.title, width)
    yield ""
    for name in found.clauses:
        clause = EXPLAINED[name]
        yield from flowed(f"{name}  [{clause.level.upper()}]", width)
        yield from flowed(first_sentence(clause.explanation), width, head="  ")


def _lines(clause: Clause, width: int) -> Iterator[str]:
    yield paint(f"{clause.id}  [{clause.level.upper()}]", bold=True)
    yield ""
    yield from _explained(clause.explanation, width)
    yield ""
    dispute = dispute_of(clause.id, today())
    facts = {
        "source": clause.source,
        **{f"also{number}": address for number, address in enumerate(clause.also)},
        "evidence": clause.evidence_in_words,
        "breaks": clause.breaks or "no public client is known to break",
        "disputed": f"{dispute.text.removeprefix('disputed ')}; no run judges it until then" if dispute else "",
        "applies": f"to {', '.join(clause.profiles)}",
        "binds": f"the {_bound(clause)} of a {clause.protocol_word} server" if clause.protocol else "",
        "verdict": f"on the {clause.question} of a reader" if clause.question is not None else "",
    }
    for name, text in facts.items():
        if text:
            yield from flowed(text, width, head=f"{name.rstrip('0123456789'):<10}")
    for number, (library, call) in enumerate(mending_of(clause.id).items()):
        yield from flowed(f"{library}: {call}", width, head=f"{'' if number else 'mend it':<10}")
    if clause is ON_THE_CASE:
        return
    yield from commanded(_judged_by(clause), width, head=f"{'judge it':<10}")


def _explained(text: str, width: int) -> Iterator[str]:
    """The text as it is, if its lines fit; else its paragraphs, broken anew."""
    if all(len(line) <= width for line in text.split("\n")):
        yield from text.split("\n")
        return
    for place, paragraph in enumerate(text.split("\n\n")):
        yield from [""] * bool(place)
        if all(len(line) <= width for line in paragraph.split("\n")):
            yield from paragraph.split("\n")
        else:
            yield from flowed(" ".join(paragraph.split()), width)


def _bound(clause: Clause) -> str:
    """The part of a server that a clause on a server binds."""
    return "library" if clause.role is Role.LIBRARY else "application"


def _judged_by(clause: Clause) -> str:
    """The command that judges the clause."""
    if MESSAGES[0] in clause.profiles or clause.protocol:
        return f"conformance run --target FILE --clause {clause.id}"
    if clause.role is Role.CLIENT:
        return f"conformance clients{'' if clause.clients_of == DEFAULT_PROTOCOL else f' --{clause.clients_of}'}"
    if clause.role is Role.READER:
        return "conformance read"
    if clause.chapter == "written":
        return "conformance write"
    return f"conformance check {'--writer ' if clause.role is Role.WRITER else ''}FILE"
