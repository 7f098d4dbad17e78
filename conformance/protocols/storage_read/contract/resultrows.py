"""Rows and times of a query result, against those that the query has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Violation
from conformance.contract.comparing.matching import common, match_rows, row_hashes, show_row
from conformance.records import BqType, Column, Mode

__all__ = ["among", "in_order", "times_in"]


def among(expected: pa.Table, got: pa.Table) -> Iterator[Violation]:
    """Yield a violation if rows are not among those of the result, or come twice."""
    match = match_rows(expected, got)
    wrong = [*match.repeated, *match.foreign, *(one for _, one in match.changed)]
    if wrong:
        yield Violation("rows of the result, once each", f"{many(len(wrong), 'other')}: {show_row(got, wrong[0])}")


def in_order(expected: pa.Table, got: pa.Table) -> Iterator[Violation]:
    """Yield the first place at which rows differ from those expected there."""
    names = common(expected.schema, got.schema)
    wanted, came = row_hashes(expected, names), row_hashes(got, names)
    length = min(len(wanted), len(came))
    unequal = np.flatnonzero(wanted[:length] != came[:length])
    if len(unequal):
        place = int(unequal[0])
        yield Violation(f"{show_row(expected, place)} at row {place}", show_row(got, place))
    elif len(wanted) != len(came):
        yield Violation(many(len(wanted), "row"), many(len(came), "row"))


def times_in(column: Column, path: str, came: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """Yield each place of a TIMESTAMP in a column, with the type that came for it."""
    own = came.value_type if column.mode is Mode.REPEATED and pa.types.is_list(came) else came
    if column.type is BqType.TIMESTAMP:
        yield path, own
    for field in column.fields if pa.types.is_struct(own) else ():
        if (place := own.get_field_index(field.name)) >= 0:
            yield from times_in(field, f"{path}.{field.name}", own.field(place).type)
