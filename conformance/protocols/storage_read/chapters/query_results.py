"""Query results in Arrow: the page in the answer of jobs.query, and the rest from the stream of its job.

Google's documents call the feature not yet available: a target is judged on it if it declares the capability
``query-results``. One clause is for every server. Google's client for Python takes an answer without the fields of
Arrow for an empty result. A server that ignores the request loses every row, without an error.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.comparing.matching import comparable, match_rows
from conformance.contract.jobanswer import name_in
from conformance.contract.sources import (
    ARROW_PROTO,
    DISCOVERY,
    JOB_STREAMS,
    PYTHON_QUERIES,
    QUERY_PAGES,
    STORAGE_PROTO,
)
from conformance.protocols.storage_read.contract.buffercodecs import not_compressed, other_codec
from conformance.protocols.storage_read.contract.queryclauses import registering
from conformance.protocols.storage_read.contract.queryview import FORMS, ListingView, QueryView, ResultView
from conformance.protocols.storage_read.contract.resultrows import (
    among,
    first_difference,
    in_one_form,
    in_order,
    in_responses,
    listed,
    times_of,
)
from conformance.protocols.storage_read.contract.results import (
    NO_ROWS,
    ResultPage,
    ResultRead,
    answered,
    came,
    counted,
    expected_of,
    inserted,
    listings,
    pages,
    queries,
    results,
    rows_then,
    selects,
    served_results,
)
from conformance.protocols.storage_read.contract.subjects import derived, is_on
from conformance.protocols.storage_read.contract.violations import fields_differ
from conformance.records import Happening, Level, QueryStatement

ANSWERS: Final = (DISCOVERY, PYTHON_QUERIES)
LOSES_ALL: Final = (
    "google-cloud-bigquery 3.47.0 (Python): `to_arrow` gives an empty table without an error, and total_rows is not 0"
)
ANSWER_BYTES: Final = 10_000_000
"""The bytes to which ``maxResults`` in the discovery document limits an answer."""

_clause = registering(ANSWERS)


# --- the answer -----------------------------------------------------------------------------------


@clause("query-results.arrow-or-an-error", over=selects, source=ANSWERS, level=Level.SHOULD, breaks=LOSES_ALL)
def arrow_or_an_error(query: QueryView) -> Iterator[Violation]:
    """A query for results in ARROW is answered with Arrow, or with an error: never as if it had asked for nothing.

    The discovery document: with ARROW, the answer has ``arrowSchema`` and ``arrowRecordBatch``. A client that asked for
    them finds none in an answer with ``rows``, and has an empty result; objects without content are none. No other
    clause of this chapter is for servers that declare nothing about query results.
    """
    if query.answer is not None and not query.has_content:
        found = ", ".join(sorted(filter(query.has, query.answer))) or "no field"
        yield Violation("arrowSchema and arrowRecordBatch, or an error", f"an answer with {found}")


@_clause(
    "query-results.request-is-served",
    over=lambda view: [call for call in selects(view) if call.expected_codes == ("OK",)],
    breaks="every client that asks for Arrow",
)
def request_is_served(query: QueryView) -> Iterator[Violation]:
    """jobs.query with ``queryResultsFormat`` ARROW ends in success, for a query that is valid."""
    if not query.ok:
        yield Violation("status OK", f"{query.raw.status}: {query.raw.details}")


@_clause(
    "query-results.answer-is-json",
    over=lambda view: [call for call in queries(view) if call.ok],
    breaks="every client",
)
def answer_is_json(query: QueryView) -> Iterator[Violation]:
    """The answer is a JSON object."""
    if query.answer is None:
        size = len(b"".join(query.raw.responses))
        yield Violation("a JSON object", f"{many(size, 'byte')} that are none" if size else "no bytes")


@_clause(
    "query-results.page-has-a-schema",
    over=lambda view: [call for call in selects(view) if call.answer is not None],
    breaks="google-cloud-bigquery 3.47.0 (Python), which reports an error",
)
def page_has_a_schema(query: QueryView) -> Iterator[Violation]:
    """The answer has ``arrowSchema.serializedSchema`` in base64, also for a result without rows."""
    if query.schema is None:
        yield Violation("a schema in base64", query.shown("arrowSchema"), field="arrowSchema.serializedSchema")


@_clause(
    "query-results.answer-is-complete",
    over=answered,
    breaks="google-cloud-bigquery 3.47.0 (Python), which asks for the job of an answer that does not say so",
)
def answer_is_complete(query: QueryView) -> Iterator[Violation]:
    """An answer with rows in Arrow says ``jobComplete``: true; an absent one is false."""
    said = (query.answer or {}).get("jobComplete")
    if said is not True:
        yield Violation("jobComplete true", "none" if said is None else repr(said), field="jobComplete")


@_clause("query-results.page-has-the-columns", over=pages, breaks="every client: values have other names or types")
def page_has_the_columns(page: ResultPage) -> Iterator[Violation]:
    """The schema of the page has the columns of the result, in their order, each with the Arrow type of Storage Read.

    Which of them are nullable, and their metadata, are open: nobody has recorded it.
    """
    for place, pair in enumerate(itertools.zip_longest(expected_of(page.query).schema, page.rows.schema)):
        wanted, found = pair
        if not (wanted and found and wanted.name == found.name and comparable(wanted.type, found.type)):
            shown = [f"{field.name!r} of {field.type}" if field else "no column" for field in pair]
            yield Violation(f"{shown[0]} as column {place}", shown[1], field="arrowSchema")


@_clause(
    "query-results.page-has-a-batch",
    over=answered,
    breaks="google-cloud-bigquery 3.47.0 (Python): a result of one page has no row, without an error",
)
def page_has_a_batch(query: QueryView) -> Iterator[Violation]:
    """The answer has ``arrowRecordBatch.serializedRecordBatch`` in base64 if the page has rows.

    A result without rows has an empty batch, or none.
    """
    empty = not query.has("arrowRecordBatch") and query.count("pageRowCount") == "0"
    if query.batch is None and not empty:
        said = query.shown("arrowRecordBatch")
        yield Violation("a batch in base64", said, field="arrowRecordBatch.serializedRecordBatch")


@_clause("query-results.no-rows-in-json", over=answered, level=Level.SHOULD)
def no_rows_in_json(query: QueryView) -> Iterator[Violation]:
    """An answer in Arrow has no ``rows`` and no ``schema``: every row comes once, in one form.

    An empty list, and null, are no rows.
    """
    found = list(filter(query.has, ("rows", "schema")))
    if found:
        yield Violation("neither rows nor schema", " and ".join(found))


@_clause(
    "query-results.page-count-is-true",
    over=pages,
    breaks="a client that counts by it loses or repeats rows behind the page",
)
def page_count_is_true(page: ResultPage) -> Iterator[Violation]:
    """``pageRowCount`` is the number of rows in the page; it may be absent if there are none."""
    if page.query.count("pageRowCount") != str(page.rows.num_rows):
        said = page.query.shown("pageRowCount")
        yield Violation(f"pageRowCount {str(page.rows.num_rows)!r}", f"pageRowCount {said}", field="pageRowCount")


@_clause(
    "query-results.total-is-true",
    over=answered,
    level=Level.SHOULD,
    breaks="google-cloud-bigquery 3.44.0 to 3.46.2 (Python), which read as far as totalRows (from its source)",
)
def total_is_true(query: QueryView) -> Iterator[Violation]:
    """``totalRows`` is the number of rows of the result, or 0.

    The source of the client says that cached results which are too large for an answer have 0. No document does, so 0
    passes for each result; ``pageToken`` says whether rows remain.
    """
    total = expected_of(query).num_rows
    said = query.count("totalRows") if query.has("totalRows") or not total else ""
    if said not in (str(total), "0"):
        yield Violation(f"totalRows {str(total)!r}", f"totalRows {query.shown('totalRows')}", field="totalRows")


@_clause(
    "query-results.counts-are-texts",
    over=answered,
    source=DISCOVERY,
    breaks="google-cloud-bigquery (Java): the parser of its answers refuses a number for an int64 (from its source)",
)
def counts_are_texts(query: QueryView) -> Iterator[Violation]:
    """``pageRowCount`` and ``totalRows`` are 64-bit integers, which are texts in the JSON of the API."""
    for key in ("pageRowCount", "totalRows"):
        if query.has(key) and not isinstance(said := (query.answer or {}).get(key), str):
            yield Violation(f"{key} as a text", f"{type(said).__name__} {said!r:.40}", field=key)


@_clause(
    "query-results.token-says-that-rows-remain",
    over=counted,
    breaks="google-cloud-bigquery 3.47.0 (Python): only pageToken tells it that rows remain",
)
def token_says_that_rows_remain(page: ResultPage) -> Iterator[Violation]:
    """The answer has a ``pageToken`` if rows remain behind its page, and none if they do not."""
    left = expected_of(page.query).num_rows - page.rows.num_rows
    if page.query.has("pageToken") != (left > 0):
        required = f"a pageToken, for {many(left, 'row')} more" if left > 0 else "no pageToken, for no row is left"
        yield Violation(required, "one" if page.query.has("pageToken") else "none", field="pageToken")


@_clause(
    "query-results.large-result-is-whole",
    over=lambda view: [page for page in counted(view) if expected_of(page.query).nbytes > ANSWER_BYTES],
    source=DISCOVERY,
    breaks="google-cloud-bigquery 3.47.0 (Python): only pageToken tells it that rows remain",
)
def large_result_is_whole(page: ResultPage) -> Iterator[Violation]:
    """A page of a result of more than 10 MB, to which an answer is limited, has every row, or a ``pageToken``.

    A limit of bytes leaves rows behind a page that no maximum of rows has cut.
    """
    left = expected_of(page.query).num_rows - page.rows.num_rows
    if left > 0 and not page.query.has("pageToken"):
        yield Violation(f"a pageToken, for {many(left, 'row')} more", "none", field="pageToken")


@_clause(
    "query-results.page-keeps-the-maximum",
    over=lambda view: [page for page in pages(view) if page.query.step.max_results],
    source=(DISCOVERY, QUERY_PAGES),
)
def page_keeps_the_maximum(page: ResultPage) -> Iterator[Violation]:
    """A page has at most ``maxResults`` rows."""
    most = page.query.step.max_results
    if most is not None and page.rows.num_rows > most:
        yield Violation(f"at most {many(most, 'row')}", many(page.rows.num_rows, "row"))


@_clause(
    "query-results.job-is-named",
    over=lambda view: [call for call in answered(view) if call.has("pageToken") or not call.step.optional_job],
    source=(DISCOVERY, JOB_STREAMS),
    breaks="clients that read the stream: `projects/None` (https://github.com/googleapis/google-cloud-python/pull/18027)",
)
def job_is_named(query: QueryView) -> Iterator[Violation]:
    """The answer names the project, the id and the location of its job, where rows remain or a job was asked for.

    The location may also be the answer's own field of this name.
    """
    answer: Any = query.answer or {}
    named = answer.get("jobReference")
    for key in ("projectId", "jobId", "location"):
        places = (named, answer) if key == "location" else (named,)
        if not any(isinstance(one, dict) and name_in(one.get(key)) for one in places):
            yield Violation(f"jobReference.{key}", "none", field=f"jobReference.{key}")


@_clause(
    "query-results.times-have-one-form",
    over=lambda view: [page for page in pages(view) if page.query.form],
    source=(ARROW_PROTO, DISCOVERY),
    level=Level.SHOULD,
    breaks="clients that read every TIMESTAMP in the form that they asked for",
)
def times_have_one_form(page: ResultPage) -> Iterator[Violation]:
    """Every TIMESTAMP of a page, nested ones too, has the form that the query names, or every one has microseconds.

    The proto applies the form to columns "with the TIMESTAMP type". Whether it means those of 12 digits alone is open,
    and so are the bounds of RANGE.
    """
    yield from in_one_form(times_of(page.query.view.case.table.columns, page.query.schema), FORMS[page.query.form])


@_clause(
    "query-results.page-has-the-codec",
    over=lambda view: [page for page in pages(view) if page.query.batch],
    source=DISCOVERY,
    level=Level.SHOULD,
)
def page_has_the_codec(page: ResultPage) -> Iterator[Violation]:
    """The buffers of the page are compressed by the codec that the query names."""
    yield from not_compressed(page.query.batch, page.query.step.buffer_compression)


@_clause(
    "query-results.page-has-no-other-codec",
    over=lambda view: [page for page in pages(view) if page.query.batch],
    breaks="clients without the other codec",
)
def page_has_noother_codec(page: ResultPage) -> Iterator[Violation]:
    """The buffers of the page are compressed by no codec but the one that the query names."""
    yield from other_codec(page.query.batch, page.query.step.buffer_compression)


@_clause(
    "query-results.page-begins-the-result",
    over=lambda view: [page for page in pages(view) if page.query.step.statement is QueryStatement.ORDERED],
    source=(DISCOVERY, QUERY_PAGES),
    breaks="every client of a query with ORDER BY",
)
def page_begins_the_result(page: ResultPage) -> Iterator[Violation]:
    """The rows of the page are the first ones of the result, in the order that the query names."""
    yield from in_order(expected_of(page.query).slice(0, page.rows.num_rows), page.rows)


@_clause("query-results.page-has-rows-of-the-result", over=pages, breaks="every client")
def page_has_rows_of_the_result(page: ResultPage) -> Iterator[Violation]:
    """Each row of the page is one of the result, and no row comes twice."""
    yield from among(expected_of(page.query), page.rows)


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
    "query-results.wrong-query-is-an-error",
    over=lambda view: [call for call in queries(view) if call.step.statement is QueryStatement.WRONG],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="every client: a query that did not run looks like one without rows",
)
def wrong_query_is_an_error(query: QueryView) -> Iterator[Violation]:
    """A query that is no SQL ends in an error, of the call or in ``errors``, and not as one without rows."""
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

    The error is that of the call, one in ``errors``, or the end of a read of the stream.
    """
    reads = [read for read in results(query.view) if read.query is query]
    if query.ok and query.complete and not query.has("errors") and all(read.ok for read in reads):
        yield Violation("an error", "an answer, and a stream that ends in OK" if reads else "an answer")


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
    "query-results.listing-has-rows",
    over=listings,
    level=Level.SHOULD,
    breaks="google-cloud-bigquery 3.47.0 (Python), which asks it for the schema of no rows (from its source)",
)
def listing_has_rows(call: ListingView) -> Iterator[Violation]:
    """jobs.getQueryResults, which has no format, lists the result of a query in Arrow as ``schema`` and ``rows``."""
    assert call.query is not None
    if not call.ok:
        yield Violation("status OK", f"{call.raw.status}: {call.raw.details}")
    elif not call.complete:
        return
    elif call.has_arrow:
        yield Violation("rows in JSON", "fields of Arrow")
    elif not call.has("schema"):
        yield Violation("schema", "none", field="schema")
    elif expected_of(call.query).num_rows and not call.has("rows"):
        yield Violation("rows", "none", field="rows")


