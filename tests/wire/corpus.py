"""Record batches of every Arrow type that pyarrow can make, for the tests of the wire package.

Each entry is legal and must be read without a fault; tests that need broken bytes corrupt these.
"""

from __future__ import annotations

import datetime as dt
import decimal
import functools
from collections.abc import Callable
from typing import Any

import pyarrow as pa


def _columns() -> dict[str, pa.Array]:
    """One column per type and shape, four slots each, with nulls where the type has any."""
    columns: dict[str, pa.Array] = {"null": pa.nulls(4), "bool": pa.array([True, None, False, True])}
    for bits in (8, 16, 32, 64):
        columns[f"int{bits}"] = pa.array([1, None, -(1 << (bits - 1)), 3], getattr(pa, f"int{bits}")())
        columns[f"uint{bits}"] = pa.array([1, None, (1 << bits) - 1, 3], getattr(pa, f"uint{bits}")())
    columns["float32"] = pa.array([1.5, None, float("nan"), -0.0], pa.float32())
    columns["float64"] = pa.array([1.5, None, float("inf"), -0.0], pa.float64())
    columns["utf8"] = pa.array(["a", None, "", "h\u00e9\u4e16\U0001f600"])
    columns["large_utf8"] = pa.array(["a", None, "", "\u00fc"], pa.large_utf8())
    columns["binary"] = pa.array([b"\xff", None, b"", b"\x80\x81"])
    columns["large_binary"] = pa.array([b"\xff", None, b"", b"abc"], pa.large_binary())
    columns["fixed_size_binary"] = pa.array([b"abc", None, b"\0\0\0", b"xyz"], pa.binary(3))
    for name, precision, scale in (("decimal128", 38, 9), ("decimal256", 76, 38)):
        most = decimal.Decimal((0, (9,) * precision, -scale))
        with decimal.localcontext(decimal.Context(prec=precision)):
            values = [most, None, most.copy_negate(), decimal.Decimal("1.5")]
        columns[name] = pa.array(values, getattr(pa, name)(precision, scale))
    columns["decimal_small"] = pa.array(
        [decimal.Decimal("9.99"), None, decimal.Decimal("-9.99")] * 1 + [None], pa.decimal128(3, 2)
    )
    columns["date32"] = pa.array([dt.date(1, 1, 1), None, dt.date(9999, 12, 31), dt.date(1970, 1, 1)])
    columns["date64"] = pa.array([dt.date(1, 1, 1), None, dt.date(9999, 12, 31), None], pa.date64())
    for unit in ("s", "ms", "us", "ns"):
        top = {"s": 86_399, "ms": 86_399_999, "us": 86_399_999_999, "ns": 86_399_999_999_999}[unit]
        bits = 32 if unit in ("s", "ms") else 64
        made = pa.array([0, None, top, 1], pa.int32() if bits == 32 else pa.int64())
        columns[f"time_{unit}"] = made.cast(getattr(pa, f"time{bits}")(unit))
        columns[f"timestamp_{unit}"] = pa.array([0, None, -1, 1], pa.timestamp(unit))
        columns[f"timestamp_{unit}_utc"] = pa.array([0, None, -1, 1], pa.timestamp(unit, "UTC"))
        columns[f"duration_{unit}"] = pa.array([0, None, -1, 1], pa.duration(unit))
    columns["interval"] = pa.array([(1, 2, 3), None, (-1, -2, -3), (0, 0, 0)], pa.month_day_nano_interval())
    return columns | _nested()


def _nested() -> dict[str, pa.Array]:
    inner = pa.struct(
        [pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.list_(pa.int64())), ("c", pa.utf8())]
    )
    rows: list[Any] = [
        {"a": 1, "b": [1, None], "c": "x"},
        None,
        {"a": 2, "b": None, "c": None},
        {"a": 3, "b": [], "c": ""},
    ]
    masked = pa.array([False, True, False, False])
    children = [
        pa.array([1, 7, 2, 3], pa.int32()),
        pa.array([[1, None], None, None, []], pa.list_(pa.int64())),
        pa.array(["x", None, None, ""]),
    ]
    struct = pa.StructArray.from_arrays(children, fields=list(inner), mask=masked)
    assert struct.to_pylist() == rows
    columns: dict[str, pa.Array] = {
        "struct": struct,
        "empty_struct": pa.array([{}, None, {}, {}], pa.struct([])),
        "list": pa.array([[1, 2], None, [], [None, 3]], pa.list_(pa.int16())),
        "large_list": pa.array([["x"], None, [], [None]], pa.large_list(pa.utf8())),
        "list_of_struct": pa.array([[{"x": 1, "y": "a"}], None, [], [None, {"x": None, "y": "b"}]]),
        "list_of_list": pa.array([[[1], []], None, [None], [[2, 3]]], pa.list_(pa.list_(pa.int8()))),
        "fixed_size_list": pa.array([[1, 2], None, [3, None], [5, 6]], pa.list_(pa.int32(), 2)),
        "fixed_size_list_0": pa.array([[], None, [], []], pa.list_(pa.int32(), 0)),
        "map": pa.array([[("k", 1)], None, [], [("a", None), ("b", 2)]], pa.map_(pa.utf8(), pa.int32())),
        "sparse_union": pa.UnionArray.from_sparse(
            pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1, 2, 3, 4]), pa.array(["a", "b", None, "d"])]
        ),
        "dense_union": pa.UnionArray.from_dense(
            pa.array([5, 7, 5, 7], pa.int8()),
            pa.array([0, 0, 1, 1], pa.int32()),
            [pa.array([1, None]), pa.array(["a", "b"])],
            type_codes=[5, 7],
        ),
    }
    for name, make in _LATER.items():
        if hasattr(pa, name):
            columns[name] = make()
    return columns


