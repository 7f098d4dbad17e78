"""Rebuilding batches: the change reaches every depth, and nothing else is changed."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as is_

from conformance.reference.reshaping import change_fields, sql_type, take_rows

JSON = {"ARROW:extension:name": "google:sqlType:json"}
RECORD = pa.struct([("n", pa.int64()), ("l", pa.list_(pa.int64()))])
NESTED = pa.record_batch(
    [
        pa.array([{"n": 1, "l": [2, 3]}, None, {"n": None, "l": []}], RECORD),
        pa.array(["{}", None, "[]"]),
    ],
    schema=pa.schema(
        [
            pa.field("record", RECORD),
            pa.field("json", pa.utf8(), metadata=JSON),
        ]
    ),
)


def test_no_change_leaves_the_rows_as_they_are() -> None:
    """A change that changes nothing gives the same rows and types."""
    same = change_fields(NESTED, lambda field, array: (field, array))

    assert same.equals(NESTED)
    assert same.schema.equals(NESTED.schema, check_metadata=True)


def test_a_change_reaches_every_depth() -> None:
    """Fields of records and items of lists are changed as columns are."""

    def widen(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        return (field.with_type(pa.float64()), array.cast(pa.float64())) if is_.is_int64(field.type) else (field, array)

    changed = change_fields(NESTED, widen)

    record = changed.schema.field("record").type
    assert record.field("n").type == pa.float64()
    assert record.field("l").type.value_type == pa.float64()
    assert changed.column(0).to_pylist() == NESTED.column(0).to_pylist()


def test_the_sql_type_is_read_from_the_metadata() -> None:
    """The mark of a column is its type's name, and nothing where there is no mark."""
    assert [sql_type(field) for field in NESTED.schema] == ["", "json"]


def test_rows_are_taken_in_the_order_asked_for() -> None:
    """Rows can be repeated, reordered and left out, nested ones too."""
    taken = take_rows(NESTED, [2, 0, 0])

    rows = NESTED.to_pylist()
    assert taken.to_pylist() == [rows[2], rows[0], rows[0]]
    assert take_rows(NESTED, []).num_rows == 0
