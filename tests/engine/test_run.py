"""A run costs one case per fault, keeps the order of the cases, and says everything it does."""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.contract.clause import Clause, Violation
from conformance.engine.casestep import CaseStep
from conformance.engine.counterexample import Shrinker
from conformance.engine.events import CaseJudged, CounterexampleSaved, Event, RunEnded, SuiteBroke
from conformance.engine.offer import Offer
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.run import AHEAD, FAR_AHEAD, LARGE_BYTES, WORKERS, CaseJob, _Driven, _is_far, run
from conformance.engine.selection import all_clauses
from conformance.generate import load_case
from conformance.records import (
    AppendRows,
    CallEnd,
    Case,
    CreateSession,
    Exchange,
    Outcome,
    Reading,
    ReadRows,
    SplitStream,
    Step,
)
from conformance.targets import ExpectedFailure, TargetError
from tests.engine.samples import (
    CallSubject,
    FakeTarget,
    sample_call,
    sample_case,
    sample_clause,
    sample_exchange,
    started,
)
from tests.engine.test_evidence import BATCH, SCHEMA, serialized
from tests.patience import LONG

OK = sample_clause("calls.ok")


def jobs(*cases: Case, generated: bool = False) -> list[CaseJob]:
    """One job per case."""
    return [CaseJob(case, case.id, generated=generated) for case in cases]


def run_all(
    cases: Iterable[Case],
    answers: Mapping[str, Exchange | Exception] | None = None,
    *,
    clauses: Iterable[Clause] = (OK,),
    capabilities: Collection[str] = (),
    not_offered: Collection[str] = (),
) -> list[Event]:
    """Every event of a run against a fake target."""
    step = CaseStep(clauses, FakeTarget(answers or {}))
    return list(run(started("calls.ok"), jobs(*cases), step, offer=Offer(capabilities, not_offered)))


def outcomes(events: Iterable[Event]) -> dict[str, list[tuple[str, Outcome]]]:
    """Per case, its clauses and outcomes."""
    return {
        event.case_id: [(verdict.clause, verdict.outcome) for verdict in event.verdicts]
        for event in events
        if isinstance(event, CaseJudged)
    }


def test_a_run_is_begun_and_ended_in_its_events() -> None:
    """The first and the last event frame the cases."""
    events = run_all([sample_case("a")])

    assert [event.TAG for event in events] == ["run-started", "case-judged", "run-ended"]


def test_verdicts_come_in_the_order_of_the_cases() -> None:
    """A slow judge of the first case does not let the second one pass it."""
    release = threading.Event()

    def slow_first(subject: CallSubject) -> Iterator[Violation]:
        if subject.raw.label == "slow":
            release.wait(LONG)
        else:
            release.set()
        yield from ()

    answers = {
        "a": sample_exchange("a", sample_call(label="slow")),
        "b": sample_exchange("b", sample_call()),
    }

    events = run_all([sample_case("a"), sample_case("b")], answers, clauses=[sample_clause("c.d", check=slow_first)])

    assert list(outcomes(events)) == ["a", "b"]


def test_a_crash_of_the_target_costs_one_case() -> None:
    """The next case is driven and judged as if nothing had happened."""
    answers = {"a": sample_exchange("a", sample_call(status="", end=CallEnd.CRASH))}

    events = run_all([sample_case("a"), sample_case("b")], answers)

    assert outcomes(events) == {"a": [("calls.ok", Outcome.CRASH)], "b": [("calls.ok", Outcome.PASS)]}


def test_an_error_of_a_clause_costs_that_clause_and_is_never_a_pass() -> None:
    """Its traceback is in the log, for the suite's maintainers."""

    def broken(subject: CallSubject) -> Iterator[Violation]:
        if subject.raw.label == "odd":
            raise ZeroDivisionError("of ours")
        yield from ()

    answers = {"a": sample_exchange("a", sample_call(label="odd"))}

    clauses = [sample_clause("c.d", check=broken), sample_clause("c.e")]
    events = run_all([sample_case("a"), sample_case("b")], answers, clauses=clauses)

    assert outcomes(events) == {
        "a": [("c.d", Outcome.ERROR), ("c.e", Outcome.PASS)],
        "b": [("c.d", Outcome.PASS), ("c.e", Outcome.PASS)],
    }
    (broke,) = [event for event in events if isinstance(event, SuiteBroke)]
    assert "ZeroDivisionError: of ours" in broke.traceback


