"""Keys of maps that a schema calls sorted.

No text says which order that is. So keys count as sorted if they rise in any order that a writer may mean: by value,
and for texts also by UTF-16 code units or without case.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from conformance.wire.types import join_path

__all__ = ["unsorted_maps"]

_ORDERS: Final[tuple[Callable[[Any], Any], ...]] = (
    lambda key: key,
    lambda key: key.encode("utf-16-be", "surrogatepass") if isinstance(key, str) else key,
    lambda key: key.casefold() if isinstance(key, str) else key,
)


def unsorted_maps(array: pa.Array, path: str) -> Iterator[tuple[str, Sequence[Any]]]:
    """The path and the keys of the first map of each column below ``array`` whose sorted keys are in no order.

    Keys of nested types and of dictionaries are passed over.
    """
    kind = array.type
    if pa.types.is_map(kind):
        if kind.keys_sorted and _comparable(kind.key_type):
            yield from ((path, keys) for keys in _first_unsorted(array))
        yield from unsorted_maps(array.items, join_path(path, "value"))
    elif pa.types.is_struct(kind):
        for number in range(kind.num_fields):
            yield from unsorted_maps(array.field(number), join_path(path, kind.field(number).name))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from unsorted_maps(array.values, join_path(path, kind.value_field.name))


def _comparable(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    return any(test(kind) for test in tests)


def _first_unsorted(array: pa.MapArray) -> Iterator[Sequence[Any]]:
    """The keys of the first map that is not null and in no order; none if all are sorted."""
    starts, keys = array.offsets.to_pylist(), array.keys
    if len(keys) < 2 or pc.all(pc.less_equal(keys[:-1], keys[1:])).as_py():
        return
    there = array.is_valid().to_pylist()
    for row, (start, end) in enumerate(itertools.pairwise(starts)):
        try:
            found = keys[start:end].to_pylist() if there[row] and end - start > 1 else []
        except UnicodeDecodeError:  # a clause on texts reports it
            continue
        if not any(_in_order([order(key) for key in found]) for order in _ORDERS):
            yield found
            return


def _in_order(keys: Sequence[Any]) -> bool:
    """True if no key is below the one before it."""
    return all(one <= two for one, two in itertools.pairwise(keys))
