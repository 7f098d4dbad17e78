"""The answers of ReadRows: responses with rows and correct counters, and every row of the table exactly once.

For a session with a restriction, a snapshot, a compression, large rows or an earlier abandoned read, the chapter on
that feature judges the rows; the clauses on single responses apply to all sessions. This chapter does not judge the
bytes of schemas and batches, nor single values. It is a little long, for a chapter is one page.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Final

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.comparing.matching import show_row
from conformance.contract.sources import (
    BEAM_SOURCE,
    GUIDE,
    JAVA_LIVE_TEST,
    LIVE_TESTS,
    MEASURED,
    NO_RESPONSE,
    ORDER_PRESERVED,
    PROTOBUF,
    PYTHON_CLIENT,
    RECORDED,
    ROW_COUNTERS,
    ROWS_LOST,
    STORAGE_PROTO,
    STREAMS_BUNDLED,
    STRICT_CLIENT,
)
from conformance.contract.strictanswers import malformed
from conformance.contract.view import once_per_view
from conformance.formats.messages import ARROW, FORMATS
from conformance.protocols.storage_read.contract.sessions import SessionRead, whole_sessions
from conformance.protocols.storage_read.contract.subjects import (
    OPEN_OPTIONS,
    full_reads,
    is_child,
    is_on,
    read_feature,
    served,
    valid_reads,
    was_split,
)
from conformance.protocols.storage_read.contract.view import ReadView, ResponseView, StorageView
from conformance.protocols.storage_read.contract.violations import (
    first_read,
    other_rows,
    responses_with_schema,
    rows_differ,
    schema_differs,
)
from conformance.records import ROW_ID, AppendRows, Happening, Level

SLACK: Final = 1e-9
"""The tolerance of progress, a floating-point fraction: an ulp of rounding is not a step backwards."""
STEP: Final = 1e-6
"""The tolerance of progress from response to response: a server may compute the two numbers in single precision."""


def _is_plain(read: ReadView) -> bool:
    plain = OPEN_OPTIONS | {Feature.SNAPSHOT, Feature.APPEND}
    return read_feature(read) in plain and not is_child(read) and not was_split(read)


@clause(
    "rows.read-is-served",
    over=lambda view: [read for read in valid_reads(view) if read.offset == 0 and _is_plain(read)],
    source=(STORAGE_PROTO, RECORDED),
    breaks="every client",
)
def read_is_served(read: ReadView) -> Iterator[Violation]:
    """ReadRows on a stream of a session that was just created ends in OK."""
    yield from served(read, f"a read of {read.stream!r}")


# --- single responses -----------------------------------------------------------------------------


@once_per_view
def _responses(view: StorageView) -> list[ResponseView]:
    return [response for read in view.reads for response in read.responses]


@once_per_view
def _decoded(view: StorageView) -> list[ResponseView]:
    return [response for response in _responses(view) if response.message is not None]


@once_per_view
def _with_rows(view: StorageView) -> list[ResponseView]:
    """Return the responses whose rows could be decoded."""
    return [response for response in _decoded(view) if response.decoded() is not None]


@clause("rows.response-is-a-message", over=_responses, source=(PROTOBUF, STORAGE_PROTO))
def response_is_a_message(response: ResponseView) -> Iterator[Violation]:
    """Every response is a ReadRowsResponse message, encoded as protobuf."""
    broken = malformed(response.read.view, response.call, response.response)
    if broken is not None:
        yield broken
    elif response.message is None:
        yield Violation("a ReadRowsResponse", "bytes that are no ReadRowsResponse")


@clause(
    "rows.every-response-has-a-payload",
    over=_decoded,
    source=(STORAGE_PROTO, NO_RESPONSE),
    breaks="google-cloud-bigquery-storage 2.43.0 (Python): `EOFError: End of Arrow stream`",
)
def every_response_has_a_payload(response: ResponseView) -> Iterator[Violation]:
    """Every response has rows: no response has only a schema, and none is a heartbeat or a closing response.

    A stream without rows has no responses; the status OK signals the end of the rows.
    """
    if response.message.WhichOneof("rows") is None:
        yield Violation("arrow_record_batch", "a response without rows", field="rows")


@clause(
    "rows.payload-is-of-the-format",
    over=lambda view: [
        response
        for response in _decoded(view)
        if response.message.WhichOneof("rows") is not None and response.read.session is not None
    ],
    source=(STORAGE_PROTO, RECORDED),
)
def payload_is_of_the_format(response: ResponseView) -> Iterator[Violation]:
    """The rows of a response are in the data format of the session, whatever other formats the server supports."""
    assert response.read.session is not None
    asked = response.read.session.request.read_session.data_format
    wanted = FORMATS.get(asked)
    if wanted is not None and response.format is not wanted:
        yield Violation(wanted.rows_field, str(response.message.WhichOneof("rows")), field="rows")


@clause(
    "rows.every-batch-has-rows",
    over=_with_rows,
    source=(STORAGE_PROTO, NO_RESPONSE),
    breaks="clients that end a read at such a batch: they lose the rows behind it",
)
def every_batch_has_rows(response: ResponseView) -> Iterator[Violation]:
    """The record batch of a response has at least one row; a stream without rows has no responses."""
    batch = response.decoded()
    if batch is not None and not batch.num_rows:
        empty = "a record batch of length 0" if response.format is ARROW else "rows in Avro of 0 bytes"
        yield Violation("at least one row", empty, field=response.message.WhichOneof("rows"))


@clause(
    "rows.row-count-is-true",
    over=_with_rows,
    source=(STORAGE_PROTO, RECORDED, ROW_COUNTERS),
    breaks=(
        "every client that resumes by summed counts repeats or skips rows; cloud.google.com/go/bigquery 1.86.1 loses"
        " the rows of a response with a count of 0, without an error"
    ),
)
def row_count_is_true(response: ResponseView) -> Iterator[Violation]:
    """The ``row_count`` of a response is the number of rows in it.

    Clients sum the counts to know where to resume after a lost connection.
    """
    batch = response.decoded()
    if batch is not None and response.row_count != batch.num_rows:
        yield Violation(f"row_count {batch.num_rows}", f"row_count {response.row_count}", field="row_count")


@clause(
    "rows.deprecated-count-is-zero-or-true",
    over=lambda view: [response for response in _with_rows(view) if response.format is ARROW],
    source=(RECORDED, STRICT_CLIENT),
)
def deprecated_count_is_zero_or_true(response: ResponseView) -> Iterator[Violation]:
    """The deprecated ``arrow_record_batch.row_count`` is 0, as the service sends it, or the number of rows."""
    batch, count = response.decoded(), response.message.arrow_record_batch.row_count
    if batch is not None and count not in (0, batch.num_rows):
        yield Violation(f"row_count 0 or {batch.num_rows}", f"row_count {count}", field="arrow_record_batch.row_count")


@clause(
    "rows.uncompressed-size-is-unset",
    over=lambda view: [
        r for r in _decoded(view) if r.read.session is not None and not r.read.session.step.response_compression
    ],
    source=(STORAGE_PROTO, RECORDED, MEASURED),
    breaks=(
        "the Spark connector (from its source): `Missing a compression codec to decode a compressed ReadRowsResponse.`"
    ),
)
def uncompressed_size_is_unset(response: ResponseView) -> Iterator[Violation]:
    """``uncompressed_byte_size`` is unset if no response codec was requested.

    Buffer compression inside the record batch does not set it.
    """
    if response.message.HasField("uncompressed_byte_size"):
        size = response.message.uncompressed_byte_size
        yield Violation("no uncompressed_byte_size", f"the size {size}", field="uncompressed_byte_size")


# --- schema ---------------------------------------------------------------------------------------


@clause(
    "rows.first-response-has-the-schema",
    over=lambda view: [
        read.responses[0]
        for read in view.reads
        if read.offset == 0 and read.responses and read.responses[0].message is not None
    ],
    source=(STORAGE_PROTO, RECORDED),
    breaks=(
        "google-cloud-bigquery-storage 2.43.0 (Python) without a session: `Unsupported schema type in message: None`;"
        " ADBC and google-cloud-rust (from their source)"
    ),
)
def first_response_has_the_schema(response: ResponseView) -> Iterator[Violation]:
    """The first response of a read from the start of a stream has the schema."""
    if response.message.WhichOneof("schema") is None:
        yield Violation("arrow_schema in the first response", "a response without a schema", field="schema")


@clause(
    "rows.schema-is-the-sessions",
    over=lambda view: responses_with_schema(view, resumed=False),
    source=(STORAGE_PROTO, RECORDED),
    breaks="clients differ in which of the two they use",
)
def schema_is_the_sessions(response: ResponseView) -> Iterator[Violation]:
    """A schema in a response is equal to the session's; a later response may leave it out or repeat it."""
    yield from schema_differs(response)


