"""A cell is in the gate if it held in each run; every other cell has a reason, and none is inferred."""

from __future__ import annotations

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.answers import Answer
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.selection import NOT_OF_PROFILE, LeftOut, all_clauses
from conformance.records import Outcome, Verdict
from conformance.report.document import Report
from conformance.report.gatecells import BY_READER, TARGET, CellState, GateCell, Judgement, RunView, reason_of_cell
from tests.engine.samples import failing, passing
from tests.report.gates import ERROR, FIND, case, report_on

ROWS = (Answer.ROWS, "")
HELD = Judgement(CellState.HELD)


def said(report: Report, by: str, clause: str) -> Judgement:
    """The result of a cell in a run."""
    return RunView(report).judge(GateCell(by, clause))


def with_a(answer: Answer, text: str = "") -> Report:
    """A run in which the reader ``a`` gave this answer."""
    return report_on(case("types.one", passing("types.one", "rows.x"), a=(answer, text), b=ROWS))


def test_every_clause_on_one_reader_is_known() -> None:
    """A new clause of the chapter must be counted for each reader, or say that it is about all."""
    chapter = {clause for clause in all_clauses() if clause.startswith("readers.")}

    assert chapter - {"readers.agree"} == set(BY_READER)


@pytest.mark.parametrize(
    ("answer", "error", "find"),
    [
        (Answer.ROWS, CellState.HELD, CellState.HELD),
        (Answer.OTHER_ROWS, CellState.HELD, CellState.FAILED),
        (Answer.ERROR, CellState.FAILED, CellState.NOT_JUDGED),
        (Answer.CRASH, CellState.HELD, CellState.NOT_JUDGED),
        (Answer.HANG, CellState.HELD, CellState.NOT_JUDGED),
        (Answer.CANNOT, CellState.CANNOT, CellState.CANNOT),
        (Answer.NO_ANSWER, CellState.NOT_HERE, CellState.NOT_HERE),
        (Answer.UNCOMPARED, CellState.NOT_JUDGED, CellState.NOT_JUDGED),
    ],
)
def test_an_answer_decides_the_cells_of_its_reader(answer: Answer, error: CellState, find: CellState) -> None:
    """As the clauses of the chapter do, for one reader alone."""
    report = with_a(answer, "as it says")

    assert (said(report, "a", ERROR).kind, said(report, "a", FIND).kind) == (error, find)
    assert (said(report, "b", ERROR), said(report, "b", FIND)) == (HELD, HELD)


def test_a_statement_is_quoted() -> None:
    """Nothing is marked unsupported by inference: the words are those of the client."""
    assert said(with_a(Answer.CANNOT, "RANGE: no variant"), "a", FIND) == Judgement(
        CellState.CANNOT, "RANGE: no variant"
    )


def test_a_reader_that_is_not_here_states_the_reason() -> None:
    """Although a statement of it is known without it."""
    report = report_on(
        case("types.one", passing("types.one", "rows.x"), a=(Answer.CANNOT, "RANGE: no"), b=ROWS),
        case("types.two", passing("types.two", "rows.x"), a=(Answer.NO_ANSWER, "not built in x"), b=ROWS),
    )

    assert said(report, "a", FIND) == Judgement(CellState.NOT_HERE, "not built in x")


def test_a_reader_that_was_not_asked_was_not_judged() -> None:
    """A run that leaves it out by mistake does not pass as one in which it is missing."""
    report = report_on(case("types.one", passing("types.one", "rows.x"), b=ROWS), readers={"b": "1"})

    assert said(report, "a", FIND) == Judgement(CellState.NOT_JUDGED, "this run did not ask it; --reader a does")


def test_a_clause_of_the_target_is_its_standing() -> None:
    """Held, failed with the first case, or not judged."""
    report = report_on(case("types.one", passing("types.one", "rows.x"), failing("types.one", "types.x", "3 bytes")))

    assert said(report, TARGET, "rows.x") == HELD
    assert said(report, TARGET, "types.x") == Judgement(CellState.FAILED, "3 bytes (types.one)")
    assert said(report, TARGET, "readers.agree") == Judgement(CellState.NOT_JUDGED, "no case showed it")


