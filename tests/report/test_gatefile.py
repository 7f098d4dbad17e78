"""The gate file is what was made, is refused in one sentence where it is wrong, and decides a further run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.answers import Answer
from conformance.engine.selection import LeftOut
from conformance.report.document import Report
from conformance.report.gatecells import TARGET, CellState, GateCell
from conformance.report.gatefile import Gate, GateError, make_gate, read_gate, write_gate
from tests.engine.samples import failing, passing
from tests.report.gates import ERROR, FIND, case, report_on

ROWS = (Answer.ROWS, "")


def run(number: int = 1, *, a: tuple[Answer, str] = ROWS, types: bool = True, version: str = "1") -> Report:
    """A run with two readers in which ``types.x`` passes or fails."""
    kind = passing("types.one", "types.x") if types else failing("types.one", "types.x", "3 bytes")
    began = f"2026-01-0{number}T00:00:00Z"
    return report_on(case("types.one", passing("types.one", "rows.x"), kind, a=a, b=ROWS), began=began, version=version)


def made(*reports: Report) -> Gate:
    """The gate of these runs."""
    return make_gate([(f"{number}.jsonl", f"{number:064}", report) for number, report in enumerate(reports, 1)])


GATE = made(run(1), run(2))
CELLS = [GateCell(TARGET, clause) for clause in ("case", "rows.x", "types.x")]
CELLS += [GateCell("a", FIND), GateCell("a", ERROR), GateCell("b", FIND), GateCell("b", ERROR)]


def test_what_held_in_each_run_is_in_the_gate() -> None:
    """All else is listed with its kind and its reason."""
    gate = made(run(1), run(2, types=False), run(3, a=(Answer.ERROR, "E")))

    assert GATE.cells == CELLS
    assert gate.cells == [
        cell for cell in CELLS if cell not in {GateCell("a", FIND), GateCell("a", ERROR), GateCell(TARGET, "types.x")}
    ]
    assert [(item.by, item.kind, item.clauses) for item in gate.left_out] == [
        (TARGET, CellState.MIXED, ("types.x",)),
        (TARGET, CellState.NOT_JUDGED, ("readers.agree",)),
        ("a", CellState.MIXED, (ERROR,)),
        ("a", CellState.NOT_JUDGED, (FIND,)),
    ]


def test_a_statement_of_a_client_is_kept() -> None:
    """Although its cells hold on what it was asked for."""
    report = report_on(
        case("types.one", passing("types.one", "rows.x"), a=ROWS, b=ROWS),
        case("types.two", passing("types.two", "rows.x"), a=(Answer.CANNOT, "RANGE: no"), b=ROWS),
    )
    gate = made(report)

    assert [(one.by, one.cannot) for one in gate.statements] == [("a", "RANGE: no")]
    assert GateCell("a", FIND) in gate.cells


def test_the_file_is_the_gate(tmp_path: Path) -> None:
    """Written and read, it is the same; written twice, byte for byte."""
    gate = made(run(1), run(2, types=False))
    for name in ("one.toml", "two.toml"):
        write_gate(gate, tmp_path / name)

    assert read_gate(tmp_path / "one.toml") == gate
    assert (tmp_path / "one.toml").read_bytes() == (tmp_path / "two.toml").read_bytes()


@pytest.mark.parametrize(
    ("report", "broken", "fails"),
    [
        (run(3), [], False),
        (run(3, version="2"), [], False),
        (run(3, types=False), [(GateCell(TARGET, "types.x"), CellState.FAILED)], True),
        (run(3, a=(Answer.OTHER_ROWS, "loses rows")), [(GateCell("a", FIND), CellState.FAILED)], True),
        (
            run(3, a=(Answer.CANNOT, "no")),
            [(GateCell("a", FIND), CellState.CANNOT), (GateCell("a", ERROR), CellState.CANNOT)],
            True,
        ),
        (run(3, a=(Answer.NO_ANSWER, "not built")), [], False),
    ],
)
def test_a_run_fails_if_a_cell_holds_no_longer(
    report: Report, broken: list[tuple[GateCell, CellState]], *, fails: bool
) -> None:
    """A reader that is not here is said, and fails nothing; one that is here and was not judged fails."""
    passage = GATE.judged(report)

    assert [(cell, said.kind) for cell, said in passage.broken] == broken
    assert passage.fails is fails


def test_a_finding_outside_the_gate_fails_nothing() -> None:
    """The gate is what held, and no more."""
    gate = made(run(1, types=False), run(2, types=False))

    assert not gate.judged(run(3, types=False)).fails


def test_a_clause_that_was_put_aside_fails_nothing() -> None:
    """A dispute is the suite's affair; a clause that the user did not choose is not judged."""

    def judged(reason: str) -> bool:
        left = [LeftOut("clause", "types.x", reason)]
        kept = case("types.one", passing("types.one", "rows.x"), a=ROWS, b=ROWS)
        return GATE.judged(report_on(kept, clauses=("rows.x", ERROR, FIND), left_out=left)).fails

    assert (judged("disputed until 2026-12-01: x (y)"), judged("no --clause pattern matches it")) == (False, True)


