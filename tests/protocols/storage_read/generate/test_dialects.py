"""Drawn restrictions: what they select, and which wrong readings they tell apart."""

from __future__ import annotations

import json
import re

import pytest

from conformance.generate import draw_case, load_cases, materialise
from conformance.generate.drawing import generated_id
from conformance.protocols.storage_read.generate.dialects import (
    READINGS,
    SESSIONS,
    SHAPED,
    WALKED,
    DrawnRestriction,
    draw_restricted_case,
    draw_restriction,
)
from conformance.protocols.storage_read.generate.dialects.grammar import _SHAPES, KINDS
from conformance.protocols.storage_read.reference.catalogue import stored_column
from conformance.protocols.storage_read.reference.mutants.dialects import keep_as
from conformance.protocols.storage_read.reference.restriction import RestrictionError
from conformance.records import BqType, Case, Column, CreateSession, Json, Table
from publish.dialects import MEASURED, PAGE, engines, measure, reading_engines, table, with_table
from tests.fixtures import ROOT

CASES = ROOT / "cases"
COLUMNS = (
    Column("name", BqType.STRING),
    Column("city", BqType.STRING),
    Column("age", BqType.INT64),
    Column("rate", BqType.FLOAT64),
    Column("moment", BqType.TIMESTAMP),
    Column("day", BqType.DATE),
    Column("price", BqType.NUMERIC),
    Column("paid", BqType.BOOL),
    Column("raw", BqType.BYTES),
    Column("r", BqType.RECORD, fields=(Column("A", BqType.STRING),)),
)
ROWS = [
    {"name": "a", "city": "name", "age": 7, "rate": 2.5, "moment": "2020-01-01T00:00:00Z", "raw": "YQ=="},
    {"name": "A", "city": "a_b", "age": 3, "rate": 3.2, "day": "2020-01-05", "price": "0.1", "paid": True},
    {"name": "a ", "city": "7", "age": -7, "day": "2020-01-15", "price": "1.5", "r": {"A": "x"}},
    {"name": "é", "city": "007", "rate": 0.5, "moment": "2019-12-31T20:00:00Z", "price": "0.3", "paid": False},
    {"name": "É", "age": 1, "rate": 1.5, "moment": "2019-12-31T12:00:00Z", "raw": "", "r": None},
]


def kept(reading: str, sql: str, table: Table) -> tuple[int, ...] | None:
    """The rows that the reference selects with one wrong reading; None if it refuses."""
    columns = tuple(map(stored_column, table.columns))
    try:
        held = keep_as(reading, sql, columns, materialise(table)).to_pylist()
    except RestrictionError:
        return None
    return tuple(index for index, value in enumerate(held) if value)


def sessions(case: Case) -> list[CreateSession]:
    """The sessions of a case."""
    return [step for step in case.steps if isinstance(step, CreateSession)]


def cases(seed: int, count: int) -> list[Case]:
    """The first drawn cases of a seed."""
    return [draw_restricted_case(seed, index, case_id=f"drawn.i{index}") for index in range(count)]


def test_the_reference_selects_the_rows_of_the_model() -> None:
    """Plain Python values and Arrow with an SQL parser give the same rows for drawn restrictions."""
    for case in cases(8, 25):
        for session in sessions(case):
            assert kept("", session.row_restriction, case.table) == session.expect.rows, session.row_restriction


def test_every_restriction_tells_a_mutant_apart() -> None:
    """On each restriction drawn for a reading at least one mutant selects other rows, or refuses it."""
    for case in cases(9, 3):
        for session in sessions(case)[:SESSIONS]:
            others = {kept(reading, session.row_restriction, case.table) for reading in READINGS}
            assert others != {session.expect.rows}, session.row_restriction


def test_the_cases_of_a_run_have_every_kind_of_predicate() -> None:
    """The cases that a run draws by default walk all kinds of predicates on all types, and all shapes of operators."""
    restricted = 50 // 4

    assert restricted * WALKED >= len(KINDS)
    assert restricted * SHAPED >= len(_SHAPES)
    texts = [session.row_restriction for case in cases(0, restricted) for session in sessions(case)[SESSIONS:]]
    assert any(re.search(r"^NOT [^(].* AND [^(]", text) for text in texts)


