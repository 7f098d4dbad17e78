"""The encoding of answers: other wire types, fields that occur again, and what protobuf permits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.contract import proto
from conformance.records import CreateSession, ReadRows, SplitStream
from tests.contract.exchanges import (
    Answer,
    Deviation,
    Spoil,
    case_of,
    create,
    failed,
    prove,
    read,
    split,
    verdicts,
)

PLAIN = case_of(CreateSession(), ReadRows())
SPLIT = case_of(CreateSession(), SplitStream())


def spelled(of: Callable[[list[Answer]], Answer], change: Callable[[bytes], bytes]) -> Spoil:
    """The first message of an answer with other bytes."""

    def spoil(answers: list[Answer]) -> None:
        answer = of(answers)
        message: Any = answer.responses[0]
        answer.responses[0] = change(message.SerializeToString())

    return spoil


def behind(data: bytes) -> Callable[[bytes], bytes]:
    """The message with more bytes behind it."""
    return lambda message: message + data


AGAIN = proto.ReadRowsResponse(row_count=4).SerializeToString()
OTHER_FORMAT = b"\x1a\x00"  # avro_rows, empty
DEVIATIONS = (
    # throttle_state is a message, and comes as a number.
    Deviation("encoding.fields-have-their-types", PLAIN, spelled(read, behind(b"\x28\x05"))),
    Deviation("encoding.fields-have-their-types", PLAIN, spelled(create, behind(b"\x72\x012"))),
    Deviation("encoding.singular-fields-occur-once", PLAIN, spelled(read, behind(AGAIN))),
    Deviation("encoding.singular-fields-occur-once", PLAIN, spelled(read, lambda message: OTHER_FORMAT + message)),
    Deviation("rows.response-is-a-message", PLAIN, spelled(read, behind(b"\0"))),
    Deviation("split.answer-is-a-message", SPLIT, spelled(split, behind(b"\x0a\x7f"))),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_a_deviation_fails_its_clause_alone(deviation: Deviation) -> None:
    """The smallest change of the bytes."""
    prove(deviation)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x82\x3e\x03abc", id="an unknown field"),
        pytest.param(b"\x80\x3e\x80\x00", id="a number of more bytes than it needs"),
        pytest.param(b"\x2a\x00", id="an empty message"),
    ],
)
def test_what_protobuf_permits_fails_nothing(data: bytes) -> None:
    """Parsers have to accept it."""
    spoilt = verdicts(PLAIN, spelled(read, behind(data)))

    assert failed(spoilt) == set()


def test_a_fault_is_at_its_bytes() -> None:
    """The finding names the field, and the bytes in the message of the answer."""
    spoilt = verdicts(PLAIN, spelled(read, behind(b"\x28\x05")))

    (found,) = next(one.findings for one in spoilt if one.clause == "encoding.fields-have-their-types")
    assert (found.call, found.response, found.field) == (1, 0, "ReadRowsResponse.throttle_state")
    assert found.start is not None
    assert found.end == found.start + 2