@_clause(
    "query-results.listing-begins-at-the-index",
    over=lambda view: [call for call in listings(view) if call.rows is not None],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="clients that page through the rows by startIndex: rows are lost, or come twice",
)
def listing_begins_at_the_index(call: ListingView) -> Iterator[Violation]:
    """The rows that jobs.getQueryResults lists are those of the result from ``startIndex`` on, up to a page token."""
    assert call.query is not None
    yield from listed(expected_of(call.query).slice(call.start), call)


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


# --- the stream of the job ------------------------------------------------------------------------

_stream = registering((STORAGE_PROTO, JOB_STREAMS))


@_stream("query-results.stream-is-served", over=served_results, breaks="every client: the rows behind the page")
def stream_is_served(read: ResultView) -> Iterator[Violation]:
    """ReadRows on ``projects/P/locations/L/jobs/J/streams/_default`` ends in OK, from each offset of the result."""
    if not read.ok:
        yield Violation("status OK", f"{read.raw.status}: {read.raw.details}")


@_stream(
    "query-results.first-message-has-the-schema",
    over=lambda view: [read for read in served_results(view) if read.ok and read.responses],
    breaks="ADBC: `failed to receive schema from ReadRows` (from its source)",
)
def first_message_has_the_schema(read: ResultView) -> Iterator[Violation]:
    """The first message of the stream has the schema: the stream belongs to no session that could have it."""
    if read.responses[0].schema is None:
        yield Violation("arrow_schema", "a first response without it", response=0, field="arrow_schema")


