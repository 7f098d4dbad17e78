"""Select what runs: globs over cases and clauses, a level, capabilities, a shard.

Everything left out is recorded with its reason; a report that hid it would look like one that judged everything. A
pattern that matches nothing is a user's mistake and raises at once; so does an empty selection.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance._globs import matches
from conformance.contain.text import nearest
from conformance.contract.clause import CLAUSES, PROFILES, Clause, load_chapters
from conformance.contract.disputes import dispute_of, expired
from conformance.contract.viewing import profile_of
from conformance.engine.requirements import corpus_of
from conformance.engine.shards import Shard
from conformance.generate.forms import BASE, in_form, in_forms, names_of, wanted
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import Case, Level, described

__all__ = [
    "NOT_OF_PROFILE",
    "NO_ROW",
    "OTHER_SHARD",
    "LeftOut",
    "Patterns",
    "Plan",
    "Selection",
    "SelectionError",
    "all_clauses",
    "binds",
    "clauses_on",
    "not_of",
    "of_protocol",
    "plan",
    "today",
    "undisputed",
]

PROFILE: Final = PROFILES[0]
"""The byte profile of Storage Read; other protocols and bare messages have others."""

OTHER_SHARD: Final = "it belongs to another shard"
NO_ROW: Final = "no row came for"
"""The beginning of the reason why a run ends early."""
"""The reason why a shard leaves a case out; the log of another shard has the case."""


def not_of(profile: str) -> str:
    """The reason why a run under a byte profile leaves a clause out."""
    return f"it is not of the byte profile {profile}"


NOT_OF_PROFILE: Final = not_of(PROFILE)
"""The reason why a run on Storage Read leaves a clause out."""

_BINDING: Final = {Level.MUST: 0, Level.SHOULD: 1, Level.MAY: 2}


class SelectionError(ValueError):
    """A pattern matched nothing, or nothing was left to run; the message says which and where to look."""


class Patterns:
    """Globs that count their matches, so that unused ones can be reported; an empty set of globs matches everything."""

    def __init__(self, globs: Iterable[str]) -> None:
        self._counts = dict.fromkeys(globs, 0)

    def match(self, *names: str) -> bool:
        """True if any of the globs matches any of ``names``; every glob that matches is counted."""
        hits = [glob for glob in self._counts if any(matches(name, (glob,)) for name in names)]
        for glob in hits:
            self._counts[glob] += 1
        return bool(hits) or not self._counts

    @property
    def globs(self) -> tuple[str, ...]:
        """The globs."""
        return tuple(self._counts)

    @property
    def dead(self) -> list[str]:
        """The globs that have matched nothing so far."""
        return [glob for glob, count in self._counts.items() if not count]


@dataclasses.dataclass(frozen=True, slots=True)
class Selection:
    """The user's selection; the default selects everything.

    ``level`` is the least binding level that is selected: ``should`` selects MUST and SHOULD. ``capabilities`` are
    globs over the needs of cases: only cases that need a matching capability run. ``shard`` selects a part of the
    cases that remain, generated ones included. ``form`` is the form of all cases (:mod:`conformance.generate.forms`).
    """

    cases: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    level: Level = Level.MAY
    capabilities: tuple[str, ...] = ()
    shard: Shard | None = None
    form: str = BASE

    @property
    def narrows_cases(self) -> bool:
        """True if the user named cases, by their ids or by what they need."""
        return bool(self.cases or self.capabilities)


@dataclasses.dataclass(frozen=True, slots=True)
class LeftOut:
    """A case or clause (``kind``) that was not selected, and the reason."""

    kind: str
    id: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The selected cases in corpus order, the selected clauses in register order, and everything else with reasons.

    ``remarks`` are about the selection: disputes that have expired. ``corpus`` is the digest of all cases, selected or
    not; empty for a case that somebody chose alone.
    """

    cases: tuple[Case, ...]
    clauses: tuple[Clause, ...]
    left_out: tuple[LeftOut, ...]
    remarks: tuple[str, ...] = ()
    corpus: str = ""


def all_clauses() -> Mapping[str, Clause]:
    """The complete register of clauses, in chapter order."""
    load_chapters()
    return CLAUSES


def undisputed(clauses: Iterable[Clause], on: dt.date | None = None) -> tuple[tuple[Clause, ...], tuple[LeftOut, ...]]:
    """The clauses that the suite's owner has not put aside on a day (today), and those that are, with the reasons."""
    day = on or today()
    disputes = {clause: dispute_of(clause.id, day) for clause in clauses}
    kept = tuple(clause for clause, dispute in disputes.items() if dispute is None)
    return kept, tuple(LeftOut("clause", dispute.clause, dispute.text) for dispute in disputes.values() if dispute)


