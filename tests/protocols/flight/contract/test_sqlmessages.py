"""Messages of Flight SQL travel in a google.protobuf.Any."""

from __future__ import annotations

import pytest
from google.protobuf import any_pb2

from conformance.protocols.flight.contract.encoding import number, part, text
from conformance.protocols.flight.contract.sqlmessages import (
    packed,
    rebound,
    record_count,
    result_in,
    type_of,
    unpacked,
)
from conformance.protocols.flight.contract.sqlschemas import INFO_KINDS, KINDS, ORDER, SCHEMAS, VALUES, arrow_schema
from conformance.protocols.flight.wire.sql import ACTIONS, FLIGHT_SQL


def test_a_message_is_packed_as_the_library_of_protobuf_does() -> None:
    """The type URL names it; the value are its bytes."""
    carrier = any_pb2.Any.FromString(packed("CommandStatementQuery", text(1, "SELECT 1")))

    assert carrier.type_url == "type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery"
    assert carrier.value == b"\x0a\x08SELECT 1"


def test_a_message_comes_out_as_it_went_in() -> None:
    """Under its own name alone."""
    found = unpacked(packed("DoPutUpdateResult", number(1, 7)), "DoPutUpdateResult")

    assert found is not None
    assert found.number("record_count") == 7
    assert unpacked(packed("DoPutUpdateResult"), "CommandStatementQuery") is None
    assert unpacked(packed("CommandStatementQuery", b"\xff"), "CommandStatementQuery") is None


@pytest.mark.parametrize("data", [b"", b"\xff", text(1, "type.googleapis.com/other.Message"), text(1, "no-slash")])
def test_other_bytes_are_no_message(data: bytes) -> None:
    """Any command of an application may be sent to a Flight server."""
    assert type_of(data) == ""


def test_the_authority_before_the_name_is_free() -> None:
    """The documentation of Any says that it may be any."""
    assert type_of(text(1, "example.com/arrow.flight.protocol.sql.CommandGetCatalogs")) == "CommandGetCatalogs"


def test_results_are_found_in_their_messages() -> None:
    """Of actions in a Result, of updates and of bound parameters in the app_metadata of a PutResult."""
    assert result_in(part(1, b"body")) == b"body"
    assert result_in(b"\xff") is None
    assert record_count(part(1, number(1, -1))) == -1
    assert record_count(b"") == 0
    assert record_count(part(1, b"3 rows")) is None
    assert rebound(part(1, part(1, b"handle"))) == b"handle"
    assert rebound(b"") == b""


def test_every_schema_is_of_a_message_that_there_is() -> None:
    """And every order is of its columns."""
    assert {name.partition(" ")[0] for name in SCHEMAS} <= set(FLIGHT_SQL)
    assert all(set(names) <= set(arrow_schema(name).names) for name, names in ORDER.items())
    assert {name for action in ACTIONS.values() for name in action if name} <= set(FLIGHT_SQL)


def test_values_of_infos_are_children_of_the_union() -> None:
    """Each number has one of its six kinds."""
    assert len(KINDS) == VALUES.num_fields
    assert set(INFO_KINDS.values()) <= set(range(len(KINDS)))