@_stream(
    "query-results.stream-has-the-schema-of-the-page",
    over=lambda view: [
        read
        for read in served_results(view)
        if read.ok and read.has_form_of_page and any(response.schema for response in read.responses)
    ],
    breaks="google-cloud-bigquery 3.44.0 and 3.46.2 (Python), which rename a column, without an error",
)
def stream_has_the_schema_of_the_page(read: ResultView) -> Iterator[Violation]:
    """The schema of the stream is that of the page, in each message that has one."""
    page = read.query.schema if read.query is not None else None
    if page is None or page.message.schema is None:
        return
    for response in read.responses:
        own = response.schema.message.schema if response.schema is not None else None
        if own is not None and (found := list(fields_differ(own, page.message.schema, "the schema of the page"))):
            yield from (dataclasses.replace(one, response=response.response) for one in found)
            return


@_stream(
    "query-results.unnamed-form-is-micros",
    over=lambda view: [found for found in came(view) if not found.read.has_form_of_page],
    source=ARROW_PROTO,
    level=Level.SHOULD,
    breaks="a program that has only the name of the stream reads times in a form that it did not ask for",
)
def unnamed_form_is_micros(found: ResultRead) -> Iterator[Violation]:
    """The times of a read that names no form have microseconds, whatever form the query named: the proto's default."""
    own = found.read.responses[0].schema if found.read.responses else None
    yield from in_one_form(times_of(found.query.view.case.table.columns, own), pa.timestamp("us", "UTC"))


