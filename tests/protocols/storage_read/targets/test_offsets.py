"""Symbolic offsets are computed from the counters of an earlier read alone."""

from __future__ import annotations

import pytest

from conformance.contract import proto
from conformance.protocols.storage_read.targets.offsets import Extent, extent_of


def response(count: int = 0, *, deprecated: int = 0) -> bytes:
    """A response with its two counters."""
    message = proto.ReadRowsResponse(row_count=count)
    message.arrow_record_batch.row_count = deprecated
    data: bytes = message.SerializeToString()
    return data


@pytest.mark.parametrize(
    ("counts", "places"),
    [
        ((2, 5, 3), {"inside": 4, "boundary": 2, "last": 9, "end": 10, "end+1": 11, "end+100": 110}),
        ((4,), {"inside": 2, "boundary": None, "last": 3, "end": 4, "end+1": 5, "end+100": 104}),
        ((1, 1), {"inside": None, "boundary": 1, "last": 1, "end": 2, "end+1": 3, "end+100": 102}),
        ((), {"inside": None, "boundary": None, "last": None, "end": 0, "end+1": 1, "end+100": 100}),
    ],
)
def test_places_follow_from_the_counts(counts: tuple[int, ...], places: dict[str, int | None]) -> None:
    """Each place is where the records say, None where the stream has no such place."""
    extent = extent_of([response(count) for count in counts], rows=None)

    assert {place: extent.place(place) for place in places} == places


def test_the_deprecated_counter_stands_in() -> None:
    """A target that fills only the deprecated counter can still be asked for offsets."""
    assert extent_of([response(deprecated=3), response(2)], rows=None) == Extent((3, 2), 5)


def test_without_counters_the_case_tells_the_end() -> None:
    """Where a target counts nothing, the only stream of a whole table has to hold the case's rows."""
    assert extent_of([response(), response()], rows=7) == Extent(None, 7)
    assert extent_of([response()], rows=7) == Extent((7,), 7)


def test_without_counters_and_without_a_case_there_are_no_places() -> None:
    """Nothing is guessed: every place is unknown."""
    extent = extent_of([response()], rows=None)

    assert {extent.place(place) for place in ("inside", "boundary", "last", "end", "end+1", "end+100")} == {None}


def test_bytes_that_are_no_message_count_nothing() -> None:
    """Junk in place of a response leaves the counts unknown."""
    assert extent_of([b"\xff\xff"], rows=None) == Extent(None, None)
