"""What the clauses on sessions see, where no clause shows it."""

from __future__ import annotations

import gc
import weakref

import pytest

from conformance.contract.viewing import view_of
from conformance.records import CreateSession, Outcome, ReadRows
from tests.contract.exchanges import Obedient, case_of, read


def test_a_response_that_is_no_message_has_no_rows() -> None:
    """The rows of a read are those that its messages count."""
    server = Obedient(case_of(CreateSession(), ReadRows()))
    answers = server.run()
    read(answers).responses.append(b"\x0a\xff")

    (whole,) = view_of(server.case, server.freeze(answers), server.table).reads

    assert whole.responses[-1].message is None
    assert whole.row_count == 10


@pytest.mark.parametrize(
    ("offset", "outcome"), [("10", Outcome.REFUSED), ("11", Outcome.UNTESTABLE), ("1000", Outcome.UNTESTABLE)]
)
def test_an_offset_that_no_read_has_reached_may_be_refused(offset: str, outcome: Outcome) -> None:
    """A written offset is judged against what the earlier read of that stream gave: ten rows here."""
    server = Obedient(case_of(CreateSession(), ReadRows(), ReadRows(offset=offset)))
    answers = server.run()
    read(answers, 1).refuse("FAILED_PRECONDITION")
    view = view_of(server.case, server.freeze(answers), server.table)

    assert view.reason_not_judged()[0] is outcome


def test_a_refusal_for_another_reason_is_none_of_an_offset() -> None:
    """A server that breaks at an offset beyond the end has not refused it."""
    server = Obedient(case_of(CreateSession(), ReadRows(), ReadRows(offset="11")))
    answers = server.run()
    read(answers, 1).refuse("INTERNAL")

    assert view_of(server.case, server.freeze(answers), server.table).reason_not_judged()[0] is Outcome.REFUSED


@pytest.mark.parametrize("form", ["ARROW", "AVRO"])
def test_large_rows_are_kept_once(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """A view of the response that was recorded: neither the message nor a payload holds them again."""
    monkeypatch.setattr("conformance.protocols.storage_read.contract.view.LARGE", 0)
    server = Obedient(case_of(CreateSession(data_format=form), ReadRows()))
    exchange = server.freeze(server.run())

    (whole,) = view_of(server.case, exchange, server.table).reads
    response = whole.responses[0]

    assert whole.batches is not None
    assert [row for batch in whole.batches for row in batch.to_pylist()] == server.table.to_pylist()
    assert isinstance(response.payload, memoryview)
    assert response.payload.obj is whole.raw.responses[0]
    assert response.format is not None
    assert response.format.rows_in(response.message) == b""
    assert response.row_count == response.message.row_count > 0


def test_a_released_view_lets_its_calls_go_at_once() -> None:
    """They refer to it, and a collector of garbage would come late."""
    server = Obedient(case_of(CreateSession(), ReadRows()))
    view = view_of(server.case, server.freeze(server.run()), server.table)
    read_call = weakref.ref(view.reads[0])
    gc.disable()
    try:
        view.release()

        assert read_call() is None
    finally:
        gc.enable()