def test_an_error_while_driving_costs_one_case() -> None:
    """The suite's own driver may break too."""
    events = run_all([sample_case("a"), sample_case("b")], {"a": RuntimeError("of ours")})

    assert outcomes(events) == {"a": [(WHOLE_CASE, Outcome.ERROR)], "b": [("calls.ok", Outcome.PASS)]}


def test_a_target_that_cannot_be_had_again_is_given_up_in_the_end() -> None:
    """Three start-up deadlines in a row are enough; the rest depends on what failed."""
    cases = [sample_case(name) for name in "abcde"]
    answers = {case.id: TargetError("it does not start") for case in cases}

    events = run_all(cases, answers)

    died = [(WHOLE_CASE, Outcome.CRASH)]
    given_up = [(WHOLE_CASE, Outcome.DEPENDENCY_FAILED)]
    assert outcomes(events) == {"a": died, "b": died, "c": died, "d": given_up, "e": given_up}


def test_a_case_that_needs_what_the_target_does_not_declare_is_not_judged() -> None:
    """Undeclared is not applicable, and is listed as unsupported; it is tried when everything else is done."""
    target = FakeTarget({})
    cases = [sample_case(name, clauses=["calls.*"], needs=needs) for name, needs in (("a", ["split"]), ("b", []))]

    events = list(run(started(), jobs(*cases), CaseStep((OK,), target), offer=Offer(["lz4"])))

    assert target.driven == ["b", "a"]
    assert outcomes(events) == {"a": [("calls.ok", Outcome.UNSUPPORTED)], "b": [("calls.ok", Outcome.PASS)]}


def remarks(events: Iterable[Event]) -> tuple[str, ...]:
    """The run's remarks about the target as a whole."""
    return next(event.remarks for event in events if isinstance(event, RunEnded))


def test_a_capability_that_is_there_and_not_declared_is_remarked_on() -> None:
    """A target cannot hide a capability: its cases are tried, and their passes are reported; no verdict changes."""
    events = run_all([sample_case("a", needs=["split"]), sample_case("b", needs=["split"])])

    assert remarks(events)[-1] == (
        "the target does not declare split, but passes all 2 cases of it:"
        " add it to the target's capabilities to judge it"
    )
    assert {outcome for reported in outcomes(events).values() for _, outcome in reported} == {Outcome.UNSUPPORTED}


@pytest.mark.parametrize("answer", [sample_exchange("a"), TargetError("no such thing"), RuntimeError("broke")])
def test_a_capability_that_is_not_there_is_no_remark(answer: Exchange | Exception) -> None:
    """Whatever a target answers to what it does not declare is neither a remark nor an end of the run."""
    failing = sample_clause("calls.ok", check=lambda _: [Violation("nothing", "something")])
    events = run_all([sample_case("a", needs=["split"])], {"a": answer}, clauses=(failing,))

    assert not any("split" in remark for remark in remarks(events))


def test_a_declared_capability_lets_the_case_run() -> None:
    """Declared is tested."""
    events = run_all([sample_case("a", needs=["split"])], capabilities=["split"])

    assert outcomes(events) == {"a": [("calls.ok", Outcome.PASS)]}


def test_what_could_not_be_seeded_is_untestable_for_the_clauses_of_the_case() -> None:
    """A seeding failure is never a read failure."""
    case = sample_case("a", clauses=["calls.ok"])
    answers = {"a": sample_exchange("a", untestable="cannot seed: HTTP 500")}

    events = run_all([case, sample_case("b")], answers)

    assert outcomes(events)["a"] == [("calls.ok", Outcome.UNTESTABLE)]


def test_the_evidence_for_a_finding_comes_with_its_case() -> None:
    """The message that a clause failed on is shown in the event of the case."""
    message = BATCH.serialize().to_pybytes() + b"\xff\xff\xff\xff" + bytes(4)
    exchange = serialized(SCHEMA.serialize().to_pybytes(), message).exchange

    events = run_all(
        [sample_case("a")], {"a": exchange}, clauses=[all_clauses()["framing.batch-without-end-of-stream"]]
    )

    (event,) = (event for event in events if isinstance(event, CaseJudged))
    assert [(verdict.clause, verdict.outcome) for verdict in event.verdicts] == [
        ("framing.batch-without-end-of-stream", Outcome.FAIL)
    ]
    assert [item.finding.clause for item in event.evidence] == ["framing.batch-without-end-of-stream"]


