"""The queries and the reads of their results that clauses judge, and the rows that they have to have."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.queryview import (
    ListingView,
    QueriesView,
    QueryView,
    ResultView,
)
from conformance.protocols.storage_read.contract.resulttimes import in_micros
from conformance.protocols.storage_read.contract.subjects import before_step, is_on
from conformance.records import ROW_ID, AppendRows, ChangeColumns, Happening, Meanwhile, QueryStatement, ReadResult
from conformance.wire.arrow import DecodingError, schema_to_arrow

__all__ = ["CHANGES", "NO_ROWS", "ResultPage", "ResultRead", "answered", "behind_cancelled", "came", "counted",
           "expected_of", "has_result", "held_open", "inserted", "listings", "orphaned", "outlived", "pages",
           "queries", "results", "rows_then", "selects", "sent", "served_results", "unfinished", "waited"]  # fmt: skip

CHANGES: Final = (QueryStatement.INSERT, QueryStatement.COPY, QueryStatement.CLEAR)
"""The statements that change the rows of a table."""
NO_ROWS: Final = (QueryStatement.CREATE, *CHANGES, QueryStatement.WRONG)
"""The statements that have no result."""
MANY: Final = 8
"""The queries from which on a server may have forgotten an earlier one."""


def rows_then(view: QueriesView, step: int) -> pa.Table:
    """Return the rows that the table had before a step."""
    now = before_step(view, step)
    return view.table.slice(now.first, now.end - now.first)


def expected_of(query: QueryView) -> pa.Table:
    """Return the rows of the result, in the order of the query if it has one: those that the table had then."""
    table = rows_then(query.view, query.raw.step)
    if query.step.statement in (QueryStatement.NOTHING, QueryStatement.UNMET):
        return table.slice(0, 0)
    if query.step.statement is QueryStatement.UNNAMED:
        return table.append_column(_last_name(query), table.column(ROW_ID))
    if query.step.statement is QueryStatement.ORDERED:
        return table.sort_by([(ROW_ID, "descending")])
    return table


def _last_name(query: QueryView) -> str:
    """The name that the page gives its last column: what a column without a name is called is open."""
    schema = query.schema.message.schema if query.schema is not None else None
    return schema.fields[-1].name if schema is not None and schema.fields else ""


@dataclasses.dataclass(frozen=True, slots=True)
class ResultPage:
    """An answer whose rows can be decoded, with these rows."""

    query: QueryView
    rows: pa.Table

    @property
    def call(self) -> int:
        """The index of the call."""
        return self.query.index

    @property
    def response(self) -> None:
        """None: the answer is one message."""
        return


class ResultRead:
    """A read of the stream of a query's job that ended in OK and can be decoded; the query was answered with Arrow.

    ``page`` is that of the query, if it can be decoded, and ``before`` the first such read of the stream before it.
    """

    response: int | None = None

    def __init__(self, read: ResultView, query: QueryView, page: ResultPage | None, before: ResultRead | None) -> None:
        self.read = read
        self.query = query
        self.page = page
        self.before = before
        self.call = read.index

    @functools.cached_property
    def rows(self) -> pa.Table:
        """The rows that came; none, of the page's schema, if no message did."""
        if batches := list(self.read.batches or ()):
            return in_micros(pa.Table.from_batches(batches), self.query.view, self.read.form)
        page = _without_rows(self.query)
        return self.read.view.table.slice(0, 0) if page is None else page


def queries(view: QueriesView) -> Sequence[QueryView]:
    """Return the calls of jobs.query."""
    return view.queries if isinstance(view, QueriesView) else ()


def results(view: QueriesView) -> Sequence[ResultView]:
    """Return the reads of the streams of queries' jobs."""
    return view.results if isinstance(view, QueriesView) else ()


def inserted(view: QueriesView) -> list[ResultView]:
    """Return the reads of the streams of jobs that jobs.insert has run."""
    return [read for read in results(view) if read.step.written]


def listings(view: QueriesView) -> list[ListingView]:
    """Return the calls of jobs.getQueryResults about queries that were answered in Arrow, or still ran."""
    calls = view.listings if isinstance(view, QueriesView) else ()
    found = (call for call in calls if call.query is not None and not is_orphaned(call, call.query))
    return [call for call in found if call.query is not None and has_result(call.query)]


def unfinished(view: QueriesView) -> list[QueryView]:
    """Return the queries in Arrow whose answer says that they still run."""
    return [call for call in queries(view) if _runs(call)]


def has_result(query: QueryView) -> bool:
    """True for a query that was answered in Arrow, or still ran; a failing one has no result."""
    return (query.has_arrow or _runs(query)) and query.step.statement is not QueryStatement.FAILING


def _runs(query: QueryView) -> bool:
    return query.answer is not None and not query.complete and query.step.results == "ARROW" and not query.step.dry_run


def waited(view: QueriesView) -> list[ResultView]:
    """Return the reads of the streams of such queries that jobs.getQueryResults has called complete since."""
    done = [(call.query, call.index) for call in listings(view) if (call.answer or {}).get("jobComplete") is True]
    return [
        read
        for read in _whole_results(view)
        if read.query is not None
        and _runs(read.query)
        and any(query is read.query and index < read.index for query, index in done)
    ]


