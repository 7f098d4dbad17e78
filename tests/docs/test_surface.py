"""The table of the surface is complete: each statement has a clause or a reason, each clause on servers a statement."""

from __future__ import annotations

import itertools

import pytest

from conformance.protocols.storage_read.reference.mutants import MUTANTS
from publish.tables.surface import ELSEWHERE, SOURCES, STATEMENTS, Statement, named, on_servers, text

ENTRIES = [*STATEMENTS, *ELSEWHERE]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda each: each.says[:60])
def test_a_statement_has_a_clause_or_a_reason(statement: Statement) -> None:
    """A statement that no clause judges says why, and every statement has a source of the table."""
    assert statement.clauses or statement.why
    assert set(statement.source) <= set(SOURCES)
    assert statement.source


def test_every_named_clause_exists() -> None:
    """An id is that of a clause on servers, and a glob matches some of them."""
    patterns = {pattern for each in ENTRIES for pattern in each.clauses}

    assert sorted(pattern for pattern in patterns if not named([pattern])) == []


def test_every_clause_on_servers_belongs_to_a_statement() -> None:
    """Each of them is named by a statement, or listed with a reason, and not both."""
    stated = set(named(pattern for each in STATEMENTS for pattern in each.clauses))
    apart = set(named(pattern for each in ELSEWHERE for pattern in each.clauses))

    assert sorted(set(on_servers()) - stated - apart) == []
    assert sorted(stated & apart) == []
    assert all(each.why for each in ELSEWHERE)


def test_every_source_is_a_public_address_that_a_statement_uses() -> None:
    """A reader can look each of them up; none is left over."""
    used = {key for each in STATEMENTS for key in each.source}

    assert [url for url in SOURCES.values() if not url.startswith("https://")] == []
    assert sorted(set(SOURCES) - used) == []


def test_no_statement_is_there_twice() -> None:
    """A part is one table, and a statement one row of it."""
    parts = [each.part for each in STATEMENTS]

    assert len({each.says for each in STATEMENTS}) == len(STATEMENTS)
    assert sum(1 for _ in itertools.groupby(parts)) == len(set(parts))


def test_cases_and_mutants_are_those_of_the_clauses() -> None:
    """The row of a statement names a case that is made for its clause, and the mutant that this clause must detect."""
    (row,) = [line for line in text().splitlines() if line.startswith("| `throttle_percent` is in 0 to 100.")]

    assert "`rows.many-responses`" in row
    assert [mutant.name for mutant in MUTANTS.values() if f"`{mutant.name}`" in row] == ["rows.throttle-above-hundred"]
