"""``docs/clauses.md``: every clause with its level, text, source, cases and mutants."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from conformance._globs import matches
from conformance.contract.clause import MESSAGES, Clause, Role
from conformance.contract.closed import EvidenceKind
from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.records import Case, Level
from conformance.reference.proven import proven_mutants
from publish.tables import consequences, queryconsequences

__all__ = ["NAME", "text"]

NAME: Final = "clauses.md"
SHOWN: Final = 6
"""The number of cases named for a clause; a clause on every message has hundreds."""

_HEAD: Final = """\
# The clauses

<!-- made by `python -m publish.refresh`; a test fails where this file is out of date -->

{count} clauses in {chapters} chapters: {must} MUST, {should} SHOULD, {may} MAY.
Ids are permanent ([stability](stability.md)). *Breaks* says what goes wrong for which client, if that is known.
*Measured* are the paths of clients that a mutant of the clause harms, from [the matrix](consequences.md) and
[that of query results](query-consequences.md).
*Cases* are there to observe the clause; if none is named, every case with such bytes or calls observes it.
*Mutants* are implementations on which the clause must fail (`conformance prove`).
`conformance explain ID` prints the same.

Each clause says what kinds of [evidence](terms.md#evidence) it rests on, strongest first. A clause with several kinds
counts once for each:

| evidence | MUST | SHOULD | MAY |
|---|---|---|---|
{evidence}
| chapter | clauses |
|---|---|
"""


def text() -> str:
    """The content of the file."""
    clauses = list(all_clauses().values())
    reports = (consequences.load(), queryconsequences.load())
    cases = sorted(load_corpus(data_file("cases"), None).values(), key=lambda case: case.id)
    chapters = [(name, list(members)) for name, members in itertools.groupby(clauses, lambda each: each.chapter)]
    counts = {level.value: sum(each.level is level for each in clauses) for level in Level}
    lines = [f"| [{name}](#{name}) | {len(members)} |\n" for name, members in chapters]
    evidence = "".join(_counts(clauses))
    parts = [_HEAD.format(count=len(clauses), chapters=len(chapters), evidence=evidence, **counts), *lines]
    for name, members in chapters:
        parts.append(f"\n## {name}\n")
        for each in members:
            found = "; ".join(filter(None, (consequences.measured(report, each.id) for report in reports)))
            parts += _entry(each, cases, found)
    return "".join(parts)


def _entry(clause: Clause, cases: Sequence[Case], measured: str) -> Iterator[str]:
    yield f"\n### {clause.id}\n\n"
    applies = "" if clause.profiles == MESSAGES[:1] else f" · {_whom(clause)} ({', '.join(clause.profiles)})"
    yield f"**{clause.level.upper()}**{applies} · {_evidence(clause)}\n\n"
    yield clause.explanation.strip() + "\n\n"
    if clause.breaks:
        yield f"- *Breaks:* {clause.breaks}\n"
    if measured:
        yield f"- *Measured:* {measured}\n"
    if named := [case.id for case in cases if matches(clause.id, case.clauses)]:
        more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        yield f"- *Cases:* {', '.join(f'`{case}`' for case in named[:SHOWN])}{more}\n"
    if killers := [mutant.name for mutant in proven_mutants().values() if clause.id in mutant.kills]:
        yield f"- *Mutants:* {', '.join(f'`{name}`' for name in sorted(killers))}\n"


def _evidence(clause: Clause) -> str:
    """The kinds of evidence for a clause, and the addresses that are this evidence."""
    also = "".join(f" [{number}]({address})" for number, address in enumerate(clause.also, 2))
    return f"{clause.evidence_in_words} · [source]({clause.source}){also}"


def _counts(clauses: Sequence[Clause]) -> Iterator[str]:
    for kind in EvidenceKind:
        having = [clause for clause in clauses if kind in clause.evidence]
        numbers = " | ".join(str(sum(clause.level is level for clause in having)) for level in Level)
        yield f"| {kind.words} | {numbers} |\n"


def _whom(clause: Clause) -> str:
    """The implementations that a clause applies to, if it is not about servers only."""
    if clause.question is not None:
        return f"{clause.question} of any reader of Arrow IPC"
    if clause.protocol:
        return "any Flight library" if clause.role is Role.LIBRARY else "any application on a Flight library"
    if clause.on_messages:
        return "any writer of Arrow messages"
    return "any writer of Arrow IPC" if clause.role is Role.WRITER else "any Arrow IPC"
