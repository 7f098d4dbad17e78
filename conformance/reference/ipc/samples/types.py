"""Samples of every type: each width, unit and parameter that changes the layout of values, at its extremes."""

from __future__ import annotations

import decimal
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from conformance.reference.ipc.samples.sample import runs, sample
from conformance.wire.intervals import DAY_TIME, YEAR_MONTH

__all__ = ["columns"]

_LONG = "a text that is too long to stand in its view"
_DAY_MS = 86_400_000
_UNITS = ("s", "ms", "us", "ns")
_FLOATS = (0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan"))


def _integers() -> Iterator[tuple[str, pa.Array]]:
    for bits in (8, 16, 32, 64):
        top = (1 << (bits - 1)) - 1
        yield f"int{bits}", pa.array([0, -1, None, top, -top - 1], getattr(pa, f"int{bits}")())
        yield f"uint{bits}", pa.array([0, 1, None, 2 * top + 1, 7], getattr(pa, f"uint{bits}")())


def _floats() -> Iterator[tuple[str, pa.Array]]:
    for bits, kind in ((16, np.float16), (32, np.float32), (64, np.float64)):
        tiny, huge = np.finfo(kind).smallest_subnormal, np.finfo(kind).max
        values = [*(kind(value) for value in _FLOATS), None, tiny, huge]
        yield f"float{bits}", pa.array(values, getattr(pa, f"float{bits}")())


def _decimals() -> Iterator[tuple[str, pa.Array]]:
    for bits, digits in ((32, 9), (64, 18), (128, 38), (256, 76)):
        maker = getattr(pa, f"decimal{bits}", None)
        if maker is None:
            continue
        with decimal.localcontext(prec=80):
            top = decimal.Decimal(10**digits - 1)
            yield f"decimal{bits}", pa.array([decimal.Decimal(0), None, top, -top], maker(digits, 0))
            cents = [decimal.Decimal("1.23"), None, decimal.Decimal("-0.01")]
            yield f"decimal{bits}-scaled", pa.array(cents, maker(5, 2))
            thousands = [decimal.Decimal(123000), None, decimal.Decimal(-1000)]
            yield f"decimal{bits}-negative-scale", pa.array(thousands, maker(5, -3))


def _times() -> Iterator[tuple[str, pa.Array]]:
    yield "date32", pa.array([0, -1, None, 2_932_896], pa.date32())
    yield "date64", pa.array([0, -_DAY_MS, None, 2_932_896 * _DAY_MS], pa.date64())
    for unit, last in (("s", 86_399), ("ms", _DAY_MS - 1)):
        yield f"time32-{unit}", pa.array([0, None, last], pa.time32(unit))
    for unit, last in (("us", _DAY_MS * 1000 - 1), ("ns", _DAY_MS * 1_000_000 - 1)):
        yield f"time64-{unit}", pa.array([0, None, last], pa.time64(unit))
    for unit in _UNITS:
        yield f"timestamp-{unit}", pa.array([0, -1, None, 1 << 40], pa.timestamp(unit))
        yield f"duration-{unit}", pa.array([0, -1, None, 1 << 62], pa.duration(unit))
    for name, zone in (("utc", "UTC"), ("region", "Europe/Berlin"), ("offset", "+05:30"), ("west", "-08:00")):
        yield f"timestamp-{name}", pa.array([0, -1, None, 1 << 40], pa.timestamp("us", zone))
    mixed = [(1, 2, 3), None, (-1, 2, -3), (0, 0, 1 << 40)]
    months = pa.array([0, 13, None, -(1 << 31)], pa.int32())
    yield "interval-year-month", pa.ExtensionArray.from_storage(YEAR_MONTH, months)
    # Days in the low half, milliseconds in the high one.
    days = pa.array([0, 2 + (3 << 32), None, (1 << 32) - 1, -1], pa.int64())
    yield "interval-day-time", pa.ExtensionArray.from_storage(DAY_TIME, days)
    yield "interval-month-day-nano", pa.array(mixed, pa.month_day_nano_interval())


def _texts() -> Iterator[tuple[str, pa.Array]]:
    words = ["", "a", None, "zwölf Käse", "日本語", "twelve bytes", "13 bytes long", _LONG]
    data = [b"", b"\0", None, b"\xff\xfe", b"0123456789ab", b"0123456789abc", _LONG.encode()]
    for text, binary in (("utf8", "binary"), ("large_utf8", "large_binary"), ("string_view", "binary_view")):
        if hasattr(pa, text):
            yield text.replace("_", "-"), pa.array(words, getattr(pa, text)())
            yield binary.replace("_", "-"), pa.array(data, getattr(pa, binary)())
    yield "fixed-size-binary", pa.array([b"abc", None, b"\0\0\0", b"\xff\xff\xff"], pa.binary(3))


def _lists() -> Iterator[tuple[str, pa.Array]]:
    rows = [[1, None, 3], [], None, [4]]
    for maker in ("list_", "large_list", "list_view", "large_list_view"):
        if hasattr(pa, maker):
            name = maker.rstrip("_").replace("_", "-")
            yield name, pa.array(rows, getattr(pa, maker)(pa.int16()))
            yield f"{name}-of-text", pa.array([["a", ""], None, [None]], getattr(pa, maker)(pa.utf8()))
    yield "fixed-size-list", pa.array([[1, 2], None, [3, None]], pa.list_(pa.int32(), 2))
    yield "fixed-size-list-empty", pa.array([[], None, []], pa.list_(pa.int32(), 0))
    if hasattr(pa, "ListViewArray"):
        offsets, sizes = pa.array([2, 0, 1, 0], pa.int32()), pa.array([1, 3, 2, 0], pa.int32())
        apart = pa.ListViewArray.from_arrays(offsets, sizes, pa.array([1, 2, 3], pa.int64()))
        yield "list-view-overlapping", apart


def _structs() -> Iterator[tuple[str, pa.Array]]:
    pairs = pa.struct([("a", pa.int32()), ("b", pa.utf8())])
    yield "struct", pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": None}], pairs)
    yield "struct-empty", pa.array([{}, None, {}], pa.struct([]))
    entries = [[("a", 1), ("b", None)], [], None]
    yield "map", pa.array(entries, pa.map_(pa.utf8(), pa.int32()))
    yield "map-sorted", pa.array(entries, pa.map_(pa.utf8(), pa.int32(), keys_sorted=True))


def _unions() -> Iterator[tuple[str, pa.Array]]:
    codes = pa.array([0, 1, 0, 1], pa.int8())
    numbers, words = pa.array([1, 2, None, 4], pa.int32()), pa.array(["a", "b", "c", None], pa.utf8())
    yield "union-sparse", pa.UnionArray.from_sparse(codes, [numbers, words], ["n", "w"])
    places = pa.array([0, 0, 1, 1], pa.int32())
    few = [pa.array([1, None], pa.int32()), pa.array(["b", "d"], pa.utf8())]
    yield "union-dense", pa.UnionArray.from_dense(codes, places, few, ["n", "w"])
    apart = pa.array([5, 127, 5, 127], pa.int8())
    yield "union-sparse-ids", pa.UnionArray.from_sparse(apart, [numbers, words], ["n", "w"], [5, 127])
    yield "union-dense-ids", pa.UnionArray.from_dense(apart, places, few, ["n", "w"], [5, 127])


def _runs() -> Iterator[tuple[str, pa.Array]]:
    for bits in (16, 32, 64):
        words = pa.array(["a", None, "b"], pa.utf8())
        yield f"run-end-encoded-{bits}", runs([2, 3, 7], words, getattr(pa, f"int{bits}")())


def columns() -> dict[str, pa.Array]:
    """One array per type by the name of its sample; types that this pyarrow does not know are left out."""
    made = {"null": pa.nulls(3), "bool": pa.array([True, False, None, True], pa.bool_())}
    for some in (_integers, _floats, _decimals, _times, _texts, _lists, _structs, _unions, _runs):
        made |= dict(some())
    return made


for _name, _array in columns().items():
    sample(f"types.{_name}", f"A column of {_array.type}.", {"x": _array})
