"""What a writer was given beside what it wrote: schemas field by field, and rows as plain values.

Neither side is read by an IPC reader: what was written is decoded by :mod:`conformance.wire`, what was given is
compared as the arrays that it is. Extension types count as their storage, with their name beside it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from conformance import wire
from conformance.contract.ipc.expecting import batches_of
from conformance.contract.ipc.selectors import AsData
from conformance.contract.ipc.view import IpcView
from conformance.wire import DecodingError, PlainError, PlainTable

__all__ = ["EXTENSION_NAME", "FieldPair", "Written", "encoded_pairs", "kind_of", "rows_written", "written"]

EXTENSION_NAME: Final = b"ARROW:extension:name"


@dataclasses.dataclass(frozen=True, slots=True)
class FieldPair:
    """A field as it was given and as it was written; ``depth`` is 0 for a column."""

    path: str
    depth: int
    given: pa.Field
    found: pa.Field


class Written:
    """What was written beside what was given; of call 0, as every finding on a stream or file."""

    call: int = 0
    response: int | None = None

    def __init__(self, view: IpcView, given: Sequence[pa.RecordBatch], found: pa.Schema) -> None:
        self.view = view
        self.given = given
        self.schema = given[0].schema
        self.found = found

    @functools.cached_property
    def pairs(self) -> tuple[FieldPair, ...]:
        """The fields of both sides that belong together by their places, where their layouts agree down to them."""
        return tuple(_pairs(list(self.schema), list(self.found), ""))

    @functools.cached_property
    def rows(self) -> tuple[PlainTable, PlainTable] | None:
        """The rows given and the rows written; None where the latter cannot be decoded."""
        try:
            found = batches_of(self.view)
            given = wire.plain_table(self.given)
            if not found:
                return given, PlainTable(tuple(self.found.names), tuple([] for _ in self.found.names), 0)
            return given, wire.plain_table(found)
        except (DecodingError, PlainError):
            return None


def _written(view: IpcView) -> list[Written]:
    return view.once(Written, lambda: _made(view))


def _made(view: IpcView) -> list[Written]:
    schema = view.stream.schema if view.stream is not None else None
    if not view.expected or schema is None:
        return []
    try:
        return [Written(view, view.expected, wire.schema_to_arrow(schema))]
    except DecodingError:
        return []


written: Final = AsData[Written](_written)
"""A stream or file for which it is known what its writer was given, and whose schema can be read."""
rows_written: Final = AsData[Written](lambda view: [one for one in _written(view) if one.rows is not None])
"""The same, where the rows can be decoded as well."""
encoded_pairs: Final = AsData[Written](
    lambda view: [one for one in _written(view) if any(pa.types.is_dictionary(pair.given.type) for pair in one.pairs)]
)
"""The same, where a column that was given is dictionary-encoded."""


def _pairs(given: Sequence[pa.Field], found: Sequence[pa.Field], path: str, depth: int = 0) -> Iterator[FieldPair]:
    if len(given) != len(found):
        return
    for one, other in zip(given, found, strict=True):
        below = f"{path}.{one.name}" if path else one.name
        yield FieldPair(below, depth, one, other)
        if kind_of(one.type) == kind_of(other.type):
            yield from _pairs(children(one.type), children(other.type), below, depth + 1)


def storage(made: pa.DataType) -> pa.DataType:
    """The type under an extension type, and the values' under a dictionary type."""
    while True:
        if isinstance(made, pa.BaseExtensionType):
            made = made.storage_type
        elif pa.types.is_dictionary(made):
            made = made.value_type
        else:
            return made


def children(made: pa.DataType) -> list[pa.Field]:
    """The fields below a type; a map's are its entries, a run-end encoded type's its run ends and values."""
    made = storage(made)
    if pa.types.is_map(made):
        return [pa.field("entries", pa.struct([made.key_field, made.item_field]), nullable=False)]
    if hasattr(pa.types, "is_run_end_encoded") and pa.types.is_run_end_encoded(made):
        return [pa.field("run_ends", made.run_end_type, nullable=False), pa.field("values", made.value_type)]
    return [made.field(number) for number in range(made.num_fields)]


def kind_of(made: pa.DataType) -> str:
    """A type by itself, without what lies below it and without how it is encoded."""
    made = storage(made)
    if not made.num_fields:
        return str(made)
    parts = [str(made.id)]
    if pa.types.is_fixed_size_list(made):
        parts.append(str(made.list_size))
    if pa.types.is_map(made):
        parts.append("sorted" if made.keys_sorted else "unsorted")
    if pa.types.is_union(made):
        parts += [made.mode, str(made.type_codes)]
    return " ".join([*parts, f"of {made.num_fields}"])
