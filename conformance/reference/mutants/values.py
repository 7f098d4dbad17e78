"""Mutants of values under the right types: they decode without an error and are wrong."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from conformance.reference.mutants.reasons import IN_CHILDREN, IN_EVERY_SESSION
from conformance.reference.register import decorator, fields_mutant, in_fields, rows_mutant
from conformance.reference.reshaping import Change, sql_type, take_rows

_RECIDIVIZ_45 = "https://github.com/Recidiviz/bigquery-emulator/pull/45"
_LONGEST = 100
"""Values of a list that a server of few keeps."""
_GOCCY_399 = "https://github.com/goccy/bigquery-emulator/issues/399"
_GOCCY_496 = "https://github.com/goccy/bigquery-emulator/pull/496"
_GOCCY_HANDLER = (
    "https://github.com/goccy/bigquery-emulator/blob/cb8555bee739c794343337e8c3242b59d5d7470a/server/storage_handler.go"
)

_LOST_IN_BATCHES = {
    **IN_EVERY_SESSION,
    **IN_CHILDREN,
    "rows.row-count-is-true": "the count was taken before the batch was written",
    "values.serialized-rows": "a serializer loses or repeats them too",
}

_OF_ANOTHER = {"values.follow-names": "wrong as they are, the values are those of another column of some table"}

Test = Callable[[pa.Field], bool]


def _of(is_kind: Callable[[pa.DataType], bool]) -> Test:
    return lambda field: bool(is_kind(field.type))


def _text_named(name: str) -> Test:
    return lambda field: bool(is_.is_string(field.type)) and sql_type(field) == name


def _is_datetime(field: pa.Field) -> bool:
    return bool(is_.is_timestamp(field.type)) and field.type.tz is None


def _is_timestamp(field: pa.Field) -> bool:
    return bool(is_.is_timestamp(field.type)) and field.type.tz is not None


def _words(test: Test, change: Callable[[Any], Any], *, dtype: str = "<i8") -> Change:
    """The data words (as numpy ``dtype``) of the fields that pass ``test`` changed in a copy."""

    def apply(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not test(field) or not len(array):
            return field, array
        buffers = array.buffers()
        width = np.dtype(dtype).itemsize
        words = np.frombuffer(buffers[1], dtype, buffers[1].size // width).copy()
        with np.errstate(over="ignore", invalid="ignore"):
            data = pa.py_buffer(np.ascontiguousarray(change(words)).astype(dtype))
        return field, pa.Array.from_buffers(array.type, len(array), [buffers[0], data], offset=array.offset)

    return apply


def _texts(test: Test, change: Callable[[Any], Any]) -> Change:
    """Return the change that applies ``change`` to each value of the fields that pass ``test``."""

    def apply(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        if not test(field):
            return field, array
        return field, pa.array([None if item is None else change(item) for item in array.to_pylist()], array.type)

    return apply


def _through_float(words: Any) -> Any:
    through = words.astype("<f8")
    return np.where(np.abs(through) < 2.0**63, through, 0).astype("<i8")


def _nudged(words: Any) -> Any:
    words[::2] ^= 1
    return words


def _cut(words: Any) -> Any:
    words[::4] = 0
    return words


def _later(words: Any) -> Any:
    words[1::4] = np.abs(words[1::4]) + 1
    return words


# Mutants that change words or texts one by one: the clause that each breaks, the text, and the change.
# fmt: off
fields_mutant("value.int64-off-by-one", kills="values.int64", also=_OF_ANOTHER, fault="Every INT64 is one too large.")(
    _words(_of(is_.is_int64), lambda words: words + 1))
fields_mutant("value.int64-through-float", kills="values.int64", defects=("I-94",),
           fault="INT64 has gone through a double and lost its low bits beyond 2**53.")(
    _words(_of(is_.is_int64), _through_float))
fields_mutant("value.float64-nan-as-zero", kills="values.float64", fault="NaN and the infinities arrive as 0.")(
    _words(_of(is_.is_float64), lambda words: np.where(np.isfinite(words), words, 0.0), dtype="<f8"))
fields_mutant("value.float64-negative-zero", kills="values.float64", fault="Negative zero arrives as zero.")(
    _words(_of(is_.is_float64), lambda words: words + 0.0, dtype="<f8"))
fields_mutant("value.float64-single-precision", kills="values.float64",
              fault="FLOAT64 has gone through single precision.")(
    _words(_of(is_.is_float64), lambda words: words.astype("<f4").astype("<f8"), dtype="<f8"))
fields_mutant("value.bool-inverted", kills="values.bool", also=_OF_ANOTHER,
           fault="TRUE arrives as FALSE and FALSE as TRUE.")(
    _words(_of(is_.is_boolean), np.invert, dtype="u1"))
fields_mutant("value.string-latin1", kills="values.string",
           fault="Text beyond ASCII arrives as its UTF-8 bytes read in Latin-1.")(
    _texts(_text_named(""), lambda text: text.encode().decode("latin-1")))
fields_mutant("value.string-trimmed", kills="values.string", also=_OF_ANOTHER, fault="Text loses its last character.")(
    _texts(_text_named(""), lambda text: text[:-1]))
fields_mutant("value.bytes-as-base64", kills="values.bytes", fault="BYTES holds the base64 text of the value.",
           defects=("B-69",), source=_RECIDIVIZ_45)(
    _texts(_of(is_.is_binary), base64.b64encode))
fields_mutant("value.date-off-by-one", kills="values.date", defects=("B-71",),
           fault="Dates before 1582-10-15 arrive two days later, as if the calendar were Julian there.")(
    _words(_of(is_.is_date32), lambda words: np.where(words < -141_427, words + 2, words), dtype="<i4"))
fields_mutant("value.datetime-local", kills="values.datetime",
              fault="DATETIME is shifted by the hour of some local zone.")(
    _words(_is_datetime, lambda words: words - 3_600_000_000))
fields_mutant("value.timestamp-milliseconds", kills="values.timestamp", defects=("B-97",),
           fault="TIMESTAMP is cut to whole milliseconds.")(
    _words(_is_timestamp, lambda words: words // 1000 * 1000))
fields_mutant("value.time-from-year-zero", kills="values.time",
           also={"body.times-within-day": "a time from another epoch is none of any day"},
           fault="TIME counts its microseconds from the epoch of year 0 instead of midnight.",
           defects=("B-62",), source=_RECIDIVIZ_45)(
    _words(_of(is_.is_time64), lambda words: words - 62_167_219_200_000_000))
fields_mutant("value.time-off-by-one", kills="values.time", fault="TIME is cut to whole seconds.")(
    _words(_of(is_.is_time64), lambda words: words // 1_000_000 * 1_000_000))
fields_mutant("value.numeric-wrong-scale", kills="values.numeric",
           also={"body.decimals-within-precision": "a number of another scale may have too many digits"},
           fault="NUMERIC's low 64 bits are one unit off.")(_words(_of(is_.is_decimal128), _nudged))
fields_mutant("value.bignumeric-truncated", kills="values.bignumeric",
           also={"body.decimals-within-precision": "what is left of a number may have too many digits for its type"},
           fault="BIGNUMERIC's low 64 bits are lost.")(_words(_of(is_.is_decimal256), _cut))
fields_mutant("value.json-null-as-sql-null", kills="values.json", fault="The JSON text null arrives as SQL NULL.")(
    _texts(_text_named("json"), lambda text: None if text == "null" else text))
fields_mutant("value.json-quoted", kills="values.json",
           fault="JSON is encoded twice: the text arrives as a JSON string.")(
    _texts(_text_named("json"), lambda text: '"' + text.replace('"', '\\"') + '"'))
fields_mutant("value.geography-swapped", kills="values.geography",
           fault="Every GEOGRAPHY arrives as the point at the origin.")(
    _texts(_text_named("geography"), lambda _text: "POINT(0 0)"))
fields_mutant("value.interval-sign", kills="values.interval",
           fault="The days of an INTERVAL lose their sign, and a day is added.")(
    _words(_of(is_.is_interval), _later, dtype="<i4"))
# fmt: on


@fields_mutant("value.range-bounds-swapped", kills="values.range")
def range_swapped(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """The two bounds of a RANGE are exchanged."""
    if sql_type(field) != "range" or not is_.is_struct(field.type):
        return field, array
    fields = [field.type.field(index) for index in range(2)]
    mask = array.is_null() if array.null_count else None
    return field, pa.StructArray.from_arrays([array.field(1), array.field(0)], fields=fields, mask=mask)


@fields_mutant("value.null-as-default", kills="values.nulls")
def null_as_default(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """NULL in scalar columns arrives as the type's zero."""
    kind = array.type
    if not array.null_count or is_.is_struct(kind) or is_.is_list(kind) or is_.is_null(kind):
        return field, array
    buffers = array.buffers()
    return field, pa.Array.from_buffers(kind, len(array), [None, *buffers[1:]], null_count=0, offset=array.offset)


