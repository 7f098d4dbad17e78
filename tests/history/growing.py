"""Histories that grow: what the checker may look at for each call once, and what grows with a product."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from conformance.history import Append, Create, End, HistoryCall, RowsRead, Split

__all__ = ["chain", "later_rows", "lost", "parts", "sessions_before", "splits", "tables", "unread_chain"]


def sessions(count: int, *, at: int = 0, rows: tuple[int, ...] = ()) -> Iterator[HistoryCall]:
    """Sessions that are read to the end, each after the one before."""
    clock = itertools.count(at)
    for number in range(count):
        yield Create(next(clock), next(clock), f"s{number}", (f"s{number}/0",))
        yield RowsRead(next(clock), next(clock), f"s{number}/0", rows)


def insertions(count: int, at: int = 0) -> Iterator[HistoryCall]:
    """Insertions of a row each."""
    return (Append(at + 2 * row, at + 2 * row + 1, (row,)) for row in range(count))


def sessions_before(count: int) -> Iterator[HistoryCall]:
    """Sessions of an empty table, into which as many rows are inserted later."""
    yield from sessions(count)
    yield from insertions(count, at=4 * count)


def tables(count: int) -> Iterator[HistoryCall]:
    """Tables of a row and a session each."""
    for number in range(count):
        yield Append(0, 1, (number,), f"t{number}")
        yield Create(2, 3, f"s{number}", (f"s{number}/0",), f"t{number}")
        yield RowsRead(4, 5, f"s{number}/0", (number,))


def later_rows(count: int) -> Iterator[HistoryCall]:
    """A session that was read as often as it has rows of later insertions."""
    yield Create(0, 1, "s", ("a", "b"))
    yield from (RowsRead(2 + n, 2 + n, "a", (), ended=End.CUT) for n in range(count))
    yield from insertions(count, at=3 * count)
    yield RowsRead(9 * count, 9 * count, "b", tuple(range(count)))


def parts(count: int) -> Iterator[HistoryCall]:
    """A stream that is read one row at a time."""
    yield Append(0, 1, tuple(range(count)))
    yield Create(2, 3, "s", ("a",))
    yield from (RowsRead(4 + row, 5 + row, "a", (row,), row, End.CUT) for row in range(count))


def splits(count: int) -> Iterator[HistoryCall]:
    """A stream that is split as often as it has rows."""
    yield Append(0, 1, tuple(range(count)))
    yield Create(2, 3, "s", ("a",))
    yield RowsRead(3, 4, "a", tuple(range(count)))
    for number in range(count):
        yield Split(4, 5, "a", f"p{number}", f"r{number}")
        yield RowsRead(6, 7, f"p{number}", (0,))


def unread_chain(count: int) -> Iterator[HistoryCall]:
    """Splits of the remainders of splits, of which only the lengths are known, from the last one on."""
    yield Create(2, 3, "s", ("r0",))
    yield from (Split(4, 5, f"r{n}", f"p{n}", f"r{n + 1}") for n in reversed(range(count)))
    yield from (RowsRead(6, 7, f"p{n}", ()) for n in range(count))
    yield RowsRead(6, 7, f"r{count}", ())


def lost(count: int) -> Iterator[HistoryCall]:
    """Sessions without any of as many rows that were there before."""
    yield from insertions(count)
    yield from sessions(count, at=3 * count)


def chain(count: int) -> Iterator[HistoryCall]:
    """Splits of the remainders of splits, and a read of the last one: each stream above it has its rows."""
    yield Append(0, 1, tuple(range(count)))
    yield Create(2, 3, "s", ("r0",))
    yield from (Split(4, 5, f"r{n}", f"p{n}", f"r{n + 1}") for n in range(count))
    yield RowsRead(6, 7, f"r{count}", tuple(range(count)))
