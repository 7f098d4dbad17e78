"""Where the suite keeps what it can make again: below the user's cache, so that every folder shares it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ["NAME", "cache_directory"]

NAME: Final = "arrow-conformance"
"""The directory of the suite below the user's cache."""


def cache_directory(part: str, variable: str) -> Path:
    """The absolute directory of one ``part`` of the cache: the one that the environment ``variable`` names, or one in
    the user's cache.

    The user's cache is ``XDG_CACHE_HOME`` if that is an absolute path, ``~/.cache`` otherwise (XDG Base Directory
    Specification 0.8). A user without a home, as in a container that knows no such user and has ``HOME=/``, has a cache
    below the current directory, in ``.conformance``.
    """
    if named := os.environ.get(variable):
        return Path(named).absolute()
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not shared.is_absolute():
        home = _home()
        if home is None:
            return Path(".conformance", part).absolute()
        shared = home / ".cache"
    return (shared / NAME / part).absolute()


def _home() -> Path | None:
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home if home.is_absolute() and home != Path(home.anchor) else None
