"""The clauses on the stream of a job."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Violation
from conformance.contract.comparing.matching import match_rows
from conformance.contract.sources import (
    ARROW_PROTO,
    CACHED_RESULTS,
    DISCOVERY,
    JOB_STREAMS,
    PYTHON_CLIENT,
    PYTHON_QUERIES,
    STORAGE_PROTO,
)
from conformance.protocols.storage_read.contract.buffercodecs import not_compressed, other_codec
from conformance.protocols.storage_read.contract.queryclauses import registering
from conformance.protocols.storage_read.contract.queryview import FORMS, ResultView
from conformance.protocols.storage_read.contract.resultrows import (
    first_difference,
    from_offset,
    in_one_form,
    in_responses,
    times_of,
)
from conformance.protocols.storage_read.contract.results import (
    ResultRead,
    behind_cancelled,
    came,
    expected_of,
    held_open,
    inserted,
    orphaned,
    outlived,
    results,
    rows_then,
    sent,
    served_results,
    waited,
)
from conformance.protocols.storage_read.contract.resulttimes import in_micros
from conformance.protocols.storage_read.contract.subjects import derived, is_on
from conformance.protocols.storage_read.contract.violations import fields_differ
from conformance.records import Happening, Level, QueryStatement

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
    over=lambda view: [found for found in came(view) if not (found.read.has_form_of_page or found.read.form)],
    source=ARROW_PROTO,
    level=Level.SHOULD,
    breaks="a program that has only the name of the stream reads times in a form that it did not ask for",
)
def unnamed_form_is_micros(found: ResultRead) -> Iterator[Violation]:
    """The times of a read that names no form have microseconds, whatever form the query named: the proto's default."""
    own = found.read.responses[0].schema if found.read.responses else None
    yield from in_one_form(times_of(found.query.view.case.table.columns, own), pa.timestamp("us", "UTC"))


@_stream(
    "query-results.read-has-its-form",
    over=lambda view: [read for read in sent(view) if read.form and (read.step.written or not read.has_form_of_page)],
    source=ARROW_PROTO,
    level=Level.SHOULD,
    breaks="google-cloud-bigquery 3.47.0 (Python): it names the form to the stream of a job that jobs.insert ran",
)
def read_has_its_form(read: ResultView) -> Iterator[Violation]:
    """Every TIMESTAMP of a read has the form that the read names, whatever the query named, or every one microseconds.

    The options are those of ReadRows, and a query of jobs.insert has none.
    """
    own = read.responses[0].schema if read.responses else None
    yield from in_one_form(times_of(read.view.case.table.columns, own), FORMS[read.form])


@_stream(
    "query-results.stream-has-the-rows-from-the-offset",
    over=came,
    breaks="every client: rows are lost, or come twice",
)
def stream_has_the_rows_from_the_offset(found: ResultRead) -> Iterator[Violation]:
    """A read of the stream has every row of the result from its offset on, and the offset counts those of the page.

    The page has the rows before the first offset, so that both together are the result, once.
    """
    ordered = found.query.step.statement is QueryStatement.ORDERED
    yield from from_offset(expected_of(found.query), found.rows, found.read.offset, ordered=ordered)


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


@_stream("query-results.stream-has-the-codec", over=sent, level=Level.SHOULD)
def stream_has_the_codec(read: ResultView) -> Iterator[Violation]:
    """The buffers of the stream are compressed by the codec that the read names."""
    yield from in_responses(not_compressed, read)


@_stream("query-results.stream-has-no-other-codec", over=sent, breaks="clients without the other codec")
def stream_has_noother_codec(read: ResultView) -> Iterator[Violation]:
    """The buffers of the stream are compressed by no codec but the one that the read names."""
    yield from in_responses(other_codec, read)


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
    "query-results.other-stream-is-not-found",
    over=lambda view: [read for read in results(view) if read.step.stream],
    level=Level.SHOULD,
    breaks="a client with a wrong name reads rows from the start again, without an error",
)
def other_stream_is_not_found(read: ResultView) -> Iterator[Violation]:
    """A job has the stream ``_default`` alone: a read of one with another name ends in an error."""
    if read.ok:
        yield Violation("NOT_FOUND, or another error", read.raw.status)


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
    yield from from_offset(expected, in_micros(rows, read.view, read.form), read.offset)


