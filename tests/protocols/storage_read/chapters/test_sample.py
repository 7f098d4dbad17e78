from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.records import CreateSession, Expect, ReadRows
from tests.contract.exchanges import Answer, Deviation, case_of, create, prove, read, verdicts

PLAIN = (CreateSession(label="plain"), ReadRows(session="plain"))
HALF = case_of(*PLAIN, CreateSession(sample_percentage=50), ReadRows())
EVERYTHING = case_of(*PLAIN, CreateSession(sample_percentage=100), ReadRows())
OUTSIDE = case_of(
    CreateSession(sample_percentage=101, expect=Expect(codes=("INVALID_ARGUMENT",), reason="sample-outside"))
)


def twice(answers: list[Answer]) -> None:
    """Half of the table comes twice."""
    table = read(answers, 1).table
    assert table is not None
    read(answers, 1).send(pa.concat_tables([table.slice(0, 5)] * 2))


def half(answers: list[Answer]) -> None:
    """Half of the table comes."""
    table = read(answers, 1).table
    assert table is not None
    read(answers, 1).send(table.slice(5))


def nothing(answers: list[Answer]) -> None:
    """The session has no streams."""
    del answers[3:]
    create(answers, 1).responses[0].ClearField("streams")


def accepted(answers: list[Answer]) -> None:
    """The request is served."""
    create(answers).status, create(answers).details = "OK", ""


DEVIATIONS = (
    Deviation("sample.request-is-served", HALF, lambda a: create(a, 1).refuse("UNIMPLEMENTED")),
    Deviation("sample.request-is-served", HALF, lambda a: read(a, 1).refuse("NOT_FOUND")),
    Deviation("sample.percentage-outside-is-refused", OUTSIDE, accepted),
    Deviation("sample.rows-are-the-tables", HALF, twice),
    Deviation("sample.of-everything-is-everything", EVERYTHING, half),
    Deviation("sample.of-everything-is-everything", EVERYTHING, nothing),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_fault_fails_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


@pytest.mark.parametrize("spoil", [half, nothing])
def test_a_part_may_be_any_rows(spoil: object) -> None:
    """A sample of half a table may have any blocks of it, or none."""
    found = verdicts(HALF, spoil)  # type: ignore[arg-type]  # pytest loses the type of the functions

    assert {verdict.clause for verdict in found if verdict.findings} == set()
