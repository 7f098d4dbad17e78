"""Follows the HTTP/2 frames of one direction of a connection: where frames end, and which gRPC messages have passed.

Nothing is decoded but the headers of frames (RFC 9113, section 4.1) and the five-byte prefixes of messages
(https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, "Length-Prefixed-Message").
"""

from __future__ import annotations

from typing import Final

__all__ = ["GOAWAY", "Frames"]

_HEADER: Final = 9
_PREFIX: Final = 5
_DATA, _HEADERS, _CONTINUATION = 0, 1, 9
_END_HEADERS, _PADDED = 0x4, 0x8

GOAWAY: Final = bytes([0, 0, 8, 7, 0, 0, 0, 0, 0]) + (2**31 - 1).to_bytes(4, "big") + bytes(4)
"""A GOAWAY frame without an error: calls in progress go on, and no new ones begin (RFC 9113, section 6.8)."""


class Frames:
    """The state of one direction. ``messages`` counts complete gRPC messages, ``bytes`` the bytes of messages with
    their prefixes; ``between`` is True if another frame may be inserted now.
    """

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0
        self._header = bytearray()
        self._left = 0
        self._data = False
        self._stream = 0
        self._padding = 0
        self._padded = False
        self._block = False
        self._open: dict[int, bytearray | int] = {}

    @property
    def between(self) -> bool:
        """True between two frames that need not follow each other directly."""
        return not self._header and not self._left and not self._block

    def take(self, data: bytes, *, messages: int | None = None, size: int | None = None) -> int:
        """Follow ``data`` until so many messages, with the end of their frame, or bytes of messages have passed; return
        how many bytes of it that is.
        """
        place = 0
        while place < len(data):
            if messages is not None and self.messages >= messages and self.between:
                break
            if size is not None and self.bytes >= size:
                break
            place += self._step(memoryview(data)[place:], size)
        return place

    def _step(self, data: memoryview, size: int | None) -> int:
        """Follow ``data`` as far as one part of a frame; return its length."""
        if not self._left:
            part = data[: _HEADER - len(self._header)]
            self._header += part
            if len(self._header) == _HEADER:
                self._begin()
            return len(part)
        if self._padded:
            self._padding, self._padded = data[0], False
            self._left -= 1
            return 1
        if self._data and self._left > self._padding:
            most = self._left - self._padding
            part = data[: most if size is None else min(most, size - self.bytes)]
            self._message(part)
        else:
            part = data[: self._left]
        self._left -= len(part)
        return len(part)

    def _begin(self) -> None:
        self._left = int.from_bytes(self._header[:3], "big")
        kind, flags = self._header[3], self._header[4]
        self._stream = int.from_bytes(self._header[5:], "big") & (2**31 - 1)
        self._data = kind == _DATA
        self._padded, self._padding = bool(self._data and flags & _PADDED and self._left), 0
        if kind in (_HEADERS, _CONTINUATION):
            self._block = not flags & _END_HEADERS
        self._header.clear()

    def _message(self, part: memoryview) -> None:
        """Follow a part of the messages of a stream."""
        self.bytes += len(part)
        while part:
            state = self._open.setdefault(self._stream, bytearray())
            if isinstance(state, bytearray):
                taken = part[: _PREFIX - len(state)]
                state += taken
                if len(state) == _PREFIX:
                    self._open[self._stream] = int.from_bytes(state[1:], "big")
            else:
                taken = part[:state]
                self._open[self._stream] = state - len(taken)
            if self._open[self._stream] == 0:
                self.messages += 1
                del self._open[self._stream]
            part = part[len(taken) :]