@_stream(
    "query-results.stream-has-the-rows-from-the-offset",
    over=came,
    breaks="every client: rows are lost, or come twice",
)
def stream_has_the_rows_from_the_offset(found: ResultRead) -> Iterator[Violation]:
    """A read of the stream has every row of the result from its offset on, and the offset counts those of the page.

    The page has the rows before the first offset, so that both together are the result, once.
    """
    expected, offset = expected_of(found.query), found.read.offset
    left = max(0, expected.num_rows - offset)
    if found.rows.num_rows != left:
        yield Violation(f"{many(left, 'row')} from offset {offset}", many(found.rows.num_rows, "row"))
    elif found.query.step.statement is QueryStatement.ORDERED:
        yield from in_order(expected.slice(offset), found.rows)
    else:
        yield from among(expected, found.rows)


@_stream(
    "query-results.page-and-stream-are-the-result",
    over=lambda view: [one for one in came(view) if one.page and one.read.offset == one.page.rows.num_rows > 0],
    breaks="every client: rows are lost, or come twice",
)
def page_and_stream_are_the_result(found: ResultRead) -> Iterator[Violation]:
    """The page, and the stream from the row behind it, have every row of the result once."""
    assert found.page is not None
    if not found.page.rows.schema.equals(found.rows.schema):
        return  # the form of the stream is another than that of the page, which a clause of its own reports
    match = match_rows(expected_of(found.query), pa.concat_tables([found.page.rows, found.rows]))
    if not match.exact:
        lost, more = len(match.missing), len(match.repeated) + len(match.foreign)
        said = f"{many(lost, 'row')} missing, {many(more, 'row')} too many, {many(len(match.changed), 'row')} changed"
        yield Violation("every row of the result, once", said)