def test_the_failure_of_a_may_clause_is_a_reason_of_its_own() -> None:
    """Nothing promises what it asks for; a crash on its case is a failure."""
    load_chapters()
    may = "session.trace-id-is-echoed"
    died = Verdict("one", may, Outcome.CRASH, reason="exit code 3")

    assert said(report_on(case("one", failing("one", may, "none")), clauses=[may]), TARGET, may) == Judgement(
        CellState.OPTIONAL, "none (one)"
    )
    assert said(report_on(case("one", died), clauses=[may]), TARGET, may).kind is CellState.FAILED


def test_a_case_that_fails_as_a_whole_is_a_cell() -> None:
    """A crash that no clause names would be lost otherwise."""
    good, bad = passing("types.one", "rows.x"), Verdict("types.two", WHOLE_CASE, Outcome.CRASH, reason="exit code 3")

    assert said(report_on(case("types.one", good)), TARGET, WHOLE_CASE) == HELD
    assert said(report_on(case("types.one", good), case("types.two", bad)), TARGET, WHOLE_CASE).kind is CellState.FAILED
    assert said(report_on(), TARGET, WHOLE_CASE) == Judgement(CellState.NOT_JUDGED, "nothing was judged")


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("no --clause pattern matches it", CellState.NOT_JUDGED), ("disputed until 2026-12-01: x (y)", CellState.ASIDE)],
)
def test_a_clause_that_was_not_chosen_says_why(reason: str, kind: CellState) -> None:
    """One that the owner of the suite put aside is no loss of the target."""
    report = report_on(clauses=["rows.x"], left_out=[LeftOut("clause", "types.x", reason)])

    assert said(report, TARGET, "types.x") == Judgement(kind, f"not chosen: {reason}")
    assert said(report, TARGET, "rows.unknown").kind is CellState.ASIDE


def test_cells_are_those_of_the_target_and_of_the_readers_asked() -> None:
    """Clauses on streams and files are about no server, and no cells of it."""
    away = LeftOut("clause", "file.x", NOT_OF_PROFILE)
    report = report_on(clauses=["rows.x", FIND], left_out=[away])

    assert set(RunView(report).cells()) == {
        GateCell(TARGET, WHOLE_CASE),
        GateCell(TARGET, "rows.x"),
        GateCell("a", FIND),
        GateCell("b", FIND),
    }


FAILED = Judgement(CellState.FAILED, "3 bytes (types.one)")
GONE = Judgement(CellState.NOT_HERE, "not built")


@pytest.mark.parametrize(
    ("runs", "kind", "reason"),
    [
        ([HELD, HELD], CellState.HELD, ""),
        ([FAILED, FAILED], CellState.FAILED, "failed in runs 1 and 2: 3 bytes (types.one)"),
        ([HELD, FAILED, HELD], CellState.MIXED, "held in runs 1 and 3; failed in run 2: 3 bytes (types.one)"),
        ([HELD, GONE], CellState.NOT_HERE, "held in run 1; not here in run 2: not built"),
        (
            [HELD, Judgement(CellState.NOT_JUDGED, "x"), GONE],
            CellState.NOT_JUDGED,
            "held in run 1; not here in run 3: not built; not judged in run 2: x",
        ),
        (
            [Judgement(CellState.CANNOT, "RANGE: no")],
            CellState.CANNOT,
            "not judged, by its own statement, in run 1: RANGE: no",
        ),
    ],
)
def test_runs_together_give_one_reason(runs: list[Judgement], kind: CellState, reason: str) -> None:
    """With the runs that it is about; a cell that held and failed is mixed."""
    assert reason_of_cell(runs) == (kind, reason)
