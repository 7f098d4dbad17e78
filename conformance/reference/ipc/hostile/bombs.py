"""Few bytes that become many: compressed zeros, views and lists that overlap, repetition without end."""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
import pyarrow as pa

from conformance.reference.body import FieldNode, Part
from conformance.reference.ipc.hostile.register import hostile, hostile_stream
from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.ipc.writer import stream_model

__all__ = ["zstd_of_zeros"]

_BLOCK: Final = 1 << 17
_PREFIX: Final = "https://github.com/apache/arrow-rs/pull/9802"
_GIB: Final = 1 << 30


def zstd_of_zeros(size: int) -> bytes:
    """A ZSTD frame of that many zeros, a multiple of 128 KiB: blocks of one repeated byte (RFC 8878, section 3.1.1)."""
    blocks = size // _BLOCK
    head = b"\x28\xb5\x2f\xfd\xc0\x38" + struct.pack("<Q", size)
    block = (_BLOCK << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    last = (_BLOCK << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"\0"
    return head + block * (blocks - 1) + last


def _bytes_column(model: StreamModel, rows: int, stored: bytes, codec: int) -> None:
    """Makes the first batch one of ``rows`` bytes without nulls, whose compressed data is ``stored``."""
    batch = model.batches[0]
    batch.header.update(length=rows, compression={"codec": codec})
    batch.nodes = [FieldNode("x", rows, 0)]
    batch.parts = [Part("x", "validity", b""), Part("x", "data", stored)]


@hostile_stream("bombs.zstd-1-gib", "types.int8")
def zstd_gib(model: StreamModel) -> None:
    """A gibibyte of zeros in 32 KiB of ZSTD: legal, and a thousand such columns are legal too."""
    _bytes_column(model, _GIB, struct.pack("<q", _GIB) + zstd_of_zeros(_GIB), 1)


@hostile_stream("bombs.zstd-16-gib", "types.int8")
def zstd_16_gib(model: StreamModel) -> None:
    """Sixteen gibibytes of zeros in 512 KiB of ZSTD."""
    _bytes_column(model, 16 * _GIB, struct.pack("<q", 16 * _GIB) + zstd_of_zeros(16 * _GIB), 1)


@hostile_stream("bombs.zstd-understated", "types.int8", source=_PREFIX)
def zstd_understated(model: StreamModel) -> None:
    """A frame of a gibibyte declares that it holds eight bytes."""
    _bytes_column(model, 8, struct.pack("<q", 8) + zstd_of_zeros(_GIB), 1)


def _declared(label: str, declared: int) -> None:
    def change(model: StreamModel) -> None:
        _bytes_column(model, 8, struct.pack("<q", declared) + zstd_of_zeros(_BLOCK), 1)

    change.__doc__ = f"A frame of 128 KiB announces itself as {label} bytes."
    hostile_stream(f"bombs.announced-{label}", "types.int8", source=_PREFIX)(change)


for _label, _announcement in (
    ("2^40", 1 << 40),
    ("2^62", 1 << 62),
    ("2^63-1", (1 << 63) - 1),
    ("-2", -2),
    ("-2^63", -(1 << 63)),
):
    _declared(_label, _announcement)


@hostile_stream("bombs.lz4-announced-2^50", "types.int8", source="https://github.com/apache/arrow-rs/pull/10959")
def lz4_announced(model: StreamModel) -> None:
    """An LZ4 frame of eight bytes announces itself as 2^50 bytes."""
    _bytes_column(model, 8, struct.pack("<q", 1 << 50) + pa.Codec("lz4").compress(bytes(8), asbytes=True), 0)


@hostile_stream("bombs.lz4-64-mib", "types.int8")
def lz4(model: StreamModel) -> None:
    """64 MiB of zeros in LZ4."""
    size = 1 << 26
    _bytes_column(model, size, struct.pack("<q", size) + pa.Codec("lz4").compress(bytes(size), asbytes=True), 0)


@hostile_stream("bombs.lz4-cut-off", "types.int8")
def lz4_cut_off(model: StreamModel) -> None:
    """An LZ4 frame ends in the middle."""
    data = pa.Codec("lz4").compress(bytes(range(256)) * 8, asbytes=True)
    _bytes_column(model, 2048, struct.pack("<q", 2048) + data[: len(data) // 2], 0)


@hostile_stream("bombs.prefix-cut-off", "types.int8", source=_PREFIX)
def prefix_cut_off(model: StreamModel) -> None:
    """A compressed buffer has four bytes, half of its length."""
    _bytes_column(model, 8, b"\x08\0\0\0", 1)


@hostile("bombs.one-buffer-for-all")
def one_buffer() -> bytes:
    """Two hundred columns share one compressed buffer of a gibibyte."""
    model = SAMPLES["names.many"].stream()
    batch = model.batches[0]
    stored = struct.pack("<q", _GIB) + zstd_of_zeros(_GIB)
    batch.header.update(length=_GIB // 8, compression={"codec": 1})
    for node in batch.nodes:
        node.length = _GIB // 8
    columns = len(batch.nodes)
    batch.parts = [Part("x", "data", stored)]
    batch.header["buffers"] = [(0, size) for _ in range(columns) for size in (0, len(stored))]
    return model.encode()


@hostile("bombs.views-overlap")
def views_overlap() -> bytes:
    """Thirty thousand views show the same 300 kB: legal, and nine gigabytes once written out."""
    rows, text = 30_000, b"x" * 300_000
    model = SAMPLES["types.string-view"].stream()
    batch = model.batches[0]
    batch.header["length"] = rows
    batch.nodes = [FieldNode("x", rows, 0)]
    view = struct.pack("<i4sii", len(text), text[:4], 0, 0)
    batch.parts = [Part("x", "validity", b""), Part("x", "views", view * rows), Part("x", "variadic", text)]
    return model.encode()


@hostile("bombs.list-views-overlap")
def list_views_overlap() -> bytes:
    """Fifty thousand list-views show the same 50 000 values: legal, and 2.5 billion values once written out."""
    count = 50_000
    child = pa.array(np.zeros(count, np.int8))
    sizes = pa.array(np.full(count, count, np.int32))
    lists = pa.ListViewArray.from_arrays(pa.array(np.zeros(count, np.int32)), sizes, child)
    return stream_model([pa.RecordBatch.from_pydict({"x": lists})]).encode()


@hostile("bombs.null-lists")
def null_lists() -> bytes:
    """A list of a million million nulls, which take no bytes."""
    model = stream_model([pa.RecordBatch.from_pydict({"x": pa.array([[None]], pa.large_list(pa.null()))})])
    batch = model.batches[0]
    batch.nodes[1].length = batch.nodes[1].null_count = 10**12
    batch.part("offsets").data = struct.pack("<qq", 0, 10**12)
    return model.encode()


@hostile("bombs.fixed-size-lists")
def fixed_size_lists() -> bytes:
    """Fixed-size lists of 2^31-1 nulls, a thousand of them."""
    model = SAMPLES["types.fixed-size-list"].stream()
    field = model.schema.header["fields"][0]
    field["type"]["listSize"] = (1 << 31) - 1
    field["children"][0].update(type_type=1, type={})
    batch = model.batches[0]
    count = 1000 * ((1 << 31) - 1)
    batch.header["length"] = 1000
    batch.nodes = [FieldNode("x", 1000, 0), FieldNode("x.item", count, count)]
    batch.parts = [Part("x", "validity", b"")]
    return model.encode()


@hostile("bombs.empty-batches")
def empty_batches() -> bytes:
    """Four thousand batches without rows."""
    model = SAMPLES["rows.empty-last"].stream()
    model.messages += [model.batches[-1]] * 4000
    return model.encode()


@hostile("bombs.deltas")
def deltas() -> bytes:
    """Two thousand deltas of one value before the first batch: quadratic if each is appended by copying."""
    model = SAMPLES["dictionary.delta"].stream()
    model.messages[2:2] = [model.dictionaries[1]] * 2000
    return model.encode()


@hostile("bombs.replacements")
def replacements() -> bytes:
    """Two thousand definitions of one dictionary."""
    model = SAMPLES["dictionary.replaced"].stream()
    model.messages[1:1] = [model.dictionaries[0]] * 2000
    return model.encode()


@hostile("bombs.name-of-a-megabyte")
def long_name() -> bytes:
    """A column's name is almost a megabyte long."""
    return stream_model([pa.record_batch([pa.array([1])], names=["x" * 1_000_000])]).encode()


@hostile("bombs.metadata-pairs")
def pairs() -> bytes:
    """The schema has twenty thousand pairs of metadata."""
    model = SAMPLES["types.int32"].stream()
    model.schema.header["custom_metadata"] = [{"key": str(number), "value": ""} for number in range(20_000)]
    return model.encode()


@hostile("bombs.columns")
def columns() -> bytes:
    """Five thousand columns of nothing."""
    names = [f"c{number}" for number in range(5000)]
    return stream_model([pa.record_batch([pa.nulls(1)] * len(names), names=names)]).encode()
