"""The result by profile: for each named part of the service, whether the target offers it, and its clauses counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from conformance.contain.text import many
from conformance.contract.offers import profile_of
from conformance.engine.events import RunStarted
from conformance.records import Outcome, Profile
from conformance.report.summary import Cell, summarise

__all__ = ["ProfileResult", "by_profile", "profile_lines"]

SERVED = "server"
"""The ``profile`` of :class:`~conformance.engine.events.RunStarted` in a run on a server: no other target serves
requests, so no other has profiles.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class ProfileResult:
    """One profile: the number of its clauses in the run, and these clauses counted by their worst outcome."""

    profile: Profile
    offered: bool
    clauses: int
    counts: Cell

    @property
    def in_words(self) -> str:
        """The result in a few words."""
        if not self.offered:
            return f"not offered: {many(self.clauses, 'clause is', 'clauses are')} not judged"
        counts = self.counts
        parts = {
            "fail": counts.failed,
            "fail as expected": counts.expected,
            "pass": counts.passed,
            "not judged": counts.not_judged,
        }
        return ", ".join(f"{count} {words}" for words, count in parts.items() if count)


def by_profile(start: RunStarted, worst: Mapping[str, Outcome]) -> tuple[ProfileResult, ...]:
    """The profiles that have clauses in the run, core first; none if the target is no server."""
    if start.profile != SERVED:
        return ()
    clauses: dict[Profile, list[str]] = {profile: [] for profile in Profile}
    for clause_id in dict.fromkeys((*start.clauses, *worst)):
        clauses[profile_of(clause_id)].append(clause_id)
    return tuple(
        ProfileResult(profile, profile not in start.not_offered, len(members), _counts(members, worst))
        for profile, members in clauses.items()
        if members
    )


def _counts(members: Sequence[str], worst: Mapping[str, Outcome]) -> Cell:
    rows = summarise(members, {clause_id: worst[clause_id] for clause_id in members if clause_id in worst})
    return sum((row.total for row in rows), Cell())


def profile_lines(start: RunStarted, worst: Mapping[str, Outcome]) -> Iterator[tuple[str, str]]:
    """A name and a text for each profile of the run."""
    for result in by_profile(start, worst):
        yield result.profile.value, result.in_words
