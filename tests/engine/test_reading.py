"""Readers judged: each way to go wrong has its verdict under the right clause, and nothing else counts against them."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator

import pytest

from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.expectation import STATISTICS, Expectation
from conformance.engine.events import CaseJudged, RunEnded, RunStarted
from conformance.engine.readerinputs import Inputs, ReadInput
from conformance.engine.reading import REUSE, ReaderTask
from conformance.engine.result import fold
from conformance.engine.selection import binds
from conformance.generate.vectors import VectorSet
from conformance.readers.ipc import IpcPool, JobAnswer, JobLimits, JobStage
from conformance.readers.ipc import JobOutcome as Ended
from conformance.records import Level, Outcome
from tests.engine import waiting_library
from tests.engine.ipc_library import READER, READERS
from tests.engine.ipc_standins import STRUCTURE, clauses, stream, vectors
from tests.patience import LONG


def limits(seconds: float) -> JobLimits:
    """The limits of a pool whose jobs have so many seconds."""
    return JobLimits(seconds=seconds, memory=200 << 20, reuse=REUSE)


@pytest.fixture(scope="module")
def pool() -> Iterator[IpcPool]:
    """The stand-in, and a reader that is not there."""
    with IpcPool(limits=limits(LONG), readers=READERS, writers={}) as started:
        yield started


def reading(pool: IpcPool, made: VectorSet, **more: object) -> ReaderTask:
    """The stand-in with these vectors, asked under every clause."""
    return ReaderTask(pool, "standin", Inputs(made), clauses(), readers=READERS, **more)  # type: ignore[arg-type]


def judged(pool: IpcPool, word: str, data: bytes | None = None) -> dict[str, Outcome]:
    """The verdicts on the stand-in for one vector, a sound stream with that word unless other bytes are given."""
    result = fold(reading(pool, vectors(one=stream(word) if data is None else data)).events())
    return {verdict.clause: verdict.outcome for verdict in result.verdicts}


def test_an_honest_reader_passes(pool: IpcPool) -> None:
    """Rows that are right break nothing, and every clause that the vector is for was observed."""
    found = judged(pool, "honest")

    assert set(found.values()) == {Outcome.PASS}
    assert {"reader.survives-legal-input", "reader.rows-true", "reader.accepts.core"} <= found.keys()


def _all_made() -> Iterator[ReadInput]:
    """No input: the last one was made before an answer came."""
    pytest.fail("all inputs were made before the first answer")
    yield


def test_inputs_are_made_as_they_are_needed(pool: IpcPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first answers come before the last input is made, so that an interrupt is heeded."""
    task = reading(pool, vectors(one=stream("honest")))
    (only,) = task.inputs.chosen((), {})
    monkeypatch.setattr(Inputs, "chosen", lambda *_: itertools.chain(itertools.repeat(only, 1000), _all_made()))
    events = task.events()

    assert next(event for event in events if isinstance(event, CaseJudged)).case_id == only.id
    events.close()


@pytest.mark.parametrize("word", ["segv", "abort", "exit"])
def test_a_death_is_a_crash(pool: IpcPool, word: str) -> None:
    """A reader that dies has failed to survive by a crash; whether it would have accepted is not known."""
    found = judged(pool, word)

    assert found["reader.survives-legal-input"] is Outcome.CRASH
    assert found["reader.accepts.core"] is Outcome.DEPENDENCY_FAILED
    assert "reader.rows-true" not in found


@pytest.mark.parametrize("word", ["block", "processor", "abort without memory"])
def test_no_answer_is_a_hang(word: str) -> None:
    """So is the end by a limit: of time, of processor time, of memory that was taken without asking."""
    with IpcPool(limits=limits(3), readers=READERS, writers={}) as pool:
        found = judged(pool, word)

    assert found["reader.survives-legal-input"] is Outcome.HANG


def test_wrong_rows_fail(pool: IpcPool) -> None:
    """Other rows than were written are a failure of the rows alone."""
    found = judged(pool, "wrong")

    assert [name for name, outcome in found.items() if outcome is Outcome.FAIL] == ["reader.rows-true"]


