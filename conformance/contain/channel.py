"""Length-prefixed frames over a socket pair: a JSON header and any number of byte strings.

Layout, little-endian: ``u32`` header length, ``u32`` blob count, ``u64`` per blob length, the header, the blobs.
Nothing is unpickled, because a worker has decoded untrusted bytes and may send anything.
Every receive has a deadline and a size limit; its errors say how much of the frame had arrived.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.contain.parse import ForeignJsonError, parse_object

__all__ = ["Channel", "ChannelMessage", "Closed", "FrameError"]

MAX_HEADER: Final = 32 << 20
"""The largest header in bytes: a frame of a campaign contains the rows of many cases."""
MAX_BLOBS: Final = 1 << 20
"""The largest number of byte strings in one frame; each is one recorded response."""
MAX_FRAME: Final = 8 << 30
"""The largest frame in bytes, well above the largest exchange that a driver records."""
MAX_VALUES: Final = 4_000_000
"""The largest number of JSON values in a header."""

_HEAD: Final = struct.Struct("<II")
_PIECE: Final = 16 << 20
_SMALL: Final = 64 << 10


class FrameError(Exception):
    """The other side sent bytes that are not a frame, or closed the connection inside a frame."""


class Closed(FrameError):  # noqa: N818  # a normal end, not an error
    """The other side closed the connection before a frame began."""


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """One message: a JSON object, and byte strings to which the object refers by position."""

    header: Mapping[str, Any]
    blobs: tuple[bytes, ...] = ()


class Channel:
    """One end of a connection that carries frames; ``seconds`` limits the time of one full send or receive.

    ``header`` and ``frame`` limit received frames, in bytes: the header, and all byte strings together.
    """

    def __init__(self, end: socket.socket, *, header: int = MAX_HEADER, frame: int = MAX_FRAME) -> None:
        self._end = end
        self._header = header
        self._frame = frame

    def close(self) -> None:
        """Close this end; the other side reads :class:`Closed`."""
        self._end.close()

    def send(
        self, header: Mapping[str, Any], blobs: Sequence[bytes | memoryview] = (), *, seconds: float | None = None
    ) -> None:
        """Send one frame.

        Raises:
            TimeoutError: The other side did not take the frame in time.
            OSError: The connection is gone.
        """
        text = json.dumps(header).encode()
        lengths = struct.pack(f"<{len(blobs)}Q", *(len(blob) for blob in blobs))
        until = None if seconds is None else time.monotonic() + seconds
        parts: Sequence[bytes | memoryview] = (_HEAD.pack(len(text), len(blobs)) + lengths + text, *blobs)
        if sum(map(len, parts)) <= _SMALL:
            parts = (b"".join(parts),)  # one call of the system, and one wake-up of the other side
        for part in parts:
            # Set again for each part: a timeout of the socket applies to one call, not to the full frame.
            self._end.settimeout(_left(until, f"the other side did not take a frame within {seconds} s"))
            self._end.sendall(part)

    def receive(self, *, seconds: float | None = None) -> ChannelMessage:
        """Receive one frame.

        Raises:
            Closed: The connection ended before a frame began.
            FrameError: The connection ended inside a frame, or the bytes are not a frame.
            TimeoutError: No complete frame arrived in time.
            OSError: The connection broke.
        """
        until = None if seconds is None else time.monotonic() + seconds
        head = self._exactly(_HEAD.size, until, at_start=True)
        size, count = _HEAD.unpack(head)
        if size > self._header or count > MAX_BLOBS:
            raise FrameError(f"expected a frame, got a header of {size} bytes with {count} byte strings")
        lengths = struct.unpack(f"<{count}Q", self._exactly(8 * count, until))
        if sum(lengths) > self._frame:
            raise FrameError(f"expected at most {self._frame} bytes in a frame, got {sum(lengths)} announced")
        text = self._exactly(size, until)
        blobs = tuple(self._exactly(length, until) for length in lengths)
        try:
            header = parse_object(text, values=MAX_VALUES)
        except ForeignJsonError as error:
            raise FrameError(f"expected a JSON object as header: {error}") from None
        return ChannelMessage(header, blobs)

    def frames(self) -> Iterator[ChannelMessage]:
        """Receive frames without a deadline until the other side closes the connection; raises as :meth:`receive`."""
        with contextlib.suppress(Closed):
            while True:
                yield self.receive()

    def _exactly(self, size: int, until: float | None, *, at_start: bool = False) -> bytes:
        pieces: list[bytearray] = []
        got = 0
        while got < size:
            # Piece by piece: what was only declared takes no memory.
            pieces.append(bytearray(min(_PIECE, size - got)))
            left = memoryview(pieces[-1])
            while left:
                self._end.settimeout(_left(until, f"expected {size} bytes of a frame in time, got {got}"))
                count = self._end.recv_into(left)
                if not count:
                    if at_start and not got:
                        raise Closed("the other side closed the connection")
                    raise FrameError(f"expected {size} bytes of a frame, got {got} before the connection closed")
                got += count
                left = left[count:]
        return b"".join(pieces)


def _left(until: float | None, late: str) -> float | None:
    """The seconds until a deadline, None if there is no deadline; raises TimeoutError with ``late`` after it."""
    if until is None:
        return None
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError(late)
    return left