@_stream(
    "query-results.reads-agree",
    over=lambda view: [one for one in came(view) if one.before],
    breaks="a client that reads on after a lost connection",
)
def reads_agree(found: ResultRead) -> Iterator[Violation]:
    """Reads of one job give the same row at the same offset."""
    before = found.before
    assert before is not None
    if (place := first_difference((found.rows, found.read.offset), (before.rows, before.read.offset))) is not None:
        yield Violation(f"the rows of call {before.call}", f"another row at offset {place}")


@_stream(
    "query-results.end-has-no-rows",
    over=lambda view: [
        read
        for read in served_results(view)
        if read.ok and read.query is not None and read.offset >= expected_of(read.query).num_rows
    ],
)
def end_has_no_rows(read: ResultView) -> Iterator[Violation]:
    """A read from the number of all rows ends in OK without a message; so does that of a result without rows."""
    if read.responses:
        yield Violation("no response", many(len(read.responses), "response"))


@_stream("query-results.stream-has-the-codec", over=came, level=Level.SHOULD)
def stream_has_the_codec(found: ResultRead) -> Iterator[Violation]:
    """The buffers of the stream are compressed by the codec that the read names."""
    yield from in_responses(not_compressed, found)


@_stream("query-results.stream-has-no-other-codec", over=came, breaks="clients without the other codec")
def stream_has_noother_codec(found: ResultRead) -> Iterator[Violation]:
    """The buffers of the stream are compressed by no codec but the one that the read names."""
    yield from in_responses(other_codec, found)


