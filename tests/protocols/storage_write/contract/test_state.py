"""What a stream shows to a reader follows from its type and from the answers."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.protocols.storage_write.contract.state import StreamState
from conformance.protocols.storage_write.records import StreamType

PENDING = StreamState("p", StreamType.PENDING, rows=[4, 5, 6])
BUFFERED = StreamState("b", StreamType.BUFFERED, rows=[4, 5, 6])


@pytest.mark.parametrize(
    ("stream", "visible"),
    [
        (StreamState("c", StreamType.COMMITTED, rows=[1, 2]), (1, 2)),
        (PENDING, ()),
        (dataclasses.replace(PENDING, finalized=True), ()),
        (dataclasses.replace(PENDING, committed=True), (4, 5, 6)),
        (BUFFERED, ()),
        (dataclasses.replace(BUFFERED, flushed=2), (4, 5)),
        (dataclasses.replace(BUFFERED, flushed=2, finalized=True), (4, 5)),
    ],
)
def test_rows_are_visible_by_the_type(stream: StreamState, visible: tuple[int, ...]) -> None:
    """Every row of a stream is either visible or hidden."""
    assert tuple(stream.visible) == visible
    assert [*stream.visible, *stream.hidden] == stream.rows


def test_the_end_of_a_stream_may_be_unknown() -> None:
    """A default stream has no offsets, and neither has one of which an answer left open what is in it."""
    assert PENDING.end == 3
    assert dataclasses.replace(PENDING, known=False).end is None
    assert dataclasses.replace(PENDING, is_default=True).end is None


def test_a_copy_stays_as_it_is() -> None:
    """Later answers change the stream, and not what was known before them."""
    stream = StreamState("c", StreamType.COMMITTED, rows=[1])
    before = stream.copy()
    stream.rows.append(2)

    assert before.rows == [1]


@pytest.mark.parametrize(
    ("stream", "committed", "flushed"),
    [
        (StreamState("c", StreamType.COMMITTED), False, False),
        (PENDING, False, False),
        (dataclasses.replace(PENDING, finalized=True), True, False),
        (dataclasses.replace(PENDING, finalized=True, committed=True), False, False),
        (BUFFERED, False, True),
        (dataclasses.replace(BUFFERED, finalized=True), False, False),
    ],
)
def test_what_may_be_done_with_a_stream(stream: StreamState, committed: bool, flushed: bool) -> None:  # noqa: FBT001  # a row
    """A commit is of a finalized PENDING stream, once; a flush of an open BUFFERED one."""
    assert (stream.may_be_committed, stream.may_be_flushed) == (committed, flushed)
