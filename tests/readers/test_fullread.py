"""Full reads: the streams of an exchange that were read from beginning to end."""

from __future__ import annotations

import pytest

from conformance.contract import proto
from conformance.readers.fullread import FullRead, bare_read, full_reads
from conformance.records import BqType, Call, CallEnd, Column, Exchange, types_in
from tests.readers.recorded import (
    COLUMNS,
    SCHEMA,
    batch,
    bytes_of,
    case,
    create,
    exchange,
    in_avro,
    of_calls,
    read,
    response,
    serialized,
    stream,
)

ONE = response(bytes_of(batch(1, 2, 3)), 3, schema=bytes_of(SCHEMA))
SESSION = create(bytes_of(SCHEMA), [stream(0), stream(1)])


def test_session_with_every_stream_read() -> None:
    """A session whose streams were all read from row 0 to OK is whole, in the session's stream order."""
    recorded = of_calls(SESSION, read(stream(1), []), read(stream(0), [ONE]))

    (whole,) = full_reads(case(), recorded)

    assert [(one.name, one.responses) for one in whole.streams] == [(stream(0), (ONE,)), (stream(1), ())]
    assert (whole.case_id, whole.label, whole.counted) == ("case", "s", True)
    assert (whole.request, whole.session) == (SESSION.request, SESSION.responses[0])


@pytest.mark.parametrize(
    "second",
    [
        read(stream(1), [ONE], offset=1),
        read(stream(1), [ONE], status="INTERNAL"),
        read(stream(1), [ONE], end=CallEnd.CANCELLED),
        read(stream(1), [ONE], status="", end=CallEnd.DEADLINE),
        read(stream(2), [ONE]),
    ],
    ids=["resumed", "failed", "cancelled", "hung", "another stream"],
)
def test_partial_reads_are_not_whole(second: Call) -> None:
    """A session with a stream that was not read from row 0 to OK is not whole."""
    assert full_reads(case(), of_calls(SESSION, read(stream(0), [ONE]), second)) == []


def test_first_whole_read_of_a_stream_counts() -> None:
    """Re-reads and resumed reads do not replace the first full read."""
    first, later = read(stream(), [ONE]), read(stream(), [])
    resumed = read(stream(), [], offset=2)

    (whole,) = full_reads(case(), of_calls(create(bytes_of(SCHEMA), [stream()]), resumed, first, later))

    assert whole.streams[0].responses == (ONE,)


def test_session_without_streams_is_whole() -> None:
    """A session without streams has been read when it was made."""
    (whole,) = full_reads(case(), of_calls(create(bytes_of(SCHEMA), [])))

    assert whole.streams == ()


def test_a_read_says_whether_it_is_in_avro() -> None:
    """By the request of the session; bare messages are in Arrow."""
    (avro,) = full_reads(case(), in_avro(b"{}"))
    (arrow,) = full_reads(case(), of_calls(SESSION, read(stream(1), []), read(stream(0), [ONE])))
    bare = bare_read(case(), serialized(bytes_of(batch(1))))

    assert avro.in_avro
    assert not arrow.in_avro
    assert bare is not None
    assert not bare.in_avro


@pytest.mark.parametrize(
    "call",
    [
        Call(0, "s", "CreateReadSession", SESSION.request, (b"\xff\xff",)),
        Call(0, "s", "CreateReadSession", SESSION.request, ()),
        Call(0, "s", "CreateReadSession", SESSION.request, (), status="INTERNAL"),
    ],
    ids=["noise", "no response", "refused"],
)
def test_sessions_that_are_none(call: Call) -> None:
    """A session that was refused, or cannot be decoded, is left out."""
    assert full_reads(case(), of_calls(call)) == []


def test_exchange_without_calls() -> None:
    """An untestable exchange has no full read."""
    assert full_reads(case(), Exchange("case", "target", untestable="cannot seed")) == []


def test_frame_round_trip() -> None:
    """A full read survives the way to a worker, bytes and columns alike."""
    columns = (*COLUMNS, Column("r", BqType.RECORD, fields=(Column("p", BqType.NUMERIC, precision=5, scale=2),)))
    (whole,) = full_reads(case(columns), of_calls(SESSION, read(stream(0), [ONE, b""]), read(stream(1), [])))

    assert FullRead.from_frame(whole.to_frame()) == whole


def test_serializer_with_one_batch_is_counted() -> None:
    """One batch message becomes one response, with the case's row count and the schema in front."""
    (whole,) = full_reads(case(rows=3), serialized(bytes_of(batch(1, 2, 3))))

    message = proto.ReadRowsResponse.FromString(whole.streams[0].responses[0])
    assert (whole.label, whole.counted, message.row_count) == ("serializer", True, 3)
    assert message.arrow_schema.serialized_schema == bytes_of(SCHEMA)
    assert message.arrow_record_batch.serialized_record_batch == bytes_of(batch(1, 2, 3))


def test_serializer_with_several_batches_is_not_counted() -> None:
    """How a serializer splits rows into batches is its own affair, so nothing counts them."""
    (whole,) = full_reads(case(rows=3), serialized(bytes_of(batch(1, 2)), bytes_of(batch(3))))

    counts = [proto.ReadRowsResponse.FromString(data).row_count for data in whole.streams[0].responses]
    assert (whole.counted, counts) == (False, [0, 0])


def test_serializer_without_batches() -> None:
    """A schema message alone is a full read without rows; batches without a schema are not a full read."""
    lone = of_calls(Call(0, "", "SerializeBatch", b"", (bytes_of(batch(1)),)))

    assert full_reads(case(rows=0), serialized())[0].streams[0].responses == ()
    assert full_reads(case(rows=1), lone) == []


def test_selected_fields_narrow_the_columns() -> None:
    """The columns of a read are those that its session asked for."""
    recorded = of_calls(create(bytes_of(SCHEMA), [], selected=["NAME"]))

    (whole,) = full_reads(case(), recorded)

    assert whole.selected == (COLUMNS[1],)
    assert full_reads(case(), exchange())[0].selected == COLUMNS


def test_types_at_any_depth() -> None:
    """The types of a table are those of its columns, sub-fields and range elements."""
    inner = Column("x", BqType.RANGE, range_of=BqType.DATE)

    types = types_in([Column("r", BqType.RECORD, fields=(Column("s", BqType.RECORD, fields=(inner,)),))])

    assert types == {BqType.RECORD, BqType.RANGE, BqType.DATE}


@pytest.mark.parametrize(("responses", "seconds"), [(0, 0), (499, 0), (500, 1), (100_000, 200)])
def test_many_responses_add_to_the_deadline(responses: int, seconds: int) -> None:
    """Those of all streams count; a few add nothing."""
    recorded = of_calls(SESSION, read(stream(0), [ONE] * (responses // 2)), read(stream(1), [ONE] * -(-responses // 2)))

    (whole,) = full_reads(case(), recorded)

    assert whole.extra_seconds == seconds
