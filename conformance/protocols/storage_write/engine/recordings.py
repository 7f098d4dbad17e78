"""What is said on the Storage Write API: the table of each call, and the step that it carries out.

:mod:`conformance.engine.conversed` asks this for the calls that a proxy recorded. A stream is followed from the answer
that created it, as long as every request on it is rows in Arrow and no two connections write to it at one time. Of all
other streams nobody knows where they end, and clauses on their offsets and rows judge nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance import wire
from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.protocols.storage_write.contract.naming import answer_of, request_of, stream_of, table_of
from conformance.protocols.storage_write.records import (
    DEFAULT,
    SHORT_DEFAULT,
    CommitStreams,
    CreateWriteStream,
    FinalizeStream,
    FlushStream,
    Framing,
    GetWriteStream,
    RowsAppend,
    StreamType,
    StreamView,
    WriteRows,
)
from conformance.protocols.storage_write.wire.messages import TYPES, VIEWS
from conformance.records import Call, CallEnd, Expect, Step

__all__ = ["CLAUSES", "driven", "groups", "stream_of"]

_ON_CALLS: Final[Mapping[str, tuple[str, ...]]] = {
    "answer": (
        "error-has-a-code",
        "has-a-result-or-an-error",
        "is-a-message",
        "names-the-stream",
        "one-to-each-request",
    ),
    "finish": (
        "buffered-alone-is-flushed",
        "commit-has-its-time",
        "committed-once",
        "failed-commit-has-no-time",
        "finalize-counts-the-rows",
        "finalized-has-its-code",
        "finalized-is-not-flushed",
        "finalized-takes-no-rows",
        "flush-answers-its-offset",
        "flush-past-the-end-is-refused",
        "pending-alone-is-committed",
        "unfinalized-is-not-committed",
    ),
    "framing": ("full-stream-is-refused",),
    "offset": (
        "behind-the-end-is-refused",
        "error-has-its-detail",
        "error-is-in-an-answer",
        "error-says-both-offsets",
        "is-that-of-the-first-row",
        "none-on-default",
        "on-default-is-refused",
        "past-the-end-is-refused",
    ),
    "stream": (
        "basic-view-has-no-schema",
        "committed-has-its-commit-time",
        "default-is-committed",
        "full-view-has-the-schema",
        "has-its-time",
        "names-differ",
        "new-has-the-schema",
        "type-is-the-one-asked-for",
        "uncommitted-has-no-commit-time",
    ),
}

CLAUSES: Final = frozenset(f"storage-write-{chapter}.{name}" for chapter, names in _ON_CALLS.items() for name in names)
"""The clauses on calls that requests and answers alone decide. A test shows that each fails on its mutant without the
table, and that none fails on a correct server.
"""

_TYPES: Final = {number: StreamType(name) for name, number in TYPES.items()}
_VIEWS: Final = {number: StreamView(name) for name, number in VIEWS.items()}


def groups(calls: Sequence[Call]) -> Iterator[tuple[str, str]]:
    """The table of each call, empty if nothing names one, and what the call belongs to in words."""
    for call in calls:
        table = table_of(next(filter(None, (stream_of(call.method, one) for one in call.requests)), ""))
        yield table, f"writes to {table}" if table else f"a {call.method} call that names no table"


def driven(calls: Sequence[Call]) -> tuple[tuple[Step, ...], tuple[Call, ...]]:
    """The steps that the calls carry out, and the calls with the index of their step.

    A call with a request that is no such message carries out none: nothing is known of what it asked for.
    """
    followed = _Followed(calls)
    kept = [call for call in calls if None not in (request_of(call.method, data) for data in call.requests)]
    steps = tuple(followed.step(call) for call in kept)
    return steps, tuple(dataclasses.replace(call, step=index) for index, call in enumerate(kept))


def _created(call: Call) -> str:
    """The name of the stream that a call created; empty if it created none."""
    if call.method != "CreateWriteStream" or call.status != "OK" or call.end is not CallEnd.COMPLETE:
        return ""
    answer = answer_of(call.method, call.responses[0]) if call.responses else None
    return "" if answer is None else str(answer.name)


class _Followed:
    """The streams of a conversation that can be followed, and the step of each call."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._connections = {id(call): _Connection(call) for call in calls if call.method == "AppendRows"}
        self._known = {_created(call) for call in calls} - {""} - set(self._lost(calls))

    def _lost(self, calls: Sequence[Call]) -> Iterator[str]:
        """The names of streams about which a request says what cannot be followed."""
        created: set[str] = set()
        last: dict[str, float] = {}
        for call in calls:
            if name := _created(call):
                if name in created:
                    yield name
                created.add(name)
            if (connection := self._connections.get(id(call))) is None:
                continue
            for stream in connection.streams:
                at_one_time = call.started < last.get(stream, call.started)
                if not connection.is_followed or stream not in created or at_one_time:
                    yield stream
                last[stream] = call.started + call.seconds

    def step(self, call: Call) -> Step:
        """The step that ``call`` carries out."""
        expect = Expect((call.status or "OK",))
        if call.method == "AppendRows":
            return self._write(call, expect)
        return self._asked(call, request_of(call.method, call.request), expect)

    def _asked(self, call: Call, request: Any, expect: Expect) -> Step:
        """The step of a call with one request; a stream that is not followed has a label that no stream has."""
        match call.method:
            case "CreateWriteStream":
                kind = _TYPES.get(request.write_stream.type, StreamType.COMMITTED)
                return CreateWriteStream(_created(call) or "?", kind, request.parent, expect)
            case "FinalizeWriteStream":
                return FinalizeStream(self._label(request.name) or "?", expect)
            case "FlushRows":
                return FlushStream(request.offset.value, self._label(request.write_stream) or "?", expect)
            case "BatchCommitWriteStreams":
                return CommitStreams(tuple(self._label(name) or "?" for name in request.write_streams), expect)
        label, view = self._label(request.name), _VIEWS.get(request.view, StreamView.UNSET)
        return GetWriteStream(label or "?", view, "" if label else request.name or "?", expect)

    def _label(self, stream: str) -> str:
        """The label of a stream; empty if it is not followed."""
        if stream.endswith("/_default"):
            return DEFAULT if stream.endswith("/streams/_default") else SHORT_DEFAULT
        return stream if stream in self._known else ""

    def _write(self, call: Call, expect: Expect) -> WriteRows:
        connection = self._connections[id(call)]
        label = self._label(connection.streams[0]) if connection.is_followed else ""
        literal = "" if label else ", ".join(connection.streams) or "?"
        return WriteRows(connection.appends, label or "?", names=connection.names, name=literal, expect=expect)


