"""What vectors are made of: bytes with the rows that their maker knows, before anything is said about them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pyarrow as pa

from conformance.wire import Kind

__all__ = ["Draft"]


@dataclasses.dataclass(frozen=True, slots=True)
class Draft:
    """Bytes and where they come from.

    ``batches`` are the rows that their maker wrote, under ``schema``; None where the bytes say something else, or
    nobody can say what. ``by_codec`` tells that another version of a codec may write other bytes; ``ambiguous`` that
    the format is silent about the form, says two things, or leaves limits to readers (how deep types may nest, say).
    """

    id: str
    comment: str
    kind: Kind
    data: bytes
    origin: str
    batches: Sequence[pa.RecordBatch] | None = None
    schema: pa.Schema | None = None
    source: str = ""
    by_codec: bool = False
    ambiguous: bool = False
