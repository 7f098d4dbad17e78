"""The rows of a stream by position, as its reads show them, and what is wrong where two reads disagree.

A stream has one sequence of rows. A read from an offset shows the rows from this position on, and its end if it ended
in success. Of two splits of a stream, the children of each, end to end, are the stream.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from conformance.history.anomalies import AnomalyKind

__all__ = ["Conflict", "StreamRows"]

_Why: TypeAlias = "tuple[tuple[int, ...], _Why | None]"


@dataclasses.dataclass(frozen=True, slots=True)
class Conflict:
    """A contradiction among reads of a stream: the rows concerned, and the other reads that show it."""

    kind: AnomalyKind
    rows: tuple[int, ...]
    reads: tuple[int, ...]
    observed: str


class StreamRows:
    """What is known of one stream: ``at`` is the row of a position, ``place`` the position of a row.

    ``by`` is the read that showed a row first. ``length`` is the number of rows if it is known, and ``ender`` the
    reads that show it. ``most`` is the largest possible length: a read from there on gave nothing. ``loose`` are rows
    of the stream whose position is not known; ``top`` is the last position of a known row, -1 without one. ``why`` has
    the reads that show where the row of a child's child is, other than the one that showed the row: those of one split,
    and below it those of the next one.
    """

    __slots__ = ("at", "by", "ender", "length", "loose", "most", "place", "top", "why")

    def __init__(self) -> None:
        self.at: dict[int, int] = {}
        self.place: dict[int, int] = {}
        self.by: dict[int, int] = {}
        self.length: int | None = None
        self.ender: tuple[int, ...] = ()
        self.most: tuple[int, int] | None = None
        self.loose: dict[int, int] = {}
        self.top = -1
        self.why: dict[int, _Why] = {}

    @property
    def covered(self) -> bool:
        """True if every row of the stream is known."""
        return self.length is not None and len(self.at) == self.length

    @property
    def known(self) -> bool:
        """True if anything is known of the stream."""
        return bool(self.at or self.loose) or self.length is not None

    @property
    def witnesses(self) -> tuple[int, ...]:
        """The reads that show all known rows, and the end of the stream if it is known."""
        return tuple({*self.by.values(), *self.ender})

    @property
    def size(self) -> int:
        """The number of rows that are known to be in the stream."""
        return len(self.place) + len(self.loose)

    def rows(self) -> Iterator[int]:
        """Yield every row that is known to be in the stream."""
        yield from self.place
        yield from self.loose

    def shown_by(self, row: int) -> int:
        """Return the read that showed a row of the stream first."""
        return self.by[row] if row in self.by else self.loose[row]

    def take(self, read: int, offset: int, rows: Sequence[int], *, ends: bool) -> Conflict | None:
        """Add the rows of a read, which reached the end of the stream if ``ends``; return what contradicts it.

        A read that contradicts an earlier one is not added.
        """
        own = dict(zip(rows, range(offset, offset + len(rows)), strict=True))
        if len(own) < len(rows):
            twice = tuple(row for position, row in enumerate(rows, offset) if own[row] != position)
            return Conflict(AnomalyKind.REPEATED_ROW, twice, (), f"row {twice[0]} comes twice in one read")
        if not self.known and self.most is None:
            self.at = dict(zip(own.values(), own.keys(), strict=True))
            self.place = own
            self.by = dict.fromkeys(rows, read)
        elif (wrong := self._conflict(offset, own, ends=ends)) is not None:
            return wrong
        else:
            for row, position in own.items():
                if row not in self.place:
                    self.at[position], self.place[row], self.by[row] = row, position, read
        if rows:
            self.top = max(self.top, offset + len(rows) - 1)
        if ends:
            self._end(read, offset, len(rows))
        if self.length is None and self.most is not None and self.most[0] == self.top + 1:
            self.length, self.ender = self.most[0], (self.most[1],)
        return None

    def _end(self, read: int, offset: int, count: int) -> None:
        if count or not offset:
            self.length = offset + count
            # A read of the full stream is the shortest proof.
            self.ender = (read,) if not offset or not self.ender else self.ender
            if not offset:
                self.by = dict.fromkeys(self.place, read)
        elif self.most is None or offset < self.most[0]:
            self.most = (offset, read)

    def _conflict(self, offset: int, own: dict[int, int], *, ends: bool) -> Conflict | None:
        """Return what is wrong with a read, whose rows are at the positions ``own`` if it is right."""
        at, place = self.at, self.place
        differs = any(
            at.get(position, row) != row or place.get(row, position) != position for row, position in own.items()
        )
        end = offset + len(own)
        limit = self._limit()
        beyond = bool(own) and limit is not None and end > limit
        if not (differs or beyond or (ends and self.top >= end)):
            return None
        head = tuple(row for row in own if place.get(row, offset) < offset)
        lacking = tuple(row for row, position in place.items() if position >= offset and row not in own) if ends else ()
        strange = tuple(
            row
            for row, position in own.items()
            if row not in place and (self.covered or (limit is not None and position >= limit))
        )
        return self._named(offset, head, lacking, strange)

    def _named(
        self, offset: int, head: tuple[int, ...], lacking: tuple[int, ...], strange: tuple[int, ...]
    ) -> Conflict:
        if lacking and strange:
            said = f"row {strange[0]} comes where the stream has row {lacking[0]}"
            return Conflict(AnomalyKind.STREAM_FROM_ELSEWHERE, strange, self._reads(lacking), said)
        if strange:
            said = f"row {strange[0]} is in the stream, and another read ended without it"
            return Conflict(AnomalyKind.LOST_ROW, strange, self._ended(), said)
        if head and not lacking:
            said = f"row {head[0]} is before offset {offset} and comes again"
            return Conflict(AnomalyKind.REPEATED_ROW, head, self._reads(head), said)
        if lacking and not head:
            said = f"row {lacking[0]} is behind offset {offset} and does not come"
            return Conflict(AnomalyKind.LOST_ROW, lacking, self._reads(lacking), said)
        said = f"the rows from offset {offset} on come in another order"
        return Conflict(AnomalyKind.REORDERED_RESUME, head, self._reads(head or lacking), said)

    def _limit(self) -> int | None:
        """Return the position at which the stream ends, or before which it does."""
        if self.most is None:
            return self.length
        return self.most[0] if self.length is None else min(self.most[0], self.length)

    def _ended(self) -> tuple[int, ...]:
        """Return the reads that show the limit."""
        return self.ender if self.most is None or self.length is not None else (self.most[1],)

    def _reads(self, rows: Iterable[int]) -> tuple[int, ...]:
        """Return a read that shows the first of ``rows``, or all known rows if there is none."""
        first = next(iter(rows), None)
        return self.witnesses if first is None else (self.by[first],)

    # --- splits -----------------------------------------------------------------------------------

    def measure(self, primary: StreamRows, remainder: StreamRows) -> StreamRows | None:
        """Compute the length of a stream or of a child of its split from the two others; return that one, if any."""
        if self.length is None:
            known, computed = (primary, remainder), self
            length = _sum(primary.length, remainder.length)
        elif primary.length is None:
            known, computed = (self, remainder), primary
            length = _sum(self.length, remainder.length, -1)
        else:
            known, computed = (self, primary), remainder
            length = _sum(self.length, primary.length, -1)
        most = None if computed.most is None else computed.most[0]
        if computed.length is not None or length is None or length <= computed.top or (most or length) < length:
            return None  # known already, unknown still, or a contradiction, which the rows show
        computed.length = length
        computed.ender = tuple({read for stream in known for read in stream.ender})
        return computed

    def join(self, primary: StreamRows, remainder: StreamRows) -> Conflict | None:
        """Add the rows of the two children of a split; return what contradicts them, and then add none."""
        return self._foreign(primary, remainder) or self._misplaced(primary, remainder)

    def _foreign(self, primary: StreamRows, remainder: StreamRows) -> Conflict | None:
        """Return a row that both children have, one that the parent lacks, or one that the children lack."""
        of_primary, of_remainder = dict.fromkeys(primary.rows()), dict.fromkeys(remainder.rows())
        if both := tuple(row for row in of_primary if row in of_remainder):
            reads = (primary.shown_by(both[0]), remainder.shown_by(both[0]))
            return Conflict(AnomalyKind.REPEATED_ROW, both, reads, f"row {both[0]} is in both children of a split")
        children = {**of_primary, **of_remainder}
        if self.covered and (strange := tuple(row for row in children if row not in self.place)):
            child = primary if strange[0] in of_primary else remainder
            shows = (*self.witnesses, child.shown_by(strange[0]))
            said = f"row {strange[0]} is in a child, and not in its parent"
            return Conflict(AnomalyKind.STREAM_FROM_ELSEWHERE, strange, shows, said)
        if primary.covered and remainder.covered and (lost := tuple(row for row in self.place if row not in children)):
            ends = (self.by[lost[0]], *primary.witnesses, *remainder.witnesses)
            return Conflict(AnomalyKind.LOST_ROW, lost, ends, f"row {lost[0]} is in the parent, and in neither child")
        return None

    def _misplaced(self, primary: StreamRows, remainder: StreamRows) -> Conflict | None:
        """Add the rows of both children at their positions in the parent, if these are known and free."""
        base = self._base(primary, remainder)
        joined = StreamRows()
        joined.at, joined.place, joined.by = dict(primary.at), dict(primary.place), dict(primary.by)
        joined.loose = dict(primary.loose)
        if base is None:
            joined.loose.update(remainder.by)
        else:
            for row, position in remainder.place.items():
                if base + position in joined.at:
                    return self._moved(row, primary, remainder)
                joined.at[base + position], joined.place[row] = row, base + position
            joined.by.update(remainder.by)
        joined.loose.update(remainder.loose)
        for row, position in joined.place.items():
            if self.at.get(position, row) != row or self.place.get(row, position) != position:
                return self._moved(row, primary, remainder, position)
        length = None if base is None or remainder.length is None else base + remainder.length
        if wrong := self._ends(joined, length, primary, remainder, base):
            return wrong
        self._adopt(joined, length, primary, remainder)
        self.why |= primary.why
        if base is not None:
            self.why |= {row: (primary.ender, remainder.why.get(row)) for row in remainder.place}
        return None

    def _base(self, primary: StreamRows, remainder: StreamRows) -> int | None:
        """Return the position in the parent at which the remainder begins, None if no read shows it."""
        if primary.length is not None:
            return primary.length
        for row, position in remainder.place.items():
            if row in self.place:
                return self.place[row] - position
        if self.length is not None and remainder.length is not None:
            return self.length - remainder.length
        return None

    def _ends(
        self, joined: StreamRows, length: int | None, primary: StreamRows, remainder: StreamRows, base: int | None
    ) -> Conflict | None:
        """Return what contradicts the ends of the parent and of its children."""
        if base is not None and (base < 0 or any(position >= base for position in primary.at)):
            return self._moved(next(iter(remainder.place), None), primary, remainder)
        if (
            length is not None
            and self.top >= length
            and (lost := tuple(row for row, at in self.place.items() if at >= length))
        ):
            reads = (self.by[lost[0]], *primary.ender, *remainder.ender)
            said = f"row {lost[0]} is in the parent, behind the end of its children"
            return Conflict(AnomalyKind.LOST_ROW, lost, reads, said)
        limit = self._limit()
        if limit is not None and (more := tuple(row for row, at in joined.place.items() if at >= limit)):
            said = f"row {more[0]} is in a child, and the parent ended without it"
            child = primary if more[0] in primary.place else remainder
            return Conflict(AnomalyKind.STREAM_FROM_ELSEWHERE, more, (*self._ended(), child.shown_by(more[0])), said)
        return None

    def _moved(
        self, row: int | None, primary: StreamRows, remainder: StreamRows, position: int | None = None
    ) -> Conflict:
        """Return the finding that a row of a child is not at its ``position`` in the parent."""
        whys = _reads_of(*primary.why.values(), *remainder.why.values())
        reads = {*self.witnesses, *primary.witnesses, *remainder.witnesses, *whys}
        if row is not None and position is not None and row in primary.place:
            shown = self.by[row if row in self.place else self.at[position]]
            reads = {primary.by[row], shown, *_reads_of(primary.why.get(row))}
        rows = () if row is None else (row,)
        said = "the children of a split, end to end, have the rows in another order than their parent"
        return Conflict(AnomalyKind.REORDERED_RESUME, rows, tuple(reads), said)

    def _adopt(self, joined: StreamRows, length: int | None, primary: StreamRows, remainder: StreamRows) -> None:
        for row, position in joined.place.items():
            if row not in self.place:
                self.at[position], self.place[row], self.by[row] = row, position, joined.by[row]
                self.top = max(self.top, position)
        for row, read in joined.loose.items():
            if row not in self.place:
                self.loose.setdefault(row, read)
        for row in [row for row in self.loose if row in self.place]:
            del self.loose[row]
        if length is not None and self.length is None:
            self.length, self.ender = length, (*primary.ender, *remainder.ender)


def _reads_of(*whys: _Why | None) -> set[int]:
    """Return every read of chains of reasons, which may share what is below; each part is looked at once."""
    found: set[int] = set()
    looked: set[int] = set()
    for why in whys:
        rest = why
        while rest is not None and id(rest) not in looked:
            looked.add(id(rest))
            reads, rest = rest
            found.update(reads)
    return found


def _sum(one: int | None, other: int | None, sign: int = 1) -> int | None:
    return None if one is None or other is None else one + sign * other
