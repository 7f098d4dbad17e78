"""The request of a client is judged by its bytes: clauses on the driver's plan have no subject."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from conformance.contract.judge import judge
from conformance.contract.viewing import view_of
from conformance.engine.outcomes import refine
from conformance.generate import materialise
from conformance.records import (
    Asker,
    AskerKind,
    BqType,
    CallEnd,
    Case,
    Column,
    CreateSession,
    Exchange,
    Json,
    Outcome,
    ReadRows,
    Table,
)
from tests.contract.exchanges import Obedient

ASKER = Asker(AskerKind.PROXY, "spark-bigquery", "0.42.1")
CASE = Case(
    "a",
    "A table of two rows",
    Table((Column("n", BqType.INT64),), rows=(Json({"n": 1}), Json({"n": 2}))),
    steps=(CreateSession(), ReadRows()),
)
END = b"\xff\xff\xff\xff\0\0\0\0"
"""The end of a stream, which no message has behind it."""
PLANLESS = Case("recorded", "What a client said to its server", Table((), rows=()), steps=())


def by_a_client(exchange: Exchange) -> Exchange:
    """The exchange as a proxy has it: no call carries out a step."""
    calls = tuple(dataclasses.replace(call, step=0, label="") for call in exchange.calls)
    return dataclasses.replace(exchange, case_id=PLANLESS.id, calls=calls, asked_by=ASKER)


def exchanged(*, trailing: bytes = b"") -> Exchange:
    """The exchange of an obedient server, with so many bytes behind each batch."""
    obedient = Obedient(CASE)
    answers = obedient.run()
    for answer in answers[1:]:
        for response in answer.responses:
            response.arrow_record_batch.serialized_record_batch += trailing
    return obedient.freeze(answers)


def test_only_clauses_on_bytes_have_a_subject() -> None:
    """The driver's own exchange shows sessions, rows and values as well."""
    driven = {one.clause.partition(".")[0] for one in judge(CASE, exchanged(), materialise(CASE.table))}
    verdicts = judge(PLANLESS, by_a_client(exchanged()), pa.table({}))

    shown = {one.clause.partition(".")[0] for one in verdicts}
    assert {one.outcome for one in verdicts} == {Outcome.PASS}
    assert shown >= {"framing", "body", "schema"}
    assert not shown & {"session", "rows", "calls", "errors", "offsets", "projection", "values", "restriction"}
    assert driven >= shown | {"session", "rows", "calls", "values"}


def test_the_batches_are_judged_under_the_session_that_named_their_stream() -> None:
    """A proxy knows no labels; the stream's name joins both."""
    view = view_of(PLANLESS, by_a_client(exchanged()), pa.table({}))

    assert [batch.arrow() is not None for batch in view.batches] == [True]


def test_a_broken_batch_is_found() -> None:
    """The asker makes no difference."""
    verdicts = judge(PLANLESS, by_a_client(exchanged(trailing=END)), pa.table({}))

    assert {one.clause for one in verdicts if one.outcome is Outcome.FAIL} >= {"framing.batch-without-end-of-stream"}


def test_a_request_that_is_no_message_is_the_clients_own() -> None:
    """The answers are still judged."""
    exchange = by_a_client(exchanged())
    calls = tuple(dataclasses.replace(call, request=b"\xff\xff") for call in exchange.calls)

    verdicts = judge(PLANLESS, dataclasses.replace(exchange, calls=calls), pa.table({}))

    assert {one.outcome for one in verdicts} == {Outcome.PASS}


def test_a_refusal_is_no_failure_of_the_server() -> None:
    """Nobody knows what the client was to be answered."""
    exchange = by_a_client(exchanged())
    refused = dataclasses.replace(exchange.calls[0], status="NOT_FOUND", responses=())
    exchange = dataclasses.replace(exchange, calls=(refused,))
    view = view_of(PLANLESS, exchange, pa.table({}))

    (verdict,) = refine(PLANLESS, exchange, [], view.reason_not_judged)

    assert (verdict.outcome, verdict.reason) == (Outcome.UNTESTABLE, "nothing in the exchange shows it")


@pytest.mark.parametrize(("end", "outcome"), [(CallEnd.CRASH, Outcome.CRASH), (CallEnd.DEADLINE, Outcome.HANG)])
def test_a_death_is_one_whoever_asked(end: CallEnd, outcome: Outcome) -> None:
    """It is reported for the exchange as a whole."""
    exchange = by_a_client(exchanged())
    died = dataclasses.replace(exchange.calls[0], status="", end=end, responses=())
    exchange = dataclasses.replace(exchange, calls=(died,))

    (verdict,) = refine(PLANLESS, exchange, [], view_of(PLANLESS, exchange, pa.table({})).reason_not_judged)

    assert verdict.outcome is outcome
