"""Dictionaries of a schema and of its batches: their number, their values, and the messages that define them.

A schema's dictionaries are numbered in pre-order of its fields; one whose values are themselves encoded (a list of
encoded text, for example) comes before those inside it. They are sent in the reverse order, since the outer points
into the inner.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.types as is_

from conformance.reference.body import walk
from conformance.reference.message import DraftMessage, dictionary_message

__all__ = ["WrittenDictionaries", "dictionary_count"]


def dictionary_count(schema: pa.Schema) -> int:
    """How many fields of the schema are dictionary-encoded, children included."""
    return sum(_count(field.type) for field in schema)


def _count(kind: pa.DataType) -> int:
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if is_.is_dictionary(kind):
        return 1 + _count(kind.value_type)
    return sum(_count(kind.field(index).type) for index in range(kind.num_fields))


def _dictionaries(array: pa.Array, numbers: Iterator[int]) -> Iterator[tuple[int, pa.Array]]:
    """Number and values of every dictionary of a column, inner ones first."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if is_.is_dictionary(array.type):
        number = next(numbers)
        yield from _dictionaries(array.dictionary, numbers)
        yield number, array.dictionary
        return
    for child in _children(array):
        yield from _dictionaries(child, numbers)


def _children(array: pa.Array) -> list[pa.Array]:
    kind = array.type
    if is_.is_map(kind):
        return [array.keys, array.items]
    if is_.is_run_end_encoded(kind):
        return [array.run_ends, array.values]
    if is_.is_struct(kind) or is_.is_union(kind):
        return [array.field(index) for index in range(kind.num_fields)]
    return [array.values] if kind.num_fields else []


class WrittenDictionaries:
    """The dictionaries that a stream has defined so far; :meth:`messages` gives those that it must define next.

    ``ids`` are in pre-order of the fields. Without ``replacements``, as in a file, a dictionary may only grow.
    """

    def __init__(self, ids: Sequence[int], *, deltas: bool = False, replacements: bool = True) -> None:
        self.ids = ids
        self.deltas = deltas
        self.replacements = replacements
        self.known: dict[int, pa.Array] = {}

    def messages(self, batch: pa.RecordBatch) -> list[DraftMessage]:
        """The dictionary batches that must precede ``batch``.

        Raises:
            ValueError: fields that share an id have different dictionaries, or a file would have to replace one.
        """
        numbers = itertools.count()
        met: dict[int, pa.Array] = {}
        made = []
        for column in batch.columns:
            for number, values in _dictionaries(column, numbers):
                key = self.ids[number]
                if key in met:
                    if not _same(met[key], values):
                        raise ValueError(f"dictionary {key}: expected one dictionary for all its fields, got two")
                    continue
                met[key] = values
                made += self._define(key, values)
        return made

    def _define(self, key: int, values: pa.Array) -> list[DraftMessage]:
        known = self.known.get(key)
        if known is not None and _same(known, values):
            return []
        self.known[key] = values
        if known is None:
            return [dictionary_message(key, values)]
        grown = len(values) > len(known) and not _count(values.type) and _same(known, values.slice(0, len(known)))
        if grown and self.deltas:
            return [dictionary_message(key, values.slice(len(known)), delta=True)]
        if not self.replacements:
            hint = "pass deltas=True" if grown else "write a stream, or one dictionary for all batches"
            raise ValueError(f"dictionary {key}: a file cannot replace a dictionary ({hint})")
        return [dictionary_message(key, values)]


def _same(one: pa.Array, other: pa.Array) -> bool:
    """Whether two dictionaries hold the same values; NaN equals a NaN of the same bits."""
    if one.type != other.type or len(one) != len(other):
        return False
    if _count(one.type):
        return bool(one.equals(other))
    return bool(one.equals(other)) or _laid_out(one) == _laid_out(other)


def _laid_out(array: pa.Array) -> object:
    return walk(pa.record_batch([array], names=["values"]))
