"""An exchange as the clauses see it: every byte parsed once, on demand, and offered as subjects.

A view judges nothing: it decodes protobuf, cuts out the Arrow bytes, passes them to :mod:`conformance.wire`, and
links each call to the step of the case that made it. It never raises on foreign bytes: data that cannot be decoded
is a subject with a reason, or no subject at all (:meth:`View.reason_not_judged` gives the reason).

It is longer than other modules because the parts of a view refer to one another, and are read as one page.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pyarrow as pa

from conformance import wire
from conformance.contract.budget import STANDARD, Budget, Excess
from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.contract.raised import remembered_property
from conformance.records import (
    Call,
    CallEnd,
    CallStep,
    Case,
    CreateSession,
    Exchange,
    Outcome,
    Reading,
    ReadRows,
    SplitStream,
)
from conformance.wire.compression import DecompressionBudget as Decompression

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
"""Limit in bytes for a payload that declares its size after LZ4: the proto limits a response to 128 MB."""
_AVRO: Final = 1
"""The number of AVRO in the enum DataFormat."""
LZ4_RATIO: Final = 255
"""The most bytes to which one byte of LZ4 can decompress: a larger declared size is false."""


_BEYOND: Final = frozenset({"OUT_OF_RANGE", "FAILED_PRECONDITION", "INVALID_ARGUMENT"})
"""Statuses of reads from beyond the end of their stream."""


class CallView:
    """A call with its request decoded; ``index`` is its place in the exchange.

    ``step`` is the step of the case that made the call; the attribute is missing if a client made it.
    """

    def __init__(self, view: View, index: int, call: Call) -> None:
        self.view = view
        self.index = index
        self.raw = call
        if view.exchange.driven:
            self.step = view.case.steps[call.step]

    @property
    def call(self) -> int:
        """The call's index, as the subject's place."""
        return self.index

    @property
    def response(self) -> None:
        """None: a call as a whole has no single response."""

    @property
    def ok(self) -> bool:
        """True if the target sent the status OK."""
        return self.raw.end is CallEnd.COMPLETE and self.raw.status == "OK"

    @remembered_property
    def request(self) -> Any:
        """The decoded request. The driver's requests always decode; a client's request that does not is an empty
        message.
        """
        from google.protobuf.message import DecodeError  # noqa: PLC0415  # judging bare messages needs no protobuf

        from conformance.contract import proto  # noqa: PLC0415  # as above

        kind = proto.REQUESTS[self.raw.method]
        try:
            return kind.FromString(self.raw.request)
        except DecodeError:
            return kind()

    @property
    def expected_codes(self) -> tuple[str, ...]:
        """The permitted statuses of the step that made the call."""
        return self.step.expect.codes if isinstance(self.step, CallStep) else ()

    def _decode(self, data: bytes) -> Proto | None:
        from google.protobuf.message import DecodeError  # noqa: PLC0415  # as above

        from conformance.contract import proto  # noqa: PLC0415  # as above

        try:
            message: Proto = proto.RESPONSES[self.raw.method].FromString(data)
        except DecodeError:
            return None
        return message


class SessionView(CallView):
    """A CreateReadSession call."""

    step: CreateSession

    @remembered_property
    def session(self) -> Any:
        """The decoded ReadSession, None if the target sent none or the bytes are no protobuf message."""
        return self._decode(self.raw.responses[0]) if self.ok and self.raw.responses else None

    @remembered_property
    def schema(self) -> SchemaBytes | None:
        """The session's Arrow schema bytes, None if the session has none."""
        data = _schema_in(self.session)
        return None if data is None else SchemaBytes(self.index, None, data, "session")

    @remembered_property
    def reads(self) -> tuple[ReadView, ...]:
        """The ReadRows calls on streams of this session, in order."""
        return tuple(read for read in self.view.reads if read.session is self)


def _schema_in(message: Any) -> bytes | None:
    """Return the Arrow schema in a ReadSession or ReadRowsResponse, None if it has none."""
    if message is None or message.WhichOneof("schema") != "arrow_schema":
        return None
    data: bytes = message.arrow_schema.serialized_schema
    return data