class _Connection:
    """A call of AppendRows: the names of streams in its requests, each once, and an append for each request.

    It ``is_followed`` if all requests are rows in Arrow for one stream. It ``names`` the stream in each of several.
    """

    def __init__(self, call: Call) -> None:
        requests = [request_of(call.method, data) for data in call.requests]
        named = [one.write_stream for one in requests if one is not None and one.write_stream]
        self.streams = tuple(dict.fromkeys(named))
        self.appends = tuple(_appends(requests))
        self.names = len(named) == len(requests) > 1
        in_arrow = all(one is not None and one.HasField("arrow_rows") for one in requests)
        self.is_followed = in_arrow and len(self.streams) == 1


def _appends(requests: Sequence[Any]) -> Iterator[RowsAppend]:
    """The append of each request; one without rows in Arrow has no rows here."""
    schema, first = None, 0
    for request in requests:
        offset = request.offset.value if request is not None and request.HasField("offset") else None
        if request is None or not request.HasField("arrow_rows"):
            yield RowsAppend(first, 0, offset)
            continue
        sent = request.arrow_rows.writer_schema.serialized_schema
        written = SchemaBytes(0, None, sent, "request") if sent else None
        schema = schema if written is None else written.message.schema
        batch = BatchBytes(0, None, request.arrow_rows.rows.serialized_record_batch, schema)
        yield RowsAppend(first, batch.rows, offset, _framing(batch, written))
        first += batch.rows


def _framing(batch: BatchBytes, schema: SchemaBytes | None) -> Framing:
    """What a request has in its fields, as far as clauses without a table ask."""
    if batch.first is not None and batch.first.header is wire.Header.SCHEMA:
        behind = () if batch.message is None else batch.message.extra
        full = batch.message is None or any(one.header is wire.Header.RECORD_BATCH for one in behind)
        return Framing.STREAM_AS_BATCH if full else Framing.SCHEMA_AS_BATCH
    if batch.message is None:
        return Framing.NO_SCHEMA
    return Framing.CUT if batch.faults or (schema is not None and schema.faults) else Framing.BARE
