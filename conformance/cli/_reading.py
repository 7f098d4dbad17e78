"""Find and read the files that a user names: directories, patterns, pipes, devices, standard input."""

from __future__ import annotations

import errno
import fnmatch
import glob
import itertools
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from conformance.cli._group import Unusable
from conformance.disk.files import LARGEST, TooLargeError, read_open
from conformance.disk.pipes import FIRST_SECONDS, MOST, has_no_length, kept, something_came

__all__ = ["STANDARD_INPUT", "named_files", "read_named"]

STANDARD_INPUT: Final = Path("-")
EVERYTHING: Final = "**"
"""The part of a pattern that fits any folders, one in the other, and none."""
MOST_FILES: Final = 200_000
"""The most files and folders that a pattern may fit: with links to their own folder, each ``*`` fits many times more.
"""


def named_files(names: Iterable[str]) -> list[Path]:
    """The files that a user names, each once: files, directories with all files below them, patterns, and ``-``.

    Files and directories whose names begin with a dot are left out of directories. A pattern is for systems whose
    shell does not expand it, and may contain ``**``, which does not follow links.

    Raises:
        Unusable: nothing has one of the names, there is no file in a directory, or a pattern fits too much.
    """
    return list(dict.fromkeys(path for name in names for path in _named(name)))


def _named(name: str) -> list[Path]:
    path = Path(name)
    if path == STANDARD_INPUT or (path.exists() and not path.is_dir()):
        return [path]
    found = sorted(_below(path) if path.is_dir() else (each for each in _matched(name) if not each.is_dir()))
    if not found:
        raise Unusable(f"{name}: expected a file, a directory of files, a pattern or `-`, and found no file")
    return found


def _below(folder: Path) -> Iterator[Path]:
    """Every file below a folder; links to folders are not followed, because one may lead back."""
    return (path for inside in _folders([folder]) for path in _inside(inside) if not path.is_dir())


def _matched(pattern: str) -> Iterable[Path]:
    """What has a name of the pattern, each once: a part after the other, and after each part the paths that fit so far.

    ``glob`` tries each way in which ``**`` fit, and follows links: eight of them and a link to its own folder have no
    end.
    """
    whole = Path(pattern)
    reached: Iterable[Path] = [Path(whole.anchor)]
    for part in whole.parts[bool(whole.anchor) :]:
        reached = _few(pattern, _folders(reached) if part == EVERYTHING else _one_further(reached, part))
    if whole.name == EVERYTHING:
        reached = _few(pattern, (path for folder in reached for path in _inside(folder)))
    return reached


def _few(pattern: str, paths: Iterable[Path]) -> dict[Path, None]:
    found = dict.fromkeys(itertools.islice(paths, MOST_FILES + 1))
    if len(found) > MOST_FILES:
        raise Unusable(f"{pattern}: expected a pattern of at most {MOST_FILES} files and directories, got more")
    return found


def _one_further(folders: Iterable[Path], part: str) -> Iterator[Path]:
    if not glob.has_magic(part):
        yield from (path for folder in folders if (path := folder / part).exists())
        return
    hidden = part.startswith(".")
    for folder in folders:
        yield from (path for path in _inside(folder, hidden=hidden) if fnmatch.fnmatchcase(path.name, part))


def _folders(starts: Iterable[Path]) -> Iterator[Path]:
    """The folders of ``starts`` and all folders below them, each once and before those in it."""
    found: set[Path] = set()
    waiting = list(starts)
    while waiting:
        folder = waiting.pop()
        if folder in found or not folder.is_dir():
            continue
        found.add(folder)
        yield folder
        waiting += [path for path in _inside(folder) if path.is_dir() and not path.is_symlink()]


def _inside(folder: Path, *, hidden: bool = False) -> list[Path]:
    """What is in a folder; nothing if it cannot be read, or is none."""
    try:
        return [folder / name for name in os.listdir(folder) if hidden or not name.startswith(".")]  # noqa: PTH208
    except OSError:
        return []


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
    there = kept(path) if has_no_length(path) else path
    descriptor = os.open(there, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
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
