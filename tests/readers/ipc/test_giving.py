"""The forms in which a writer gets batches hold the same rows, in memory as no stream has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.types as is_
import pytest

from conformance.readers.ipc.giving import cut, encoded_type, given_as
from conformance.readers.ipc.implementation import Unsupported
from conformance.reference.ipc.combined.layouts import LAYOUTS
from conformance.reference.ipc.samples import SAMPLES
from conformance.wire.plain import plain_table

PATTERN = [0, 1, None, 3, 4, 5, None, 7, 8]
FORMS = ("sliced", "cut", "encoded")
BARE = ("interval-year-month", "interval-day-time")


def reader(*batches: pa.RecordBatch) -> pa.RecordBatchReader:
    """The batches as a writer's source has them."""
    return pa.RecordBatchReader.from_batches(batches[0].schema, batches)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in LAYOUTS if name not in BARE])
def test_rows_stay(name: str, form: str) -> None:
    """Every layout has the same rows in each form."""
    batch = pa.record_batch({"x": LAYOUTS[name].make(PATTERN, 0, False)})  # noqa: FBT003  # see Layout.make

    made = list(given_as(reader(batch), form))

    assert plain_table(made).columns == plain_table([batch]).columns


@pytest.mark.parametrize("name", ["utf8", "large-utf8", "binary", "large-binary", "list", "large-list", "map"])
def test_a_cut_slice_has_no_offset_and_begins_inside(name: str) -> None:
    """The slice without rows too: its only offset is the end of the data."""
    array = LAYOUTS[name].make(PATTERN, 0, False)  # noqa: FBT003  # see Layout.make

    for rows in (3, 0):
        made = cut(array.slice(6, rows))
        made.validate(full=True)

        width = np.int64 if name.startswith("large") else np.int32
        assert (made.offset, len(made)) == (0, rows)
        assert np.frombuffer(made.buffers()[1], width)[0] > 0


def test_an_array_without_offsets_is_left_as_it_is() -> None:
    """An array that never had rows may have no buffer of offsets."""
    empty = pa.Array.from_buffers(pa.large_utf8(), 0, [None, None, pa.py_buffer(b"")])

    assert cut(empty) is empty


def test_encoded_columns_are_dictionaries_of_what_they_were() -> None:
    """A dictionary too; fields keep their metadata, and so does the schema."""
    schema = pa.schema([pa.field("d", pa.dictionary(pa.int8(), pa.utf8()), metadata={"a": "b"})], metadata={"c": "d"})
    batch = pa.RecordBatch.from_arrays([pa.array(["x", "x", None], schema.field(0).type)], schema=schema)

    made = given_as(reader(batch), "encoded")

    assert made.schema.field(0).type == encoded_type(pa.dictionary(pa.int8(), pa.utf8()))
    assert is_.is_dictionary(made.schema.field(0).type.value_type)
    assert (made.schema.metadata, made.schema.field(0).metadata) == ({b"c": b"d"}, {b"a": b"b"})
    assert made.read_next_batch().schema.equals(made.schema, check_metadata=True)


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name not in BARE])
def test_nulls_are_as_many_rows_of_the_types(name: str) -> None:
    """The library makes them; its own validation is not asked."""
    batch = pa.record_batch({"x": LAYOUTS[name].make(PATTERN, 0, False)})  # noqa: FBT003  # see Layout.make

    [made] = given_as(reader(batch), "nulls")

    assert made.schema == batch.schema
    assert plain_table([made]).columns == ([None] * batch.num_rows,)


@pytest.mark.parametrize(
    "field",
    [
        pa.field("x", pa.int32(), nullable=False),
        pa.field("x", pa.struct([pa.field("y", pa.int32(), nullable=False)])),
        pa.field("x", pa.list_(pa.field("y", pa.int32(), nullable=False), 2)),
    ],
    ids=str,
)
def test_a_field_that_is_not_nullable_is_given_no_nulls(field: pa.Field) -> None:
    """Nor is one below a struct or a list of fixed size, whose nulls have rows in their children."""
    with pytest.raises(Unsupported, match="not nullable"):
        list(given_as(reader(pa.record_batch([pa.nulls(2, field.type)], schema=pa.schema([field]))), "nulls"))


def test_keys_of_maps_are_not_nullable_and_null_maps_have_none() -> None:
    """So that a map is given as nulls."""
    batch = pa.record_batch({"x": pa.array([[("a", 1)], None], pa.map_(pa.utf8(), pa.int8()))})

    [made] = given_as(reader(batch), "nulls")

    assert made.column(0).to_pylist() == [None, None]


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name not in BARE])
def test_what_is_built_from_python_has_the_same_rows(name: str) -> None:
    """Or the library says that it cannot: it makes no unions, and Python has no nanoseconds."""
    batch = pa.record_batch({"x": LAYOUTS[name].make(PATTERN, 0, False)})  # noqa: FBT003  # see Layout.make

    try:
        [made] = given_as(reader(batch), "built")
    except (Unsupported, pa.ArrowNotImplementedError):
        return

    assert plain_table([made]).columns == plain_table([batch]).columns


@pytest.mark.parametrize("around", [lambda kind: kind, pa.list_, lambda kind: pa.struct({"a": kind})], ids=[*"012"])
def test_times_in_nanoseconds_are_not_built(around: Callable[[pa.DataType], pa.DataType]) -> None:
    """A ``datetime.time`` holds microseconds: that the rest is lost is no fault of the library."""
    batch = pa.record_batch([pa.nulls(1, around(pa.time64("ns")))], names=["x"])

    with pytest.raises(Unsupported, match="nanoseconds"):
        list(given_as(reader(batch), "built"))


def test_rows_without_columns_stay() -> None:
    """A batch without columns keeps its number of rows."""
    batch = SAMPLES["rows.no-columns-three"].batches[0]

    assert [[each.num_rows for each in given_as(reader(batch), form)] for form in FORMS] == [[1, 2, 0], [1, 2, 0], [3]]
    assert [[each.num_rows for each in given_as(reader(batch), form)] for form in ("nulls", "built")] == [[3], [3]]


@pytest.mark.parametrize("form", ["cut", "encoded", "nulls", "built"])
def test_what_pyarrow_has_no_class_for_is_unsupported(form: str) -> None:
    """An interval of months cannot be taken apart in Python."""
    source = pa.ipc.open_stream(SAMPLES["types.interval-year-month"].stream().encode())

    with pytest.raises(Unsupported, match="no class for this interval"):
        given_as(source, form)