# --- progress and throttling ----------------------------------------------------------------------


@once_per_view
def _with_progress(view: StorageView) -> list[ResponseView]:
    return [r for r in _decoded(view) if r.message.HasField("stats") and r.message.stats.HasField("progress")]


def _progress(response: ResponseView) -> tuple[float, float]:
    progress: Any = response.message.stats.progress
    return float(progress.at_response_start), float(progress.at_response_end)


@clause(
    "rows.progress-is-a-fraction",
    over=_with_progress,
    source=(STORAGE_PROTO, BEAM_SOURCE),
    breaks="Beam throws (from its source)",
)
def progress_is_a_fraction(response: ResponseView) -> Iterator[Violation]:
    """Progress at the start and at the end of a response is in 0 to 1."""
    for name, value in zip(("at_response_start", "at_response_end"), _progress(response), strict=True):
        if not 0 <= value <= 1:
            yield Violation("progress from 0 to 1", f"progress of {value}", field=f"stats.progress.{name}")


@clause("rows.progress-starts-before-it-ends", over=_with_progress, source=STORAGE_PROTO, level=Level.SHOULD)
def progress_starts_before_it_ends(response: ResponseView) -> Iterator[Violation]:
    """Progress at the start of a response is not above progress at its end."""
    start, end = _progress(response)
    if start > end + SLACK:
        yield Violation(
            f"progress of at most {end}, as at the end",
            f"progress of {start}",
            field="stats.progress.at_response_start",
        )