def test_calls_and_bytes_of_a_case_are_counted() -> None:
    """The log says how much was seen."""
    answers = {"a": sample_exchange("a", sample_call(responses=(b"abc", b"de")), sample_call())}

    (event,) = [event for event in run_all([sample_case("a")], answers) if isinstance(event, CaseJudged)]

    assert (event.calls, event.received) == (2, 5)


class CountingReader:
    """A reader that remembers what it was given."""

    def __init__(self) -> None:
        self.cases: list[str] = []

    def read(self, case: Case, exchange: Exchange) -> list[Reading]:
        """No reading, but a trace."""
        assert exchange.case_id == case.id
        self.cases.append(case.id)
        return []


def test_readers_read_every_exchange_that_was_made() -> None:
    """An untestable case has nothing to read."""
    reader = CountingReader()
    answers = {"b": sample_exchange("b", untestable="cannot seed")}
    target = FakeTarget(answers)

    list(run(started(), jobs(sample_case("a"), sample_case("b")), CaseStep((OK,), target, reader)))

    assert reader.cases == ["a"]


def test_closing_a_run_stops_driving() -> None:
    """An interrupted run drives at most what is already in hand."""
    target = FakeTarget({})
    endless = (CaseJob(sample_case(f"case-{index}"), "") for index in range(1000))
    events = run(started(), endless, CaseStep((OK,), target))

    assert [next(events).TAG, next(events).TAG] == ["run-started", "case-judged"]
    in_hand = len(target.driven)
    events.close()
    assert len(target.driven) == in_hand <= FAR_AHEAD + 1


