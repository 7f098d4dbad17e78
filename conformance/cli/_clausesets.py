"""The names in a report that are no clauses: profiles, chapters, questions about a reader, and former clauses."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from conformance.contract.closed import Question
from conformance.contract.offers import profile_of, profile_titles
from conformance.engine.requirements import frozen_releases
from conformance.engine.selection import all_clauses

__all__ = ["ClauseSet", "clause_sets", "gone"]


@dataclasses.dataclass(frozen=True, slots=True)
class ClauseSet:
    """A named set of clauses: what it is, a sentence on it, and the clauses in it."""

    name: str
    kind: str
    title: str
    clauses: tuple[str, ...]


def clause_sets() -> Mapping[str, ClauseSet]:
    """The chapters, profiles and questions about readers, by name.

    One profile and one chapter share a name: the clauses of both stand under it.
    """
    clauses = all_clauses()
    chapters: dict[str, list[str]] = {}
    for name, clause in clauses.items():
        chapters.setdefault(clause.chapter, []).append(name)
    servers = [name for name, clause in clauses.items() if clause.protocol or clause.profiles[0] == "bq-arrow"]
    found = {name: ClauseSet(name, "chapter", "", tuple(members)) for name, members in chapters.items()}
    for profile, title in profile_titles().items():
        members = [name for name in servers if profile_of(name) == profile or name in chapters.get(profile, ())]
        found[profile] = ClauseSet(profile, "profile of a server", title, tuple(members))
    for question in Question:
        asked = [name for name, clause in clauses.items() if clause.question is question]
        found[question.value] = ClauseSet(question.value, "question about a reader", "", tuple(asked))
    return found


def gone(name: str, known: Iterable[str]) -> str:
    """A sentence on a clause that older reports name and that this version has no longer; empty for any other name."""
    for release, frozen in reversed(frozen_releases().items()):
        for buried in frozen.tombstones:
            if buried.id == name and name not in known:
                return f"{name} was a clause of level {buried.level.upper()} until {release}, and is given up"
    return ""