def _before(response: ResponseView) -> ResponseView:
    return response.read.responses[response.response - 1]


@clause(
    "rows.progress-does-not-fall",
    over=lambda view: [r for r in _with_progress(view) if r.response and _before(r).message is not None],
    source=STORAGE_PROTO,
    breaks="Beam, which reports it to the runner (from its source)",
)
def progress_does_not_fall(response: ResponseView) -> Iterator[Violation]:
    """Progress at the end of a response is not below that at the end of the previous response.

    A filter may leave a gap between the end of one response and the start of the next.
    """
    before = _before(response)
    if before.message.HasField("stats") and _progress(response)[1] < _progress(before)[1] - SLACK:
        required = f"progress of at least {_progress(before)[1]}, as in the response before"
        yield Violation(required, f"progress of {_progress(response)[1]}", field="stats.progress.at_response_end")


def _is_in_order(start: float, end: float) -> bool:
    return 0 <= start <= end <= 1


@once_per_view
def _one_after_another(view: StorageView) -> list[ResponseView]:
    """Return the responses after the first of a read of all rows, if they and those before them report an order."""
    found = []
    for response in _with_progress(view):
        session = response.read.session
        if response.response and session is not None and not session.request.read_session.read_options.row_restriction:
            before = _before(response)
            if before.message is not None and before.message.HasField("stats") and _is_in_order(*_progress(response)):
                start, end = _progress(before)
                if _is_in_order(start, end) and end <= _progress(response)[1] + SLACK:
                    found.append(response)
    return found


@clause("rows.progress-goes-on", over=_one_after_another, source=STORAGE_PROTO, level=Level.SHOULD)
def progress_goes_on(response: ResponseView) -> Iterator[Violation]:
    """Without a restriction, progress at the start of a response is that at the end of the previous response.

    Both count the rows of the stream up to the same row. A server that reports 0 to 1 for every response shows a
    client that each response is the whole stream.
    """
    start, before = _progress(response)[0], _progress(_before(response))[1]
    if abs(start - before) > STEP:
        required = f"progress of {before}, as at the end of the response before"
        yield Violation(required, f"progress of {start}", field="stats.progress.at_response_start")


