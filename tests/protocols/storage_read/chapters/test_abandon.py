from __future__ import annotations

import pytest

from conformance.records import CallEnd, CreateSession, ReadRows
from tests.contract.exchanges import Answer, Deviation, case_of, prove, read

CASE = case_of(CreateSession(), ReadRows(take=1, times=5), ReadRows())


def fewer_rows(answers: list[Answer]) -> None:
    """The second read is of the full stream, although the first one stopped."""
    table = read(answers, 5).table
    assert table is not None
    read(answers, 5).send(table.slice(4))


DEVIATIONS = (
    Deviation("abandon.later-calls-end-in-time", CASE, lambda a: read(a, 5).break_off(CallEnd.DEADLINE)),
    Deviation("abandon.later-calls-end-in-time", CASE, lambda a: read(a, 3).break_off(CallEnd.DEADLINE)),
    Deviation("abandon.server-lives-on", CASE, lambda a: read(a, 5).break_off(CallEnd.CRASH)),
    Deviation("abandon.later-read-is-served", CASE, lambda a: read(a, 5).refuse("RESOURCE_EXHAUSTED")),
    Deviation("abandon.later-read-is-whole", CASE, fewer_rows),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)
