"""Work in blocks, by bytes and by time; the clock belongs to the test."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from conformance.drift.pacing import BYTES, COUNT, Pace


def ticking(step: float) -> Callable[[], float]:
    """A clock that is ``step`` seconds later at each look."""
    looks = itertools.count()
    return lambda: next(looks) * step


def sizes(pace: Pace, count: int, *, size: int = 1, share: float = 1.0, needed: int = 1) -> list[int]:
    """The lengths of the blocks of ``count`` items of ``size`` bytes."""
    return [len(block) for block in pace.blocks(range(count), size=lambda _: size, share=share, needed=needed)]


def test_without_a_limit_all_come_in_one_block() -> None:
    """A worker starts once."""
    pace = Pace(clock=ticking(1000))

    assert sizes(pace, 3 * COUNT) == [3 * COUNT]
    assert not pace.cut


def test_a_block_holds_so_many_bytes() -> None:
    """An item that is larger comes alone."""
    assert sizes(Pace(), 5, size=BYTES // 2) == [2, 2, 1]
    assert sizes(Pace(), 3, size=2 * BYTES) == [1, 1, 1]


def test_what_there_is_no_time_for_is_left_out() -> None:
    """Blocks come until the time has passed."""
    pace = Pace(3.0, clock=ticking(1.0))

    assert sizes(pace, 10 * COUNT) == [COUNT] * 3
    assert pace.cut


def test_a_share_of_the_time_is_for_the_first_work() -> None:
    """What comes later has the rest."""
    pace = Pace(4.0, clock=ticking(1.0))

    assert sizes(pace, 10 * COUNT, share=0.5) == [COUNT] * 2
    assert sizes(pace, 10 * COUNT) == [COUNT] * 2


def test_what_is_needed_comes_in_any_case() -> None:
    """The bytes that were written have to be read."""
    pace = Pace(1.0, clock=ticking(1.0))

    assert sizes(pace, 5 * COUNT, needed=3 * COUNT) == [COUNT] * 3


def test_the_last_block_is_not_left_out() -> None:
    """Nothing is left behind a block that took the last items."""
    pace = Pace(1.0, clock=ticking(1.0))

    assert sizes(pace, COUNT) == [COUNT]
    assert not pace.cut