@clause(
    "rows.throttling-is-a-percentage",
    over=lambda view: [response for response in _decoded(view) if response.message.HasField("throttle_state")],
    source=STORAGE_PROTO,
    level=Level.SHOULD,
)
def throttling_is_a_percentage(response: ResponseView) -> Iterator[Violation]:
    """``throttle_percent``, the degree to which the server throttles this reader, is in 0 to 100."""
    percent = response.message.throttle_state.throttle_percent
    if not 0 <= percent <= 100:
        yield Violation(
            "a percentage from 0 to 100", f"a percentage of {percent}", field="throttle_state.throttle_percent"
        )


# --- the table, exactly once ----------------------------------------------------------------------


@once_per_view
def _plain_sessions(view: StorageView) -> list[SessionRead]:
    return [whole for whole in whole_sessions(view) if whole.feature in OPEN_OPTIONS and view.table.num_rows]


@clause(
    "rows.query-result-is-the-table",
    over=lambda view: [whole for whole in whole_sessions(view) if whole.feature is Feature.QUERY_RESULT],
    source=(GUIDE, MEASURED),
    breaks="clients that read a query's result through the Storage API: adbc-driver-bigquery 1.11.0 gives the rows of"
    " the first page, without an error",
)
def query_result_is_the_table(whole: SessionRead) -> Iterator[Violation]:
    """A session on the result of a query of a whole table has the rows that the table had then, each once.

    The result is a table of its own: rows that are inserted into the source later are not in it. REST has listed the
    rows of the result before the session was created, unless the table is the one that ``jobs.get`` names for a query
    in Arrow.
    """
    yield from _exactly(whole, many(len(whole.expected), "row") + " that the query selected")


@clause(
    "rows.ordered-result-keeps-its-order",
    over=lambda view: [
        whole
        for whole in whole_sessions(view)
        if is_on(whole.session, Happening.QUERY_ORDERED) and len(whole.session.session.streams) == 1
    ],
    source=(ORDER_PRESERVED, PYTHON_CLIENT),
    breaks="every client of a query with ORDER BY that reads its result through the Storage API",
)
def ordered_result_keeps_its_order(whole: SessionRead) -> Iterator[Violation]:
    """A session of one stream on the result of a query with ORDER BY has the rows in that order.

    Clients count on it: google-cloud-bigquery asks for one stream where a query has an ORDER BY, and for as many as
    there may be otherwise. REST has listed the rows in that order before the session was created.
    """
    came = whole.got.column(ROW_ID).to_pylist() if ROW_ID in whole.got.column_names else []
    for before, after in itertools.pairwise(came):
        if before is not None and after is not None and before < after:
            yield Violation(
                f"row numbers that fall, since the query has ORDER BY {ROW_ID} DESC", f"{after} behind {before}"
            )
            return


@clause(
    "rows.partitions-are-the-table",
    over=lambda view: [whole for whole in whole_sessions(view) if whole.feature is Feature.PARTITIONED],
    source=(GUIDE, JAVA_LIVE_TEST),
    breaks="every client of a partitioned table",
)
def partitions_are_the_table(whole: SessionRead) -> Iterator[Violation]:
    """A session on a table that is partitioned by day has the rows of all its partitions, each once.

    With a filter it has those that the filter selects. REST has listed the rows of the table before the session was
    created.
    """
    yield from _exactly(whole, many(len(whole.expected), "row") + " of the partitions")


def _exactly(whole: SessionRead, came: str) -> Iterator[Violation]:
    if missing := whole.match.missing:
        lacking = f"{many(len(missing), 'row')} missing, such as {show_row(whole.expected, missing[0])}"
        yield Violation(came, lacking)
    if surplus := [*whole.match.repeated, *whole.match.foreign]:
        yield Violation(came, f"{many(len(surplus), 'row')} too many, such as {show_row(whole.got, surplus[0])}")


@clause(
    "rows.none-is-missing",
    over=_plain_sessions,
    source=(STORAGE_PROTO, LIVE_TESTS, ROWS_LOST),
    breaks="every client: data is lost without an error",
)
def none_is_missing(whole: SessionRead) -> Iterator[Violation]:
    """The streams of a session together have every row of the table."""
    if missing := whole.match.missing:
        expected = whole.expected
        observed = (
            f"{len(missing)} of {many(expected.num_rows, 'row')} missing, such as {show_row(expected, missing[0])}"
        )
        yield Violation("every row of the table", observed)