def is_orphaned(call: ListingView | ResultView, query: QueryView) -> bool:
    """Return whether the table of a query was removed, and perhaps made again, before a call about its job."""
    between = query.view.case.steps[query.raw.step : call.raw.step]
    return any(
        step.what is Happening.REMOVED if isinstance(step, Meanwhile) else step.again
        for step in between
        if isinstance(step, AppendRows | ChangeColumns | Meanwhile)
    )


def orphaned(view: QueriesView) -> list[ResultView]:
    """Return the reads of the results of queries whose table was removed since, if the answer had Arrow."""
    return [
        read
        for read in _whole_results(view)
        if read.query is not None and read.query.has_arrow and is_orphaned(read, read.query)
    ]


def selects(view: QueriesView) -> list[QueryView]:
    """Return the queries for rows in Arrow that have to be served, but for those that still run.

    What answers a query for a page of no rows is open, but for its token.
    """
    return [call for call in _asked(view) if call.step.max_results != 0]


def _asked(view: QueriesView) -> list[QueryView]:
    return [
        call
        for call in queries(view)
        if call.complete
        and call.step.results == "ARROW"
        and call.step.statement not in (*NO_ROWS, QueryStatement.FAILING)
        and not call.step.dry_run
        and "OK" in call.expected_codes
    ]


def answered(view: QueriesView) -> list[QueryView]:
    """Return those whose answer has fields of Arrow."""
    return [call for call in selects(view) if call.has_arrow]


def pages(view: QueriesView) -> list[ResultPage]:
    """Return the pages that can be decoded."""
    return _decoded(answered(view))


def counted(view: QueriesView) -> list[ResultPage]:
    """Return the pages that can be decoded, those of queries for a page of no rows too."""
    return _decoded([call for call in _asked(view) if call.has_arrow])


def _decoded(answers: Sequence[QueryView]) -> list[ResultPage]:
    found = ((call, page_of(call)) for call in answers if call.schema is not None)
    return [ResultPage(call, rows) for call, rows in found if rows is not None]


def page_of(query: QueryView) -> pa.Table | None:
    """Return the rows of a page; None if its batch cannot be decoded. A page without a batch has no rows."""
    if query.batch is not None:
        batch = query.batch.arrow()
        return None if batch is None else in_micros(pa.Table.from_batches([batch]), query.view, query.form)
    return None if query.has("arrowRecordBatch") else _without_rows(query)


def _without_rows(query: QueryView) -> pa.Table | None:
    """Return no rows, of the page's schema; None if it cannot be read."""
    schema = query.schema.message.schema if query.schema is not None else None
    try:
        return None if schema is None else in_micros(schema_to_arrow(schema).empty_table(), query.view, query.form)
    except DecodingError:
        return None


def served_results(view: QueriesView) -> list[ResultView]:
    """Return the reads of the streams of queries' jobs that have to be served, if the answer had Arrow."""
    reads = (read for read in _in_arrow(view) if not (read.step.during or is_behind_cancelled(read)))
    return [read for read in reads if not is_behind_many(read)]


def outlived(view: QueriesView) -> list[ResultView]:
    """Return those behind many other queries, which :func:`served_results` leaves out."""
    return [read for read in _in_arrow(view) if is_behind_many(read)]


def is_behind_many(read: ResultView) -> bool:
    """Return whether :data:`MANY` or more queries ran between a read and the query whose result it reads."""
    return sum(read.query.index < one.index < read.index for one in read.view.queries) >= MANY if read.query else False


def held_open(view: QueriesView) -> list[ResultView]:
    """Return those of them that are held open, which :func:`served_results` leaves out."""
    return [read for read in _in_arrow(view) if read.step.during]


def behind_cancelled(view: QueriesView) -> list[ResultView]:
    """Return those behind a read of the same result that was cancelled, which :func:`served_results` leaves out."""
    return [read for read in _in_arrow(view) if is_behind_cancelled(read)]


def is_behind_cancelled(read: ResultView) -> bool:
    """Return whether the driver has cancelled an earlier read of the result."""
    steps = read.view.case.steps[: read.raw.step]
    return any(isinstance(one, ReadResult) and one.take and one.query == read.step.query for one in steps)


def _in_arrow(view: QueriesView) -> list[ResultView]:
    return [
        read
        for read in _whole_results(view)
        if read.query is not None and read.query.has_arrow and not is_orphaned(read, read.query)
    ]


def _whole_results(view: QueriesView) -> list[ResultView]:
    """Return the reads of the streams of queries' jobs that the driver does not cancel, and that have to be served."""
    return [read for read in results(view) if "OK" in read.expected_codes and read.step.take is None]


def sent(view: QueriesView) -> list[ResultView]:
    """Return the reads whose rows can be decoded, those of jobs of jobs.insert too."""
    of_jobs = [read for read in inserted(view) if read.ok and read.batches is not None and is_on(read, Happening.QUERY)]
    return [*(found.read for found in came(view)), *of_jobs]


@once_per_view
def came(view: QueriesView) -> list[ResultRead]:
    """Return those that ended in OK and can be decoded."""
    by_query = {page.call: page for page in pages(view)}
    first: dict[str, ResultRead] = {}
    found = []
    for read in served_results(view):
        if read.ok and read.batches is not None and read.query is not None:
            one = ResultRead(read, read.query, by_query.get(read.query.index), first.get(read.stream))
            first.setdefault(read.stream, one)
            found.append(one)
    return found
