"""Named pipes, devices and files of the kernel where a user names a file: waiting for one, and reading one, has an end.

Such a file is read once, into a file without a name: what reads the file may then open it, seek in it and read it
again.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import tempfile
import time
from pathlib import Path
from typing import IO, Final

__all__ = [
    "FIRST_SECONDS",
    "MOST",
    "has_no_length",
    "is_pipe",
    "kept",
    "open_end",
    "open_pipe",
    "something_came",
    "write_all",
    "write_pipe",
]

FIRST_SECONDS: Final = 10.0
"""Seconds to wait for the first byte of a pipe, or for somebody who reads from it."""
MOST: Final = 256 << 20
"""The most bytes read from a pipe or a device, because it may be endless."""
_CHUNK: Final = 1 << 16
_AGAIN_SECONDS: Final = 0.05
"""Seconds between two attempts to open a pipe that nobody reads."""


def is_pipe(path: Path) -> bool:
    """True for a pipe; False for anything else, also if there is nothing."""
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def has_no_length(path: Path) -> bool:
    """True for a regular file of 0 bytes: an empty one, or one of the kernel, which may keep a reader waiting.

    To read ``/proc/kmsg`` is to wait for the next message of the kernel.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and not status.st_size


def _is_stream(path: Path) -> bool:
    """True for a pipe, and for a device such as ``/dev/zero``, which need not have an end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def kept(path: Path) -> Path:
    """A file with all that comes through the pipe, device or file of the kernel at ``path``, or ``path`` if it is none.

    The file lives until the process ends.

    Raises:
        OSError: nothing came within :data:`FIRST_SECONDS`, or more than :data:`MOST` bytes; the text names the file.
    """
    if not _is_stream(path) and not has_no_length(path):
        return path
    kind = "pipe" if is_pipe(path) else "device" if path.is_char_device() else "file"
    # O_NONBLOCK: opening a pipe would otherwise wait until somebody opens it for writing.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not something_came(descriptor):
            raise OSError(errno.ETIMEDOUT, f"nothing came through the {kind} within {FIRST_SECONDS:g} s", str(path))
        os.set_blocking(descriptor, True)
        with tempfile.TemporaryFile() as file:
            while chunk := _read(descriptor, path):
                file.write(chunk)
                if file.tell() > MOST:
                    raise OSError(errno.EFBIG, f"more than {MOST} bytes came through the {kind}", str(path))
                if kind == "file" and not something_came(descriptor):  # no program fills it, so nobody is slow
                    raise OSError(
                        errno.ETIMEDOUT, f"no end came through the file within {FIRST_SECONDS:g} s", str(path)
                    )
            if kind == "file" and not file.tell():
                return path
            file.flush()
            file.seek(0)
            return Path(f"/dev/fd/{os.dup(file.fileno())}")
    finally:
        os.close(descriptor)


def _read(descriptor: int, path: Path) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def something_came(descriptor: int) -> bool:
    """Wait up to :data:`FIRST_SECONDS` for the first byte of a pipe, or its end; False if neither came."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(1000 * FIRST_SECONDS))


def write_pipe(path: Path, content: bytes) -> None:
    """Write to the pipe at ``path``.

    Raises:
        OSError: nobody opened the pipe for reading, or read on, within :data:`FIRST_SECONDS`.
    """
    descriptor = open_pipe(path)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        rest = memoryview(content)
        while rest:
            if not poll.poll(1000 * FIRST_SECONDS):
                raise _unread(path)
            rest = rest[os.write(descriptor, rest[:_CHUNK]) :]
    finally:
        os.close(descriptor)


def open_end(path: Path) -> IO[bytes]:
    """The file at ``path``, open for appending and without a buffer.

    Raises:
        OSError: it cannot be opened, or it is a pipe that nobody opened for reading within :data:`FIRST_SECONDS`.
    """
    if not is_pipe(path):
        return path.open("ab", buffering=0)
    descriptor = open_pipe(path)
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "wb", buffering=0)


def write_all(file: IO[bytes], content: bytes) -> None:
    """Write to a file without a buffer, which may take less than it is given."""
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]


def open_pipe(path: Path) -> int:
    """A descriptor of the pipe at ``path``, open for writing and not blocking.

    Raises:
        OSError: nobody opened the pipe for reading within :data:`FIRST_SECONDS`.
    """
    until = time.monotonic() + FIRST_SECONDS
    while True:
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:  # ENXIO: nobody has the pipe open for reading
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until:
                raise _unread(path) from None
        time.sleep(_AGAIN_SECONDS)


def _unread(path: Path) -> OSError:
    return OSError(errno.ETIMEDOUT, f"nobody read from the pipe within {FIRST_SECONDS:g} s", str(path))
