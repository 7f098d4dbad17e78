"""A transcript shows every call of an exchange, protobuf field by field, and says what it cannot read."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from conformance.contract import proto
from conformance.contract.viewing import view_of
from conformance.engine.transcript import transcript
from conformance.protocol import protocol_names
from conformance.records import Call, CallEnd, Exchange, MetadataEntry
from tests.engine.samples import sample_case, sample_exchange

SCHEMA = pa.schema([pa.field("a", pa.int64())]).serialize().to_pybytes()


def lines(*calls: Call) -> list[str]:
    """The transcript of ``calls``."""
    exchange = Exchange("a", "fake", calls, project="p", dataset="d", table="t", skipped_steps=(1,))
    return list(transcript(view_of(sample_case("a"), exchange, pa.table({}))))


def create_session() -> Call:
    """A CreateReadSession call with an Arrow schema."""
    request = proto.CreateReadSessionRequest(parent="projects/p", max_stream_count=1)
    session = proto.ReadSession(name="s", arrow_schema=proto.ArrowSchema(serialized_schema=SCHEMA))
    return Call(
        0, "s", "CreateReadSession", request.SerializeToString(), (session.SerializeToString(),), seconds=0.0125
    )


def test_a_call_is_shown_from_request_to_schema() -> None:
    """Numbers and names of the fields, then the bytes inside."""
    shown = lines(create_session())

    assert shown[0] == "exchange of case a with fake, table p.d.t"
    assert "  step 1 did not apply" in shown
    assert "call 0  CreateReadSession s  OK (complete, 12.5 ms)" in shown
    assert "    1 parent = 'projects/p'" in shown
    assert f"      1 serialized_schema = {len(SCHEMA)} bytes" in shown
    assert f"    schema message, {len(SCHEMA)} bytes" in shown
    assert any("continuation word" in line for line in shown)


def test_a_schema_that_was_shown_is_not_shown_again() -> None:
    """Later calls refer to it."""
    shown = lines(create_session(), create_session())

    assert f"    schema message, {len(SCHEMA)} bytes, the same as in call 0" in shown


def test_what_is_no_message_is_said_to_be_none() -> None:
    """A target may send anything."""
    shown = lines(Call(0, "s", "CreateReadSession", b"", (b"\xff\xff",)))

    assert any(line.startswith("    not a message of this method: ") for line in shown)


def test_a_refusal_shows_status_and_trailers() -> None:
    """The facts on which clients decide."""
    call = Call(
        0,
        "s/0",
        "ReadRows",
        b"",
        status="INTERNAL",
        details="boom",
        trailers=(MetadataEntry("k", b"v"),),
        end=CallEnd.COMPLETE,
    )

    shown = lines(call)

    assert "call 0  ReadRows s/0  INTERNAL: boom (complete, 0.0 ms)" in shown
    assert "  trailer k: b'v'" in shown


def test_a_case_that_was_not_put_to_the_target_says_why() -> None:
    """There is nothing else to show."""
    view = view_of(sample_case("a"), sample_exchange("a", untestable="cannot seed"), pa.table({}))

    assert list(transcript(view)) == ["exchange of case a with fake", "  not put to the target: cannot seed"]


@pytest.mark.parametrize("protocol", protocol_names())
def test_a_method_that_nobody_knows_is_shown_by_its_bytes(protocol: str) -> None:
    """The first of them, with their number: nothing is dropped, and nothing fails."""
    call = Call(0, "", "example.Other/Ask", bytes(range(70)), (b"\x01\x02", b""))
    exchange = Exchange("a", "fake", (call,), protocol=protocol)
    case = dataclasses.replace(sample_case("a"), protocol=protocol)

    shown = list(transcript(view_of(case, exchange, pa.table({}))))

    said = "    of a method that the suite does not know: "
    assert shown[-6:] == [
        "  request, 70 bytes",
        f"{said}{bytes(range(64)).hex(' ')} … (the first 64 of 70 bytes)",
        "  response 0, 2 bytes",
        f"{said}01 02",
        "  response 1, 0 bytes",
        f"{said}nothing",
    ]


def test_a_query_is_shown_as_the_object_that_it_is() -> None:
    """A line for each value, and long texts are cut; bytes that are no object are shown as bytes."""
    call = Call(0, "q", "jobs.query", b'{"query": "SELECT 1"}', (b'{"rows": [], "x": "' + b"y" * 300 + b'"}', b"[1]"))
    exchange = Exchange("a", "fake", (call,))

    shown = list(transcript(view_of(sample_case("a"), exchange, pa.table({}))))
    at = shown.index("  request, 21 bytes")

    assert shown[at + 1 : at + 4] == ["    {", '      "query": "SELECT 1"', "    }"]
    assert '      "rows": [],' in shown
    assert any(line.startswith('      "x": "yyy') and len(line) < 250 for line in shown)
    assert shown[-1] == "    of a method that the suite does not know: 5b 31 5d"
