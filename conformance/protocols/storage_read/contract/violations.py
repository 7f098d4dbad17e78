"""Comparisons that several chapters use: rows as a set, rows in order, schemas; each yields violations.

The chapters choose the reads and sessions to compare, and interpret the violations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Violation
from conformance.contract.comparing.expected import expected_columns, project
from conformance.contract.comparing.matching import match_rows, show_row
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.expected import expected_rows, visible_rows
from conformance.protocols.storage_read.contract.restrictions import null_rows
from conformance.protocols.storage_read.contract.sessions import SessionRead, rows_of
from conformance.protocols.storage_read.contract.subjects import full_reads
from conformance.protocols.storage_read.contract.view import ReadView, ResponseView, StorageView
from conformance.wire import Field, Schema

__all__ = [
    "exactly",
    "fields_differ",
    "first_read",
    "later_rows",
    "other_rows",
    "responses_with_schema",
    "rows_differ",
    "rows_that_came",
    "schema_differs",
    "selection_differs",
    "unwanted_rows",
]


# --- rows in order --------------------------------------------------------------------------------


def first_read(read: ReadView) -> ReadView:
    """Return the first full read of the stream of ``read`` in the exchange; ``read`` itself if no full read exists."""
    return _first_reads(read.view).get(read.stream, read)


@once_per_view
def _first_reads(view: StorageView) -> dict[str, ReadView]:
    return {read.stream: read for read in reversed(full_reads(view))}


def rows_differ(one: ReadView, other: ReadView) -> Iterator[Violation]:
    """Yield a violation if a read does not give the same rows in the same order as a read before it."""
    before, again = rows_of(one), rows_of(other)
    if before is None or again is None or np.array_equal(before, again):
        return
    length = min(len(before), len(again))
    unequal = np.flatnonzero(before[:length] != again[:length])
    place = int(unequal[0]) if len(unequal) else length
    required = f"the {many(len(before), 'row')} of call {one.index}, in their order"
    yield Violation(required, f"{many(len(again), 'row')}, the first difference at row {place}", call=other.index)


# --- rows as a set --------------------------------------------------------------------------------


def exactly(whole: SessionRead) -> Iterator[Violation]:
    """Yield violations if a session lost, repeated or invented rows; rows with other values are not reported here."""
    match, wanted = whole.match, whole.expected.num_rows
    if match.missing:
        observed = f"{many(len(match.missing), 'row')} missing, such as {show_row(whole.expected, match.missing[0])}"
        yield Violation(f"all {many(wanted, 'row')}", observed)
    if surplus := match.repeated + match.foreign:
        observed = f"{many(len(surplus), 'row')} more, such as {show_row(whole.got, surplus[0])}"
        yield Violation(f"no more than the {many(wanted, 'row')}", observed)


def rows_that_came(whole: SessionRead, table: pa.Table) -> tuple[set[int], set[int]]:
    """Return the rows of ``table`` that a session yielded exactly, and those that it did not yield at all.

    A row with other values is in neither set. ``table`` has all columns of the case's table; it is projected as the
    session is.
    """
    columns = expected_columns(whole.session.columns, whole.session.step.selected_fields)
    assert columns is not None
    match = match_rows(project(table, columns), whole.got)
    absent = set(match.missing)
    return set(range(table.num_rows)) - absent - {row for row, _ in match.changed}, absent


def other_rows(whole: SessionRead) -> Iterator[Violation]:
    """Yield a violation if the rows have other values in the columns that both have, or are other rows."""
    match, wanted = whole.match, f"the {many(whole.expected.num_rows, 'row')} that the table had"
    if match.changed:
        expected, got = match.changed[0]
        yield Violation(show_row(whole.expected, expected), show_row(whole.got, got))
    elif match.missing:
        yield Violation(wanted, f"{len(match.missing)} missing, such as {show_row(whole.expected, match.missing[0])}")
    elif surplus := [*match.repeated, *match.foreign]:
        yield Violation(wanted, f"{many(len(surplus), 'row')} more, such as {show_row(whole.got, surplus[0])}")


def later_rows(whole: SessionRead) -> Iterator[Violation]:
    """Yield a violation if a session yields rows that were inserted after its snapshot."""
    view = whole.session.view
    seen = visible_rows(view, whole.session)
    if later := sorted(row for row in rows_that_came(whole, view.table)[0] if row >= seen.stop):
        observed = f"{many(len(later), 'row')} that came later, such as {show_row(view.table, later[0])}"
        yield Violation(f"only the {many(len(seen), 'row')} of the snapshot", observed)


def _selected(whole: SessionRead) -> tuple[list[int], list[int]]:
    """Return the rows of the table that came although they must not, and the expected rows that did not come."""
    if whole.match.exact:
        return [], []
    view, session = whole.session.view, whole.session
    expected = set(expected_rows(view, session))
    visible = visible_rows(view, session)
    came, absent = (
        {visible.start + row for row in rows}
        for rows in rows_that_came(whole, view.table.slice(visible.start, len(visible)))
    )
    return sorted(came - expected), sorted(expected & absent)


def unwanted_rows(whole: SessionRead) -> list[int]:
    """Return the rows of the table, by index, that a session yielded although its restriction does not select them."""
    return _selected(whole)[0]


def selection_differs(whole: SessionRead, *, aside: frozenset[int] = frozenset()) -> Iterator[Violation]:
    """Yield violations if a restricted session yields other rows than those selected.

    ``aside`` are rows of the table that another clause reports if they come.
    """
    surplus, missing = _selected(whole)
    restriction, table = whole.session.step.row_restriction, whole.session.view.table
    required = f"the {many(whole.expected.num_rows, 'row')} for which {_shown(restriction)} is TRUE"
    nulls = null_rows(table, restriction) if surplus or missing else set()
    if wrong := [row for row in surplus if row not in aside]:
        observed = f"{many(len(wrong), 'other row')}{_told(wrong, nulls)}, such as {show_row(table, wrong[0])}"
        yield Violation(required, observed, field="row_restriction")
    if missing:
        empty = "" if whole.session.session.streams else "no streams: "
        observed = (
            f"{empty}{len(missing)} of them missing{_told(missing, nulls)}, such as {show_row(table, missing[0])}"
        )
        yield Violation(required, observed, field="row_restriction")
    if repeated := whole.match.repeated:
        observed = f"{len(repeated)} of them once more, such as {show_row(whole.got, repeated[0])}"
        yield Violation(required, observed, field="row_restriction")


def _told(rows: Sequence[int], nulls: set[int]) -> str:
    """Say of rows that the restriction compares NULL for each of them: one cause, whatever its form is."""
    return " for which it compares NULL" if nulls.issuperset(rows) else ""


def _shown(text: str) -> str:
    return repr(text if len(text) <= 120 else text[:119] + "…")


# --- schemas --------------------------------------------------------------------------------------


def responses_with_schema(view: StorageView, *, resumed: bool) -> list[ResponseView]:
    """Return the responses with a readable schema whose session has one too; of resumed reads or of the others."""
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
    """Yield a violation if a response (of :func:`responses_with_schema`) has another schema than its session."""
    session = response.read.session
    assert session is not None
    assert session.schema is not None
    assert response.schema is not None
    own, wanted = response.schema.message.schema, session.schema.message.schema
    if own is None or wanted is None or own is wanted:  # equal bytes are parsed once, to one object
        return
    yield from fields_differ(own, wanted, "the schema of the session")


def fields_differ(own: Schema, wanted: Schema, named: str) -> Iterator[Violation]:
    """Yield a violation if the fields of two schemas differ; ``named`` says what the wanted one is."""
    if _contents(own.fields) != _contents(wanted.fields):
        required, observed = ("; ".join(map(str, schema.fields)) for schema in (wanted, own))
        found = "the same fields with other metadata" if observed == required else f"the schema {{{observed}}}"
        yield Violation(f"{named}, {{{required}}}", found, field="arrow_schema")


def _contents(fields: tuple[Field, ...]) -> list[tuple[object, ...]]:
    """Return fields as comparable values; metadata are sorted, by repr because a text that is not UTF-8 is None."""
    return [
        (
            field.name,
            field.type,
            field.nullable,
            field.dictionary,
            sorted(field.metadata, key=repr),
            _contents(field.children),
        )
        for field in fields
    ]