def test_an_interrupted_run_does_not_judge_what_was_driven_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with the cases that are being read and judged at that moment."""
    leaving = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  # as its base
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            leaving.set()
            super().shutdown(wait=wait)

    class Reader(CountingReader):
        def read(self, case: Case, exchange: Exchange) -> list[Reading]:
            leaving.wait(60)
            return super().read(case, exchange)

    def interrupted() -> Iterator[CaseJob]:
        yield from jobs(*(sample_case(f"case-{index}") for index in range(FAR_AHEAD)))
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.engine.run.ThreadPoolExecutor", Pool)
    reader = Reader()

    with pytest.raises(KeyboardInterrupt):
        list(run(started(), interrupted(), CaseStep((OK,), FakeTarget({}), reader)))
    assert len(reader.cases) <= WORKERS


class TestShrinker:
    """Failing generated cases are shrunk and saved, once per distinct failure."""

    @pytest.fixture
    def target(self) -> FakeTarget:
        """A target that refuses everything."""
        return RefusingTarget({})

    def shrinker(self, target: FakeTarget, directory: Path, *, shrinking: bool = True, expected: str = "") -> Shrinker:
        """A shrinker that saves in ``directory``."""
        expectations = [ExpectedFailure(expected, "*")] if expected else []
        return Shrinker(CaseStep((OK,), target), directory, expectations=expectations, shrinking=shrinking)

    def saved(self, target: FakeTarget, shrinker: Shrinker, *, generated: bool = True) -> list[CounterexampleSaved]:
        """The files that a run with two failing cases saves."""
        work = jobs(sample_case("a"), sample_case("b"), generated=generated)
        events = run(started(), work, CaseStep((OK,), target), shrinker=shrinker)
        return [event for event in events if isinstance(event, CounterexampleSaved)]

    def test_the_saved_case_is_smaller_and_reads_back(self, target: FakeTarget, tmp_path: Path) -> None:
        """Two cases that fail alike leave one file."""
        (saved,) = self.saved(target, self.shrinker(target, tmp_path))

        case = load_case(Path(saved.file))
        assert (saved.case_id, saved.clause) == ("a", "calls.ok")
        assert saved.tries > 0
        assert (case.table.recipe.rows if case.table.recipe else len(case.table.rows or ())) == 0

    def test_every_case_that_was_put_to_the_target_counts(self, tmp_path: Path) -> None:
        """Written ones, too: what shrinking may cost is a share of them."""
        target = FakeTarget({})
        shrinker = self.shrinker(target, tmp_path)

        list(run(started(), jobs(*map(sample_case, map(str, range(200)))), CaseStep((OK,), target), shrinker=shrinker))

        assert shrinker.left == 100

    def test_without_shrinking_the_case_is_saved_as_drawn(self, target: FakeTarget, tmp_path: Path) -> None:
        """No further request is made of the target."""
        (saved,) = self.saved(target, self.shrinker(target, tmp_path, shrinking=False))

        assert load_case(Path(saved.file)) == sample_case("a")
        assert target.driven == ["a", "b"]

    def test_expected_failures_are_not_hunted(self, target: FakeTarget, tmp_path: Path) -> None:
        """Nobody wants a counterexample of a known defect in each run."""
        assert self.saved(target, self.shrinker(target, tmp_path, expected="calls.*")) == []

    @pytest.mark.parametrize("error", [KeyError("of ours"), TargetError("it is gone")])
    def test_what_is_raised_while_shrinking_is_reported(self, error: Exception, tmp_path: Path) -> None:
        """Every verdict stands; nothing is saved of a search that broke."""
        target = RefusingTarget({})
        step = CaseStep((OK,), FailingTarget({}, error))
        shrinker = Shrinker(step, tmp_path)

        events = list(
            run(started(), jobs(sample_case("a"), generated=True), CaseStep((OK,), target), shrinker=shrinker)
        )

        assert [event.TAG for event in events] == ["run-started", "case-judged", "suite-broke", "run-ended"]
        (broke,) = (event for event in events if isinstance(event, SuiteBroke))
        assert broke.case_id == "a"
        # Hypothesis may add notes behind the error.
        assert f"{type(error).__name__}: {error}" in broke.traceback
        assert outcomes(events) == {"a": [("calls.ok", Outcome.FAIL)]}
        assert list(tmp_path.iterdir()) == []

    def test_corpus_cases_are_not_hunted(self, target: FakeTarget, tmp_path: Path) -> None:
        """They are small and have names already."""
        assert self.saved(target, self.shrinker(target, tmp_path), generated=False) == []


class RefusingTarget(FakeTarget):
    """Refuses every case, whatever its table."""

    def drive(self, case: Case, table: object) -> Exchange:
        """A refusal."""
        del table
        self.driven.append(case.id)
        return sample_exchange(case.id, sample_call(status="INTERNAL"))


class FailingTarget(FakeTarget):
    """Cannot be driven."""

    def __init__(self, answers: Mapping[str, Exchange | Exception], error: Exception) -> None:
        super().__init__(answers)
        self.error = error

    def drive(self, case: Case, table: object) -> Exchange:
        """The error."""
        del case, table
        raise self.error


class HeldReader(CountingReader):
    """A reader that reads nothing before the target was asked so many times; a run that waits for it would hang."""

    def __init__(self, target: FakeTarget, asked: int) -> None:
        super().__init__()
        self._target, self._asked = target, asked
        self.seen = 0

    def read(self, case: Case, exchange: Exchange) -> list[Reading]:
        """Wait, and remember how many cases were driven then."""
        until = time.monotonic() + 60
        while len(self._target.driven) < self._asked and time.monotonic() < until:
            threading.Event().wait(0.001)
        self.seen = self.seen or len(self._target.driven)
        return super().read(case, exchange)


def _driven_ahead(exchange_bytes: int, asked: int) -> int:
    """The cases that were driven when the first one was read, of which each has that many bytes."""
    cases = [sample_case(f"case-{index}") for index in range(FAR_AHEAD + 10)]
    call = sample_call(responses=(bytes(exchange_bytes),))
    target = FakeTarget({case.id: sample_exchange(case.id, call) for case in cases})
    reader = HeldReader(target, asked)
    list(run(started(), jobs(*cases), CaseStep((OK,), target, reader)))
    return reader.seen


def test_small_cases_are_driven_far_ahead_of_their_readers() -> None:
    """The target is asked for further cases while the first one is still being read, up to a number of cases."""
    assert _driven_ahead(10, FAR_AHEAD) >= FAR_AHEAD


def test_few_large_exchanges_wait_for_their_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No further case is driven where those that wait have many bytes."""
    monkeypatch.setattr("conformance.engine.run.AHEAD_BYTES", 1000)

    assert _driven_ahead(300, AHEAD + 1) == AHEAD + 1