@pytest.mark.parametrize("counter", STATISTICS)
def test_a_counter_that_is_one_too_high_fails(pool: IpcPool, counter: str) -> None:
    """Each of the counters of a reader is held to the messages of the stream, and to nothing else."""
    found = judged(pool, f"counts {counter}")

    assert [name for name, outcome in found.items() if outcome is Outcome.FAIL] == ["reader.statistics"]


def test_a_panic_is_no_well_defined_error(pool: IpcPool) -> None:
    """On sound input a broken assertion fails twice: the input is refused, and in a way that callers do not expect."""
    found = judged(pool, "panic")

    failed = {name for name, outcome in found.items() if outcome is Outcome.FAIL}
    assert failed == {"reader.lacks-by-an-error", "reader.accepts.core"}
    assert found["reader.survives-legal-input"] is Outcome.PASS


def test_valid_input_is_not_to_be_refused(pool: IpcPool) -> None:
    """A refusal of what every reader has to read fails the clause on accepting it, and no other."""
    found = judged(pool, "refuse")

    assert [name for name, outcome in found.items() if outcome is Outcome.FAIL] == ["reader.accepts.core"]


def test_a_lack_that_is_said_is_no_failure(pool: IpcPool) -> None:
    """A reader that says what it lacks is not asked for it."""
    found = judged(pool, "unsupported")

    assert found["reader.accepts.core"] is Outcome.UNSUPPORTED
    assert not [name for name, outcome in found.items() if outcome.fails_run]


def test_a_panic_that_says_what_is_lacking_is_a_panic(pool: IpcPool) -> None:
    """The reader is not asked for the feature, and should have said so by an error."""
    found = judged(pool, "panic for lack")

    assert found["reader.accepts.core"] is Outcome.UNSUPPORTED
    assert [name for name, outcome in found.items() if outcome.fails_run] == ["reader.lacks-by-an-error"]


def test_memory_that_is_refused_cleanly_is_a_refusal(pool: IpcPool) -> None:
    """An allocation that fails with an error of the library is not a hang: the limit was kept."""
    found = judged(pool, "allocate")

    assert found["reader.survives-legal-input"] is Outcome.PASS
    assert found["reader.accepts.core"] is Outcome.FAIL


def test_garbage_is_to_be_refused(pool: IpcPool) -> None:
    """Rows out of bytes that break off inside a message fail the clause for them."""
    cut = stream("gullible")[:-40]

    assert judged(pool, "", cut)["reader.refuses.truncated"] is Outcome.FAIL
    assert judged(pool, "", stream("honest")[:-40])["reader.refuses.truncated"] is Outcome.PASS


def test_who_cannot_show_legal_rows_has_crashed(pool: IpcPool) -> None:
    """A death while legal rows are looked at is the reader's, who made them."""
    assert judged(pool, "later segv")["reader.survives-legal-input"] is Outcome.CRASH


def test_who_cannot_show_legal_rows_has_not_read_them(pool: IpcPool) -> None:
    """An error while legal rows are looked at is as good as a refusal of them."""
    assert judged(pool, "later refuse")["reader.accepts.core"] is Outcome.FAIL


INVALID = ReadInput("x", "X.", None, b"", None)  # type: ignore[arg-type]  # only the expectation is looked at


def verdicts(
    answer: JobAnswer, result: Validity, tier: Tier, clause: str = "reader.refuses.offsets"
) -> dict[str, Outcome]:
    """The verdicts on an answer to input that is expected so."""
    judge = ReaderTask(None, "standin", None, clauses(), readers=READERS)  # type: ignore[arg-type]
    asked = dataclasses.replace(INVALID, expectation=Expectation(result, None, tier, (clause,), "broken"))
    return {verdict.clause: verdict.outcome for verdict in judge.verdicts(asked, answer)}


@pytest.mark.parametrize("end", [Ended.DIED, Ended.HUNG, Ended.EXHAUSTED, Ended.REFUSED])
def test_whoever_looks_at_invalid_arrays_may_be_another_library(end: Ended) -> None:
    """An error while the rows of invalid bytes are read counts as acceptance, and as nothing worse."""
    found = verdicts(JobAnswer("x", "standin", end, stage=JobStage.VALUES, error_class="SIGSEGV"), *STRUCTURE)

    assert found["reader.survives"] is Outcome.PASS
    assert found["reader.refuses.offsets"] is Outcome.FAIL