@fields_mutant("value.null-record-lost", kills="values.record")
def null_record_lost(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
    """A NULL RECORD arrives as a RECORD of its default values."""
    if not is_.is_struct(array.type) or not array.null_count or sql_type(field) == "range":
        return field, array
    children = [array.field(index) for index in range(array.type.num_fields)]
    return field, pa.StructArray.from_arrays(children, fields=list(array.type))


def _in_lists(reported: Callable[[pa.Array], pa.Array]) -> dict[str, Any]:
    def apply(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        return (field, reported(array)) if is_.is_list(array.type) and len(array) else (field, array)

    return in_fields(apply)


_lists_mutant = decorator(_in_lists)
"""Register a function from an array of lists to another of that type."""


@_lists_mutant(
    "value.list-empty-as-null",
    kills="values.repeated-not-null",
    also={"body.required-without-nulls": "a list is REPEATED and never NULL"},
    defects=("B-73",),
    source=_GOCCY_496,
)
def empty_list_as_null(array: pa.Array) -> pa.Array:
    """An empty array arrives as NULL."""
    empty = pa.compute.equal(pa.compute.list_value_length(array), 0)
    # A copy: offsets that are a slice of others cannot be given a mask.
    offsets = pa.array(array.offsets.to_numpy(), pa.int32())
    return pa.ListArray.from_arrays(offsets, array.values, type=array.type, mask=empty)


@_lists_mutant("value.list-boundaries", kills="values.repeated", defects=("B-72",), source=_GOCCY_399)
def list_boundaries_moved(array: pa.Array) -> pa.Array:
    """The first array holds the elements of all, and the others are empty."""
    offsets = array.offsets.to_pylist()
    spread = [offsets[0]] + [offsets[-1]] * (len(offsets) - 1)
    return pa.ListArray.from_arrays(pa.array(spread, pa.int32()), array.values, type=array.type)


@_lists_mutant("value.list-cut", kills="values.repeated")
def list_cut(array: pa.Array) -> pa.Array:
    """A list has its first 100 values alone."""
    if (pa.compute.max(pa.compute.list_value_length(array)).as_py() or 0) <= _LONGEST:
        return array
    return pa.array([None if item is None else item[:_LONGEST] for item in array.to_pylist()], array.type)


@_lists_mutant(
    "value.list-reversed", kills="values.repeated", also={"values.int64": "lists inside lists are told by their items"}
)
def list_reversed(array: pa.Array) -> pa.Array:
    """The elements of each array arrive in reverse order."""
    leaf = array.type.value_type
    if is_.is_decimal(leaf) or is_.is_struct(leaf):
        return array
    return pa.array([None if item is None else item[::-1] for item in array.to_pylist()], array.type)


@rows_mutant(
    "columns.values-swapped",
    kills="values.follow-names",
    also={
        "values.*": "where only some rows are exchanged, the values of each are wrong",
        "columns.rows-are-those-of-the-changed-table": "the same, asked of a table whose columns have changed",
        "history.*": "the ids of rows are exchanged with other numbers",
    },
    defects=("B-40",),
    source=_GOCCY_HANDLER,
)
def values_swapped(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Two columns of one type keep their names and exchange their values."""
    types = [field.type for field in batch.schema]
    for first, kind in enumerate(types):
        for second in range(first + 1, len(types)):
            nulls = batch.column(first).null_count + batch.column(second).null_count
            if types[second] == kind and nulls == 0:
                columns = list(batch.columns)
                columns[first], columns[second] = columns[second], columns[first]
                return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
    return batch


@rows_mutant(
    "rows.last-missing",
    kills="rows.none-is-missing",
    also=_LOST_IN_BATCHES,
    defects=("B-14",),
    source="https://github.com/googleapis/google-cloud-python/issues/14900",
)
def last_row_missing(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Every batch of more than one row lacks its last row."""
    return batch.slice(0, batch.num_rows - 1) if batch.num_rows > 1 else batch


@rows_mutant("rows.first-twice", kills="rows.none-is-repeated", also=_LOST_IN_BATCHES)
def first_row_twice(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Every batch brings its first row twice."""
    return take_rows(batch, [0, *range(batch.num_rows)]) if batch.num_rows else batch
