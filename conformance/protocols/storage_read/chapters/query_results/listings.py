"""The clauses on jobs.getQueryResults and jobs.get about queries in Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contain.text import many
from conformance.contract.clause import Violation
from conformance.contract.jobanswer import destination_in
from conformance.contract.sources import DISCOVERY, PYTHON_QUERIES
from conformance.protocols.storage_read.contract.aboutjobs import ListingPair, alike, failed_jobs, jobs
from conformance.protocols.storage_read.contract.queryclauses import registering
from conformance.protocols.storage_read.contract.queryview import JobView, ListingView
from conformance.protocols.storage_read.contract.resultrows import listed
from conformance.protocols.storage_read.contract.results import expected_of, listings
from conformance.records import Level

_clause = registering((DISCOVERY, PYTHON_QUERIES))


@_clause(
    "query-results.listing-has-rows",
    over=listings,
    level=Level.SHOULD,
    breaks="google-cloud-bigquery 3.47.0 (Python), which asks it for the schema of no rows (from its source)",
)
def listing_has_rows(call: ListingView) -> Iterator[Violation]:
    """jobs.getQueryResults, which has no format, lists the result of a query in Arrow as ``schema`` and ``rows``.

    It may refuse the page token of a page in Arrow, which only has to say that rows remain.
    """
    assert call.query is not None
    if not call.ok:
        if call.raw.status not in call.expected_codes:
            yield Violation("status OK", f"{call.raw.status}: {call.raw.details}")
    elif not call.complete:
        return
    elif call.has_arrow:
        yield Violation("rows in JSON", "fields of Arrow")
    elif not call.has("schema"):
        yield Violation("schema", "none", field="schema")
    elif call.step.most != 0 and expected_of(call.query).num_rows > (call.start or 0) and not call.has("rows"):
        yield Violation("rows", "none", field="rows")


@_clause(
    "query-results.listing-begins-at-the-index",
    over=lambda view: [call for call in listings(view) if call.rows is not None and call.start is not None],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="clients that page through the rows: rows are lost, or come twice",
)
def listing_begins_at_the_index(call: ListingView) -> Iterator[Violation]:
    """The rows that jobs.getQueryResults lists are those of the result from ``startIndex`` on, up to a page token.

    Those for a page token are the ones behind the listing, or the page in Arrow, that had it. The discovery document
    says of the token of jobs.query: "To see additional results, query the jobs.getQueryResults method".
    """
    assert call.query is not None
    yield from listed(expected_of(call.query).slice(call.start or 0), call)


@_clause(
    "query-results.listing-total-is-true",
    over=lambda view: [call for call in listings(view) if call.answer is not None and call.complete],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="clients that read as far as totalRows, or show it",
)
def listing_total_is_true(call: ListingView) -> Iterator[Violation]:
    """``totalRows`` of jobs.getQueryResults is the number of rows of the result, however few of them it lists.

    The discovery document: it "can be more than the number of rows in this single page of results".
    """
    assert call.query is not None
    total = str(expected_of(call.query).num_rows)
    if call.count("totalRows") != total:
        yield Violation(f"totalRows {total!r}", f"totalRows {call.shown('totalRows')}", field="totalRows")


@_clause(
    "query-results.listing-keeps-the-maximum",
    over=lambda view: [call for call in listings(view) if call.rows is not None and call.step.most is not None],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="google-cloud-bigquery 3.47.0 (Python), which asks for no rows while it waits (from its source)",
)
def listing_keeps_the_maximum(call: ListingView) -> Iterator[Violation]:
    """jobs.getQueryResults lists at most ``maxResults`` rows, and none for 0."""
    most, rows = call.step.most or 0, len(call.rows or ())
    if rows > most:
        yield Violation(f"at most {many(most, 'row')}", many(rows, "row"), field="rows")


@_clause(
    "query-results.listings-agree",
    over=alike,
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="clients that list a query: its times have another form than those of other queries",
)
def listings_agree(pair: ListingPair) -> Iterator[Violation]:
    """Two queries whose rows are the same are listed with the same cells, whatever their options of Arrow are.

    Only ``formatOptions`` of the listing say how JSON has a value.
    """
    for place, (one, other) in enumerate(zip(pair.before.rows or (), pair.after.rows or (), strict=False)):
        if one != other:
            yield Violation(f"{one!r:.120} at row {place}", f"{other!r:.120}", field="rows")
            return


@_clause(
    "query-results.job-is-found",
    over=jobs,
    source=(DISCOVERY, PYTHON_QUERIES),
    level=Level.SHOULD,
    breaks="google-cloud-bigquery 3.47.0 (Python), which asks for the job of a query that still ran (from its source)",
)
def job_is_found(call: JobView) -> Iterator[Violation]:
    """jobs.get knows the job that the answer of jobs.query names, and calls it by this name.

    A query that has been answered with rows is DONE.
    """
    assert call.query is not None
    if not call.ok:
        yield Violation("status OK", f"{call.raw.status}: {call.raw.details}")
        return
    answer: Any = call.answer or {}
    named, asked = (one.get("jobReference") for one in (answer, call.query.answer or {}))
    own = named.get("jobId") if isinstance(named, dict) else None
    if isinstance(asked, dict) and own != asked.get("jobId"):
        yield Violation(f"jobId {asked.get('jobId')!r:.60}", f"{own!r:.60}", field="jobReference.jobId")
    if call.query.complete and call.state != "DONE":
        yield Violation("DONE", f"{call.state!r:.40}", field="status.state")


@_clause(
    "query-results.job-names-its-table",
    over=lambda view: [call for call in jobs(view) if call.state == "DONE"],
    level=Level.SHOULD,
    breaks="google-cloud-bigquery 3.47.0 (Python): `query().to_arrow()` has no table for its session (from its source)",
)
def job_names_its_table(call: JobView) -> Iterator[Violation]:
    """A job of jobs.get that is DONE names the table of its result in ``configuration.query.destinationTable``.

    The discovery document: "For queries that produce anonymous (cached) results, this field will be populated by
    BigQuery". Clients make a session on that table.
    """
    if not destination_in(call.answer or {}):
        yield Violation("a destinationTable with its three names", "none", field="configuration.query.destinationTable")


@_clause(
    "query-results.failed-job-has-the-error",
    over=failed_jobs,
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="clients that ask for the job of a query that they did not wait for: it looks like one that succeeded",
)
def failed_job_has_the_error(call: JobView) -> Iterator[Violation]:
    """A job of jobs.get that is DONE and has failed has the error in ``status.errorResult``.

    The discovery document of this field: "If present, indicates that the job has completed and was unsuccessful".
    """
    if not call.has_failed:
        yield Violation("an object in errorResult", "a job that is DONE without an error", field="status.errorResult")
