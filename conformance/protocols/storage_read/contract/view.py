"""An exchange of the Storage Read API as the clauses see it: sessions, reads with their responses, and splits.

It is longer than other modules because the parts of a view refer to one another, and are read as one page.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from conformance import wire
from conformance.contain.text import many
from conformance.contract.budget import Excess
from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.contract.raised import remembered_property
from conformance.contract.view import CallView, View
from conformance.formats.avro import ReadingLimit, slots_of
from conformance.formats.messages import ARROW, AVRO, DataFormat, format_of_rows
from conformance.protocols.storage_read.contract.avrobytes import AvroRowsBytes, AvroSchemaBytes
from conformance.records import Column, CreateSession, ReadRows, SplitStream
from conformance.records.changes import columns_before_each

if TYPE_CHECKING:
    from google.protobuf.message import Message as Proto

    from conformance.formats.avro import AvroSchema

__all__ = ["ReadView", "ResponseView", "SessionView", "SplitView", "StorageCall", "StorageView"]

MAX_INFLATED: Final = 1 << 30
"""Limit in bytes for a payload that declares its size after LZ4: the proto limits a response to 128 MB."""
LZ4_RATIO: Final = 255
"""The most bytes to which one byte of LZ4 can decompress: a larger declared size is false."""
LARGE: Final = 1 << 20
"""A response of more bytes is not kept twice, as it came and as a message."""
UNKNOWN_SLOTS: Final = 1 << 24
SLOTS_PER_BYTE: Final = 2
"""Values that the rows in Avro of an unknown table may have, for each byte and beyond that."""

_BEYOND: Final = frozenset({"OUT_OF_RANGE", "FAILED_PRECONDITION", "INVALID_ARGUMENT"})
"""Statuses of reads from beyond the end of their stream."""


class StorageCall(CallView):
    """A call with its request decoded."""

    view: StorageView

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

    def _decode(self, data: bytes) -> Proto | None:
        from google.protobuf.message import DecodeError  # noqa: PLC0415  # as above

        from conformance.contract import proto  # noqa: PLC0415  # as above

        try:
            message: Proto = proto.RESPONSES[self.raw.method].FromString(data)
        except DecodeError:
            return None
        return message


class SessionView(StorageCall):
    """A CreateReadSession call."""

    step: CreateSession

    @remembered_property
    def session(self) -> Any:
        """The decoded ReadSession, None if the target sent none or the bytes are no protobuf message."""
        return self._decode(self.raw.responses[0]) if self.ok and self.raw.responses else None

    @remembered_property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the case's table has when the session is made."""
        before = self.view.columns_before_each
        return before[min(self.raw.step, len(before) - 1)]

    @remembered_property
    def schema(self) -> SchemaBytes | None:
        """The session's Arrow schema bytes, None if the session has none."""
        data = ARROW.schema_in(self.session)
        return None if data is None else SchemaBytes(self.index, None, data, "session")

    def asks_for(self, form: DataFormat) -> bool:
        """True if the request asks for rows in this form."""
        return bool(self.request.read_session.data_format == form.number)

    @remembered_property
    def avro_schema(self) -> AvroSchemaBytes | None:
        """The session's Avro schema, None if the session has none."""
        data = AVRO.schema_in(self.session)
        return None if data is None else AvroSchemaBytes(self.index, None, data)

    @remembered_property
    def reads(self) -> tuple[ReadView, ...]:
        """The ReadRows calls on streams of this session, in order."""
        return tuple(read for read in self.view.reads if read.session is self)


