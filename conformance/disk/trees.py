"""Folders of somebody else, which may nest in each other thousands of times, hold links, and have mounts in them.

``os.walk``, ``Path.rglob`` and ``shutil.rmtree`` call themselves for each level, and Python has some hundred levels.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["DEEPEST", "TooDeepError", "remove_tree", "walk"]

DEEPEST: Final = 200
"""The most levels of a folder that is searched: people and package managers make far fewer."""


class TooDeepError(OSError):
    """A folder nests in another more often than folders are searched; the text gives the folder and the limit."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.ENAMETOOLONG, f"expected folders that nest at most {DEEPEST} times", str(path))


def walk(top: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """As ``os.walk``: each folder with the names of the folders and of the other things in it.

    The caller may take folders out of their list: these are not searched. A link to a folder is among the folders and
    is not followed. A folder that another program removes meanwhile is left out.

    Raises:
        TooDeepError: folders nest more than :data:`DEEPEST` times.
        OSError: ``top`` is no folder, or a folder may not be read: what is in it must not be lost without a word.
    """
    waiting = [(top, 0)]
    while waiting:
        parent, depth = waiting.pop()
        if depth > DEEPEST:
            raise TooDeepError(top)
        try:
            with os.scandir(parent) as found:
                entries = list(found)
        except FileNotFoundError:
            if parent == top:
                raise
            continue
        folders = [entry.name for entry in entries if _is_folder(entry, links=True)]
        others = sorted({entry.name for entry in entries}.difference(folders))
        linked = {entry.name for entry in entries if entry.is_symlink()}
        yield parent, folders, others
        waiting += [(parent / name, depth + 1) for name in reversed(folders) if name not in linked]


def remove_tree(path: Path) -> None:
    """Remove what is at ``path``, however deep, including folders whose permissions somebody took away.

    No link is followed, and no mount is entered: what is mounted at ``path`` or below it stays, and so do the folders
    above it and what cannot be removed otherwise.
    """
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return
        # A mount cannot be renamed, so whatever can be is a folder of its own.
        _flatten(_renamed(path, path.parent))


def _flatten(top: Path) -> None:
    """Remove a folder. Each folder in it is moved to the top first, so that no path gets long."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        for entry in _entries(folder):
            with contextlib.suppress(OSError):
                if _is_folder(entry, links=False):
                    waiting.append(_renamed(Path(entry.path), top))
                else:
                    Path(entry.path).unlink()
        if folder != top:
            with contextlib.suppress(OSError):
                folder.rmdir()
    top.rmdir()


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing if that cannot be said."""
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
        with os.scandir(folder) as found:
            return list(found)
    return []


def _renamed(folder: Path, parent: Path) -> Path:
    """``folder`` under a name that nobody has, in ``parent``; raises OSError, also if it is a mount."""
    moved = parent / secrets.token_hex(4)
    try:
        folder.rename(moved)
    except PermissionError:  # its entry for the folder above it has to be written
        folder.chmod(0o700)
        folder.rename(moved)
    return moved


def _is_folder(entry: os.DirEntry[str], *, links: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=links)
    except OSError:
        return False
