"""Cases are drawn to tell which options of a case a failure takes; nothing is said that they did not show."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable

import pyarrow as pa
import pytest

from conformance.engine import isolating
from conformance.engine.casestep import CaseStep
from conformance.engine.contrast import contrast
from conformance.engine.dependence import Symptom
from conformance.engine.events import CaseJudged, CauseIsolated, Event, RunEnded, RunStarted
from conformance.engine.isolating import TRIES, Isolator, isolate
from conformance.engine.merge import merge
from conformance.engine.owed import reference_target
from conformance.engine.result import fold
from conformance.engine.run import CaseJob, run
from conformance.engine.selection import all_clauses
from conformance.generate.scenariokinds import draw_scenario
from conformance.protocols.storage_read.reference.hosted import storage_target
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.protocols.storage_read.targets.driver import ServerTarget
from conformance.records import (
    AppendRows,
    BqType,
    Case,
    Column,
    CreateSession,
    Exchange,
    Expect,
    FaultKind,
    PlannedFault,
    ReadRows,
    Recipe,
    Table,
)
from tests.engine.samples import failing, judged, started

RESTRICTED = Expect(rows=(1,))
CASE = Case(
    "a.b",
    "Everything at once",
    Table((), rows=()),
    steps=(
        CreateSession(row_restriction="x > 1", selected_fields=("x",), trace_id="t", expect=RESTRICTED),
        ReadRows(offset="1"),
        ReadRows(offset="end+1", expect=Expect(codes=("FAILED_PRECONDITION",))),
    ),
)


def asked(case: Case) -> set[str]:
    """The options of :data:`CASE` that are left."""
    session, read, _ = case.steps
    assert isinstance(session, CreateSession)
    assert isinstance(read, ReadRows)
    names = {name for name in ("row_restriction", "selected_fields", "trace_id") if getattr(session, name)}
    return names | ({"offset"} if read.offset != "0" else set())


def test_two_options_that_only_together_fail_are_named() -> None:
    """Each of the others is left out, and each of the two is tried alone."""
    found = isolate(CASE, lambda case: {"row_restriction", "offset"} <= asked(case))

    assert found == (("row_restriction", "an offset"), ("selected_fields", "trace_id"), 6)


def test_an_option_is_needed_only_if_nothing_fails_without_it_in_the_end() -> None:
    """Here the offset hides the failure without a restriction; the restriction is not needed once the offset is out."""
    assert isolate(CASE, lambda case: "row_restriction" in asked(case) or "offset" not in asked(case)) is None


def test_an_option_that_a_request_to_be_refused_keeps_is_not_called_left_out() -> None:
    """The last read of the case has an offset beyond the end in each of the drawn cases."""
    found = isolate(CASE, lambda case: "row_restriction" in asked(case))

    assert found is not None
    assert found[:2] == (("row_restriction",), ("selected_fields", "trace_id"))


@pytest.mark.parametrize("offset", ["3", "resume"])
def test_an_option_that_another_one_brings_is_not_called_left_out(offset: str) -> None:
    """After a fault on the way the driver reads on from an offset, whatever the case says of offsets."""
    fault = PlannedFault(FaultKind.STATUS, responses=1)
    steps = (CreateSession(trace_id="t"), ReadRows(faults=(fault,)), ReadRows(offset=offset))

    found = isolate(
        dataclasses.replace(CASE, steps=steps), lambda case: any(getattr(step, "faults", ()) for step in case.steps)
    )

    assert found is not None
    assert found[:2] == (("a fault on the way",), ("trace_id",))


def test_nothing_is_said_where_only_cases_with_unknown_rows_would_tell() -> None:
    """Which of the rows that came later a restriction keeps is not known, so it cannot do without its snapshot time."""
    session = CreateSession(row_restriction="x > 1", snapshot="before-append", trace_id="t", expect=RESTRICTED)
    case = dataclasses.replace(CASE, steps=(AppendRows(1), session, ReadRows()))

    assert isolate(case, lambda one: getattr(one.steps[1], "row_restriction", "") != "") is None


def test_a_snapshot_time_goes_where_the_restriction_is_gone() -> None:
    """Every row of the table is known."""
    session = CreateSession(row_restriction="x > 1", snapshot="before-append", expect=RESTRICTED)
    case = dataclasses.replace(CASE, steps=(AppendRows(1), session, ReadRows()))
    drawn: list[Case] = []

    found = isolate(case, lambda one: not drawn.append(one))

    assert found is not None
    assert found[:2] == ((), ("row_restriction", "snapshot_time"))
    assert {step.expect for one in drawn if not (step := one.steps[1]).row_restriction} == {Expect()}


@pytest.mark.parametrize(
    ("fails", "needed"),
    [
        (lambda left: "selected_fields" in left, ("selected_fields",)),
        (lambda _: True, ()),
        (lambda left: len(left) == 4, ("row_restriction", "selected_fields", "trace_id", "an offset")),
    ],
)
def test_as_many_options_as_it_takes(fails: Callable[[set[str]], bool], needed: tuple[str, ...]) -> None:
    """One, none, or all of them."""
    found = isolate(CASE, lambda case: fails(asked(case)))

    assert found is not None
    assert found[0] == needed


def test_known_rows_go_with_their_restriction_and_refused_requests_stay() -> None:
    """A session without its restriction shows every row; a request that has to be refused keeps its options."""
    drawn: list[Case] = []

    isolate(CASE, lambda case: not drawn.append(case))

    assert all((step := case.steps[0]).expect == (RESTRICTED if asked_for(step) else Expect()) for case in drawn)
    assert {case.steps[2] for case in drawn} == {CASE.steps[2]}


def asked_for(step: object) -> bool:
    """True if a session has the restriction."""
    return isinstance(step, CreateSession) and bool(step.row_restriction)


def test_a_request_that_may_be_refused_loses_its_options_too() -> None:
    """Else it would fail on, and an option that it takes would be called unneeded."""
    session, *reads = CASE.steps
    lenient = dataclasses.replace(session, expect=dataclasses.replace(RESTRICTED, codes=("OK", "INVALID_ARGUMENT")))
    drawn: list[Case] = []

    def fails(case: Case) -> bool:
        drawn.append(case)
        return "row_restriction" in asked(case)

    found = isolate(dataclasses.replace(CASE, steps=(lenient, *reads)), fails)

    assert found is not None
    assert found[0] == ("row_restriction",)
    assert {case.steps[0].expect.codes for case in drawn if not asked_for(case.steps[0])} == {("OK",)}


@pytest.mark.parametrize("missing", ["row_restriction", "offset"])
def test_nothing_is_said_if_a_drawn_case_fails_otherwise(missing: str) -> None:
    """Whether it would fail as the cause does cannot be seen then."""
    assert isolate(CASE, lambda case: None if missing not in asked(case) else True) is None


def test_nothing_is_said_of_what_does_not_fail_again_or_has_one_option() -> None:
    """A failure that occurs sometimes, and a case with nothing to tell apart."""
    plain = dataclasses.replace(CASE, steps=(CreateSession(trace_id="t"), ReadRows()))

    assert isolate(CASE, lambda _: False) is None
    assert isolate(plain, lambda _: True) is None


def test_the_drawn_cases_are_bounded() -> None:
    """With every option of a session and of a read set."""
    session = dataclasses.replace(
        CreateSession(row_restriction="x", selected_fields=("x",), max_stream_count=1, preferred_min_stream_count=1),
        buffer_compression="ZSTD", response_compression="LZ4", trace_id="t", parent="p", snapshot="past",
        sample_percentage=1.0,
    )  # fmt: skip
    case = dataclasses.replace(CASE, steps=(session, ReadRows(offset="1", take=1, times=2)))
    tries: list[Case] = []

    isolate(case, lambda one: not tries.append(one))

    assert len(tries) <= TRIES


def of_the_mutant() -> tuple[RunStarted, list[Event]]:
    """A run of one scenario on the reference, which counts offsets before its restriction."""
    case = draw_scenario(0, 23)
    clauses = [one for one in all_clauses().values() if one.chapter in ("offsets", "rows", "combination")]
    start = started(*(one.id for one in clauses), cases=[case.id])
    with reference_target(mutant="combination.offset-before-restriction") as target:
        step = CaseStep(clauses, target)
        return start, list(run(start, [CaseJob(case, case.id)], step, isolator=Isolator(start, step)))


def test_a_run_says_what_its_first_cause_takes_and_counts_no_drawn_case() -> None:
    """The event has no verdict; the cause has the sentence."""
    _start, events = of_the_mutant()
    result = fold(events)

    (told,) = result.isolated
    assert told.needed == ("row_restriction", "an offset")
    assert len(result.cases) == 1
    assert told.sentence.endswith("it takes row_restriction together with an offset; neither alone fails")


class Short(ReadService):
    """Loses the rows of a stream behind the thirtieth, and the last one of every resumed read."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        """The rows of the fault."""
        end = stream.rows.num_rows - 1 if offset else 30
        return stream.rows.slice(0, end).slice(offset)


def told_of(session: CreateSession, *reads: ReadRows) -> list[CauseIsolated]:
    """What drawn cases tell of a failing case with 80 rows."""
    case = Case("a.b", "80 rows", Table((Column("x", BqType.INT64),), recipe=Recipe(80)), steps=(session, *reads))
    clauses = [one for one in all_clauses().values() if one.chapter in ("rows", "offsets")]
    start = started(*(one.id for one in clauses), cases=[case.id])
    with contextlib.closing(storage_target(make=Short)) as target:
        step = CaseStep(clauses, target)
        events = list(run(start, [CaseJob(case, case.id)], step, isolator=Isolator(start, step)))
    assert any(one.outcome.fails_run for event in events if isinstance(event, CaseJudged) for one in event.verdicts)
    return [one for one in events if isinstance(one, CauseIsolated)]


def test_a_pass_on_shorter_streams_decides_nothing() -> None:
    """Without max_stream_count the session has several streams, and none of them is long enough to lose rows."""
    assert told_of(CreateSession(max_stream_count=1, trace_id="t"), ReadRows()) == []


def test_a_pass_without_a_step_of_the_failing_case_decides_nothing() -> None:
    """Without preferred_min_stream_count there is no sixth stream to resume."""
    session = CreateSession(preferred_min_stream_count=8, trace_id="t")

    assert told_of(session, ReadRows(), ReadRows(stream="5", offset="last")) == []


def test_a_pass_that_asked_as_much_decides() -> None:
    """The offset is needed, and the identifier of traces is not."""
    (told,) = told_of(CreateSession(trace_id="t"), ReadRows(), ReadRows(offset="last"))

    assert (
        told.sentence == "cases drawn for it: of the options of a.b it takes an offset; it fails without trace_id, too"
    )


def test_another_case_is_tried_where_the_smallest_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases with the fewest options come next, and at most three are tried."""
    clause = "offsets.last-row"
    cases = [dataclasses.replace(CASE, id=name) for name in "abcde"]
    session = CASE.steps[0]
    assert isinstance(session, CreateSession)
    cases[3] = dataclasses.replace(cases[3], steps=(dataclasses.replace(session, trace_id=""), *CASE.steps[1:]))
    start = started(clause, cases=[one.id for one in cases])
    tried: list[str] = []

    def unclear(case: Case, _fails: object) -> None:
        tried.append(case.id)

    monkeypatch.setattr(isolating, "isolate", unclear)

    with reference_target() as target:
        isolator = Isolator(start, CaseStep([one for one in all_clauses().values() if one.id == clause], target))
        for one in cases:
            isolator.note(one, judged(one.id, failing(one.id, clause, "3 rows")))

        assert list(isolator.events()) == []

    assert tried == ["a", "d", "b"]


