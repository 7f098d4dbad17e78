"""One case, from its table to its verdicts: each phase once, and an early end where one cannot be done."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from conformance.contract.view import View
from conformance.engine.casestep import CaseStep, CaseWork, Phase
from conformance.engine.outcomes import WHOLE_CASE
from conformance.records import CallEnd, Case, CreateSession, Exchange, Outcome, Reading, ReadingOutcome, ReadRows
from conformance.targets import TargetError
from tests.engine.samples import FakeTarget, sample_call, sample_case, sample_clause, sample_exchange

OK = sample_clause("calls.ok")
READING = Reading("pyarrow.slots", "a", "s", ReadingOutcome.UNAVAILABLE)


class Readings:
    """A reader, and what spares it; it notes what it was asked for."""

    def __init__(self, *, agrees: bool) -> None:
        self.agrees = agrees
        self.asked: list[str] = []

    def read(self, case: Case, exchange: Exchange) -> list[Reading]:
        """A reading of nothing that anybody knows."""
        assert case.id == exchange.case_id
        self.asked.append("read")
        return [READING]

    def prepare(self, _view: View) -> None:
        """A note."""
        self.asked.append("prepare")

    def agree(self, _view: View) -> Sequence[Reading] | None:
        """A reading, if anything."""
        self.asked.append("agree")
        return [READING] if self.agrees else None


def taken(answer: Exchange | Exception, case: Case | None = None) -> CaseWork:
    """A case that was taken to its end, against a target that answers so."""
    return CaseStep((OK,), FakeTarget({"a": answer})).take(CaseWork(sample_case("a") if case is None else case))


def reported(step: CaseStep, work: CaseWork) -> list[tuple[str, Outcome]]:
    """The clauses of a case and their outcomes."""
    return [(verdict.clause, verdict.outcome) for verdict in step.verdicts(work)]


def test_a_case_is_taken_as_far_as_is_asked() -> None:
    """Driving and judging may be in two threads."""
    target = FakeTarget({})
    step = CaseStep((OK,), target)
    work = step.take(CaseWork(sample_case("a")), Phase.DRIVEN)

    assert (work.phase, work.judged, work.view) == (Phase.DRIVEN, None, None)
    assert reported(step, work) == []
    assert reported(step, step.take(work)) == [("calls.ok", Outcome.PASS)]
    assert target.driven == ["a"]


@pytest.mark.parametrize(
    ("error", "outcome", "reason", "broke"),
    [
        (TargetError("it is gone"), Outcome.CRASH, "it is gone", 0),
        (KeyError("of ours"), Outcome.ERROR, "the suite itself broke: KeyError: 'of ours'", 1),
    ],
)
def test_what_is_raised_on_the_way_ends_the_case(error: Exception, outcome: Outcome, reason: str, broke: int) -> None:
    """Faults of the target and of the suite are distinguished; those of the suite have a traceback."""
    work = taken(error)

    assert work.judged is not None
    (verdict,) = work.judged.others
    assert (verdict.clause, verdict.outcome, verdict.reason) == (WHOLE_CASE, outcome, reason)
    assert (work.error, len(work.broke)) == (error, broke)
    assert work.phase == Phase.DRIVEN


def test_how_calls_ended_is_brought_in() -> None:
    """A failure seen on a call that died is a crash."""
    work = taken(sample_exchange("a", sample_call(status="", end=CallEnd.CRASH)))

    assert work.judged is not None
    assert [(one.clause, one.outcome) for one in work.judged.others] == [("calls.ok", Outcome.CRASH)]


def test_a_pass_and_a_death_that_no_clause_saw_are_two_verdicts() -> None:
    """The ids that passed count, though no verdict stands for them."""
    answer = sample_exchange("a", sample_call(status="OK", end=CallEnd.CRASH))
    step = CaseStep((OK,), FakeTarget({"a": answer}))

    assert reported(step, step.take(CaseWork(sample_case("a")))) == [
        ("calls.ok", Outcome.PASS),
        (WHOLE_CASE, Outcome.CRASH),
    ]


@pytest.mark.parametrize(
    ("named", "outcome"),
    [
        ("projection.case-does-not-matter", Outcome.UNTESTABLE),  # a SHOULD
        ("projection.*", Outcome.REFUSED),
    ],
)
def test_a_refusal_that_is_only_advised_against_fails_no_run_of_the_must_clauses(named: str, outcome: Outcome) -> None:
    """The clause of the case is not judged, and the whole case is a MUST."""
    silent = sample_clause("calls.ok", over=lambda _view: ())
    answer = sample_exchange("a", sample_call(status="INVALID_ARGUMENT"))
    case = dataclasses.replace(sample_case("a", clauses=(named,)), steps=(CreateSession(), ReadRows()))
    step = CaseStep((silent,), FakeTarget({"a": answer}))

    assert reported(step, step.take(CaseWork(case))) == [(WHOLE_CASE, outcome)]


@pytest.mark.parametrize(("clauses", "clause"), [((), WHOLE_CASE), (("calls.*",), "calls.ok")])
def test_what_could_not_be_seeded_is_untestable(clauses: tuple[str, ...], clause: str) -> None:
    """For the clauses that the case names, or as a whole."""
    work = taken(sample_exchange("a", untestable="cannot seed"), sample_case("a", clauses=clauses))

    assert work.judged is not None
    (verdict,) = work.judged.others
    assert (verdict.clause, verdict.outcome, verdict.reason) == (clause, Outcome.UNTESTABLE, "cannot seed")


@pytest.mark.parametrize(("agrees", "asked"), [(True, ["prepare", "agree"]), (False, ["prepare", "agree", "read"])])
def test_a_reader_is_asked_where_nothing_spares_it(*, agrees: bool, asked: list[str]) -> None:
    """Either way there is the reading."""
    reader = Readings(agrees=agrees)
    work = CaseStep((OK,), FakeTarget({}), reader, reader).take(CaseWork(sample_case("a")))

    assert reader.asked == asked
    assert work.view is not None
    assert [one.reader for one in work.view.readings] == ["pyarrow.slots"]


def test_a_reader_that_raises_costs_the_readings() -> None:
    """The clauses that do not ask for them are judged."""

    class Broken(Readings):
        def read(self, case: Case, exchange: Exchange) -> list[Reading]:
            raise MemoryError

    step = CaseStep((OK,), FakeTarget({}), Broken(agrees=False))
    work = step.take(CaseWork(sample_case("a")))

    assert reported(step, work) == [("calls.ok", Outcome.PASS)]
    assert work.view is not None
    with pytest.raises(MemoryError):
        _ = work.view.readings


def test_each_phase_has_its_seconds() -> None:
    """The times of driving and judging are separate."""
    work = taken(sample_exchange("a", sample_call()))

    assert len(work.seconds) == len(Phase) + 1
    assert all(seconds >= 0 for seconds in work.seconds)


def test_judging_ends_at_its_deadline() -> None:
    """What is not judged by then is said to be so, and nothing of it passes."""
    step = CaseStep((OK,), FakeTarget({"a": sample_exchange("a", sample_call())}), deadline=-1.0)
    work = step.take(CaseWork(sample_case("a")))

    assert work.judged is not None
    assert work.judged.passed == ()
    assert [verdict.outcome for verdict in work.judged.others] == [Outcome.UNTESTABLE]
    assert "the deadline of the case" in work.judged.others[0].reason
