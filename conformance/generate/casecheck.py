"""Checks that the parts of a case fit each other, which the records alone cannot check.

A case from a file may be anything that its schema permits; drawn and shrunk cases pass this check by construction.
Materialising checks whether written-out rows fit their columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from conformance.generate.arrowtable import arrow_table
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import DEFAULT_PROTOCOL, plugin
from conformance.records import BqType, Case, Column, RecordError, Table, steps_of

__all__ = ["MOST_CALLS", "check_case", "check_rows", "row_count"]

MOST_CALLS: Final = 1000
"""The most calls, or messages without rows, that one step may repeat."""


def check_case(case: Case) -> None:
    """Check that the parts of a case fit each other.

    Raises:
        RecordError: they do not; it names the place.
    """
    _check_columns(case.table.columns, "Case.table.columns")
    if case.table.recipe is not None:
        for name in ("rows", "max_items", "cell_bytes"):
            if (value := getattr(case.table.recipe, name)) < 0:
                raise RecordError(f"Case.table.recipe.{name}", "0 or more", value)
    if case.table.arrow is not None and case.protocol == DEFAULT_PROTOCOL:
        raise RecordError(
            "Case.table.arrow", f"columns, because the case is of {case.protocol}", case.table.arrow.fields
        )
    for index, step in enumerate(case.steps):
        if not isinstance(step, steps_of(case.protocol)):
            raise RecordError(f"Case.steps[{index}]", f"a step of {case.protocol}, the protocol of the case", step.TAG)
        _check_texts(step, f"Case.steps[{index}]")
    plugin(GeneratePlugin, case.protocol).check(case)


def check_rows(rows: Sequence[int], path: str, count: int) -> None:
    """Refuse an index that is not one of a table's ``count`` rows.

    Raises:
        RecordError: one sentence with the place.
    """
    for row in rows:
        if not 0 <= row < count:
            raise RecordError(f"{path}.expect.rows", f"indices into the table's {count} rows", row)


def row_count(table: Table) -> int:
    """The number of a table's rows, however they are given."""
    if table.arrow is not None:
        return int(arrow_table(table.arrow, path="Case.table.arrow").num_rows)
    return table.recipe.rows if table.recipe is not None else len(table.rows or ())


def _check_texts(value: object, path: str) -> None:
    """Refuse a text that no message can hold."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise RecordError(path, "a text without lone surrogates", value)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            _check_texts(item, f"{path}[{index}]")
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            _check_texts(getattr(value, field.name), f"{path}.{field.name}")


_RANGES: Final = frozenset({BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP})
_PARAMETERS: Final = (
    ("precision", frozenset({BqType.NUMERIC, BqType.BIGNUMERIC})),
    ("scale", frozenset({BqType.NUMERIC, BqType.BIGNUMERIC})),
    ("max_length", frozenset({BqType.STRING, BqType.BYTES})),
)
_DIGITS: Final = {BqType.NUMERIC: (29, 9), BqType.BIGNUMERIC: (38, 38)}
"""The most digits before the point, and the most after it
(https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#parameterized_decimal_type).
"""


def _check_columns(columns: Sequence[Column], path: str) -> None:
    names: set[str] = set()
    for index, column in enumerate(columns):
        here = f"{path}[{index}]"
        _check_texts(column.name, f"{here}.name")
        if not column.name or column.name.casefold() in names:
            raise RecordError(f"{here}.name", "a name that no sibling column has, ignoring case", column.name)
        names.add(column.name.casefold())
        if column.range_of is not None and column.range_of not in _RANGES:
            raise RecordError(f"{here}.range_of", f"one of {', '.join(sorted(_RANGES))}", column.range_of)
        _check_parameters(column, here)
        _check_columns(column.fields, f"{here}.fields")


def _check_parameters(column: Column, path: str) -> None:
    for name, kinds in _PARAMETERS:
        if (value := getattr(column, name)) is not None and column.type not in kinds:
            raise RecordError(f"{path}.{name}", f"no value (only {' and '.join(sorted(kinds))} have it)", value)
    if column.max_length is not None and column.max_length < 1:
        raise RecordError(f"{path}.max_length", "1 or more", column.max_length)
    if column.type in _DIGITS and (column.precision is not None or column.scale is not None):
        before, after = _DIGITS[column.type]
        precision, scale = column.precision, column.scale or 0
        if precision is None or not 0 <= scale <= after or not max(1, scale) <= precision <= scale + before:
            expected = f"max(1, scale) to scale + {before} with a scale of at most {after} for {column.type}"
            raise RecordError(f"{path}.precision", expected, precision)