def test_a_cause_has_the_sentence_and_shards_keep_it() -> None:
    """Instead of what only the cases of the run tell apart."""
    told = CauseIsolated("a", "offsets.last-row", ("row_restriction",), ("trace_id",), 4)
    start = dataclasses.replace(started("offsets.last-row", cases=["a"]), shard="1/1")
    log = [start, judged("a", failing("a", "offsets.last-row", "3 rows")), told, RunEnded(1.0)]
    symptom = Symptom("a", "offsets.last-row", 0, None, None, None)

    assert contrast(fold(log), [symptom])[-1] == told.sentence
    assert told in merge([log])
    assert (
        told.sentence
        == "cases drawn for it: of the options of a it takes row_restriction; it fails without trace_id, too"
    )


def test_a_case_that_was_stopped_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing fails on it because its last calls were not made."""
    drive = ServerTarget.drive

    def stopping(target: ServerTarget, case: Case, table: pa.Table) -> Exchange:
        made = drive(target, case, table)
        resumes = any(isinstance(step, ReadRows) and step.offset != "0" for step in case.steps)
        return made if resumes else dataclasses.replace(made, stopped="the time was used up")

    monkeypatch.setattr(ServerTarget, "drive", stopping)

    assert told_of(CreateSession(trace_id="t"), ReadRows(), ReadRows(offset="last")) == []


def test_a_case_with_more_bytes_than_any_lawful_one_is_not_put_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try would cost as much as the case did."""
    clause = "offsets.last-row"
    tried: list[str] = []
    monkeypatch.setattr(isolating, "isolate", lambda case, _fails: tried.append(case.id))

    with reference_target() as target:
        isolator = Isolator(started(clause, cases=["a", "b"]), CaseStep([all_clauses()[clause]], target))
        for name, more in (("a", 1), ("b", 0)):
            seen = dataclasses.replace(judged(name, failing(name, clause, "3 rows")), received=isolating.LARGEST + more)
            isolator.note(dataclasses.replace(CASE, id=name), seen)

        assert list(isolator.events()) == []

    assert tried == ["b"]
