"""An exchange as the clauses see it: every byte parsed once, on demand, and offered as subjects.

A view interprets nothing that the clauses are to judge: it decodes protobuf, cuts out the Arrow bytes, hands them
to :mod:`conformance.wire`, and remembers which step of the case asked for what. It never raises on foreign bytes:
what cannot be decoded is a subject with a reason, or no subject at all (:meth:`View.obstacle` says why).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from conformance import wire
from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.records import (
    AppendRows,
    Call,
    CallEnd,
    Case,
    CreateSession,
    Exchange,
    Outcome,
    Reading,
    ReadRows,
    SplitStream,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message as Proto

__all__ = [
    "BatchBytes",
    "CallView",
    "ReadView",
    "ResponseView",
    "SchemaBytes",
    "SessionView",
    "SplitView",
    "View",
]

MAX_INFLATED: Final = 1 << 30
"""Upper bound in bytes for a payload that announces its size after LZ4: the proto caps a response at 128 MB."""


class CallView:
    """A call with its request decoded; ``index`` is its place in the exchange, ``step`` what asked for it."""

    def __init__(self, view: View, index: int, call: Call) -> None:
        self.view = view
        self.index = index
        self.raw = call
        self.step = view.case.steps[call.step]

    @property
    def call(self) -> int:
        """The call's index, as a subject's place."""
        return self.index

    @property
    def response(self) -> None:
        """A call as a whole stands in no single response."""

    @property
    def ok(self) -> bool:
        """Whether the target sent the status OK."""
        return self.raw.end is CallEnd.COMPLETE and self.raw.status == "OK"

    @functools.cached_property
    def request(self) -> Any:
        """The decoded request; it is our own, so it always decodes."""
        from conformance.contract import proto  # noqa: PLC0415  # judging bare messages needs no protobuf

        return proto.REQUESTS[self.raw.method].FromString(self.raw.request)

    @property
    def expected_codes(self) -> tuple[str, ...]:
        """The permitted statuses of the step that asked."""
        return () if isinstance(self.step, AppendRows) else self.step.expect.codes

    def _decode(self, data: bytes) -> Proto | None:
        from google.protobuf.message import DecodeError  # noqa: PLC0415  # as above

        from conformance.contract import proto  # noqa: PLC0415  # as above

        try:
            message: Proto = proto.RESPONSES[self.raw.method].FromString(data)
        except DecodeError:
            return None
        return message


class SessionView(CallView):
    """A CreateReadSession call; ``session`` is the decoded ReadSession, None where the target sent none."""

    step: CreateSession

    @functools.cached_property
    def session(self) -> Any:
        """The decoded ReadSession, None where there is none or it is no protobuf message."""
        return self._decode(self.raw.responses[0]) if self.ok and self.raw.responses else None

    @functools.cached_property
    def schema(self) -> SchemaBytes | None:
        """The session's Arrow schema bytes, None where the session carries none."""
        if self.session is None or self.session.WhichOneof("schema") != "arrow_schema":
            return None
        return SchemaBytes(self.index, None, self.session.arrow_schema.serialized_schema, "session")

    @functools.cached_property
    def reads(self) -> tuple[ReadView, ...]:
        """Every ReadRows call on a stream of this session, in order."""
        return tuple(read for read in self.view.reads if read.session is self)


class ResponseView:
    """One ReadRowsResponse; ``message`` is None where the bytes are no protobuf message."""

    def __init__(self, read: ReadView, index: int, data: bytes) -> None:
        self.read = read
        self.call = read.index
        self.response = index
        self.message: Any = read._decode(data)  # noqa: SLF001  # a response is a part of its read

    @property
    def row_count(self) -> int:
        """The response's own count of its rows; 0 where there is no message."""
        return 0 if self.message is None else int(self.message.row_count)

    @functools.cached_property
    def schema(self) -> SchemaBytes | None:
        """The Arrow schema that this response carries, if any."""
        if self.message is None or self.message.WhichOneof("schema") != "arrow_schema":
            return None
        return SchemaBytes(self.call, self.response, self.message.arrow_schema.serialized_schema, "response")

    @functools.cached_property
    def payload(self) -> bytes | None:
        """The record batch bytes, after undoing whole-response compression; None where there are none or it fails."""
        if self.message is None or self.message.WhichOneof("rows") != "arrow_record_batch":
            return None
        data: bytes = self.message.arrow_record_batch.serialized_record_batch
        size = self.message.uncompressed_byte_size if self.message.HasField("uncompressed_byte_size") else 0
        if size <= 0:
            return data
        try:
            inflated = pa.Codec("lz4_raw").decompress(data, decompressed_size=min(size, MAX_INFLATED))
        except (OSError, ValueError, MemoryError):
            return None
        return bytes(inflated)

    @functools.cached_property
    def batch(self) -> BatchBytes | None:
        """The record batch of this response, read under the schema of its session (else of the read)."""
        if self.payload is None:
            return None
        return BatchBytes(self.call, self.response, self.payload, self.read.schema)


