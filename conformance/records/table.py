"""The table of a case: BigQuery columns with rows or a recipe, or Arrow fields with record batches."""

from __future__ import annotations

from collections.abc import Mapping

from conformance._codec import Json, RecordError
from conformance.records.base import record
from conformance.records.closed import BqType, Mode, NullPattern, ValueProfile

__all__ = ["ArrowField", "ArrowTable", "Column", "KeyValue", "Recipe", "Table"]


@record
class Column:
    """A column of a BigQuery table, or a field of a RECORD.

    ``precision`` and ``scale`` are those of ``NUMERIC(P, S)`` and ``BIGNUMERIC(P, S)``, absent where not declared.
    ``max_length`` is the L of ``STRING(L)`` and ``BYTES(L)``.
    ``fields`` belong to a RECORD, ``range_of`` (DATE, DATETIME or TIMESTAMP) to a RANGE.
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


@record
class Recipe:
    """How to make the rows of a table: the same recipe gives the same values on every machine.

    ``rows`` is the row count; ``max_items`` bounds each REPEATED value; ``seed`` decides every random choice.
    ``cell_bytes``, where above 0, is the size of every STRING and BYTES value under the WIDE profile.
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
    """An Arrow field in the integration form of the Arrow project, where nullable and childless fields need not say so.

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
    """A table of Arrow fields, with its record batches and dictionaries buffer by buffer in the integration form.

    ``metadata`` is the schema's. A table without batches has no rows.
    """

    fields: tuple[ArrowField, ...]
    metadata: tuple[KeyValue, ...] = ()
    dictionaries: tuple[Json, ...] = ()
    batches: tuple[Json, ...] = ()


@record
class Table:
    """The table of a case: BigQuery columns with rows or a recipe, or no columns and an Arrow table.

    ``rows`` are JSON objects by column name.

    The JSON form of a value: INT64 an integer; FLOAT64 a number or ``"NaN"``, ``"Infinity"``, ``"-Infinity"``;
    BOOL; STRING, GEOGRAPHY (WKT) and JSON (its text) strings; BYTES base64; NUMERIC and BIGNUMERIC decimal strings;
    DATE ``YYYY-MM-DD``; TIME ``HH:MM:SS[.ffffff]``; DATETIME ``DATETtime``; TIMESTAMP the same with ``Z``;
    INTERVAL ``{"months", "days", "micros"}``; RANGE ``{"start", "end"}`` with null for unbounded; RECORD an object.
    NULL is null (or an absent key); a REPEATED value is a list, and never null.
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
