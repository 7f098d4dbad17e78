from __future__ import annotations

import pytest

from conformance.protocols.storage_read.chapters.responses import MAX_RESPONSE
from conformance.records import BqType, Column, CreateSession, Json, ReadRows, Table
from tests.contract.exchanges import Answer, Deviation, Spoil, case_of, prove, read, verdicts

WIDE = case_of(
    CreateSession(),
    ReadRows(),
    table=Table((Column("s", BqType.STRING),), tuple(Json({"s": str(n) * (3 << 20)}) for n in range(3))),
)
MANY = case_of(
    CreateSession(),
    ReadRows(),
    table=Table((Column("s", BqType.STRING),), tuple(Json({"s": f"{n:09}" * 1900}) for n in range(1000))),
)


def without_a_row(response_rows: int) -> Spoil:
    """The first row does not come."""

    def spoil(answers: list[Answer]) -> None:
        table = read(answers).table
        assert table is not None
        read(answers).send(table.slice(1), response_rows=response_rows)

    return spoil


def in_one(answers: list[Answer]) -> None:
    """All rows in one response."""
    table = read(answers).table
    assert table is not None
    read(answers).send(table, response_rows=table.num_rows)


def over_the_limit(answers: list[Answer]) -> None:
    """Zeros after the batch, up to one byte beyond the limit."""
    batch = read(answers).responses[0].arrow_record_batch
    batch.serialized_record_batch += bytes(MAX_RESPONSE + 1 - len(batch.serialized_record_batch))


def deviation(clause: str, case: object, spoil: Spoil) -> Deviation:
    """A deviation from answers of one wide row, or 500 small ones, a response."""
    return Deviation(f"responses.{clause}", case, spoil, response_rows=1 if case is WIDE else 500)  # type: ignore[arg-type]


DEVIATIONS = (
    deviation("wide-rows-are-served", WIDE, lambda a: read(a).refuse("RESOURCE_EXHAUSTED")),
    deviation("wide-rows-arrive", WIDE, without_a_row(1)),
    deviation("many-rows-are-served", MANY, lambda a: read(a).refuse("RESOURCE_EXHAUSTED")),
    deviation("many-rows-arrive", MANY, without_a_row(500)),
    deviation("large-table-is-divided", MANY, in_one),
    Deviation("responses.stay-within-128-mb", case_of(CreateSession(), ReadRows()), over_the_limit),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def test_the_rows_of_one_response_are_counted_whatever_it_declares() -> None:
    """A server that leaves out the count is not said to send no row."""

    def uncounted(answers: list[Answer]) -> None:
        in_one(answers)
        for response in read(answers).responses:
            response.row_count = 0

    found = {one.clause: one for one in verdicts(MANY, uncounted, response_rows=500) if one.findings}

    assert found["responses.large-table-is-divided"].findings[0].observed == "one response of 1000 rows"
