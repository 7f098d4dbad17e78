"""Whether something may have been written between two calls of a recording."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.engine.writes import Writes
from tests.protocols.flight.engine.test_recordings import get, put

PUTS = (put(started=1.0, seconds=4.0), put(started=2.0, seconds=0.5), put(started=8.0))


@pytest.mark.parametrize(
    ("began", "started", "expected"),
    [(0.0, 0.2, False), (0.0, 0.6, True), (4.0, 5.0, True), (5.5, 6.0, False), (5.5, 7.8, True), (9.0, 10.0, False)],
)
def test_a_write_that_ran_at_some_time_counts(began: float, started: float, *, expected: bool) -> None:
    """Until the end of the later call; a long one counts, too, that began before another which was over."""
    assert Writes(PUTS).between(began, get(b"t", started=started)) is expected
