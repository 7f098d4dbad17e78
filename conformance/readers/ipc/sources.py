"""Where a library gets its bytes: from a file object, or from a file that it opens by its path."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from typing import Any

__all__ = ["in_pieces", "on_disk"]


class _Pieces(io.RawIOBase):
    """A raw file over bytes that gives at most ``size`` of them at a time, as a socket or a pipe may."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__()
        self._inner = io.BytesIO(data)
        self._size = size

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True: readers of files begin at the end."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a place."""
        return self._inner.seek(offset, whence)

    def readinto(self, buffer: Any, /) -> int:
        """Fill a part of the buffer."""
        return self._inner.readinto(memoryview(buffer)[: self._size])


def in_pieces(data: bytes, size: int) -> io.BufferedReader:
    """Return a file object over ``data`` whose raw file gives at most ``size`` bytes at a time.

    It is buffered, so ``read`` returns as many bytes as asked for, as Python promises for such objects.
    """
    return io.BufferedReader(_Pieces(data, size), buffer_size=size)


@contextlib.contextmanager
def on_disk(data: bytes) -> Iterator[str]:
    """Yield the path of a file with these bytes; in memory if the system can, so that nothing is left if we die."""
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("input.arrow")
        try:
            with open(number, "wb", closefd=False) as file:  # a number, not a path
                file.write(data)
            yield f"/proc/self/fd/{number}"
        finally:
            os.close(number)
        return
    with tempfile.NamedTemporaryFile(suffix=".arrow") as file:
        file.write(data)
        file.flush()
        yield file.name
