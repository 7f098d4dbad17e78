"""The table of a case: BigQuery columns with rows or a recipe, or Arrow fields with record batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from conformance._codec import Json, RecordError
from conformance.records.base import record
from conformance.records.closed import BqType, Mode, NullPattern, ValueProfile

__all__ = ["ROW_ID", "ArrowField", "ArrowTable", "Column", "KeyValue", "Recipe", "Table", "is_row_id", "types_in"]

ROW_ID: Final = "row_id"
"""The name of the row counter: a top-level REQUIRED INT64 column of this name counts the rows from 0, to identify
them.
"""


@record
class Column:
    """A column of a BigQuery table, or a field of a RECORD.

    ``precision`` and ``scale`` are those of ``NUMERIC(P, S)`` and ``BIGNUMERIC(P, S)``, None if the type has none.
    ``max_length`` is the L of ``STRING(L)`` and ``BYTES(L)``.
    ``fields`` are the fields of a RECORD, ``range_of`` (DATE, DATETIME or TIMESTAMP) the element type of a RANGE.
    """

    name: str
    type: BqType
    mode: Mode = Mode.NULLABLE
    fields: tuple[Column, ...] = ()
    precision: int | None = None
    scale: int | None = None
    max_length: int | None = None
    range_of: BqType | None = None

    def __post_init__(self) -> None:
        if bool(self.fields) != (self.type is BqType.RECORD):
            raise RecordError(f"column {self.name!r}", "sub-fields on a RECORD and only there", self.fields)
        if (self.range_of is not None) != (self.type is BqType.RANGE):
            raise RecordError(f"column {self.name!r}", "range_of on a RANGE and only there", self.range_of)


def types_in(columns: Iterable[Column]) -> frozenset[BqType]:
    """Every BigQuery type that occurs in the columns, at any depth."""
    found: set[BqType] = set()
    for column in columns:
        found |= {column.type} | types_in(column.fields)
        if column.range_of is not None:
            found.add(column.range_of)
    return frozenset(found)


def is_row_id(column: Column) -> bool:
    """True if a top-level column counts the rows."""
    return column.name == ROW_ID and column.type is BqType.INT64 and column.mode is Mode.REQUIRED


@record
class Recipe:
    """The description from which the rows of a table are made; equal recipes give equal values on every machine.

    ``rows`` is the row count; ``max_items`` bounds each REPEATED value; ``seed`` decides every random choice.
    ``cell_bytes``, if above 0, is the size of every STRING and BYTES value under the WIDE profile.
    """

    rows: int
    seed: int = 0
    nulls: NullPattern = NullPattern.SOME
    values: ValueProfile = ValueProfile.SMALL
    max_items: int = 3
    cell_bytes: int = 0


@record
class KeyValue:
    """An entry of the custom metadata of an Arrow field or schema."""

    key: str
    value: str


@record
class ArrowField:
    """An Arrow field in the Arrow project's integration form; here ``nullable`` and ``children`` may be left out.

    ``type`` is the form's object (``{"name": "int", "bitWidth": 64, "isSigned": true}``); ``dictionary`` is
    ``{"id", "indexType", "isOrdered"}``, and then ``type`` and ``children`` describe the dictionary's values.
    The form: https://arrow.apache.org/docs/format/Integration.html#json-test-data-format.
    """

    name: str
    type: Mapping[str, Json]
    nullable: bool = True
    children: tuple[ArrowField, ...] = ()
    dictionary: Mapping[str, Json] | None = None
    metadata: tuple[KeyValue, ...] = ()


@record
class ArrowTable:
    """A table of Arrow fields; batches and dictionaries are given buffer by buffer in the integration form.

    ``metadata`` is the schema's. A table without batches has no rows.
    """

    fields: tuple[ArrowField, ...]
    metadata: tuple[KeyValue, ...] = ()
    dictionaries: tuple[Json, ...] = ()
    batches: tuple[Json, ...] = ()


@record
class Table:
    """The table of a case: BigQuery columns with rows or a recipe, or an Arrow table without BigQuery columns.

    ``rows`` are JSON objects by column name.

    The JSON forms of values: INT64 is an integer; FLOAT64 is a number or ``"NaN"``, ``"Infinity"``, ``"-Infinity"``;
    BOOL is a boolean; STRING, GEOGRAPHY (WKT) and JSON (its text) are strings; BYTES is base64; NUMERIC and BIGNUMERIC
    are decimal strings; DATE is ``YYYY-MM-DD``; TIME is ``HH:MM:SS[.ffffff]``; DATETIME is ``DATETtime``; TIMESTAMP is
    the same with ``Z``; INTERVAL is ``{"months", "days", "micros"}``; RANGE is ``{"start", "end"}`` with null for
    unbounded; RECORD is an object. NULL is null or a missing key. A REPEATED value is a list and never null.
    """

    columns: tuple[Column, ...]
    rows: tuple[Json, ...] | None = None
    recipe: Recipe | None = None
    arrow: ArrowTable | None = None

    def __post_init__(self) -> None:
        if (self.rows is None) + (self.recipe is None) + (self.arrow is None) != 2:
            raise RecordError("table", "either rows, a recipe or an Arrow table", self.rows)
        if self.arrow is not None and self.columns:
            raise RecordError("table", "no columns beside an Arrow table", self.columns)
