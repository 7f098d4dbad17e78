"""The answers of CreateReadSession: names, echoes, lifetime, schema, streams.

Projections, restrictions, snapshots and refusals of bad requests have chapters of their own. The module is a little
long, for a chapter is one page.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.comparing.matching import show_row
from conformance.contract.sources import (
    ARROW_PROTO,
    EXPIRED_SESSION,
    GUIDE,
    JAVA_LIVE_TEST,
    LIVE_TESTS,
    MEASURED,
    NODE_LIVE_TEST,
    PROTOBUF,
    RECORDED,
    SESSION_NAMES,
    STORAGE_PROTO,
    STREAM_PROTO,
    STRICT_CLIENT,
    TIMESTAMP_MESSAGE,
)
from conformance.contract.strictanswers import malformed
from conformance.contract.subjects import answered
from conformance.contract.view import once_per_view
from conformance.formats.messages import FORMATS, format_of_schema
from conformance.protocols.storage_read.contract.endings import serves
from conformance.protocols.storage_read.contract.expected import expected_rows, has_columns
from conformance.protocols.storage_read.contract.sessions import SELECTING, SessionRead, whole_sessions
from conformance.protocols.storage_read.contract.subjects import created, feature, valid_sessions
from conformance.protocols.storage_read.contract.view import SessionView, StorageCall, StorageView
from conformance.protocols.storage_read.contract.violations import later_rows, unwanted_rows
from conformance.records import CreateSession, Level

NAME: Final = re.compile(r"projects/([^/]+)/locations/([^/]+)/sessions/([^/]+)")
MAX_STREAMS: Final = 1000
"""The system's own limit, from the comment on ``max_stream_count``."""
LIFETIME: Final = 6 * 3600
LIFETIME_SLACK: Final = 900
"""The tolerance in seconds: a case may run for minutes before its last session, and two clocks are compared."""


def _with_feature(*features: Feature) -> Any:
    def select(view: StorageView) -> list[SessionView]:
        return [session for session in valid_sessions(view) if feature(session) in features]

    return select


# --- valid requests are served --------------------------------------------------------------------


# A table, one row per clause: id, calls, source, the request as findings name it, explanation, affected software.
# fmt: off
serves("session.plain-request-is-served",
  _with_feature(Feature.PLAIN, Feature.LARGE, Feature.ABANDONED, Feature.APPEND), (STORAGE_PROTO, RECORDED),
  "a plain request for an existing table",
  """CreateReadSession for a table that exists, in a known format and without further options, ends in OK.

  The clause on an option (a restriction, a projection, several streams, ...) judges requests with this option.
  """, breaks="every client: it has nothing to read")
serves("session.options-may-be-absent", _with_feature(Feature.NO_OPTIONS), (STREAM_PROTO, RECORDED),
  "a request without read_options",
  """A request without the ``read_options`` message is served like a request with an empty message.

  The field is optional: its absence means all columns, all rows and the default serialization.
  """, breaks="clients that set no read options (the server process died): https://github.com/goccy/bigquery-emulator/issues/382")
serves("session.several-streams-may-be-asked", _with_feature(Feature.SEVERAL_STREAMS), (STORAGE_PROTO, RECORDED),
  lambda session: f"max_stream_count {session.step.max_stream_count}",
  "``max_stream_count`` above one is an upper bound: a server that offers fewer streams serves the request.",
  breaks="the Spark connector, which requests up to 20,000 unless parallelism is forced to 1 (from its source):"
  " https://github.com/goccy/bigquery-emulator/issues/29")
serves("session.preferred-count-may-be-asked", _with_feature(Feature.PREFERRED_STREAMS), (STORAGE_PROTO, RECORDED),
  lambda session: f"preferred_min_stream_count {session.step.preferred_min_stream_count}",
  """``preferred_min_stream_count`` is a preference: a server that cannot offer so many streams serves the request.

  For a ten-row table and a preference of two streams, the service answered with one.
  """, breaks="the Spark, Go and Node clients, which always send such a preference (from their source)")
serves("session.parent-may-be-another-project", _with_feature(Feature.FOREIGN_PARENT), (STORAGE_PROTO, MEASURED),
  lambda session: f"parent {session.request.parent!r} and table {session.request.read_session.table!r}",
  "The session's parent, the project that is billed, need not be the project of the table.",
  breaks="every reader of a public dataset: it bills its own project")
