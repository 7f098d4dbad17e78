"""The named anomalies, and the judgement of a history: what was found, what still holds, what is not known."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Self

__all__ = ["Anomaly", "AnomalyKind", "Guarantee", "HistoryJudgement"]


class AnomalyKind(enum.StrEnum):
    """An observation that no server of one consistent snapshot per session can produce.

    ``means`` says what was seen; ``holds`` is the guarantee that it breaks; ``over`` names what can show it.
    """

    means: str
    holds: str
    over: str

    def __new__(cls, value: str, means: str, holds: str, over: str) -> Self:
        """Make a member from its row: value, meaning, guarantee, and what can show it."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.means, member.holds, member.over = means, holds, over
        return member

    TORN_SESSION = (
        "torn session",
        "the rows of one session come from several states of the table",
        "each session shows one state of the table",
        "sessions with rows",
    )
    RECEDING_SNAPSHOT = (
        "receding snapshot",
        "a session lacks rows that an earlier session has",
        "no session shows an older state than a session before it",
        "pairs of fully read sessions",
    )
    STREAM_FROM_ELSEWHERE = (
        "stream from elsewhere",
        "a stream shows rows that are not in its table or in its parent",
        "streams show rows of their table and parent alone",
        "reads with rows",
    )
    EARLY_ROW = (
        "early row",
        "a session shows rows that were inserted after its snapshot",
        "no session shows rows inserted after its snapshot",
        "sessions that were read after an insertion",
    )
    LOST_ROW = (
        "lost row",
        "a row that has to come does not come",
        "every row that has to come comes",
        "fully read sessions",
    )
    REPEATED_ROW = (
        "repeated row",
        "a row comes more than once to a reader that shares a session among its streams or resumes",
        "no row comes twice",
        "sessions with rows",
    )
    REORDERED_RESUME = (
        "reordered resume",
        "a stream gives its rows in another order when it is read again, resumed or split",
        "streams keep their order",
        "streams read more than once or split",
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Anomaly:
    """One anomaly of one session: the calls that prove it, the smallest such set that was found, by index.

    ``rows`` are the rows concerned, at most ten of ``count``; ``observed`` says in a sentence what contradicts what.
    """

    kind: AnomalyKind
    session: str
    witness: tuple[int, ...]
    rows: tuple[int, ...]
    count: int
    observed: str


@dataclasses.dataclass(frozen=True, slots=True)
class Guarantee:
    """A guarantee without a counterexample, and the number of observations that could have shown one."""

    kind: AnomalyKind
    checked: int


@dataclasses.dataclass(frozen=True, slots=True)
class HistoryJudgement:
    """The judgement of a history.

    ``unknown`` counts the calls without an answer by kind, ``unfinished`` the sessions that were not read to the end
    of every stream, in which no row can be missed. ``rows`` is the number of rows that came.
    """

    anomalies: tuple[Anomaly, ...]
    holds: tuple[Guarantee, ...]
    unknown: Mapping[str, int]
    unfinished: int
    calls: int
    rows: int

    @property
    def kinds(self) -> frozenset[AnomalyKind]:
        """The kinds of anomaly that were found."""
        return frozenset(anomaly.kind for anomaly in self.anomalies)
