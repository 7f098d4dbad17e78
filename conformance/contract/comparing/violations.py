"""Comparisons that several chapters make: rows as a set, rows in order, schemas; each yields what is wrong.

Which reads and sessions are compared, and what follows from a difference, is the chapters' affair.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from conformance.contract.clause import Violation
from conformance.contract.comparing.expected import expected_columns, expected_rows, project, visible_rows
from conformance.contract.comparing.matching import match_rows, show_row
from conformance.contract.comparing.sessions import SessionRead, rows_of
from conformance.contract.subjects import full_reads, once_per_view
from conformance.contract.view import ReadView, ResponseView, View
from conformance.wire import Field, Schema

__all__ = [
    "exactly",
    "first_read",
    "responses_with_schema",
    "rows_differ",
    "rows_that_came",
    "schema_differs",
    "selection_differs",
    "unwanted_rows",
]


# --- rows in order --------------------------------------------------------------------------------


def first_read(read: ReadView) -> ReadView:
    """The first whole read of the stream of ``read`` in the exchange; itself where there is none."""
    return _first_reads(read.view).get(read.stream, read)


@once_per_view
def _first_reads(view: View) -> dict[str, ReadView]:
    return {read.stream: read for read in reversed(full_reads(view))}


def rows_differ(one: ReadView, other: ReadView) -> Iterator[Violation]:
    """The violation of a read that does not give the same rows in the same order as one before it."""
    before, again = rows_of(one), rows_of(other)
    if before is None or again is None or np.array_equal(before, again):
        return
    length = min(len(before), len(again))
    unequal = np.flatnonzero(before[:length] != again[:length])
    place = int(unequal[0]) if len(unequal) else length
    required = f"the {len(before)} rows of call {one.index}, in their order"
    yield Violation(required, f"{len(again)} rows, the first other one at row {place}", call=other.index)


# --- rows as a set --------------------------------------------------------------------------------


def exactly(whole: SessionRead) -> Iterator[Violation]:
    """The violation of a session that lost, repeated or made up rows; rows with other values are not its affair."""
    match, wanted = whole.match, whole.expected.num_rows
    if match.missing:
        observed = f"{len(match.missing)} missing, such as {show_row(whole.expected, match.missing[0])}"
        yield Violation(f"all {wanted} rows", observed)
    if surplus := match.repeated + match.foreign:
        observed = f"{len(surplus)} more, such as {show_row(whole.got, surplus[0])}"
        yield Violation(f"no more than the {wanted} rows", observed)


def rows_that_came(whole: SessionRead, table: pa.Table) -> tuple[set[int], set[int]]:
    """Which rows of ``table`` a session yielded exactly, and which not at all; a row with other values is neither.

    ``table`` has all columns of the case's table; it is projected as the session is.
    """
    columns = expected_columns(whole.session.view.case.table.columns, whole.session.step.selected_fields)
    assert columns is not None
    match = match_rows(project(table, columns), whole.got)
    absent = set(match.missing)
    return set(range(table.num_rows)) - absent - {row for row, _ in match.changed}, absent


def _selected(whole: SessionRead) -> tuple[list[int], list[int]]:
    """Rows of the table that came although they must not, and rows that should have come and did not."""
    if whole.match.exact:
        return [], []
    view, session = whole.session.view, whole.session
    expected = set(expected_rows(view, session))
    came, absent = rows_that_came(whole, view.table.slice(0, len(visible_rows(view, session))))
    return sorted(came - expected), sorted(expected & absent)


def unwanted_rows(whole: SessionRead) -> list[int]:
    """Rows of the table, by index, that a restricted session yielded although the restriction does not select them."""
    return _selected(whole)[0]


def selection_differs(whole: SessionRead, *, aside: frozenset[int] = frozenset()) -> Iterator[Violation]:
    """The violation of a restricted session that yields other rows than those selected.

    ``aside`` are rows of the table that another clause speaks of, should they come.
    """
    surplus, missing = _selected(whole)
    restriction, table = whole.session.step.row_restriction, whole.session.view.table
    required = f"the {whole.expected.num_rows} rows for which {_shown(restriction)} is TRUE"
    if wrong := [row for row in surplus if row not in aside]:
        yield Violation(required, f"{len(wrong)} others, such as {show_row(table, wrong[0])}", field="row_restriction")
    if missing:
        observed = f"{len(missing)} of them missing, such as {show_row(table, missing[0])}"
        yield Violation(required, observed, field="row_restriction")
    if repeated := whole.match.repeated:
        observed = f"{len(repeated)} of them once more, such as {show_row(whole.got, repeated[0])}"
        yield Violation(required, observed, field="row_restriction")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 120 else text[:119] + "…")


# --- schemas --------------------------------------------------------------------------------------


def responses_with_schema(view: View, *, resumed: bool) -> list[ResponseView]:
    """Responses with a readable schema beside a readable one of the session; of resumed reads or of the others."""
    return [
        response
        for read in view.reads
        for response in read.responses
        if (read.offset > 0) == resumed
        and response.schema is not None
        and response.schema.message.schema is not None
        and read.session is not None
        and read.session.schema is not None
        and read.session.schema.message.schema is not None
    ]


def schema_differs(response: ResponseView) -> Iterator[Violation]:
    """The violation of a response (of :func:`responses_with_schema`) whose schema is not the session's."""
    session = response.read.session
    assert session is not None
    assert session.schema is not None
    assert response.schema is not None
    own, wanted = response.schema.message.schema, session.schema.message.schema
    if own is None or wanted is None or own is wanted:  # the same bytes are read once
        return
    if _all_said(own) != _all_said(wanted):
        required, observed = ("; ".join(map(str, schema.fields)) for schema in (wanted, own))
        yield Violation(f"the session's schema: {required}", f"{observed}, or other metadata", field="arrow_schema")


def _all_said(schema: Schema) -> list[tuple[object, ...]]:
    return _said(schema.fields)


def _said(fields: tuple[Field, ...]) -> list[tuple[object, ...]]:
    """What fields say, without the order of their metadata, in which a text that is no UTF-8 is None."""
    return [
        (
            field.name,
            field.type,
            field.nullable,
            field.dictionary,
            sorted(field.metadata, key=repr),
            _said(field.children),
        )
        for field in fields
    ]