serves("session.partitioned-table-is-served", _with_feature(Feature.PARTITIONED), (GUIDE, JAVA_LIVE_TEST),
  lambda session: f"the table {session.request.read_session.table!r}, which is partitioned by day",
  """A table that is partitioned by day is served; if it requires a filter on its partitions, a session with one is.

  The server says over REST that it is partitioned, and has listed its rows there.
  """, breaks="every client of a partitioned table")
serves("session.query-result-is-served", _with_feature(Feature.QUERY_RESULT), (GUIDE, MEASURED),
  lambda session: f"the table {session.request.read_session.table!r}, the result of a query",
  """The table that a query has made is served: the anonymous one of its result, and one that it wrote to by name.

  REST has listed the rows of that table before. The clause is about a session on it, not about the query.
  """, breaks="clients that read a query's result through the Storage API: cloud.google.com/go/bigquery 1.86.1 and"
  " google-cloud-bigquery-storage 2.43.0 report an error")
# fmt: on


@once_per_view
def _granted(view: StorageView) -> list[SessionView]:
    return [session for session in view.sessions if session.ok and "OK" in session.expected_codes]


@clause("session.answer-is-a-session", over=_granted, source=(PROTOBUF, STORAGE_PROTO))
def answer_is_a_session(session: SessionView) -> Iterator[Violation]:
    """A CreateReadSession call that ends in OK answers with one ReadSession message."""
    broken = malformed(session.view, session.index, 0)
    if broken is not None:
        yield broken
    elif session.session is None:
        sizes = [len(data) for data in session.raw.responses]
        yield Violation(
            "one ReadSession message", f"{many(len(sizes), 'response')} of {sizes} bytes that are no such message"
        )


# --- names ----------------------------------------------------------------------------------------


@clause(
    "session.name-has-the-pattern",
    over=created,
    source=(STREAM_PROTO, EXPIRED_SESSION),
    breaks="clients that parse the location",
)
def name_has_the_pattern(session: SessionView) -> Iterator[Violation]:
    """The session's name is ``projects/{project}/locations/{location}/sessions/{session}``."""
    if not NAME.fullmatch(session.session.name):
        yield Violation(
            "a name of the form 'projects/*/locations/*/sessions/*'", repr(session.session.name), field="name"
        )


@clause(
    "session.name-is-in-the-parent",
    over=lambda view: [session for session in created(view) if NAME.fullmatch(session.session.name)],
    source=STRICT_CLIENT,
    level=Level.SHOULD,
)
def name_is_in_the_parent(session: SessionView) -> Iterator[Violation]:
    """The session's name begins with the request's parent: the project that created it, not that of the table."""
    parent = str(session.request.parent)
    if not session.session.name.startswith(parent + "/"):
        yield Violation(f"a name below {parent!r}", repr(session.session.name), field="name")


@once_per_view
def _several_sessions(view: StorageView) -> list[SessionView]:
    return created(view)[1:]


@clause(
    "session.names-differ",
    over=_several_sessions,
    source=(STREAM_PROTO, SESSION_NAMES),
)
def names_differ(session: SessionView) -> Iterator[Violation]:
    """Every CreateReadSession call creates a session of its own: the name is its unique identifier."""
    for other in _by_name(session.view)[session.session.name]:
        if other.index >= session.index:
            return
        yield Violation(f"a name other than that of call {other.index}", repr(other.session.name), field="name")


@once_per_view
def _by_name(view: StorageView) -> dict[str, list[SessionView]]:
    found: dict[str, list[SessionView]] = {}
    for session in created(view):
        found.setdefault(session.session.name, []).append(session)
    return found


@once_per_view
def _with_streams(view: StorageView) -> list[SessionView]:
    return [session for session in created(view) if session.session.streams]


@clause("session.streams-are-below-it", over=_with_streams, source=(STREAM_PROTO, EXPIRED_SESSION))
def streams_are_below_it(session: SessionView) -> Iterator[Violation]:
    """A stream's name is its session's name followed by ``/streams/{stream}``."""
    prefix = session.session.name + "/streams/"
    for index, stream in enumerate(session.session.streams):
        if not stream.name.startswith(prefix) or not stream.name[len(prefix) :] or "/" in stream.name[len(prefix) :]:
            yield Violation(f"a name of the form {prefix + '*'!r}", repr(stream.name), field=f"streams[{index}].name")


