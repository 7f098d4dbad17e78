"""Events fold into the lists of a report: each deviation once, nothing judged is no success."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from conformance.contract.clause import load_chapters
from conformance.contract.wholecase import WHOLE_CASE
from conformance.engine.events import CaseJudged, CounterexampleSaved, Evidence, Line, RunEnded
from conformance.engine.result import fold, worst
from conformance.records import Outcome, Verdict
from conformance.report.summary import verdict_line
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started

FRAMING = "framing.batch"
END = RunEnded(3.0)


def test_equal_findings_on_many_cases_are_one_deviation() -> None:
    """The first case is shown, the others are counted."""
    events = [judged(case_id, failing(case_id, FRAMING, f"{3 + at} messages")) for at, case_id in enumerate("abc")]

    (deviation,) = fold([started(FRAMING), *events, END]).deviations

    assert (deviation.clauses, deviation.cases, deviation.count) == ((FRAMING,), ("a", "b", "c"), 3)
    assert (deviation.text, deviation.replay) == ("3 messages", "a")
    assert deviation.reason == "fail: # messages (required: one message)"


def test_different_findings_of_one_clause_are_several_deviations() -> None:
    """A clause can be broken in more than one way."""
    result = fold([started(FRAMING), judged("a", failing("a", FRAMING, "3 messages", "no message")), END])

    assert [item.text for item in result.failed] == ["3 messages", "no message"]


def test_a_cause_that_hides_several_clauses_is_listed_once() -> None:
    """One refusal to seed is one line, with every clause it kept from being judged."""
    reason = "cannot seed: HTTP 500"
    verdicts = [Verdict("a", clause, Outcome.UNTESTABLE, reason=reason) for clause in ("types.x", "rows.once")]

    (deviation,) = fold([started("types.x", "rows.once"), judged("a", *verdicts), END]).not_judged

    assert (deviation.clauses, deviation.text) == (("types.x", "rows.once"), reason)


def test_a_clause_that_another_case_shows_is_not_missed() -> None:
    """Only what no case shows is a gap; a case that was not put to the target at all is listed as such."""
    silent = Verdict("a", FRAMING, Outcome.UNTESTABLE, reason="nothing shows it")
    unseeded = Verdict("c", FRAMING, Outcome.UNTESTABLE, reason="cannot seed")
    events = [
        judged("a", silent, passing("a", "rows.once")),
        judged("b", passing("b", FRAMING)),
        judged("c", unseeded),
    ]

    result = fold([started(FRAMING, "rows.once"), *events, END])

    assert [item.text for item in result.not_judged] == ["cannot seed"]


def test_a_run_that_judged_nothing_fails() -> None:
    """Zero passed and zero failed is not success."""
    untestable = Verdict("a", FRAMING, Outcome.UNTESTABLE, reason="cannot seed")

    assert fold([started(FRAMING), judged("a", untestable), END]).fails
    assert fold([started(FRAMING), END]).fails


def test_passes_that_show_nothing_are_no_success() -> None:
    """A server without a table refuses each request, so that the clauses on refusals pass."""
    plain = "session.plain-request-is-served"
    refused = judged("a", passing("a", "errors.missing-table-is-refused"))
    unseeded = judged("b", Verdict("b", plain, Outcome.UNTESTABLE, reason="cannot seed"))

    result = fold([started("errors.missing-table-is-refused", plain), refused, unseeded, END])

    assert result.fails
    assert verdict_line(result) == (
        "FAILED: nothing was judged on 2 cases (1 untestable); a server that serves nothing would pass 1 verdict, too"
    )


@pytest.mark.parametrize(
    ("outcome", "fails"),
    [
        (Outcome.PASS, False),
        (Outcome.FAIL, True),
        (Outcome.ERROR, True),
        (Outcome.CRASH, True),
        (Outcome.HANG, True),
        (Outcome.REFUSED, True),
        (Outcome.UNSUPPORTED, False),
        (Outcome.UNTESTABLE, False),
    ],
)
def test_the_exit_status_follows_the_outcomes(outcome: Outcome, *, fails: bool) -> None:
    """Next to a pass, each outcome has its own rule."""
    verdicts = [passing("a", "rows.once"), Verdict("a", FRAMING, outcome, reason="so it was")]

    assert fold([started(FRAMING, "rows.once"), judged("a", *verdicts), END]).fails is fails


@pytest.mark.parametrize(
    ("changed", "fails"),
    [
        ({}, True),
        ({"select": ("flight.*",)}, True),
        ({"not_offered": ()}, False),
        ({"profile": "server"}, False),
    ],
)
def test_a_flight_server_that_serves_nothing_fails(changed: dict[str, Any], *, fails: bool) -> None:
    """It may leave out each method, and its refusals pass; a selection may be of cases that ask for refusals alone."""
    flies: dict[str, Any] = {"profile": "flight", "not_offered": ("put",)} | changed
    start = dataclasses.replace(started(FRAMING, "rows.once"), **flies)
    case = dataclasses.replace(judged("a", passing("a", FRAMING)), calls=3)
    owed = dataclasses.replace(judged("b", Verdict("b", "rows.once", Outcome.UNTESTABLE, reason="no rows")), calls=1)

    assert fold([start, case, owed, END]).fails is fails
    assert not fold([start, dataclasses.replace(case, received=1), owed, END]).fails
    assert not fold([start, case, END]).fails, "every case asks for refusals, and got them"


def test_the_failure_of_a_may_clause_fails_no_run() -> None:
    """Nothing promises what it asks for; the verdict counts it all the same."""
    load_chapters()
    optional, kept = "session.trace-id-is-echoed", "session.names-differ"
    result = fold([started(optional, kept), judged("a", failing("a", optional, "absent"), passing("a", kept)), END])

    assert not result.fails
    assert [item.clause for item in result.optional] == [optional]
    assert verdict_line(result).endswith("1 MAY clause not met")
    refused = Verdict("b", WHOLE_CASE, Outcome.REFUSED, reason="ended in UNKNOWN")
    assert fold([started(optional), judged("a", failing("a", optional, "absent")), judged("b", refused), END]).fails


def test_a_log_that_breaks_off_is_incomplete_and_fails() -> None:
    """Half a run is not a pass."""
    result = fold([started(FRAMING), judged("a", passing("a", FRAMING))])

    assert (result.complete, result.fails, result.seconds) == (False, True, 0.5)


def test_a_stale_entry_fails_a_run_without_failures() -> None:
    """An entry for nothing would excuse a future defect unseen."""
    start = started(FRAMING, expectations=[ExpectedFailure("rows.*", "fail: *")])

    assert fold([start, judged("a", passing("a", FRAMING)), END]).fails


def test_an_excused_finding_is_not_among_the_failures_of_its_verdict() -> None:
    """Of two findings only the one that nothing excuses is a surprise."""
    start = started(FRAMING, expectations=[ExpectedFailure(FRAMING, "fail: # messages*")])

    result = fold([start, judged("a", failing("a", FRAMING, "3 messages", "no message")), END])

    assert [item.text for item in result.failed] == ["no message"]
    assert [item.text for item in result.listed(Outcome.EXPECTED_FAIL)] == ["3 messages"]


def test_the_replay_of_a_deviation_is_its_counterexample() -> None:
    """The small case is the one to look at."""
    reason = "fail: # messages (required: one message)"
    saved = CounterexampleSaved("a", FRAMING, reason, "small.json", 9)

    (deviation,) = fold([started(FRAMING), judged("a", failing("a", FRAMING, "3 messages")), saved, END]).failed

    assert deviation.replay == "small.json"


def test_a_deviation_shows_the_bytes_of_its_first_finding() -> None:
    """Evidence belongs to a finding, not to a case."""
    verdict = failing("a", FRAMING, "3 messages")
    evidence = Evidence(verdict.findings[0], "batch of call 0", (Line(0, "ff", "x", "y"),))
    event = CaseJudged("a", "Case a", "a", (verdict,), (evidence,))

    (deviation,) = fold([started(FRAMING), event, END]).failed

    assert deviation.evidence == evidence


def test_a_clause_stands_under_its_worst_outcome() -> None:
    """One failure outweighs a hundred passes."""
    events = [judged("a", passing("a", FRAMING)), judged("b", failing("b", FRAMING, "3 messages"))]
    result = fold([started(FRAMING, "rows.once"), *events, END])

    assert worst(result.by_clause[FRAMING]) is Outcome.FAIL
    assert result.silent == ("rows.once",)


def test_every_outcome_has_a_rank() -> None:
    """No outcome is forgotten when the worst one is chosen."""
    for outcome in Outcome:
        result = fold([started(FRAMING), judged("a", Verdict("a", FRAMING, outcome, reason="r")), END])

        assert worst(result.by_clause[FRAMING]) is outcome


def test_a_fold_needs_a_run() -> None:
    """Events without a beginning cannot be reported."""
    with pytest.raises(ValueError, match="expected the events of a run"):
        fold([END])


def test_the_seconds_of_a_run_that_was_cut_short_are_those_that_passed() -> None:
    """Two cases that were judged at the same time count once."""
    cases = [dataclasses.replace(judged(case), at=at, seconds=5.0) for case, at in (("a", 5.0), ("b", 6.5))]

    assert fold([started("a.x"), *cases]).seconds == 6.5


def test_a_case_that_was_stopped_makes_no_entry_stale_and_no_pass_unexpected() -> None:
    """The expected failure may be on what was not asked."""
    start = started(FRAMING, cases=["a", "b"], expectations=[ExpectedFailure(FRAMING, "fail: *", case="a")])
    everywhere = dataclasses.replace(start, expectations=(ExpectedFailure(FRAMING, "fail: *"),), decided=(0,))
    untold = Verdict("a", FRAMING, Outcome.UNTESTABLE, reason="the time was used up")
    stopped = dataclasses.replace(judged("a", untold), stopped="the time was used up")
    right = judged("b", passing("b", FRAMING))

    assert not fold([start, stopped, right, RunEnded(1.0)]).fails
    assert not fold([everywhere, stopped, right, RunEnded(1.0)]).fails
    assert fold([everywhere, dataclasses.replace(stopped, stopped=""), right, RunEnded(1.0)]).fails
