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
from conformance.disk import pipes
from conformance.disk.files import LARGEST, TooLargeError, read_open
from conformance.disk.pipes import MOST, has_no_length, kept, something_came

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
    shell does not expand it, and may contain ``**``, which does not follow links. A directory that may not be read is
    among the files: it cannot be judged either, and what is in it is not lost without a word.

    Raises:
        Unusable: nothing has one of the names, there is no file in a directory, or a pattern fits too much.
    """
    return list(dict.fromkeys(path for name in names for path in _named(name)))


def _named(name: str) -> list[Path]:
    path = Path(name)
    if path == STANDARD_INPUT or (_is_there(path) and not _is_folder(path)):
        return [path]
    search = _Search()
    paths = search.below(path) if _is_folder(path) else search.matched(name)
    found = sorted({*(each for each in paths if not _is_folder(each)), *search.unread})
    if not found:
        raise Unusable(f"{name}: expected a file, a directory of files, a pattern or `-`, and found no file")
    return found


_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP})
"""The errors that say that there is no such file."""


def _is_there(path: Path) -> bool:
    """True also for what the system does not let us ask about: to read it says why."""
    try:
        path.stat()
    except OSError as error:
        return error.errno not in _ABSENT
    except ValueError:  # a name that no file can have
        return False
    return True


def _is_folder(path: Path) -> bool:
    """False also for what the system does not let us ask about."""
    try:
        return path.is_dir()
    except OSError:
        return False


class _Search:
    """One search for files, with the folders that it had to enter and could not."""

    def __init__(self) -> None:
        self.unread: set[Path] = set()

    def below(self, folder: Path) -> Iterator[Path]:
        """All below a folder; links to folders are not followed, because one may lead back."""
        return (path for inside in self._folders([folder]) for path in self._inside(inside))

    def matched(self, pattern: str) -> Iterable[Path]:
        """What has a name of the pattern, each once: a part after the other, and after each part the paths that fit so
        far.

        ``glob`` tries each way in which ``**`` fit, and follows links: eight of them and a link to its own folder have
        no end.
        """
        whole = Path(pattern)
        reached: Iterable[Path] = [Path(whole.anchor)]
        for part in whole.parts[bool(whole.anchor) :]:
            reached = _few(pattern, self._folders(reached) if part == EVERYTHING else self._one_further(reached, part))
        if whole.name == EVERYTHING:
            reached = _few(pattern, (path for folder in reached for path in self._inside(folder)))
        return reached

    def _one_further(self, folders: Iterable[Path], part: str) -> Iterator[Path]:
        if not glob.has_magic(part):
            yield from (path for folder in folders if _is_there(path := folder / part))
            return
        hidden = part.startswith(".")
        for folder in folders:
            yield from (path for path in self._inside(folder, hidden=hidden) if fnmatch.fnmatchcase(path.name, part))

    def _folders(self, starts: Iterable[Path]) -> Iterator[Path]:
        """The folders of ``starts`` and all folders below them, each once and before those in it."""
        found: set[Path] = set()
        waiting = list(starts)
        while waiting:
            folder = waiting.pop()
            if folder in found or not _is_folder(folder):
                continue
            found.add(folder)
            yield folder
            waiting += [path for path in self._inside(folder) if _is_folder(path) and not path.is_symlink()]

    def _inside(self, folder: Path, *, hidden: bool = False) -> list[Path]:
        """What is in a folder; nothing if it is none, or is gone by now."""
        try:
            return [folder / name for name in os.listdir(folder) if hidden or not name.startswith(".")]  # noqa: PTH208
        except (NotADirectoryError, FileNotFoundError):
            return []
        except OSError:
            self.unread.add(folder)
            return []


def _few(pattern: str, paths: Iterable[Path]) -> dict[Path, None]:
    found = dict.fromkeys(itertools.islice(paths, MOST_FILES + 1))
    if len(found) > MOST_FILES:
        raise Unusable(f"{pattern}: expected a pattern of at most {MOST_FILES} files and directories, got more")
    return found


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
    raise Unusable(f"{path}: expected Arrow data, but nothing came through the pipe within {pipes.FIRST_SECONDS:g} s")
