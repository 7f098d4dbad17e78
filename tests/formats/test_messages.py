"""Where messages have their schema and rows."""

from __future__ import annotations

import pytest

from conformance.contract import proto
from conformance.formats.messages import (
    ARROW,
    AVRO,
    FORMATS,
    DataFormat,
    format_of_rows,
    format_of_schema,
)


@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
def test_the_number_is_that_of_the_enum(form: DataFormat) -> None:
    """A request asks for a form by the number that belongs to its name."""
    assert proto.DATA_FORMAT[form.name] == form.number


def test_arrow_and_avro_are_found_where_the_proto_has_them() -> None:
    """Schema and rows of a message are those of its own form, and None of the other."""
    arrow, avro, empty = proto.ReadRowsResponse(), proto.ReadRowsResponse(), proto.ReadRowsResponse()
    arrow.arrow_schema.serialized_schema, arrow.arrow_record_batch.serialized_record_batch = b"schema", b"batch"
    avro.avro_schema.schema, avro.avro_rows.serialized_binary_rows = "{}", b"rows"

    assert (format_of_schema(arrow), format_of_rows(arrow)) == (ARROW, ARROW)
    assert (ARROW.schema_in(arrow), ARROW.rows_in(arrow)) == (b"schema", b"batch")
    assert (format_of_schema(avro), format_of_rows(avro)) == (AVRO, AVRO)
    assert (AVRO.schema_in(avro), AVRO.rows_in(avro)) == (b"{}", b"rows")
    assert (ARROW.schema_in(avro), AVRO.rows_in(arrow)) == (None, None)
    assert (format_of_schema(empty), format_of_rows(empty)) == (None, None)


@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
def test_what_is_put_into_a_message_is_found_there(form: DataFormat) -> None:
    """Schema, rows and the deprecated count of them, whether the field is a text or bytes."""
    message = proto.ReadRowsResponse()
    form.put_schema(message, b"{}")
    form.put_rows(message, b"rows", deprecated_count=3)

    again = proto.ReadRowsResponse.FromString(message.SerializeToString())

    assert (form.schema_in(again), form.rows_in(again)) == (b"{}", b"rows")
    assert getattr(again, form.rows_field).row_count == 3


def test_bytes_that_are_no_message_have_neither() -> None:
    """A message that could not be decoded is None to a view."""
    assert (format_of_schema(None), format_of_rows(None), ARROW.schema_in(None), AVRO.rows_in(None)) == (None,) * 4
