"""The rows of a case as those of its table before columns of it got other names and types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any, Final

from conformance.records import BqType, Case, Column
from conformance.records.changes import altered_columns

__all__ = ["rows_then"]


def _integer(value: Any) -> Any:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return value
    return int(number) if number.is_finite() and number == number.to_integral_value() else value


_VALUES: Final[Mapping[BqType, Callable[[Any], Any]]] = MappingProxyType(
    {BqType.INT64: _integer, BqType.NUMERIC: str, BqType.BIGNUMERIC: str, BqType.FLOAT64: float}
)
"""The JSON form of a number in each type. One that is no integer stays, for it is of a row that is inserted later."""


def rows_then(case: Case, rows: Sequence[Any], columns: Sequence[Column]) -> Sequence[Any]:
    """Return the rows of a case, in JSON, under the names and in the types that its table has with these columns."""
    last = {column.name: column for column in case.table.columns}
    changed = [(name, was) for name, was in altered_columns(case.steps).items() if was in columns]
    if not changed:
        return rows
    return [_row_then(row, changed, last) for row in rows]


def _row_then(row: Mapping[str, Any], changed: Sequence[tuple[str, Column]], last: Mapping[str, Column]) -> Any:
    then = dict(row)
    for name, was in changed:
        if name in row:
            value = then.pop(name)
            is_cast = value is not None and was.type is not last[name].type
            then[was.name] = _VALUES[was.type](value) if is_cast else value
    return then
