from __future__ import annotations

import pytest

from conformance.records import CreateSession, Expect, ReadRows
from tests.contract.exchanges import Answer, Deviation, Spoil, case_of, create, passed, prove, read, verdicts

OPEN = Expect(codes=("OK", "INVALID_ARGUMENT", "UNIMPLEMENTED"))
AVRO = case_of(CreateSession(data_format="AVRO", expect=OPEN), ReadRows(), ReadRows(offset="inside"))


def counts(index: int, add: int) -> Spoil:
    """The first response of a read counts other rows than it has."""

    def spoil(answers: list[Answer]) -> None:
        read(answers, index).responses[0].row_count += add

    return spoil


TRUE = ("rows.row-count-is-true",)
"""The count of a response is compared with its rows too, where these can be read."""

DEVIATIONS = (
    Deviation("avro.counts-are-the-rows", case_of(*AVRO.steps[:2]), counts(0, 1), TRUE),
    Deviation("avro.counts-are-the-rows", case_of(*AVRO.steps[:2]), counts(0, -1), TRUE),
    Deviation("avro.offset-leaves-the-rest", AVRO, counts(1, 2), TRUE),
    Deviation("avro.offset-leaves-the-rest", AVRO, counts(1, -1), TRUE),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def test_a_server_without_avro_is_not_judged_by_its_counts() -> None:
    """A refusal of the format fails nothing, and no clause of the chapter passes."""

    def refuse(answers: list[Answer]) -> None:
        create(answers).refuse("UNIMPLEMENTED")
        del answers[1:]

    assert not any(clause.startswith("avro.") for clause in passed(verdicts(AVRO, refuse)))
