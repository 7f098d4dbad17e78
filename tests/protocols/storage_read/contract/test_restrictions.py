from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.protocols.storage_read.contract.restrictions import calls_function, null_rows, tokens


@pytest.mark.parametrize(
    "text",
    ["LENGTH(name) = 1", "lower (name) = 'a'", "a > 1 AND SAFE_CAST(b AS INT64) = 1", "DATE(t) = DATE '2020-01-01'"],
)
def test_a_call_of_a_function_is_found(text: str) -> None:
    """In any case, with a blank before the parenthesis, and behind an operator."""
    assert calls_function(text)


@pytest.mark.parametrize(
    "text",
    [
        "a IN(1, 2)",
        "NOT(a = 1) AND(b = 2)",
        "CAST(a AS STRING(10)) = 'LENGTH(x)'",
        "`length` = 1 OR (a = 2)",
        "a IN UNNEST([1, 2])",
        "d < CAST('2014-9-27' AS DATE)",
    ],
)
def test_operators_casts_types_and_literals_are_no_functions(text: str) -> None:
    """CAST is one of the proto's examples; the others only look like calls."""
    assert not calls_function(text)


def test_words_are_those_outside_of_literals() -> None:
    """A dotted name is one word, and backquotes are no part of it."""
    assert tokens("`a`.b = 'c d' AND e > 1") == (("'c d'",), ("a.b", "AND", "e"))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a > 1", {1}),
        ("R.b = 2", {0, 2}),
        ("a NOT IN (1, NULL)", {0, 1, 2}),
        ("a > 1 OR a IS NULL", {1}),
        ("c = 'a'", set()),
    ],
)
def test_rows_for_which_a_restriction_compares_null(text: str, rows: set[int]) -> None:
    """A field of a record is NULL where the record is; a NULL in the text is compared for all rows."""
    table = pa.table({"a": [1, None, 3], "r": [{"b": None}, {"b": 2}, None]})

    assert null_rows(table, text) == rows
