"""What an exchange is to a clause, where no clause shows it."""

from __future__ import annotations

import dataclasses
from contextlib import closing

import pytest

from conformance.contract.judge import judge
from conformance.contract.view import View
from conformance.contract.viewing import profile_of
from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.generate import materialise
from conformance.protocol import plugin
from conformance.records import CreateSession, Outcome, ReadRows
from conformance.reference.plugin import ReferencePlugin
from conformance.targets.allowance import OUT_OF_TIME, unreached
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


@pytest.mark.parametrize(("protocol", "every"), [("storage-read", 9), ("flight", 5)])
def test_no_clause_takes_calls_that_were_not_made_for_an_answer(protocol: str, every: int) -> None:
    """The reference passes wherever the driver stops: before its second call, in the middle, and before the last."""
    clauses = tuple(one for one in all_clauses().values() if profile_of(protocol) in one.profiles)
    failed = {}
    spoken = plugin(ReferencePlugin, protocol)
    with closing(spoken.target(None)) as target:
        for case in [one for one in load_corpus(data_file("cases"), protocol).values() if len(one.steps) > 1][::every]:
            table = materialise(case.table)
            whole = target.drive(dataclasses.replace(case, isolated=False), table)
            if not whole.calls or whole.received > 1_000_000:
                continue
            for end in {1, len(whole.calls) // 2, len(whole.calls) - 1} - {len(whole.calls)}:
                calls, at = whole.calls[:end], whole.calls[end].step
                skipped = [step for step in whole.skipped_steps if step < at]
                skipped += unreached(case, calls, skipped, at)
                part = dataclasses.replace(whole, calls=calls, skipped_steps=tuple(skipped), stopped=OUT_OF_TIME)
                verdicts = judge(case, part, table, clauses=clauses)
                failed |= {(case.id, end, one.clause): one for one in verdicts if one.outcome.fails_run}

    assert not failed