class ResponseView:
    """One ReadRowsResponse; ``message`` is None if the bytes are no protobuf message."""

    def __init__(self, read: ReadView, index: int, data: bytes) -> None:
        self.read = read
        self.call = read.index
        self.response = index
        self.message: Any = read._decode(data)  # noqa: SLF001  # a response is a part of its read

    @property
    def row_count(self) -> int:
        """The response's own count of its rows; 0 without a message."""
        return 0 if self.message is None else int(self.message.row_count)

    @remembered_property
    def schema(self) -> SchemaBytes | None:
        """The Arrow schema in this response, None if it has none."""
        data = _schema_in(self.message)
        return None if data is None else SchemaBytes(self.call, self.response, data, "response")

    @property
    def _size_after_lz4(self) -> int:
        """The declared size in bytes after LZ4 decompression; 0 if there is none, or if the session asked for no codec.

        Without a request for a codec, clients take a payload as it stands, whatever size the response declares.
        """
        if self.message is None or not self.message.HasField("uncompressed_byte_size"):
            return 0
        session = self.read.session
        if session is not None and not session.request.read_session.read_options.response_compression_codec:
            return 0
        size: int = self.message.uncompressed_byte_size
        return max(0, size)

    @property
    def inflated(self) -> int:
        """The declared size in bytes after LZ4 decompression; 0 if none is declared, or more than LZ4 can express."""
        size = self._size_after_lz4
        return size if size and size <= LZ4_RATIO * len(self.message.arrow_record_batch.serialized_record_batch) else 0

    @remembered_property
    def payload(self) -> bytes | None:
        """The record batch bytes after whole-response decompression; None if there are none or decompression fails."""
        if self.message is None or self.message.WhichOneof("rows") != "arrow_record_batch":
            return None
        data: bytes = self.message.arrow_record_batch.serialized_record_batch
        size = self._size_after_lz4
        if not size:
            return data
        most = min(size, self.read.view.inflation or MAX_INFLATED, MAX_INFLATED)
        try:
            inflated = pa.Codec("lz4_raw").decompress(data, decompressed_size=most)
        except (OSError, ValueError, MemoryError):
            return None
        return bytes(inflated)

    @property
    def unreadable(self) -> str:
        """What keeps the rows of this response from being read, in words; empty if their bytes are there."""
        if self.message is None:
            return "the bytes of a response are no ReadRowsResponse"
        kind, session = self.message.WhichOneof("rows"), self.read.session
        if kind == "avro_rows":
            return (
                ""
                if session is None or session.request.read_session.data_format == _AVRO
                else "the rows of a response are in Avro"
            )
        return "the bytes of a payload do not decompress" if kind and self.payload is None else ""

    @remembered_property
    def batch(self) -> BatchBytes | None:
        """The record batch of this response, read under the schema of its session, or of the read if the session has
        none.
        """
        if self.payload is None:
            return None
        return BatchBytes(self.call, self.response, self.payload, self.read.schema, self.read.view.decompression)


class ReadView(CallView):
    """A ReadRows call."""

    step: ReadRows

    @remembered_property
    def stream(self) -> str:
        """The name of the requested stream."""
        return str(self.request.read_stream)

    @remembered_property
    def offset(self) -> int:
        """The requested offset."""
        return int(self.request.offset)

    @remembered_property
    def session(self) -> SessionView | None:
        """The latest session with the label that the step names; None for a literal stream name.

        If a client made the call, the latest session whose answer named the stream.
        """
        if not self.view.exchange.driven:
            return _latest(self.view.naming.get(self.stream, ()), self.index)
        if self.step.name:
            return None
        return _latest(self.view.labelled_sessions.get(self.step.session, ()), self.index)

    @remembered_property
    def responses(self) -> tuple[ResponseView, ...]:
        """The responses in order."""
        return tuple(ResponseView(self, index, data) for index, data in enumerate(self.raw.responses))

    @remembered_property
    def schema(self) -> wire.Schema | None:
        """The schema that the batches of this read have to fit: the session's, else the first response's."""
        own = self.responses[0].schema if self.responses else None
        for bytes_ in (self.session.schema if self.session else None, own):
            if bytes_ is not None and bytes_.message.schema is not None:
                return bytes_.message.schema
        return None

    @property
    def whole(self) -> bool:
        """True if the stream was read from row 0 to a status OK."""
        return self.offset == 0 and self.ok

    @remembered_property
    def reached(self) -> bool:
        """True if calls before this one delivered the rows before its offset: of its stream, or of the one that it is
        the first part of. The proto calls a larger offset undefined, and records of the service have none.
        """
        names = {self.stream}
        for split in reversed(self.view.splits):
            if split.answer is not None and split.answer.primary_stream.name in names:
                names.add(split.request.name)
        came = [other for other in self.view.reads if other.stream in names and other.batches]
        before = (other for other in came if other.index < self.index and other.raw.step != self.raw.step)
        ends = (other.offset + sum(batch.num_rows for batch in other.batches or ()) for other in before)
        return self.offset <= max(ends, default=0)

    @remembered_property
    def row_count(self) -> int:
        """The number of rows that the responses declare."""
        return sum(response.row_count for response in self.responses)

    @property
    def rows_came(self) -> int:
        """The number of rows in the responses, or the declared one if a response cannot be decoded as Arrow."""
        return self.row_count if self.batches is None else sum(batch.num_rows for batch in self.batches)

    @remembered_property
    def batches(self) -> tuple[pa.RecordBatch, ...] | None:
        """The rows of every response as the suite decodes them, None if one of them cannot be decoded."""
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

    @remembered_property
    def answer(self) -> Any:
        """The decoded SplitReadStreamResponse, None if the target sent none."""
        return self._decode(self.raw.responses[0]) if self.ok and self.raw.responses else None

    @property
    def lacking(self) -> bool:
        """True if the target seems not to have the method at all: every split of the exchange is UNIMPLEMENTED."""
        return all(split.raw.status == "UNIMPLEMENTED" for split in self.view.splits)


