"""What an exchange is to a clause, where no clause shows it."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.view import View
from conformance.records import CreateSession, Outcome, ReadRows
from tests.contract.exchanges import Obedient, case_of, read


def test_a_response_that_is_no_message_has_no_rows() -> None:
    """The rows of a read are those that its messages count."""
    server = Obedient(case_of(CreateSession(), ReadRows()))
    answers = server.run()
    read(answers).responses.append(b"\x0a\xff")

    (whole,) = View(server.case, server.freeze(answers), server.table).reads

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
    view = View(server.case, server.freeze(answers), server.table)

    assert view.reason_not_judged()[0] is outcome


def test_a_driver_that_stopped_is_the_reason_why_the_rest_was_not_judged() -> None:
    """No call is blamed that was not made."""
    server = Obedient(case_of(CreateSession(), ReadRows()))
    exchange = server.freeze(server.run()[:1])

    view = View(server.case, dataclasses.replace(exchange, stopped="no time", skipped_steps=(1,)), server.table)

    assert view.reason_not_judged() == (Outcome.UNTESTABLE, "no time")


def test_a_refusal_for_another_reason_is_none_of_an_offset() -> None:
    """A server that breaks at an offset beyond the end has not refused it."""
    server = Obedient(case_of(CreateSession(), ReadRows(), ReadRows(offset="11")))
    answers = server.run()
    read(answers, 1).refuse("INTERNAL")

    assert View(server.case, server.freeze(answers), server.table).reason_not_judged()[0] is Outcome.REFUSED
