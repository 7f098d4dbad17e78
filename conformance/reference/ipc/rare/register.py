"""Rare input: its record, and the register that modules fill."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final

import pyarrow as pa

from conformance.reference.ipc.writer import write_file, write_stream
from conformance.wire import Kind

__all__ = ["PREFIX", "RARE", "WAYS", "Rare", "RareBytes", "register", "written"]

PREFIX: Final = "rare"
WAYS: Final = ("way", "after")
"""The options that are ways into and out of a library."""


@dataclasses.dataclass(frozen=True, slots=True)
class RareBytes:
    """The bytes of a rare input, and the batches that they hold."""

    data: bytes
    batches: Sequence[pa.RecordBatch]


@dataclasses.dataclass(frozen=True, slots=True)
class Rare:
    """One input: its id, what it is, the text that permits it, and its maker.

    ``open`` is the reason why a reader may refuse it; empty if it may not. ``under`` names the options of reading whose
    values it is read with again, one at a time; None means every option that the reader has.
    """

    id: str
    title: str
    kind: Kind
    source: str
    make: Callable[[], RareBytes]
    open: str = ""
    under: tuple[str, ...] | None = WAYS


RARE: Final[dict[str, Rare]] = {}
"""Every rare input by its id."""


def register(each: Rare) -> None:
    """Add an input.

    Raises:
        ValueError: another one has its id.
    """
    if each.id in RARE:
        raise ValueError(f"expected ids that differ, got {each.id} twice")
    RARE[each.id] = each


def written(batches: Sequence[pa.RecordBatch], kind: Kind = Kind.STREAM) -> RareBytes:
    """The batches as the reference writes them."""
    return RareBytes(write_file(batches) if kind is Kind.FILE else write_stream(batches), batches)
