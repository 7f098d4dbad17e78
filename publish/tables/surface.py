"""``docs/surface.md``: each statement on the service, with the clauses, cases and mutants that hold a server to it."""

from __future__ import annotations

import dataclasses
import fnmatch
import itertools
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from conformance._globs import matches
from conformance.contract.clause import MESSAGES, Clause
from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import Case, from_json

__all__ = ["ELSEWHERE", "NAME", "SOURCES", "STATEMENTS", "Elsewhere", "Statement", "named", "on_servers", "text"]

NAME: Final = "surface.md"
SHOWN: Final = 3
"""The number of cases, and of mutants, named for a statement: a clause on every message has hundreds."""

_HEAD: Final = """\
# The whole surface

<!-- made by `python -m publish.refresh` from publish/tables/surface.toml; a test fails if this file is out of date -->

This page lists the statements of BigQueryRead's proto files and guide, and those that follow from public records of
the service, in the suite's own words. Of {count} statements {judged} have clauses; {without} say why they have none.
Next to clauses, the reason says what they leave open. At most {shown} cases and mutants are named, those of the fewest
clauses first; [clauses.md](clauses.md) has more, and the evidence of each clause. *Any* means that every case with
such calls or bytes shows the clause.
"""
_TABLE: Final = """\

## {part}

| statement | clauses | cases | mutants | reason |
|---|---|---|---|---|
"""
_ELSEWHERE: Final = """\

## Clauses of no statement

| clauses | reason |
|---|---|
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Statement:
    """One statement on the service, in own words, with its sources.

    ``clauses`` are ids or globs of clauses; ``why`` is the reason if there are none, or what they leave open.
    """

    part: str
    says: str
    source: tuple[str, ...]
    clauses: tuple[str, ...] = ()
    why: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Elsewhere:
    """Clauses on servers that belong to no statement, and the reason."""

    clauses: tuple[str, ...]
    why: str


_FILE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SOURCES: Final[Mapping[str, str]] = MappingProxyType(_FILE["source"])
"""The public address of each source."""
STATEMENTS: Final = tuple(from_json(Statement, row) for row in _FILE["statement"])
"""Every statement, in the order of the file."""
ELSEWHERE: Final = tuple(from_json(Elsewhere, row) for row in _FILE["elsewhere"])


def on_servers() -> Mapping[str, Clause]:
    """The clauses that a server of the Storage Read API is judged by, by id."""
    return {name: clause for name, clause in all_clauses().items() if MESSAGES[0] in clause.profiles}


def named(patterns: Iterable[str]) -> list[str]:
    """The ids of the clauses on servers that match one of ``patterns``, in the order of the chapters."""
    globs = tuple(patterns)
    return [name for name in on_servers() if matches(name, globs)]


def text() -> str:
    """The content of the file."""
    cases = sorted(load_corpus(data_file("cases")).values(), key=lambda case: (len(case.clauses), case.id))
    judged = sum(bool(each.clauses) for each in STATEMENTS)
    parts = [_HEAD.format(count=len(STATEMENTS), judged=judged, without=len(STATEMENTS) - judged, shown=SHOWN)]
    for part, statements in itertools.groupby(STATEMENTS, lambda each: each.part):
        parts.append(_TABLE.format(part=part))
        parts += [_row(each, cases) for each in statements]
    parts.append(_ELSEWHERE)
    parts += [f"| {_codes(each.clauses)} | {each.why} |\n" for each in ELSEWHERE]
    return "".join(parts)


def _row(statement: Statement, cases: Sequence[Case]) -> str:
    links = " ".join(f"[{number}]({SOURCES[key]})" for number, key in enumerate(statement.source, 1))
    ids = frozenset(named(statement.clauses))
    shown = [case.id for case in cases if any(fnmatch.filter(ids, glob) for glob in case.clauses)]
    killers = sorted(MUTANTS.values(), key=lambda each: (each.kills[0] not in ids, each.name))
    mutants = [each.name for each in killers if not ids.isdisjoint(each.kills)]
    cells = (
        f"{statement.says} {links}",
        "<br>".join(_linked(pattern) for pattern in statement.clauses),
        _some(shown) or ("any" if ids else ""),
        _some(mutants),
        statement.why,
    )
    return f"| {' | '.join(cells)} |\n"


def _linked(pattern: str) -> str:
    """A clause or a chapter of clauses, with its place in ``docs/clauses.md``."""
    anchor = pattern.removesuffix(".*").replace(".", "")
    return f"[`{pattern}`](clauses.md#{anchor})"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return _codes(names[:SHOWN]) + more


def _codes(names: Sequence[str]) -> str:
    return "<br>".join(f"`{name}`" for name in names)