@pytest.mark.parametrize(("sizes", "waits"), [([LARGE_BYTES], False), ([LARGE_BYTES, 1], True), ([1] * AHEAD, False)])
def test_very_large_exchanges_wait_for_their_judge(sizes: list[int], *, waits: bool) -> None:
    """A few of any size are driven ahead, up to a number of bytes together."""
    waiting = []
    for size in sizes:
        waiting.append(_Driven(CaseJob(sample_case("a"), "")))
        waiting[-1].size = size

    assert _is_far(waiting) is waits


def test_a_run_ends_with_its_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds of the whole, not the sum of the cases, and what was noticed about the target."""
    looks = itertools.count()  # at a clock that shows one second more each time: a run looks twice
    monkeypatch.setattr("conformance.engine.run.time", SimpleNamespace(monotonic=lambda: next(looks)))
    *_, end = run_all([sample_case("a"), sample_case("b")])

    assert isinstance(end, RunEnded)
    assert end.seconds == 1
    assert end.remarks == ("it says nothing of itself",)


def asking(case_id: str, *steps: Step) -> Case:
    """A case with these steps and a plain read."""
    return dataclasses.replace(sample_case(case_id, clauses=["calls.*"]), steps=(CreateSession(), ReadRows(), *steps))


def test_a_case_of_a_profile_that_is_not_offered_is_not_judged() -> None:
    """Its clauses are unsupported, with the reason; other cases are judged."""
    failing = sample_exchange("split", sample_call(status="UNIMPLEMENTED"))
    events = run_all([asking("split", SplitStream()), asking("plain")], {"split": failing}, not_offered=["splits"])

    (first, _) = [event.verdicts for event in events if isinstance(event, CaseJudged)]
    assert [(one.outcome, one.reason) for one in first] == [(Outcome.UNSUPPORTED, "the target does not offer splits")]
    assert outcomes(events)["plain"] == [("calls.ok", Outcome.PASS)]
    assert not any("splits" in remark for remark in remarks(events))


def test_a_profile_that_is_there_and_not_offered_is_remarked_on() -> None:
    """Its cases that need nothing else are tried; one that needs more is not, and a generated one is not."""
    cases = [asking("a", SplitStream()), asking("b", SplitStream(), AppendRows(1))]
    target = FakeTarget({})
    step = CaseStep((OK,), target)
    drawn = CaseJob(asking("drawn", SplitStream()), "drawn", generated=True)

    events = list(run(started("calls.ok"), [*jobs(*cases), drawn], step, offer=Offer((), ("splits", "snapshots"))))

    assert target.driven == ["a"]
    assert remarks(events)[-1] == (
        "the target does not offer splits, but passes the 1 case of it that was tried, a:"
        " remove it from not_offered to judge it"
    )


def test_exchanges_are_events_if_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comes before the verdicts on its case; a remark names one that is too large for a line of the log."""
    large = dataclasses.replace(sample_call(), responses=(bytes(100),))
    target = FakeTarget({"b": sample_exchange("b", large)})
    monkeypatch.setattr("conformance.engine.run.MOST_RECORDED", 90)

    cases = [sample_case("a"), sample_case("b")]
    events = list(run(started("calls.ok"), jobs(*cases), CaseStep([OK], target), exchanges=True))

    kinds = [(event.TAG, getattr(event, "case_id", "")) for event in events]
    assert kinds == [
        ("run-started", ""),
        ("exchange-recorded", ""),
        ("case-judged", "a"),
        ("case-judged", "b"),
        ("run-ended", ""),
    ]
    assert isinstance(events[-1], RunEnded)
    assert "too large to be recorded, above 0 MiB: b" in events[-1].remarks


def test_features_meet_in_a_scenario_that_ended_and_not_in_one_that_was_stopped() -> None:
    """The steps that were not reached may be those in which they meet; the case says why it was stopped."""
    scenario = sample_case("a", clauses=["combination.*"])
    whole = sample_exchange("a", sample_call())
    stopped = dataclasses.replace(whole, stopped="the time was used up")

    def judged_as(exchange: Exchange) -> CaseJudged:
        (found,) = [one for one in run_all([scenario], {"a": exchange}) if isinstance(one, CaseJudged)]
        return found

    assert judged_as(whole).meetings
    assert (judged_as(stopped).meetings, judged_as(stopped).stopped) == ((), "the time was used up")
