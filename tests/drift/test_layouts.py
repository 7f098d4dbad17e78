"""Where bytes differ, by label, and what permits it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.drift.layouts import differing_places
from conformance.reference.ipc import WriterOptions, write_file, write_stream

BATCH = pa.record_batch([pa.array([1, None, 3]), pa.array([1.0, 2.0, 3.0])], names=["a", "b"])
PLAIN = write_stream([BATCH])


def labels(old: bytes, new: bytes, container: str = "stream") -> list[str]:
    """The labels of the places that differ."""
    return [place.label for place in differing_places(container, old, new)]


def test_equal_bytes_have_no_places() -> None:
    """Nothing differs where nothing does."""
    assert labels(PLAIN, PLAIN) == []


def test_another_value_is_named_by_column_and_buffer() -> None:
    """A changed value is in its column's buffer, which no freedom of writers permits."""
    other = write_stream([BATCH.set_column(1, "b", pa.array([1.0, 2.0, 4.0]))])

    (place,) = differing_places("stream", PLAIN, other)

    assert (place.label, place.permitted) == ("message 1, b: data", "")
    assert (place.old, place.new) == ("1.0, 2.0, 3.0", "1.0, 2.0, 4.0")
    assert place.end - place.start == 24


def test_a_bitmap_may_be_there_or_not() -> None:
    """A bitmap that only one of the writers makes is permitted by name."""
    found = differing_places("stream", PLAIN, write_stream([BATCH], WriterOptions(validity="always")))

    (bitmap,) = (place for place in found if place.label == "message 1, b: validity bitmap")
    assert (bitmap.old, bitmap.permitted.partition(",")[0]) == (
        "absent",
        "a bitmap may be left out where nothing is null",
    )


def test_places_that_are_gone_count_in_the_old_bytes() -> None:
    """A missing end-of-stream marker is found at its position."""
    found = differing_places("stream", PLAIN, write_stream([BATCH], WriterOptions(end="close")))

    assert {place.gone for place in found} == {True}
    assert (found[0].start, found[-1].end) == (len(PLAIN) - 8, len(PLAIN))


def test_a_footer_follows_from_its_messages() -> None:
    """Other alignment moves the blocks of a footer, which is permitted as such."""
    found = differing_places("file", write_file([BATCH]), write_file([BATCH], WriterOptions(alignment=64)))

    assert all(place.permitted for place in found)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_any_two_streams_can_be_compared(codec: str) -> None:
    """For every difference at least one place is reported."""
    other = write_stream([BATCH], WriterOptions(codec=codec))  # type: ignore[arg-type]  # one of the two

    assert labels(PLAIN, other)
    assert labels(PLAIN, b"")
    assert labels(PLAIN, PLAIN[:100])
