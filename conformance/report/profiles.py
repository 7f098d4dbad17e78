"""The result by profile: for each named part of the service, whether the target offers it, and its clauses counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import OTHER_PROTOCOLS
from conformance.contract.offers import ProfileName, profile_of, profile_titles
from conformance.engine.events import RunStarted
from conformance.engine.standing import ClauseStanding
from conformance.report.summary import Cell, summarise

__all__ = ["SERVED", "ProfileResult", "by_profile", "has_profiles", "profile_lines"]

SERVED: Final = "server"
"""The ``profile`` of :class:`~conformance.engine.events.RunStarted` in a run on a server of Storage Read."""

_SERVERS: Final = (SERVED, *OTHER_PROTOCOLS)


def has_profiles(start: RunStarted) -> bool:
    """True if a run is on a server, of whatever protocol: no other target serves requests, so no other has profiles."""
    return start.profile in _SERVERS


@dataclasses.dataclass(frozen=True, slots=True)
class ProfileResult:
    """One profile: the number of its clauses in the run, and these clauses counted by their standing."""

    profile: ProfileName
    offered: bool
    clauses: int
    counts: Cell

    @property
    def in_words(self) -> str:
        """The result in a few words."""
        if not self.offered:
            return f"not offered: {many(self.clauses, 'clause is', 'clauses are')} not judged"
        return self.counts.in_words


def by_profile(start: RunStarted, standings: Mapping[str, ClauseStanding]) -> tuple[ProfileResult, ...]:
    """The profiles that have clauses in the run, core first; none if the target is no server."""
    if not has_profiles(start):
        return ()
    clauses: dict[str, list[str]] = {profile: [] for profile in profile_titles()}
    for clause_id in standings:
        clauses[profile_of(clause_id)].append(clause_id)
    return tuple(
        ProfileResult(profile, profile not in start.not_offered, len(members), _counts(members, standings))
        for profile, members in clauses.items()
        if members
    )


def _counts(members: Sequence[str], standings: Mapping[str, ClauseStanding]) -> Cell:
    rows = summarise({clause_id: standings[clause_id] for clause_id in members})
    return sum((row.total for row in rows), Cell())


def profile_lines(start: RunStarted, standings: Mapping[str, ClauseStanding]) -> Iterator[tuple[str, str]]:
    """A name and a text for each profile of the run."""
    for result in by_profile(start, standings):
        yield result.profile, result.in_words
