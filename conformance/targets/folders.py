"""Folders of sources that ``[environment]`` names: which files belong to each, and a digest of them.

The digest is part of the environment's name, so that a change of a source leads to a new environment. This module
reads files and builds nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance._globs import matches
from conformance.disk.trees import walk
from conformance.targets.environmentspec import EnvironmentSpec, is_path
from conformance.targets.targeterrors import TargetError

__all__ = ["contents", "folder"]

_MARKERS: Final = {
    "python": ("pyproject.toml", "setup.py"),
    "npm": ("package.json",),
    "go": ("go.mod",),
    "crate": ("Cargo.toml",),
    "java": (),
}
"""The keys that take paths, each with the files of which one makes a folder a package."""

_ABOVE: Final = frozenset({"go", "crate"})
"""The keys whose folder may be a part of a module or workspace: all of that can be compiled into the program."""

_NOT_SOURCES: Final = {
    "python": ("build", "*.egg-info", "__pycache__"),
    "npm": ("node_modules",),
    "crate": ("target",),
}
"""What building leaves in a folder, or what it does not read."""
_NEVER: Final = (".git", ".hg", ".conformance", ".venv")

MOST: Final = 256 << 20
"""The most bytes of one folder: sources are smaller, and each run reads them."""


def folder(key: str, entry: str, here: Path, file: str) -> Path:
    """The folder that an entry of ``key`` names; ``here`` is the directory of the target file ``file``.

    Raises:
        TargetError: there is no such folder, or it is no package of that kind.
    """
    path = (here / _without_extras(key, entry)).resolve()
    markers = _MARKERS[key]
    if not path.is_dir() or _top(key, path) is None:
        wanted = f"a folder with {' or '.join(markers)}" if markers else "a folder"
        above = " in it or above it" if key in _ABOVE else ""
        raise TargetError(f"{file}: target.environment.{key}: expected {wanted}{above} but got {entry!r}")
    return path


def contents(wanted: EnvironmentSpec, here: Path, file: str) -> list[str]:
    """A digest of each folder that ``wanted`` names, in order; raises :class:`TargetError` as :func:`folder` does."""
    found = []
    for key in _MARKERS:
        for entry in getattr(wanted, key):
            if is_path(entry):
                top = _top(key, folder(key, entry, here, file))
                assert top is not None
                found.append(_digest(key, top, f"{file}: target.environment.{key}: {entry!r}"))
    return found


def _without_extras(key: str, entry: str) -> str:
    """The path without the extras that a requirement of Python may have: ``./server[tls]``."""
    return entry.partition("[")[0] if key == "python" else entry


def _top(key: str, path: Path) -> Path | None:
    """The folder whose files can be compiled into the program; None if ``path`` is no package."""
    if not _MARKERS[key]:
        return path
    candidates = (path, *path.parents) if key in _ABOVE else (path,)
    packages = [one for one in candidates if any((one / marker).is_file() for marker in _MARKERS[key])]
    if not packages:
        return None
    return packages[-1] if key == "crate" else packages[0]  # the workspace of a crate is above it


def _digest(key: str, top: Path, where: str) -> str:
    digest, total = hashlib.sha256(), 0
    try:
        for path in _files(top, (*_NEVER, *_NOT_SOURCES.get(key, ()))):
            # The size before the content: a sparse file may be larger than the memory.
            total += path.lstat().st_size
            if total > MOST:
                raise TargetError(f"{where}: expected sources of at most {MOST >> 20} MiB but {top} has more")
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            name = os.fsencode(path.relative_to(top))
            digest.update(b"%d %b %d %b" % (len(name), name, len(content), content))
    except OSError as error:
        raise TargetError(f"{where}: cannot read {error.filename}: {error.strerror}") from None
    return digest.hexdigest()


def _files(top: Path, leave: tuple[str, ...]) -> Iterator[Path]:
    for parent, folders, files in walk(top):
        folders[:] = sorted(name for name in folders if not matches(name, leave))
        for name in sorted([*files, *(one for one in folders if Path(parent, one).is_symlink())]):
            path = Path(parent, name)
            if path.is_symlink() or path.is_file():
                yield path
