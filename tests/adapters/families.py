"""Small batches of every family of types, as pyarrow makes them, each with nulls and with values at the edges."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["FAMILIES", "REPLACING", "stream_of"]


def _integers() -> Iterator[tuple[str, pa.Array]]:
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()):
        held = np.iinfo(kind.to_pandas_dtype())
        yield str(kind), pa.array([int(held.min), None, 0, 1, int(held.max)], kind)


def _floats() -> Iterator[tuple[str, pa.Array]]:
    for kind in (pa.float32(), pa.float64()):
        made = [0.0, -0.0, None, 1.5, float("inf"), float("-inf"), float("nan"), float(np.finfo(str(kind)).tiny) / 4]
        yield str(kind), pa.array(made, kind)


def _half(*bits: int) -> pa.Array:
    return pa.array(np.array(bits, np.uint16).view(np.float16))


def _decimals(*bits: int) -> Iterator[tuple[str, pa.Array]]:
    for width, digits in ((32, 9), (64, 18), (128, 38), (256, 76)):
        if width not in bits:
            continue
        kind = getattr(pa, f"decimal{width}")(digits, 2)
        with decimal.localcontext(prec=80):
            most = decimal.Decimal("9" * (digits - 2) + ".99")
            yield f"decimal{width}", pa.array([most, None, -most, decimal.Decimal("-0.01")], kind)


def _times() -> Iterator[tuple[str, pa.Array]]:
    extremes = [-(2**63), None, -1, 0, 2**53 + 1, 2**63 - 1]
    yield "date32", pa.array([-(2**31), None, 0, 2**31 - 1, 20000, 1], pa.int32()).cast(pa.date32())
    yield "date64", pa.array([-86400000, None, 0, 86400000, 86400000 * 2932896, 0], pa.int64()).view(pa.date64())
    for unit in ("s", "ms"):
        yield f"time32-{unit}", pa.array([0, None, 1, 2, 3, 86399], pa.int32()).cast(pa.time32(unit))
    for unit in ("us", "ns"):
        yield f"time64-{unit}", pa.array([0, None, 1, 2, 3, 86399999999], pa.int64()).cast(pa.time64(unit))
    for unit in ("s", "ms", "us", "ns"):
        yield f"timestamp-{unit}", pa.array(extremes, pa.int64()).view(pa.timestamp(unit))
        yield f"zoned-{unit}", pa.array(extremes, pa.int64()).view(pa.timestamp(unit, "Europe/Paris"))
        yield f"duration-{unit}", pa.array(extremes, pa.int64()).view(pa.duration(unit))


def _intervals() -> Iterator[tuple[str, pa.Array]]:
    made = [(1, 2, 3), None, (-1, -2, -(2**63)), (2**31 - 1, -(2**31), 2**63 - 1)]
    yield "month-day-nano", pa.array(made, pa.month_day_nano_interval())


_WORDS = ["", None, "a", "grün", "𝄞 a text that is longer than twelve bytes", 'quote " and \\ and \u2028']


def _texts(*kinds: pa.DataType) -> Iterator[tuple[str, pa.Array]]:
    for kind in kinds:
        yield str(kind), pa.array(_WORDS, pa.string()).cast(kind)


def _binaries(*kinds: pa.DataType) -> Iterator[tuple[str, pa.Array]]:
    for kind in kinds:
        yield str(kind), pa.array([b"", None, b"\x00\xff", bytes(range(40))], kind)


_NUMBERS: Sequence[Any] = [[1, None, 3], None, [], [4]]


def _nested() -> Iterator[tuple[str, pa.Array]]:
    for number, kind in enumerate((pa.list_(pa.int64()), pa.large_list(pa.int64()))):
        yield f"list-{number}", pa.array(_NUMBERS, kind)
    yield "fixed", pa.array([[1, 2], None, [None, 4], [5, 6]], pa.list_(pa.int32(), 2))
    yield "struct", pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": ""}, {"a": 3, "b": None}])
    yield "map", pa.array([[("k", 1), ("l", None)], None, [], [("k", 2)]], pa.map_(pa.string(), pa.int32()))
    yield "deep", pa.array([[{"a": [[1]]}], [], None, [{"a": None}, None]])


def _list_views() -> Iterator[tuple[str, pa.Array]]:
    for kind in (pa.list_view(pa.int64()), pa.large_list_view(pa.int64())):
        yield str(kind), pa.array(_NUMBERS, kind)


def _unions(codes: Sequence[int]) -> Iterator[tuple[str, pa.Array]]:
    types = pa.array([codes[0], codes[1], codes[0]], pa.int8())
    numbers, texts = pa.array([1, None, 3], pa.int64()), pa.array(["p", "q", None])
    yield "sparse", pa.UnionArray.from_sparse(types, [numbers, texts], ["n", "t"], list(codes))
    offsets = pa.array([0, 0, 1], pa.int32())
    yield "dense", pa.UnionArray.from_dense(types, offsets, [numbers[:2], texts[1:2]], ["n", "t"], list(codes))


def _runs() -> Iterator[tuple[str, pa.Array]]:
    for kind in (pa.int16(), pa.int32(), pa.int64()):
        ends, values = pa.array([2, 3, 6], kind), pa.array(["a", None, "b"])
        yield str(kind), pa.RunEndEncodedArray.from_arrays(ends, values)


def _dictionaries() -> Iterator[tuple[str, pa.Array]]:
    words = pa.array(["a", None, "c"])
    for kind in (pa.int8(), pa.int32()):
        yield str(kind), pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 1], kind), words)
    inner = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0, 2], pa.int8()), words)
    yield "in-list", pa.ListArray.from_arrays(pa.array([0, 2, 2, 3, 4], pa.int32()), inner)


def _extension() -> Iterator[tuple[str, pa.Array]]:
    storage = pa.array([bytes(range(16)), None], pa.binary(16))
    yield "uuid", pa.ExtensionArray.from_storage(pa.uuid(), storage)


def _batch(columns: Iterator[tuple[str, pa.Array]]) -> list[pa.RecordBatch]:
    """One batch of columns that may differ in length; the shorter ones end in nulls."""
    held = dict(columns)
    rows = max(map(len, held.values()))
    for name, array in held.items():
        if len(array) < rows:
            held[name] = pa.concat_arrays([array, pa.nulls(rows - len(array), array.type)])
    return [pa.record_batch(held)]


def _words(*rows: tuple[list[int], list[str]]) -> list[pa.RecordBatch]:
    made = [pa.DictionaryArray.from_arrays(pa.array(at, pa.int32()), pa.array(words)) for at, words in rows]
    return [pa.record_batch([array], ["x"]) for array in made]


def _floating(*dictionaries: list[float]) -> list[pa.RecordBatch]:
    made = [pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array(held)) for held in dictionaries]
    return [pa.record_batch([array], ["x"]) for array in made]


def _no_columns() -> list[pa.RecordBatch]:
    return [pa.record_batch(pa.array([{}, {}, {}], pa.struct([])))]


def _thousand() -> list[pa.RecordBatch]:
    numbers = pa.array([None if row % 7 == 0 else row for row in range(1000)])
    whole = pa.record_batch({"n": numbers, "t": numbers.cast(pa.string()), "b": pa.array(np.arange(1000) % 3 == 0)})
    return [whole.slice(0, 500), whole.slice(500, 0), whole.slice(500)]


FAMILIES: dict[str, Callable[[], list[pa.RecordBatch]]] = {
    "null": lambda: [pa.record_batch({"x": pa.nulls(3)})],
    "list-of-null": lambda: [pa.record_batch({"x": pa.array([[None, None], [None]])})],
    "bool": lambda: [pa.record_batch({"x": pa.array([True, None, False] * 5)})],
    "integers": lambda: _batch(_integers()),
    "floats": lambda: _batch(_floats()),
    "float16": lambda: [pa.record_batch({"x": _half(0, 0x8000, 0x3C00, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00)})],
    "float16-subnormal": lambda: [pa.record_batch({"x": _half(0x0001, 0x83FF)})],
    "decimals": lambda: _batch(_decimals(128, 256)),
    "small-decimals": lambda: _batch(_decimals(32, 64)),
    "negative-scale": lambda: [pa.record_batch({"x": pa.array([decimal.Decimal(1200)], pa.decimal128(5, -2))})],
    "times": lambda: _batch(_times()),
    "intervals": lambda: _batch(_intervals()),
    "texts": lambda: _batch(_texts(pa.string(), pa.large_string())),
    "text-views": lambda: _batch(_texts(pa.string_view())),
    "binaries": lambda: _batch(_binaries(pa.binary(), pa.large_binary())),
    "binary-views": lambda: _batch(_binaries(pa.binary_view())),
    "fixed-binary": lambda: [pa.record_batch({"x": pa.array([b"abc", None, b"\x00\xff\x80"], pa.binary(3))})],
    "nested": lambda: _batch(_nested()),
    "list-views": lambda: _batch(_list_views()),
    "lists-of-none": lambda: [pa.record_batch({"x": pa.array([[], None, []], pa.list_(pa.int32(), 0))})],
    "unions": lambda: _batch(_unions((0, 1))),
    "union-codes": lambda: _batch(_unions((5, 10))),
    "union-code-127": lambda: _batch(_unions((5, 127))),
    "runs": lambda: _batch(_runs()),
    "dictionaries": lambda: _batch(_dictionaries()),
    "wide-indices": lambda: [
        pa.record_batch({"x": pa.DictionaryArray.from_arrays(pa.array([2, None, 0], pa.int64()), ["a", None, "c"])})
    ],
    "dictionary-delta": lambda: _words(([0, 1], ["a", "b"]), ([2, 0], ["a", "b", "c"])),
    "dictionary-replaced": lambda: _words(([0, 1], ["a", "b"]), ([1, 0], ["c", "d"])),
    "dictionary-nearly-replaced": lambda: _floating([0.25, 1.0], [0.25, 1.000001]),
    "dictionary-of-struct": lambda: [
        pa.record_batch({"x": pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int32()), [{"a": 1}, {"a": 2}])})
    ],
    "extension": lambda: _batch(_extension()),
    "no-columns": _no_columns,
    "same-names": lambda: [pa.record_batch([pa.array([1]), pa.array(["a"])], ["x", "x"])],
    "same-child-names": lambda: [
        pa.record_batch({"x": pa.StructArray.from_arrays([pa.array([1]), pa.array(["a"])], ["n", "n"])})
    ],
    "empty-name": lambda: [pa.record_batch([pa.array([1])], [""])],
    "thousand-rows": _thousand,
    "moment": lambda: [pa.record_batch({"x": pa.array([dt.datetime(2026, 1, 1, tzinfo=dt.UTC)])})],
}
"""Name to what makes the batches; made when asked for, since not every version of pyarrow makes them all."""


REPLACING = frozenset({"dictionary-replaced", "dictionary-nearly-replaced"})
"""Families that a file cannot hold."""


def stream_of(batches: Sequence[pa.RecordBatch], *, file: bool = False, **options: Any) -> bytes:
    """The batches as pyarrow writes them, a dictionary that grew as a delta."""
    chosen = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True, **options)
    sink = pa.BufferOutputStream()
    with (pa.ipc.new_file if file else pa.ipc.new_stream)(sink, batches[0].schema, options=chosen) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())
