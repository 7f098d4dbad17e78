"""Bytes that are not a stream, file or tensor, or only look like one; and metadata that contains code."""

from __future__ import annotations

import struct
from typing import Any, Final

import pyarrow as pa

from conformance.reference.ipc.hostile.register import hostile, register
from conformance.reference.ipc.models import MAGIC
from conformance.reference.ipc.register import ContainerKind
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.ipc.samples.tensors import TENSORS
from conformance.reference.ipc.writer import write_stream
from conformance.reference.message import CONTINUATION, END_OF_STREAM

__all__: list[str] = []

_GARBAGE: Final = "https://github.com/apache/arrow/issues/37631"
_PICKLE: Final = "https://github.com/apache/arrow/pull/38608"
_R: Final = "https://github.com/github/advisory-database/pull/5988"
_SPARSE: Final = "https://github.com/apache/arrow/pull/50305"

_ANYTHING: Final = {
    "nothing": b"",
    "zeros": bytes(4096),
    "ones": b"\xff" * 4096,
    "text": b"Not an Arrow stream, but a line of text.\n" * 20,
    "json": b'{"a": 1, "b": [2, 3]}\n' * 20,
    "parquet": b"PAR1" + bytes(64) + b"\x40\0\0\0PAR1",
    "gzip": b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + bytes(64),
    "html": b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
    "magic": b"ARROW1",
    "magic-twice": b"ARROW1\0\0ARROW1",
    "continuations": CONTINUATION * 64,
    "end-markers": END_OF_STREAM * 1000,
}
_KINDS: Final[tuple[ContainerKind, ...]] = ("stream", "file", "tensor")


def _given(kind: ContainerKind, name: str, data: bytes) -> None:
    what = f"A {kind} is {name.replace('-', ' ')}."
    register(f"wholes.{name}-as-{kind}", what, lambda: data, kind=kind, source=_GARBAGE)


for _kind in _KINDS:
    for _name, _data in _ANYTHING.items():
        _given(_kind, _name, _data)


def _wrong_kind(name: str, kind: ContainerKind, data: bytes) -> None:
    register(
        f"wholes.{name}",
        f"What is read as a {kind} is another thing: {name.replace('-', ' ')}.",
        lambda: data,
        kind=kind,
    )


_wrong_kind("stream-as-file", "file", SAMPLES["rows.several"].stream().encode())
_wrong_kind("stream-as-tensor", "tensor", SAMPLES["rows.several"].stream().encode())
_wrong_kind("file-as-stream", "stream", SAMPLES["rows.several"].file_of().encode())
_wrong_kind("tensor-as-stream", "stream", TENSORS["dense.i32"].model().encode())
_wrong_kind("sparse-as-stream", "stream", TENSORS["sparse.csr-matrix"].model().encode())
_wrong_kind("batch-alone", "stream", SAMPLES["rows.several"].stream().batches[0].encode())


def _with_metadata(field: dict[str, str], schema: dict[str, str]) -> bytes:
    kind = pa.field("x", pa.binary(), metadata=field or None)
    made = pa.schema([kind], metadata=schema or None)
    batch = pa.record_batch([pa.array([b"1"])], schema=made)
    return write_stream([batch])


@hostile("wholes.pickled-extension", source=_PICKLE)
def pickled() -> bytes:
    """An extension type's metadata is a pickle that prints a word when somebody loads it."""
    return _with_metadata(
        {
            "ARROW:extension:name": "arrow.py_extension_type",
            "ARROW:extension:metadata": "cbuiltins\nprint\n(Vunpickled\ntR.",
        },
        {},
    )


@hostile("wholes.r-metadata", source=_R)
def r_metadata() -> bytes:
    """The schema's metadata holds a serialised R object."""
    return _with_metadata({}, {"r": "A\n3\n262657\n197888\n5\nUTF-8\n531\n1\n531\n1\n254\n"})


@hostile("wholes.pandas-metadata")
def pandas_metadata() -> bytes:
    """The schema's metadata for pandas is no JSON."""
    return _with_metadata({}, {"pandas": '{"index_columns": [{"kind": "range", "start": 0, "stop": 9' + "9" * 500})


_EXTENSIONS: Final = {
    "arrow.uuid": "",
    "arrow.json": "{",
    "arrow.bool8": "x",
    "arrow.opaque": '{"type_name":',
    "arrow.fixed_shape_tensor": '{"shape":[1000000,1000000,1000000]}',
    "arrow.fixed_shape_tensor.permuted": '{"shape":[2],"permutation":[9]}',
    "arrow.variable_shape_tensor": "[]",
    "arrow.parquet.variant": "",
}


def _extension(name: str, metadata: str) -> None:
    known = name.removesuffix(".permuted")
    register(
        f"wholes.extension-{name}",
        f"A column of bytes says that it is of the type {known}, which it cannot be.",
        lambda: _with_metadata({"ARROW:extension:name": known, "ARROW:extension:metadata": metadata}, {}),
    )


