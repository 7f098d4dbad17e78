"""Predicates over plain rows have the values that GoogleSQL gives them."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.generate import draw_case, materialise, to_json_rows
from conformance.generate.choices import Seeded
from conformance.protocols.storage_read.generate.predicates import draw_predicate, sql_of
from conformance.protocols.storage_read.model.predicates import (
    And,
    Between,
    ComparedWith,
    ComparisonOperator,
    InList,
    IsNull,
    Not,
    Operand,
    Or,
    Predicate,
    StartsWith,
)
from conformance.protocols.storage_read.model.tables import GrowingTable
from conformance.protocols.storage_read.reference.restriction import keep
from conformance.records import BqType

N = Operand(("n",), BqType.INT64)


@pytest.mark.parametrize(
    ("predicate", "row", "truth"),
    [
        (ComparedWith(N, ComparisonOperator.LESS, 5), {"n": 4}, True),
        (ComparedWith(N, ComparisonOperator.LESS, 5), {"n": None}, None),
        (ComparedWith(N, ComparisonOperator.LESS, 5), {}, None),
        (Between(N, 2, 4), {"n": 4}, True),
        (InList(N, (2, 4)), {"n": 3}, False),
        (IsNull(N), {"n": None}, True),
        (Not(IsNull(N)), {"n": None}, False),
        (StartsWith(Operand(("s",), BqType.STRING), "ab"), {"s": "abc"}, True),
        (IsNull(Operand(("r", "n"), BqType.INT64)), {"r": None}, True),
        (ComparedWith(Operand(("f",), BqType.FLOAT64), ComparisonOperator.EQUAL, "NaN"), {"f": "NaN"}, False),
        (ComparedWith(Operand(("d",), BqType.NUMERIC), ComparisonOperator.LESS, "10"), {"d": "9.5"}, True),
        (ComparedWith(Operand(("t",), BqType.TIMESTAMP), ComparisonOperator.GREATER, "2020-01-01T00:00:00Z"),
         {"t": "2020-01-01T00:00:00.500000Z"}, True),
    ],
)  # fmt: skip
def test_a_predicate_is_true_false_or_null(predicate: Predicate, row: dict[str, Any], *, truth: bool | None) -> None:
    """NULL is neither TRUE nor FALSE, also where a record around the field is NULL."""
    assert predicate.truth(row) is truth


@pytest.mark.parametrize(("one", "both", "either"), [(True, None, True), (False, False, None), (None, None, None)])
def test_null_joins_as_the_unknown(*, one: bool | None, both: bool | None, either: bool | None) -> None:
    """NULL AND FALSE is FALSE, NULL OR TRUE is TRUE, everything else with NULL is NULL."""
    unknown = ComparedWith(Operand(("absent",), BqType.INT64), ComparisonOperator.EQUAL, 0)
    known: Predicate = unknown if one is None else ComparedWith(N, ComparisonOperator.EQUAL, 1 if one else 2)

    assert And(known, unknown).truth({"n": 1}) is both
    assert Or(unknown, known).truth({"n": 1}) is either


def test_drawn_predicates_select_what_the_reference_selects() -> None:
    """The model, and the reference with its own parser and Arrow's logic, agree on every drawn restriction."""
    agreed = 0
    for index in range(120):
        case = draw_case(77, index, profile="server")
        table = materialise(case.table)
        columns, rows = case.table.columns, to_json_rows(table, case.table.columns)
        predicate = draw_predicate(Seeded(77, index, "predicates"), columns, rows)
        if predicate is None or not rows:
            continue
        text = sql_of(predicate)
        selected = keep(text, columns, table).to_pylist()

        assert [predicate.truth(row) is True for row in rows] == selected, text
        agreed += 1
    assert agreed > 60


def test_a_session_sees_the_rows_of_its_instant() -> None:
    """Appended rows are seen by later sessions, and not at an instant before the first append."""
    table = GrowingTable.before_appends([{"n": number} for number in range(5)], 3)
    table.append(2)

    assert table.seen() == (0, 1, 2, 3)
    assert table.seen(before_appends=True) == (0, 1)
    assert table.seen(ComparedWith(N, ComparisonOperator.GREATER, 0)) == (1, 2, 3)
    with pytest.raises(ValueError, match="expected at most 1 rows to append, got 2"):
        table.append(2)
