"""The generated part of ``docs/storage-write.md``: the published reports on servers of the Storage Write API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from publish.emulators import WRITES
from publish.tables.blocks import filled
from publish.tables.results import judged

__all__ = ["NAME", "text"]

NAME: Final = "storage-write.md"
ROOT: Final = Path(__file__).resolve().parents[2]


def text() -> str:
    """The page with its generated table."""
    return filled(ROOT / "docs" / NAME, {"reports": _reports})


def _reports() -> Iterator[str]:
    yield from judged([(target, f"storage-write/{target}") for target in WRITES])
