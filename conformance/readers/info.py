"""The facts about a reader, and the two names that a reader's module defines.

A reader is one module in :mod:`conformance.readers.decoders` (takes bytes) or :mod:`conformance.readers.clients` (a
real client library, makes calls that are answered). It defines ``INFO``, a :class:`ReaderInfo`, and ``load()``, which
imports the library and returns the function that reads. The facts can therefore be listed even if the library is not
installed, and only a worker process ever imports it. To add a reader, add such a module; no other file changes.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from conformance.readers.fullread import FullRead
from conformance.readers.rewrite import Rewrite
from conformance.records import BqType, ReadingOutcome, types_in

__all__ = ["LimitKind", "LossKind", "Read", "ReaderInfo", "ReaderLimit", "ReaderLoss", "Takes"]

Read: TypeAlias = Callable[[FullRead], pa.Table]
"""Reads a full stream and returns the table as the library made it; any exception becomes an error reading."""


class Takes(enum.StrEnum):
    """The form in which a reader takes the bytes."""

    MESSAGES = "the schema message, and each batch message by itself"
    STREAM = "one stream: schema message and batch messages end to end, without an end-of-stream marker"
    SERVER = "calls of BigQueryRead, answered with the recorded response bytes"
    QUERY = "jobs.query and ReadRows on the stream of its job, answered with the recorded bytes"


class LossKind(enum.StrEnum):
    """What happens to the values of one type in a client whose own values cannot express them."""

    FLOAT_MILLISECONDS = "float-milliseconds"
    """Microseconds pass through a float of milliseconds and are rounded: some digits are lost far from 1970."""
    LEADING_MARK = "leading-mark"
    """A byte order mark (U+FEFF) at the start of a text is dropped."""


@dataclass(frozen=True, slots=True)
class ReaderLoss:
    """A documented loss: the values of a BigQuery type change, wherever they are nested."""

    kind: BqType
    change: LossKind
    source: str


class LimitKind(enum.StrEnum):
    """The shape of legal bytes that some reader cannot read."""

    WITHOUT_OFFSETS = "without-offsets"
    """A column of texts, bytes or lists without slots whose offsets have 0 bytes."""
    PACKED_WITHOUT_OFFSETS = "packed-without-offsets"
    """The same in a batch with compressed buffers, of which one with 0 bytes has no length before it."""
    LISTS_WITHOUT_OFFSETS = "lists-without-offsets"
    """A list without slots whose offsets have 0 bytes, above another list."""
    EARLY_VTABLE = "early-vtable"
    """Metadata in which a table has a vtable that comes before what refers to the table."""


@dataclass(frozen=True, slots=True)
class ReaderLimit:
    """A defect of a reader on legal bytes: how it ``ends`` on them, and ``measured``, which versions do what. The text
    of its error contains ``says``.
    """

    kind: LimitKind
    ends: ReadingOutcome
    measured: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class ReaderInfo:
    """The facts about a reader.

    ``name`` is permanent (``pyarrow.slots``); ``package`` is the distribution that provides it.
    ``cannot`` maps BigQuery types that it does not support to the reason; it is not given a table with one of them.
    ``rewrites`` are the changes of type that its maintainers document; the comparison of values undoes exactly
    these.
    ``through_pandas`` is true if rows come back as a pandas DataFrame; the expected rows then go through pandas too,
    and ``rewrites`` explain to people what that changes.
    ``schemaless_when_empty`` is true if the columns do not come from the target when there is no response.
    ``codecs`` is false if the client neither asks for compressed buffers nor can read them.
    ``one_stream`` is true if the client asks for sessions of one stream.
    ``losses`` are the documented changes of values that the client's own types force; the expected rows get them too.
    ``limits`` are the legal bytes on which it is known to fail: that it does is not held against who sent them.
    ``asks`` is what a client asks for, if its protocol has several ways; ``gaps`` maps kinds of streams that
    it does not support to the page of its maintainers that says so.
    ``avro`` is true if the reader reads sessions in Avro, and no others.
    ``program`` names the client's program in ``adapters/``, if it is one, and ``version`` that of the built library.
    """

    name: str
    title: str
    package: str
    takes: Takes
    cannot: Mapping[BqType, str] = field(default_factory=lambda: types.MappingProxyType({}))
    rewrites: tuple[Rewrite, ...] = ()
    through_pandas: bool = False
    schemaless_when_empty: bool = False
    codecs: bool = True
    one_stream: bool = False
    losses: tuple[ReaderLoss, ...] = ()
    limits: tuple[ReaderLimit, ...] = ()
    program: str = ""
    version: str = ""
    asks: str = ""
    gaps: Mapping[str, str] = field(default_factory=lambda: types.MappingProxyType({}))
    avro: bool = False

    def takes_read(self, read: FullRead) -> bool:
        """True if the read is one of those for this reader: the result of a query, a session in Avro, or all others."""
        return (self.takes is Takes.QUERY) == (read.offset is not None) and self.avro == read.in_avro

    def refusal(self, read: FullRead) -> str:
        """The reason why this reader does not get this read, such as an unsupported type; empty if it gets it."""
        reasons = [f"{kind}: {self.cannot[kind]}" for kind in sorted(types_in(read.selected)) if kind in self.cannot]
        if self.takes is Takes.SERVER and read.asks_response_compression:
            reasons.append("this client never asks for compression of whole responses")
        if not self.codecs and read.asks_buffer_compression:
            reasons.append("this client never asks for compression of buffers")
        return "; ".join(reasons)
