"""Frames: every cut, every excess and every silence has a name."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator

import pytest

from conformance.contain.channel import MAX_BLOBS, MAX_HEADER, Channel, ChannelMessage, Closed, FrameError
from tests.patience import LONG


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Channel]]:
    """A raw socket and a channel on the other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, Channel(theirs)


def encoded(header: bytes, blobs: tuple[bytes, ...] = ()) -> bytes:
    """A frame as it is on the wire."""
    lengths = [struct.pack("<Q", len(blob)) for blob in blobs]
    return b"".join([struct.pack("<II", len(header), len(blobs)), *lengths, header, *blobs])


def test_round_trip(ends: tuple[socket.socket, Channel]) -> None:
    """A header and its byte strings arrive as they were sent, frame after frame."""
    ours, channel = ends
    sender = Channel(ours)

    sender.send({"do": "read", "n": 1}, [b"abc", b"", b"\x00" * 3])
    sender.send({})

    assert channel.receive(seconds=LONG) == ChannelMessage({"do": "read", "n": 1}, (b"abc", b"", b"\x00" * 3))
    assert channel.receive(seconds=LONG) == ChannelMessage({})


def test_frames_end_where_the_connection_is_closed(ends: tuple[socket.socket, Channel]) -> None:
    """Between two frames that is an ordinary end, inside one it is an error."""
    ours, channel = ends
    ours.sendall(encoded(b"{}") + encoded(b'{"n": 1}') + WHOLE[:3])
    ours.close()

    frames = channel.frames()

    assert [next(frames), next(frames)] == [ChannelMessage({}), ChannelMessage({"n": 1})]
    with pytest.raises(FrameError, match="got 3 before the connection closed"):
        next(frames)


WHOLE = encoded(b'{"a": 1}', (b"xyz",))


@pytest.mark.parametrize("cut", range(1, len(WHOLE)))
def test_every_cut_is_an_error(ends: tuple[socket.socket, Channel], cut: int) -> None:
    """A connection that ends inside a frame says how far the frame had got."""
    ours, channel = ends
    ours.sendall(WHOLE[:cut])
    ours.close()

    with pytest.raises(FrameError, match=r"expected \d+ bytes of a frame, got \d+ before the connection closed"):
        channel.receive(seconds=LONG)


def test_end_between_frames(ends: tuple[socket.socket, Channel]) -> None:
    """A connection that ends between frames is closed, not broken."""
    ours, channel = ends
    ours.close()

    with pytest.raises(Closed):
        channel.receive(seconds=LONG)


@pytest.mark.parametrize("sent", [b"", WHOLE[:5], WHOLE[:-1]])
def test_silence_ends_at_the_deadline(ends: tuple[socket.socket, Channel], sent: bytes) -> None:
    """A frame that does not come to its end in time is a timeout, wherever it stopped."""
    ours, channel = ends
    ours.sendall(sent)

    with pytest.raises(TimeoutError):
        channel.receive(seconds=0.02)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (struct.pack("<II", MAX_HEADER + 1, 0), "expected a frame, got a header of"),
        (struct.pack("<II", 2, MAX_BLOBS + 1), "expected a frame, got a header of"),
        (struct.pack("<IIQ", 2, 1, 1 << 60), "expected at most"),
        (encoded(b"nonsense"), "expected a JSON object as header: expected JSON but got b'nonsense'"),
        (encoded(b"\xff\xfe"), "expected a JSON object as header: expected JSON but got"),
        (
            encoded(json.dumps([1]).encode()),
            r"as header: expected a JSON object but got b'\[1\]'",
        ),
    ],
)
def test_noise_is_refused(ends: tuple[socket.socket, Channel], data: bytes, message: str) -> None:
    """Bytes that are not a frame are refused before any allocation."""
    ours, channel = ends
    ours.sendall(data)

    with pytest.raises(FrameError, match=message):
        channel.receive(seconds=LONG)
