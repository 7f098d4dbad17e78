"""The Arrow table of a case is of its form, and not larger than its file explains."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.generate.arrowtable import MOST_SLOTS, arrow_table
from conformance.records import ArrowField, ArrowTable, Json, RecordError

INT: dict[str, Any] = {"name": "int", "bitWidth": 32, "isSigned": True}


def table(kind: dict[str, Any], column: dict[str, Any], *children: ArrowField) -> ArrowTable:
    """A table of one column."""
    batch = {"count": column["count"], "columns": [{"name": "x", **column}]}
    made = {key: Json(value) for key, value in kind.items()}
    return ArrowTable((ArrowField("x", made, children=children),), batches=(Json(batch),))


def test_as_many_nulls_as_are_permitted() -> None:
    """They take no bytes."""
    assert arrow_table(table({"name": "null"}, {"count": MOST_SLOTS})).num_rows == MOST_SLOTS


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (table({"name": "null"}, {"count": MOST_SLOTS + 1}), f"at most {MOST_SLOTS} values in all, but they have"),
        (
            table(
                {"name": "list"},
                {"count": 1, "VALIDITY": [1], "OFFSET": [0, 9], "children": [{"name": "y", "count": 10**9}]},
                ArrowField("y", {"name": Json("null")}),
            ),
            f"at most {MOST_SLOTS} values in all, but they have 1000000001",
        ),
        (table({**INT, "bitWidth": 7}, {"count": 1, "VALIDITY": [1], "DATA": [1]}), "in the integration form"),
        (
            table({"name": "utf8"}, {"count": 1, "VALIDITY": [1], "OFFSET": [0, 1], "DATA": [5]}),
            "in the integration form",
        ),
        (
            table(
                {"name": "list"},
                {
                    "count": 1,
                    "VALIDITY": [1],
                    "OFFSET": [0, 9],
                    "children": [{"name": "y", "count": 1, "VALIDITY": [1], "DATA": [1]}],
                },
                ArrowField("y", INT),
            ),
            "in the integration form",
        ),
    ],
)
def test_what_is_no_table_is_refused(wrong: ArrowTable, message: str) -> None:
    """Too many values, a type that there is not, a value that is no text, and offsets beyond their items."""
    with pytest.raises(RecordError, match=message):
        arrow_table(wrong)
