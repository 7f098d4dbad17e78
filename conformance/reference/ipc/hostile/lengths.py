"""Lengths, counts and offsets at the edges of their types, wherever the format has one."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from conformance.reference.ipc.hostile.register import hostile_stream, register
from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.message import CONTINUATION, END_OF_STREAM

__all__ = ["EXTREMES"]

EXTREMES: Final = {
    "-2^63": -(1 << 63),
    "-1": -1,
    "2^31-1": (1 << 31) - 1,
    "2^31": 1 << 31,
    "2^32": 1 << 32,
    "2^40": 1 << 40,
    "2^61": 1 << 61,
    "2^63-1": (1 << 63) - 1,
}
"""Numbers of 64 bits that overflow, alone or multiplied by the width of a value."""

_BLIND: Final = "https://github.com/apache/arrow-rs/pull/10522"
_NEGATIVE: Final = "https://github.com/apache/arrow-rs/pull/8097"
_VARIADIC: Final = "https://github.com/apache/arrow/pull/48901"
_ROWS: Final = "https://github.com/ClickHouse/ClickHouse/pull/106395"


def _prefix(name: str, length: int) -> None:
    def make() -> bytes:
        model = SAMPLES["rows.several"].stream()
        batch = model.batches[0]
        data = batch.encode()
        return model.schema.encode() + CONTINUATION + struct.pack("<i", length) + data[8:] + END_OF_STREAM

    source = _NEGATIVE if length < 0 else _BLIND
    register(
        f"lengths.metadata-{name}", f"The metadata of a batch is said to be {length} bytes long.", make, source=source
    )


for _name, _length in (
    ("-2^31", -(1 << 31)),
    ("-1", -1),
    ("1", 1),
    ("7", 7),
    ("2^20", 1 << 20),
    ("2^31-1", (1 << 31) - 1),
):
    _prefix(_name, _length)


def _legacy(name: str, length: int) -> None:
    def make() -> bytes:
        return struct.pack("<i", length) + SAMPLES["rows.several"].stream(legacy=True).encode()[4:]

    register(f"lengths.legacy-{name}", f"A legacy schema is said to be {length} bytes long.", make, source=_BLIND)


for _name, _length in (("1", 1), ("2^30", 1 << 30), ("2^31-1", (1 << 31) - 1), ("-2", -2)):
    _legacy(_name, _length)

Setter = Callable[[StreamModel, int], None]


def _everywhere(name: str, what: str, on: str, setter: Setter, source: str = "") -> None:
    """One entry for each extreme."""
    for label, number in EXTREMES.items():

        def change(model: StreamModel, number: int = number) -> None:
            setter(model, number)

        change.__doc__ = f"{what} is {label}."
        hostile_stream(f"lengths.{name}-{label}", on, source=source)(change)


def _body_length(model: StreamModel, number: int) -> None:
    model.batches[0].tree["bodyLength"] = number


def _batch_length(model: StreamModel, number: int) -> None:
    model.batches[0].header["length"] = number


def _node_length(model: StreamModel, number: int) -> None:
    model.batches[0].header["length"] = number
    for node in model.batches[0].nodes:
        node.length = number


def _null_count(model: StreamModel, number: int) -> None:
    model.batches[0].nodes[0].null_count = number


def _buffer(model: StreamModel, change: Callable[[tuple[int, int]], tuple[int, int]]) -> None:
    for message in model.batches:
        buffers, _ = message.body()
        message.header["buffers"] = [change(each) if each[1] else each for each in buffers]


def _buffer_offset(model: StreamModel, number: int) -> None:
    _buffer(model, lambda place: (number & ~7, place[1]))


def _buffer_length(model: StreamModel, number: int) -> None:
    _buffer(model, lambda place: (place[0], number))


def _buffer_both(model: StreamModel, number: int) -> None:
    _buffer(model, lambda _: (number & ~7, number))


def _variadic(model: StreamModel, number: int) -> None:
    model.batches[0].header["variadicBufferCounts"] = [number]


def _dictionary_length(model: StreamModel, number: int) -> None:
    dictionary = model.dictionaries[0]
    dictionary.batch["length"] = number
    dictionary.nodes[0].length = number


_everywhere("body", "The length of a body", "types.int32", _body_length, _BLIND)
_everywhere("batch", "The length of a batch", "types.int32", _batch_length)
_everywhere("rows", "The length of a batch and of every node", "types.int64", _node_length, _ROWS)
_everywhere("rows-of-text", "The length of a batch of text", "types.large-utf8", _node_length, _ROWS)
_everywhere("rows-of-views", "The length of a batch of views", "types.list", _node_length, _ROWS)
_everywhere("rows-of-nulls", "The length of a batch of nulls, which needs no bytes,", "types.null", _node_length)
_everywhere("rows-of-nothing", "The length of a struct without children", "types.struct-empty", _node_length)
_everywhere(
    "rows-of-empty-lists",
    "The length of fixed-size lists of size 0",
    "types.fixed-size-list-empty",
    _node_length,
    "https://github.com/apache/arrow-rs/issues/8926",
)
_everywhere("nulls", "The number of nulls", "types.int32", _null_count)
_everywhere(
    "buffer-offset",
    "The offset of every buffer",
    "types.utf8",
    _buffer_offset,
    "https://github.com/apache/arrow/pull/48925",
)
_everywhere(
    "buffer-length",
    "The length of every buffer",
    "types.utf8",
    _buffer_length,
    "https://github.com/apache/arrow/pull/48925",
)
_everywhere("buffer", "Offset and length of every buffer", "types.utf8", _buffer_both)
_everywhere("variadic", "The number of data buffers of a view field", "types.binary-view", _variadic, _VARIADIC)
_everywhere("dictionary", "The length of a dictionary", "dictionary.of-utf8", _dictionary_length)
_everywhere("dictionary-of-ints", "The length of a dictionary of integers", "dictionary.of-int64", _dictionary_length)


def _typed(name: str, what: str, on: str, **slots: Any) -> None:
    def change(model: StreamModel) -> None:
        model.schema.header["fields"][0]["type"].update(slots)

    change.__doc__ = what
    hostile_stream(f"lengths.{name}", on)(change)


_HIGH: Final = (1 << 31) - 1
_typed("byte-width", "The width of fixed-size values is 2^31-1.", "types.fixed-size-binary", byteWidth=_HIGH)
_typed("byte-width-0", "Fixed-size values have no bytes.", "types.fixed-size-binary", byteWidth=0)
_typed(
    "byte-width-negative", "The width of fixed-size values is -2^31.", "types.fixed-size-binary", byteWidth=-_HIGH - 1
)
_typed("list-size", "The size of fixed-size lists is 2^31-1.", "types.fixed-size-list", listSize=_HIGH)
_typed("list-size-negative", "The size of fixed-size lists is -2^31.", "types.fixed-size-list", listSize=-_HIGH - 1)
_typed("decimal-scale", "The scale of decimals is 2^31-1.", "types.decimal128", scale=_HIGH)
_typed("decimal-scale-negative", "The scale of decimals is -2^31.", "types.decimal128", scale=-_HIGH - 1)
_typed("decimal-precision", "Decimals have 2^31-1 digits.", "types.decimal128", precision=_HIGH)
_typed("decimal-precision-0", "Decimals have no digits.", "types.decimal128", precision=0)
_typed("int-width-0", "Integers have no bits.", "types.int32", bitWidth=0)
_typed("int-width-negative", "Integers have -2^31 bits.", "types.int32", bitWidth=-_HIGH - 1)


@hostile_stream(
    "lengths.lists-overflow", "types.fixed-size-list", source="https://github.com/apache/arrow-rs/issues/10270"
)
def lists_overflow(model: StreamModel) -> None:
    """Length times list size is a multiple of 2^64: in 64 bits the child has to have no slots."""
    model.schema.header["fields"][0]["type"]["listSize"] = 1 << 30
    batch = model.batches[0]
    batch.header["length"] = batch.nodes[0].length = 1 << 34
    batch.nodes[0].null_count = 0
    batch.parts[0].data = b""