def clauses_on(*protocols: str) -> tuple[tuple[Clause, ...], tuple[LeftOut, ...]]:
    """The clauses on any of these protocols that are judged today, and all others with the reasons."""
    profiles, every = tuple(map(profile_of, protocols)), all_clauses().values()
    own = tuple(clause for clause in every if not set(profiles).isdisjoint(clause.profiles))
    foreign = (LeftOut("clause", clause.id, not_of(" or ".join(profiles))) for clause in every if clause not in own)
    judged, aside = undisputed(own)
    return judged, (*foreign, *aside)


def of_protocol(protocol: str) -> tuple[Clause, ...]:
    """Every clause that can judge an exchange of a protocol, in register order.

    A serializer counts as a target of Storage Read; its clauses, and those on messages, are asked there as well.
    """
    every = tuple(all_clauses().values())
    profile = profile_of(protocol)
    return every if protocol == DEFAULT_PROTOCOL else tuple(one for one in every if profile in one.profiles)


def today() -> dt.date:
    """The day of a run: disputes depend on it, and no verdict does."""
    return dt.datetime.now(tz=dt.UTC).date()


def plan(
    cases: Sequence[Case],
    clauses: Mapping[str, Clause],
    selection: Selection,
    on: dt.date | None = None,
    *,
    profile: str = PROFILE,
) -> Plan:
    """The cases and clauses that ``selection`` selects, without the clauses that are disputed on a day (today).

    Of the clauses, those of a byte profile. The ``cases`` are those in the base; a pattern that matches the id of one
    selects it in every form of the selection.

    Raises:
        SelectionError: a pattern matched nothing, or no case or clause is left.
    """
    left_out: list[LeftOut] = []
    day = on or today()
    chosen_clauses, aside = undisputed(_clauses(clauses, selection, left_out, profile), day)
    if not chosen_clauses:
        raise SelectionError(f"every selected clause is disputed; {aside[0].id} is {aside[0].reason}")
    left_out += _without_form(cases, selection.form)
    chosen_cases = _cases(in_forms(cases, selection.form, selection.cases), selection, left_out)
    everything_else = (*left_out, *aside)
    own = corpus_of(case for case in cases if not case.id.startswith(described()))
    return Plan(tuple(chosen_cases), chosen_clauses, everything_else, tuple(expired(day)), own.sha256)


def binds(clause: Clause, level: Level) -> bool:
    """True if a clause is as binding as ``level``, or more."""
    return _BINDING[clause.level] <= _BINDING[level]


def _clauses(
    clauses: Mapping[str, Clause], selection: Selection, left_out: list[LeftOut], profile: str
) -> list[Clause]:
    globs: Patterns = Patterns(selection.clauses)
    chosen = []
    for clause in clauses.values():
        if not globs.match(clause.id):
            left_out.append(LeftOut("clause", clause.id, "no --clause pattern matches it"))
        elif profile not in clause.profiles:
            left_out.append(LeftOut("clause", clause.id, not_of(profile)))
        elif not binds(clause, selection.level):
            left_out.append(LeftOut("clause", clause.id, f"its level is {clause.level}"))
        else:
            chosen.append(clause)
    _refuse_dead(globs, "clause", clauses)
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
        if not globs.match(*names_of(case.id)):
            left_out.append(LeftOut("case", case.id, "no --select pattern matches it"))
        elif not needs.match(*case.needs):
            left_out.append(LeftOut("case", case.id, "it needs none of the selected capabilities"))
        elif selection.shard is not None and not selection.shard.holds(case.id):
            left_out.append(LeftOut("case", case.id, OTHER_SHARD))
        else:
            chosen.append(case)
    _refuse_dead(globs, "case", (case.id for case in cases))
    if dead := needs.dead:
        raise SelectionError(
            f"no case needs a capability like {dead[0]!r}; `conformance show CASE` prints what one needs"
        )
    if selection.shard is not None and not chosen and any(left.reason == OTHER_SHARD for left in left_out):
        raise SelectionError(f"shard {selection.shard} contains none of the selected cases; use fewer shards")
    return chosen


def _without_form(cases: Iterable[Case], form: str) -> Iterator[LeftOut]:
    """The cases that a run of one form other than the base leaves out because they do not have it."""
    for case in cases:
        if not any(in_form(case, name) for name in wanted(case.protocol, form)):
            yield LeftOut("case", case.id, f"it has no form {form}")


def _refuse_dead(globs: Patterns, kind: str, known: Iterable[str]) -> None:
    """Refuse a pattern that matches no id of ``known``; of one without wildcards, the nearest ids are named."""
    if dead := globs.dead:
        near = "" if set(dead[0]) & set("*?[") else nearest(dead[0], known)
        raise SelectionError(f"no {kind} matches {dead[0]!r}; {near or f'`conformance list {kind}s` lists them all'}")
