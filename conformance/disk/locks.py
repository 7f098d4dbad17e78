"""One process at a time: a lock beside what is written, held while it is, gone with the process however that ends.

The lock is the operating system's (``flock``): a process that is killed leaves a file and no lock, so there is nothing
to clear away by hand. The file names the process for whoever finds it locked.
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

from conformance.disk.files import naming

__all__ = ["InUseError", "held", "is_locked"]

_UNSUPPORTED: Final = frozenset({errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP})
"""What a file system without locks answers; a run on one takes its chances, as every other program there."""
_HOLDER: Final = re.compile(rb"(\d{1,10}) ([\w.-]{1,64})\n")


class InUseError(Exception):
    """Another process writes there; the text says which one, where, and what to do."""


@contextmanager
def held(path: Path, *, advice: str = "wait until it ends", wait: bool = False) -> Iterator[None]:
    """Hold the lock of ``path``, a file or directory that need not exist, while inside.

    With ``wait`` another holder is waited for. A device or pipe has no lock: whoever writes to one may.

    Raises:
        InUseError: another process holds it, or this one does elsewhere; ``advice`` ends the sentence.
        DiskError: there is no directory for the lock, and none can be made.
    """
    final = path.resolve()
    if final.exists() and not (final.is_file() or final.is_dir()):
        yield
        return
    place = final.with_name(f".{final.name}.lock")
    file = _locked(path, place, advice=advice, wait=wait)
    try:
        yield
    finally:
        # Removed while it is held: whoever waits for this file sees that it is no longer the one at its place.
        with suppress(OSError):
            place.unlink()
        file.close()


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock of ``path`` at this moment."""
    try:
        with held(path):
            return False
    except InUseError:
        return True


def _locked(path: Path, place: Path, *, advice: str, wait: bool) -> IO[bytes]:
    with naming(path):
        place.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = place.open("a+b", buffering=0)
            try:
                _take(file, path, advice=advice, wait=wait)
                if _stands_at(file, place):
                    with suppress(OSError):  # a full disk: the lock holds, and does not say whose it is
                        file.truncate(0)
                        file.write(f"{os.getpid()} {platform.node()}\n".encode("ascii", "replace"))
                    return file
            except BaseException:
                file.close()
                raise
            file.close()


def _take(file: IO[bytes], path: Path, *, advice: str, wait: bool) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise InUseError(f"{path} is in use by {_holder(file)}; {advice}") from None
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise


def _stands_at(file: IO[bytes], place: Path) -> bool:
    """Whether ``file`` is still the one at ``place``: its holder may have removed it while we waited."""
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