class ResponseView:
    """One ReadRowsResponse; ``message`` is None if the bytes are no protobuf message, and lacks large rows, which are
    those of :attr:`sent`.
    """

    def __init__(self, read: ReadView, index: int, data: bytes) -> None:
        self.read = read
        self.call = read.index
        self.response = index
        self.message: Any = read._decode(data)  # noqa: SLF001  # a response is a part of its read
        self._large: memoryview | None = None
        if len(data) > LARGE and self.format is not None:
            rows = self.sent
            start = data.find(rows)
            self._large = memoryview(data)[start : start + len(rows)]
            self.message = self.format.without_rows(self.message)

    @property
    def row_count(self) -> int:
        """The response's own count of its rows; 0 without a message."""
        return 0 if self.message is None else int(self.message.row_count)

    @remembered_property
    def schema(self) -> SchemaBytes | None:
        """The Arrow schema in this response, None if it has none."""
        data = ARROW.schema_in(self.message)
        return None if data is None else SchemaBytes(self.call, self.response, data, "response")

    @remembered_property
    def avro_schema(self) -> AvroSchemaBytes | None:
        """The Avro schema in this response, None if it has none."""
        data = AVRO.schema_in(self.message)
        return None if data is None else AvroSchemaBytes(self.call, self.response, data)

    @remembered_property
    def format(self) -> DataFormat | None:
        """The form of the rows; None if there are none."""
        return format_of_rows(self.message)

    @property
    def sent(self) -> bytes | memoryview:
        """The rows as they were sent, compressed or not; empty if there are none."""
        if self._large is not None:
            return self._large
        return (b"" if self.format is None else self.format.rows_in(self.message)) or b""

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
        return size if size and size <= LZ4_RATIO * len(self.sent) else 0

    @remembered_property
    def payload(self) -> bytes | memoryview | None:
        """The rows after whole-response decompression; None if there are none or decompression fails."""
        if self.format is None:
            return None
        data, size = self.sent, self._size_after_lz4
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
        if self.format is AVRO and not self.read.may_be(AVRO):
            return "the rows of a response are in Avro"
        if self.format is AVRO and self.read.avro_schema is None:
            return "the rows of a response in Avro have no schema that can be read"
        return "the bytes of a payload do not decompress" if self.format and self.payload is None else ""

    @remembered_property
    def batch(self) -> BatchBytes | None:
        """The record batch of this response, read under the schema of its session, or of the read if the session has
        none.
        """
        if self.format is not ARROW or self.payload is None:
            return None
        return BatchBytes(self.call, self.response, self.payload, self.read.schema, self.read.view.decompression)

    @remembered_property
    def avro_rows(self) -> AvroRowsBytes | None:
        """The rows in Avro of this response, read under the schema of its session or read; None if there are none, no
        readable schema, or a session that asked for another form.
        """
        schema = self.read.avro_schema if self.format is AVRO and self.read.may_be(AVRO) else None
        if schema is None or self.payload is None:
            return None
        return AvroRowsBytes(self.call, self.response, self.payload, schema, self.read.view.avro_limit)

    def decoded(self) -> pa.RecordBatch | None:
        """The rows of this response as the suite decodes them, of whichever form; None if it cannot."""
        rows = self.batch if self.format is ARROW else self.avro_rows
        return None if rows is None else rows.arrow()


class ReadView(StorageCall):
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

    @property
    def last_step(self) -> int:
        """The index of the last step of the case before the read ended: its own, unless it was held open."""
        return self.raw.step + (self.step.during if self.view.exchange.driven else 0)

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

    def may_be(self, form: DataFormat) -> bool:
        """True if the rows may be in this form: its session asked for it, or is not known."""
        return self.session is None or self.session.asks_for(form)

    @remembered_property
    def avro_schema(self) -> AvroSchema | None:
        """The Avro schema that the rows of this read have to fit: the session's, else the first response's."""
        own = self.responses[0].avro_schema if self.responses else None
        for bytes_ in (self.session.avro_schema if self.session else None, own):
            if bytes_ is not None and bytes_.schema is not None:
                return bytes_.schema
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
        """The number of rows in the responses, or the declared one if a response cannot be decoded."""
        return self.row_count if self.batches is None else sum(batch.num_rows for batch in self.batches)

    @remembered_property
    def batches(self) -> tuple[pa.RecordBatch, ...] | None:
        """The rows of every response as the suite decodes them, None if one of them cannot be decoded."""
        decoded = []
        for response in self.responses:
            if response.message is not None and response.message.WhichOneof("rows") is None:
                continue
            batch = response.decoded()
            if batch is None:
                return None
            decoded.append(batch)
        return tuple(decoded)


class SplitView(StorageCall):
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


_VIEWS: Final = {"CreateReadSession": SessionView, "ReadRows": ReadView, "SplitReadStream": SplitView}


def _latest(calls: Sequence[SessionView], index: int) -> SessionView | None:
    """The latest of ``calls`` before the call ``index``."""
    before = bisect.bisect_left(calls, index, key=lambda call: call.index)
    return calls[before - 1] if before else None