def test_a_may_clause_that_fails_now_fails_nothing() -> None:
    """It held in the runs of the gate, so the gate has it and says what became of it."""
    load_chapters()
    may = "session.trace-id-is-echoed"
    clauses = ("rows.x", may)
    met, unmet = (
        report_on(case("one", passing("one", "rows.x"), verdict), clauses=clauses)
        for verdict in (passing("one", may), failing("one", may, "none"))
    )

    passage = make_gate([("1", "a", met)]).judged(unmet)

    assert [cell.clause for cell, _ in passage.of(CellState.OPTIONAL)] == [may]
    assert not passage.fails


def test_a_run_that_was_cut_short_fails() -> None:
    """Cells that it did not reach may hold no longer."""
    kept = case("types.one", passing("types.one", "rows.x"), passing("types.one", "types.x"), a=ROWS, b=ROWS)

    assert GATE.judged(report_on(kept, complete=False)).fails


def test_nothing_left_to_hold_fails() -> None:
    """If every reader of a gate on readers alone is missing, nothing was shown."""
    only = report_on(case("types.one", a=ROWS), clauses=[FIND], readers={"a": "1"})
    gone = report_on(case("types.one", a=(Answer.NO_ANSWER, "not built")), clauses=[FIND], readers={"a": ""})
    gate = made(only)

    assert gate.cells == [GateCell("a", FIND)]
    assert gate.judged(gone).fails


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        (lambda: [run(1), run(1)], "expected different runs, but 1.jsonl and 2.jsonl are of the same run"),
        (lambda: [run(1), report_on(target="theirs")], "expected runs of one target, mine, but 2.jsonl is of theirs"),
        (
            lambda: [report_on(complete=False)],
            "expected complete runs, but that of 1.jsonl was cut short",
        ),
        (
            lambda: [report_on(shard="1/2")],
            "expected whole runs, but 1.jsonl is of shard 1/2",
        ),
    ],
)
def test_runs_that_make_no_gate_are_refused(reports: Callable[[], list[Report]], said: str) -> None:
    """One sentence says what was expected."""
    with pytest.raises(GateError) as error:
        made(*reports())

    assert str(error.value).startswith(said)


def test_a_run_of_another_target_is_refused() -> None:
    """A gate says nothing of another server."""
    with pytest.raises(GateError, match=r"expected a run of mine, of which the gate is, got one of theirs"):
        GATE.judged(report_on(target="theirs"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("schema_version = 1", "schema_version = 2", ", of schema version 1, got 2"),
        ("schema_version = 1", "schema_version = ", ": Invalid value (at line 3, column 18)"),
        (
            'target = "mine"\n\n',
            'target = "mine"\nsuite = "x"\n\n',
            "expected one of the keys schema_version, target, runs",
        ),
        ("[[holds]]", "[[left]]", "expected"),
        (f'"{FIND}"', '"rows.x"', ": rows.x is no clause on one reader, such as a"),
    ],
)
def test_a_file_that_is_no_gate_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    """One sentence, with the file."""
    path = tmp_path / "gate.toml"
    write_gate(GATE, path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))

    with pytest.raises(GateError) as error:
        read_gate(path)

    assert str(error.value).startswith(str(path))
    assert said in str(error.value)


def test_an_empty_gate_is_refused(tmp_path: Path) -> None:
    """A gate without cells would let everything pass."""
    path = tmp_path / "gate.toml"
    write_gate(made(report_on()), path)

    with pytest.raises(GateError, match=r"with at least one clause under \[\[holds\]\]"):
        read_gate(path)