for _name, _metadata in _EXTENSIONS.items():
    _extension(_name, _metadata)


# --- files --------------------------------------------------------------------------------------------


def _footer(name: str, what: str, source: str = "", **slots: Any) -> None:
    def make() -> bytes:
        model = SAMPLES["rows.several"].file_of()
        before, footer = model.complete()
        return model.assemble(before, {**footer, **slots})

    register(f"wholes.footer-{name}", what, make, kind="file", source=source)


_HIGH: Final = (1 << 63) - 1
_BLOCKS: Final = "https://github.com/apache/arrow/pull/48845"
_footer(
    "block-highest",
    "A block has the highest offset and lengths that there are.",
    _BLOCKS,
    recordBatches=[(_HIGH & ~7, (1 << 31) - 8, _HIGH & ~7)],
)
_footer(
    "block-lowest",
    "A block has the lowest offset and lengths that there are.",
    _BLOCKS,
    recordBatches=[(-(1 << 63), -(1 << 31), -(1 << 63))],
)
_footer(
    "block-wraps",
    "Offset and lengths of a block add up to a place inside the file in 64 bits.",
    _BLOCKS,
    recordBatches=[(1 << 62, 1 << 30, (1 << 63) + (1 << 62) - (1 << 63))],
)
_footer("block-at-magic", "A block leads to the magic at the start.", _BLOCKS, recordBatches=[(0, 8, 0)])
_footer(
    "dictionary-blocks",
    "The Footer lists dictionaries where the stream has none.",
    _BLOCKS,
    dictionaries=[(8, 8, 8)] * 9,
)
_footer("many-blocks", "The Footer lists one place thirty thousand times.", recordBatches=[(8, 8, 0)] * 30_000)


def _length(label: str, length: int) -> None:
    def make() -> bytes:
        return SAMPLES["rows.several"].file_of().encode()[:-10] + struct.pack("<i", length) + MAGIC

    register(
        f"wholes.footer-length-{label}",
        f"The Footer's length is {label}.",
        make,
        kind="file",
        source="https://github.com/apache/arrow/pull/49897",
    )


for _label, _number in (
    ("0", 0),
    ("1", 1),
    ("-1", -1),
    ("-2^31", -(1 << 31)),
    ("2^31-1", (1 << 31) - 1),
    ("2^20", 1 << 20),
):
    _length(_label, _number)


# --- tensors ------------------------------------------------------------------------------------------


def _tensor(name: str, what: str, on: str, source: str = _SPARSE, **slots: Any) -> None:
    def make() -> bytes:
        model = TENSORS[on].model()
        model.header.update(slots)
        return model.encode()

    register(f"wholes.tensor-{name}", what, make, kind="tensor", source=source)


_tensor(
    "shape-overflows",
    "The sizes of a tensor's dimensions multiply to 0 in 64 bits.",
    "dense.i8",
    shape=[{"size": 1 << 32}, {"size": 1 << 32}],
    strides=[],
)
_tensor(
    "shape-negative-twice",
    "Two negative sizes multiply to a positive one.",
    "dense.i8",
    shape=[{"size": -2}, {"size": -3}],
)
_tensor("shape-highest", "A dimension has 2^63-1 values.", "dense.i64", shape=[{"size": _HIGH}], strides=[])
_tensor("dimensions-1000", "A tensor has a thousand dimensions.", "dense.i8", shape=[{"size": 1}] * 1000, strides=[])
_tensor(
    "dimensions-huge", "Sixty-four dimensions of two values each.", "dense.i8", shape=[{"size": 2}] * 64, strides=[]
)
_tensor(
    "strides-0",
    "All strides are 0: a billion times a billion values in one byte.",
    "dense.i8",
    shape=[{"size": 10**9}, {"size": 10**9}],
    strides=[0, 0],
)
_tensor("strides-highest", "Strides are the highest number that there is.", "dense.i8", strides=[_HIGH, _HIGH])
_tensor(
    "data-lowest",
    "The data has the lowest offset and length that there are.",
    "dense.i8",
    data=(-(1 << 63), -(1 << 63)),
)
_tensor(
    "data-highest", "The data has the highest offset and length that there are.", "dense.i8", data=(_HIGH & ~7, _HIGH)
)
for _form in ("coo", "csr", "csc", "csf"):
    _on = f"sparse.{_form}-matrix"
    _tensor(f"{_form}-length-2^62", "A sparse tensor has 2^62 values.", _on, non_zero_length=1 << 62)
    _tensor(f"{_form}-length--1", "A sparse tensor has -1 values.", _on, non_zero_length=-1)
    _tensor(
        f"{_form}-shape-0", "A sparse tensor with values has no room for them.", _on, shape=[{"size": 0}, {"size": 0}]
    )
    _tensor(f"{_form}-shape-none", "A sparse tensor has no dimensions.", _on, shape=[])
    _tensor(f"{_form}-shape-highest", "Dimensions have 2^63-1 places.", _on, shape=[{"size": _HIGH}, {"size": _HIGH}])
