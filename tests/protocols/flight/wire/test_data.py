"""FlightData messages become the IPC stream that they carry, and each fault leads back to the bytes that were sent."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.protocols.flight.wire.data import FlightPlace, FlightReading, join_flight, read_flight
from conformance.wire import Header, ProtobufRule, Rule, read_stream
from tests.contract.test_linear import is_linear, steps
from tests.protocols.flight.wire.samples import divided, flight_data, streamed
from tests.wire.breaking import ENCODED_SCHEMA, END, GOOD_BATCH, GOOD_SCHEMA, SOUND, VALUES
from tests.wire.corpus import batches
from tests.wire.test_robustness import _mutate

ORDERS = [
    "descriptor header metadata body",
    "body metadata header descriptor",
    "metadata body header",
    "header body metadata",
]
BODYLESS = flight_data(metadata=b"of the application")


def rules(reading: FlightReading) -> list[tuple[int, Any]]:
    """The message and the rule of each fault."""
    return [(one.message, one.fault.rule) for one in reading.faults]


@pytest.mark.parametrize(
    "options", [{}, {"compression": "zstd"}, {"metadata_version": pa.ipc.MetadataVersion.V4}], ids=["", "zstd", "V4"]
)
def test_the_stream_is_put_back(options: dict[str, Any]) -> None:
    """Every type, compressed and in V4: prefix and padding come back as the writer wrote them."""
    for name, batch in batches().items():
        if "sliced" in name or "many" in name:
            continue
        data = streamed(batch, batch, **options)
        reading = read_flight([flight_data(one) for one in divided(data)])

        assert reading.stream.data + END == data
        assert reading.content.faults == read_stream(data).faults
        assert len(reading.content.batches) == 2


def test_dictionaries_grow_and_are_replaced() -> None:
    """Deltas and replacements are read as in a stream."""
    values = [pa.array(each).dictionary_encode() for each in (["a"], ["a", "b"], ["c"])]
    data = streamed(*(pa.RecordBatch.from_pydict({"x": each}) for each in values), emit_dictionary_deltas=True)
    reading = read_flight([flight_data(one) for one in divided(data)])

    assert reading.faults == ()
    assert [one.delta for one in reading.content.dictionaries] == [False, True, False]
    assert reading.content.to_arrow().to_pydict() == {"x": ["a", "a", "b", "c"]}


def test_a_header_of_any_length_is_legal() -> None:
    """Flight pads no header: metadata that ends at 4 modulo 8 has no fault."""
    header = GOOD_SCHEMA[8:].rstrip(b"\0")
    header += bytes(-len(header) % 8 ^ 4)
    reading = read_flight([flight_data(header=header), flight_data(GOOD_BATCH)])

    assert len(header) % 8 == 4
    assert reading.faults == ()
    assert [one.header for one in reading.content.messages] == [Header.SCHEMA, Header.RECORD_BATCH]


def test_messages_without_a_header_add_nothing_to_the_stream() -> None:
    """Metadata alone, a descriptor alone, and no bytes at all, between the others and alone."""
    descriptor = flight_data(descriptor=b"\x08\x02\x12\x01x")
    sent = [descriptor, flight_data(GOOD_SCHEMA), BODYLESS, b"", flight_data(GOOD_BATCH, metadata=b"m"), BODYLESS]
    reading = read_flight(sent)

    assert reading.faults == ()
    assert reading.stream.data == GOOD_SCHEMA + GOOD_BATCH
    assert [part.end > part.start for part in reading.stream.parts] == [False, True, False, False, True, False]
    assert bytes(reading.stream.parts[4].reading.message.data("app_metadata")) == b"m"


@pytest.mark.parametrize("sent", [[], [b""], [BODYLESS, b"", BODYLESS]], ids=["none", "empty", "metadata"])
def test_a_call_without_ipc_messages_has_an_empty_stream(sent: list[bytes]) -> None:
    """Whether a schema is owed depends on the method; the bytes break no rule."""
    reading = read_flight(sent)

    assert (reading.stream.data, reading.faults, reading.content.messages) == (b"", (), [])
    assert reading.stream.place(0, 0).start == 0


def test_a_body_without_a_header_is_a_fault() -> None:
    """Nothing says what the body is."""
    reading = read_flight([flight_data(GOOD_SCHEMA), flight_data(body=bytes(16))])
    ((index, fault),) = reading.faults

    assert (index, fault.rule, fault.start, fault.end) == (1, Rule.MESSAGE_HEADER_MISSING, 3, 19)
    assert fault.observed == "a body of 16 bytes without data_header"


def test_a_short_body_does_not_reach_into_the_next_message() -> None:
    """The message has the fault; the next one is read as it was sent."""
    short = flight_data(GOOD_BATCH[:-8])
    reading = read_flight([flight_data(GOOD_SCHEMA), short, flight_data(GOOD_BATCH)])

    assert (1, Rule.MESSAGE_BODY_TRUNCATED) in rules(reading)
    assert {one.message for one in reading.faults} == {1}
    assert reading.content.batches[-1].length == 2


def test_bytes_after_the_body_are_a_fault() -> None:
    """A body that is longer than its metadata declares, at the bytes that are too many."""
    reading = read_flight([flight_data(GOOD_SCHEMA), flight_data(GOOD_BATCH + b"more"), flight_data(GOOD_BATCH)])
    ((index, fault),) = reading.faults
    sent = flight_data(GOOD_BATCH + b"more")

    assert (index, fault.rule) == (1, Rule.MESSAGE_TRAILING_BYTES)
    assert sent[fault.start : fault.end] == b"more"


def test_a_message_that_cannot_be_read_does_not_hide_the_next() -> None:
    """Flight frames the messages, so that noise is a fault of one message only."""
    noise = flight_data(header=b"\xff" * 24, body=bytes(8))
    reading = read_flight([flight_data(GOOD_SCHEMA), noise, flight_data(GOOD_BATCH)])

    assert {one.message for one in reading.faults} == {1}
    assert [one.header for one in reading.content.messages] == [Header.SCHEMA, Header.UNKNOWN, Header.RECORD_BATCH]


def test_faults_of_the_encoding_and_of_the_content_are_listed_by_message() -> None:
    """Both kinds have offsets in the message that was sent."""
    sent = [
        flight_data(ENCODED_SCHEMA),
        flight_data(SOUND) + b"\x0e",
        flight_data(VALUES),
        flight_data(SOUND) + b"\x07",
    ]
    reading = read_flight(sent)

    assert rules(reading) == [
        (1, ProtobufRule.WIRE_TYPE_UNKNOWN),
        (1, Rule.DICTIONARY_MISSING),
        (3, ProtobufRule.FIELD_NUMBER),
    ]
    assert all(0 <= one.fault.start < one.fault.end <= len(sent[one.message]) for one in reading.faults)


def test_repeated_fields_count_as_parsers_count_them() -> None:
    """Of two headers or bodies the last one counts, wherever it is."""
    sent = flight_data(header=b"old") + flight_data(GOOD_BATCH, order="body header")
    reading = read_flight([flight_data(GOOD_SCHEMA), sent])

    assert reading.faults == ()
    assert reading.stream.data == GOOD_SCHEMA + GOOD_BATCH


@given(
    st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=3), st.sampled_from(ORDERS)))
)
def test_each_byte_of_the_stream_leads_back_to_the_byte_that_was_sent(
    parts: list[tuple[bytes, bytes, bytes, str]],
) -> None:
    """Headers and bodies of any size, in any order of fields, with metadata between."""
    sent = [flight_data(header=each[0], body=each[1], metadata=each[2], order=each[3]) for each in parts]
    stream = join_flight(sent)
    at = 0
    for index, (header, body, _, _) in enumerate(parts):
        size = len(header) + -len(header) % 8
        if not header:
            continue
        for offset in range(at, at + 8):
            assert stream.place(offset, offset + 4).message == index
        for start, content in ((at + 8, header), (at + 8 + size, body)):
            for offset in range(start, start + len(content)):
                place = stream.place(offset, offset + 1)
                assert sent[index][place.start : place.end] == stream.data[offset : offset + 1]
                assert place.message == index
        at += 8 + size + len(body)

    assert at == len(stream.data)


@pytest.mark.parametrize("order", ORDERS)
def test_a_range_over_two_fields_ends_with_the_first(order: str) -> None:
    """A fault of a message as a whole begins at its header; the bytes between the fields are no part of it."""
    sent = flight_data(GOOD_BATCH, order=order, metadata=b"m")
    stream = join_flight([sent])
    (part,) = stream.parts
    place = stream.place(0, len(stream.data))

    assert (place.message, place.start) == (0, part.header[0])
    assert place.end == (part.body[1] if part.body[0] > part.header[0] else part.header[1])
    assert stream.place(len(stream.data), len(stream.data)) == FlightPlace(0, part.body[1], part.body[1])


def test_any_bytes_are_read() -> None:
    """Mutated messages end in faults, or in none; never in an exception, and never outside of the bytes sent."""
    rng = random.Random(20261123)
    sound = [flight_data(ENCODED_SCHEMA), flight_data(VALUES), BODYLESS, flight_data(SOUND, metadata=b"x")]
    for _ in range(400):
        sent = [_mutate(each, rng) if rng.random() < 0.5 else each for each in sound]
        for index, fault in read_flight(sent).faults:
            assert 0 <= fault.start <= fault.end <= len(sent[index]), str(fault)


@pytest.mark.parametrize("message", [BODYLESS, b"", flight_data(VALUES)], ids=["metadata", "empty", "ipc"])
def test_reading_is_linear(message: bytes) -> None:
    """Twice as many messages cost twice as much, those without content too."""
    assert is_linear(lambda count: steps(lambda: read_flight([flight_data(ENCODED_SCHEMA)] + [message] * count)))
