"""Recorded sessions and their answers, without a server."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract import proto
from conformance.readers.tape import Answer, NotRecordedError, Tapes, tapes_of
from conformance.records import Call, CallEnd, MetadataEntry
from tests.readers.recorded import SCHEMA, TABLE, batch, bytes_of, case, create, of_calls, read, response, stream

ONE = response(bytes_of(batch(1, 2)), 2, schema=bytes_of(SCHEMA))
TWO = response(bytes_of(batch(3)), 1)


def asked(*selected: str, restriction: str = "", most: int = 0, data_format: str = "ARROW") -> bytes:
    """A client's CreateReadSession request."""
    request = proto.CreateReadSessionRequest(parent="projects/p", max_stream_count=most)
    request.read_session.table = TABLE
    request.read_session.data_format = proto.DATA_FORMAT[data_format]
    request.read_session.read_options.selected_fields.extend(selected)
    request.read_session.read_options.row_restriction = restriction
    data: bytes = request.SerializeToString()
    return data


def rows(tapes: Tapes, offset: int, name: str = "") -> Answer:
    """The answer to a read."""
    request = proto.ReadRowsRequest(read_stream=name or stream(), offset=offset)
    return tapes.answer("ReadRows", request.SerializeToString())


def tapes(*calls: Call) -> Tapes:
    """The tapes of these calls."""
    return Tapes(tapes_of(case(), of_calls(*calls)))


SERVED = tapes(create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE, TWO]))


def test_all_columns_by_name_are_the_same_as_none() -> None:
    """A client that names every column, in any order and case, gets the session of all columns."""
    assert SERVED.answer("CreateReadSession", asked("NAME", "id")) == SERVED.answer("CreateReadSession", asked())


@pytest.mark.parametrize(
    "request_bytes",
    [asked("id"), asked(restriction="id > 1"), asked(data_format="AVRO")],
    ids=["column", "row", "avro"],
)
def test_other_rows_and_columns_are_not_recorded(request_bytes: bytes) -> None:
    """A client never gets columns or rows that it did not ask for."""
    with pytest.raises(NotRecordedError, match="a session of"):
        SERVED.answer("CreateReadSession", request_bytes)


def test_a_session_that_is_alone_answers_any_options() -> None:
    """A client in front of one full read chooses columns, restriction and streams itself."""
    alone = Tapes(dataclasses.replace(tape, alone=True) for tape in SERVED)

    assert alone.answer("CreateReadSession", asked("id", restriction="id > 1", most=1))[1].status == "OK"
    with pytest.raises(NotRecordedError, match="in format"):
        alone.answer("CreateReadSession", asked(data_format="AVRO"))


def test_more_streams_than_a_client_permits_are_not_recorded() -> None:
    """A client that asks for one stream would lose the rows of the others."""
    two = tapes(create(bytes_of(SCHEMA), [stream(), stream(1)]), read(stream(), [ONE]), read(stream(1), [TWO]))

    with pytest.raises(NotRecordedError, match="at most 1 streams, but one with 2"):
        two.answer("CreateReadSession", asked(most=1))
    assert two.answer("CreateReadSession", asked(most=2))[1].status == "OK"


def test_a_session_that_was_read_is_preferred() -> None:
    """Of two sessions of one table, the one whose streams were all read is served."""
    other = create(bytes_of(SCHEMA), [stream(7)])

    made = tapes(other, create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE]))

    assert stream().encode() in made.answer("CreateReadSession", asked())[0][0]


def test_recorded_refusals_are_answered_as_they_were() -> None:
    """Status, message and trailers of a refused session and of a read that broke off come back."""
    trailers = (MetadataEntry("x", b"y"),)
    broken = dataclasses.replace(read(stream(), [ONE]), status="INTERNAL", details="lost", trailers=trailers)
    refused = dataclasses.replace(create(bytes_of(SCHEMA), []), responses=(), status="NOT_FOUND")

    responses, ending = rows(tapes(create(bytes_of(SCHEMA), [stream()]), broken), 0)

    assert (responses, ending.status, ending.details, ending.trailers) == ((ONE,), "INTERNAL", "lost", trailers)
    assert tapes(refused).answer("CreateReadSession", asked())[1].status == "NOT_FOUND"


@pytest.mark.parametrize("end", [CallEnd.CANCELLED, CallEnd.DEADLINE, CallEnd.CRASH])
def test_a_call_that_did_not_end_by_itself_is_no_answer(end: CallEnd) -> None:
    """Nobody knows what the target would have sent."""
    made = tapes(create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE], end=end))

    with pytest.raises(NotRecordedError):
        rows(made, 0)


def test_a_recorded_offset_inside_a_response_is_answered() -> None:
    """A read from a place inside a response was recorded, so it is known."""
    made = tapes(create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE, TWO]), read(stream(), [TWO], offset=1))

    assert rows(made, 1)[0] == (TWO,)
    assert rows(made, 2)[0] == (TWO,)


def test_splits_are_answered_with_their_children() -> None:
    """The recorded split and the reads of its children come back; another fraction is not recorded."""
    request = proto.SplitReadStreamRequest(name=stream(), fraction=0.5)
    answer = proto.SplitReadStreamResponse()
    answer.primary_stream.name, answer.remainder_stream.name = stream(5), stream(6)
    split = Call(1, "s", "SplitReadStream", request.SerializeToString(), (answer.SerializeToString(),))
    made = tapes(create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE, TWO]), split, read(stream(5), [ONE]))

    assert made.answer("SplitReadStream", request.SerializeToString())[0] == (answer.SerializeToString(),)
    assert rows(made, 0, stream(5))[0] == (ONE,)
    request.fraction = 0.25
    with pytest.raises(NotRecordedError, match="a split of"):
        made.answer("SplitReadStream", request.SerializeToString())


def test_bytes_that_are_no_request_are_not_recorded() -> None:
    """A client may send anything."""
    with pytest.raises(NotRecordedError, match="no such message"):
        SERVED.answer("ReadRows", b"\xff")


def test_recorded_bytes_that_are_no_request_are_left_out() -> None:
    """A proxy records what a client sent as it came; nobody can ask the same, and the rest is answered."""
    broken = [Call(1, "s", method, b"\xff", (b"\xff",)) for method in proto.REQUESTS]

    made = tapes(*broken, create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE, TWO]))

    assert len(list(made)) == 1
    assert rows(made, 0)[0] == (ONE, TWO)


def test_a_split_whose_answer_is_broken_is_answered_as_it_came() -> None:
    """It has no children that anybody could read."""
    request = proto.SplitReadStreamRequest(name=stream(), fraction=0.5).SerializeToString()
    split = Call(1, "s", "SplitReadStream", request, (b"\xff",))

    made = tapes(create(bytes_of(SCHEMA), [stream()]), read(stream(), [ONE, TWO]), split)

    assert made.answer("SplitReadStream", request)[0] == (b"\xff",)