@clause(
    "rows.none-is-repeated",
    over=_plain_sessions,
    source=(STORAGE_PROTO, LIVE_TESTS),
    breaks="every client: rows are counted twice",
)
def none_is_repeated(whole: SessionRead) -> Iterator[Violation]:
    """A stream has no row more often than the table; equal rows of the table count as several rows."""
    for read, match in zip(whole.reads, whole.matches, strict=True):
        if repeated := match.repeated:
            observed = f"{many(len(repeated), 'row')} once more, such as {_came(read, repeated[0])}"
            yield Violation("every row as often as in the table", observed, call=read.index)


@clause(
    "rows.streams-are-disjoint",
    over=lambda view: [whole for whole in _plain_sessions(view) if len(whole.reads) > 1],
    source=(STORAGE_PROTO, LIVE_TESTS, STREAMS_BUNDLED),
    breaks="Spark, Beam and Flink, which read the streams in parallel, count rows twice (from their source)",
)
def streams_are_disjoint(whole: SessionRead) -> Iterator[Violation]:
    """A row of the table is in one stream of the session only: readers share the streams, not the rows."""
    shared = len(whole.match.repeated) - sum(len(match.repeated) for match in whole.matches)
    if shared > 0:
        observed = f"{many(shared, 'row')} in several streams, such as {show_row(whole.got, whole.match.repeated[0])}"
        yield Violation(f"each row in one of the {many(len(whole.reads), 'stream')}", observed)


@clause(
    "rows.none-is-foreign",
    over=_plain_sessions,
    source=(STORAGE_PROTO, LIVE_TESTS),
    breaks="every client: data is invented",
)
def none_is_foreign(whole: SessionRead) -> Iterator[Violation]:
    """The streams of a session have only rows of the table, and no others."""
    if foreign := whole.match.foreign:
        observed = (
            f"{many(len(foreign), 'row')} that the table does not have, such as {show_row(whole.got, foreign[0])}"
        )
        yield Violation("rows of the table only", observed)


def _came(read: ReadView, row: int) -> str:
    for batch in read.batches or ():
        if row < batch.num_rows:
            return show_row(batch, row)
        row -= batch.num_rows
    return "?"


# --- held open ------------------------------------------------------------------------------------


@clause(
    "rows.held-open-has-its-rows",
    over=lambda view: [whole for whole in whole_sessions(view) if any(read.step.during for read in whole.reads)],
    source=(STORAGE_PROTO, GUIDE),
    level=Level.SHOULD,
    breaks="readers that are slower than what else happens to their table",
)
def held_open_has_its_rows(whole: SessionRead) -> Iterator[Violation]:
    """A read that a client holds open in the middle has the rows of its session, whatever happens in the meantime.

    Its stream may be split, its table may get rows or lose a column, and other sessions may be made and read.
    """
    yield from other_rows(whole)


# --- reading again --------------------------------------------------------------------------------


def _rereads(view: StorageView, *, together: bool) -> list[ReadView]:
    """Return reads of a full stream that was fully read before, and neither split nor followed by AppendRows since."""
    appends = [index for index, step in enumerate(view.case.steps) if isinstance(step, AppendRows)]
    return [
        read
        for read in full_reads(view)
        if read.step.together == together
        and not was_split(read)
        and not any(index <= read.last_step for index in appends)
        and first_read(read) is not read
    ]


def _select_rereads(*, together: bool) -> Callable[[StorageView], list[ReadView]]:
    return once_per_view(lambda view: _rereads(view, together=together))


@clause(
    "rows.rereading-repeats",
    over=_select_rereads(together=False),
    source=MEASURED,
    breaks="every client that resumes: the rows before its offset have to be the same ones",
)
def rereading_repeats(read: ReadView) -> Iterator[Violation]:
    """A stream that is read again gives the same rows in the same order: otherwise an offset has no meaning."""
    yield from rows_differ(first_read(read), read)


@clause(
    "rows.reading-together-repeats",
    over=_select_rereads(together=True),
    source=MEASURED,
    level=Level.SHOULD,
    breaks="Spark with speculative execution (from its source)",
)
def reading_together_repeats(read: ReadView) -> Iterator[Violation]:
    """A stream read several times at once gives the same rows in the same order to each reader."""
    yield from rows_differ(first_read(read), read)