@clause(
    "session.stream-names-differ",
    over=_with_streams,
    source=(STREAM_PROTO, STRICT_CLIENT),
    breaks="clients read rows twice",
)
def stream_names_differ(session: SessionView) -> Iterator[Violation]:
    """No two streams of a session have the same name: a client that reads each stream would read one of them twice."""
    for name, count in collections.Counter(stream.name for stream in session.session.streams).items():
        if count > 1:
            yield Violation("each stream name once", f"the stream {name!r} {count} times", field="streams")


# --- echoes ---------------------------------------------------------------------------------------


@clause("session.table-is-echoed", over=created, source=(STREAM_PROTO, RECORDED))
def table_is_echoed(session: SessionView) -> Iterator[Violation]:
    """The session has the table's resource name exactly as in the request."""
    asked = session.request.read_session.table
    if session.session.table != asked:
        yield Violation(f"the table {asked!r}", f"the table {session.session.table!r}", field="table")


@clause("session.data-format-is-echoed", over=created, source=(STREAM_PROTO, RECORDED))
def data_format_is_echoed(session: SessionView) -> Iterator[Violation]:
    """The session has the requested data format; the field is immutable."""
    asked = session.request.read_session.data_format
    if session.session.data_format != asked:
        yield Violation(f"data_format {asked}", f"data_format {session.session.data_format}", field="data_format")


@clause("session.read-options-are-echoed", over=created, source=RECORDED, breaks="clients that resume from the echo")
def read_options_are_echoed(session: SessionView) -> Iterator[Violation]:
    """The ``read_options`` of the session, if it has any, are those of the request.

    The server may leave the message out, may write out a default, and may sort the selected fields: their order has no
    meaning.
    """
    if not session.session.HasField("read_options"):
        return
    sent, echoed = (
        _plain_options(session.request.read_session.read_options),
        _plain_options(session.session.read_options),
    )
    if sent != echoed:
        yield Violation(f"read_options {_one_line(sent)}", f"read_options {_one_line(echoed)}", field="read_options")


def _plain_options(options: Any) -> Any:
    """Return the options without fields that only write out a default, with the selected fields in one order."""
    plain = type(options)()
    plain.CopyFrom(options)
    if not plain.response_compression_codec:
        plain.ClearField("response_compression_codec")
    plain.selected_fields.sort()
    for name in ("arrow_serialization_options", "avro_serialization_options"):
        if plain.HasField(name) and not getattr(plain, name).ListFields():
            plain.ClearField(name)
    plain.DiscardUnknownFields()
    return plain


def _one_line(message: Any) -> str:
    text = " ".join(str(message).split())
    return f"{{{text if len(text) <= 200 else text[:199] + '…'}}}"


@clause(
    "session.trace-id-is-echoed",
    over=lambda view: [session for session in created(view) if session.step.trace_id],
    source=STREAM_PROTO,
    level=Level.MAY,
)
def trace_id_is_echoed(session: SessionView) -> Iterator[Violation]:
    """The session has the ``trace_id`` of the request, by which users find it in logs; nothing promises that."""
    if session.session.trace_id != session.step.trace_id:
        yield Violation(
            f"the trace_id {session.step.trace_id!r}", f"the trace_id {session.session.trace_id!r}", field="trace_id"
        )


# --- lifetime and estimates -----------------------------------------------------------------------


@clause(
    "session.expire-time-is-set",
    over=created,
    source=(STREAM_PROTO, RECORDED),
    breaks="clients that renew a session before it expires",
)
def expire_time_is_set(session: SessionView) -> Iterator[Violation]:
    """The session has an expiry time; after it every read of the session fails."""
    if not session.session.HasField("expire_time"):
        yield Violation("an expire_time", "no expire_time", field="expire_time")


def _seconds_left(session: SessionView) -> float:
    expires = session.session.expire_time
    return float(expires.seconds + expires.nanos / 1e9 - session.view.exchange.now / 1e6)


@once_per_view
def _expiring(view: StorageView) -> list[SessionView]:
    return [session for session in created(view) if session.session.HasField("expire_time")]


