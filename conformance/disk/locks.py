"""One process at a time: a lock file next to the written path. The lock ends with its process, however that ends.

The lock is the operating system's (``flock``). A killed process leaves a file but no lock, so nobody has to clean up
by hand. The file names the process that has the lock, for the error message of the next one.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from conformance.disk.files import DiskError, naming

__all__ = ["InUseError", "held", "is_locked"]

_UNSUPPORTED: Final = frozenset({errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP})
"""The errors of a file system without locks. A run on such a file system is not protected, as is any program there."""
_HOLDER: Final = re.compile(rb"(\d{1,10}) ([\w.-]{1,64})\n")


class InUseError(Exception):
    """Another process writes to this path; the text names the process, the path and a remedy."""


@contextmanager
def held(path: Path, *, advice: str = "wait until it ends", wait: bool = False) -> Iterator[None]:
    """Hold the lock of ``path``, a file or directory that need not exist, inside the ``with`` block.

    With ``wait`` the call waits until another holder ends. A device or pipe has no lock: any process may write to
    it.

    Raises:
        InUseError: another process has the lock, or this process has it elsewhere; ``advice`` ends the sentence.
        DiskError: the directory of the lock does not exist and cannot be made, or a symbolic link is in its place.
    """
    # Asked of the path itself: /dev/stdout leads to a pipe through a link whose text is no path.
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield
        return
    final = Path(os.path.realpath(path))  # resolve() raises on a link to itself
    place = final.with_name(f".{final.name}.lock")
    file = _locked(path, place, advice=advice, wait=wait)
    try:
        yield
    finally:
        # The file is removed before the lock is released: a process that waits for this lock then sees that the file
        # is no longer the one at its place (_is_at), and opens the new one. Removed later, it could be the lock of
        # the next process.
        with suppress(OSError):
            place.unlink()
        file.close()


def is_locked(path: Path) -> bool:
    """True if a process holds the lock of ``path`` at this moment."""
    try:
        with held(path):
            return False
    except InUseError:
        return True


def _locked(path: Path, place: Path, *, advice: str, wait: bool) -> IO[bytes]:
    with naming(path):
        place.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = _opened(place)
            try:
                _take(file, path, advice=advice, wait=wait)
                if _is_at(file, place):
                    with suppress(OSError):  # a full disk: the lock holds, but its file names no process
                        file.truncate(0)
                        file.write(f"{os.getpid()} {platform.node()}\n".encode("ascii", "replace"))
                    return file
            except BaseException:
                file.close()
                raise
            file.close()


def _opened(place: Path) -> IO[bytes]:
    """The file of the lock, which the user did not name: a link in its place would let another file be overwritten."""
    with naming(place):
        if place.is_symlink():
            raise DiskError(errno.ELOOP, "a symbolic link in the place of a lock is not followed", str(place))
        return open(place, "a+b", buffering=0, opener=_not_through_a_link)  # Path.open has no opener


def _not_through_a_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _take(file: IO[bytes], path: Path, *, advice: str, wait: bool) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise InUseError(f"{path} is in use by {_holder(file)}; {advice}") from None
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise


def _is_at(file: IO[bytes], place: Path) -> bool:
    """True if ``file`` is still the file at ``place``: the holder may have removed it while this process waited."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), place.stat())
    except FileNotFoundError:
        return False


def _holder(file: IO[bytes]) -> str:
    file.seek(0)
    found = _HOLDER.match(file.read(128))
    if found is None:
        return "another process"
    number, node = (part.decode("ascii") for part in found.groups())
    return f"process {number}" + ("" if node == platform.node() else f" on {node}")
