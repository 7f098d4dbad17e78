"""Descriptions of messages: what a row means, and what is refused."""

from __future__ import annotations

import doctest

import pytest

from conformance import _protobuftables as protobuftables
from conformance._protobuftables import FieldKind, FieldSpec, WireType, declare
from conformance.protocols.flight.wire.messages import FLIGHT

SOURCE = "https://example.com/x.proto"


def test_examples_are_true() -> None:
    """The example of the module runs."""
    results = doctest.testmod(protobuftables)

    assert results.attempted > 0
    assert results.failed == 0


def test_a_row_gives_every_property_of_a_field() -> None:
    """Number, name, kind, repetition, presence and oneof."""
    rows = ("1 a int32*", "2 b double?", "3 c bytes choice", "4 d enum:E", "5 e M")
    fields = declare(SOURCE, {"M": rows}, {"E": {0: "ZERO"}})["M"].fields

    assert list(fields.values()) == [
        FieldSpec(1, "a", FieldKind.INT32, repeated=True),
        FieldSpec(2, "b", FieldKind.DOUBLE, presence=True),
        FieldSpec(3, "c", FieldKind.BYTES, oneof="choice"),
        FieldSpec(4, "d", FieldKind.ENUM, "E"),
        FieldSpec(5, "e", FieldKind.MESSAGE, "M"),
    ]
    assert [field.wire_type for field in fields.values()] == [
        WireType.VARINT, WireType.I64, WireType.LEN, WireType.VARINT, WireType.LEN,
    ]  # fmt: skip
    assert [field.name for field in fields.values() if field.packable] == ["a"]
    assert [field.name for field in fields.values() if field.implicit] == ["d"]


def test_a_map_is_a_repeated_entry() -> None:
    """The entry is a message with a key and a value, whose name protobuf prescribes."""
    made = declare(SOURCE, {"M": ("1 some_things map<string,int64>",)})

    assert made["M"].fields[1] == FieldSpec(1, "some_things", FieldKind.MESSAGE, "M.SomeThingsEntry", repeated=True)
    assert [field.name for field in made["M.SomeThingsEntry"].fields.values()] == ["key", "value"]
    assert made["M.SomeThingsEntry"].map_entry


def test_messages_of_protobuf_itself_are_there_if_they_are_used() -> None:
    """A timestamp is declared as soon as a field has its type."""
    assert ".google.protobuf.Timestamp" in FLIGHT
    assert ".google.protobuf.Any" not in FLIGHT


@pytest.mark.parametrize("kind", ["Missing", "enum:Missing", "map<string,Missing>"])
def test_a_type_that_nothing_declares_is_refused(kind: str) -> None:
    """The error names the field and the type."""
    with pytest.raises(ValueError, match=r"M.*: expected a declared type, got 'Missing'; add rows for it"):
        declare(SOURCE, {"M": (f"1 a {kind}",)})


def test_an_unknown_name_is_an_error_that_lists_the_names() -> None:
    """A misspelt field name in a clause fails at once."""
    with pytest.raises(KeyError, match="Ticket has no field tickets; it has ticket"):
        FLIGHT["Ticket"].named("tickets")
