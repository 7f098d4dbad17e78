"""Writers of Avro with one deviation, for mutants and legal variations of sessions in AVRO; they need fastavro."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import fastavro

from conformance.protocols.storage_read.reference.avro import AvroWriter
from conformance.records import Column, Mode

__all__ = ["BoundedWriter", "Cell", "Edit", "EditedWriter", "FieldWriter", "fields_of", "types_in"]

Edit: TypeAlias = Callable[[dict[str, Any], Sequence[Column]], None]
"""Changes the schema of these columns in place."""
Cell: TypeAlias = Callable[[Column, Any, bytes], bytes]
"""The bytes of one value of a column, from the value and its right bytes."""


class EditedWriter(AvroWriter):
    """A writer whose schema is another one, by which it writes its rows too."""

    def __init__(self, columns: Sequence[Column], *, display_names: bool, edit: Edit) -> None:
        self._edit = edit
        super().__init__(columns, display_names=display_names)

    def declare(self, tree: dict[str, Any]) -> dict[str, Any]:
        """The schema after the edit."""
        own: dict[str, Any] = copy.deepcopy(tree)  # the types in it are those of every schema
        self._edit(own, self._columns)
        return own


class BoundedWriter(EditedWriter):
    """A writer for which the bounds of a RANGE cannot be null: an unbounded end is the first day."""

    def write_row(self, sink: io.BytesIO, datum: Mapping[str, Any]) -> None:
        """Write one row, whose ranges are bounded."""
        super().write_row(sink, _bounded(datum))


def _bounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_bounded(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if set(value) == {"start", "end"}:
        first = "0001-01-01T00:00:00" if any(isinstance(bound, str) for bound in value.values()) else 0
        return {name: first if bound is None else bound for name, bound in value.items()}
    return {name: _bounded(below) for name, below in value.items()}


class FieldWriter(AvroWriter):
    """A writer with the right schema and other bytes for values of some columns."""

    def __init__(self, columns: Sequence[Column], *, display_names: bool, cell: Cell) -> None:
        super().__init__(columns, display_names=display_names)
        self._cell = cell
        named = {f"{made['namespace']}.{made['name']}": made for made in types_in(self.tree) if "namespace" in made}
        self._fields = [
            (field["name"], fastavro.parse_schema(_spelled_out(field["type"], named, set())))
            for field in self.tree["fields"]
        ]

    def write_row(self, sink: io.BytesIO, datum: Mapping[str, Any]) -> None:
        """Write one row, one value of a column after another."""
        for column, (name, kind) in zip(self._columns, self._fields, strict=True):
            right = io.BytesIO()
            fastavro.schemaless_writer(right, kind, datum[name])
            sink.write(self._cell(column, datum[name], right.getvalue()))


def _spelled_out(made: Any, named: Mapping[str, Any], known: set[str]) -> Any:
    """The type with each named type spelled out where it comes first; ``known`` are those that have come."""
    if isinstance(made, str):
        if made not in named or made in known:
            return made
        return _spelled_out(named[made], named, known)
    if isinstance(made, list):
        return [_spelled_out(branch, named, known) for branch in made]
    if "namespace" in made:
        known.add(f"{made['namespace']}.{made['name']}")
    below = {key: made[key] for key in ("type", "items", "fields") if key in made}
    return {**made, **{key: _spelled_out(each, named, known) for key, each in below.items()}}


def fields_of(tree: Any, columns: Sequence[Column]) -> Iterator[tuple[dict[str, Any], Column]]:
    """Yield each field of a schema with its column, at every depth."""
    for field, column in zip(tree["fields"], columns, strict=True):
        yield field, column
        if column.fields:
            yield from fields_of(_element(field["type"], column), column.fields)


def types_in(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield each type that is declared as an object: records, arrays, logical types."""
    if isinstance(tree, list):
        for branch in tree:
            yield from types_in(branch)
    elif isinstance(tree, dict):
        yield tree
        for below in (tree.get("items"), *(field["type"] for field in tree.get("fields", ()))):
            yield from types_in(below)


def _element(made: Any, column: Column) -> Any:
    if column.mode is Mode.REPEATED:
        return made["items"]
    return made[1] if column.mode is Mode.NULLABLE else made