T = TypeVar("T")

_VIEWS: Final = {"CreateReadSession": SessionView, "ReadRows": ReadView, "SplitReadStream": SplitView}


def _latest(calls: Sequence[SessionView], index: int) -> SessionView | None:
    """The latest of ``calls`` before the call ``index``."""
    before = bisect.bisect_left(calls, index, key=lambda call: call.index)
    return calls[before - 1] if before else None


def _never() -> str:
    return ""


class View:
    """An exchange as subjects; ``table`` holds the case's rows, ``readings`` the results of readers on the exchange.

    ``memo`` caches values of the view that several clauses need; ``broke`` holds the distinct tracebacks of
    exceptions that clauses raised on it, for the suite's maintainers. ``work`` is the work done so far, which
    ``budget`` limits. ``given_up`` gives the reason why judging ends here, "" while it goes on.
    """

    budget: Budget = STANDARD

    def __init__(self, case: Case, exchange: Exchange, table: pa.Table, readings: Iterable[Reading] = ()) -> None:
        self.case = case
        self.exchange = exchange
        self.table = table
        self._readings: Callable[[], Iterable[Reading]] = lambda: readings
        self.memo: dict[object, Any] = {}
        self.broke: dict[str, None] = {}
        self.work = 0
        self.given_up: Callable[[], str] = _never

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Return the result of ``compute``, which is computed at the first call with ``key``."""
        if key not in self.memo:
            self.memo[key] = compute()
        value: T = self.memo[key]
        return value

    @remembered_property
    def readings(self) -> tuple[Reading, ...]:
        """The results of readers on the exchange; raises the exceptions of the function given to
        :meth:`compare_readings`.
        """
        return tuple(self._readings())

    def compare_readings(self, compare: Callable[[], Iterable[Reading]]) -> None:
        """Set the function that computes the readings, which may need this view; the clauses on readings call it."""
        self._readings = compare

    @remembered_property
    def served(self) -> tuple[CallView, ...]:
        """The calls of Storage Read in order, whichever party made them."""
        calls = enumerate(self.exchange.calls)
        return tuple([_VIEWS[call.method](self, index, call) for index, call in calls if call.method in _VIEWS])

    @property
    def calls(self) -> tuple[CallView, ...]:
        """The calls to a server that carry out a step, in order; none if a client made the calls.

        The clauses on calls compare answers with the steps of the case, and a client does not follow these.
        """
        return self.served if self.exchange.driven else ()

    @remembered_property
    def served_sessions(self) -> tuple[SessionView, ...]:
        """The CreateReadSession calls, whichever party made them."""
        return tuple(call for call in self.served if isinstance(call, SessionView))

    @remembered_property
    def served_reads(self) -> tuple[ReadView, ...]:
        """The ReadRows calls, whichever party made them."""
        return tuple(call for call in self.served if isinstance(call, ReadView))

    @remembered_property
    def sessions(self) -> tuple[SessionView, ...]:
        """The CreateReadSession calls that carry out a step."""
        return self.served_sessions if self.exchange.driven else ()

    @property
    def calls_read(self) -> Mapping[str, int]:
        """The place of the call that begins what a reader reads, by the label of its readings."""
        return {session.step.label: session.index for session in self.sessions}

    @remembered_property
    def labelled_sessions(self) -> Mapping[str, Sequence[SessionView]]:
        """The CreateReadSession calls by the labels of their steps, in their order."""
        found: dict[str, list[SessionView]] = {}
        for call in self.sessions:
            found.setdefault(call.step.label, []).append(call)
        return found

    @remembered_property
    def naming(self) -> Mapping[str, Sequence[SessionView]]:
        """The CreateReadSession calls, whichever party made them, by the streams that their answers name."""
        found: dict[str, list[SessionView]] = {}
        for call in self.served_sessions:
            for name in () if call.session is None else dict.fromkeys(one.name for one in call.session.streams):
                found.setdefault(name, []).append(call)
        return found

    @remembered_property
    def reads(self) -> tuple[ReadView, ...]:
        """The ReadRows calls that carry out a step."""
        return self.served_reads if self.exchange.driven else ()

    @remembered_property
    def splits(self) -> tuple[SplitView, ...]:
        """The SplitReadStream calls that carry out a step."""
        return tuple(call for call in self.calls if isinstance(call, SplitView))

    @remembered_property
    def schemas(self) -> list[SchemaBytes]:
        """The Arrow schemas in the exchange: of sessions, of responses, of a serializer."""
        if not self.served:
            return self.serialized_schemas
        found = [session.schema for session in self.served_sessions]
        found += [response.schema for read in self.served_reads for response in read.responses]
        return [*self.serialized_schemas, *(schema for schema in found if schema is not None)]

    @remembered_property
    def batches(self) -> list[BatchBytes]:
        """The record batches in the exchange, of responses or of a serializer."""
        if not self.served:
            return self._serialized_batches
        found = [response.batch for read in self.served_reads for response in read.responses]
        return [*self._serialized_batches, *(batch for batch in found if batch is not None)]

    @remembered_property
    def serialized_schemas(self) -> list[SchemaBytes]:
        """The schemas of a serializer; empty for a server."""
        return [
            SchemaBytes(index, 0, call.responses[0], "serializer")
            for index, call in enumerate(self.exchange.calls)
            if call.method == "SerializeSchema" and call.responses
        ]

    @remembered_property
    def _serialized_batches(self) -> list[BatchBytes]:
        schemas = self.serialized_schemas
        schema = schemas[0].message.schema if schemas else None
        return [
            BatchBytes(index, 0, call.responses[0], schema, self.decompression)
            for index, call in enumerate(self.exchange.calls)
            if call.method == "SerializeBatch" and call.responses
        ]

    @property
    def serialized(self) -> list[BatchBytes]:
        """The batches of a serializer, in order; empty for a server."""
        return self._serialized_batches

    def reason_not_judged(self) -> tuple[Outcome, str]:
        """Return why a clause that the case names had no subject: the outcome and text of the first thing that went
        wrong.
        """
        return self._reason_not_judged

    @remembered_property
    def inflation(self) -> int | None:
        """The number of bytes to which the batches may decompress, None if there is no table to derive a limit from."""
        return self.budget.of_bytes(self.exchange, self.table.nbytes) if self.case.table.columns else None

    @remembered_property
    def decompression(self) -> Decompression | None:
        """The part of that limit that is left; the batches share it."""
        if not self.case.table.columns:
            return None
        # Few batches are compressed, and to sum up a table's size takes a tenth of the time that a small one is judged.
        budget, exchange, table = self.budget, self.exchange, self.table
        return Decompression(0, lambda: budget.of_bytes(exchange, table.nbytes))

    @remembered_property
    def excess(self) -> Excess | None:
        """The first excess over the budget, else None; a view with an excess is not judged further."""
        exchange, rows = self.exchange, self.table.num_rows
        # Nobody knows how many responses a table of unknown rows takes: a proxy recorded a client that read it.
        known = bool(self.case.table.columns)
        return (
            (self.budget.of_responses(exchange, rows) if known else None)
            or self.budget.of_schemas(exchange, self._schema_messages())
            or self._excess_of_rows()
        )

    def _excess_of_rows(self) -> Excess | None:
        """Return an excess of rows or of decompressed bytes for the table; nothing is decoded to find it."""
        if not self.case.table.columns:
            return None
        declared = [(one.call, one.inflated) for read in self.served_reads for one in read.responses]
        if declared and (excess := self.budget.of_inflated(declared, self.inflation or 0)) is not None:
            return excess
        try:
            counts = [(batch.call, batch.rows) for batch in self.batches]
        except Exception:  # noqa: BLE001  # the clauses on batches compute the same, and report the error
            return None
        return self.budget.of_rows(self.exchange, counts, self.table.num_rows)

    def _schema_messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield every schema message with its call, unparsed."""
        for index, call in enumerate(self.exchange.calls):
            if call.method == "SerializeSchema":
                yield from ((index, data) for data in call.responses[:1])
        found = ((session.index, _schema_in(session.session)) for session in self.served_sessions)
        later = ((one.call, _schema_in(one.message)) for read in self.served_reads for one in read.responses)
        yield from ((index, data) for index, data in itertools.chain(found, later) if data is not None)

    @remembered_property
    def _reason_not_judged(self) -> tuple[Outcome, str]:
        if (ended := self._ended_early()) is not None:
            return ended
        if self.excess is not None:
            return Outcome.HANG, f"call {self.excess.call}: {self.excess.observed}"
        if unreadable := next(self._unreadable(), ""):
            return Outcome.DEPENDENCY_FAILED, f"{unreadable}; see the findings on them"
        return Outcome.UNTESTABLE, self._too_large() or "nothing in the exchange shows it"

    def _too_large(self) -> str:
        """Return what was sent, can be read, and is more than the suite compares; in words, empty without such data."""
        return ""

    def _unreadable(self) -> Iterator[str]:
        """Yield what was sent and cannot be read, in words: what lies behind it cannot be judged."""
        for session in self.served_sessions:
            if session.ok and session.raw.responses and session.session is None:
                yield f"call {session.index}: the bytes of a response are no ReadSession"
        for schema in self.schemas:
            if schema.message.schema is None:
                yield f"call {schema.call}: the bytes of a schema cannot be read"
        for read in self.served_reads:
            for response in read.responses:
                if words := response.unreadable:
                    yield f"call {response.call}, response {response.response}: {words}"
        for batch in self.batches:
            if batch.arrow() is None:
                yield f"call {batch.call}, response {batch.response}: the bytes of a record batch cannot be decoded"

    def _ended_early(self) -> tuple[Outcome, str] | None:
        """Return the outcome and text of the first call that did not end as its step requires, or was not made."""
        for index, call in enumerate(self.exchange.calls):
            where = f"call {index}, {call.method}"
            if call.end is CallEnd.CRASH:
                return Outcome.CRASH, f"{where}: the target died: {call.details}"
            if call.end in (CallEnd.DEADLINE, CallEnd.OVER_BUDGET):
                return Outcome.HANG, f"{where}: no end within its limits ({call.end}): {call.details}"
            if not self.exchange.driven:
                continue
            step = self.case.steps[call.step] if call.step < len(self.case.steps) else None
            codes = step.expect.codes if isinstance(step, CallStep) else ("OK",)
            if call.end is CallEnd.COMPLETE and call.status == "OK" and "OK" not in codes:
                return Outcome.DEPENDENCY_FAILED, f"{where}: ended in OK and had to be refused; see its findings"
            if call.end is CallEnd.COMPLETE and call.status not in codes and not self._is_open(index):
                return Outcome.REFUSED, f"{where}: ended in {call.status}: {call.details}"
        return (Outcome.UNTESTABLE, self.exchange.stopped) if self.exchange.stopped else None

    def _is_open(self, index: int) -> bool:
        """True if a call may end in a status that its step does not name.

        So may a read from an offset that no read of its stream has reached: which streams have rows, and how many, is
        the server's choice. So may a bad split on a server that has no splits.
        """
        call = next((call for call in self.calls if call.index == index), None)
        if isinstance(call, SplitView):
            return call.lacking and "OK" not in call.expected_codes
        return isinstance(call, ReadView) and call.raw.status in _BEYOND and not call.reached
