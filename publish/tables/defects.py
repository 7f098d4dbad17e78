"""``docs/defects.md``: each public defect with its mutants, the clauses that kill them, and the clients that break."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import from_json
from conformance.reference.register import Mutant

__all__ = ["DEFECTS", "NAME", "Defect", "reported_by", "text"]

NAME: Final = "defects.md"

_HEAD: Final = """\
# Public defects, and the mutants that repeat them

<!-- made by `python -m publish.refresh` from publish/tables/defects.toml and mutants; a test fails if it is stale -->

This page lists {count} defects from public reports and public source code. A writer of Storage Read responses can have
{applies} of them. Each of these has a mutant of the reference: `conformance serve --mutant NAME` runs it, and
`conformance prove` shows that its clauses fail on it and no others. Severity 3: wrong, lost or repeated data without an
error, or no common client works; 2: a common client or type is affected; 1: an edge case. These are facts about the
named versions.

| defect | seen in | severity | mutants | clauses that kill them | who breaks |
|---|---|---|---|---|---|
"""
_APART: Final = """\

## Defects without a mutant

| defect | seen in | why it has no mutant |
|---|---|---|
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Defect:
    """One public defect, in our words; ``apart`` says why it has no mutant, and is empty if it must have one."""

    id: str
    severity: int
    what: str
    seen: str
    breaks: str
    source: tuple[str, ...]
    apart: str = ""


@functools.cache
def _read() -> tuple[Defect, ...]:
    file = Path(__file__).with_suffix(".toml")
    return tuple(from_json(Defect, row) for row in tomllib.loads(file.read_text(encoding="utf-8"))["defect"])


DEFECTS: Final = _read()
"""Every defect, in the order of the file."""


def reported_by(defect: Defect) -> tuple[Mutant, ...]:
    """The mutants that repeat a defect, by name."""
    return tuple(mutant for _, mutant in sorted(MUTANTS.items()) if defect.id in mutant.defects)


def text() -> str:
    """The content of the file."""
    caught = [defect for defect in DEFECTS if not defect.apart]
    rows = [_row(defect) for defect in caught]
    apart = [f"| {_named(each)} | {each.seen} | {each.apart} |\n" for each in DEFECTS if each.apart]
    return "".join([_HEAD.format(count=len(DEFECTS), applies=len(caught)), *rows, _APART, *apart])


def _row(defect: Defect) -> str:
    mutants = reported_by(defect)
    names = "<br>".join(f"`{mutant.name}`" for mutant in mutants)
    clauses = "<br>".join(f"`{clause}`" for clause in dict.fromkeys(_kills(mutants)))
    return f"| {_named(defect)} | {defect.seen} | {defect.severity} | {names} | {clauses} | {defect.breaks} |\n"


def _kills(mutants: tuple[Mutant, ...]) -> Iterator[str]:
    for mutant in mutants:
        yield from mutant.kills


def _named(defect: Defect) -> str:
    links = " ".join(f"[{number}]({url})" for number, url in enumerate(defect.source, 1))
    return f"**{defect.id}** {defect.what} {links}"
