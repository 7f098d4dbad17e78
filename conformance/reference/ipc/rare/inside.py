"""Every kind of layout inside every kind of container: lists, structs, maps, unions, runs and dictionaries.

The text permits each: "``T`` is any type (primitive or nested)", "Any array can be dictionary-encoded", "Any array can
be run-end encoded".
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import pyarrow as pa

from conformance.reference.ipc.combined.layouts import LAYOUTS, Pattern
from conformance.reference.ipc.rare.register import PREFIX, Rare, RareBytes, register, written
from conformance.reference.ipc.variations.sources import COL
from conformance.wire import Kind

_Fill: TypeAlias = Callable[[Pattern], pa.Array]
"""Makes the array inside, from a pattern of numbers and nulls."""
_ROWS: Final = 9
INSIDE: Final = tuple(
    name
    for name in (
        "null", "bool", "int8", "int32", "uint64", "float16", "float64",
        "decimal32", "decimal64", "decimal128", "decimal256",
        "date32", "date64",
        "time32", "time64", "timestamp", "duration", "interval-year-month", "interval-day-time",
        "interval-month-day-nano", "fixed-size-binary", "utf8", "large-utf8", "utf8-view", "list", "large-list",
        "list-view", "fixed-size-list", "struct", "map", "union-sparse", "union-dense", "run-end-encoded", "dictionary",
    )
    if name in LAYOUTS
)  # fmt: skip
"""The layouts: one for each way to hold values."""


LEFT_OUT: Final = frozenset({("dictionary", "dictionary"), ("runs", "run-end-encoded")})
"""Dictionaries of dictionaries are among the layouts of combined vectors. Runs of runs do not go over the C data
interface, by which most libraries hand over their rows: Arrow C++ 26.0.1 refuses them there.
"""


def _pattern(count: int) -> Pattern:
    return [None if slot % 5 == 2 else slot for slot in range(count)]  # even and odd ones, for unions


def _list(fill: _Fill, kind: type[pa.Array], width: pa.DataType) -> pa.Array:
    """A null, an empty list, and lists of one and two items."""
    offsets = [0, 2, 2, 3, 5, 6, 6, 8, 9, 11]
    starts = [None if slot == 4 else start for slot, start in enumerate(offsets)]
    return kind.from_arrays(pa.array(starts, width), fill(_pattern(offsets[-1])))


def _list_view(fill: _Fill) -> pa.Array:
    """Lists that overlap, and lie in another order than their items."""
    starts, sizes = [4, 0, 1, 1, 0, 3, 6, 2, 5], [2, 2, 0, 3, 1, 1, 1, 2, 2]
    return pa.ListViewArray.from_arrays(pa.array(starts, pa.int32()), pa.array(sizes, pa.int32()), fill(_pattern(7)))


def _fixed(fill: _Fill) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(fill(_pattern(2 * _ROWS)), 2)


def _struct(fill: _Fill) -> pa.Array:
    return pa.StructArray.from_arrays([fill(_pattern(_ROWS)), pa.array(range(_ROWS), pa.int8())], ["x", "n"])


def _map(fill: _Fill) -> pa.Array:
    offsets = pa.array([0, 1, 1, 3, 4, 4, 5, 7, 8, 9], pa.int32())
    return pa.MapArray.from_arrays(offsets, pa.array([f"key {slot}" for slot in range(9)]), fill(_pattern(9)))


_CODES: Final = [slot % 2 for slot in range(_ROWS)]


def _sparse(fill: _Fill) -> pa.Array:
    children = [fill(_pattern(_ROWS)), pa.array(range(_ROWS), pa.int32())]
    return pa.UnionArray.from_sparse(pa.array(_CODES, pa.int8()), children, ["x", "n"])


def _dense(fill: _Fill) -> pa.Array:
    places = pa.array([slot // 2 for slot in range(_ROWS)], pa.int32())
    children = [fill(_pattern(_CODES.count(0))), pa.array(range(_CODES.count(1)), pa.int32())]
    return pa.UnionArray.from_dense(pa.array(_CODES, pa.int8()), places, children, ["x", "n"])


def _runs(fill: _Fill) -> pa.Array:
    ends = pa.array([2, 3, 6, 7, 9], pa.int32())
    values = fill(_pattern(len(ends)))
    kind = pa.run_end_encoded(pa.int32(), values.type)
    # The method that takes arrays raises TypeError in pyarrow 14 for any runs.
    return pa.RunEndEncodedArray.from_buffers(kind, _ROWS, [None], 0, 0, [ends, values])


def _dictionary(fill: _Fill) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 4, 4, 1, 0, None, 2], pa.int16()), fill([*range(5)]))


CONTAINERS: Final[Mapping[str, tuple[Callable[[_Fill], pa.Array], str]]] = {
    "list": (lambda fill: _list(fill, pa.ListArray, pa.int32()), "variable-size-list-layout"),
    "large-list": (lambda fill: _list(fill, pa.LargeListArray, pa.int64()), "variable-size-list-layout"),
    "fixed-size-list": (_fixed, "fixed-size-list-layout"),
    "struct": (_struct, "struct-layout"),
    "map": (_map, "variable-size-list-layout"),
    "sparse-union": (_sparse, "union-layout"),
    "dense-union": (_dense, "union-layout"),
    "runs": (_runs, "run-end-encoded-layout"),
    "dictionary": (_dictionary, "dictionary-encoded-layout"),
    **({"list-view": (_list_view, "listview-layout")} if hasattr(pa, "ListViewArray") else {}),
}
"""The containers: the function that puts an array inside, and the section of the text that permits any."""


def _made(container: str, layout: str) -> RareBytes:
    """A stream of the column between numbers and text."""
    make, _ = CONTAINERS[container]
    array = make(lambda pattern: LAYOUTS[layout].make(pattern, 0, False))  # noqa: FBT003  # see Layout.make
    columns = [pa.array(range(_ROWS), pa.int32()), array, pa.array([f"row {row}" for row in range(_ROWS)])]
    return written([pa.RecordBatch.from_arrays(columns, names=["before", "x", "after"])])


def _register() -> None:
    for (container, (_, section)), layout in itertools.product(CONTAINERS.items(), INSIDE):
        if (container, layout) in LEFT_OUT:
            continue
        register(
            Rare(
                f"{PREFIX}.inside.{container}.{layout}",
                f"A stream of the layout {layout} inside the container {container}.",
                Kind.STREAM,
                f"{COL}#{section}",
                functools.partial(_made, container, layout),
            )
        )


_register()
