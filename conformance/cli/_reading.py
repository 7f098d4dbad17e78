"""Reading a file that a user names: it may be a pipe, a device, or something that never ends."""

from __future__ import annotations

import errno
import os
import select
import stat
from pathlib import Path
from typing import Final

from conformance.cli._group import Unusable

__all__ = ["read_named"]

FIRST_SECONDS: Final = 10.0
"""For the first byte of a pipe: a pipe that nobody writes to has none."""
MOST: Final = 256 << 20
"""Bytes of what is no regular file, and so may have no end."""
CHUNK: Final = 1 << 20


def read_named(path: Path) -> bytes:
    """The bytes of the file at ``path``.

    Raises:
        Unusable: It is a pipe that nobody writes to, or no regular file and has more than :data:`MOST` bytes.
        OSError: It cannot be read.
    """
    # Without waiting: opening a pipe would wait for somebody to write to it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISFIFO(mode) or _something_came(descriptor):
            os.set_blocking(descriptor, True)
            return _read(descriptor, path, None if stat.S_ISREG(mode) else MOST)
    finally:
        os.close(descriptor)
    raise Unusable(f"{path}: expected Arrow data, but nothing came through the pipe within {FIRST_SECONDS:g} s")


def _something_came(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(1000 * FIRST_SECONDS))


def _read(descriptor: int, path: Path, limit: int | None) -> bytes:
    data = bytearray()
    while chunk := os.read(descriptor, CHUNK):
        data += chunk
        if limit is not None and len(data) > limit:
            raise Unusable(f"{path}: expected at most {limit} bytes of what is no regular file, and more came")
    return bytes(data)
