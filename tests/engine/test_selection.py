"""Choosing cases and clauses, and refusing a choice of nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conformance.contract.clause import Clause
from conformance.engine.selection import LeftOut, Patterns, Selection, SelectionError, all_clauses, plan
from conformance.generate.forms import EVERY
from conformance.records import BqType, Case, Column, CreateSession, Level, Recipe, Table
from tests.engine.samples import sample_case, sample_clause

CASES = [sample_case("int64-one-row"), sample_case("nested-deep", needs=("nested",)), sample_case("nested-ragged")]
CLAUSES = {
    clause.id: clause
    for clause in (
        sample_clause("framing.batch.one-message"),
        sample_clause("framing.schema.one-message"),
        sample_clause("session.expire", level=Level.SHOULD),
        sample_clause("session.trace", level=Level.MAY),
    )
}


def ids(chosen: tuple[Case, ...] | tuple[Clause, ...]) -> list[str]:
    """The ids in order."""
    return [item.id for item in chosen]


def test_the_register_is_complete_in_a_new_process() -> None:
    """The first request for the clauses gets every chapter, whatever has been imported."""
    program = "from conformance.engine.selection import all_clauses; print(*all_clauses())"

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout.split() == list(all_clauses())
    assert "framing.batch-single-message" in run.stdout


def test_everything_is_chosen_unless_something_is_asked_for() -> None:
    """The default selection leaves nothing out."""
    chosen = plan(CASES, CLAUSES, Selection())

    assert ids(chosen.cases) == [case.id for case in CASES]
    assert ids(chosen.clauses) == list(CLAUSES)
    assert chosen.left_out == ()


def test_case_globs_choose_cases_and_name_what_is_left_out() -> None:
    """A case that no glob matches is left out with its reason."""
    chosen = plan(CASES, CLAUSES, Selection(cases=("nested-*",)))

    assert ids(chosen.cases) == ["nested-deep", "nested-ragged"]
    assert chosen.left_out == (LeftOut("case", "int64-one-row", "no --select pattern matches it"),)


def test_clause_globs_choose_clauses() -> None:
    """A clause that no glob matches is not judged."""
    chosen = plan(CASES, CLAUSES, Selection(clauses=("framing.*", "session.trace")))

    assert ids(chosen.clauses) == ["framing.batch.one-message", "framing.schema.one-message", "session.trace"]


@pytest.mark.parametrize(("level", "count"), [(Level.MUST, 2), (Level.SHOULD, 3), (Level.MAY, 4)])
def test_a_level_takes_everything_at_least_as_binding(level: Level, count: int) -> None:
    """``should`` takes MUST and SHOULD, ``may`` takes all."""
    chosen = plan(CASES, CLAUSES, Selection(level=level))

    assert len(chosen.clauses) == count


def test_capabilities_choose_the_cases_that_need_one() -> None:
    """A capability glob chooses by need, not by name."""
    chosen = plan(CASES, CLAUSES, Selection(capabilities=("nest*",)))

    assert ids(chosen.cases) == ["nested-deep"]


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (
            Selection(cases=("nested-*", "netsed-*")),
            "no case matches 'netsed-*'; `conformance list cases` lists them all",
        ),
        (Selection(cases=("nested-dep",)), "no case matches 'nested-dep'; did you mean nested-deep or nested-ragged?"),
        (Selection(clauses=("frame.*",)), "no clause matches 'frame.*'; `conformance list clauses` lists them all"),
        (
            Selection(capabilities=("teleport",)),
            "no case needs a capability like 'teleport'; `conformance show CASE` prints what one needs",
        ),
        (
            Selection(clauses=("session.trace",), level=Level.MUST),
            "no clause is left at level must; `conformance clauses` lists all with levels",
        ),
    ],
)
def test_a_choice_of_nothing_is_refused(selection: Selection, message: str) -> None:
    """A pattern that matches nothing is an error even where another one matches."""
    with pytest.raises(SelectionError) as error:
        plan(CASES, CLAUSES, selection)

    assert str(error.value) == message


def test_patterns_know_which_of_them_are_dead() -> None:
    """Every glob that matches is counted, not only the first."""
    patterns = Patterns(["a*", "*b", "c"])

    matched = patterns.match("ab")

    assert matched
    assert patterns.dead == ["c"]


def test_a_table_is_not_needed_to_choose() -> None:
    """Selection looks at ids and needs alone, so a table of any size costs nothing."""
    big = Case("big", "A large table", Table((Column("a", BqType.INT64),), recipe=Recipe(rows=10**9)))

    assert ids(plan([big], CLAUSES, Selection()).cases) == ["big"]


def test_a_pattern_selects_a_case_in_every_form_of_the_run() -> None:
    """The corpus, whose digest the plan has, is that of the base in any form."""
    selection = Selection(cases=("int64-*",), form=EVERY)

    both, base = plan(CASES, CLAUSES, selection), plan(CASES, CLAUSES, Selection(cases=("int64-*",)))

    assert ids(both.cases) == ["int64-one-row", "int64-one-row@avro"]
    assert "nested-deep@avro" in {one.id for one in both.left_out}
    assert both.corpus == base.corpus


def test_a_run_in_one_form_names_the_cases_without_it() -> None:
    """A pattern may name the case or its id in that form."""
    alone = Case("alone", "A case in Avro", CASES[0].table, (CreateSession(data_format="AVRO"),))

    chosen = plan([alone, *CASES], CLAUSES, Selection(cases=("nested-deep", "*-row@avro"), form="avro"))

    assert ids(chosen.cases) == ["int64-one-row@avro", "nested-deep@avro"]
    assert LeftOut("case", "alone", "it has no form avro") in chosen.left_out


def test_a_pattern_with_a_form_needs_no_option() -> None:
    """Nothing else changes: the other forms are no part of the run."""
    chosen = plan(CASES, CLAUSES, Selection(cases=("int64-one-row@avro",)))

    assert ids(chosen.cases) == ["int64-one-row@avro"]
    assert {one.id for one in chosen.left_out if one.kind == "case"} == set(ids(tuple(CASES)))
