"""Find and read the files that a user names: directories, patterns, pipes, devices, standard input."""

from __future__ import annotations

import errno
import glob
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from conformance.cli._group import Unusable
from conformance.disk.files import LARGEST, TooLargeError, read_open
from conformance.disk.pipes import FIRST_SECONDS, MOST, something_came

__all__ = ["STANDARD_INPUT", "named_files", "read_named"]

STANDARD_INPUT: Final = Path("-")


def named_files(names: Iterable[str]) -> list[Path]:
    """The files that a user names, each once: files, directories with all files below them, patterns, and ``-``.

    Files and directories whose names begin with a dot are left out of directories. A pattern is for systems whose
    shell does not expand it, and may contain ``**``.

    Raises:
        Unusable: nothing has one of the names, or there is no file in a directory.
    """
    return list(dict.fromkeys(path for name in names for path in _named(name)))


def _named(name: str) -> list[Path]:
    path = Path(name)
    if path == STANDARD_INPUT or (path.exists() and not path.is_dir()):
        return [path]
    if path.is_dir():
        found = sorted(_below(path))
    else:
        matches = glob.glob(name, recursive=True)  # noqa: PTH207  # Path.glob takes no absolute pattern
        found = sorted(Path(each) for each in matches if not Path(each).is_dir())
    if not found:
        raise Unusable(f"{name}: expected a file, a directory of files, a pattern or `-`, and found no file")
    return found


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        yield from (Path(parent, each) for each in files if not each.startswith("."))


def read_named(path: Path) -> bytes:
    """The bytes of the file at ``path``; of standard input for :data:`STANDARD_INPUT`.

    Raises:
        Unusable: It is a pipe to which nobody writes.
        OSError: It cannot be read, or it is longer than :data:`MOST` bytes, or a regular file and longer than
            :data:`~conformance.disk.files.LARGEST`.
    """
    if path == STANDARD_INPUT:
        data = sys.stdin.buffer.read(MOST + 1)
        if len(data) > MOST:
            raise TooLargeError(path, MOST)
        return data
    # O_NONBLOCK: opening a pipe would otherwise wait until somebody opens it for writing.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISFIFO(mode) or something_came(descriptor):
            os.set_blocking(descriptor, True)
            try:
                return read_open(descriptor, path, LARGEST if stat.S_ISREG(mode) else MOST)
            except TooLargeError:
                raise
            except OSError as error:  # without the name, it would be taken for one of standard output
                raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(descriptor)
    raise Unusable(f"{path}: expected Arrow data, but nothing came through the pipe within {FIRST_SECONDS:g} s")
