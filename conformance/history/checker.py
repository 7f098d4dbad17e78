"""Checks a history: a pure function from calls to anomalies, each with its proof, and what still holds."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from conformance.history.anomalies import AnomalyKind, Guarantee, HistoryJudgement
from conformance.history.calls import Append, Create, End, History, RowsRead, Split
from conformance.history.effort import Effort
from conformance.history.findings import Findings, order
from conformance.history.instants import judge_instants, pairs
from conformance.history.sequences import Conflict, StreamRows
from conformance.history.tables import SessionRows, Tables

__all__ = ["check"]

CONFLICTS: Final = 20
"""The most contradictions of one stream that are looked at: each costs as much as the stream has rows."""


def check(history: History) -> HistoryJudgement:
    """Return the judgement of ``history``. The time is linear in its calls and rows, and it reads no clock.

    Raises:
        HistoryError: it needs more work than that, beyond a limit (:mod:`.effort`).
    """
    return _Check(history).judgement()


class _Check:
    """The state of one check."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.tables = Tables(history)
        self.rows = sum(len(call.rows) for call in history.calls if isinstance(call, RowsRead))
        self.effort = Effort(len(history.calls), self.rows + len(history.inserted))
        self.found = Findings(history, self.effort)
        self.order = sorted(range(len(history.calls)), key=lambda index: order(history.calls[index], index))
        self.sessions: dict[int, SessionRows] = {}
        self.streams: dict[str, StreamRows] = {}
        self.again: Counter[str] = Counter()
        self.conflicts: Counter[str] = Counter()
        self.wrong: list[tuple[Conflict, int, int]] = []
        self.displaced: dict[int, bool] = {}

    def judgement(self) -> HistoryJudgement:
        """Return the judgement."""
        self._open()
        self._read()
        self._join()
        self._name()
        for session in self.sessions.values():
            self._gather(session)
        sessions = list(self.sessions.values())
        judge_instants(self.tables, sessions, self.found, self.effort)
        calls = self.history.calls
        return HistoryJudgement(
            anomalies=self.found.anomalies(),
            holds=tuple(Guarantee(kind, checked) for kind, checked in self._checked() if kind not in self.found),
            unknown=dict(sorted(Counter(call.TAG for call in calls if call.ended is End.UNKNOWN).items())),
            unfinished=sum(not session.covered for session in sessions),
            calls=len(calls),
            rows=self.rows,
        )

    def _open(self) -> None:
        for index in self.order:
            call = self.history.calls[index]
            if isinstance(call, Create) and call.ended is End.OK:
                self.sessions[index] = SessionRows(index, call)

    def _read(self) -> None:
        """Put the rows of every read into its stream."""
        for index in self.order:
            call = self.history.calls[index]
            if not isinstance(call, RowsRead) or (call.ended is not End.OK and not call.rows):
                continue
            root = self.history.session_of(call.stream)
            if (session := self.sessions.get(root)) is None:
                continue
            session.reads.append((call.end, index))
            session.show(index, call.rows)
            stream = self.streams.setdefault(call.stream, StreamRows())
            self.again[call.stream] += 1
            ends = call.ended is End.OK
            if self.conflicts[call.stream] == CONFLICTS:
                continue
            wrong = stream.take(index, call.offset, call.rows, ends=ends)
            if wrong is not None and (possible := self._possible(root, call.rows)) != call.rows:
                # Rows that the session cannot have are judged alone: without them, the others may be in their places.
                wrong = stream.take(index, call.offset, possible, ends=ends)
            if wrong is not None:
                self.conflicts[call.stream] += 1
                self.wrong.append((wrong, root, index))

    def _possible(self, session: int, rows: Iterable[int]) -> tuple[int, ...]:
        """Return those of ``rows`` that a session can have."""
        create = self.sessions[session].create
        return tuple(row for row in rows if self.tables.may_have(create, row))

    def _name(self) -> None:
        """Add the findings about streams, unless a session has rows that it cannot have: these displace others."""
        for wrong, root, index in self.wrong:
            shown = self.sessions[root].shown
            if root not in self.displaced:
                self.displaced[root] = len(self._possible(root, shown)) < len(shown)
            if not self.displaced[root]:
                self.found.add(wrong.kind, root, wrong.rows, (index, *wrong.reads), wrong.observed.__str__)

    def _join(self) -> None:
        """Put the rows of children into their parents, the children of children first."""
        splits = [
            (self.history.depth(call.primary), index, call)
            for index in self.order
            if isinstance(call := self.history.calls[index], Split) and call.divided
        ]
        families: dict[int, tuple[StreamRows, StreamRows, StreamRows]] = {}
        for _, index, call in sorted(splits, key=lambda one: -one[0]):
            if self.history.session_of(call.stream) in self.sessions:
                names = (call.stream, call.primary, call.remainder)
                parent, primary, remainder = (self.streams.setdefault(name, StreamRows()) for name in names)
                families[index] = parent, primary, remainder
        self._measure(list(families.values()))
        for index, (parent, primary, remainder) in families.items():
            if not (primary.known or remainder.known):
                continue
            call = self.history.calls[index]
            assert isinstance(call, Split)
            self.again[call.stream] += 1
            everywhere = primary.covered and remainder.covered
            self.effort.spend(primary.size + remainder.size + (parent.size if everywhere else len(parent.loose)))
            wrong = parent.join(primary, remainder)
            if wrong is not None:
                self.effort.spend(parent.size)
                self.wrong.append((wrong, self.history.session_of(call.stream), index))

    def _measure(self, families: Sequence[tuple[StreamRows, StreamRows, StreamRows]]) -> None:
        """Compute lengths, of the first families first: one that is computed may be all that others need."""
        places: dict[int, list[int]] = {}
        for place, family in enumerate(families):
            for stream in family:
                places.setdefault(id(stream), []).append(place)
        waiting = list(range(len(families)))
        while waiting:
            parent, *children = families[heapq.heappop(waiting)]
            if (computed := parent.measure(*children)) is not None:
                self.effort.spend(len(computed.ender))
                for place in places[id(computed)]:
                    heapq.heappush(waiting, place)

    def _gather(self, session: SessionRows) -> None:
        """Put the streams of a session together."""
        streams = [self.streams.get(name, StreamRows()) for name in session.create.streams]
        owners: dict[int, StreamRows] = {}
        for stream in streams:
            for row in stream.rows():
                owner = owners.setdefault(row, stream)
                if owner is not stream and self._possible(session.index, (row,)):
                    reads = (owner.shown_by(row), stream.shown_by(row))
                    said = f"row {row} is in two streams of {session.create.session}"
                    self.found.add(AnomalyKind.REPEATED_ROW, session.index, (row,), reads, said.__str__)
        if all(stream.covered for stream in streams):
            session.covered = True
            session.proof = tuple({read for stream in streams for read in stream.witnesses})

    def _checked(self) -> Iterator[tuple[AnomalyKind, int]]:
        """Yield each kind of anomaly with the number of observations that could have shown it."""
        sessions = self.sessions.values()
        with_rows = sum(bool(session.shown) for session in sessions)
        ended = sum(session.covered and not session.create.partial for session in sessions)
        last: dict[str, float] = {}
        for call in self.history.calls:
            if isinstance(call, Append):
                last[call.table] = max(call.begin, last.get(call.table, call.begin))
        later = sum(
            last.get(session.create.table, -math.inf) > session.create.latest and bool(session.reads)
            for session in sessions
        )
        yield AnomalyKind.TORN_SESSION, with_rows
        yield AnomalyKind.RECEDING_SNAPSHOT, pairs(list(sessions))
        yield (
            AnomalyKind.STREAM_FROM_ELSEWHERE,
            sum(isinstance(call, RowsRead) and bool(call.rows) for call in self.history.calls),
        )
        yield AnomalyKind.EARLY_ROW, later
        yield AnomalyKind.LOST_ROW, ended
        yield AnomalyKind.REPEATED_ROW, with_rows
        yield AnomalyKind.REORDERED_RESUME, sum(count > 1 for count in self.again.values())
