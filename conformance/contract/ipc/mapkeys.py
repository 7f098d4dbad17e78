"""Keys of maps that a schema calls sorted.

No text says which order that is. So keys count as sorted if they rise in any order that a writer may mean: by value,
and for texts and bytes also by length, by UTF-16 code units or without case. Values below a null are no data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from conformance.wire.types import join_path

__all__ = ["unsorted_maps"]

_ORDERS: Final[tuple[Callable[[Any], Any], ...]] = (
    lambda key: key,
    lambda key: key.encode("utf-16-be", "surrogatepass") if isinstance(key, str) else key,
    lambda key: key.casefold() if isinstance(key, str) else key,
    lambda key: key if isinstance(key, int) else (len(key), key),
)


def unsorted_maps(array: pa.Array, path: str) -> Iterator[tuple[str, Sequence[Any]]]:
    """The path and the keys of the first map of each column below ``array`` whose sorted keys are in no order.

    Keys of nested types and of dictionaries are passed over.
    """
    if _has_sorted(array.type):
        yield from _below(array, range(len(array)), path)


def _has_sorted(kind: pa.DataType) -> bool:
    """True if a map that is called sorted is in this type."""
    return (pa.types.is_map(kind) and kind.keys_sorted) or any(map(_has_sorted, _inner(kind)))


def _inner(kind: pa.DataType) -> Iterable[pa.DataType]:
    if pa.types.is_map(kind):
        return [kind.item_type]
    if pa.types.is_struct(kind):
        return [kind.field(number).type for number in range(kind.num_fields)]
    return [kind.value_type] if _is_list(kind) or pa.types.is_fixed_size_list(kind) else []


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _below(array: pa.Array, rows: Iterable[int], path: str) -> Iterator[tuple[str, Sequence[Any]]]:
    """What :func:`unsorted_maps` gives for these rows of ``array``; rows below a null are not among them."""
    kind, valid = array.type, array.is_valid().to_pylist()
    rows = [row for row in rows if valid[row]]
    if pa.types.is_map(kind):
        if kind.keys_sorted and _comparable(kind.key_type):
            yield from ((path, keys) for keys in _first_unsorted(array, rows))
        yield from _below(array.items, _places(array.offsets, rows), join_path(path, "value"))
    elif pa.types.is_struct(kind):
        for number in range(kind.num_fields):
            yield from _below(array.field(number), rows, join_path(path, kind.field(number).name))
    elif _is_list(kind):
        yield from _below(array.values, _places(array.offsets, rows), join_path(path, kind.value_field.name))
    elif pa.types.is_fixed_size_list(kind):
        size, first = kind.list_size, array.offset
        places = (at for row in rows for at in range((first + row) * size, (first + row + 1) * size))
        yield from _below(array.values, places, join_path(path, kind.value_field.name))


def _places(offsets: pa.Array, rows: Iterable[int]) -> Iterator[int]:
    """The places of the items of these rows among the items of all."""
    starts = offsets.to_pylist()
    return (at for row in rows for at in range(starts[row], starts[row + 1]))


def _comparable(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    return any(test(kind) for test in tests)


def _first_unsorted(array: pa.MapArray, rows: Iterable[int]) -> Iterator[Sequence[Any]]:
    """The keys of the first of these maps that is in no order; none if all are sorted."""
    starts, keys = array.offsets.to_pylist(), array.keys
    if len(keys) < 2 or pc.all(pc.less_equal(keys[:-1], keys[1:])).as_py():
        return
    for row in rows:
        try:
            found = keys[starts[row] : starts[row + 1]].to_pylist()
        except UnicodeDecodeError:  # a clause on texts reports it
            continue
        if not any(_in_order([order(key) for key in found]) for order in _ORDERS):
            yield found
            return


def _in_order(keys: Sequence[Any]) -> bool:
    """True if no key is below the one before it."""
    return all(one <= two for one, two in itertools.pairwise(keys))
