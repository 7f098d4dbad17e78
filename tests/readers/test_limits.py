"""A failure on legal bytes that a reader is known not to read is none of the server's."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.view import View
from conformance.contract.viewing import view_of
from conformance.readers import READERS
from conformance.readers.limits import excused
from conformance.records import CANNOT, Reading, ReadingOutcome
from conformance.reference.serializer import Serializer
from conformance.reference.variations import VARIATIONS
from tests.readers.recorded import case, serialized

DATAFRAME = "bqstorage.to-dataframe"
NESTED = pa.list_(pa.struct([("inner", pa.list_(pa.int64()))]))
CRASH, UNAVAILABLE = ReadingOutcome.CRASH, ReadingOutcome.UNAVAILABLE


def sent(
    values: list[list[object]], kind: pa.DataType = NESTED, *, encoder: str = "empty-offsets", codec: str = ""
) -> View:
    """A table of one list column, as a serializer with a legal variation sends it; without a name, as the reference."""
    table = pa.table({"lists": pa.array(values, kind)})
    serializer = VARIATIONS[encoder].serializer if encoder else Serializer()
    batch = pa.RecordBatch.from_struct_array(table.to_struct_array().combine_chunks())
    batches = [serializer.serialize_batch(batch, codec)]
    return view_of(case(), serialized(*batches, schema=serializer.serialize_schema(table.schema)), table)


def ended(view: View, outcome: ReadingOutcome = CRASH, *, reader: str = DATAFRAME) -> Reading:
    """A reading of the view with this end, as it is judged."""
    (found,) = excused([Reading(reader, "a.b", "serializer", outcome, error_text="signal 11")], view)
    return found


@pytest.mark.parametrize("values", [[], [[{"inner": []}, {"inner": [1]}]]])
def test_a_crash_is_excused_only_where_a_list_without_slots_has_no_offsets(values: list[list[object]]) -> None:
    """The reason names what was measured, and in which version."""
    limit = READERS[DATAFRAME].limits[0]

    found = ended(sent(values))

    expected = (CRASH, "", "signal 11") if values else (UNAVAILABLE, CANNOT, limit.measured)
    assert (found.outcome, found.error_class, found.error_text) == expected


@pytest.mark.parametrize("kind", [pa.string(), pa.list_(pa.int64()), NESTED])
def test_the_offsets_of_any_column_may_be_what_a_reader_cannot_take(kind: pa.DataType) -> None:
    """Readers of C data expect an offset where the format permits none."""
    view = sent([], kind)

    assert ended(view, ReadingOutcome.ERROR, reader="nanoarrow.stream").outcome is UNAVAILABLE
    assert ended(view, CRASH, reader="nanoarrow.stream").outcome is CRASH


@pytest.mark.parametrize(
    ("encoder", "kind", "said", "outcome"),
    [
        ("flatbuffers.vtables-shared-first", NESTED, "byte_offset: 132 }, error_kind: InvalidOffset }", UNAVAILABLE),
        ("flatbuffers.vtables-shared-first", NESTED, "out of spec", ReadingOutcome.ERROR),
        ("flatbuffers.vtables-shared-first", pa.int64(), "InvalidOffset", ReadingOutcome.ERROR),
        ("", NESTED, "InvalidOffset", ReadingOutcome.ERROR),
    ],
    ids=["early", "other-words", "flat", "usual"],
)
def test_metadata_may_share_a_vtable_in_a_way_that_a_reader_refuses(
    encoder: str, kind: pa.DataType, said: str, outcome: ReadingOutcome
) -> None:
    """It is excused only where it refuses such metadata in the words of that defect."""
    view = sent([], kind, encoder=encoder)
    reading = Reading("polars.stream", "a.b", "serializer", ReadingOutcome.ERROR, error_text=said)

    (found,) = excused([reading], view)

    assert found.outcome is outcome


PANIC = "range end index 8 out of range for slice of length 0"


@pytest.mark.parametrize(
    ("view", "said", "outcome"),
    [
        (sent([[]], codec="LZ4_FRAME"), PANIC, UNAVAILABLE),
        (sent([[]], codec="LZ4_FRAME"), "range end index 9 out of range", ReadingOutcome.ERROR),
        (sent([[]]), PANIC, ReadingOutcome.ERROR),
        (sent([[]], codec="LZ4_FRAME", encoder=""), PANIC, ReadingOutcome.ERROR),
    ],
    ids=["compressed", "other-words", "plain", "offsets"],
)
def test_a_compressed_batch_may_lack_offsets_that_a_reader_takes_for_granted(
    view: View, said: str, outcome: ReadingOutcome
) -> None:
    """The items of empty lists have no slots, so their offsets may have 0 bytes, and no length before them."""
    reading = Reading("polars.stream", "a.b", "serializer", ReadingOutcome.ERROR, error_text=said)

    (found,) = excused([reading], view)

    assert found.outcome is outcome


@pytest.mark.parametrize(
    ("view", "outcome", "reader"),
    [
        (sent([], encoder=""), CRASH, DATAFRAME),
        (sent([], encoder=""), ReadingOutcome.ERROR, "nanoarrow.stream"),
        (sent([], pa.int64()), ReadingOutcome.ERROR, "nanoarrow.stream"),
        (sent([], pa.list_(pa.int64())), CRASH, DATAFRAME),
        (sent([]), CRASH, "pyarrow.slots"),
        (sent([]), ReadingOutcome.HANG, DATAFRAME),
        (sent([]), ReadingOutcome.ERROR, DATAFRAME),
    ],
    ids=["offsets", "nanoarrow", "fixed", "flat", "reader", "hang", "error"],
)
def test_anything_else_is_judged(view: View, outcome: ReadingOutcome, reader: str) -> None:
    """Offsets that are there, lists of one level, a reader without that limit, and another end."""
    assert ended(view, outcome, reader=reader).outcome is outcome
