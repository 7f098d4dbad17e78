"""The instants that sessions show: which insertions a session has to have, which it must not have, and contradictions.

A row becomes visible at one instant, at which its insertion was under way, and stays visible. A session shows the
table as of one instant within its creation. So the states of a table are ordered, each one contains those before it,
and a row that a session has is older than the session, and one that it lacks is newer. A contradiction is a circle of
such relations and of the order of calls; ``docs/history.md`` lists the circles, each with the anomaly that it is.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from conformance.history.anomalies import AnomalyKind
from conformance.history.calls import Append, Create, End, History
from conformance.history.findings import Findings

__all__ = ["SessionRows", "Tables", "judge_instants"]


@dataclasses.dataclass(slots=True)
class SessionRows:
    """The rows that a session showed, each with the read that showed it first, and the reads that show it whole.

    ``covered`` says that every row of the session came; ``proof`` are then the reads that show this. ``reads`` are
    its reads that delivered anything, with their ends.
    """

    index: int
    create: Create
    shown: dict[int, int] = dataclasses.field(default_factory=dict)
    covered: bool = False
    proof: tuple[int, ...] = ()
    reads: list[tuple[float, int]] = dataclasses.field(default_factory=list)
    known: frozenset[int] = frozenset()
    """The rows of ``shown`` that were inserted into the table and before the snapshot."""


class Tables:
    """The insertions of a history by table, and the relation of rows to them."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.inserted = history.inserted
        self.appends: dict[str, list[int]] = {}
        for index, call in enumerate(history.calls):
            if isinstance(call, Append) and call.ended is not End.REFUSED and call.rows:
                self.appends.setdefault(call.table, []).append(index)
        self._all = frozenset(index for index, call in enumerate(history.calls) if isinstance(call, Append))
        self.first = {table: min(found, key=self.visible) for table, found in self.appends.items()}

    def append(self, index: int) -> Append:
        """Return the insertion at ``index``."""
        call = self.history.calls[index]
        assert isinstance(call, Append)
        return call

    def visible(self, index: int) -> float:
        """Return the instant at which the rows of an insertion are visible at the latest; infinite if it is open."""
        call = self.append(index)
        return call.end if call.ended is End.OK and not call.late else math.inf

    def foreign_or_early(self, session: Create) -> frozenset[int]:
        """Return the insertions whose rows a session cannot have: of other tables, refused, or after its snapshot."""
        own = self.appends.get(session.table, ())
        early = {index for index in own if self.append(index).begin > session.latest}
        return (self._all - frozenset(own)) | early


def judge_instants(tables: Tables, sessions: Sequence[SessionRows], found: Findings) -> None:
    """Add to ``found`` every contradiction between the rows of sessions and the order of calls."""
    seen: dict[int, tuple[float, int]] = {}
    for position, session in enumerate(sessions):
        _judge_surplus(tables, session, found)
        latest = session.create.latest
        for row in session.known:
            if row not in seen or latest < seen[row][0]:
                seen[row] = (latest, position)
    by_append = _earliest(tables, seen)
    for session in sessions:
        if session.covered and not session.create.partial:
            _judge_absence(tables, sessions, session, found, seen, by_append)
    _judge_order(tables, sessions, found)


def _earliest(tables: Tables, seen: Mapping[int, tuple[float, int]]) -> dict[int, tuple[float, int, int]]:
    """Return for each insertion which of its rows was seen first: the latest instant of that session, it, the row."""
    found: dict[int, tuple[float, int, int]] = {}
    for row, (instant, position) in seen.items():
        append = tables.inserted[row]
        if append not in found or instant < found[append][0]:
            found[append] = (instant, position, row)
    return found


# --- rows that a session must not have ------------------------------------------------------------


def _judge_surplus(tables: Tables, session: SessionRows, found: Findings) -> None:
    impossible = tables.foreign_or_early(session.create)
    own = set(tables.appends.get(session.create.table, ()))
    surplus: dict[int, list[int]] = {}
    known = []
    for row in session.shown:
        append = tables.inserted.get(row, -1)
        if append < 0 or append in impossible:
            surplus.setdefault(append, []).append(row)
        else:
            known.append(row)
    session.known = frozenset(known)
    for append, rows in surplus.items():
        read = session.shown[rows[0]]
        if append not in own:
            _foreign(tables, session, append, rows, found)
            continue
        begin = tables.append(append).begin
        before = [index for end, index in session.reads if end < begin and index != read]
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


