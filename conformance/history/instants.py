"""The instants that sessions show: which insertions a session has to have, which it must not have, and contradictions.

A row becomes visible at one instant, at which its insertion was under way, and stays visible. A session shows the
table as of one instant within its creation. So the states of a table are ordered, each one contains those before it,
and a row that a session has is older than the session, and one that it lacks is newer. A contradiction is a circle of
such relations and of the order of calls; ``docs/history.md`` lists the circles, each with the anomaly that it is.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.history.anomalies import AnomalyKind
from conformance.history.calls import End
from conformance.history.effort import Effort
from conformance.history.findings import Findings
from conformance.history.tables import SessionRows, Tables

__all__ = ["judge_instants", "pairs"]


def judge_instants(tables: Tables, sessions: Sequence[SessionRows], found: Findings, effort: Effort) -> None:
    """Add to ``found`` every contradiction between the rows of sessions and the order of calls.

    Raises:
        HistoryError: this needs more than the ``effort`` that is left.
    """
    for session in sessions:
        _judge_surplus(tables, session, found)
    seen = _Seen(tables, sessions)
    for session in sessions:
        if session.covered and not session.create.partial:
            _judge_absence(tables, seen, session, found, effort)
    _judge_order(tables, sessions, found)


def pairs(sessions: Sequence[SessionRows]) -> int:
    """Return the number of pairs of fully read sessions of the same table."""
    counts = Counter(session.create.table for session in sessions if session.covered and not session.create.partial)
    return sum(count * (count - 1) // 2 for count in counts.values())


# --- rows that a session must not have ------------------------------------------------------------


def _judge_surplus(tables: Tables, session: SessionRows, found: Findings) -> None:
    surplus: dict[int, list[int]] = {}
    known = []
    for row in session.shown:
        if tables.may_have(session.create, row):
            known.append(row)
        else:
            surplus.setdefault(tables.inserted.get(row, -1), []).append(row)
    session.known = frozenset(known)
    first_ended = sorted(session.reads)[:2] if surplus else ()
    for append, rows in surplus.items():
        read = session.shown[rows[0]]
        if append < 0 or not tables.is_own(session.create, append):
            _foreign(tables, session, append, rows, found)
            continue
        begin = tables.append(append).begin
        before = [index for end, index in first_ended if end < begin and index != read]
        said = f"row {rows[0]} came, but call {append} inserted it after the snapshot of {session.create.session}"
        if before:
            said += f", and call {before[0]} had read the session before"
            found.add(AnomalyKind.TORN_SESSION, session.index, rows, (before[0], append, read), said.__str__)
        else:
            found.add(AnomalyKind.EARLY_ROW, session.index, rows, (append, read), said.__str__)


def _foreign(tables: Tables, session: SessionRows, append: int, rows: list[int], found: Findings) -> None:
    where, table = (append,) if append >= 0 else (), session.create.table
    said = f"row {rows[0]} came, which no call inserted into {table!r}"
    if append >= 0 and tables.append(append).ended is End.REFUSED:
        said = f"row {rows[0]} came, but call {append}, which was to insert it, was refused"
    elif append >= 0:
        said = (
            f"row {rows[0]} came, which call {append} inserted into {tables.append(append).table!r} and not {table!r}"
        )
    calls = (*where, session.shown[rows[0]])
    found.add(AnomalyKind.STREAM_FROM_ELSEWHERE, session.index, rows, calls, said.__str__)


# --- rows that a session has to have --------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Sight:
    """A row in the session that shows it as of the earliest instant, which is ``latest`` at the latest."""

    latest: float
    session: SessionRows
    row: int


class _Seen:
    """Which rows some session showed: they were there at its latest instant."""

    def __init__(self, tables: Tables, sessions: Sequence[SessionRows]) -> None:
        self._first: dict[int, SessionRows] = {}
        self._of_append: dict[int, _Sight] = {}
        for session in sorted(sessions, key=lambda one: one.create.latest):
            for row in session.known:
                self._first.setdefault(row, session)
        for row, session in self._first.items():
            append, latest = tables.inserted[row], session.create.latest
            if append not in self._of_append or latest < self._of_append[append].latest:
                self._of_append[append] = _Sight(latest, session, row)
        self._in_order: dict[str, list[int]] = {}
        for append in sorted(self._of_append, key=lambda append: self._of_append[append].latest):
            self._in_order.setdefault(tables.append(append).table, []).append(append)

    def before(self, table: str, instant: float) -> Iterator[int]:
        """Yield the insertions into a table of which some session before an instant shows a row."""
        seen = self._in_order.get(table, ())
        return itertools.takewhile(lambda append: self._of_append[append].latest < instant, seen)

    def earliest(self, append: int, rows: Sequence[int]) -> _Sight | None:
        """Return the earliest sight of one of ``rows``, or of any row of an insertion; None if none was seen."""
        if not rows:
            return self._of_append.get(append)
        sights = [_Sight(self._first[row].create.latest, self._first[row], row) for row in rows if row in self._first]
        return min(sights, key=lambda sight: (sight.latest, sight.row), default=None)


def _judge_absence(tables: Tables, seen: _Seen, session: SessionRows, found: Findings, effort: Effort) -> None:
    """Judge the rows that a fully read session lacks."""
    create, index = session.create, session.index
    counts = Counter(map(tables.inserted.__getitem__, session.known))
    newest = max(counts, key=lambda one: tables.append(one).begin, default=None)
    begun = -math.inf if newest is None else tables.append(newest).begin
    shows: dict[int, int] = {}
    for row, read in session.shown.items():
        shows.setdefault(tables.inserted.get(row, -1), read)
    newer_than = max(create.earliest, begun)
    visible_before = itertools.takewhile(
        lambda append: tables.visible(append) < newer_than, tables.by_visibility.get(create.table, ())
    )
    # Any other insertion may be one that the session lacks.
    for append in sorted({*counts, *visible_before, *seen.before(create.table, newer_than)}):
        inserted, visible = tables.append(append).rows, tables.visible(append)
        if counts[append] == len(inserted):
            continue
        effort.spend(len(inserted))
        # No session can have seen the table without its first rows: if these do not come, they are lost.
        base = append == tables.by_visibility[create.table][0] and visible < create.earliest
        absent = tuple(row for row in inserted if row not in session.known) if counts[append] else ()
        rows = absent or inserted
        sight = None if base else seen.earliest(append, absent)
        if not base and newest is not None and visible < begun:
            read = shows[newest]
            said = (
                f"row {rows[0]} does not come, and rows come whose insertion began when call {append} had inserted it"
            )
            found.add(AnomalyKind.TORN_SESSION, index, rows, (append, newest, read, *session.proof), said.__str__)
        elif sight is not None and sight.latest < newer_than:
            other = sight.session
            said = f"row {sight.row} is in {other.create.session} and not in {create.session}, which is newer"
            newer: tuple[int, ...] = ()
            if newest is not None and sight.latest >= create.earliest:  # only the rows that came show which is newer
                newer = (newest, shows[newest])
            calls = (other.index, other.shown[sight.row], *newer, *session.proof)
            found.add(AnomalyKind.RECEDING_SNAPSHOT, index, absent or (sight.row,), calls, said.__str__)
        elif visible < create.earliest:
            said = f"row {rows[0]}, which call {append} inserted before {create.session} was created, does not come"
            found.add(AnomalyKind.LOST_ROW, index, rows, (append, *session.proof), said.__str__)


# --- sessions whose creations overlap -------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Bounds:
    """The instants between which a session shows the table, and the calls that show each bound."""

    low: float
    lower: tuple[int, ...]
    high: float
    upper: tuple[int, ...]


def _judge_order(tables: Tables, sessions: Sequence[SessionRows], found: Findings) -> None:
    """Judge fully read sessions in pairs: of two states of a table, one contains the other, and that one is newer."""
    by_table: dict[str, list[SessionRows]] = {}
    for session in sessions:
        if session.covered and not session.create.partial and found.clean(session.index):
            by_table.setdefault(session.create.table, []).append(session)
    for chain in by_table.values():
        chain.sort(key=lambda session: len(session.known))
        latest: tuple[SessionRows, _Bounds] | None = None
        waiting: list[tuple[SessionRows, _Bounds]] = []
        for before, session in zip([None, *chain], chain, strict=False):
            bounds = _bounds(tables, session)
            if before is not None and not before.known <= session.known:
                _incomparable(before, session, found)
                continue
            if before is not None and len(before.known) < len(session.known):
                for one in waiting:
                    if latest is None or one[1].low > latest[1].low:
                        latest = one
                waiting = []
            waiting.append((session, bounds))
            if latest is not None and latest[1].low > bounds.high:
                _out_of_order(latest, (session, bounds), found)


def _bounds(tables: Tables, session: SessionRows) -> _Bounds:
    low, lower = session.create.earliest, tuple[int, ...]()
    high, upper = session.create.latest, tuple[int, ...]()
    counts = Counter(map(tables.inserted.__getitem__, session.known))
    for append in sorted(counts):
        if (begin := tables.append(append).begin) > low:
            low, lower = begin, (append,)
    for append in tables.by_visibility.get(session.create.table, ()):
        if counts[append] < len(tables.append(append).rows):
            if (visible := tables.visible(append)) < high:
                high, upper = visible, (append,)
            break
    return _Bounds(low, lower, high, upper)


def _incomparable(one: SessionRows, other: SessionRows, found: Findings) -> None:
    mine, theirs = min(one.known - other.known), min(other.known - one.known)
    said = (
        f"row {mine} is in {one.create.session} alone and row {theirs} in {other.create.session} alone:"
        " whichever is newer lacks a row"
    )
    calls = (one.index, other.index, *one.proof, *other.proof)
    found.add(AnomalyKind.RECEDING_SNAPSHOT, other.index, (mine, theirs), calls, said.__str__)


def _out_of_order(one: tuple[SessionRows, _Bounds], other: tuple[SessionRows, _Bounds], found: Findings) -> None:
    (newer, low), (older, high) = one, other
    row = min(older.known - newer.known)
    said = f"row {row} is in {older.create.session} and not in {newer.create.session}, which is newer"
    calls = (older.index, older.shown[row], *low.lower, *high.upper, *newer.proof, *older.proof)
    found.add(AnomalyKind.RECEDING_SNAPSHOT, newer.index, (row,), calls, said.__str__)
