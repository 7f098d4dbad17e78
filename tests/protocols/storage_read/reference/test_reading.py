"""ReadRows and SplitReadStream through a real channel."""

from __future__ import annotations

import base64
import itertools
import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pyarrow as pa
import pytest

from conformance.contract import proto
from conformance.protocols.storage_read.reference import service
from conformance.protocols.storage_read.reference.catalogue import Catalogue
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.protocols.storage_read.reference.service import MAX_RESPONSE_BYTES, RESPONSE_BYTES
from tests.protocols.storage_read.reference.client import DEADLINE, Client, decode, field, schema_of
from tests.studies import sample

ROWS = 30


def refused(call: Any, *arguments: Any) -> tuple[grpc.StatusCode, str]:
    """The status that a call ends in."""
    with pytest.raises(grpc.RpcError) as error:
        call(*arguments)
    return error.value.code(), error.value.details() or ""


@pytest.fixture
def session(client: Client, table: str) -> Any:
    """A session of one stream of ``ROWS`` rows."""
    client.numbers(table, ROWS)
    return client.session(table, max_streams=1)


def test_responses_are_several_and_none_is_empty(client: Client, session: Any) -> None:
    """A small stream comes in several responses, each with rows, counted at the top level only."""
    responses = client.read(session.streams[0].name)

    assert [it.row_count for it in responses] == [4, 8, 16, 2]
    assert [it.arrow_record_batch.row_count for it in responses] == [0] * 4
    assert [decode(it, schema_of(session)).num_rows for it in responses] == [4, 8, 16, 2]


@pytest.mark.parametrize("offset", [0, 5])
def test_first_response_of_each_call_has_the_schema(client: Client, session: Any, offset: int) -> None:
    """The schema of the session is in the first response, and in no other."""
    responses = client.read(session.streams[0].name, offset)

    schemas = [it.arrow_schema.serialized_schema for it in responses]
    assert schemas == [session.arrow_schema.serialized_schema] + [b""] * (len(responses) - 1)


def test_progress_rises_to_one(client: Client, session: Any) -> None:
    """Progress is a fraction that starts where the one before ended."""
    progress = [it.stats.progress for it in client.read(session.streams[0].name)]

    ends = [it.at_response_end for it in progress]
    assert [it.at_response_start for it in progress] == [0.0, *ends[:-1]]
    assert ends == sorted(ends)
    assert ends[-1] == 1.0


def test_messages_are_bare_and_exact(client: Client, session: Any) -> None:
    """Each field holds one encapsulated message and not a byte more."""
    (first, *_rest) = client.read(session.streams[0].name)
    fields = (session.arrow_schema.serialized_schema, first.arrow_record_batch.serialized_record_batch)

    for data, kind in zip(fields, ("schema", "record batch"), strict=True):
        reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(data))
        assert reader.read_next_message().type == kind
        with pytest.raises(StopIteration):
            reader.read_next_message()
        assert not data.endswith(b"\xff\xff\xff\xff\x00\x00\x00\x00")
        assert data[:4] == b"\xff\xff\xff\xff"
        assert len(data) % 8 == 0


@pytest.mark.parametrize("offset", range(ROWS + 1))
def test_offset_is_exact(client: Client, session: Any, offset: int) -> None:
    """A read at an offset yields the rows that a full read has from there; at the end it yields no response."""
    responses = client.read(session.streams[0].name, offset)

    rows = [row["id"] for it in responses for row in decode(it, schema_of(session)).to_pylist()]
    assert rows == list(range(offset, ROWS))
    assert bool(responses) is (offset < ROWS)


@pytest.mark.parametrize("beyond", [1, 100])
def test_offset_beyond_the_end_is_refused(client: Client, session: Any, beyond: int) -> None:
    """One row beyond the end is already too far."""
    name = session.streams[0].name

    status, details = refused(client.read, name, ROWS + beyond)

    assert status is grpc.StatusCode.FAILED_PRECONDITION
    assert details == f"there was an error operating on '{name}': offset {ROWS + beyond} has not been allocated yet"


def test_negative_offset_is_refused(client: Client, session: Any) -> None:
    """An offset below zero is no offset."""
    status, details = refused(client.read, session.streams[0].name, -1)

    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert details.startswith("there was an error operating on '")


@pytest.mark.parametrize("name", ["", "nonsense", "projects/p/locations/us/sessions/s/streams/x"])
def test_unknown_stream_is_not_found(client: Client, name: str) -> None:
    """A name that was never given out is not found, by reading or by splitting."""
    read, split = refused(client.read, name), refused(client.split, name, 0.5)

    assert read == split
    assert read == (
        grpc.StatusCode.NOT_FOUND,
        f"there was an error operating on '{name}': the stream does not exist",
    )


def test_concurrent_reads_of_one_stream_are_equal(client: Client, session: Any) -> None:
    """Reading a stream does not consume it."""
    name = session.streams[0].name
    calls = [client.start(name) for _ in range(8)]

    first, *others = [[it.SerializeToString() for it in call] for call in calls]

    assert all(other == first for other in others)


