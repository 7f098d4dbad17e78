"""Another Python than the suite's own, found on this machine by its version; nothing is installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.contain.command import run_command
from conformance.contain.errors import CannotStart

__all__ = ["find_interpreter"]

SECONDS: Final = 30.0
"""Seconds for an interpreter to say its version."""

_ASK: Final = ("-I", "-c", "import sys; print(*sys.version_info[:3], sep='.')")


def find_interpreter(version: str) -> Path | None:
    """The first Python here whose version begins with ``version`` (``3.13`` or ``3.13.0``); None if there is none.

    Asked are the suite's own, then each ``python3.13`` on ``PATH``, then the versions of pyenv, the newest first. Each
    is started, because a name proves nothing: pyenv puts a ``python3.13`` on ``PATH`` that only prints an error.
    """
    wanted = version.split(".")
    for candidate in _candidates(".".join(wanted[:2])):
        if _version(candidate)[: len(wanted)] == wanted:
            return candidate
    return None


def _candidates(minor: str) -> Iterator[Path]:
    yield Path(sys.executable)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder:
            yield Path(folder, f"python{minor}")
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from sorted(versions.glob(f"{minor}*/bin/python"), key=_number, reverse=True)


def _number(python: Path) -> list[int]:
    """The version that a directory of pyenv is named after, to sort by."""
    parts = python.parents[1].name.split(".")
    return [int(part) if part.isdecimal() else -1 for part in parts]


def _version(python: Path) -> list[str]:
    """What the interpreter says, in parts; empty if it is none."""
    if not python.is_file():
        return []
    try:
        done = run_command([str(python), *_ASK], environment=os.environ, seconds=SECONDS)
    except CannotStart:
        return []
    return done.stdout.strip().split(".") if done.code == 0 else []