class ReadView(CallView):
    """A ReadRows call."""

    step: ReadRows

    @functools.cached_property
    def stream(self) -> str:
        """The stream name asked for."""
        return str(self.request.read_stream)

    @functools.cached_property
    def offset(self) -> int:
        """The offset asked for."""
        return int(self.request.offset)

    @functools.cached_property
    def session(self) -> SessionView | None:
        """The session whose label the step names, latest first; None for a literal stream name."""
        if self.step.name:
            return None
        before = (call for call in reversed(self.view.sessions) if call.index < self.index)
        return next((call for call in before if call.step.label == self.step.session), None)

    @functools.cached_property
    def responses(self) -> tuple[ResponseView, ...]:
        """The responses in order."""
        return tuple(ResponseView(self, index, data) for index, data in enumerate(self.raw.responses))

    @functools.cached_property
    def schema(self) -> wire.Schema | None:
        """The schema that the batches of this read have to fit: the session's, else the first response's."""
        own = self.responses[0].schema if self.responses else None
        for bytes_ in (self.session.schema if self.session else None, own):
            if bytes_ is not None and bytes_.message.schema is not None:
                return bytes_.message.schema
        return None

    @property
    def whole(self) -> bool:
        """Whether the stream was read from row 0 to a status OK."""
        return self.offset == 0 and self.ok

    @functools.cached_property
    def row_count(self) -> int:
        """Rows that the responses say they hold."""
        return sum(response.row_count for response in self.responses)

    @functools.cached_property
    def batches(self) -> tuple[pa.RecordBatch, ...] | None:
        """The rows of every response by our own decoding, None where one of them cannot be decoded."""
        decoded = []
        for response in self.responses:
            if response.message is not None and response.message.WhichOneof("rows") is None:
                continue
            batch = response.batch.arrow() if response.batch is not None else None
            if batch is None:
                return None
            decoded.append(batch)
        return tuple(decoded)


class SplitView(CallView):
    """A SplitReadStream call."""

    step: SplitStream

    @functools.cached_property
    def answer(self) -> Any:
        """The decoded SplitReadStreamResponse, None where there is none."""
        return self._decode(self.raw.responses[0]) if self.ok and self.raw.responses else None


_VIEWS: Final = {"CreateReadSession": SessionView, "ReadRows": ReadView, "SplitReadStream": SplitView}


class View:
    """An exchange as subjects; ``table`` holds the case's rows, ``readings`` what readers made of the exchange.

    ``memo`` keeps what several clauses need of the view, worked out once.
    """

    def __init__(self, case: Case, exchange: Exchange, table: pa.Table, readings: Sequence[Reading] = ()) -> None:
        self.case = case
        self.exchange = exchange
        self.table = table
        self.readings = tuple(readings)
        self.memo: dict[object, Any] = {}

    @functools.cached_property
    def calls(self) -> tuple[CallView, ...]:
        """Every call to a server, in order; serializer calls are not among them."""
        calls = enumerate(self.exchange.calls)
        return tuple(_VIEWS[call.method](self, index, call) for index, call in calls if call.method in _VIEWS)

    @functools.cached_property
    def sessions(self) -> tuple[SessionView, ...]:
        """Every CreateReadSession call."""
        return tuple(call for call in self.calls if isinstance(call, SessionView))

    @functools.cached_property
    def reads(self) -> tuple[ReadView, ...]:
        """Every ReadRows call."""
        return tuple(call for call in self.calls if isinstance(call, ReadView))

    @functools.cached_property
    def splits(self) -> tuple[SplitView, ...]:
        """Every SplitReadStream call."""
        return tuple(call for call in self.calls if isinstance(call, SplitView))

    @functools.cached_property
    def schemas(self) -> list[SchemaBytes]:
        """Every Arrow schema in the exchange: of sessions, of responses, of a serializer."""
        found = [session.schema for session in self.sessions]
        found += [response.schema for read in self.reads for response in read.responses]
        return [*self.serialized_schemas, *(schema for schema in found if schema is not None)]

    @functools.cached_property
    def batches(self) -> list[BatchBytes]:
        """Every record batch in the exchange, of responses or of a serializer."""
        found = [response.batch for read in self.reads for response in read.responses]
        return [*self._serialized_batches, *(batch for batch in found if batch is not None)]

    @functools.cached_property
    def serialized_schemas(self) -> list[SchemaBytes]:
        """The schemas of a serializer; empty for a server."""
        return [
            SchemaBytes(index, 0, call.responses[0], "serializer")
            for index, call in enumerate(self.exchange.calls)
            if call.method == "SerializeSchema" and call.responses
        ]

    @functools.cached_property
    def _serialized_batches(self) -> list[BatchBytes]:
        schemas = self.serialized_schemas
        schema = schemas[0].message.schema if schemas else None
        return [
            BatchBytes(index, 0, call.responses[0], schema)
            for index, call in enumerate(self.exchange.calls)
            if call.method == "SerializeBatch" and call.responses
        ]

    @property
    def serialized(self) -> list[BatchBytes]:
        """The batches of a serializer, in order; empty for a server."""
        return self._serialized_batches

    def obstacle(self) -> tuple[Outcome, str]:
        """Why a clause that the case names could have had no subject: the first thing that went wrong."""
        for index, call in enumerate(self.exchange.calls):
            where = f"call {index}, {call.method}"
            if call.end is CallEnd.CRASH:
                return Outcome.CRASH, f"{where}: the target died: {call.details}"
            if call.end in (CallEnd.DEADLINE, CallEnd.OVER_BUDGET):
                return Outcome.HANG, f"{where}: no end within its limits ({call.end}): {call.details}"
            step = self.case.steps[call.step] if call.step < len(self.case.steps) else None
            codes = ("OK",) if step is None or isinstance(step, AppendRows) else step.expect.codes
            if call.end is CallEnd.COMPLETE and call.status == "OK" and "OK" not in codes:
                return Outcome.DEPENDENCY_FAILED, f"{where}: ended in OK and had to be refused; see its findings"
            if call.end is CallEnd.COMPLETE and call.status not in codes:
                return Outcome.REFUSED, f"{where}: ended in {call.status}: {call.details}"
        if any(batch.arrow() is None for batch in self.batches):
            return Outcome.DEPENDENCY_FAILED, "the bytes of a record batch cannot be decoded; see the findings on them"
        return Outcome.UNTESTABLE, "nothing in the exchange shows it"