@clause("session.expire-time-is-ahead", over=_expiring, source=(STREAM_PROTO, MEASURED))
def expire_time_is_ahead(session: SessionView) -> Iterator[Violation]:
    """A new session has not expired: its ``expire_time`` is in the future."""
    if _seconds_left(session) <= 0:
        observed = f"{-_seconds_left(session):.0f} s before the exchange began"
        yield Violation("an instant after the session was made", observed, field="expire_time")


@clause(
    "session.expire-time-is-six-hours-ahead",
    over=lambda view: [session for session in _expiring(view) if _seconds_left(session) > 0],
    source=(STORAGE_PROTO, MEASURED),
    level=Level.SHOULD,
)
def expire_time_is_six_hours_ahead(session: SessionView) -> Iterator[Violation]:
    """A session lives for six hours, as documented; within a quarter of an hour, because two clocks are compared."""
    if abs(_seconds_left(session) - LIFETIME) > LIFETIME_SLACK:
        yield Violation(
            "about 6 h after it was made",
            f"{_seconds_left(session) / 3600:.2f} h after it was made",
            field="expire_time",
        )


@clause(
    "session.expire-time-is-an-instant",
    over=_expiring,
    source=TIMESTAMP_MESSAGE,
    breaks="Go and Java, which refuse to convert such a timestamp (from their source)",
)
def expire_time_is_an_instant(session: SessionView) -> Iterator[Violation]:
    """The ``expire_time`` has 0 to 999,999,999 nanoseconds, as every Timestamp."""
    nanos = session.session.expire_time.nanos
    if not 0 <= nanos < 10**9:
        yield Violation("0 to 999999999 ns", f"{nanos} ns", field="expire_time.nanos")


@clause(
    "session.estimates-are-not-negative",
    over=created,
    source=(STREAM_PROTO, STRICT_CLIENT),
    breaks="clients that size buffers",
)
def estimates_are_not_negative(session: SessionView) -> Iterator[Violation]:
    """The estimates of bytes and rows are counts; an unknown one is 0."""
    for name in ("estimated_total_bytes_scanned", "estimated_row_count", "estimated_total_physical_file_size"):
        if (value := getattr(session.session, name)) < 0:
            yield Violation("a number of 0 or more", f"the number {value}", field=name)


# --- schema ---------------------------------------------------------------------------------------


@clause(
    "session.carries-a-schema",
    over=created,
    source=(STREAM_PROTO, RECORDED),
    breaks=(
        "cloud.google.com/go/bigquery 1.86.1, and a program that joins the bytes of Node's client 5.1.2: an error,"
        " without rows too. Spark, Trino, Polars and DuckDB use the session's schema (from their source)"
    ),
)
def carries_a_schema(session: SessionView) -> Iterator[Violation]:
    """The session has a schema; most clients read the schema only there."""
    if session.session.WhichOneof("schema") is None:
        yield Violation("arrow_schema or avro_schema", "neither of them", field="schema")


@clause(
    "session.schema-is-of-the-format",
    over=lambda view: [session for session in created(view) if session.session.WhichOneof("schema") is not None],
    source=(STREAM_PROTO, RECORDED),
)
def schema_is_of_the_format(session: SessionView) -> Iterator[Violation]:
    """The kind of the session's schema is that of the requested format: Arrow for ARROW, Avro for AVRO."""
    wanted = FORMATS.get(session.request.read_session.data_format)
    if wanted is not None and format_of_schema(session.session) is not wanted:
        yield Violation(wanted.schema_field, str(session.session.WhichOneof("schema")), field="schema")


# --- streams --------------------------------------------------------------------------------------


@clause(
    "session.streams-stay-below-the-maximum",
    over=lambda view: [session for session in created(view) if session.request.max_stream_count > 0],
    source=(STORAGE_PROTO, MEASURED),
    breaks=(
        "clients that request one stream to keep the order of rows: adbc-driver-bigquery 1.11.0 gives them in another"
        " order, without an error"
    ),
)
def streams_stay_below_the_maximum(session: SessionView) -> Iterator[Violation]:
    """The session has at most ``max_stream_count`` streams, if the request has a maximum."""
    maximum, count = session.request.max_stream_count, len(session.session.streams)
    if count > maximum:
        yield Violation(f"at most {many(maximum, 'stream')}", many(count, "stream"), field="streams")


