"""What a reader is: the facts about it, and the two names that its module holds.

A reader is one module in :mod:`conformance.readers.decoders` (takes bytes) or :mod:`conformance.readers.clients`
(a real client library, takes a loopback server). It holds ``INFO``, a :class:`ReaderInfo`, and ``load()``,
which imports the library and returns the function that reads. So the facts can be listed where the library is absent,
and only a worker process ever imports it. Adding a reader is adding such a module; nothing else is touched.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from conformance.readers.fullread import FullRead, types_in
from conformance.records import BqType

__all__ = ["Read", "ReaderInfo", "Rewrite", "Takes"]

Read: TypeAlias = Callable[[FullRead], pa.Table]
"""Reads a whole read and returns the table as the library gave it; whatever it raises becomes an error reading."""


class Takes(enum.StrEnum):
    """How a reader takes the bytes."""

    MESSAGES = "the schema message, and each batch message by itself"
    STREAM = "one stream: schema message and batch messages end to end, without an end-of-stream marker"
    SERVER = "a loopback BigQueryRead server that answers with the recorded response bytes"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A documented change of type: ``before`` as the target sent it, ``after`` as the reader returns it.

    Both are spelled as pyarrow spells them, a list without its item type: ``string_view``, ``large_list``.
    """

    before: str
    after: str
    source: str


@dataclass(frozen=True, slots=True)
class ReaderInfo:
    """The facts about a reader.

    ``name`` is permanent (``pyarrow.slots``); ``package`` is the distribution it comes from.
    ``cannot`` are BigQuery types that it does not take, with the reason: a table with one of them is not given to it.
    ``rewrites`` are the changes of type that its maintainers document; the comparison of values undoes exactly these.
    ``through_pandas`` says that rows come back as a pandas DataFrame; then the expected rows go through pandas too,
    and ``rewrites`` tell people what that changes.
    ``schemaless_when_empty`` says that without a single response the columns do not come from the target.
    """

    name: str
    title: str
    package: str
    takes: Takes
    cannot: Mapping[BqType, str] = field(default_factory=lambda: types.MappingProxyType({}))
    rewrites: tuple[Rewrite, ...] = ()
    through_pandas: bool = False
    schemaless_when_empty: bool = False

    def refusal(self, read: FullRead) -> str:
        """Why this reader is not asked to read this: a type that it cannot take; empty where it can."""
        reasons = [f"{kind}: {self.cannot[kind]}" for kind in sorted(types_in(read.selected)) if kind in self.cannot]
        if self.takes is Takes.SERVER and read.asks_response_compression:
            reasons.append("this client never asks for compression of whole responses")
        return "; ".join(reasons)
