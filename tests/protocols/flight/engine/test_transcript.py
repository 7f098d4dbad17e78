"""The messages of Flight are shown field by field, and so are the messages inside of their bytes."""

from __future__ import annotations

from conformance.protocols.flight.contract.encoding import part, text
from conformance.protocols.flight.contract.sqlmessages import packed
from conformance.protocols.flight.engine.transcript import FlightTranscript
from conformance.records import Call


def shown(call: Call, *, most: int = 400) -> str:
    """The lines of all requests, then of all responses."""
    transcript = FlightTranscript(call, most)
    lines = [line for one in call.requests for line in transcript.lines(one, request=True)]
    return "\n".join([*lines, *(line for one in call.responses for line in transcript.lines(one, request=False))])


def test_a_descriptor_shows_the_statement_in_its_command() -> None:
    """Behind an Any, and its type."""
    command = packed("CommandStatementQuery", text(1, "SELECT 1"))
    call = Call(0, "i", "GetFlightInfo", b"\x08\x02" + part(2, command))

    assert "1 type = 2 CMD" in shown(call)
    assert "CommandStatementQuery\n          1 query = 'SELECT 1'" in shown(call)


def test_an_action_decides_what_its_result_is() -> None:
    """The bytes of a result do not say what they are."""
    request = text(1, "CloseSession") + part(2, b"")
    call = Call(0, "", "DoAction", request, (part(1, b"\x08\x01"),))

    assert "CloseSessionResult\n          1 status = 1 CLOSED" in shown(call)


def test_a_put_of_sql_has_counts() -> None:
    """The first message of the call says what was put."""
    command = packed("CommandStatementUpdate", text(1, "DELETE"))
    descriptor = part(1, b"\x08\x02" + part(2, command))
    call = Call(0, "", "DoPut", descriptor, (part(1, b"\x08\x07"),))

    assert "DoPutUpdateResult\n          1 record_count = 7" in shown(call)


def test_what_is_no_message_says_why() -> None:
    """And shows its bytes."""
    call = Call(0, "", "DoGet", b"\x0a\x7f")

    assert "not a message of this kind: " in shown(call)
    assert shown(call).endswith("    0a 7f")


def test_a_hostile_message_is_cut() -> None:
    """A message of a thousand fields is not a thousand lines."""
    call = Call(0, "", "GetFlightInfo", text(3, "a") * 1000)

    assert shown(call, most=10).splitlines()[10:] == ["    … 991 more lines; `conformance extract` saves the bytes"]


def test_an_arrow_message_is_annotated() -> None:
    """In a FlightData, byte by byte."""
    header = bytes.fromhex("10000000") + bytes(12)
    call = Call(0, "", "DoGet", b"", (part(2, header),))

    assert "2 data_header = 16 bytes" in shown(call)
    assert "FlightData, bytes 0 to 18" in shown(call)
