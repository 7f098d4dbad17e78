"""Rows, times and codecs of a query result, against those that the query has."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.contract.clause import Violation
from conformance.contract.comparing.matching import common, match_rows, row_hashes, show_row
from conformance.protocols.storage_read.contract.queryview import ListingView, ResultView
from conformance.records import ROW_ID, BqType, Column, Mode, QueryStatement
from conformance.wire.arrow import DecodingError, schema_to_arrow

__all__ = ["among", "first_difference", "from_offset", "in_one_form", "in_order", "in_responses", "listed", "times_of"]


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


def from_offset(expected: pa.Table, got: pa.Table, offset: int, *, ordered: bool = False) -> Iterator[Violation]:
    """Yield a violation if rows are not those of the result from an offset on; ``ordered``, in its order."""
    left = max(0, expected.num_rows - offset)
    if got.num_rows != left:
        yield Violation(f"{many(left, 'row')} from offset {offset}", many(got.num_rows, "row"))
    elif ordered:
        yield from in_order(expected.slice(offset), got)
    else:
        yield from among(expected, got)


def listed(expected: pa.Table, call: ListingView) -> Iterator[Violation]:
    """Yield a violation if a listing has other rows than those expected: fewer of them need a page token.

    A listing for no rows need not have one.
    """
    rows, count = call.rows or [], expected.num_rows
    if len(rows) > count or (len(rows) < count and call.step.most != 0 and not call.has("pageToken")):
        yield Violation(f"{many(count, 'row')} from row {call.start}", many(len(rows), "row"), field="rows")
    elif _is_ordered(call) and expected.schema.field(ROW_ID).type == pa.int64():
        wanted = map(str, expected.column(ROW_ID).to_pylist())
        for place, (one, found) in enumerate(zip(wanted, call.texts(ROW_ID), strict=False), call.start or 0):
            if one != found:
                yield Violation(f"{ROW_ID} {one} at row {place}", found, field="rows")
                return


def _is_ordered(call: ListingView) -> bool:
    return call.query is not None and call.query.step.statement is QueryStatement.ORDERED


def times_of(columns: Sequence[Column], own: SchemaBytes | None) -> list[tuple[str, pa.DataType]]:
    """Return each place of a TIMESTAMP in a schema, with the type that came for it; none of a schema that is none."""
    schema = own.message.schema if own is not None else None
    try:
        came = None if schema is None else schema_to_arrow(schema)
    except DecodingError:
        return []
    return [
        one
        for column in columns
        if came is not None and len(places := came.get_all_field_indices(column.name)) == 1
        for one in _times_in(column, column.name, came.field(places[0]).type)
    ]


def in_one_form(found: Sequence[tuple[str, pa.DataType]], named: pa.DataType) -> Iterator[Violation]:
    """Yield a violation if not every time has the form that is named, unless every one has microseconds."""
    micros = pa.timestamp("us", "UTC")
    if others := [one for one in found if one[1] != named]:
        moved = len(others) < len(found) or named == micros
        others = others if moved else [one for one in found if one[1] != micros]
        for name, kind in others[:1]:
            yield Violation(f"{named} for {name!r}" if moved else f"{named}, or microseconds", str(kind), field=name)


def _times_in(column: Column, path: str, came: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """Yield each place of a TIMESTAMP in a column, with the type that came for it."""
    own = came.value_type if column.mode is Mode.REPEATED and pa.types.is_list(came) else came
    if column.type is BqType.TIMESTAMP:
        yield path, own
    for field in column.fields if pa.types.is_struct(own) else ():
        if (place := own.get_field_index(field.name)) >= 0:
            yield from _times_in(field, f"{path}.{field.name}", own.field(place).type)


def first_difference(one: tuple[pa.Table, int], other: tuple[pa.Table, int]) -> int | None:
    """Return the first offset at which two reads of a stream differ, each its rows and the offset of the first."""
    first = max(one[1], other[1])
    left, right = (row_hashes(rows)[first - offset :] for rows, offset in (one, other))
    unequal = np.flatnonzero(left[: len(right)] != right[: len(left)])
    return first + int(unequal[0]) if len(unequal) else None


def in_responses(
    check: Callable[[BatchBytes | None, str], Iterator[Violation]], read: ResultView
) -> Iterator[Violation]:
    """Yield what is wrong in the first message of a stream in which something is."""
    for response in read.responses:
        for violation in check(response.batch, read.codec):
            yield dataclasses.replace(violation, response=response.response)
            return
