"""The clauses on answers without Arrow: statements without rows, errors, dry runs, and rows in JSON."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contain.text import many
from conformance.contract.clause import Violation
from conformance.contract.sources import (
    DISCOVERY,
    PYTHON_QUERIES,
)
from conformance.protocols.storage_read.contract.aboutjobs import Change, changes
from conformance.protocols.storage_read.contract.queryclauses import registering
from conformance.protocols.storage_read.contract.queryview import QueryView
from conformance.protocols.storage_read.contract.results import (
    NO_ROWS,
    expected_of,
    queries,
    results,
)
from conformance.records import Level, QueryStatement, RunQuery

_clause = registering((DISCOVERY, PYTHON_QUERIES))


@_clause(
    "query-results.statement-without-rows-has-no-arrow",
    over=lambda view: [call for call in queries(view) if call.step.statement in NO_ROWS and call.ok and call.complete],
    level=Level.SHOULD,
    breaks="Java makes two needless calls, or reports an error (https://github.com/googleapis/google-cloud-java/pull/14405)",
)
def statement_without_rows_has_no_arrow(query: QueryView) -> Iterator[Violation]:
    """A statement that has no result, such as CREATE TABLE, is answered without Arrow and without a page token."""
    for name in filter(query.has, ("arrowSchema", "arrowRecordBatch", "pageToken")):
        yield Violation(f"no {name}", "one", field=name)


@_clause(
    "query-results.statement-counts-its-rows",
    over=lambda view: [change for change in changes(view) if not change.again],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="clients that ask how many rows a statement changed",
)
def statement_counts_its_rows(change: Change) -> Iterator[Violation]:
    """``numDmlAffectedRows`` of INSERT and DELETE is the number of rows that they changed; absent, it is 0."""
    if change.query.count("numDmlAffectedRows") != str(change.rows):
        said = change.query.shown("numDmlAffectedRows")
        yield Violation(f"numDmlAffectedRows {str(change.rows)!r}", said, field="numDmlAffectedRows")


@_clause(
    "query-results.repetition-runs-once",
    over=lambda view: [change for change in changes(view) if change.again],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="clients that send a query again after a lost connection: rows come twice",
)
def repetition_runs_once(change: Change) -> Iterator[Violation]:
    """A statement that a client sends again, with the same ``requestId``, has changed its table once.

    The discovery document: the id ensures "idempotent behavior for queries". A DELETE of all rows counts them.
    """
    yield from statement_counts_its_rows(change)


@_clause(
    "query-results.wrong-query-is-an-error",
    over=lambda view: [call for call in queries(view) if call.step.statement is QueryStatement.WRONG],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="every client: a query that did not run looks like one without rows",
)
def wrong_query_is_an_error(query: QueryView) -> Iterator[Violation]:
    """A query that is no SQL ends in an error, of the call or in ``errors``, and not as one without rows.

    So does its dry run; the discovery document of ``dryRun``: "If the query is invalid, an error returns".
    """
    if query.ok and (query.complete or query.step.dry_run) and not query.has("errors"):
        yield Violation("an error", "an answer with " + (", ".join(sorted(query.answer or {})) or "no field"))


@_clause(
    "query-results.query-elsewhere-is-an-error",
    over=lambda view: [call for call in queries(view) if call.step.location not in ("", RunQuery.ANSWERED)],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="programs that name a location: the query runs on the data of another one, without an error",
)
def query_elsewhere_is_an_error(query: QueryView) -> Iterator[Violation]:
    """A query whose ``location`` does not exist ends in an error, of the call or in ``errors``: it is where it runs."""
    if query.ok and query.complete and not query.has("errors"):
        yield Violation("an error", "an answer with " + (", ".join(sorted(query.answer or {})) or "no field"))


@_clause(
    "query-results.failing-row-is-an-error",
    over=lambda view: [call for call in queries(view) if call.step.statement is QueryStatement.FAILING],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="every client: the rows behind the failing one are lost, without an error",
)
def failing_row_is_an_error(query: QueryView) -> Iterator[Violation]:
    """A query that fails at one of its rows ends in an error, and not as one with the rows before it.

    The error is that of the call, one in ``errors``, or the end of a read of the stream. Of a query that still ran, it
    is that of jobs.getQueryResults, and its stream ends in one too.
    """
    reads = [read for read in results(query.view) if read.query is query]
    if not query.ok or query.has("errors"):
        return
    if query.complete and all(read.ok for read in reads):
        yield Violation("an error", "an answer, and a stream that ends in OK" if reads else "an answer")
    if query.complete:
        return
    ended = [call for call in query.view.listings if call.query is query and not (call.ok and not call.complete)]
    if any(call.answer is not None and not call.has("errors") for call in ended):
        yield Violation("an error", "jobs.getQueryResults says that the query is complete")
    elif ended and any(read.ok for read in reads if read.index > ended[0].index):
        yield Violation("an error", "a stream that ends in OK")


@_clause(
    "query-results.dry-run-has-no-rows",
    over=lambda view: [call for call in queries(view) if call.step.dry_run and call.ok],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="clients that ask what a query costs: it has run",
)
def dry_run_has_no_rows(query: QueryView) -> Iterator[Violation]:
    """A query with ``dryRun`` is not run: its answer has no rows, in Arrow or in JSON, and no page token.

    A schema, and a batch without rows, are open.
    """
    batch = query.batch.arrow() if query.batch is not None else None
    rows = batch.num_rows if batch is not None else 0
    if rows or query.has("rows") or query.has("pageToken"):
        yield Violation("no rows", f"{many(rows, 'row')} in Arrow" if rows else "rows in JSON, or a page token")


@_clause(
    "query-results.plain-query-has-rows",
    over=lambda view: [call for call in queries(view) if call.step.results != "ARROW" and call.ok and call.complete],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="every client that does not know of Arrow",
)
def plain_query_has_rows(query: QueryView) -> Iterator[Violation]:
    """A query that names no format, or STRUCT_ENCODING, is answered with ``rows`` and ``schema`` and without Arrow."""
    if query.has_arrow:
        yield Violation("rows in JSON", "fields of Arrow")
        return
    if not query.has("schema"):
        yield Violation("schema", "none", field="schema")
    if not query.has("rows") and not query.has("pageToken") and (left := expected_of(query).num_rows):
        yield Violation(many(left, "row"), "no rows, and no pageToken", field="rows")