def test_streams_are_disjoint_and_complete(client: Client, table: str) -> None:
    """All streams together hold every row once."""
    client.numbers(table, 100)
    session = client.session(table)

    parts = [client.ids(session, it.name) for it in session.streams]

    assert len(parts) > 1
    assert list(itertools.chain(*parts)) == list(range(100))


@pytest.mark.parametrize("codec", ["LZ4_FRAME", "ZSTD"])
def test_buffers_are_compressed_where_asked(client: Client, table: str, codec: str) -> None:
    """A compressed batch is one bare message, smaller than the plain one, and declares no size of its own."""
    client.seed(table, [field("s", "STRING")], [{"s": "x" * 10_000}])
    (plain,) = client.read(client.session(table).streams[0].name)
    (compressed,) = client.read(client.session(table, buffer_compression=codec).streams[0].name)

    session = client.session(table, buffer_compression=codec)

    assert client.rows(session) == [{"s": "x" * 10_000}]
    data = compressed.arrow_record_batch.serialized_record_batch
    assert len(data) * 5 < len(plain.arrow_record_batch.serialized_record_batch)
    assert not data.endswith(b"\xff\xff\xff\xff\x00\x00\x00\x00")
    assert not compressed.HasField("uncompressed_byte_size")


def test_responses_are_compressed_where_asked(client: Client, table: str) -> None:
    """Under a response codec the payload is a raw LZ4 block, and the response has its uncompressed size."""
    client.seed(table, [field("s", "STRING")], [{"s": "x" * 10_000}])
    session = client.session(table, response_compression_codec=proto.RESPONSE_COMPRESSION["LZ4"])

    (response,) = client.read(session.streams[0].name)

    assert response.uncompressed_byte_size > len(response.arrow_record_batch.serialized_record_batch) > 0
    assert decode(response, schema_of(session)).to_pylist() == [{"s": "x" * 10_000}]


def test_response_that_lz4_would_lengthen_is_sent_plain(client: Client, table: str) -> None:
    """Where compression does not help, the size is -1 and the payload as it was."""
    noise = bytes((index * 2654435761 >> 13) & 0xFF for index in range(1 << 16))
    client.seed(table, [field("b", "BYTES")], [{"b": base64.b64encode(noise).decode()}])
    session = client.session(table, response_compression_codec=2)

    (response,) = client.read(session.streams[0].name)

    plain = client.read(client.session(table).streams[0].name)[0]
    expected = plain.arrow_record_batch.serialized_record_batch
    if response.uncompressed_byte_size == -1:
        assert response.arrow_record_batch.serialized_record_batch == expected
    else:
        assert response.uncompressed_byte_size == len(expected)


def test_responses_are_bounded_in_bytes(client: Client, table: str) -> None:
    """Wide rows make responses of few rows: each stays near its target, far below the documented limit."""
    client.seed(table, [field("id"), field("s", "STRING")], [{"id": n, "s": "x" * (3 << 20)} for n in range(8)])
    session = client.session(table, max_streams=1)

    responses = client.read(session.streams[0].name)

    sizes = [len(it.arrow_record_batch.serialized_record_batch) for it in responses]
    assert max(sizes) < RESPONSE_BYTES + 4096
    assert sum(it.row_count for it in responses) == 8