@_stream(
    "query-results.held-open-has-its-rows",
    over=held_open,
    breaks="a client that is slower than the next query: rows are lost",
)
def held_open_has_its_rows(read: ResultView) -> Iterator[Violation]:
    """A read of the stream that a client holds open has every row, although other queries run in the meantime."""
    yield from _from_its_offset(read)


@_stream(
    "query-results.cancelled-read-leaves-the-result",
    over=behind_cancelled,
    source=(STORAGE_PROTO, PYTHON_CLIENT),
    breaks="every client that reads on after a lost connection, which a server sees as a cancelled call",
)
def cancelled_read_leaves_the_result(read: ResultView) -> Iterator[Violation]:
    """A read of the stream that a client cancels changes nothing: the next one has every row from its offset on."""
    yield from _from_its_offset(read)


@_stream(
    "query-results.waited-job-has-a-stream",
    over=waited,
    source=(DISCOVERY, PYTHON_QUERIES),
    level=Level.SHOULD,
    breaks="google-cloud-bigquery 3.47.0 (Python), which waits for the job and reads its stream (from its source)",
)
def waited_job_has_a_stream(read: ResultView) -> Iterator[Violation]:
    """The stream of a query whose first answer said that it still ran has every row from its offset on.

    That answer had no page, so that the stream alone has the first rows. This is for a read after
    jobs.getQueryResults has said ``jobComplete``.
    """
    yield from _from_its_offset(read)


@_stream(
    "query-results.result-outlives-its-table",
    over=orphaned,
    source=CACHED_RESULTS,
    level=Level.SHOULD,
    breaks="programs that remove a table when its query has been answered: the rows behind the page are lost",
)
def result_outlives_its_table(read: ResultView) -> Iterator[Violation]:
    """The stream of a query has the rows of its result, also if its table was removed since, or made again.

    A result is a table of its own, which the service keeps for about a day.
    """
    yield from _from_its_offset(read)


@_stream(
    "query-results.result-outlives-other-queries",
    over=outlived,
    source=CACHED_RESULTS,
    level=Level.SHOULD,
    breaks="a program with many queries at once: the rows behind the pages of the first ones are lost",
)
def result_outlives_other_queries(read: ResultView) -> Iterator[Violation]:
    """The stream of a query has the rows of its result, however many queries ran since.

    A result is a table of its own, which the service keeps for about a day.
    """
    yield from _from_its_offset(read)


def _from_its_offset(read: ResultView) -> Iterator[Violation]:
    """Yield a violation if a read has other rows than those of its query from its offset on."""
    assert read.query is not None
    if not read.ok:
        yield Violation("status OK", f"{read.raw.status}: {read.raw.details}")
        return
    if read.batches is None:
        return
    expected, ordered = expected_of(read.query), read.query.step.statement is QueryStatement.ORDERED
    rows = pa.Table.from_batches(read.batches) if read.batches else expected.slice(0, 0)
    yield from from_offset(expected, in_micros(rows, read.view, read.form), read.offset, ordered=ordered)


@_stream("query-results.row-count-is-true", over=came)
def row_count_is_true(found: ResultRead) -> Iterator[Violation]:
    """``row_count`` of each message of the stream is the number of its rows."""
    for response in found.read.responses:
        rows = response.batch.arrow() if response.batch is not None else None
        if rows is not None and rows.num_rows != response.row_count:
            yield Violation(f"row_count {rows.num_rows}", f"row_count {response.row_count}", response=response.response)
            return