@_stream(
    "query-results.other-location-is-not-found",
    over=lambda view: [read for read in results(view) if read.step.location],
    level=Level.SHOULD,
)
def other_location_is_not_found(read: ResultView) -> Iterator[Violation]:
    """The stream of a job in a location that does not exist ends in NOT_FOUND, or in INVALID_ARGUMENT for its name."""
    if read.raw.status not in ("NOT_FOUND", "INVALID_ARGUMENT"):
        yield Violation("NOT_FOUND or INVALID_ARGUMENT", read.raw.status or "no status")


@_stream(
    "query-results.negative-offset-is-refused",
    over=lambda view: [read for read in results(view) if read.step.offset.startswith("-")],
    source=STORAGE_PROTO,
    level=Level.SHOULD,
    breaks="a client whose offset is wrong gets rows of another place",
)
def negative_offset_is_refused(read: ResultView) -> Iterator[Violation]:
    """A read of the stream from a negative offset ends in an error: the offset "must be non-negative"."""
    if read.ok:
        yield Violation("INVALID_ARGUMENT, or another error", read.raw.status)


@_stream(
    "query-results.unknown-job-is-not-found",
    over=lambda view: [read for read in results(view) if read.step.job],
    breaks="every client: a job that a server has forgotten looks like one without rows",
)
def unknown_job_is_not_found(read: ResultView) -> Iterator[Violation]:
    """The stream of a job that does not exist ends in an error, and never in OK as that of a result without rows."""
    if read.ok:
        yield Violation("NOT_FOUND", read.raw.status)


@_stream(
    "query-results.written-table-has-no-stream",
    over=lambda view: [read for read in inserted(view) if is_on(read, Happening.QUERY_INTO)],
    source=JOB_STREAMS,
    level=Level.SHOULD,
    breaks="clients that read the table where the stream is refused: rows of no order",
)
def written_table_has_no_stream(read: ResultView) -> Iterator[Violation]:
    """The stream of a job that wrote into a table of its own ends in FAILED_PRECONDITION or INVALID_ARGUMENT.

    The service says that it does not support such tables; its code is not recorded.
    """
    if read.raw.status not in ("FAILED_PRECONDITION", "INVALID_ARGUMENT"):
        yield Violation("FAILED_PRECONDITION or INVALID_ARGUMENT", read.raw.status or "no status")


@_stream(
    "query-results.inserted-job-has-a-stream",
    over=lambda view: [read for read in inserted(view) if is_on(read, Happening.QUERY)],
    source=(JOB_STREAMS, PYTHON_QUERIES),
    level=Level.SHOULD,
    breaks="google-cloud-bigquery 3.47.0 (Python): a query with options that jobs.query has not (from its source)",
)
def inserted_job_has_a_stream(read: ResultView) -> Iterator[Violation]:
    """The stream of a query that jobs.insert ran has every row from its offset on: no page had the first ones.

    This is for a query without a table of its own.
    """
    if not read.ok:
        yield Violation("status OK", f"{read.raw.status}: {read.raw.details}")
        return
    if read.batches is None:
        return
    expected = rows_then(read.view, derived(read.view, read.raw.step) or 0)
    rows = pa.Table.from_batches(read.batches) if read.batches else expected.slice(0, 0)
    left = max(0, expected.num_rows - read.offset)
    if rows.num_rows != left:
        yield Violation(f"{many(left, 'row')} from offset {read.offset}", many(rows.num_rows, "row"))
    else:
        yield from among(expected, rows)


@_stream("query-results.row-count-is-true", over=came)
def row_count_is_true(found: ResultRead) -> Iterator[Violation]:
    """``row_count`` of each message of the stream is the number of its rows."""
    for response in found.read.responses:
        rows = response.batch.arrow() if response.batch is not None else None
        if rows is not None and rows.num_rows != response.row_count:
            yield Violation(f"row_count {rows.num_rows}", f"row_count {response.row_count}", response=response.response)
            return
