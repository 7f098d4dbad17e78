"""The frames of HTTP/2 are followed however the bytes are cut into pieces."""

from __future__ import annotations

import pytest

from conformance.targets.http2frames import GOAWAY, Frames
from tests.http2 import frame_of, prefixed

SETTINGS = frame_of(4, b"", stream=0)
HEADERS = frame_of(1, b"xyz", flags=4)
TWO = frame_of(0, prefixed(bytes(10))[:8]) + frame_of(0, prefixed(bytes(10))[8:] + prefixed(bytes(0)))
PADDED = frame_of(0, b"\x03" + prefixed(bytes(4)) + b"pad", flags=8, stream=3)
ANSWER = SETTINGS + HEADERS + TWO + PADDED + frame_of(1, b"end", flags=5)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_messages_and_their_bytes_are_counted(size: int) -> None:
    """Messages may begin and end anywhere in frames; padding and other frames are no bytes of messages."""
    frames = Frames()
    for start in range(0, len(ANSWER), size):
        piece = ANSWER[start : start + size]
        assert frames.take(piece) == len(piece)

    assert (frames.messages, frames.bytes) == (3, 15 + 5 + 9)
    assert frames.between


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_what_passes_ends_with_the_frame_of_the_last_message(size: int) -> None:
    """Two messages end in one frame, and nothing after it passes."""
    frames, passed = Frames(), 0
    for start in range(0, len(ANSWER), size):
        passed += frames.take(ANSWER[start : start + size], messages=2)

    assert passed == len(SETTINGS + HEADERS + TWO)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_what_passes_ends_inside_a_message(size: int) -> None:
    """Twelve bytes of messages: eight in the first frame, four in the second."""
    frames, passed = Frames(), 0
    for start in range(0, len(ANSWER), size):
        passed += frames.take(ANSWER[start : start + size], size=12)

    assert passed == len(SETTINGS + HEADERS) + (9 + 8) + (9 + 4)


def test_no_frame_goes_between_the_parts_of_a_header_block() -> None:
    """CONTINUATION has to follow HEADERS directly (RFC 9113, section 6.10)."""
    frames = Frames()
    frames.take(frame_of(1, b"begin"))
    inside = frames.between
    frames.take(frame_of(9, b"end", flags=4))

    assert not inside
    assert frames.between


def test_goaway_is_a_frame() -> None:
    """Its last stream is the highest that there can be, so that no call in progress ends."""
    frames = Frames()

    assert frames.take(GOAWAY) == len(GOAWAY)
    assert frames.between
    assert GOAWAY[9:13] == b"\x7f\xff\xff\xff"
