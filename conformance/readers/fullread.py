"""Reads of full streams: the parts of an exchange that a reader can read from beginning to end.

A full read is a session with every one of its streams read from row 0 to the status OK. Reads that were cut short,
refused, or resumed are left to the clauses; no reader gets them. The messages of a serializer become a full read
too: a constructed session with one stream, so that real clients can read them. This module decodes protobuf
(sessions and the suite's own requests), but no Arrow bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import DecodeError

from conformance.contain.channel import ChannelMessage
from conformance.contract import proto
from conformance.formats.messages import ARROW, AVRO
from conformance.records import (
    Call,
    CallEnd,
    Case,
    Column,
    CreateSession,
    Exchange,
    from_json,
    to_json,
)
from conformance.records.changes import columns_before_each

__all__ = ["FullRead", "RecordedStream", "bare_read", "full_reads"]

SERIALIZER: Final = "serializer"
"""The label of a full read that was constructed around the messages of a serializer."""
RESPONSES: Final = 500
"""Responses that a client takes in a second, at least, on a machine that is busy with other work."""
_WRAPPED_SESSION: Final = "projects/conformance/locations/us/sessions/serializer"
_WRAPPED_TABLE: Final = "projects/conformance/datasets/serializer/tables/table"


@dataclass(frozen=True, slots=True)
class RecordedStream:
    """One stream of a session, and its ReadRows responses from row 0, as bytes."""

    name: str
    responses: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class FullRead:
    """The input of a reader: the recorded CreateReadSession call, and every stream in the session's order.

    ``label`` is the session's label in the case (:data:`SERIALIZER` for messages of a serializer). ``columns`` are
    those of the case's table. ``bare`` has the schema message and the batch messages if they came without protobuf
    around them; then ``request``, ``session`` and ``streams`` are empty. ``counted`` is true if the ``row_count`` of
    the responses comes from the target or is known otherwise; if it is false, readers do not check ``row_count``.
    ``offset`` is None but for the result of a query: then ``request`` and ``session`` are the JSON bodies of
    jobs.query, and the stream of its job was read from this row, unless the page has all rows.
    """

    case_id: str
    label: str
    request: bytes
    session: bytes
    streams: tuple[RecordedStream, ...]
    columns: tuple[Column, ...]
    counted: bool = True
    bare: tuple[bytes, tuple[bytes, ...]] | None = None
    offset: int | None = None

    __hash__ = object.__hash__  # by identity: what was made of a read is remembered without looking at all its bytes

    @property
    def extra_seconds(self) -> int:
        """The seconds that the responses add to the deadline of a reading."""
        return sum(len(stream.responses) for stream in self.streams) // RESPONSES

    def to_frame(self) -> ChannelMessage:
        """The read as a frame: names and columns in the header, recorded bytes as byte strings."""
        header = {
            "case_id": self.case_id,
            "label": self.label,
            "counted": self.counted,
            "offset": self.offset,
            "columns": [to_json(column) for column in self.columns],
            "streams": [{"name": stream.name, "responses": len(stream.responses)} for stream in self.streams],
        }
        if self.bare is not None:
            return ChannelMessage({**header, "bare": True}, (self.bare[0], *self.bare[1]))
        responses = (response for stream in self.streams for response in stream.responses)
        return ChannelMessage(header, (self.request, self.session, *responses))

    @classmethod
    def from_frame(cls, frame: ChannelMessage) -> FullRead:
        """The read that :meth:`to_frame` wrote."""
        blobs = iter(frame.blobs)
        bare = (next(blobs), tuple(blobs)) if "bare" in frame.header else None
        request, session = (b"", b"") if bare else (next(blobs), next(blobs))
        streams = tuple(
            RecordedStream(stream["name"], tuple(next(blobs) for _ in range(stream["responses"])))
            for stream in frame.header["streams"]
        )
        return cls(
            case_id=frame.header["case_id"],
            label=frame.header["label"],
            request=request,
            session=session,
            streams=streams,
            columns=tuple(from_json(Column, column) for column in frame.header["columns"]),
            counted=frame.header["counted"],
            bare=bare,
            offset=frame.header["offset"],
        )

    @property
    def selected(self) -> tuple[Column, ...]:
        """The columns that the session selects, in table order; all columns if it selects an unknown one."""
        if self.offset is not None:
            return self.columns
        from conformance.contract.comparing.expected import expected_columns  # noqa: PLC0415  # most workers start without it

        options = proto.CreateReadSessionRequest.FromString(self.request).read_session.read_options
        return expected_columns(self.columns, options.selected_fields) or self.columns

    @property
    def in_avro(self) -> bool:
        """True if the session asks for rows in Avro."""
        if self.bare is not None or self.offset is not None:
            return False
        asked = proto.CreateReadSessionRequest.FromString(self.request).read_session.data_format
        return bool(asked == AVRO.number)

    @property
    def asks_response_compression(self) -> bool:
        """True if the session requests compression of whole responses."""
        options = proto.CreateReadSessionRequest.FromString(self.request).read_session.read_options
        return bool(options.response_compression_codec)

    @property
    def asks_buffer_compression(self) -> bool:
        """True if the session requests compression of the buffers in its batches."""
        options = proto.CreateReadSessionRequest.FromString(self.request).read_session.read_options
        return bool(options.arrow_serialization_options.buffer_compression)


def full_reads(case: Case, exchange: Exchange) -> list[FullRead]:
    """Every full read of an exchange, in the order of the sessions; empty if no session was read completely.

    If a stream was read completely several times, the first read counts; if several sessions have one label, the last
    counts.
    """
    served = {whole.label: whole for whole in _served(case, exchange)}
    return list(served.values()) or list(_serialized(case, exchange))


def bare_read(case: Case, exchange: Exchange) -> FullRead | None:
    """The messages of a serializer without protobuf, for readers that take bytes; None if the exchange has no such
    messages.

    It is the read of :func:`full_reads` without the protobuf messages, which such a reader would only remove again.
    """
    schemas, batches = _messages(exchange)
    if not schemas:
        return None
    return FullRead(
        case_id=case.id,
        label=SERIALIZER,
        request=b"",
        session=b"",
        streams=(),
        columns=case.table.columns,
        counted=len(batches) == 1,
        bare=(schemas[0], tuple(batches)),
    )


def _messages(exchange: Exchange) -> tuple[list[bytes], list[bytes]]:
    """The schemas and the batches of a serializer."""
    schemas = [call.responses[0] for call in exchange.calls if call.method == "SerializeSchema" and call.responses]
    batches = [call.responses[0] for call in exchange.calls if call.method == "SerializeBatch" and call.responses]
    return schemas, batches


def _served(case: Case, exchange: Exchange) -> Iterator[FullRead]:
    reads: dict[str, tuple[bytes, ...]] = {}
    for call in exchange.calls:
        if call.method == "ReadRows" and _complete(call):
            request = proto.ReadRowsRequest.FromString(call.request)
            if request.offset == 0:
                reads.setdefault(request.read_stream, call.responses)
    columns = columns_before_each(case.table.columns, case.steps)
    for call in exchange.calls:
        if call.method != "CreateReadSession" or not _complete(call) or not call.responses:
            continue
        session = _session(call)
        if session is None or any(stream.name not in reads for stream in session.streams):
            continue
        step = case.steps[call.step] if exchange.driven and call.step < len(case.steps) else None
        yield FullRead(
            case_id=case.id,
            label=step.label if isinstance(step, CreateSession) else call.label,
            request=call.request,
            session=call.responses[0],
            streams=tuple(RecordedStream(stream.name, reads[stream.name]) for stream in session.streams),
            columns=columns[min(call.step, len(columns) - 1)],
        )


def _complete(call: Call) -> bool:
    return call.end is CallEnd.COMPLETE and call.status == "OK"


def _session(call: Call) -> Any:
    """The decoded session of a call; None if it cannot be decoded."""
    try:
        return proto.ReadSession.FromString(call.responses[0])
    except DecodeError:
        return None


def _serialized(case: Case, exchange: Exchange) -> Iterator[FullRead]:
    """Construct one session with one stream around a serializer's messages, one response per batch message.

    With a single batch, ``row_count`` is the case's row count. A split into several batches is the serializer's
    choice; the counts then stay zero and ``counted`` is false.
    """
    schemas, batches = _messages(exchange)
    if not schemas:
        return
    stream = f"{_WRAPPED_SESSION}/streams/0"
    request = proto.CreateReadSessionRequest(parent="projects/conformance")
    request.read_session.table = _WRAPPED_TABLE
    request.read_session.data_format = proto.DATA_FORMAT["ARROW"]
    session = proto.ReadSession(name=_WRAPPED_SESSION, table=_WRAPPED_TABLE, data_format=proto.DATA_FORMAT["ARROW"])
    ARROW.put_schema(session, schemas[0])
    session.streams.add(name=stream)
    responses = []
    for index, batch in enumerate(batches):
        response = proto.ReadRowsResponse(row_count=_rows(case) if len(batches) == 1 else 0)
        ARROW.put_rows(response, batch)
        if index == 0:
            ARROW.put_schema(response, schemas[0])
        responses.append(response.SerializeToString())
    yield FullRead(
        case_id=case.id,
        label=SERIALIZER,
        request=request.SerializeToString(),
        session=session.SerializeToString(),
        streams=(RecordedStream(stream, tuple(responses)),),
        columns=case.table.columns,
        counted=len(batches) == 1,
    )


def _rows(case: Case) -> int:
    table = case.table
    return len(table.rows) if table.rows is not None else table.recipe.rows if table.recipe is not None else 0
