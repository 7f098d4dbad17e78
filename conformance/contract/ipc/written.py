"""The input of a writer compared with its output: schemas field by field, and rows as plain values.

No IPC reader takes part: :mod:`conformance.wire` decodes the output, and the input is compared as the given arrays.
Extension types count as their storage; their name is compared separately.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from conformance import wire
from conformance.contract.ipc.expecting import batches_of
from conformance.contract.ipc.ipcview import IpcView
from conformance.contract.ipc.selectors import AsData
from conformance.wire import DecodingError, Header, Message, PlainError, PlainTable

__all__ = [
    "EXTENSION_METADATA",
    "EXTENSION_NAME",
    "FieldPair",
    "Written",
    "batches_attached",
    "encoded_pairs",
    "file_attached",
    "kind_of",
    "read_back",
    "rows_written",
    "written",
]

EXTENSION_NAME: Final = b"ARROW:extension:name"
EXTENSION_METADATA: Final = b"ARROW:extension:metadata"


@dataclasses.dataclass(frozen=True, slots=True)
class FieldPair:
    """A field as it was given and as it was written; ``below`` is True if it is below a column."""

    path: str
    below: bool
    given: pa.Field
    found: pa.Field


class Written:
    """The input and the output of a writer; its call is 0, as in every finding on a stream or file."""

    call: int = 0
    response: int | None = None

    def __init__(self, view: IpcView, given: Sequence[pa.RecordBatch], found: pa.Schema) -> None:
        self.view = view
        self.given = given
        self.schema = given[0].schema
        self.found = found

    @functools.cached_property
    def pairs(self) -> tuple[FieldPair, ...]:
        """The given and written fields in equal places, down to the depth at which the layouts differ."""
        return tuple(_pairs(list(self.schema), list(self.found), "", below=False))

    @functools.cached_property
    def batches(self) -> tuple[Message, ...]:
        """The messages of the record batches that were written, in their order."""
        return tuple(one for one in self.view.messages if one.header is Header.RECORD_BATCH)

    @functools.cached_property
    def rows(self) -> tuple[PlainTable, PlainTable] | None:
        """The rows given and the rows written; None if the latter cannot be decoded."""
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
"""A stream or file whose writer's input is known, and whose schema can be read."""
rows_written: Final = AsData[Written](lambda view: [one for one in _written(view) if one.rows is not None])
"""Such a stream or file whose rows can be decoded as well."""
read_back: Final = AsData[Written](lambda view: rows_written(view) if view.read_back is not None else [])
"""Such a stream or file that the writer's own library was asked to read."""
encoded_pairs: Final = AsData[Written](
    lambda view: [one for one in _written(view) if any(pa.types.is_dictionary(pair.given.type) for pair in one.pairs)]
)
"""Such a stream or file for which a given column is dictionary-encoded."""
batches_attached: Final = AsData[Written](
    lambda view: [one for one in _written(view) if _asked(view, "batches") and one.batches]
)
"""Such a stream or file with batches, on each of which its writer was asked to put metadata."""
file_attached: Final = AsData[Written](lambda view: [one for one in _written(view) if _asked(view, "file")])
"""Such a file, on which its writer was asked to put metadata."""


def _asked(view: IpcView, place: str) -> bool:
    return view.attached is not None and view.attached.place == place


def _pairs(given: Sequence[pa.Field], found: Sequence[pa.Field], path: str, *, below: bool) -> Iterator[FieldPair]:
    if len(given) != len(found):
        return
    for one, other in zip(given, found, strict=True):
        place = f"{path}.{one.name}" if path else one.name
        yield FieldPair(place, below, one, other)
        if kind_of(one.type) == kind_of(other.type):
            yield from _pairs(children(one.type), children(other.type), place, below=True)


def storage(made: pa.DataType) -> pa.DataType:
    """Return the storage type of an extension type, and the value type of a dictionary type."""
    while True:
        if isinstance(made, pa.BaseExtensionType):
            made = made.storage_type
        elif pa.types.is_dictionary(made):
            made = made.value_type
        else:
            return made


def children(made: pa.DataType) -> list[pa.Field]:
    """Return the fields below a type: for a map its entries, for a run-end encoded type its run ends and values."""
    made = storage(made)
    if pa.types.is_map(made):
        return [pa.field("entries", pa.struct([made.key_field, made.item_field]), nullable=False)]
    if hasattr(pa.types, "is_run_end_encoded") and pa.types.is_run_end_encoded(made):
        return [pa.field("run_ends", made.run_end_type, nullable=False), pa.field("values", made.value_type)]
    return [made.field(number) for number in range(made.num_fields)]


def kind_of(made: pa.DataType) -> str:
    """Return the name of a type by itself, without its children and without its encoding."""
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
