"""One question and one answer over a program's pipes, a JSON object on a line each way.

A program may stop reading, stop writing, end in the middle of a line, or write for ever. Each ends the question with
a :class:`FrameError` that says how far the frame had got; nothing here blocks beyond its deadline.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from typing import IO, Final

from conformance.records import CallEnd

__all__ = ["FrameError", "Pipes"]

CHUNK: Final = 1 << 16
"""Bytes moved at a time: the size of a pipe's buffer on Linux."""


class FrameError(Exception):
    """No whole answer came; ``end`` says in which way, the text how many bytes had been seen."""

    def __init__(self, end: CallEnd, text: str) -> None:
        super().__init__(text)
        self.end = end


class Pipes:
    """A program's stdin and stdout; a frame is limited to ``limit`` bytes."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes], *, limit: int) -> None:
        self._to = stdin
        self._from = stdout
        self._limit = limit
        self._buffer = bytearray()
        os.set_blocking(stdin.fileno(), False)
        os.set_blocking(stdout.fileno(), False)

    def ask(self, frame: bytes, *, seconds: float) -> bytes:
        """Send ``frame`` (without a line end) and return the line that comes back; raises :class:`FrameError`."""
        if self._buffer:
            raise FrameError(CallEnd.COMPLETE, f"{len(self._buffer)} bytes came that nothing had asked for")
        until = time.monotonic() + seconds
        unsent = memoryview(frame + b"\n")
        scanned = 0
        with selectors.DefaultSelector() as selector:
            selector.register(self._from, selectors.EVENT_READ)
            selector.register(self._to, selectors.EVENT_WRITE)
            while (at := self._buffer.find(b"\n", scanned)) < 0:
                scanned = len(self._buffer)
                if scanned > self._limit:
                    raise FrameError(CallEnd.OVER_BUDGET, f"a line of more than {self._limit} bytes came")
                ready = selector.select(max(0.0, until - time.monotonic()))
                if time.monotonic() >= until:
                    raise FrameError(CallEnd.DEADLINE, f"no answer within {seconds:.3g} s; {self._seen(unsent)}")
                for key, _ in ready:
                    if key.fileobj is self._from:
                        self._receive(unsent)
                    else:
                        unsent = unsent[self._send(unsent) :]
                        if not unsent:
                            selector.unregister(self._to)
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        return line

    def close(self) -> None:
        """Close both pipes; the program sees the end of its input."""
        for pipe in (self._to, self._from):
            with contextlib.suppress(OSError):
                pipe.close()

    def _receive(self, unsent: memoryview) -> None:
        chunk = os.read(self._from.fileno(), CHUNK)
        if not chunk:
            raise FrameError(CallEnd.CRASH, f"stdout ended; {self._seen(unsent)}")
        self._buffer += chunk

    def _send(self, unsent: memoryview) -> int:
        try:
            return os.write(self._to.fileno(), unsent[:CHUNK])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise FrameError(CallEnd.CRASH, f"stdin was closed; {self._seen(unsent)}") from None

    def _seen(self, unsent: memoryview) -> str:
        """How far question and answer had got."""
        question = f"{len(unsent)} bytes of the question were never read, and " if unsent else ""
        seen = len(self._buffer)
        return question + (f"{seen} bytes of an incomplete line were seen" if seen else "no byte of an answer was seen")
