"""Messages of Flight are read whatever the order of their fields, and bytes that are none give None."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.contract.decoding import (
    Data,
    Meaning,
    in_words,
    meaning_of,
    message_of,
    read_data,
    read_endpoint,
    read_info,
    read_poll,
)
from conformance.protocols.flight.contract.encoding import data, descriptor, double, number, part, text
from conformance.protocols.flight.records import Descriptor

CUT = b"\x0a\xff"
NAMED = descriptor(Descriptor(path=("a", "b")))
ENDPOINT = part(1, part(1, b"\xff")) + part(2, text(1, "grpc://h:1")) + part(2, text(1, "")) + part(3, number(1, 9))
INFO = part(1, b"schema") + part(2, NAMED) + part(3, ENDPOINT) + number(4, 5) + number(5, -1) + number(6, 1)


def test_an_info_is_read() -> None:
    """Every field that a clause asks for; the bytes are kept to be sent back."""
    info = read_info(INFO)

    assert info is not None
    assert (info.raw, info.schema, info.descriptor) == (INFO, b"schema", (1, b"", ("a", "b")))
    assert (info.records, info.bytes, info.ordered) == (5, -1, True)
    (endpoint,) = info.endpoints
    assert (endpoint.raw, endpoint.ticket, endpoint.locations) == (ENDPOINT, b"\xff", ("grpc://h:1", ""))
    assert endpoint.expires == 9


def test_what_is_not_there_is_none() -> None:
    """An empty message is a message: unset is told from empty where the clauses tell it."""
    info, endpoint, poll, empty = read_info(b""), read_endpoint(b""), read_poll(b""), read_data(b"")

    assert info is not None
    assert (info.descriptor, info.schema, info.endpoints, info.records) == (None, b"", (), 0)
    assert endpoint is not None
    assert (endpoint.ticket, endpoint.expires) == (None, None)
    assert poll is not None
    assert (poll.info, poll.descriptor, poll.progress) == (None, None, None)
    assert empty == Data(None, None, None, None)


def test_a_poll_is_read() -> None:
    """The descriptor of the next call stays as it came, and a progress of 0 is one."""
    poll = read_poll(part(1, INFO) + part(2, NAMED) + double(3, 0.0))

    assert poll is not None
    assert (poll.info, poll.descriptor, poll.progress) == (read_info(INFO), NAMED, 0.0)


def test_the_last_of_a_repeated_field_counts() -> None:
    """As protobuf has it, in any order."""
    read = read_data(data(b"", b"body", metadata=b"m") + data(b"first") + data(b"last", of=NAMED))

    assert read == Data((1, b"", ("a", "b")), b"last", b"m", b"body")


@pytest.mark.parametrize("read", [read_info, read_endpoint, read_poll, read_data])
def test_bytes_that_are_no_message_are_none(read: object) -> None:
    """A field that ends before its end."""
    assert callable(read)
    assert read(CUT) is None


def test_a_message_inside_that_is_none_spoils_the_whole() -> None:
    """The path of the fault is the judge's; here it is enough that the info cannot be trusted."""
    assert read_info(part(3, CUT)) is None
    assert read_poll(part(1, CUT)) is None


@pytest.mark.parametrize(
    ("meaning", "words"),
    [
        ((1, b"", ("a", "b")), "path 'a/b'"),
        ((2, b"\x00", ()), "command b'\\x00'"),
        ((2, b"x", ("a",)), "path 'a' and command b'x'"),
        ((0, b"", ()), "a descriptor of the type 0 without path and command"),
    ],
)
def test_a_descriptor_has_words(meaning: Meaning, words: str) -> None:
    """Findings show it to people."""
    assert in_words(meaning) == words


def test_a_descriptor_means_the_same_in_any_order() -> None:
    """Clauses compare descriptors by this."""
    turned = message_of("FlightDescriptor", text(3, "a") + text(3, "b") + number(1, 1))
    straight = message_of("FlightDescriptor", NAMED)

    assert turned is not None
    assert straight is not None
    assert meaning_of(turned) == meaning_of(straight) == (1, b"", ("a", "b"))