@clause(
    "session.streams-stay-below-a-thousand",
    over=lambda view: [session for session in created(view) if session.request.max_stream_count <= 0],
    source=(STORAGE_PROTO, MEASURED),
)
def streams_stay_below_a_thousand(session: SessionView) -> Iterator[Violation]:
    """A session whose request sets no maximum has at most 1,000 streams, the limit of the system."""
    if len(session.session.streams) > MAX_STREAMS:
        yield Violation(f"at most {MAX_STREAMS} streams", many(len(session.session.streams), "stream"), field="streams")


# --- options that a server may lack ---------------------------------------------------------------


Asked: TypeAlias = SessionRead | StorageCall
"""A session with an option that a server may lack, whose streams were read in full, or its refusal."""


def _asking(asks: Callable[[CreateSession], object]) -> Callable[[StorageView], list[Asked]]:
    """Return a selector of the sessions with an option that a server honours or refuses, and of their refusals."""

    def select(view: StorageView) -> list[Asked]:
        sessions = [one for one in view.sessions if feature(one) is Feature.OFFERED_OR_NOT and asks(one.step)]
        calls = [call for session in sessions for call in (session, *session.reads)]
        refused = [call for call in calls if answered(call) and not call.ok]
        return [*(whole for whole in whole_sessions(view) if whole.session in sessions), *refused]

    return select


@clause(
    "session.restriction-is-not-ignored",
    over=_asking(lambda step: step.row_restriction),
    source=(STREAM_PROTO, RECORDED, LIVE_TESTS),
    breaks="every client with a filter: it takes rows of the whole table for those that it asked for",
)
def restriction_is_not_ignored(asked: Asked) -> Iterator[Violation]:
    """A session with a ``row_restriction`` yields no row that it does not select, or is refused.

    This binds a server without filters, too: it refuses the request, with UNIMPLEMENTED or INVALID_ARGUMENT. If it
    ignores the restriction, no client can notice.
    """
    if isinstance(asked, SessionRead) and (wrong := unwanted_rows(asked)):
        shown = show_row(asked.session.view.table, wrong[0])
        yield Violation(
            f"rows for which {asked.session.step.row_restriction!r} is TRUE, or a refusal",
            f"{many(len(wrong), 'other row')}, such as {shown}",
            field="row_restriction",
        )


@clause(
    "session.projection-is-not-ignored",
    over=lambda view: [one for one in _asking(lambda step: step.selected_fields)(view) if not _unreadable(one)],
    source=(STREAM_PROTO, RECORDED, LIVE_TESTS),
    breaks="clients that map by position: they take a column for another",
)
def projection_is_not_ignored(asked: Asked) -> Iterator[Violation]:
    """A session with ``selected_fields`` has no column of the table that was not selected, or is refused.

    This binds a server without projections, too: it refuses the request, with UNIMPLEMENTED or INVALID_ARGUMENT. If it
    sends every column, a client that counts on those that it named takes one for another.
    """
    if isinstance(asked, SessionRead) and asked.session.schema is not None:
        schema = asked.session.schema.message.schema
        selected = list(asked.session.step.selected_fields)
        left_out = {column.name for column in asked.session.columns} - set(selected)
        if surplus := [field.name for field in (schema.fields if schema else ()) if field.name in left_out]:
            required = f"no columns but {selected}, or a refusal"
            yield Violation(required, f"the columns {surplus} too", field="selected_fields")


def _unreadable(asked: Asked) -> bool:
    """True of a session whose schema cannot be read, about which nothing is known."""
    if not isinstance(asked, SessionRead):
        return False
    return asked.session.schema is None or asked.session.schema.message.schema is None


@clause(
    "session.snapshot-time-is-not-ignored",
    over=_asking(lambda step: step.snapshot),
    source=(STREAM_PROTO, JAVA_LIVE_TEST),
    breaks="clients that ask for an earlier state of a table: they take its present state for that",
)
def snapshot_time_is_not_ignored(asked: Asked) -> Iterator[Violation]:
    """A session with a ``snapshot_time`` does not show rows that were inserted after it, or is refused.

    This binds a server without snapshots, too: it refuses the request, with UNIMPLEMENTED or INVALID_ARGUMENT. If it
    ignores the time, no client can notice.
    """
    if isinstance(asked, SessionRead):
        yield from later_rows(asked)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Precise:
    """A session with a precision of timestamps, beside a plain one of the same case; None for a refusal."""

    call: int
    read: SessionRead | None = None
    plain: SessionRead | None = None
    response: None = None


