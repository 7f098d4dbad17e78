"""Read a file that a user names; it may be a pipe, a device, or endless."""

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
"""Seconds to wait for the first byte of a pipe, which never comes if nobody writes to the pipe."""
MOST: Final = 256 << 20
"""The most bytes read from anything but a regular file, because it may be endless."""
CHUNK: Final = 1 << 20


def read_named(path: Path) -> bytes:
    """The bytes of the file at ``path``.

    Raises:
        Unusable: It is a pipe to which nobody writes, or not a regular file and longer than :data:`MOST` bytes.
        OSError: It cannot be read.
    """
    # O_NONBLOCK: opening a pipe would otherwise wait until somebody opens it for writing.
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
            raise Unusable(f"{path}: expected at most {limit} bytes, because it is not a regular file, but got more")
    return bytes(data)
