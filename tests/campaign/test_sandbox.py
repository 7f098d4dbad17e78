"""How a sandbox cuts a range into groups of cases that it works on together."""

from __future__ import annotations

import pytest

from conformance.campaign.sandbox import _spans


@pytest.mark.parametrize(
    ("first", "last", "careful", "spans"),
    [
        (0, 40, -1, [(0, 16), (16, 32), (32, 40)]),
        (5, 20, -1, [(5, 16), (16, 20)]),
        (0, 20, 7, [(0, 7), (7, 8), (8, 16), (16, 20)]),
        (0, 20, 0, [(0, 1), (1, 16), (16, 20)]),
        (0, 20, 16, [(0, 16), (16, 17), (17, 20)]),
        (3, 3, -1, []),
    ],
)
def test_families_stay_together_and_the_careful_case_stands_alone(
    first: int, last: int, careful: int, spans: list[tuple[int, int]]
) -> None:
    """So that nothing unsent is begun before a case that may end the process."""
    assert [(span.start, span.stop) for span in _spans(first, last, careful)] == spans
