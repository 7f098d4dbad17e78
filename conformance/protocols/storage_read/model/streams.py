"""What the reads of one session permit each other: each row has one place, in one stream, however it is read.

How the rows of a session are divided into streams, their order and the size of responses are the server's choice. Once
a read has shown a part of that choice, it binds every other read: from another offset, in part, again, at once, of the
children of a split. :func:`deviations` puts the reads of a session together and reports every read that
contradicts the session's rows or an earlier read. A read that deviates is not believed: it contradicts no later one.

A row is any hashable value, such as a fingerprint; equal rows of a table are as many equal values.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

__all__ = ["Contradiction", "DeviationKind", "ModelSplit", "Row", "SessionHistory", "StreamRead", "deviations"]

Row: TypeAlias = Hashable


class DeviationKind(enum.StrEnum):
    """The ways in which a history contradicts the model."""

    STRANGE = "strange"
    """A row that is none of the session's: of another snapshot, not selected, or of no table."""
    REPEATED = "repeated"
    """A row more often than the session has it."""
    MISSING = "missing"
    """A row of the session in none of its streams, all of which are known from end to end."""
    MOVED = "moved"
    """Another row than before at a place of a stream."""
    MOVED_TOGETHER = "moved-together"
    """As MOVED, by a read at the same time as another read of the stream."""
    END = "end"
    """A stream that ends at another row than before."""
    DIVIDED = "divided"
    """Children of a split that are not their parent, in its order."""
    REFUSED = "refused"
    """A refused read from an offset that earlier calls reached, and that the stream has; or a refused split."""
    BEYOND = "beyond"
    """An accepted read from beyond the end of the stream."""


