"""The expected rows of a session, computed from the case alone.

Nothing here comes from a target, and nothing here judges; :mod:`conformance.contract.comparing.matching` compares rows.
Source: ``TableModifiers.snapshot_time`` in
https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/stream.proto.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from conformance.contract import mapping
from conformance.contract.comparing.cellbits import take
from conformance.contract.comparing.expected import expected_columns, project
from conformance.protocols.storage_read.contract.subjects import before_step, derived
from conformance.protocols.storage_read.contract.view import SessionView, StorageView
from conformance.records import Column
from conformance.records.changes import altered_columns

__all__ = ["expected_rows", "expected_table", "has_columns", "visible_rows"]


def has_columns(session: SessionView) -> bool:
    """True if the table has every field that the session's step selects."""
    return expected_columns(session.columns, session.step.selected_fields) is not None


def visible_rows(view: StorageView, session: SessionView) -> range:
    """Return the rows that the table had when the session was created, or at its snapshot time.

    A table that was made again has the rows that were inserted since. A table that was made of it, such as the result
    of a query, has the rows that it had then.
    """
    made = derived(view, session.raw.step)
    step = session.raw.step if made is None else made
    then = before_step(view, 0 if session.step.snapshot else step)
    return range(then.first, then.end)


def expected_rows(view: StorageView, session: SessionView) -> Sequence[int]:
    """Return the rows that the session has to yield, as indices into the case's table, in no order."""
    given = session.step.expect.rows
    return visible_rows(view, session) if given is None else given


def expected_table(view: StorageView, session: SessionView) -> pa.Table:
    """Return the rows that the session has to yield, with the columns that it selects, in no order; computed once.

    Raises:
        ValueError: the session selects a column that the table does not have.
    """
    return view.once(("expected_table", session.index), lambda: _expected_table(view, session))


def _expected_table(view: StorageView, session: SessionView) -> pa.Table:
    columns = expected_columns(session.columns, session.step.selected_fields)
    if columns is None:
        raise ValueError(f"call {session.index}: expected known columns, got {session.step.selected_fields}")
    rows = expected_rows(view, session)
    part = view.table.slice(rows.start, len(rows)) if isinstance(rows, range) else take(view.table, rows)
    earlier = altered_columns(view.case.steps)
    now = {was: name for name, was in earlier.items() if was in session.columns}
    part = part if not now else _as_it_was(part, view.case.table.columns, {name: was for was, name in now.items()})
    return part if columns == view.case.table.columns else project(part, columns)


def _as_it_was(part: pa.Table, columns: Sequence[Column], earlier: Mapping[str, Column]) -> pa.Table:
    """Return rows with the names and types that columns had before they were altered."""
    arrays, fields = [], []
    for column, values in zip(columns, part.columns, strict=True):
        field = mapping.arrow_field(earlier.get(column.name, column))
        arrays.append(values if values.type == field.type else values.cast(field.type))
        fields.append(field)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))
