"""Describe a judged case for comparison with others: the features of its requests, and what its table has.

A cause is attributed to a feature by comparing the refused requests of a run with the served ones. Here the features
of one request become words; :mod:`conformance.engine.refusals` compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from conformance.contract.closed import Paths
from conformance.contract.subjects import LARGE_BYTES, after_abandoned, answered, appended_rows, is_child
from conformance.contract.view import CallView, ReadView, SessionView, SplitView, View
from conformance.engine.events import CaseShape, Request
from conformance.records import Case, Column, CreateSession, Mode, NullPattern

__all__ = ["requests_of", "shape_of"]

WIDE: Final = 100
"""The number of columns from which a table counts as wide."""
DEEP: Final = 4
"""The number of levels from which a column counts as deeply nested."""

_OPTIONS: Final[Sequence[tuple[str, Callable[[CreateSession], object]]]] = (
    ("snapshot_time", lambda step: step.snapshot),
    ("row_restriction", lambda step: step.row_restriction),
    ("selected_fields", lambda step: step.selected_fields),
    ("buffer_compression", lambda step: step.buffer_compression),
    ("response_compression", lambda step: step.response_compression),
    ("sample_percentage", lambda step: step.sample_percentage is not None),
    ("max_stream_count", lambda step: step.max_stream_count),
    ("max_stream_count above 1", lambda step: step.max_stream_count > 1),
    ("preferred_min_stream_count", lambda step: step.preferred_min_stream_count),
    ("trace_id", lambda step: step.trace_id),
    ("the parent of another project", lambda step: step.parent),
    ("no read_options", lambda step: step.omit_options),
)
"""The options of a session that a server may lack, from the general to the special."""


def requests_of(view: View) -> tuple[Request, ...]:
    """The calls of a case that had to be served, and those that ended in a status that their step does not permit."""
    return tuple(_requests(view))


def _requests(view: View) -> Iterator[Request]:
    for call in view.calls:
        codes = call.expected_codes
        wrong = answered(call) and call.raw.status != "OK" and call.raw.status not in codes
        if not answered(call) or not (wrong or "OK" in codes):
            continue
        session = call.session if isinstance(call, ReadView) else None
        asks = call if isinstance(call, SessionView) else session
        yield Request(
            call=call.index,
            method=call.raw.method,
            asked=tuple(_asked(call)),
            session=session.index if session is not None else None,
            refused=f"{call.raw.status}: {call.raw.details}" if wrong else "",
            owed="OK" in codes,
            restriction=asks.step.row_restriction if wrong and asks is not None else "",
        )


def _asked(call: CallView) -> Iterator[str]:
    """The features of a request; a read has those of its session too."""
    if isinstance(call, SessionView):
        yield from _of_session(call)
    elif isinstance(call, ReadView):
        if call.session is not None:
            yield from _of_session(call.session)
        if call.offset:
            yield "an offset"
        if is_child(call):
            yield "the child of a split stream"
        if after_abandoned(call):
            yield "an abandoned read before it"
    elif isinstance(call, SplitView):
        yield "a split"


def _of_session(call: SessionView) -> Iterator[str]:
    # A chapter that is imported before the register is loaded would change the order of the clauses.
    from conformance.contract.chapters.projection import paths_of  # noqa: PLC0415
    from conformance.contract.chapters.restriction import form_of  # noqa: PLC0415

    step = call.step
    yield from (name for name, asks in _OPTIONS if asks(step))
    if step.data_format != "ARROW":
        yield f"data_format {step.data_format}"
    if step.row_restriction and "OK" in call.expected_codes:
        yield f"row_restriction with {form_of(call)}"
    if step.selected_fields and "OK" in call.expected_codes:
        paths = paths_of(call)
        if paths in (Paths.NESTED, Paths.MERGED):
            yield "selected_fields with nested paths"
        yield f"selected_fields of the kind {paths}"
    if step.buffer_compression:
        yield f"buffer_compression {step.buffer_compression}"
    if step.row_restriction and step.selected_fields:
        yield "row_restriction together with selected_fields"
    if appended_rows(call.view):
        yield "rows appended while it is read"
    if call.view.table.nbytes >= LARGE_BYTES:
        yield "a table of 8 MiB or more"


def shape_of(case: Case) -> CaseShape:
    """The size of a case, and what its table has."""
    table = case.table
    rows = len(table.rows) if table.rows is not None else table.recipe.rows if table.recipe is not None else 0
    return CaseShape(rows, len(table.columns), len(case.steps), tuple(dict.fromkeys(_has(case, rows))))


def _has(case: Case, rows: int) -> Iterator[str]:
    if rows == 0:
        yield "no rows"
    elif rows == 1:
        yield "a single row"
    recipe, columns = case.table.recipe, case.table.columns
    if recipe is not None and rows and recipe.nulls is NullPattern.ALL:
        yield "only NULLs"
    if len(columns) >= WIDE:
        yield f"{WIDE} columns or more"
    for column in columns:
        yield from _of_column(column, 1)


def _of_column(column: Column, depth: int, *, in_list: bool = False, in_record: bool = False) -> Iterator[str]:
    repeated = column.mode is Mode.REPEATED
    yield f"columns of type {column.type}"
    if column.mode is Mode.REQUIRED:
        yield "REQUIRED columns"
    if repeated:
        yield "REPEATED columns"
        if in_list:
            yield "lists inside lists"
        if in_record:
            yield "lists inside records"
        if column.fields:
            yield "records inside lists"
    if column.fields and in_record:
        yield "records inside records"
    if depth >= DEEP:
        yield f"columns nested {DEEP} levels or deeper"
    if column.precision is not None:
        yield f"{column.type} columns with precision and scale"
    for field in column.fields:
        yield from _of_column(field, depth + 1, in_list=in_list or repeated, in_record=True)
