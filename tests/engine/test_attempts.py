"""A run with several attempts at each case says of each failure whether it always occurs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from conformance.engine.attempts import merge_attempts
from conformance.engine.corpus import load_corpus
from conformance.engine.events import CaseJudged, RunEnded
from conformance.engine.result import Result, fold
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.engine.session import Settings, open_session
from conformance.protocols.storage_read.reference.catalogue import Catalogue
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.records import Outcome, Verdict
from conformance.targets import ExpectedFailure, TargetKind, TargetSpec
from conformance.targets.spec import Endpoint
from tests.engine.samples import failing, judged, passing, started

FRAMING = "framing.batch"
REASON = "fail: # messages (required: one message)"


def repeated(
    *attempts: tuple[Verdict, ...], expectations: tuple[ExpectedFailure, ...] = (), of: int | None = None
) -> Result:
    """The result of a run whose attempts at one case came to these verdicts."""
    start = started(FRAMING, cases=["a"], expectations=expectations)
    events = [dataclasses.replace(judged("a", *one), attempt=at) for at, one in enumerate(attempts, 1)]
    return fold([dataclasses.replace(start, repeat=of or len(attempts)), *events, RunEnded(1.0)])


WRONG, RIGHT = failing("a", FRAMING, "3 messages"), passing("a", FRAMING)


@pytest.mark.parametrize(
    ("attempts", "frequency"),
    [
        ([WRONG, RIGHT, WRONG, RIGHT, RIGHT], "sometimes (2 of 5)"),
        ([RIGHT, RIGHT, RIGHT, RIGHT, WRONG], "sometimes (1 of 5)"),
        ([WRONG, WRONG], "always (2 of 2)"),
        ([WRONG], ""),
    ],
)
def test_a_failure_says_how_often_it_occurs(attempts: list[Verdict], frequency: str) -> None:
    """All attempts are one deviation on one case, and one verdict."""
    result = repeated(*((verdict,) for verdict in attempts))

    (deviation,) = result.failed
    assert (deviation.frequency, deviation.cases) == (frequency, ("a",))
    assert result.outcomes == {Outcome.FAIL: 1}
    assert len(result.cases) == 1


def test_a_clause_that_always_passes_has_one_verdict() -> None:
    """The counts of a report do not depend on the number of attempts."""
    result = repeated((RIGHT,), (RIGHT,), (RIGHT,))

    assert result.outcomes == {Outcome.PASS: 1}
    assert not result.fails


def test_a_clause_that_one_attempt_could_judge_is_judged() -> None:
    """An attempt that shows nothing takes nothing away."""
    silent = Verdict("a", FRAMING, Outcome.UNTESTABLE, reason="nothing shows it")

    assert repeated((silent,), (RIGHT,)).outcomes == {Outcome.PASS: 1}
    assert repeated((silent,), (silent,)).outcomes == {Outcome.UNTESTABLE: 1}


def test_different_failures_of_the_attempts_are_all_kept() -> None:
    """A clause that fails in two ways and by a crash has three deviations, each with its own count."""
    crash = failing("a", FRAMING, "the connection broke", outcome=Outcome.CRASH)

    result = repeated((WRONG,), (failing("a", FRAMING, "no message"),), (crash,), (WRONG,))

    assert {item.reason: item.frequency for item in result.failed} == {
        REASON: "sometimes (2 of 4)",
        "fail: no message (required: one message)": "sometimes (1 of 4)",
        "crash: the connection broke (required: one message)": "sometimes (1 of 4)",
    }


def test_a_deviation_on_several_cases_counts_the_attempts_at_all_of_them() -> None:
    """Only the cases on which it occurs are counted."""
    events = [
        judged("a", WRONG),
        judged("a", WRONG),
        judged("b", failing("b", FRAMING, "4 messages")),
        judged("b", passing("b", FRAMING)),
        judged("c", passing("c", FRAMING)),
        judged("c", passing("c", FRAMING)),
    ]

    (deviation,) = fold([dataclasses.replace(started(FRAMING), repeat=2), *events, RunEnded(1.0)]).failed

    assert (deviation.frequency, deviation.cases) == ("sometimes (3 of 4)", ("a", "b"))


def test_an_interrupted_run_counts_the_attempts_that_it_made() -> None:
    """The last case may have fewer attempts than the others."""
    (deviation,) = repeated((WRONG,), (RIGHT,), of=5).failed

    assert deviation.frequency == "sometimes (1 of 2)"


def test_a_case_that_died_once_is_not_lost() -> None:
    """A verdict on the case as a whole is kept, although other attempts have none."""
    death = Verdict("a", "case", Outcome.CRASH, reason="the server died")

    (deviation,) = repeated((RIGHT,), (death,), (RIGHT,)).failed

    assert (deviation.clauses, deviation.frequency) == (("case",), "sometimes (1 of 3)")


def test_attempts_are_added_up() -> None:
    """Calls, bytes and seconds of a case are those of all its attempts; a run without repetition is left as it is."""
    one = dataclasses.replace(judged("a", RIGHT), calls=2, received=10)

    (merged,) = merge_attempts([one, one, one], 3).cases

    assert (merged.calls, merged.received, merged.seconds) == (6, 30, 1.5)
    assert merge_attempts([one], 1).cases == (one,)


class _EverySecondTime(ReadService):
    """A mutant: every second request without a data format gets ARROW instead of an error."""

    asked = 0

    def check_format(self, data_format: int) -> None:
        if not data_format:
            self.asked += 1
        if data_format or self.asked % 2:
            super().check_format(data_format)


def test_a_server_that_alternates_fails_sometimes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From the requests to the deviation: the right answers of three attempts do not hide the wrong ones of two."""
    monkeypatch.chdir(tmp_path)
    selection = Selection(cases=("errors.format-unspecified", "session.plain"))
    chosen = plan(list(load_corpus().values()), all_clauses(), selection)
    settings = Settings(readers=False, repeat=5)
    with ReferenceServer(service=_EverySecondTime(Catalogue())) as server:
        endpoint = Endpoint(grpc=server.grpc_endpoint, rest=f"http://{server.rest_endpoint}")
        spec = TargetSpec(name="alternating", kind=TargetKind.SERVER, endpoint=endpoint)
        with open_session(spec, chosen, selection, settings) as session:
            events = list(session.events())

    result = fold(events)

    attempts = [(event.case_id, event.attempt) for event in events if isinstance(event, CaseJudged)]
    assert attempts == [(case, at) for case in sorted(selection.cases) for at in range(1, 6)]
    assert {item.clause: item.frequency for item in result.failed} == {
        "errors.unspecified-format-is-refused": "sometimes (2 of 5)"
    }


def test_an_attempt_that_was_stopped_counts_only_if_it_fails() -> None:
    """It says nothing about a failure that it does not have."""
    attempts = [judged("a", WRONG), judged("a", RIGHT), judged("a", WRONG), judged("a", RIGHT)]
    events = [dataclasses.replace(one, stopped="" if at < 2 else "no time") for at, one in enumerate(attempts)]
    merged = merge_attempts(events, 4)

    assert merged.occurred([FRAMING], ["a"], REASON) == (2, 3)
    assert merged.cases[0].stopped == ""
    assert merge_attempts(events[2:], 2).cases[0].stopped == "no time"
