"""The documented gaps in ``docs/flight-clients.md``: legal streams that a client does not support, and who says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.protocols.flight.clients.streams import STREAMS
from conformance.readers.registry import client_readers
from publish.tables.blocks import filled

__all__ = ["NAME", "text"]

NAME: Final = "flight-clients.md"
FILE: Final = Path(__file__).resolve().parents[2] / "docs" / NAME


def text() -> str:
    """The guide with its table of gaps."""
    return filled(FILE, {"gaps": _gaps})


def _gaps() -> Iterator[str]:
    yield "| path | a stream that has | source |\n|---|---|---|\n"
    for info in client_readers("flight").values():
        for kind, source in info.gaps.items():
            yield f"| `{info.name}` | {STREAMS[kind].title} | <{source}> |\n"
