"""The clauses on an answer of jobs.query in Arrow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.comparing.matching import comparable
from conformance.contract.jobanswer import name_in
from conformance.contract.sources import (
    ARROW_PROTO,
    DISCOVERY,
    JOB_STREAMS,
    PYTHON_QUERIES,
    QUERY_PAGES,
)
from conformance.protocols.storage_read.contract.buffercodecs import not_compressed, other_codec
from conformance.protocols.storage_read.contract.queryclauses import registering
from conformance.protocols.storage_read.contract.queryview import FORMS, QueryView
from conformance.protocols.storage_read.contract.resultrows import (
    among,
    in_one_form,
    in_order,
    times_of,
)
from conformance.protocols.storage_read.contract.results import (
    ResultPage,
    answered,
    counted,
    expected_of,
    pages,
    queries,
    selects,
    unfinished,
)
from conformance.records import Level, QueryStatement

ANSWERS: Final = (DISCOVERY, PYTHON_QUERIES)
LOSES_ALL: Final = (
    "google-cloud-bigquery 3.47.0 (Python): `to_arrow` gives an empty table without an error, and total_rows is not 0"
)
ANSWER_BYTES: Final = 10_000_000
"""The bytes to which ``maxResults`` in the discovery document limits an answer."""

_clause = registering(ANSWERS)


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
    "query-results.default-dataset-is-used",
    over=lambda view: [call for call in selects(view) if call.step.statement is QueryStatement.UNQUALIFIED],
    source=DISCOVERY,
    level=Level.SHOULD,
    breaks="clients with a default dataset: a table of another one has this name, or none has",
)
def default_dataset_is_used(query: QueryView) -> Iterator[Violation]:
    """A table that a query names without its dataset is that of ``defaultDataset``."""
    if not query.ok or query.has("errors"):
        said = f"{query.raw.status}: {query.raw.details}" if not query.ok else query.shown("errors")
        yield Violation("status OK", said)


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


def _is_large(page: ResultPage) -> bool:
    """True for a page of a result that no answer can have as a whole."""
    return int(expected_of(page.query).nbytes) > ANSWER_BYTES


@_clause(
    "query-results.token-says-that-rows-remain",
    over=lambda view: [page for page in counted(view) if not _is_large(page)],
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
    over=lambda view: [page for page in counted(view) if _is_large(page)],
    source=DISCOVERY,
    breaks="google-cloud-bigquery 3.47.0 (Python): only pageToken tells it that rows remain",
)
def large_result_is_whole(page: ResultPage) -> Iterator[Violation]:
    """A page of a result of more than 10 MB, to which an answer is limited, has every row, or a ``pageToken``.

    A limit of bytes leaves rows behind a page that no maximum of rows has cut.
    """
    yield from token_says_that_rows_remain(page)


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
    "query-results.running-job-is-named",
    over=unfinished,
    breaks="google-cloud-bigquery 3.47.0 (Python): a KeyError, for it waits for the job by its name (from its source)",
)
def running_job_is_named(query: QueryView) -> Iterator[Violation]:
    """An answer that says that the query still runs names its job, also if a job was optional.

    The discovery document: ``jobReference`` is "present even if the original request timed out", and only empty if the
    query completes without a job.
    """
    yield from job_is_named(query)


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