def _precise(view: StorageView) -> list[_Precise]:
    """Return the sessions with a precision whose types can be compared with those of a plain one, and the refusals.

    What is wrong without the precision, too, is no effect of it.
    """
    plain = next((one for one in whole_sessions(view) if one.feature is Feature.PLAIN), None)
    asked = _asking(lambda step: step.timestamps)(view)
    refused = [_Precise(one.index) for one in asked if not isinstance(one, SessionRead)]
    reads = [one for one in asked if isinstance(one, SessionRead)]
    return [*(_Precise(one.call, one, plain) for one in reads if plain is not None), *refused]


@clause(
    "session.timestamp-precision-spares-other-columns",
    over=_precise,
    source=(ARROW_PROTO, JAVA_LIVE_TEST, NODE_LIVE_TEST),
    breaks="clients that always ask for picoseconds: times of plain columns become texts, or other times",
)
def timestamp_precision_spares_other_columns(one: _Precise) -> Iterator[Violation]:
    """A ``picos_timestamp_precision`` changes the type of no column but those of type TIMESTAMP(12), or is refused.

    The table has no such column. The texts say that the precision applies to no other column; in live tests the plain
    timestamps beside such a column kept their type. The types are compared with those of a session of the same case
    that asks for no precision: a type that is wrong in both is the finding of another clause.
    """
    if one.read is None or one.plain is None:
        return
    right = {field.name: {field.type} for field in one.read.expected.schema}
    for field in one.plain.got.schema:
        right.setdefault(field.name, set()).add(field.type)
    if changed := [field for field in one.read.got.schema if field.type not in right.get(field.name, {field.type})]:
        # The class has neither the precision nor the types: an option that is wrongly applied is one fault.
        shown = ", ".join(f"{field.name!r}: {field.type}" for field in changed)
        yield Violation(
            f"the types of a session without {one.read.session.step.timestamps!r}, or a refusal",
            f"other types: {{{shown}}}",
            field="picos_timestamp_precision",
        )


@once_per_view
def _with_rows(view: StorageView) -> list[SessionView]:
    sure = [s for s in created(view) if feature(s) not in {Feature.SAMPLE, *SELECTING}]
    return [s for s in sure if has_columns(s) and expected_rows(view, s)]


@clause(
    "session.rows-have-a-stream",
    over=_with_rows,
    source=(STREAM_PROTO, RECORDED),
    breaks=(
        "an empty table without an error in google-cloud-bigquery-storage 2.43.0 (Python),"
        " cloud.google.com/go/bigquery 1.86.1, google-cloud-bigquerystorage 3.34.0 (Java) and"
        " @google-cloud/bigquery-storage 5.1.2 (Node); in an emulator:"
        " https://github.com/goccy/bigquery-emulator/issues/409"
    ),
)
def rows_have_a_stream(session: SessionView) -> Iterator[Violation]:
    """A session with rows to read has at least one stream, with any ``max_stream_count`` and without one.

    The chapter on restrictions judges the rows that are missing from a session with a restriction.
    """
    if not session.session.streams:
        rows = len(expected_rows(session.view, session))
        yield Violation(f"at least one stream for {many(rows, 'row')}", "no streams", field="streams")


@once_per_view
def _whole_of_empty_tables(view: StorageView) -> list[SessionRead]:
    if view.table.num_rows:
        return []
    without_streams = [SessionRead(session, ()) for session in created(view) if not session.session.streams]
    return [*without_streams, *whole_sessions(view)]


@clause("session.empty-table-yields-nothing", over=_whole_of_empty_tables, source=RECORDED)
def empty_table_yields_nothing(whole: SessionRead) -> Iterator[Violation]:
    """The streams of a table without rows, if the session has any, yield no rows.

    The service answers with no streams at all, although the proto mentions at least one: both are permitted.
    """
    if whole.got.num_rows:
        yield Violation("no rows", f"{many(whole.got.num_rows, 'row')} from {many(len(whole.reads), 'stream')}")
