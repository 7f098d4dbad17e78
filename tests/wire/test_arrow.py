"""The judge's own decoding: equal to what was written, and refused where buffers cannot be followed."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.wire import Rule, batch_to_arrow, read_batch, read_schema, schema_to_arrow
from conformance.wire.arrow import UndecodableError, UnsupportedHereError
from conformance.wire.plain import Plain, plain_values
from tests.wire.corpus import decodable, pair, same
from tests.wire.forge import batch_message, column, field, i4, schema_message, schema_of


@pytest.mark.parametrize("name", list(decodable()))
def test_batch_is_decoded_to_what_was_written(name: str) -> None:
    """Schema, length and values are those of the batch that the bytes were made from."""
    batch = decodable()[name]
    schema_bytes, data = pair(batch)
    schema = read_schema(schema_bytes).schema
    assert schema is not None

    decoded = batch_to_arrow(read_batch(data, schema))
    decoded.validate(full=True)

    assert decoded.schema.equals(batch.schema, check_metadata=True)
    assert decoded.num_rows == batch.num_rows
    assert same(decoded, batch)


def test_faults_of_values_do_not_prevent_decoding() -> None:
    """A wrong null count or a stray message is reported, and the values can still be compared."""
    data = batch_message(2, [(2, 0)], [b"\1", i4(7, 8)]) + b"stray"

    read = read_batch(data, column(pa.int32()))

    assert {fault.rule for fault in read.faults} == {Rule.BATCH_NULL_COUNT_MISMATCH, Rule.MESSAGE_TRAILING_BYTES}
    assert batch_to_arrow(read).to_pydict() == {"x": [7, None]}


def test_unsafe_buffers_are_not_decoded() -> None:
    """Offsets that lead out of the data are never handed to anybody."""
    read = read_batch(batch_message(1, [(1, 0)], [b"", i4(0, 9), b"abc"]), column(pa.utf8()))

    with pytest.raises(UndecodableError, match=r"offsets\.beyond-data: x offsets"):
        batch_to_arrow(read)


def test_dictionary_encoded_batches_need_their_dictionary() -> None:
    """The indices alone say nothing: a typed error, not a guess."""
    schema = schema_of(pa.field("x", pa.dictionary(pa.int32(), pa.utf8())))

    with pytest.raises(UnsupportedHereError, match="dictionary"):
        batch_to_arrow(read_batch(batch_message(1, [(1, 0)], [b"", i4(0)]), schema))


@pytest.mark.parametrize(
    ("unit", "body", "values"),
    [(0, i4(3, -1, 7), [{"months": 3}, {"months": -1}, None]), (1, i4(1, 2, -3, 4, 0, 0), [
        {"days": 1, "ms": 2}, {"days": -3, "ms": 4}, None
    ])],
)  # fmt: skip
def test_intervals_without_a_class_of_pyarrow_are_decoded(unit: int, body: bytes, values: list[Plain]) -> None:
    """Months and day-times are columns of an extension type of ours, nested too."""
    schema = read_schema(schema_message(field("x", "Struct_", [field("y", "Interval", unit=unit)]))).schema
    assert schema is not None

    decoded = batch_to_arrow(read_batch(batch_message(3, [(3, 0), (3, 1)], [b"", b"\3", body]), schema))

    decoded.validate(full=True)
    assert plain_values(decoded.column(0)) == [{"struct": [value]} for value in values]


@pytest.mark.parametrize(("entries", "keys", "whole"), [(3, 3, True), (1, 3, False), (3, 1, False), (7, 7, True)])
def test_maps_with_nulls_where_none_are_allowed(entries: int, keys: int, *, whole: bool) -> None:
    """Pyarrow ends the process over a null entry or key, so that none that can be seen ever gets there."""
    below = [field("k", "Int", bitWidth=32, is_signed=1), field("v", "Int", bitWidth=32, is_signed=1)]
    schema = read_schema(schema_message(field("x", "Map", [field("entries", "Struct_", below)]))).schema
    assert schema is not None
    buffers = [b"", i4(0, 2), bytes([entries]), bytes([keys]), i4(5, 6, 0), b"", i4(7, 8, 0)]
    message = batch_message(1, [(1, 0), *[(3, 3 - bits.bit_count()) for bits in (entries, keys)], (3, 0)], buffers)
    read = read_batch(message, schema)

    if whole:
        assert plain_values(batch_to_arrow(read).column(0)) == [{"map": [[5, 7], [6, 8]]}]
    else:
        with pytest.raises(UndecodableError, match="where a map has none"):
            batch_to_arrow(read)


def test_types_that_pyarrow_lacks_are_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Legal Arrow that this pyarrow cannot represent is distinguished from broken bytes."""
    monkeypatch.delattr(pa, "decimal256")
    read = read_schema(schema_message(field("x", "Decimal", precision=3, scale=1, bitWidth=256)))

    assert read.faults == []
    assert read.schema is not None
    with pytest.raises(UnsupportedHereError, match="decimal256"):
        schema_to_arrow(read.schema)


def test_rows_without_columns_keep_their_number() -> None:
    """A batch of no columns still has rows, however many it says."""
    read = read_batch(batch_message(1 << 40, [], []), schema_of())

    assert batch_to_arrow(read).num_rows == 1 << 40
