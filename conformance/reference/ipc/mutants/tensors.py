"""Mutants of dense tensors."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from conformance.reference.flatbuffers import SHARED_FIRST, write
from conformance.reference.ipc.register import mutant
from conformance.reference.ipc.tensors import TensorModel
from conformance.reference.message import END_OF_STREAM, batch_message, frame, schema_message
from conformance.wire.faults import Rule

__all__: list[str] = []

_DENSE: Final = ("dense.i32", "dense.cube", "dense.f64")
_UTF8, _BOOL = 5, 6


@mutant("tensor.of-text", Rule.TENSOR_TYPE, kind="tensor", on=_DENSE)
def of_text(model: TensorModel) -> None:
    """The values of a tensor are text."""
    model.header.update(type_type=_UTF8, type={})


@mutant("tensor.of-lists", Rule.TENSOR_TYPE, kind="tensor", on=_DENSE)
def of_lists(model: TensorModel) -> None:
    """The values of a tensor are lists."""
    model.header.update(type_type=12, type={})


@mutant("tensor.shape-negative", Rule.TENSOR_SHAPE_NEGATIVE, kind="tensor", on=_DENSE)
def shape_negative(model: TensorModel) -> None:
    """A dimension has a negative size."""
    model.header["shape"][0]["size"] = -2


@mutant("tensor.shape-huge", Rule.TENSOR_DATA_TOO_SMALL, kind="tensor", on=_DENSE)
def shape_huge(model: TensorModel) -> None:
    """A dimension has a size that no memory has."""
    model.header["shape"][0]["size"] = 1 << 40


@mutant(
    "tensor.shape-overflow",
    Rule.TENSOR_DATA_TOO_SMALL,
    kind="tensor",
    on=("dense.cube",),
    source="https://github.com/apache/arrow/pull/50305",
)
def shape_overflow(model: TensorModel) -> None:
    """The sizes of the dimensions multiply to 0 in 64 bits."""
    for dim in model.header["shape"]:
        dim["size"] = 1 << 32
    del model.header["strides"]


@mutant("tensor.strides-few", Rule.TENSOR_STRIDES_COUNT, kind="tensor", on=_DENSE)
def strides_few(model: TensorModel) -> None:
    """There is one stride fewer than dimensions."""
    model.header["strides"] = model.header["strides"][1:]


@mutant("tensor.strides-many", Rule.TENSOR_STRIDES_COUNT, kind="tensor", on=_DENSE)
def strides_many(model: TensorModel) -> None:
    """There is one stride more than dimensions."""
    model.header["strides"] = [*model.header["strides"], 4]


@mutant("tensor.stride-negative", Rule.TENSOR_STRIDE_NEGATIVE, kind="tensor", on=_DENSE)
def stride_negative(model: TensorModel) -> None:
    """A stride is negative."""
    first, *others = model.header["strides"]
    model.header["strides"] = [-first, *others]


@mutant("tensor.strides-beyond", Rule.TENSOR_DATA_TOO_SMALL, kind="tensor", on=_DENSE)
def strides_beyond(model: TensorModel) -> None:
    """Strides reach beyond the data."""
    model.header["strides"] = [stride * 8 for stride in model.header["strides"]]


@mutant("tensor.strides-overflow", Rule.TENSOR_DATA_TOO_SMALL, kind="tensor", on=_DENSE)
def strides_overflow(model: TensorModel) -> None:
    """A stride is the highest number that there is."""
    model.header["strides"] = [(1 << 63) - 1, *model.header["strides"][1:]]


@mutant("tensor.data-beyond", Rule.TENSOR_DATA_OUT_OF_BODY, kind="tensor", on=_DENSE)
def data_beyond(model: TensorModel) -> None:
    """The data is beyond the body."""
    model.header["data"] = (1 << 32, len(model.part("data")))


@mutant("tensor.data-longer", Rule.TENSOR_DATA_OUT_OF_BODY, kind="tensor", on=_DENSE)
def data_longer(model: TensorModel) -> None:
    """The data is said to be longer than the body."""
    model.header["data"] = (0, 1 << 20)


@mutant("tensor.data-negative", (Rule.TENSOR_DATA_OUT_OF_BODY, Rule.BUFFER_OFFSET_NEGATIVE), kind="tensor", on=_DENSE)
def data_negative(model: TensorModel) -> None:
    """The data begins before the body."""
    model.header["data"] = (-64, len(model.part("data")))


@mutant("tensor.data-short", Rule.TENSOR_DATA_TOO_SMALL, kind="tensor", on=_DENSE)
def data_short(model: TensorModel) -> None:
    """The data lacks its last value."""
    model.replace("data", model.part("data")[:-4])


@mutant(
    "tensor.type-missing", (Rule.FLATBUF_REQUIRED_MISSING, Rule.FLATBUF_UNION_VALUE_MISSING), kind="tensor", on=_DENSE
)
def type_missing(model: TensorModel) -> None:
    """A tensor has no type."""
    del model.header["type"]


@mutant("tensor.shape-missing", Rule.FLATBUF_REQUIRED_MISSING, kind="tensor", on=_DENSE)
def shape_missing(model: TensorModel) -> None:
    """A tensor has no shape."""
    del model.header["shape"]


@mutant("tensor.data-missing", Rule.FLATBUF_REQUIRED_MISSING, kind="tensor", on=_DENSE)
def data_missing(model: TensorModel) -> bytes:
    """A tensor does not say where its data is."""
    tree, body = model.complete()
    del tree["header"]["data"]
    return frame(tree, body, alignment=64, layout=SHARED_FIRST)


@mutant("tensor.int-of-24-bits", Rule.SCHEMA_INT_WIDTH, kind="tensor", on=("dense.i32",))
def int_of_24_bits(model: TensorModel) -> None:
    """The values are integers of 24 bits."""
    model.header["type"] = {"bitWidth": 24, "is_signed": 1}


@mutant("tensor.cut-off", Rule.MESSAGE_BODY_TRUNCATED, kind="tensor", on=_DENSE)
def cut_off(model: TensorModel) -> bytes:
    """The body ends before its last 8 bytes."""
    return model.encode()[:-8]


@mutant("tensor.without-prefix", (Rule.FLATBUF_ROOT, Rule.METADATA_LENGTH_NOT_MULTIPLE_OF_8), kind="tensor", on=_DENSE)
def without_prefix(model: TensorModel) -> bytes:
    """A tensor is bare metadata and a body, without the prefix."""
    tree, body = model.complete()
    return write("Message", tree, layout=SHARED_FIRST) + body


@mutant("tensor.followed", Rule.MESSAGE_END_OF_STREAM, kind="tensor", on=_DENSE)
def followed(model: TensorModel) -> bytes:
    """An end marker follows the tensor, as if it were a stream."""
    return model.encode() + END_OF_STREAM


@mutant("tensor.twice", Rule.MESSAGE_SECOND_MESSAGE, kind="tensor", on=_DENSE)
def twice(model: TensorModel) -> bytes:
    """Two tensors follow each other."""
    return model.encode() * 2


@mutant("tensor.is-a-batch", Rule.MESSAGE_HEADER_KIND, kind="tensor", on=("dense.i32",))
def is_a_batch(_: TensorModel) -> bytes:
    """The message is a record batch."""
    return batch_message(pa.RecordBatch.from_pydict({"x": [1, 2]})).encode()


@mutant("tensor.is-a-schema", Rule.MESSAGE_HEADER_KIND, kind="tensor", on=("dense.i32",))
def is_a_schema(_: TensorModel) -> bytes:
    """The message is a schema."""
    return schema_message(pa.schema([("x", pa.int32())])).encode()


@mutant("tensor.trailing-bytes", Rule.MESSAGE_TRAILING_BYTES, kind="tensor", on=_DENSE)
def trailing_bytes(model: TensorModel) -> bytes:
    """Bytes that are no message follow the tensor."""
    return model.encode() + b"\xff\xff\xff"