@dataclasses.dataclass(frozen=True, slots=True)
class StreamRead:
    """A read of ``stream`` from ``offset``: the ``rows`` that came, and how it ended.

    ``call`` identifies it. ``ended`` is True if the server said that these were all rows; a cancelled read has only the
    first ones. ``refused`` is True if the server ended it with an error. ``together`` is True if another read of the
    stream was made at the same time.
    """

    call: int
    stream: str
    offset: int
    rows: tuple[Row, ...] = ()
    ended: bool = True
    refused: bool = False
    together: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class ModelSplit:
    """A split of ``parent`` into two children; without names if the server did not divide it, or refused."""

    call: int
    parent: str
    primary: str = ""
    remainder: str = ""
    refused: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class SessionHistory:
    """A session: the rows that it sees in no order, its streams, and everything asked of them in the order of calls."""

    call: int
    rows: Sequence[Row]
    streams: tuple[str, ...]
    reads: tuple[StreamRead, ...] = ()
    splits: tuple[ModelSplit, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Contradiction:
    """A contradiction: the call that shows it, the call that it contradicts if there is one, and the place.

    ``place`` is a row's place in its stream or, for MISSING, the index of the row in :attr:`SessionHistory.rows`. It is
    -1 for a row of a child that its parent does not have.
    ``count`` is how many rows deviate; ``expected`` and ``observed`` are lengths or offsets where the kind has them.
    """

    kind: DeviationKind
    call: int
    before: int | None = None
    place: int = 0
    count: int = 1
    expected: int = 0
    observed: int = 0


class _Known:
    """What is known of a stream: rows by place with the call that showed each, its length, and calls for both."""

    __slots__ = ("ended_by", "length", "most", "rows")

    def __init__(self) -> None:
        self.rows: dict[int, tuple[Row, int]] = {}
        self.length: int | None = None
        self.most: int | None = None
        """The least offset at which a read found nothing: the stream is no longer than that."""
        self.ended_by: int | None = None

    @property
    def reach(self) -> int:
        """The number of rows that the stream has at least."""
        return max(self.rows, default=-1) + 1 if self.length is None else self.length

    @property
    def whole(self) -> bool:
        """True if every row of the stream is known."""
        return self.length is not None and len(self.rows) == self.length


def deviations(history: SessionHistory) -> tuple[Contradiction, ...]:
    """Return every contradiction in a session's history, in the order of the calls that show them."""
    return tuple(sorted(_Session(history).found(), key=lambda one: (one.call, one.kind)))


class _Session:
    def __init__(self, history: SessionHistory) -> None:
        self.history = history
        self.often = Counter(history.rows)
        self.known: dict[str, _Known] = {}
        self.undivided: set[int] = set()
        """The calls of splits whose children are not their parent."""
        for name in self._names():
            self.known.setdefault(name, _Known())

    def _names(self) -> Iterator[str]:
        yield from self.history.streams
        for split in self.history.splits:
            yield from (name for name in (split.primary, split.remainder) if name)

    def found(self) -> Iterator[Contradiction]:
        surprising = False
        for step in (self._reads, self._lengths, self._families, self._strangers, self._repeats, self._answers):
            for deviation in step():
                surprising = True
                yield deviation
        if not surprising:
            yield from self._missing()

    # --- one stream at a time -----------------------------------------------------------------------

    def _reads(self) -> Iterator[Contradiction]:
        for read in self.history.reads:
            if read.refused or read.stream not in self.known:
                continue
            deviation = self._strange(read) or self._surplus(read) or self._moved(read) or self._ends(read)
            if deviation is not None:
                yield deviation
                continue
            known = self.known[read.stream]
            for place, row in enumerate(read.rows, read.offset):
                known.rows.setdefault(place, (row, read.call))
            if read.ended:
                self._note_end(known, read)

    def _strange(self, read: StreamRead) -> Contradiction | None:
        strange = [place for place, row in enumerate(read.rows, read.offset) if row not in self.often]
        return (
            Contradiction(DeviationKind.STRANGE, read.call, place=strange[0], count=len(strange)) if strange else None
        )

    def _surplus(self, read: StreamRead) -> Contradiction | None:
        surplus = _surplus(read.rows, self.often)
        if not surplus:
            return None
        place = read.offset + surplus[0]
        return Contradiction(DeviationKind.REPEATED, read.call, place=place, count=len(surplus))

    def _moved(self, read: StreamRead) -> Contradiction | None:
        known = self.known[read.stream].rows
        for place, row in enumerate(read.rows, read.offset):
            if place in known and known[place][0] != row:
                kind = DeviationKind.MOVED_TOGETHER if read.together else DeviationKind.MOVED
                return Contradiction(kind, read.call, known[place][1], place)
        return None

    def _ends(self, read: StreamRead) -> Contradiction | None:
        known = self.known[read.stream]
        end = read.offset + len(read.rows)
        if read.offset > known.reach and known.length is not None:
            return None  # the offset is beyond the end, which is judged with the answers
        short = read.ended and end < known.reach
        late = bool(read.rows) and known.length is not None and end > known.length
        late |= bool(read.rows) and known.most is not None and end > known.most
        if not short and not late:
            return None
        reached = known.reach if known.most is None or short else known.most
        before = known.ended_by if known.ended_by is not None else known.rows[max(known.rows)][1]
        return Contradiction(DeviationKind.END, read.call, before, place=end, expected=reached, observed=end)

    @staticmethod
    def _note_end(known: _Known, read: StreamRead) -> None:
        end = read.offset + len(read.rows)
        if read.rows or read.offset in (0, known.reach):
            known.length = end
            known.ended_by = read.call
        elif known.length is None and (known.most is None or end < known.most):
            known.most = end
            known.ended_by = read.call

    # --- splits ---------------------------------------------------------------------------------------

    def _divided(self) -> Iterator[tuple[ModelSplit, _Known, _Known, _Known]]:
        for split in self.history.splits:
            names = (split.parent, split.primary, split.remainder)
            if all(name in self.known for name in names) and len(set(names)) == len(names):
                parent, primary, remainder = (self.known[name] for name in names)
                yield split, parent, primary, remainder

    def _lengths(self) -> Iterator[Contradiction]:
        """Compute lengths from each other until nothing changes, then compare them."""
        changed = True
        while changed:
            changed = False
            for _, parent, primary, remainder in self._divided():
                whole, first, rest = parent.length, primary.length, remainder.length
                if whole is None and first is not None and rest is not None:
                    parent.length, changed = first + rest, True
                elif whole is not None and first is not None and rest is None and whole >= first:
                    remainder.length, changed = whole - first, True
                elif whole is not None and first is None and rest is not None and whole >= rest:
                    primary.length, changed = whole - rest, True
        for split, parent, primary, remainder in self._divided():
            least = primary.reach + remainder.reach
            if parent.length is None or primary.length is None or remainder.length is None:
                wrong = parent.length is not None and least > parent.length
            else:
                wrong = least != parent.length
            if wrong:
                assert parent.length is not None
                self.undivided.add(split.call)
                yield Contradiction(
                    DeviationKind.DIVIDED, self._latest(split), split.call, expected=parent.length, observed=least
                )

    def _families(self) -> Iterator[Contradiction]:
        """Put the rows of children at their places in the parent, last split first, and the reverse."""
        for split, parent, primary, remainder in reversed(list(self._divided())):
            if split.call in self.undivided:
                continue
            for child, start in ((primary, 0), (remainder, primary.length)):
                if start is None:
                    continue
                deviation = _other_row(child, parent, start, split)
                if deviation is not None:
                    self.undivided.add(split.call)
                    yield deviation
                    break
                for place, held in child.rows.items():
                    parent.rows.setdefault(start + place, held)

    def _strangers(self) -> Iterator[Contradiction]:
        """Rows of the children of a split that their parent does not have, wherever in it they are.

        A parent whose rows are not all known may itself be a child of one whose rows are.
        """
        whole: dict[str, str] = {}
        for split, parent, primary, remainder in self._divided():
            own = split.parent if parent.whole else whole.get(split.parent)
            if own is None:
                continue
            whole |= dict.fromkeys((split.primary, split.remainder), own)
            if split.call in self.undivided:
                continue
            often = Counter(row for row, _ in self.known[own].rows.values())
            held = [*primary.rows.values(), *remainder.rows.values()]
            strange = _surplus((row for row, _ in held), often)
            if strange:
                self.undivided.add(split.call)
                call = max(split.call, held[strange[0]][1])
                yield Contradiction(DeviationKind.DIVIDED, call, split.call, -1, len(strange))

    def _latest(self, split: ModelSplit) -> int:
        names = {split.parent, split.primary, split.remainder}
        return max((read.call for read in self.history.reads if read.stream in names), default=split.call)

    # --- all streams ------------------------------------------------------------------------------------

    def _repeats(self) -> Iterator[Contradiction]:
        """Rows at more places of all streams than the session has them."""
        left = Counter(self.often)
        for name in dict.fromkeys(self.history.streams):
            surplus = []
            for place, (row, call) in sorted(self.known[name].rows.items()):
                left[row] -= 1
                if left[row] < 0:
                    surplus.append((place, call))
            if surplus:
                place, call = surplus[0]
                yield Contradiction(DeviationKind.REPEATED, call, place=place, count=len(surplus))

    def _missing(self) -> Iterator[Contradiction]:
        """Rows in no stream; only if every stream is known from end to end."""
        streams = [self.known[name] for name in dict.fromkeys(self.history.streams)]
        if not all(known.whole for known in streams):
            return
        left = Counter(row for known in streams for row, _ in known.rows.values())
        missing = _surplus(self.history.rows, left)
        if missing:
            calls = (call for known in streams for _, call in known.rows.values())
            ends = (known.ended_by for known in streams if known.ended_by is not None)
            last = max((*calls, *ends), default=self.history.call)
            yield Contradiction(DeviationKind.MISSING, last, place=missing[0], count=len(missing))

    # --- answers ------------------------------------------------------------------------------------------

    def _answers(self) -> Iterator[Contradiction]:
        for split in self.history.splits:
            if split.refused and split.parent in self.known:
                yield Contradiction(DeviationKind.REFUSED, split.call)
        for read in self.history.reads:
            known = self.known.get(read.stream)
            if known is None:
                continue
            if read.refused and read.offset <= min(known.reach, self._reached(read)):
                yield Contradiction(DeviationKind.REFUSED, read.call, expected=known.reach, observed=read.offset)
            elif not read.refused and known.length is not None and read.offset > known.length:
                yield Contradiction(DeviationKind.BEYOND, read.call, expected=known.length, observed=read.offset)

    def _reached(self, read: StreamRead) -> int:
        """Return the offset to which calls before a read delivered its stream, or the one that it is the first part of.

        The proto calls a larger offset undefined.
        """
        names = {read.stream}
        for split in reversed(self.history.splits):
            if split.primary in names:
                names.add(split.parent)
        came = [other for other in self.history.reads if other.stream in names and other.rows]
        before = [other for other in came if other.call < read.call]
        apart = (other for other in before if not (read.together and other.together))
        return max((other.offset + len(other.rows) for other in apart), default=0)


def _other_row(child: _Known, parent: _Known, start: int, split: ModelSplit) -> Contradiction | None:
    for place, (row, call) in sorted(child.rows.items()):
        held = parent.rows.get(start + place)
        if held is not None and held[0] != row:
            return Contradiction(DeviationKind.DIVIDED, max(call, held[1]), split.call, start + place)
    return None


def _surplus(rows: Iterable[Row], often: Mapping[Row, int]) -> list[int]:
    """Return the indices of the rows that occur more often than in ``often``."""
    came: Counter[Row] = Counter()
    surplus = []
    for index, row in enumerate(rows):
        came[row] += 1
        if came[row] > often.get(row, 0):
            surplus.append(index)
    return surplus
