"""Every Arrow type where another belongs: at the top, inside a RECORD, an array, an array of RECORDs, as a bound.

The values are the samples of every type, legal in themselves, so that the type alone is wrong. Names, metadata and
nullability stay as they were, and so does the number of rows: a clause that looks at a value finds one of another kind.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import pyarrow as pa

from conformance.contract.mapping import ITEM, arrow_field
from conformance.generate.outline import ROW_ID
from conformance.records import BqType, Case, Column, Mode, Recipe, Table
from conformance.reference.ipc.samples.types import columns

__all__ = ["Substitution", "substitutions"]

Put: TypeAlias = Callable[[pa.Array], pa.Array]

NAME: Final = "x"
_FIELDS: Final = (Column("a", BqType.INT64), Column("b", BqType.STRING))
_BOUNDS: Final = (BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP)


@dataclasses.dataclass(frozen=True, slots=True)
class Substitution:
    """One type in the place of another: ``path`` says where, ``change`` which.

    ``case`` has one column next to ``row_id``, and one row for each of ``values``; ``put`` makes the column's array
    from them. The right ``row_id`` identifies each row, so the clauses compare the wrong values.
    """

    path: str
    change: str
    case: Case
    values: pa.Array
    put: Put

    def batch(self) -> pa.RecordBatch:
        """The rows of the case, with the values of the other type."""
        array, (row_id, column) = self.put(self.values), map(arrow_field, self.case.table.columns)
        schema = pa.schema([row_id, column.with_type(array.type)])
        return pa.RecordBatch.from_arrays([pa.array(range(len(array)), row_id.type), array], schema=schema)


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    """A place inside the table's ``column`` whose type is replaced; the right type there is ``arrow``."""

    path: str
    column: Column
    arrow: pa.DataType
    put: Put

    def case(self, rows: int) -> Case:
        columns = (Column(ROW_ID, BqType.INT64, Mode.REQUIRED), self.column)
        return Case(f"proof.types.{self.path}.{rows}", "another type", Table(columns, recipe=Recipe(rows)))


def substitutions() -> Iterator[Substitution]:
    """Every sample of every type in every place where its type does not belong."""
    for place in _places():
        cases = functools.cache(place.case)
        for name, values in _samples().items():
            if not _belongs(values.type, place.arrow):
                yield Substitution(place.path, name, cases(len(values)), values, place.put)


def _samples() -> Mapping[str, pa.Array]:
    encoded = pa.array(["a", None, "b", "a"]).dictionary_encode()
    return MappingProxyType({**columns(), "dictionary": encoded})


def _belongs(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether the type is the right one; which fields a RECORD has is a question of columns, and not of types."""
    is_record = pa.types.is_struct(wanted) and wanted.get_field_index("start") < 0
    return bool(found == wanted) or (is_record and pa.types.is_struct(found))


def _places() -> Iterator[_Place]:
    for kind in BqType:
        column = _column(kind)
        field, items = arrow_field(column), dataclasses.replace(column, mode=Mode.REPEATED)
        record = functools.partial(_in_record, field=field)
        yield _Place(f"{kind}", column, field.type, _alone)
        yield _Place(f"RECORD.{kind}", _record(column), field.type, record)
        yield _Place(f"ARRAY.{kind}", items, field.type, _in_array)
        records = _record(column, Mode.REPEATED)
        yield _Place(f"ARRAY.RECORD.{kind}", records, field.type, functools.partial(_in_array_of, record))
    for kind in (BqType.INT64, BqType.RECORD):
        items = dataclasses.replace(_column(kind), mode=Mode.REPEATED)
        yield _Place(f"ARRAY<{kind}>", items, arrow_field(items).type, _alone)
    for bound in _BOUNDS:
        column = Column(NAME, BqType.RANGE, range_of=bound)
        start = arrow_field(column).type.field("start")
        yield _Place(f"RANGE<{bound}>.start", column, start.type, functools.partial(_as_start, field=start))


def _column(kind: BqType) -> Column:
    fields = _FIELDS if kind is BqType.RECORD else ()
    return Column(NAME, kind, fields=fields, range_of=BqType.DATE if kind is BqType.RANGE else None)


def _record(column: Column, mode: Mode = Mode.NULLABLE) -> Column:
    return Column("r", BqType.RECORD, mode, (column,))


# --- around the values ------------------------------------------------------------------------------


def _alone(values: pa.Array) -> pa.Array:
    return values


def _in_record(values: pa.Array, field: pa.Field) -> pa.Array:
    return pa.StructArray.from_arrays([values], fields=[field.with_type(values.type)])


def _in_array(values: pa.Array) -> pa.Array:
    """Lists of one item each."""
    offsets = pa.array(range(len(values) + 1), pa.int32())
    return pa.ListArray.from_arrays(offsets, values, type=pa.list_(pa.field(ITEM, values.type)))


def _in_array_of(record: Put, values: pa.Array) -> pa.Array:
    return _in_array(record(values))


def _as_start(values: pa.Array, field: pa.Field) -> pa.Array:
    """A range whose start has another type, and whose end does not exist."""
    ends = pa.nulls(len(values), field.type)
    return pa.StructArray.from_arrays([values, ends], fields=[field.with_type(values.type), field.with_name("end")])