def _judge_absence(
    tables: Tables,
    sessions: Sequence[SessionRows],
    session: SessionRows,
    found: Findings,
    seen: Mapping[int, tuple[float, int]],
    by_append: Mapping[int, tuple[float, int, int]],
) -> None:
    """Judge the rows that a fully read session lacks."""
    create = session.create
    counts = Counter(map(tables.inserted.__getitem__, session.known))
    newest = max(counts, key=lambda index: tables.append(index).begin, default=None)
    begun = -math.inf if newest is None else tables.append(newest).begin
    least = max(create.earliest, begun)
    for append in tables.appends.get(create.table, ()):
        if counts[append] == len(tables.append(append).rows):
            continue
        visible = tables.visible(append)
        # No session can have seen the table without its first rows: if these do not come, they are lost.
        base = append == tables.first[create.table] and visible < create.earliest
        absent = tuple(row for row in tables.append(append).rows if row not in session.known) if counts[append] else ()
        if not base and visible < begun:
            assert newest is not None
            rows = absent or tables.append(append).rows
            later = next(row for row in session.known if tables.inserted[row] == newest)
            said = (
                f"row {later} came without row {rows[0]}, which call {append} had inserted before call {newest} began"
            )
            calls = (append, newest, session.shown[later], *session.proof)
            found.add(AnomalyKind.TORN_SESSION, session.index, rows, calls, said.__str__)
            continue
        earliest = _first_seen(absent, seen) if absent else by_append.get(append)
        if not base and earliest is not None and earliest[0] < least:
            instant, position, row = earliest
            other = sessions[position]
            said = f"row {row} is in {other.create.session} and not in {create.session}, which is newer"
            newer = () if instant < create.earliest or newest is None else (newest, _shows(tables, session, newest))
            calls = (other.index, other.shown[row], *newer, *session.proof)
            found.add(AnomalyKind.RECEDING_SNAPSHOT, session.index, absent or (row,), calls, said.__str__)
        elif visible < create.earliest:
            rows = absent or tables.append(append).rows
            said = f"row {rows[0]}, which call {append} inserted before {create.session} was created, does not come"
            found.add(AnomalyKind.LOST_ROW, session.index, rows, (append, *session.proof), said.__str__)


def _first_seen(rows: Sequence[int], seen: Mapping[int, tuple[float, int]]) -> tuple[float, int, int] | None:
    return min(((*seen[row], row) for row in rows if row in seen), default=None)


def _shows(tables: Tables, session: SessionRows, append: int) -> int:
    """Return the read of a session that shows a row of an insertion."""
    return next(read for row, read in session.shown.items() if tables.inserted.get(row) == append)


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
    low, lower = session.create.earliest, ()
    high, upper = session.create.latest, ()
    counts = Counter(map(tables.inserted.__getitem__, session.known))
    for append in tables.appends.get(session.create.table, ()):
        call, visible = tables.append(append), tables.visible(append)
        if counts[append] and call.begin > low:
            low, lower = call.begin, (append,)
        if counts[append] < len(call.rows) and visible < high:
            high, upper = visible, (append,)
    return _Bounds(low, lower, high, upper)


def _missing(one: Collection[int], other: Collection[int]) -> int:
    """Return a row that ``one`` has and ``other`` lacks."""
    return next(row for row in one if row not in other)


def _incomparable(one: SessionRows, other: SessionRows, found: Findings) -> None:
    mine, theirs = _missing(one.known, other.known), _missing(other.known, one.known)
    said = (
        f"row {mine} is in {one.create.session} alone and row {theirs} in {other.create.session} alone:"
        " whichever is newer lacks a row"
    )
    calls = (one.index, other.index, *one.proof, *other.proof)
    found.add(AnomalyKind.RECEDING_SNAPSHOT, other.index, (mine, theirs), calls, said.__str__)


def _out_of_order(one: tuple[SessionRows, _Bounds], other: tuple[SessionRows, _Bounds], found: Findings) -> None:
    (newer, low), (older, high) = one, other
    row = _missing(older.known, newer.known)
    said = f"row {row} is in {older.create.session} and not in {newer.create.session}, which is newer"
    calls = (older.index, older.shown[row], *low.lower, *high.upper, *newer.proof, *older.proof)
    found.add(AnomalyKind.RECEDING_SNAPSHOT, newer.index, (row,), calls, said.__str__)


def pairs(sessions: Sequence[SessionRows]) -> Iterator[int]:
    """Yield the number of pairs of fully read sessions of each table."""
    counts = Counter(session.create.table for session in sessions if session.covered and not session.create.partial)
    yield from (count * (count - 1) // 2 for count in counts.values())
