"""Values at the ends of what a type holds, time zones of each form, and unions of many children.

The text limits times of a day: "between 0 (inclusive) and 86400 (=24*60*60) seconds (exclusive)". Dates in milliseconds
are whole days. Timestamps, durations, dates and intervals are otherwise any integer of their width, so most libraries'
classes for them hold fewer.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.reference.ipc.rare.register import PREFIX, Rare, RareBytes, register, written
from conformance.reference.ipc.variations.sources import COL, FBS
from conformance.wire import Kind
from conformance.wire.intervals import DAY_TIME, YEAR_MONTH

UNITS: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY: Final = 86_400
_YEAR_10000: Final = 253_402_300_800
"""The first second behind the years that the classes of Python's datetime hold."""
_YEAR_0: Final = -62_135_596_801
"""The last second before them."""
_MOST: Final = {32: (1 << 31) - 1, 64: (1 << 63) - 1}
ZONES: Final = {
    "offset": "+02:00",
    "offset-west": "-03:30",
    "offset-zero": "+00:00",
    "name": "Europe/Berlin",
    "empty": "",
}
"""Time zones by a name: Schema.fbs permits names of the tz database and offsets of the form +XX:XX or -XX:XX."""


def _ends(bits: int, *others: int) -> list[int | None]:
    """The ends of an integer, those beside them, zero, a null, and others."""
    most = _MOST[bits]
    return [0, -most - 1, None, most, -most, most - 1, *others]


def _wide() -> list[int | None]:
    """Also the first numbers that a finer unit does not hold."""
    return _ends(64, *[sign * (_MOST[64] // factor + 1) for factor in (10**3, 10**6, 10**9) for sign in (1, -1)])


def _values() -> Iterator[tuple[str, pa.Array]]:
    days = _MOST[64] // (_DAY * 1000)
    years = (_YEAR_0 // _DAY, None, _YEAR_10000 // _DAY)
    yield "date32", _array(_ends(32), pa.date32())
    yield "date32-years", _array(years, pa.date32())
    yield "date64", _array([0, None, days * _DAY * 1000, -days * _DAY * 1000], pa.date64())
    yield "date64-years", _array([each and each * _DAY * 1000 for each in years], pa.date64())
    for unit, per_second in UNITS.items():
        bits = 32 if unit in ("s", "ms") else 64
        kind = pa.time32(unit) if bits == 32 else pa.time64(unit)
        yield f"time-{unit}", _array([0, None, _DAY * per_second - 1, 1], kind)
        yield f"timestamp-{unit}", _array(_wide(), pa.timestamp(unit))
        yield f"timestamp-{unit}-utc", _array(_wide(), pa.timestamp(unit, "UTC"))
        moments = [_YEAR_0 * per_second, None, _YEAR_10000 * per_second]
        if unit != "ns":  # 64 bits of nanoseconds hold the years 1678 to 2261
            yield f"timestamp-{unit}-years", _array(moments, pa.timestamp(unit))
        yield f"duration-{unit}", _array(_wide(), pa.duration(unit))
    yield "interval-year-month", pa.ExtensionArray.from_storage(YEAR_MONTH, pa.array(_ends(32), pa.int32()))
    lows, highs = (0, 0x7FFFFFFF, 0x80000000), (-(1 << 31), 1, 0x7FFFFFFF)
    both = [0, None, *(low + (high << 32) for low in lows for high in highs)]
    yield "interval-day-time", pa.ExtensionArray.from_storage(DAY_TIME, pa.array(both, pa.int64()))
    least, most = -(1 << 31), (1 << 31) - 1
    whole = [(least, least, -(1 << 63)), (most, most, _MOST[64]), None, (least, most, 0), (0, 0, -1)]
    yield "interval-month-day-nano", pa.array(whole, pa.month_day_nano_interval())


def _array(values: Sequence[int | None], kind: pa.DataType) -> pa.Array:
    """Integers as values of a type of their width, without a conversion that could refuse them."""
    return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)


def _one(array: pa.Array) -> RareBytes:
    """A stream of the column between two others, so that a reader which takes a wrong width is seen there too."""
    count = len(array)
    columns = [pa.array(range(count), pa.int32()), array, pa.array([f"row {row}" for row in range(count)])]
    return written([pa.RecordBatch.from_arrays(columns, names=["before", "x", "after"])])


def _union(children: int, *, dense: bool) -> RareBytes:
    """A union of numbers: a slot for each child, whose value is the child's number."""
    numbers = [*range(children)]
    ids = pa.array(numbers, pa.int8())
    names = [f"child {number}" for number in numbers]
    if dense:
        values: list[Any] = [pa.array([number], pa.int32()) for number in numbers]
        return _one(pa.UnionArray.from_dense(ids, pa.array([0] * children, pa.int32()), values, names, numbers))
    return _one(pa.UnionArray.from_sparse(ids, [pa.array(numbers, pa.int32())] * children, names, numbers))


def _register() -> None:
    for name, array in _values():
        ends = "values beside the years 1 to 9999" if name.endswith("-years") else "the least and the greatest values"
        make, title = functools.partial(_one, array), f"A stream with {ends} of {name.removesuffix('-years')}."
        register(Rare(f"{PREFIX}.value.{name}", title, Kind.STREAM, f"{FBS}/Schema.fbs", make))
    for name, zone in ZONES.items():
        array = _array([0, 1_700_000_000_000_000, None, -1], pa.timestamp("us", zone))
        title = f"A stream of timestamps whose time zone is {zone!r}."
        source = f"{FBS}/Schema.fbs (Timestamp)"
        register(Rare(f"{PREFIX}.zone.{name}", title, Kind.STREAM, source, functools.partial(_one, array)))
    for dense in (False, True):
        for children in (127, 128):
            mode = "dense" if dense else "sparse"
            said = 'the text says that "a union with more than 127 possible types can be modeled as a union of unions"'
            register(
                Rare(
                    f"{PREFIX}.union.{mode}-{children}",
                    f"A stream of a {mode} union of {children} children.",
                    Kind.STREAM,
                    f"{COL}#union-layout",
                    functools.partial(_union, children, dense=dense),
                    open=said if children > 127 else "",  # the number of the text
                )
            )


_register()
