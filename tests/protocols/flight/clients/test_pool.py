"""What a client made of a situation, as the clauses see it."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.clients.pool import FlightPool
from conformance.protocols.flight.clients.situations import scripted
from conformance.readers.info import ReaderInfo, Takes
from conformance.readers.ipc.job import JobAnswer, JobOutcome
from conformance.records import ReadingOutcome

INFO = ReaderInfo("client.rows", "a client", "", Takes.SERVER, asks="rows")


@pytest.mark.parametrize(
    ("situation", "outcome"),
    [
        ("do-get.plain", ReadingOutcome.UNAVAILABLE),
        ("do-get.other-kind.middle", ReadingOutcome.ERROR),
        ("do-get.body-cut.last", ReadingOutcome.ERROR),
    ],
)
def test_that_a_message_is_not_supported_is_an_error_where_it_is_not_legal(
    situation: str, outcome: ReadingOutcome
) -> None:
    """What is legal, and not supported, is not judged."""
    answer = JobAnswer("x", "client.rows", JobOutcome.UNSUPPORTED, error_text="no tensors")

    read = FlightPool({}, [], seconds=1.0).read(
        INFO, next(one for one in scripted() if one.id == situation), answer, []
    )

    assert (read.answer.outcome, read.answer.text) == (outcome, "no tensors")