@pytest.mark.parametrize(
    ("end", "survives"),
    [
        (Ended.DIED, Outcome.CRASH),
        (Ended.HUNG, Outcome.HANG),
        (Ended.REFUSED, Outcome.PASS),
    ],
)
def test_the_own_interface_belongs_to_the_library(end: Ended, survives: Outcome) -> None:
    """It may raise an error for the rows of invalid bytes; if it ends the process, the library has not survived."""
    found = verdicts(JobAnswer("x", "standin", end, stage=JobStage.OWN, error_class="SIGSEGV"), *STRUCTURE)

    assert found["reader.survives"] is survives


@pytest.mark.parametrize(
    ("error_class", "expected"),
    [
        ("MemoryError", Outcome.PASS),
        ("limit", Outcome.HANG),
        ("memory", Outcome.HANG),
        ("SIGABRT", Outcome.HANG),
        ("exit", Outcome.HANG),
    ],
)
def test_who_ended_for_lack_of_memory(error_class: str, expected: Outcome) -> None:
    """An error of the library's is a refusal; an end by the limit, or by giving up, is none."""
    found = verdicts(JobAnswer("x", "standin", Ended.EXHAUSTED, error_class=error_class), *STRUCTURE)

    assert found["reader.survives"] is expected


@pytest.mark.parametrize("error", [KeyError("of ours"), MemoryError()])
def test_an_input_that_the_suite_cannot_expect_costs_itself(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has one verdict, with what was raised; the other inputs are judged."""

    def fail(_task: ReaderTask, _asked: ReadInput) -> None:
        raise error

    monkeypatch.setattr(ReaderTask, "_expected", fail)
    judge = ReaderTask(None, "standin", None, clauses(), readers=READERS)  # type: ignore[arg-type]
    asked = dataclasses.replace(INVALID, expectation=Expectation(*STRUCTURE[:1], None, STRUCTURE[1], (), "broken"))

    (verdict,) = judge.verdicts(asked, JobAnswer("x", "standin", Ended.REFUSED))

    assert (verdict.case_id, verdict.clause, verdict.outcome) == ("x", "case", Outcome.ERROR)
    assert type(error).__name__ in verdict.reason


def test_an_unavailable_reader_is_not_judged() -> None:
    """A program that broke the protocol says nothing about its library."""
    found = verdicts(JobAnswer("x", "standin", Ended.UNAVAILABLE, error_text="no protocol"), *STRUCTURE)

    assert found == {"case": Outcome.UNTESTABLE}


def test_clauses_left_to_a_validation_are_not_judged(pool: IpcPool) -> None:
    """Checks that a library documents as part of a separate validation are not judged, and the report says so."""
    readers = {"standin": dataclasses.replace(READER, left_to_validation=("reader.refuses.truncated",))}
    made = ReaderTask(pool, "standin", Inputs(vectors(one=stream("gullible")[:-40])), clauses(), readers=readers)

    result = fold(made.events())

    assert "reader.refuses.truncated" not in result.start.clauses
    assert not result.failed
    assert any("leaves them to a validation" in remark for remark in result.remarks)


def test_the_report_names_reader_and_remarks(pool: IpcPool) -> None:
    """Library and version are the target; what its interface lacks is not applicable."""
    start, *_, end = reading(pool, vectors(one=stream("honest"))).events()

    assert isinstance(start, RunStarted)
    assert isinstance(end, RunEnded)
    assert (start.target, start.target_file) == ("a library that does what it reads 0.2", "standin")
    assert end.remarks == (
        "not applicable, because its interface has no such option: native_endian, chunk, mapped, way",
        "not applicable, because it does not read them: files, tensors",
        "written in Python",
    )


def test_one_input_alone(pool: IpcPool) -> None:
    """A replay judges that input and no other."""
    made = Inputs(vectors(one=stream("honest"), other=stream("wrong")))
    judge = ReaderTask(pool, "standin", made, clauses(), readers=READERS)

    start, case, end = dataclasses.replace(judge, only=made.find("other")).events()

    assert isinstance(start, RunStarted)
    assert isinstance(case, CaseJudged)
    assert isinstance(end, RunEnded)
    assert (start.cases, case.replay) == (("other",), "other")
    assert [verdict.clause for verdict in case.verdicts if verdict.outcome is Outcome.FAIL] == ["reader.rows-true"]


def test_a_crash_costs_one_input(pool: IpcPool) -> None:
    """The input after a crash is judged as if there had been no crash."""
    result = fold(reading(pool, vectors(a=stream("segv"), b=stream("honest"), c=stream("abort"))).events())

    outcomes = {v.case_id: v.outcome for v in result.verdicts if v.clause == "reader.survives-legal-input"}
    assert outcomes == {"a": Outcome.CRASH, "b": Outcome.PASS, "c": Outcome.CRASH}


def test_levels() -> None:
    """``should`` asks for MUST and SHOULD."""
    levels = {level: {clause.level for clause in clauses() if binds(clause, level)} for level in Level}

    assert levels == {
        Level.MUST: {Level.MUST},
        Level.SHOULD: {Level.MUST, Level.SHOULD},
        Level.MAY: {Level.MUST, Level.SHOULD, Level.MAY},
    }


def test_absent_readers_are_told_with_the_reason(pool: IpcPool) -> None:
    """Which readers are here, and what the others miss."""
    missing = pool.absent()

    assert set(missing) == {"absent"}
    assert "No module named 'absent'" in missing["absent"]


def test_the_report_counts_the_combinations(pool: IpcPool) -> None:
    """Those that the reader was given, out of those that there are, and those that it did not say that it lacks."""
    select = ("combined.*.int32", "combined.*.union-dense")
    inputs = Inputs(vectors(one=stream("honest")), combined=True)

    result = fold(ReaderTask(pool, "standin", inputs, clauses(), select, readers=READERS).events())

    remark = next(text for text in result.remarks if text.startswith("combinations"))
    assert re.fullmatch(
        r"combinations of legal features given: \d+ of \d+, in \d+ readings; of these it lacks no feature in \d+",
        remark,
    )
    given, possible, readings, read = map(int, re.findall(r"\d+", remark))
    assert 0 < read <= given < possible
    assert readings == len(result.cases)
    assert not [verdict for verdict in result.verdicts if verdict.outcome is Outcome.ERROR]


def test_a_cast_that_changes_values_is_a_finding(pool: IpcPool) -> None:
    """The rows that were read are right, and the other way out of the library is not."""
    only = Inputs(vectors(one=stream("honest"))).find("one")
    result = fold(reading(pool, vectors(one=stream("honest")), only=only).events())
    assert "reader.ways-out-agree" not in {verdict.clause for verdict in result.verdicts}

    inputs = Inputs(vectors(one=stream("honest")))
    changed = fold(reading(pool, vectors(one=stream("honest")), only=inputs.find('one@after="cast"')).events())

    failed = {verdict.clause for verdict in changed.verdicts if verdict.outcome is Outcome.FAIL}
    assert failed == {"reader.ways-out-agree"}


def test_who_waits_for_a_byte_behind_the_last_message_is_found() -> None:
    """Rare input on ends comes in pieces: nothing else is wrong with such a reader, and it is found nowhere else."""
    readers = {"waiting": waiting_library.READER}
    inputs = Inputs(vectors(one=stream("honest")), combined=True)
    lasts = ("rows", "nulls", "schema", "dictionary")
    select = ("one", *(f"rare.end.stream.*.usual.{last}" for last in lasts))
    with IpcPool(limits=JobLimits(seconds=3, memory=200 << 20, reuse=REUSE), readers=readers, writers={}) as pool:
        result = fold(ReaderTask(pool, "waiting", inputs, clauses(), select, readers=readers).events())

    failed = [verdict for verdict in result.verdicts if verdict.outcome is Outcome.FAIL]

    assert {verdict.clause for verdict in failed} == {"reader.accepts.core", "reader.accepts.replacement"}
    assert {verdict.case_id for verdict in failed} == {
        f"rare.end.stream.closed.usual.{last}@chunk={chunk}" for last in lasts for chunk in (1, 7, 64)
    }