def test_a_restriction_comes_with_its_texts_in_the_other_case() -> None:
    """Two sessions of a case differ in nothing but the case of their texts, and select other rows."""
    for case in cases(0, 12):
        found: dict[str, CreateSession] = {}
        for session in sessions(case):
            other = found.setdefault(session.row_restriction.lower(), session)
            if other.row_restriction != session.row_restriction and other.expect.rows != session.expect.rows:
                return
    pytest.fail("expected two such sessions in a dozen cases, got none")


def test_a_few_dozen_cases_tell_every_reading_apart() -> None:
    """The restrictions of the cases that a run draws by default reach every mutant."""
    alive = set(READINGS)
    for index in range(50):
        case = draw_case(0, index, profile="server")
        for session in sessions(case) if len(sessions(case)) > SESSIONS else ():
            text, right = session.row_restriction, session.expect.rows
            alive -= {reading for reading in alive if kept(reading, text, case.table) != right}

    assert alive == set()


@pytest.mark.parametrize("reading", READINGS)
def test_model_and_mutant_read_alike(reading: str) -> None:
    """Where the model says that a reading selects other rows, the mutant does not select the right ones either."""
    for seed in range(3):
        drawn = draw_restriction(COLUMNS, ROWS, seed, wanted=reading)
        assert drawn is not None
        mutant = kept(reading, drawn.sql, Table(COLUMNS, rows=tuple(map(Json, ROWS))))
        if reading in drawn.apart:
            assert mutant != drawn.rows, drawn.sql


def test_a_drawing_follows_from_its_arguments() -> None:
    """The same rows and seed give the same restriction, and another index another one."""
    once, again = (draw_restriction(COLUMNS, ROWS, 5) for _ in range(2))

    assert once == again
    assert len({draw_restriction(COLUMNS, ROWS, 5, index=index).sql for index in range(9)}) > 5  # type: ignore[union-attr]


def test_nothing_is_drawn_where_nothing_can_be_told_apart() -> None:
    """Without rows no restriction tells anything apart."""
    assert draw_restriction(COLUMNS, [], 1) is None


def test_a_drawn_restriction_names_the_engines() -> None:
    """The engines are those on which a reading that is told apart was measured."""
    drawn = DrawnRestriction("x", (), {"nan-is-null": (1,), "between-in-any-order": None})

    assert drawn.engines == ("SQLite",)


def test_each_reading_has_a_case() -> None:
    """The readings and the cases that show them are the same."""
    prefix = "restriction.dialects."
    found = [case.id.removeprefix(prefix) for case in load_cases(CASES) if case.id.startswith(prefix)]

    assert set(found) == set(READINGS)


def test_a_drawn_case_keeps_its_id() -> None:
    """A case with restrictions can be drawn again from its id, as any other."""
    assert draw_case(3, 7, profile="server").id == generated_id(3, 7, profile="server")


def test_engines_are_those_that_were_measured() -> None:
    """A reading names exactly the engines that were measured to do on its case what the reading does."""
    found = reading_engines(json.loads(MEASURED.read_text("utf-8")))

    assert {name: reading.engines for name, reading in READINGS.items()} == found


def test_the_page_shows_what_was_measured() -> None:
    """The table of the guide is the one that the results make."""
    page = PAGE.read_text("utf-8")

    assert with_table(page, table(json.loads(MEASURED.read_text("utf-8")))) == page


def test_sqlite_reads_as_measured() -> None:
    """The SQLite of this Python selects what was measured, if it is of the measured version."""
    measured = json.loads(MEASURED.read_text("utf-8"))["SQLite"]
    found = measure(engines()["SQLite"])
    if found["version"] != measured["version"]:
        pytest.skip(f"SQLite {measured['version']} was measured, and this is {found['version']}")

    assert found == measured