@pytest.mark.parametrize("part", sample((10, 1), ("10",), env="thorough"))
def test_a_cell_of_100_mib_comes_in_one_response(
    client: Client, table: str, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single row may be nearly as large as the limit on a response; in the quick set, both are a tenth."""
    limit, size = MAX_RESPONSE_BYTES // part, (100 << 20) // part
    monkeypatch.setattr(service, "MAX_RESPONSE_BYTES", limit)
    client.seed(table, [field("b", "BYTES")], [{"b": base64.b64encode(bytes(size)).decode()}])
    session = client.session(table)

    (response,) = client.read(session.streams[0].name)

    assert size < len(response.arrow_record_batch.serialized_record_batch) < limit
    assert decode(response, schema_of(session)).column(0).nbytes >= size


def test_a_row_over_the_limit_is_refused(client: Client, table: str) -> None:
    """A row of more than 128 MB fails instead of being cut."""
    client.seed(table, [field("s", "STRING")], [{"s": "x" * 130_000_000}])
    session = client.session(table)

    status, details = refused(client.read, session.streams[0].name)

    assert status is grpc.StatusCode.FAILED_PRECONDITION
    assert "larger than the limit of 128000000 bytes" in details


def test_abandoned_reads_do_not_starve_later_ones(client: Client, table: str) -> None:
    """After many cancelled reads a full one ends within its deadline."""
    client.seed(table, [field("id"), field("s", "STRING")], [{"id": n, "s": "x" * 100_000} for n in range(60)])
    session = client.session(table, max_streams=1)
    for _ in range(300):
        call = client.start(session.streams[0].name)
        next(call)
        call.cancel()

    rows = client.ids(session)

    assert rows == list(range(60))


def test_interval_that_overflows_nanoseconds_fails_the_read(client: Client, table: str) -> None:
    """A time part beyond int64 nanoseconds ends the stream in the service's own words, at every offset."""
    client.seed(table, [field("i", "INTERVAL")], [{"i": "0-0 0 0:0:1"}, {"i": "0-0 0 2600000:0:0"}])
    session = client.session(table)

    status, details = refused(client.read, session.streams[0].name)

    assert status is grpc.StatusCode.INTERNAL
    assert details == (
        "Operation was attempted past the valid range. "
        "Out of range conversion for microseconds value: 9360000000000000 to nanoseconds"
    )
    assert refused(client.read, session.streams[0].name, 1) == (status, details)


# --- expiry ---------------------------------------------------------------------------------------


class Clock:
    """A clock in microseconds that tests set."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000_000

    def __call__(self) -> int:
        """The time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that does not advance."""
    return Clock()


@pytest.fixture
def timed(clock: Clock) -> Iterator[Client]:
    """A client of a server on that clock."""
    with ReferenceServer(catalogue=Catalogue(clock)) as server:
        client = Client(server)
        yield client
        client.close()


def test_the_clock_of_a_server_is_set_ahead_and_back(timed: Client, table: str) -> None:
    """A session is expired while the clock is past its end, and only then."""
    timed.numbers(table, 3)
    session = timed.session(table)

    timed.http("POST", "/clock", {"ahead": 6 * 3600 + 1})
    late, _ = refused(timed.read, session.streams[0].name)
    timed.http("POST", "/clock", {"ahead": 0})

    assert late is grpc.StatusCode.FAILED_PRECONDITION
    assert timed.ids(session) == [0, 1, 2]


def test_expired_session_is_refused(timed: Client, clock: Clock, table: str) -> None:
    """Six hours after its creation a session no longer reads nor splits."""
    timed.numbers(table, 3)
    session = timed.session(table)
    name = session.streams[0].name
    clock.now += 6 * 3600 * 1_000_000
    assert timed.ids(session) == [0, 1, 2]
    clock.now += 1

    read, split = refused(timed.read, name), refused(timed.split, name, 0.5)

    expired = "2023-11-15T04:13:20+00:00"
    assert read == split
    assert read == (
        grpc.StatusCode.FAILED_PRECONDITION,
        f"there was an error operating on '{name}': session expired at {expired}",
    )


# --- splitting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0.0001, 0.3, 0.5, 0.9999])
def test_children_are_the_parent(client: Client, session: Any, fraction: float) -> None:
    """The children's rows laid end to end are the parent's, neither is empty, and the parent still reads."""
    parent = session.streams[0].name

    answer = client.split(parent, fraction)

    one, other = answer.primary_stream.name, answer.remainder_stream.name
    assert len({one, other, parent}) == 3
    assert all(name.startswith(f"{session.name}/streams/") for name in (one, other))
    parts = client.ids(session, one), client.ids(session, other)
    assert all(parts)
    assert parts[0] + parts[1] == client.ids(session, parent) == list(range(ROWS))


def test_children_read_at_any_offset(client: Client, session: Any) -> None:
    """Offsets count from the child's own first row, and its end is its own."""
    answer = client.split(session.streams[0].name, 0.5)

    whole = client.ids(session, answer.remainder_stream.name)
    for offset in range(len(whole) + 1):
        assert client.ids(session, answer.remainder_stream.name, offset) == whole[offset:]
    beyond = refused(client.read, answer.primary_stream.name, ROWS - len(whole) + 1)
    assert beyond[0] is grpc.StatusCode.FAILED_PRECONDITION


def test_splitting_ends(client: Client, session: Any) -> None:
    """Splitting every child again comes to streams of one row, whose answer is empty."""
    pending, leaves = [session.streams[0].name], []
    while pending:
        name = pending.pop()
        answer = client.split(name, 0.5)
        if not answer.HasField("primary_stream"):
            assert not answer.HasField("remainder_stream")
            leaves.append(name)
            continue
        pending += [answer.remainder_stream.name, answer.primary_stream.name]

    assert [client.ids(session, name) for name in leaves] == [[number] for number in range(ROWS)]


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.5, 1.5, float("nan"), float("inf")])
def test_fraction_outside_is_refused(client: Client, session: Any, fraction: float) -> None:
    """Only fractions strictly between 0 and 1 split; the field's default does not."""
    status, details = refused(client.split, session.streams[0].name, fraction)

    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert "fraction must be greater than 0 and less than 1" in details


def test_stop_ends_open_reads(table: str) -> None:
    """Stopping the server ends calls that a client left open, and is done in bounded time."""
    server = ReferenceServer()
    client = Client(server)
    client.seed(table, [field("s", "STRING")], [{"s": "x" * 1_000_000} for _ in range(60)])
    call = client.start(client.session(table, max_streams=1).streams[0].name)
    next(call)

    stopping = threading.Thread(target=server.stop)
    stopping.start()
    stopping.join(DEADLINE)

    assert not stopping.is_alive()
    client.close()
