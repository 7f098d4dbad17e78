"""A process that is kept from case to case, and started again after it ended."""

from __future__ import annotations

import pytest

from conformance.targets.kept import Kept
from conformance.targets.targeterrors import TargetUnavailable


class _Process:
    """Something that runs, and notes the seconds that it was given to end."""

    def __init__(self) -> None:
        self.graces: list[float] = []

    def close(self, *, grace: float) -> None:
        self.graces.append(grace)


def test_what_runs_is_kept() -> None:
    """The same process serves every case."""
    kept = Kept("server", _Process)
    assert kept.ready() is kept.ready()


def test_what_was_discarded_is_started_again() -> None:
    """A discarded process is closed with the grace given, and the next case gets another."""
    kept = Kept("server", _Process)
    first = kept.ready()
    kept.discard(grace=3.0)
    kept.discard(grace=4.0)
    assert first.graces == [3.0]
    assert kept.ready() is not first


def test_a_start_that_fails_is_not_repeated() -> None:
    """A process that did not start again is not tried a third time; each case hears the first reason."""
    starts = 0

    def start() -> _Process:
        nonlocal starts
        starts += 1
        if starts > 1:
            raise TargetUnavailable(f"no port, at start {starts}")
        return _Process()

    kept = Kept("server", start)
    kept.discard(grace=0)
    for _ in range(2):
        with pytest.raises(TargetUnavailable, match="the server did not start again: no port, at start 2"):
            kept.ready()
    assert starts == 2
