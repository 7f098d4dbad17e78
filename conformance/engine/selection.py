"""Choosing what runs: globs over cases and clauses, a level, capabilities, a shard.

What is not chosen is kept with its reason, because a report that hides it reads like one that judged everything.
A pattern that chooses nothing is a mistake of the user's and is said at once; so is an empty choice.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from conformance.contract.clause import CLAUSES, PROFILES, Clause, load_chapters
from conformance.engine.shards import Shard
from conformance.records import Case, Level

__all__ = ["OTHER_SHARD", "LeftOut", "Patterns", "Plan", "Selection", "SelectionError", "all_clauses", "binds", "plan"]

PROFILE: Final = PROFILES[0]
"""The profile of everything that is driven by cases; bare messages are judged by their own."""

OTHER_SHARD: Final = "it belongs to another shard"
"""Why a shard leaves a case out; the other shards' logs have it."""

_BINDING: Final = {Level.MUST: 0, Level.SHOULD: 1, Level.MAY: 2}


class SelectionError(ValueError):
    """A pattern matched nothing, or nothing was left to run; the message says which and where to look."""


class Patterns:
    """Globs that count what they matched, so that a dead one shows itself; no globs match everything."""

    def __init__(self, globs: Iterable[str]) -> None:
        self._counts = dict.fromkeys(globs, 0)

    def match(self, *names: str) -> bool:
        """Whether any of the globs matches any of ``names``; every glob that does is counted."""
        hits = [glob for glob in self._counts if any(fnmatch.fnmatchcase(name, glob) for name in names)]
        for glob in hits:
            self._counts[glob] += 1
        return bool(hits) or not self._counts

    @property
    def dead(self) -> list[str]:
        """The globs that matched nothing so far."""
        return [glob for glob, count in self._counts.items() if not count]


@dataclasses.dataclass(frozen=True, slots=True)
class Selection:
    """What the user asked for; the default asks for everything.

    ``level`` is the least binding level still wanted: ``should`` takes MUST and SHOULD.
    ``capabilities`` are globs over what cases need: only cases that need one of them run.
    ``shard`` takes its part of the cases that all of this chooses, generated ones among them.
    """

    cases: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    level: Level = Level.MAY
    capabilities: tuple[str, ...] = ()
    shard: Shard | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class LeftOut:
    """A case or clause (``kind``) that was not chosen, and why."""

    kind: str
    id: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What runs: the chosen cases in corpus order, the chosen clauses in register order, and what was left out."""

    cases: tuple[Case, ...]
    clauses: tuple[Clause, ...]
    left_out: tuple[LeftOut, ...]


def all_clauses() -> Mapping[str, Clause]:
    """The register of clauses, complete, in chapter order."""
    load_chapters()
    return CLAUSES


def plan(cases: Sequence[Case], clauses: Mapping[str, Clause], selection: Selection) -> Plan:
    """The cases and clauses that ``selection`` chooses.

    Raises:
        SelectionError: a pattern matched nothing, or no case or clause is left.
    """
    left_out: list[LeftOut] = []
    chosen_clauses = _clauses(clauses, selection, left_out)
    chosen_cases = _cases(cases, selection, left_out)
    return Plan(tuple(chosen_cases), tuple(chosen_clauses), tuple(left_out))


def binds(clause: Clause, level: Level) -> bool:
    """Whether a clause is as binding as ``level``, or more."""
    return _BINDING[clause.level] <= _BINDING[level]


def _clauses(clauses: Mapping[str, Clause], selection: Selection, left_out: list[LeftOut]) -> list[Clause]:
    globs: Patterns = Patterns(selection.clauses)
    chosen = []
    for clause in clauses.values():
        if not globs.match(clause.id):
            left_out.append(LeftOut("clause", clause.id, "no --clause pattern matches it"))
        elif PROFILE not in clause.profiles:
            left_out.append(LeftOut("clause", clause.id, f"it is not of the profile {PROFILE}"))
        elif not binds(clause, selection.level):
            left_out.append(LeftOut("clause", clause.id, f"its level is {clause.level}"))
        else:
            chosen.append(clause)
    _refuse_dead(globs, "clause")
    if not chosen:
        raise SelectionError(
            f"no clause is left at level {selection.level}; `conformance clauses` lists all with levels"
        )
    return chosen


def _cases(cases: Sequence[Case], selection: Selection, left_out: list[LeftOut]) -> list[Case]:
    globs: Patterns = Patterns(selection.cases)
    needs: Patterns = Patterns(selection.capabilities)
    chosen = []
    for case in cases:
        if not globs.match(case.id):
            left_out.append(LeftOut("case", case.id, "no --select pattern matches it"))
        elif not needs.match(*case.needs):
            left_out.append(LeftOut("case", case.id, "it needs none of the capabilities asked for"))
        elif selection.shard is not None and not selection.shard.holds(case.id):
            left_out.append(LeftOut("case", case.id, OTHER_SHARD))
        else:
            chosen.append(case)
    _refuse_dead(globs, "case")
    if dead := needs.dead:
        raise SelectionError(
            f"no case needs a capability like {dead[0]!r}; `conformance show CASE` prints what one needs"
        )
    if selection.shard is not None and not chosen and any(left.reason == OTHER_SHARD for left in left_out):
        raise SelectionError(f"shard {selection.shard} holds none of the cases chosen; run them in fewer shards")
    if cases and not chosen:
        raise SelectionError("the selection leaves no case to run; `conformance list cases` lists them all")
    return chosen


def _refuse_dead(globs: Patterns, kind: str) -> None:
    if dead := globs.dead:
        raise SelectionError(f"no {kind} matches {dead[0]!r}; `conformance list {kind}s` lists them all")
