"""Decides by trying everything whether a small history is permitted: another program than the checker's, and slow.

It tries every place at which a stream may have been divided, and every instant that a session may show. For each it
asks directly whether one sequence of rows for each stream, and one instant of visibility for each row, explain all
reads. It names nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.history import Append, Create, End, History, RowsRead, Split

__all__ = ["permitted"]

TOUCH: Final = 0.25
"""Two calls of which one ends when the other begins may have overlapped: an end is a little later than it says."""


def permitted(history: History) -> bool:
    """True if a server of one snapshot per session can answer so."""
    sessions = [call for call in history.calls if isinstance(call, Create) and call.ended is End.OK]
    choices = [list(_session_rows(history, session)) for session in sessions]
    return all(choices) and any(_instants(history, sessions, chosen) for chosen in itertools.product(*choices))


def _session_rows(history: History, session: Create) -> Iterator[tuple[frozenset[int], bool]]:
    """Yield the rows that a session is seen to have, and whether these are all, for each way to divide its streams."""
    found = set()
    splits = [call for call in history.calls if isinstance(call, Split) and call.divided]
    mine = [call for call in splits if history.calls[history.session_of(call.stream)] is session]
    most = 1 + max((call.offset + len(call.rows) for call in history.calls if isinstance(call, RowsRead)), default=0)
    for cuts in itertools.product(range(most + 1), repeat=len(mine)):
        base: dict[str, tuple[str, int, float]] = {name: (name, 0, math.inf) for name in session.streams}
        # The parents of a split may be named after it: each pass finds the next generation.
        for _ in mine:
            for call, cut in zip(mine, cuts, strict=True):
                if call.stream in base:
                    root, start, high = base[call.stream]
                    base[call.primary] = (root, start, min(high, start + cut))
                    base[call.remainder] = (root, start + cut, high)
        if (seen := _sequences(history, session, base)) is not None:
            found.add(seen)
    yield from found


@dataclasses.dataclass(slots=True)
class _Seen:
    """What reads show of the streams of a session: rows by place, lengths, and upper limits of lengths."""

    at: dict[tuple[str, int], int] = dataclasses.field(default_factory=dict)
    lengths: dict[str, set[int]] = dataclasses.field(default_factory=dict)
    limits: list[tuple[str, float]] = dataclasses.field(default_factory=list)
    fits: bool = True

    def read(self, call: RowsRead, root: str, start: int, high: float) -> None:
        """Add a read of a part of ``root`` that begins at ``start`` and ends before ``high``."""
        end = start + call.offset + len(call.rows)
        for position, row in enumerate(call.rows, start + call.offset):
            self.fits &= position < high and self.at.setdefault((root, position), row) == row
        if call.ended is not End.OK:
            return
        shows_end = bool(call.rows) or not call.offset
        if high is not math.inf:
            self.fits &= end == high if shows_end else end >= high
        elif shows_end:
            self.lengths.setdefault(root, set()).add(end)
        else:
            self.limits.append((root, end))

    def explained(self) -> bool:
        """True if one sequence of rows for each stream explains everything."""
        if (
            not self.fits
            or len(set(self.at.values())) < len(self.at)
            or any(len(one) > 1 for one in self.lengths.values())
        ):
            return False
        ends = {root: float(min(one)) for root, one in self.lengths.items()}
        if any(ends.get(root, 0) > limit for root, limit in self.limits):
            return False
        for root, limit in self.limits:
            ends[root] = min(limit, ends.get(root, math.inf))
        return all(position < ends.get(root, math.inf) for root, position in self.at)


def _sequences(
    history: History, session: Create, base: Mapping[str, tuple[str, int, float]]
) -> tuple[frozenset[int], bool] | None:
    """Return the rows of a session and whether these are all; None if its reads contradict one another."""
    seen = _Seen()
    for call in history.calls:
        if isinstance(call, RowsRead) and call.stream in base:
            seen.read(call, *base[call.stream])
    # A division lies inside of its stream, whose length is at least the place of the division.
    for root, start, high in base.values():
        edges = [edge for edge in (start, high) if edge is not math.inf]
        ends = [*seen.lengths.get(root, ()), *(limit for name, limit in seen.limits if name == root)]
        seen.fits &= max(edges) <= min(ends, default=math.inf)
    if not seen.explained():
        return None
    rows = Counter(root for root, _ in seen.at)
    whole = all(rows[root] in seen.lengths.get(root, ()) for root in session.streams)
    return frozenset(seen.at.values()), whole


def _instants(history: History, sessions: list[Create], shown: tuple[tuple[frozenset[int], bool], ...]) -> bool:
    """True if some instants of the sessions explain the rows that they have."""
    times = {time for call in history.calls for time in (call.begin, call.end + TOUCH)}
    times |= {time for session in sessions for time in (session.earliest, session.latest + TOUCH)}
    grid = sorted(times)
    grid = sorted({*grid, *((one + other) / 2 for one, other in itertools.pairwise(grid))})
    ranges = [[time for time in grid if session.earliest <= time <= session.latest + TOUCH] for session in sessions]
    return _choose(history, sessions, shown, ranges, [])


def _choose(
    history: History,
    sessions: list[Create],
    shown: tuple[tuple[frozenset[int], bool], ...],
    ranges: list[list[float]],
    chosen: list[float],
) -> bool:
    if not _explains(history, sessions[: len(chosen)], shown, chosen):
        return False
    if len(chosen) == len(sessions):
        return True
    return any(_choose(history, sessions, shown, ranges, [*chosen, instant]) for instant in ranges[len(chosen)])


def _explains(
    history: History, sessions: list[Create], shown: tuple[tuple[frozenset[int], bool], ...], chosen: list[float]
) -> bool:
    """True if each row can become visible at an instant that agrees with what the sessions show at theirs."""
    inserted = {row: call for call in history.calls if isinstance(call, Append) for row in call.rows}
    views = [(session, *seen, instant) for session, seen, instant in zip(sessions, shown, chosen, strict=False)]
    for session, rows, _, _ in views:
        if any(row not in inserted or _is_foreign(inserted[row], session) for row in rows):
            return False
    return all(_has_instant(row, call, views) for row, call in inserted.items() if call.ended is not End.REFUSED)


def _is_foreign(call: Append, session: Create) -> bool:
    return call.ended is End.REFUSED or call.table != session.table


def _has_instant(row: int, call: Append, views: list[tuple[Create, frozenset[int], bool, float]]) -> bool:
    latest = [math.inf if call.ended is not End.OK or call.late else call.end + TOUCH]
    latest += [instant for _, rows, _, instant in views if row in rows]
    after = [
        instant
        for session, rows, whole, instant in views
        if row not in rows and whole and not session.partial and not _is_foreign(call, session)
    ]
    return call.begin <= min(latest) and max(after, default=-math.inf) < min(latest)
