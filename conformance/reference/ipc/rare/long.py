"""Long input: thousands of dictionary messages in a row, of columns, of batches without rows.

A reader that calls itself for each message or field ends its process here; one that searches all earlier ones for each
takes minutes. Each input has only a few megabytes. It is read once, without options: it is the slowest of all.
"""

from __future__ import annotations

import functools
from typing import Final

import pyarrow as pa

from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.rare.register import PREFIX, Rare, RareBytes, register, written
from conformance.reference.ipc.variations.sources import COL, DICTIONARY, FILE, STREAM
from conformance.reference.ipc.writer import stream_model
from conformance.wire import Kind

COLUMNS: Final = 2_000
BATCHES: Final = 3_000
AGAIN: Final = 10_000
"""How often a dictionary is sent; it is as many messages as the judge reads of a stream of this size."""


def _columns(kind: Kind) -> RareBytes:
    return written([pa.RecordBatch.from_pydict({f"c{number}": pa.array([number]) for number in range(COLUMNS)})], kind)


def _encoded() -> RareBytes:
    words = pa.array(["a"]).dictionary_encode()
    return written([pa.RecordBatch.from_pydict({f"c{number}": words for number in range(COLUMNS)})])


def _batches(kind: Kind) -> RareBytes:
    """Batches without rows, and behind them one with rows."""
    some = pa.RecordBatch.from_pydict({"x": pa.array([1, None, 3])})
    return written([*[some.slice(0, 0)] * BATCHES, some], kind)


def _again() -> RareBytes:
    """One column whose dictionary is sent again and again before the batch."""
    batch = pa.RecordBatch.from_pydict({"x": pa.array(["a", "b", None]).dictionary_encode()})
    model = stream_model([batch], WriterOptions())
    opening, dictionary, rows = (message.encode() for message in model.messages)
    return RareBytes(opening + dictionary * AGAIN + rows + model.end, [batch])


def _register() -> None:
    for kind, source in ((Kind.STREAM, STREAM), (Kind.FILE, FILE)):
        register(Rare(f"{PREFIX}.long.{kind}.columns", f"A {kind} of {COLUMNS} columns.", kind, f"{COL}#schema-message",
                      functools.partial(_columns, kind), under=()))  # fmt: skip
        register(Rare(f"{PREFIX}.long.{kind}.batches", f"A {kind} of {BATCHES} batches without rows, and one with.",
                      kind, source, functools.partial(_batches, kind), under=()))  # fmt: skip
    register(Rare(f"{PREFIX}.long.stream.encoded", f"A stream of {COLUMNS} columns, each with a dictionary.",
                  Kind.STREAM, DICTIONARY, _encoded, under=()))  # fmt: skip
    register(Rare(f"{PREFIX}.long.stream.again", f"A stream in which a dictionary is sent {AGAIN} times.", Kind.STREAM,
                  DICTIONARY, _again, under=()))  # fmt: skip


_register()
