"""Decides by trying everything whether a small history is permitted: another program than the checker's, and slow.

It tries every place at which a stream may have been divided, and every instant that a session may show. For each it
asks directly whether one sequence of rows for each stream, and one instant of visibility for each row, explain all
reads. It names nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.history import Append, Create, End, History, Read, Split

__all__ = ["permitted"]

TOUCH: Final = 0.25
"""Two calls of which one ends when the other begins may have overlapped: an end is a little later than it says."""

Shown = tuple[dict[int, int], int | None, int]
"""A stream: its rows by position, its length if a read shows it, and its largest possible length."""


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
    most = 1 + max((call.offset + len(call.rows) for call in history.calls if isinstance(call, Read)), default=0)
    for cuts in itertools.product(range(most + 1), repeat=len(mine)):
        base = {name: (name, 0, 0, math.inf) for name in session.streams}
        # The parents of a split may be named after it: each pass finds the next generation.
        for _ in mine:
            for call, cut in zip(mine, cuts, strict=True):
                if call.stream in base:
                    root, start, low, high = base[call.stream]
                    base[call.primary] = (root, start, low, min(high, start + cut))
                    base[call.remainder] = (root, start + cut, start + cut, high)
        if (seen := _sequences(history, session, base)) is not None:
            found.add(seen)
    yield from found


def _sequences(
    history: History, session: Create, base: Mapping[str, tuple[str, int, int, float]]
) -> tuple[frozenset[int], bool] | None:
    """Return the rows of a session and whether these are all; None if its reads contradict one another."""
    at: dict[tuple[str, int], int] = {}
    length: dict[str, int] = {}
    limit: dict[str, float] = {}
    for call in history.calls:
        if not isinstance(call, Read) or call.stream not in base:
            continue
        root, start, _, high = base[call.stream]
        for position, row in enumerate(call.rows, start + call.offset):
            if position >= high or at.setdefault((root, position), row) != row:
                return None
        if call.ended is not End.OK:
            continue
        end = start + call.offset + len(call.rows)
        if call.rows or not call.offset:
            if high is math.inf:
                if length.setdefault(root, end) != end:
                    return None
            elif end != high:
                return None
        elif high is math.inf:
            limit[root] = min(limit.get(root, math.inf), end)
        elif end < high:
            return None
    for root, start, _, high in base.values():
        # A division lies inside of its stream, whose length is at least the place of the division.
        for edge in (start, high):
            if edge is not math.inf and (edge > length.get(root, math.inf) or edge > limit.get(root, math.inf)):
                return None
    if len(set(at.values())) < len(at):
        return None
    for (root, position), _ in at.items():
        if position >= length.get(root, math.inf) or position >= limit.get(root, math.inf):
            return None
    if any(length[root] > limit.get(root, math.inf) for root in length):
        return None
    counts = {root: sum(owner == root for owner, _ in at) for root in session.streams}
    whole = all(root in length and counts[root] == length[root] for root in session.streams)
    return frozenset(at.values()), whole


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
    inserted = {row for call in history.calls if isinstance(call, Append) for row in call.rows}
    for rows, _ in shown[: len(chosen)]:
        if rows - inserted:
            return False
    for call in history.calls:
        if not isinstance(call, Append):
            continue
        for row in call.rows:
            low, open_low = call.begin, False
            high = math.inf if call.ended is not End.OK or call.late else call.end + TOUCH
            for session, (rows, whole), instant in zip(sessions, shown, chosen, strict=False):
                if row in rows:
                    if call.ended is End.REFUSED or call.table != session.table:
                        return False
                    high = min(high, instant)
                elif whole and not session.partial and call.ended is not End.REFUSED and call.table == session.table:
                    if instant > low or (instant == low and not open_low):
                        low, open_low = instant, True
            if low > high or (low == high and open_low):
                return False
    return True
