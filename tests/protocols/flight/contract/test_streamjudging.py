"""The clauses on streams judge the messages of a Flight call, and name the bytes that were sent."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.ipc.judging import judge_ipc
from conformance.protocols.flight.contract.streamjudging import judge_flight
from conformance.records import Finding, Outcome
from conformance.wire import Kind
from tests.protocols.flight.wire.samples import divided, flight_data, streamed
from tests.wire.breaking import ENCODED_SCHEMA, GOOD_BATCH, GOOD_SCHEMA, SOUND, VALUES

METADATA = flight_data(metadata=b"of the application")


def failed(messages: list[bytes], call: int = 0) -> dict[str, tuple[Finding, ...]]:
    """The findings of each clause that fails."""
    return {one.clause: one.findings for one in judge_flight(messages, call) if one.outcome is Outcome.FAIL}


def test_sound_messages_pass_every_clause_on_streams() -> None:
    """The verdicts are those on the same stream in a file."""
    batch = pa.RecordBatch.from_pydict({"x": pa.array(["a", None]).dictionary_encode(), "y": [1, None]})
    data = streamed(batch, batch)
    verdicts = judge_flight([METADATA, *(flight_data(one, metadata=b"m") for one in divided(data)), METADATA])

    assert verdicts == judge_ipc(data, Kind.STREAM)
    assert Outcome.FAIL not in {one.outcome for one in verdicts}
    assert Outcome.PASS in {one.outcome for one in verdicts}


@pytest.mark.parametrize("messages", [[], [METADATA, b""]], ids=["none", "metadata"])
def test_without_an_ipc_message_nothing_is_judged(messages: list[bytes]) -> None:
    """No clause passes on bytes that are not there."""
    assert judge_flight(messages) == []


def test_a_finding_names_the_message_and_its_bytes() -> None:
    """A value that is out of range in the third message, at its offset in that message."""
    sent = [flight_data(ENCODED_SCHEMA), METADATA, flight_data(SOUND, metadata=b"m"), flight_data(VALUES)]
    (finding,) = failed(sent, call=7)["dictionary.defined"]

    assert (finding.call, finding.response) == (7, 2)
    assert finding.start is not None
    assert sent[2][finding.start : finding.end] == SOUND[-8:]


def test_the_transport_ends_a_message() -> None:
    """A body that is cut is a finding on its message, and the next message is read as it was sent."""
    sent = [flight_data(GOOD_SCHEMA), flight_data(GOOD_BATCH[:-8]), flight_data(GOOD_BATCH)]
    found = failed(sent)

    assert {one.response for findings in found.values() for one in findings} == {1}
    assert "stream.whole" in found
