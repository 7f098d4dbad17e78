"""What an exchange is to a clause, where no clause shows it."""

from __future__ import annotations

import dataclasses
from contextlib import closing

import pyarrow as pa
import pytest

from conformance.contract.judge import judge
from conformance.contract.view import NOTHING_SHOWN
from conformance.contract.viewing import profile_of, view_of
from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.generate import materialise
from conformance.protocol import plugin
from conformance.records import (
    CallStep,
    ChangeColumns,
    Column,
    CreateSession,
    Exchange,
    Happening,
    Meanwhile,
    Outcome,
    ReadRows,
    Step,
)
from conformance.records.steps import AlteredColumn
from conformance.reference.plugin import ReferencePlugin
from conformance.targets.allowance import OUT_OF_TIME, unreached
from tests.contract.exchanges import Obedient, case_of


def test_a_driver_that_stopped_is_the_reason_why_the_rest_was_not_judged() -> None:
    """No call is blamed that was not made."""
    server = Obedient(case_of(CreateSession(), ReadRows()))
    exchange = server.freeze(server.run()[:1])

    view = view_of(server.case, dataclasses.replace(exchange, stopped="no time", skipped_steps=(1,)), server.table)

    assert view.reason_not_judged() == (Outcome.UNTESTABLE, "no time")


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


@pytest.mark.parametrize(
    ("steps", "skipped", "said"),
    [
        (
            (Meanwhile(Happening.VIEW), CreateSession(), ReadRows()),
            (0, 1, 2),
            "the target offers no way to carry out the step meanwhile view",
        ),
        (
            (CreateSession(), ChangeColumns(drop=("a", "b")), ReadRows()),
            (1, 2),
            "the target offers no way to carry out the step change-columns a, b",
        ),
        (
            (CreateSession(), ChangeColumns(alter=(AlteredColumn("a", Column("b", "INT64")),)), ReadRows()),
            (1, 2),
            "the target offers no way to carry out the step change-columns a",
        ),
        ((CreateSession(), ReadRows(offset="end+1")), (1,), NOTHING_SHOWN),
        ((Meanwhile(Happening.RESTART), CreateSession(), ReadRows()), (2,), NOTHING_SHOWN),
    ],
)
def test_a_step_that_the_target_cannot_carry_out_is_the_reason(
    steps: tuple[Step, ...], skipped: tuple[int, ...], said: str
) -> None:
    """All behind it was left out too; a read that has no such place is no such step."""
    case = case_of(CreateSession(), ReadRows())
    case = dataclasses.replace(case, steps=steps)
    exchange = Exchange(case.id, "by hand", (), skipped_steps=skipped)

    view = view_of(case, exchange, materialise(case.table))

    assert view.reason_not_judged() == (Outcome.UNTESTABLE, said)


def test_each_step_of_the_corpus_can_be_left_out() -> None:
    """The reason names it in one line, whatever its keys are."""
    left_out = 0
    for case in load_corpus(protocol=None).values():
        steps = [place for place, step in enumerate(case.steps) if not isinstance(step, CallStep)]
        for place in steps:
            exchange = Exchange(case.id, "by hand", (), skipped_steps=tuple(range(place, len(case.steps))))

            outcome, said = view_of(case, exchange, pa.table({})).reason_not_judged()

            assert outcome is Outcome.UNTESTABLE
            assert said.startswith(f"the target offers no way to carry out the step {case.steps[place].TAG}")
            assert "{" not in said
            left_out += 1

    assert left_out > 20