_LATER: dict[str, Callable[[], pa.Array]] = {
    "run_end_encoded": lambda: pa.RunEndEncodedArray.from_arrays([1, 3, 4], pa.array(["a", None, "c"])),
    "string_view": lambda: pa.array(["short", None, "a value longer than twelve", "\u00e9" * 20], pa.string_view()),
    "binary_view": lambda: pa.array([b"short", None, b"\xff" * 40, b""], pa.binary_view()),
    "list_view": lambda: pa.array([[1, 2], None, [], [3]], pa.list_view(pa.int32())),
    "large_list_view": lambda: pa.array([[1, 2], None, [], [3]], pa.large_list_view(pa.int32())),
    "decimal32": lambda: pa.array(
        [decimal.Decimal("1.5"), None, decimal.Decimal("9999999.99"), decimal.Decimal(-3)], pa.decimal32(9, 2)
    ),
    "decimal64": lambda: pa.array(
        [decimal.Decimal("1.5"), None, decimal.Decimal("-999.99"), decimal.Decimal(-3)], pa.decimal64(5, 2)
    ),
}


_VIEWS = ("string_view", "binary_view")


def _builds_views() -> bool:
    """Whether pyarrow makes a view array of buffers: until 18 it has the types, but refuses their data buffers."""
    if not hasattr(pa, "string_view"):
        return False
    try:
        pa.Array.from_buffers(pa.string_view(), 0, [None, pa.py_buffer(b""), pa.py_buffer(b"")])
    except ValueError:
        return False
    return True


@functools.cache
def decodable() -> dict[str, pa.RecordBatch]:
    """Those of the batches that the installed pyarrow can hold once their buffers are known."""
    return {name: batch for name, batch in batches().items() if _builds_views() or not name.startswith(_VIEWS)}


@functools.cache
def batches() -> dict[str, pa.RecordBatch]:
    """Legal batches by name: each column alone, empty, sliced and repeated, and all of them together."""
    columns = _columns()
    made: dict[str, pa.RecordBatch] = {}
    for name, column in columns.items():
        made[name] = one(column)
        made[f"{name}, no rows"] = one(column[:0])
        made[f"{name}, sliced"] = one(column[1:3])
        if not pa.types.is_union(column.type) and not name.startswith("run_end"):
            made[f"{name}, many rows"] = one(pa.concat_arrays([column] * 400))
    together = {name: column for name, column in columns.items() if _builds_views() or name not in _VIEWS}
    made["every type"] = pa.record_batch(list(together.values()), names=list(together))
    made["no columns"] = pa.RecordBatch.from_struct_array(pa.array([{}] * 3, pa.struct([])))
    return made


def one(column: pa.Array, *, nullable: bool = True) -> pa.RecordBatch:
    """A batch of the one column ``x``."""
    return pa.record_batch([column], schema=pa.schema([pa.field("x", column.type, nullable=nullable)]))


def pair(batch: pa.RecordBatch) -> tuple[bytes, bytes]:
    """The schema message and the batch message of ``batch``, as pyarrow writes them."""
    return batch.schema.serialize().to_pybytes(), batch.serialize().to_pybytes()


def compressed(batch: pa.RecordBatch, codec: str) -> bytes:
    """The batch message as pyarrow writes it under ``codec``, cut out of a stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_batch(batch)
    reader = pa.BufferReader(sink.getvalue())
    pa.ipc.read_message(reader)
    start = reader.tell()
    pa.ipc.read_message(reader)
    return bytes(sink.getvalue().to_pybytes()[start : reader.tell()])


def same(left: pa.RecordBatch, right: pa.RecordBatch) -> bool:
    """Whether two batches hold the same values; those of floats are compared as text, since NaN is not itself."""
    return left.num_columns == right.num_columns and all(
        one.equals(other) or (pa.types.is_floating(one.type) and _text(one) == _text(other))
        for one, other in zip(left.columns, right.columns, strict=True)
    )


def _text(column: pa.Array) -> str:
    return str(column.to_string(window=len(column) + 1))
