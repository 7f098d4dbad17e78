"""The answers of one full read, over a connection and inside a process: recorded bytes, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest

from conformance.contract import proto
from conformance.readers import full_reads
from conformance.readers.clients._channel import RecordedChannel
from conformance.readers.oneread import OneRead, OneReadServer
from tests.readers.recorded import EOS, SCHEMA, TABLE, batch, bytes_of, case, exchange, stream

RECORDED = exchange(bytes_of(batch(1, 2, 3)) + EOS, bytes_of(batch(4)), counts=[7, 1])


@pytest.fixture
def server() -> Iterator[OneReadServer]:
    """A server that plays RECORDED."""
    one = OneReadServer()
    one.play(full_reads(case(), RECORDED)[0])
    yield one
    one.close()


@pytest.fixture(params=["server", "process"])
def channel(request: pytest.FixtureRequest) -> Iterator[grpc.Channel]:
    """A channel to the server, and one inside this process."""
    if request.param == "process":
        reads = OneRead()
        reads.play(full_reads(case(), RECORDED)[0])
        yield RecordedChannel(reads)
        return
    server: OneReadServer = request.getfixturevalue("server")
    with grpc.insecure_channel(server.address) as one:
        yield one


def create(channel: grpc.Channel, *, table: str = TABLE, data_format: str = "ARROW") -> bytes:
    """Ask for a session and return the response's bytes."""
    request = proto.CreateReadSessionRequest(parent="projects/other", max_stream_count=9)
    request.read_session.table = table
    request.read_session.data_format = proto.DATA_FORMAT[data_format]
    answer: bytes = channel.unary_unary(f"{proto.SERVICE}CreateReadSession", None, None)(request.SerializeToString())
    return answer


def rows(channel: grpc.Channel, name: str, offset: int = 0) -> list[bytes]:
    """Read a stream and return the responses' bytes."""
    request = proto.ReadRowsRequest(read_stream=name, offset=offset).SerializeToString()
    return list(channel.unary_stream(f"{proto.SERVICE}ReadRows", None, None)(request))


def test_recorded_bytes_come_back_as_they_were(channel: grpc.Channel) -> None:
    """Session and responses are the recorded bytes, whatever options the client asks with."""
    session, responses = RECORDED.calls[0].responses[0], list(RECORDED.calls[1].responses)

    assert (create(channel), rows(channel, stream())) == (session, responses)


@pytest.mark.parametrize(("table", "data_format"), [(TABLE + "x", "ARROW"), (TABLE, "AVRO"), (TABLE, "")])
def test_other_sessions_are_not_recorded(channel: grpc.Channel, table: str, data_format: str) -> None:
    """A session of another table or in another format is refused as not recorded."""
    with pytest.raises(grpc.RpcError) as error:
        create(channel, table=table, data_format=data_format)

    assert error.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert str(error.value.details()).startswith("not recorded: a session of")


@pytest.mark.parametrize(("name", "offset"), [(stream(), 2), (stream(), 5), (stream(), -1), (stream(1), 0)])
def test_other_reads_are_not_recorded(channel: grpc.Channel, name: str, offset: int) -> None:
    """A read from inside a response, from beyond the end, and of another stream are refused as not recorded."""
    with pytest.raises(grpc.RpcError) as error:
        rows(channel, name, offset)

    assert error.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert error.value.details() == f"not recorded: stream {name!r} from offset {offset}"


@pytest.mark.parametrize(("offset", "expected"), [(3, 1), (4, 0)])
def test_a_read_resumes_between_responses_and_at_the_end(channel: grpc.Channel, offset: int, expected: int) -> None:
    """The place is the number of rows that the batches hold, whatever ``row_count`` says; the end has no rows."""
    recorded = list(RECORDED.calls[1].responses)

    assert rows(channel, stream(), offset) == recorded[len(recorded) - expected :]


def test_splits_are_not_recorded(channel: grpc.Channel) -> None:
    """A split is refused as not recorded."""
    request = proto.SplitReadStreamRequest(name=stream(), fraction=0.5).SerializeToString()

    with pytest.raises(grpc.RpcError) as error:
        channel.unary_unary(f"{proto.SERVICE}SplitReadStream", None, None)(request)

    assert error.value.details() == f"not recorded: a split of {stream()!r}"


def test_responses_beyond_the_default_message_size(server: OneReadServer) -> None:
    """A response larger than gRPC's default of 4 MiB is served."""
    large = exchange(bytes_of(batch(*range(300_000))), counts=[300_000])
    server.play(full_reads(case(), large)[0])

    with grpc.insecure_channel(server.address, options=[("grpc.max_receive_message_length", -1)]) as channel:
        (answer,) = rows(channel, stream())

    assert len(answer) > 4 << 20
    assert answer == large.calls[1].responses[0]
    assert bytes_of(SCHEMA) in answer