class StorageView(View):
    """What the clauses on sessions see."""

    @remembered_property
    def served(self) -> tuple[StorageCall, ...]:
        """The calls of Storage Read in order, whichever party made them."""
        calls = enumerate(self.exchange.calls)
        return tuple([_VIEWS[call.method](self, index, call) for index, call in calls if call.method in _VIEWS])

    @property
    def calls(self) -> tuple[StorageCall, ...]:
        """The calls about sessions that carry out a step, in order; none if a client made the calls.

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

    def stream_counts(self) -> Mapping[int, int]:
        """The number of streams of each session, by its step."""
        return {one.raw.step: len(one.session.streams) for one in self.sessions if one.session is not None}

    @remembered_property
    def splits(self) -> tuple[SplitView, ...]:
        """The SplitReadStream calls that carry out a step."""
        return tuple(call for call in self.calls if isinstance(call, SplitView))

    @remembered_property
    def schemas(self) -> list[SchemaBytes]:
        """The Arrow schemas in the exchange: of sessions, of responses, of a serializer."""
        found = [session.schema for session in self.served_sessions]
        found += [response.schema for read in self.served_reads for response in read.responses]
        return [*super().schemas, *(schema for schema in found if schema is not None)]

    @remembered_property
    def batches(self) -> list[BatchBytes]:
        """The record batches in the exchange, of responses or of a serializer."""
        found = [response.batch for read in self.served_reads for response in read.responses]
        return [*super().batches, *(batch for batch in found if batch is not None)]

    @remembered_property
    def avro_schemas(self) -> list[AvroSchemaBytes]:
        """The Avro schemas of sessions that asked for this format, and of the responses of their reads."""
        found = [session.avro_schema for session in self.served_sessions if session.asks_for(AVRO)]
        reads = (read for read in self.served_reads if read.may_be(AVRO))
        found += [response.avro_schema for read in reads for response in read.responses]
        return [schema for schema in found if schema is not None]

    @remembered_property
    def avro_rows(self) -> list[AvroRowsBytes]:
        """The rows in Avro of every response that has some under a readable schema."""
        found = [response.avro_rows for read in self.served_reads for response in read.responses]
        return [rows for rows in found if rows is not None]

    @remembered_property
    def columns_before_each(self) -> Sequence[tuple[Column, ...]]:
        """The columns that the table has before each step, and at the end those after all."""
        skipped = frozenset(self.exchange.skipped_steps)
        return columns_before_each(self.case.table.columns, self.case.steps, skipped=skipped)

    @remembered_property
    def avro_limit(self) -> ReadingLimit:
        """The number of values that are left to the rows in Avro; the responses share it."""
        return ReadingLimit(self._avro_slots, self.go_on)

    @remembered_property
    def _avro_slots(self) -> int:
        """The number of values that the rows in Avro may have. Of a table that is not known, the bytes say how many."""
        if self.case.table.columns:
            return self.budget.of_slots(self.exchange, slots_of(self.table))
        return UNKNOWN_SLOTS + SLOTS_PER_BYTE * self.exchange.received

    def _excess_of_rows(self) -> Excess | None:
        if (excess := super()._excess_of_rows()) is not None or not self.case.table.columns:
            return excess
        try:
            rows = self.avro_rows
        except Exception:  # noqa: BLE001  # the clauses on rows compute the same, and report the error
            return None
        if (cut := next((one for one in rows if one.cut), None)) is not None:
            return Excess(cut.call, self._too_many(cut))
        return self.budget.of_rows(self.exchange, [(one.call, one.rows) for one in rows], self.table.num_rows)

    def _too_many(self, cut: AvroRowsBytes) -> str:
        return (
            f"rows in Avro of {many(len(cut.data), 'byte')} or more, which have more values than the {self._avro_slots}"
            " that are judged"
        )

    def _too_large(self) -> str:
        cut = next((one for one in self.avro_rows if one.cut), None)
        return (
            super()._too_large() if cut is None else f"call {cut.call}, response {cut.response}: {self._too_many(cut)}"
        )

    def _excess_of_received(self) -> Excess | None:
        if not self.case.table.columns or self.exchange.received <= self.budget.received:
            return None
        return self.budget.of_received(self.exchange, self.table.nbytes)

    def _excess_of_sizes(self) -> Excess | None:
        declared = [(one.call, one.inflated) for read in self.served_reads for one in read.responses]
        return self.budget.of_inflated(declared, self.inflation or 0) if declared else None

    def _schema_messages(self) -> Iterator[tuple[int, bytes]]:
        yield from super()._schema_messages()
        found = ((session.index, ARROW.schema_in(session.session)) for session in self.served_sessions)
        later = ((one.call, ARROW.schema_in(one.message)) for read in self.served_reads for one in read.responses)
        yield from ((index, data) for index, data in itertools.chain(found, later) if data is not None)

    def _unreadable(self) -> Iterator[str]:
        for session in self.served_sessions:
            if session.ok and session.raw.responses and session.session is None:
                yield f"call {session.index}: the bytes of a response are no ReadSession"
        yield from self._unreadable_schemas()
        for schema in self.avro_schemas:
            if schema.schema is None:
                yield f"call {schema.call}: the bytes of an Avro schema cannot be read"
        for read in self.served_reads:
            for response in read.responses:
                if words := response.unreadable:
                    yield f"call {response.call}, response {response.response}: {words}"
        yield from self._unreadable_batches()
        for rows in self.avro_rows:
            if not rows.cut and rows.arrow() is None:
                yield f"call {rows.call}, response {rows.response}: the bytes of rows in Avro cannot be decoded"

    def _is_open(self, index: int) -> bool:
        """True if a call may end in a status that its step does not name.

        So may a read from an offset that no read of its stream has reached: which streams have rows, and how many, is
        the server's choice. So may a bad split on a server that has no splits.
        """
        call = next((call for call in self.calls if call.index == index), None)
        if isinstance(call, SplitView):
            return call.lacking and "OK" not in call.expected_codes
        return isinstance(call, ReadView) and call.raw.status in _BEYOND and not call.reached
