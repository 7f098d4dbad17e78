"""Write streams: what is said of one when it is created and when it is asked for.

Not asserted, because records conflict or are missing: ``location`` and ``write_mode``, the times of the default stream,
and which status refuses a stream or table that does not exist.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from conformance.contract.clause import Violation, clause
from conformance.contract.sources import GO_WRITE_TEST, STREAM_PROTO, WRITES_RECORDED
from conformance.protocols.storage_write.contract import WRITE
from conformance.protocols.storage_write.contract.view import WriteCall, WriteView
from conformance.protocols.storage_write.records import (
    DEFAULT,
    SHORT_DEFAULT,
    CreateWriteStream,
    GetWriteStream,
    StreamType,
    StreamView,
)
from conformance.protocols.storage_write.wire.messages import FIELD_TYPES, MODES, TYPES
from conformance.records import Column, Level

_clause = functools.partial(clause, profiles=WRITE)


def _created(*types: StreamType) -> Callable[[WriteView], Sequence[WriteCall]]:
    """Selects calls that created a stream, of one of these types."""

    def select(view: WriteView) -> Sequence[WriteCall]:
        found = [
            call
            for call in view.calls_of("CreateWriteStream")
            if call.answer is not None and call.expected_codes == ("OK",)
        ]
        return [call for call in found if isinstance(call.step, CreateWriteStream) and call.step.type in types]

    return select


def _got(view: WriteView) -> Sequence[WriteCall]:
    """The answers about streams that were created before."""
    found = [call for call in view.calls_of("GetWriteStream") if call.answer is not None]
    return [call for call in found if any(not stream.is_default for stream in call.before.values())]


def _refusals(method: str) -> Callable[[WriteView], Sequence[WriteCall]]:
    """Selects calls of a method that have to be refused."""
    return lambda view: [call for call in view.calls_of(method) if call.offered and "OK" not in call.expected_codes]


_any_created = _created(*StreamType)


@_clause("storage-write-stream.name-is-of-the-table", over=_any_created, source=STREAM_PROTO, level=Level.SHOULD)
def name_is_of_the_table(call: WriteCall) -> Iterator[Violation]:
    """The name of a new stream is that of its table, ``/streams/`` and an id.

    stream.proto: "Name of the stream, in the form
    `projects/{project}/datasets/{dataset}/tables/{table}/streams/{stream}`."
    """
    start, name = f"{call.requests[0].parent}/streams/", call.answer.name
    if not name.startswith(start) or len(name) == len(start) or "/" in name[len(start) :]:
        yield Violation(f"{start}ID", repr(name), field="name")


@_clause(
    "storage-write-stream.names-differ",
    over=lambda view: _any_created(view)[1:],
    source=(WRITES_RECORDED, STREAM_PROTO),
    breaks="clients that write two streams: https://github.com/goccy/bigquery-emulator/issues/352",
)
def names_differ(call: WriteCall) -> Iterator[Violation]:
    """Each new stream has a name of its own."""
    earlier = [one for one in _any_created(call.view) if one.index < call.index]
    if any(one.answer.name == call.answer.name for one in earlier):
        yield Violation("another name", repr(call.answer.name), field="name")


@_clause("storage-write-stream.type-is-the-one-asked-for", over=_any_created, source=WRITES_RECORDED)
def type_is_the_one_asked_for(call: WriteCall) -> Iterator[Violation]:
    """A new stream has the type that the request asks for."""
    wanted, came = call.requests[0].write_stream.type, call.answer.type
    if wanted != came:
        yield Violation(f"type {wanted}", f"type {came}", field="type")


@_clause("storage-write-stream.has-its-time", over=_any_created, source=WRITES_RECORDED)
def has_its_time(call: WriteCall) -> Iterator[Violation]:
    """A new stream has the time of its creation."""
    if not call.answer.HasField("create_time"):
        yield Violation("create_time", "none", field="create_time")


@_clause(
    "storage-write-stream.uncommitted-has-no-commit-time",
    over=_created(StreamType.PENDING, StreamType.BUFFERED),
    source=(WRITES_RECORDED, STREAM_PROTO),
)
def uncommitted_has_no_commit_time(call: WriteCall) -> Iterator[Violation]:
    """A new stream of type PENDING or BUFFERED has no commit time.

    stream.proto: "If the stream is of `PENDING` type, empty commit_time means it is not committed."
    """
    if call.answer.HasField("commit_time"):
        yield Violation("no commit_time", "one", field="commit_time")


@_clause(
    "storage-write-stream.committed-has-its-commit-time",
    over=_created(StreamType.COMMITTED),
    source=(WRITES_RECORDED, STREAM_PROTO),
)
def committed_has_its_commit_time(call: WriteCall) -> Iterator[Violation]:
    """A new stream of type COMMITTED has a commit time."""
    if not call.answer.HasField("commit_time"):
        yield Violation("commit_time", "none", field="commit_time")


@_clause("storage-write-stream.new-has-the-schema", over=_any_created, source=(WRITES_RECORDED, STREAM_PROTO))
def new_has_the_schema(call: WriteCall) -> Iterator[Violation]:
    """A new stream has the schema of its table."""
    if not call.answer.table_schema.fields:
        yield Violation("table_schema", "none, or one without fields", field="table_schema")


@_clause(
    "storage-write-stream.schema-is-that-of-the-table",
    over=lambda view: [call for call in (*_any_created(view), *view.calls_of("GetWriteStream")) if _has_schema(call)],
    source=STREAM_PROTO,
    level=Level.SHOULD,
    breaks="clients that make rows by this schema, as the JSON writers of Google's libraries",
)
def schema_is_that_of_the_table(call: WriteCall) -> Iterator[Violation]:
    """The schema of a stream has the columns of the table in their order, with names, types and modes."""
    wanted, came = _listed(call.view.case.table.columns), _said(call.answer.table_schema.fields)
    if wanted != came:
        yield Violation(str(wanted), str(came), field="table_schema")


def _has_schema(call: WriteCall) -> bool:
    return call.answer is not None and bool(call.answer.table_schema.fields)


def _listed(columns: Sequence[Column]) -> list[Any]:
    return [(one.name, FIELD_TYPES[one.type], MODES[one.mode], _listed(one.fields)) for one in columns]


def _said(fields: Sequence[Any]) -> list[Any]:
    """The columns in an answer; a field without a mode is NULLABLE."""
    return [(one.name, one.type, one.mode or MODES["NULLABLE"], _said(one.fields)) for one in fields]


# --- GetWriteStream -------------------------------------------------------------------------------


def _is_full(call: WriteCall) -> bool:
    return isinstance(call.step, GetWriteStream) and call.step.view is StreamView.FULL


@_clause("storage-write-stream.found-again", over=_got, source=WRITES_RECORDED)
def found_again(call: WriteCall) -> Iterator[Violation]:
    """GetWriteStream answers with the stream of the name, of the type with which it was created."""
    (stream,) = call.before.values()
    if call.answer.name != stream.name:
        yield Violation(repr(stream.name), repr(call.answer.name), field="name")
    if call.answer.type != TYPES[stream.type]:
        yield Violation(f"type {TYPES[stream.type]}", f"type {call.answer.type}", field="type")


@_clause(
    "storage-write-stream.created-is-found",
    over=lambda view: [
        call
        for call in view.calls_of("GetWriteStream")
        if call.offered and any(not stream.is_default for stream in call.before.values())
    ],
    source=WRITES_RECORDED,
)
def created_is_found(call: WriteCall) -> Iterator[Violation]:
    """GetWriteStream of a stream that was created ends in OK."""
    if not call.ok:
        yield Violation("OK", call.raw.status)


@_clause(
    "storage-write-stream.basic-view-has-no-schema",
    over=lambda view: [call for call in _got(view) if not _is_full(call)],
    source=(GO_WRITE_TEST, WRITES_RECORDED),
)
def basic_view_has_no_schema(call: WriteCall) -> Iterator[Violation]:
    """GetWriteStream gives the schema only in the FULL view; a request without a view asks for BASIC."""
    if call.answer.HasField("table_schema"):
        yield Violation("no table_schema", "one", field="table_schema")


@_clause(
    "storage-write-stream.full-view-has-the-schema",
    over=lambda view: [call for call in _got(view) if _is_full(call)],
    source=GO_WRITE_TEST,
)
def full_view_has_the_schema(call: WriteCall) -> Iterator[Violation]:
    """GetWriteStream gives the schema if the FULL view is asked for."""
    if not call.answer.table_schema.fields:
        yield Violation("table_schema", "none, or one without fields", field="table_schema")


@_clause(
    "storage-write-stream.commit-is-shown",
    over=lambda view: [
        call for call in _got(view) if any(one.type is StreamType.PENDING for one in call.before.values())
    ],
    source=STREAM_PROTO,
    level=Level.SHOULD,
)
def commit_is_shown(call: WriteCall) -> Iterator[Violation]:
    """GetWriteStream gives a commit time of a PENDING stream once it is committed, and none before.

    stream.proto: "If the stream is of `PENDING` type, empty commit_time means it is not committed."
    """
    (stream,) = call.before.values()
    wanted, came = stream.committed, call.answer.HasField("commit_time")
    if wanted != came:
        names = {True: "a commit_time", False: "no commit_time"}
        yield Violation(names[wanted], names[came], field="commit_time")


@_clause(
    "storage-write-stream.default-is-committed",
    over=lambda view: [
        call
        for call in view.calls_of("GetWriteStream")
        if call.answer is not None and isinstance(call.step, GetWriteStream) and call.step.stream == DEFAULT
    ],
    source=(GO_WRITE_TEST, WRITES_RECORDED),
)
def default_is_committed(call: WriteCall) -> Iterator[Violation]:
    """The default stream of a table exists without having been created, and is of the type COMMITTED."""
    if call.answer.type != TYPES["COMMITTED"]:
        yield Violation(f"type {TYPES['COMMITTED']}", f"type {call.answer.type}", field="type")


@_clause(
    "storage-write-stream.default-is-found",
    over=lambda view: [
        call
        for call in view.calls_of("GetWriteStream")
        if call.offered and isinstance(call.step, GetWriteStream) and call.step.stream in (DEFAULT, SHORT_DEFAULT)
    ],
    source=(GO_WRITE_TEST, WRITES_RECORDED),
)
def default_is_found(call: WriteCall) -> Iterator[Violation]:
    """GetWriteStream of the default stream ends in OK."""
    if not call.ok:
        yield Violation("OK", call.raw.status)


@_clause("storage-write-stream.unknown-is-refused", over=_refusals("GetWriteStream"), source=WRITES_RECORDED)
def unknown_is_refused(call: WriteCall) -> Iterator[Violation]:
    """GetWriteStream of a stream that does not exist does not end in OK."""
    if call.ok:
        yield Violation("a refusal", "OK")


@_clause(
    "storage-write-stream.missing-table-is-refused",
    over=_refusals("CreateWriteStream"),
    source="https://github.com/flink-gcp/flink-connector-gcp/tree/main/docs/adr",
    breaks="clients that make the table when the service says that it is not there",
)
def missing_table_is_refused(call: WriteCall) -> Iterator[Violation]:
    """CreateWriteStream for a table that does not exist does not end in OK."""
    if call.ok:
        yield Violation("a refusal", "OK")
