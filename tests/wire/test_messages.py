"""Prefixes, message boundaries, and what follows the first message."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest

from conformance.wire import Header, Rule, read_batch, read_messages, read_schema
from tests.wire.breaking import END, GOOD_BATCH, GOOD_SCHEMA, INT
from tests.wire.corpus import batches, pair
from tests.wire.forge import SAME, Forge, batch_message, column, encapsulate, i4, schema_message


def test_schema_message_is_described() -> None:
    """The parts of a lone message are where its prefix says."""
    data = GOOD_SCHEMA

    message = read_schema(data).message

    assert message is not None
    assert (message.start, message.end) == (0, len(data))
    assert (message.metadata_start, message.metadata_end) == (8, len(data))
    assert (message.version, message.header, message.legacy) == ("V5", Header.SCHEMA, False)
    assert message.body_length == 0


def test_batch_message_is_described() -> None:
    """The body comes after the metadata and has the declared length."""
    message = read_batch(GOOD_BATCH, column(pa.int32())).message

    assert message is not None
    assert message.header is Header.RECORD_BATCH
    assert message.body_end - message.body_start == message.body_length == 8
    assert message.body_end == len(GOOD_BATCH)


def test_legacy_framing_is_read_and_noted() -> None:
    """A message without continuation word is legal Arrow: a note, and the same schema."""
    metadata = GOOD_SCHEMA[8:]
    legacy = encapsulate(metadata + bytes(4), legacy=True)

    read = read_schema(legacy)

    assert [fault.rule for fault in read.faults] == [Rule.PREFIX_CONTINUATION_MISSING]
    assert read.violations == []
    assert read.schema == read_schema(GOOD_SCHEMA).schema
    assert read.message is not None
    assert read.message.legacy


def test_whole_stream_in_a_slot_is_told_apart() -> None:
    """Schema, batch and end of stream in one slot: the wrong kind first, and both others listed."""
    stream = GOOD_SCHEMA + GOOD_BATCH + END

    read = read_batch(stream, column(pa.int32()))

    assert [fault.rule for fault in read.faults] == [
        Rule.MESSAGE_HEADER_KIND,
        Rule.MESSAGE_SECOND_MESSAGE,
        Rule.MESSAGE_END_OF_STREAM,
    ]
    assert [message.header for message in read.extra] == [Header.RECORD_BATCH, Header.END_OF_STREAM]


def test_messages_cover_the_bytes() -> None:
    """The listed messages follow each other from the first byte to the last."""
    stream = GOOD_SCHEMA + GOOD_BATCH + GOOD_BATCH + END + b"and more"

    messages = read_messages(stream)

    assert [message.header for message in messages[:4]] == [
        Header.SCHEMA,
        Header.RECORD_BATCH,
        Header.RECORD_BATCH,
        Header.END_OF_STREAM,
    ]
    assert messages[0].start == 0
    assert messages[-1].end == len(stream)
    assert all(before.end == after.start for before, after in itertools.pairwise(messages))


def test_messages_are_listed_up_to_a_limit() -> None:
    """A slot full of markers is not listed one by one without end."""
    messages = read_messages(END * 100, limit=10)

    assert len(messages) == 10
    assert messages[-1].header is Header.STRAY
    assert messages[-1].end == 800


def test_a_message_is_listed_without_a_look_at_its_header() -> None:
    """A header that is too large to be followed does not hide what stands behind it in the metadata."""
    pairs = [{"key": "k", "value": "v"}]
    large = schema_message(INT, *[SAME] * 200, message={"custom_metadata": pairs})

    first, second = read_messages(large * 2)

    assert first.custom_metadata == second.custom_metadata == (("k", "v"),)


@pytest.mark.parametrize("size", range(9))
def test_short_bytes_are_a_fault_and_nothing_else(size: int) -> None:
    """Anything shorter than a prefix and a root offset is refused with one typed fault."""
    read = read_schema(GOOD_SCHEMA[:size])

    assert read.schema is None
    assert len(read.violations) == 1


def test_every_truncation_is_found() -> None:
    """No proper beginning of a message passes for a message."""
    _, data = pair(batches()["every type"])
    schema = read_schema(pair(batches()["every type"])[0]).schema
    assert schema is not None

    clean = [size for size in range(0, len(data), 7) if not read_batch(data[:size], schema).violations]

    assert clean == []


def test_custom_metadata_of_a_message_is_read() -> None:
    """Pairs on the Message table are kept in order, values absent as None."""
    pairs = [{"key": "a", "value": "1"}, {"key": "b", "value": ""}]

    message = read_schema(schema_message(INT, message={"custom_metadata": pairs})).message

    assert message is not None
    assert message.custom_metadata == (("a", "1"), ("b", ""))


def test_missing_version_means_v1() -> None:
    """A message that names no version is of V1, which no reader supports."""
    root = {"header_type": 1, "header": {"fields": [INT]}, "bodyLength": 0}

    faults = read_schema(encapsulate(Forge().root("Message", root))).faults

    assert [fault.rule for fault in faults] == [Rule.MESSAGE_VERSION_BEFORE_V4]


def test_memoryview_and_bytes_are_read_alike() -> None:
    """Any buffer of bytes will do."""
    data = batch_message(2, [(2, 0)], [b"", i4(1, 2)])

    assert read_batch(memoryview(data), column(pa.int32())).faults == []
    assert read_batch(bytearray(data), column(pa.int32())).faults == []


@pytest.mark.parametrize(
    ("length", "rule", "observed"),
    [
        (
            0x0128,
            Rule.METADATA_TRUNCATED,
            "671154176, where 296 bytes follow the prefix; byte-swapped it would be 296",
        ),
        (
            0x00F0,
            Rule.PREFIX_LENGTH_NEGATIVE,
            "-268435456, where 240 bytes follow the prefix; byte-swapped it would be 240",
        ),
    ],
)
def test_a_length_in_the_other_byte_order_is_named(length: int, rule: Rule, observed: str) -> None:
    """A length that is impossible as it is and possible byte-swapped was written in the other byte order."""
    data = b"\xff\xff\xff\xff" + length.to_bytes(4, "big") + bytes(length)

    (fault,) = read_schema(data).faults[:1]

    assert (fault.rule, fault.observed) == (rule, f"a metadata length of {observed}")


def test_a_length_that_is_impossible_in_either_order_is_only_a_length() -> None:
    """Nothing is said about the byte order of a message that was cut."""
    (fault,) = read_schema(GOOD_SCHEMA[:40]).faults[:1]

    assert "byte-swapped" not in fault.observed


def test_a_whole_file_in_the_place_of_a_message_is_named() -> None:
    """The first bytes of a file are its magic, and no reader of messages knows it."""
    (fault, *_) = read_schema(b"ARROW1\0\0" + bytes(64)).faults

    assert (fault.rule, fault.observed) == (
        Rule.PREFIX_CONTINUATION_MISSING,
        "the bytes 41 52 52 4f, which begin an Arrow file",
    )
