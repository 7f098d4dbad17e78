"""Draws histories of a permitted server, and the same with one fault of a kind that a developer would make.

No server runs: a drawn table grows, sessions fix an instant, divide their rows into streams and serve reads of them.
Calls overlap in time where the seed says so. A fault changes how the drawn server answers, not the recorded rows.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.history import AnomalyKind, Append, Create, End, History, HistoryCall, RowsRead, Split

SPAN: Final = 3
"""The most instants that a call lasts."""


@dataclasses.dataclass(slots=True)
class Server:
    """A server that is permitted: its methods answer calls from what they are given. A fault replaces one of them."""

    random: random.Random

    def instant(self, earliest: int, latest: int) -> int:
        """The instant that a session shows."""
        return self.random.randint(earliest, latest)

    def rows(self, visible: Mapping[int, float], instant: int) -> list[int]:
        """The rows of a session, from the instants at which the rows of its table became visible."""
        return [row for row, since in visible.items() if since <= instant]

    def streams(self, rows: Sequence[int]) -> list[list[int]]:
        """The rows of a session, divided into streams."""
        rows = self.random.sample(rows, len(rows))
        count = self.random.randint(0 if not rows else 1, 2)
        cuts = sorted(self.random.randint(0, len(rows)) for _ in range(count - 1))
        return [rows[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True)][:count]

    def served(self, stream: list[int], offset: int, _other: Sequence[int]) -> list[int]:
        """The rows of a read; ``other`` are rows of the table that are not in the stream."""
        return stream[offset:]

    def children(self, stream: list[int], cut: int, _other: Sequence[int]) -> tuple[list[int], list[int]]:
        """The rows of the two children of a split."""
        return stream[:cut], stream[cut:]


class Late(Server):
    """A session shows the table as of an instant after its creation."""

    def instant(self, earliest: int, latest: int) -> int:
        """See the class."""
        return latest + self.random.randint(1, 8)


class Stale(Server):
    """A session shows the table as of an instant before its creation."""

    def instant(self, earliest: int, latest: int) -> int:
        """See the class."""
        return earliest - self.random.randint(1, 8)


class Fractured(Server):
    """A session lacks one row at random."""

    def rows(self, visible: Mapping[int, float], instant: int) -> list[int]:
        """See the class."""
        rows = super().rows(visible, instant)
        if rows:
            rows.remove(self.random.choice(rows))
        return rows


class Repeating(Server):
    """A stream has a row that another, or itself, has too."""

    def streams(self, rows: Sequence[int]) -> list[list[int]]:
        """See the class."""
        streams = super().streams(rows)
        if rows:
            self.random.choice(streams).append(self.random.choice(rows))
        return streams


class Overlapping(Server):
    """A resumed read begins one row too early."""

    def served(self, stream: list[int], offset: int, other: Sequence[int]) -> list[int]:
        """See the class."""
        return stream[max(0, offset - 1) :]


class Skipping(Server):
    """A resumed read begins one row too late."""

    def served(self, stream: list[int], offset: int, other: Sequence[int]) -> list[int]:
        """See the class."""
        return stream[offset + 1 :] if offset else stream


class Shuffling(Server):
    """Each read gives the rest of its stream in another order."""

    def served(self, stream: list[int], offset: int, other: Sequence[int]) -> list[int]:
        """See the class."""
        rest = stream[offset:]
        return self.random.sample(rest, len(rest))


class Elsewhere(Server):
    """A child has rows that are not in its parent."""

    def children(self, stream: list[int], cut: int, other: Sequence[int]) -> tuple[list[int], list[int]]:
        """See the class."""
        return stream[:cut], [*stream[cut:], *other[:1]]


class Dropping(Server):
    """A split drops the row at which it divides."""

    def children(self, stream: list[int], cut: int, other: Sequence[int]) -> tuple[list[int], list[int]]:
        """See the class."""
        return stream[:cut], stream[cut + 1 :]


class Sharing(Server):
    """Both children of a split have the row at which it divides."""

    def children(self, stream: list[int], cut: int, other: Sequence[int]) -> tuple[list[int], list[int]]:
        """See the class."""
        return stream[: cut + 1], stream[cut:]


class Turning(Server):
    """The children of a split are exchanged."""

    def children(self, stream: list[int], cut: int, other: Sequence[int]) -> tuple[list[int], list[int]]:
        """See the class."""
        return stream[cut:], stream[:cut]


class Forked(Server):
    """Each session has an order of its own for insertions at about the same time."""

    def rows(self, visible: Mapping[int, float], instant: int) -> list[int]:
        """See the class."""
        return super().rows({row: since + self.random.randint(-2, 2) for row, since in visible.items()}, instant)


class Foreign(Server):
    """A read shows a row that nobody inserted."""

    def served(self, stream: list[int], offset: int, other: Sequence[int]) -> list[int]:
        """See the class."""
        return [*stream[offset:], -1 - self.random.randrange(3)]


K: Final = AnomalyKind
FAULTS: Final[Mapping[type[Server], frozenset[AnomalyKind]]] = {
    Late: frozenset({K.EARLY_ROW, K.TORN_SESSION, K.RECEDING_SNAPSHOT}),
    Stale: frozenset({K.LOST_ROW, K.RECEDING_SNAPSHOT}),
    Fractured: frozenset({K.LOST_ROW, K.RECEDING_SNAPSHOT, K.TORN_SESSION}),
    Repeating: frozenset({K.REPEATED_ROW, K.REORDERED_RESUME, K.LOST_ROW}),
    Overlapping: frozenset({K.REPEATED_ROW, K.REORDERED_RESUME, K.LOST_ROW}),
    Skipping: frozenset({K.LOST_ROW, K.REORDERED_RESUME, K.RECEDING_SNAPSHOT, K.TORN_SESSION, K.STREAM_FROM_ELSEWHERE}),
    Shuffling: frozenset(K) - {K.EARLY_ROW},
    Elsewhere: frozenset({K.STREAM_FROM_ELSEWHERE, K.REPEATED_ROW}),
    Dropping: frozenset({K.LOST_ROW, K.REORDERED_RESUME, K.RECEDING_SNAPSHOT, K.TORN_SESSION, K.STREAM_FROM_ELSEWHERE}),
    Sharing: frozenset({K.REPEATED_ROW, K.REORDERED_RESUME}),
    Turning: frozenset({K.REORDERED_RESUME, K.LOST_ROW, K.STREAM_FROM_ELSEWHERE, K.REPEATED_ROW}),
    Foreign: frozenset({K.STREAM_FROM_ELSEWHERE}),
    Forked: frozenset({K.LOST_ROW, K.EARLY_ROW, K.TORN_SESSION, K.RECEDING_SNAPSHOT}),
}
"""Each fault, and the names that its anomalies may have: which one it is depends on what was read."""


@dataclasses.dataclass(slots=True)
class _Stream:
    name: str
    group: str
    rows: list[int]
    born: int
    other: list[int]
    depth: int = 0


class Drawing:
    """Draws one history of at most ``steps`` calls."""

    def __init__(self, seed: int, fault: type[Server] | None = None, *, steps: int = 8) -> None:
        self.random = random.Random(seed)
        self.server = (fault or Server)(self.random)
        self.now = 0
        self.calls: list[HistoryCall] = []
        self.visible: dict[int, float] = {}
        self.streams: list[_Stream] = []
        self.labels = 0
        self.at_once = self.random.random() < 0.4
        """Whether every session is read in full at once: only such sessions can be compared."""
        # All insertions are drawn first: a fault may show the future.
        self._append(self.random.randint(1, 3))
        for _ in range(self.random.randint(0, 3)):
            self.now += self.random.randint(0, 3)
            self._append(self.random.randint(1, 2))
        self.now = self.random.randint(1, 2)
        for _ in range(self.random.randint(2, steps)):
            self._step()
        self.random.shuffle(self.calls)
        self.history = History(tuple(self.calls))

    def _times(self) -> tuple[int, int]:
        begin = self.now
        self.now += self.random.choice((0, 1, 2))
        return begin, begin + self.random.randint(0, SPAN)

    def _end(self) -> End:
        return self.random.choices((End.OK, End.UNKNOWN), (9, 1))[0]

    def _step(self) -> None:
        kinds = [self._create]
        if self.streams:
            kinds += [self._read, self._read, self._drain, self._drain, self._split]
        self.random.choice(kinds)()

    def _append(self, count: int) -> None:
        begin, end = self._times()
        rows = tuple(range(len(self.visible), len(self.visible) + count))
        ended = self._end() if self.calls else End.OK
        for row in rows:
            since: float = self.random.randint(begin, end)
            if ended is End.UNKNOWN:
                since = self.random.choice((since, end + self.random.randint(0, 9), float("inf")))
            self.visible[row] = since
        self.calls.append(Append(begin, end, rows, ended=ended))

    def _create(self) -> None:
        begin, end = self._times()
        label = f"s{self.labels}"
        self.labels += 1
        after = before = None
        if self.random.random() < 0.1:
            after = self.random.randint(0, begin)
            before = self.random.randint(after, begin)
        earliest, latest = (begin, end) if after is None or before is None else (after, before)
        instant = self.server.instant(earliest, latest)
        rows = self.server.rows(self.visible, instant)
        partial = self.random.random() < 0.1
        if partial:
            rows = [row for row in rows if row % 3]
        streams = self.server.streams(rows)
        names = tuple(f"{label}/{number}" for number in range(len(streams)))
        ended = self._end()
        self.calls.append(Create(begin, end, label, names, after=after, before=before, partial=partial, ended=ended))
        self.now = max(self.now, end)
        for name, own in zip(names, streams, strict=True):
            other = [row for row in rows if row not in own]
            self.streams.append(_Stream(name, label, own, end, other))
            if self.at_once:
                self._full(self.streams[-1])

    def _drain(self) -> None:
        """Read every stream of the same session or split to its end."""
        group = self.random.choice(self.streams).group
        for stream in self.streams:
            if stream.group == group:
                self._full(stream)

    def _full(self, stream: _Stream) -> None:
        begin, end = self._times()
        self.calls.append(RowsRead(begin, end, stream.name, tuple(self.server.served(stream.rows, 0, stream.other))))

    def _read(self) -> None:
        stream = self.random.choice(self.streams)
        begin, end = self._times()
        offset = self.random.choice((0, 0, 0, self.random.randint(0, len(stream.rows))))
        rows = self.server.served(stream.rows, offset, stream.other)
        ended = self.random.choices((End.OK, End.CUT, End.UNKNOWN), (8, 3, 1))[0]
        if ended is not End.OK:
            rows = rows[: self.random.randint(0, len(rows))]
        self.calls.append(RowsRead(begin, end, stream.name, tuple(rows), offset, ended))

    def _split(self) -> None:
        stream = self.random.choice(self.streams)
        begin, end = self._times()
        if len(stream.rows) < 2 or stream.depth > 1:
            self.calls.append(Split(begin, end, stream.name))
            return
        label = f"x{self.labels}"
        self.labels += 1
        cut = self.random.randint(1, len(stream.rows) - 1)
        children = self.server.children(stream.rows, cut, stream.other)
        names = (f"{label}.primary", f"{label}.remainder")
        self.calls.append(Split(begin, end, stream.name, *names, ended=End.OK))
        for name, rows in zip(names, children, strict=True):
            other = [row for row in (*stream.other, *stream.rows) if row not in rows]
            self.streams.append(_Stream(name, label, rows, end, other, stream.depth + 1))
        if self.random.random() < 0.5:
            for one in (*self.streams[-2:], *([stream] if self.random.random() < 0.5 else [])):
                self._full(one)


def draw(seed: int, fault: type[Server] | None = None, *, steps: int = 8) -> History:
    """Return the history of a seed."""
    return Drawing(seed, fault, steps=steps).history
