"""The documented losses in ``docs/clients.md``: what each ``client.toml`` says that its paths cannot express."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.readers.info import ReaderInfo
from conformance.readers.programs.clientspec import shipped_programs
from publish.tables.blocks import filled

__all__ = ["NAME", "text"]

NAME: Final = "clients.md"
FILE: Final = Path(__file__).resolve().parents[2] / "docs" / NAME


def text() -> str:
    """The guide with its table of losses."""
    return filled(FILE, {"losses": _losses})


def _losses() -> Iterator[str]:
    yield "| path | type | what happens | source |\n|---|---|---|---|\n"
    for program in shipped_programs().values():
        for info in program.paths.values():
            yield from _of(info)


def _of(info: ReaderInfo) -> Iterator[str]:
    for kind, reason in info.cannot.items():
        yield f"| `{info.name}` | {kind} | not read | {reason} |\n"
    for loss in info.losses:
        yield f"| `{info.name}` | {loss.kind} | {loss.change} | <{loss.source}> |\n"
