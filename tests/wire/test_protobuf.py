"""The strict walk of protobuf messages: fields with their bytes, faults, and what is only unusual."""

from __future__ import annotations

import doctest
from collections.abc import Callable

import pytest

from conformance.wire import (
    EncodingNote,
    PermittedEncoding,
    ProtobufReading,
    ProtobufRule,
    Severity,
    protobuf,
    read_protobuf,
)
from conformance.wire.faults import MAX_FAULTS
from conformance.wire.protobufmessages import ProtoMessage
from tests.contract.test_linear import is_linear, steps
from tests.wire.proto_samples import BROKEN, FEW, KINDS, UNUSUAL, delimited, tag


@pytest.fixture(autouse=True)
def few_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit on fields, lowered."""
    monkeypatch.setattr(protobuf, "MAX_FIELDS", FEW)


def walk(data: bytes) -> ProtobufReading:
    """The reading of bytes that should be a ``Kinds``."""
    return read_protobuf(data, KINDS["Kinds"])


def short(value: object) -> str:
    """A name of a parameter: of bytes the first, in hexadecimal."""
    return value[:12].hex() if isinstance(value, bytes) else str(value)


def test_examples_are_true() -> None:
    """The example of the module runs."""
    results = doctest.testmod(protobuf)

    assert results.attempted > 0
    assert results.failed == 0


def test_every_rule_and_every_observation_has_bytes() -> None:
    """Nothing is listed that the walk cannot report."""
    assert BROKEN.keys() == set(ProtobufRule)
    assert UNUSUAL.keys() == set(PermittedEncoding)


@pytest.mark.parametrize(("rule", "data"), [(rule, data) for rule in BROKEN for data in BROKEN[rule]], ids=short)
def test_bytes_that_break_a_rule_have_a_fault_at_a_place(rule: ProtobufRule, data: bytes) -> None:
    """Each sample breaks its rule and no other one, inside its bytes."""
    faults = walk(data).faults

    assert {fault.rule for fault in faults} == {rule}
    assert all(0 <= fault.start <= fault.end <= len(data) and fault.observed for fault in faults)
    assert all(fault.path.startswith("Kinds") for fault in faults)


@pytest.mark.parametrize(("sort", "data"), [(sort, data) for sort in UNUSUAL for data in UNUSUAL[sort]], ids=short)
def test_unusual_bytes_have_an_observation_and_no_fault(sort: PermittedEncoding, data: bytes) -> None:
    """A permitted form is never a fault."""
    reading = walk(data)

    assert not reading.faults
    assert sort in {one.sort for one in reading.observations}
    assert all(0 <= one.start < one.end <= len(data) and one.observed for one in reading.observations)


def test_rules_say_what_they_require_and_who_says_so() -> None:
    """Only the limits of the reader are notes; an observation always is one."""
    limits = {ProtobufRule.DEPTH, ProtobufRule.FIELDS}

    assert all(one.requirement and one.source.startswith("https://") for one in (*ProtobufRule, *PermittedEncoding))
    assert {one for one in ProtobufRule if one.severity is Severity.NOTE} == limits
    assert {one.severity for one in PermittedEncoding} == {Severity.NOTE}


def test_an_observation_can_be_shown_like_a_fault() -> None:
    """A dump that lists faults shows an observation as a note."""
    note = EncodingNote(PermittedEncoding.FIELD_ORDER, 2, 4, "Kinds.a", "field 1 after field 2").note

    assert (note.severity, note.start, note.end) == (Severity.NOTE, 2, 4)
    assert str(note).startswith("protobuf.field-order: Kinds.a, bytes 2 to 4: expected fields are written in the order")


def test_fields_have_their_offsets() -> None:
    """Tag, value and end of each occurrence, in nested messages too."""
    data = b"\x08\x05" + delimited(17, b"\x10\x07") + delimited(16, b"body")
    fields = walk(data).message.fields
    inner = fields[1].value

    assert [(field.name, field.start, field.value_start, field.end) for field in fields] == [
        ("int32_value", 0, 1, 2),
        ("message_value", 2, 5, 7),
        ("bytes_value", 7, 10, 14),
    ]
    assert isinstance(inner, ProtoMessage)
    assert [(field.name, field.start, field.value_start, field.end) for field in inner.fields] == [
        ("int64_value", 5, 6, 7)
    ]


def test_a_bytes_value_is_a_view() -> None:
    """The body of 64 MiB is not copied."""
    body = bytes(64 << 20)
    data = delimited(16, body)
    value = walk(data).message.data("bytes_value")

    assert value.obj is data
    assert value.nbytes == len(body)


def test_a_fault_in_an_inner_message_does_not_hide_what_follows_it() -> None:
    """The outer length shows where to go on, so all faults of one walk are found."""
    data = delimited(18, b"\x08\x80") + delimited(18, b"\x7a\x05x") + delimited(15, b"\xff") + b"\x10\x09"
    reading = walk(data)

    assert [(fault.rule, fault.start, fault.path) for fault in reading.faults] == [
        (ProtobufRule.VARINT_TRUNCATED, 4, "Kinds.messages.int32_value"),
        (ProtobufRule.LENGTH_BEYOND, 9, "Kinds.messages.string_value"),
        (ProtobufRule.STRING_NOT_UTF8, 13, "Kinds.string_value"),
    ]
    assert reading.message.number("int64_value") == 9
    assert [each.read_to for each in reading.message.messages("messages")] == [3, 8]


def test_the_walk_of_a_message_ends_where_its_bytes_have_no_meaning() -> None:
    """The fields before it are there; ``read_to`` says how far the walk came."""
    message = walk(b"\x10\x09\x0e\x01\x10\x08").message

    assert message.number("int64_value") == 9
    assert (message.read_to, message.end) == (2, 6)


def test_the_last_scalar_counts() -> None:
    """All occurrences stay visible."""
    message = walk(b"\x10\x09\x10\x08").message

    assert message.number("int64_value") == 8
    assert [field.value for field in message.all("int64_value")] == [9, 8]


def test_messages_are_merged() -> None:
    """A field of the first occurrence stays if the second one does not have it."""
    message = walk(delimited(17, b"\x08\x01\x10\x02") + delimited(17, b"\x10\x03")).message
    inner = message.message("message_value")

    assert inner is not None
    assert (inner.number("int32_value"), inner.number("int64_value")) == (1, 3)
    assert (inner.start, inner.end) == (3, 12)


def test_the_last_field_of_a_oneof_counts() -> None:
    """An earlier one is as absent."""
    message = walk(delimited(24, b"x") + tag(23, 0) + b"\x01").message

    assert (message.text("text"), message.has("text")) == ("", False)
    assert message.number("number") == 1


def test_absent_fields_have_their_defaults() -> None:
    """Presence is asked separately."""
    message = walk(b"\x08\x00").message

    assert (message.number("int64_value"), message.real("double_value"), message.text("string_value")) == (0, 0.0, "")
    assert bytes(message.data("bytes_value")) == b""
    assert message.message("message_value") is None
    assert (message.has("int32_value"), message.has("int64_value")) == (True, False)


def test_packed_values_and_single_ones() -> None:
    """A packed field is one occurrence with several values."""
    message = walk(delimited(20, b"\x01\x02") + tag(20, 0) + b"\x03" + delimited(22, b"\x01\x00")).message

    assert [field.value for field in message.all("int32s")] == [(1, 2), 3]
    assert [field.value for field in message.all("bools")] == [(True, False)]


def test_reports_are_limited() -> None:
    """Hostile bytes repeat a fault or an observation without end."""
    reading = walk((delimited(19, b"\xff") + b"\x08\x00") * (FEW // 2))

    assert len(reading.faults) == MAX_FAULTS
    assert len(reading.observations) == MAX_FAULTS


@pytest.mark.parametrize(
    "some",
    [
        lambda count: delimited(17, b"\x08\x01") * count,
        lambda count: delimited(17, delimited(17, delimited(17, b"\x08\x01" * count))),
        lambda count: tag(99, 3) + b"\x08\x01" * count + tag(99, 4),
        lambda count: delimited(20, b"\x01" * count),
        lambda count: b"\x98\x01\x80" * count,
    ],
    ids=["merged", "nested", "group", "packed", "observed"],
)
def test_the_walk_is_linear(some: Callable[[int], bytes]) -> None:
    """Each byte costs the same, however many there are."""
    assert is_linear(lambda count: steps(lambda: walk(some(count))))
