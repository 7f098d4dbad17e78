"""An exchange of the Storage Write API as the clauses see it: calls with their messages, appends, reads of the table.

Calls are followed in their order, and each answer changes what is known of a stream (:mod:`.state`). Messages are
decoded by google.protobuf for their meaning; a clause of its own reads the bytes of every answer by the strict walk.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.contract.raised import remembered_property
from conformance.contract.view import CallView, View
from conformance.protocols.storage_write.contract.naming import decoded
from conformance.protocols.storage_write.contract.state import StreamState
from conformance.protocols.storage_write.contract.subjects import TOO_LARGE, AppendView, ReadBack, Why
from conformance.protocols.storage_write.records import (
    DEFAULT,
    SHORT_DEFAULT,
    CommitStreams,
    CreateWriteStream,
    FinalizeStream,
    FlushStream,
    Framing,
    ReadWritten,
    RowsAppend,
    StreamType,
    WriteRows,
)
from conformance.records import ROW_ID, CallEnd

__all__ = ["WriteCall", "WriteView"]


class WriteCall(CallView):
    """A call with its messages decoded. ``before`` are the streams that its step names, as the answers before say them,
    by their labels.
    """

    view: WriteView

    def __init__(self, view: WriteView, index: int, call: Any) -> None:
        super().__init__(view, index, call)
        self.before: dict[str, StreamState] = {}

    @remembered_property
    def requests(self) -> tuple[Any, ...]:
        """The decoded requests."""
        from conformance.contract import proto  # noqa: PLC0415  # who makes a table of clauses needs no protobuf
        from conformance.protocols.storage_write.contract.classes import REQUESTS  # noqa: PLC0415  # as above

        kind = {**proto.REQUESTS, **REQUESTS}[self.raw.method]
        return tuple(kind.FromString(data) for data in self.raw.requests)

    @remembered_property
    def answers(self) -> tuple[Any, ...]:
        """The decoded answers; None for bytes that are no such message."""
        from conformance.contract import proto  # noqa: PLC0415  # as above
        from conformance.protocols.storage_write.contract.classes import RESPONSES  # noqa: PLC0415  # as above

        kind = {**proto.RESPONSES, **RESPONSES}[self.raw.method]
        return tuple(decoded(kind, data) for data in self.raw.responses)

    @property
    def refused(self) -> bool:
        """True if the server offers the method and refused the call."""
        return self.raw.end is CallEnd.COMPLETE and self.raw.status not in ("OK", "UNIMPLEMENTED")

    @property
    def offered(self) -> bool:
        """True if the server ended the call in a status, and offers the method."""
        return self.ok or self.refused

    @property
    def answer(self) -> Any:
        """The one answer of a unary call that ended in OK; None without one."""
        return self.answers[0] if self.ok and self.answers else None


class WriteView(View):
    """An exchange of the Storage Write API."""

    @remembered_property
    def served(self) -> tuple[WriteCall, ...]:
        """The calls in order."""
        return tuple(WriteCall(self, index, call) for index, call in enumerate(self.exchange.calls))

    @property
    def appends(self) -> Sequence[AppendView]:
        """Every request of AppendRows."""
        return self._followed[0]

    @property
    def reads(self) -> Sequence[ReadBack]:
        """The reads of the table that ended in OK and whose rows can be read."""
        return self._followed[1]

    @property
    def undecoded(self) -> Sequence[ReadBack]:
        """The reads of the table that ended in OK and whose rows cannot be read: they show none."""
        return self._followed[2]

    def calls_of(self, method: str) -> list[WriteCall]:
        """The calls of a method; those before each have been followed."""
        assert self._followed is not None
        return [call for call in self.served if call.raw.method == method]

    @remembered_property
    def _followed(self) -> tuple[list[AppendView], list[ReadBack], list[ReadBack]]:
        if not self.exchange.driven:
            return [], [], []
        followed = _Followed(self)
        by_step: dict[int, list[WriteCall]] = {}
        for call in self.served:
            by_step.setdefault(call.raw.step, []).append(call)
        for step, calls in sorted(by_step.items()):
            followed.resume(step)
            followed.follow(calls)
        followed.resume(len(self.case.steps))
        return followed.appends, followed.reads, followed.undecoded

    @remembered_property
    def schemas(self) -> list[SchemaBytes]:
        """The Arrow schemas of sessions."""
        sessions = [call for call in self.served if call.raw.method == "CreateReadSession" and call.answer is not None]
        return [
            SchemaBytes(call.index, None, call.answer.arrow_schema.serialized_schema, "session") for call in sessions
        ]

    @remembered_property
    def batches(self) -> list[BatchBytes]:
        """The record batches that were read, each under the schema of the session before it."""
        found: list[BatchBytes] = []
        schemas = {schema.call: schema for schema in self.schemas}
        last = None
        for call in self.served:
            last = schemas.get(call.index, last)
            for at, answer in enumerate(call.answers if call.raw.method == "ReadRows" else ()):
                if answer is not None and answer.WhichOneof("rows") == "arrow_record_batch":
                    data = answer.arrow_record_batch.serialized_record_batch
                    schema = None if last is None else last.message.schema
                    found.append(BatchBytes(call.index, at, data, schema, self.decompression))
        return found

    def _is_open(self, index: int) -> bool:
        """An append that may be refused may be refused by the end of its call, and a refusal may have any status.

        So may a call that an answer before has made unlawful, as a flush of rows that were refused. A read that fails
        shows nothing of the writes before it.
        """
        call = self.served[index]
        if "OK" not in call.expected_codes or isinstance(call.step, ReadWritten):
            return True
        if any(one.call == index and one.why for one in self.appends):
            return True
        return not all(_is_lawful(call.step, stream) for stream in call.before.values())

    def _left_out(self) -> str:
        """The first read of the table that failed, else as for every view."""
        for call in self.served:
            if isinstance(call.step, ReadWritten) and call.raw.end is CallEnd.COMPLETE and not call.ok:
                return f"the table could not be read: {call.raw.method} ended in {call.raw.status}"
        return super()._left_out()


def _is_lawful(step: object, stream: StreamState) -> bool:
    """True if a step may be done with a stream, by the answers before it."""
    match step:
        case CommitStreams():
            return stream.may_be_committed
        case FlushStream():
            return stream.known and stream.may_be_flushed and step.offset < len(stream.rows)
        case _:
            return True


@dataclasses.dataclass(slots=True)
class _Held:
    """A connection and what its answers have shown so far: an error, and a lawful append that was not acknowledged."""

    call: WriteCall
    step: WriteRows
    stream: StreamState | None
    wrong: bool = False
    failed: bool = False

    @property
    def until(self) -> int:
        """The number of the step behind its pause."""
        return self.call.raw.step + 1 + self.step.during

    @property
    def is_open(self) -> bool:
        """True if the connection was open during its pause."""
        return self.call.ok or len(self.call.raw.responses) > self.step.before_pause


class _Followed:
    """The calls of an exchange in their order, and what is known of the streams after them."""

    def __init__(self, view: WriteView) -> None:
        self.appends: list[AppendView] = []
        self.reads: list[ReadBack] = []
        self.undecoded: list[ReadBack] = []
        self._view = view
        self._streams: dict[str, StreamState] = {}
        self._omitted: dict[int, frozenset[str]] = {}
        self._open: list[_Held] = []

    def resume(self, step: int) -> None:
        """Follow the rest of the connections whose pause is over where a step begins, the last one first."""
        while self._open and self._open[-1].until <= step:
            held = self._open.pop()
            if held.stream is not None:
                held.stream.connections -= held.is_open
            self._append(held, range(held.step.before_pause, len(held.step.appends)))

    def follow(self, calls: Sequence[WriteCall]) -> None:
        """Follow the calls of one step."""
        step = calls[0].step
        # A step with the literal name of a stream is about none that was created.
        labels = () if getattr(step, "name", "") else getattr(step, "streams", (getattr(step, "stream", ""),))
        found = {label: self._stream(label) for label in labels}
        known = {label: stream for label, stream in found.items() if stream is not None}
        for call in calls:
            call.before = {label: stream.copy() for label, stream in known.items()}
        call = calls[0]
        match step:
            case CreateWriteStream() if call.answer is not None:
                self._streams[step.label] = StreamState(call.answer.name, step.type)
            case WriteRows():
                held = _Held(call, step, None if step.name else self._stream(step.stream))
                self._append(held, range(step.before_pause))
                if step.during:
                    self._open.append(held)
                    if held.stream is not None:
                        held.stream.connections += held.is_open
            case FinalizeStream() if call.ok and step.stream in known:
                known[step.stream].finalized = True
            case CommitStreams():
                self._commit(call, list(known.values()))
            case FlushStream() if step.stream in known:
                self._flush(call, known[step.stream], step)
            case ReadWritten():
                self._read(calls)

    def _stream(self, label: str) -> StreamState | None:
        """The stream of a label; both names of the default stream mean the same."""
        if label in (DEFAULT, SHORT_DEFAULT):
            return self._streams.setdefault(DEFAULT, StreamState("", StreamType.COMMITTED, is_default=True))
        return self._streams.get(label)

    def _append(self, held: _Held, places: range) -> None:
        """Follow the requests of a connection in these places."""
        call, step, stream = held.call, held.step, held.stream
        for at, append, request in list(zip(itertools.count(), step.appends, call.requests, strict=False))[
            places.start : places.stop
        ]:
            came, size = at < len(call.raw.responses), len(call.raw.requests[at])
            if stream is not None and stream.connections:
                stream.is_shared = True
            one = AppendView(
                call.index,
                at if came else None,
                step,
                at,
                append,
                request,
                call.answers[at] if came else None,
                None if stream is None else stream.copy(),
                _why(step, append, stream, size=size, failed=held.failed),
                held.wrong,
                call.raw.status if call.raw.end is CallEnd.COMPLETE else "",
                size,
            )
            self.appends.append(one)
            held.wrong = held.wrong or one.in_band
            held.failed = held.failed or not (one.why or one.acknowledged)
            for row in () if one.why else one.rows:
                self._omitted[row] = frozenset(step.omit)
            if stream is not None:
                _take(stream, one)

    def _commit(self, call: WriteCall, streams: Sequence[StreamState]) -> None:
        for stream in streams:
            if call.raw.end is not CallEnd.COMPLETE or (call.ok and call.answer is None):
                stream.known = False
            elif call.answer is None or call.answer.stream_errors:
                stream.failed = True
            else:
                stream.known = stream.known and stream.type is StreamType.PENDING and stream.finalized
                stream.known = stream.known and not stream.committed
                stream.committed = True

    def _flush(self, call: WriteCall, stream: StreamState, step: FlushStream) -> None:
        if call.ok:
            stream.known = stream.known and step.offset < len(stream.rows) and stream.type is StreamType.BUFFERED
            stream.flushed = max(stream.flushed, step.offset + 1)

    def _read(self, calls: Sequence[WriteCall]) -> None:
        session = calls[0].answer
        if session is None or len(calls) != 1 + len(session.streams) or not all(call.ok for call in calls):
            return
        places = {call.index for call in calls}
        batches = [batch.arrow() for batch in self._view.batches if batch.call in places]
        table = _table(batches)
        rows = pa.table({}) if table is None else table
        counts = Counter(rows.column(ROW_ID).to_pylist() if rows.num_rows else ())
        written = {row for one in self.appends if one.acknowledged for row in one.rows}
        sent = {row for one in self.appends if one.refused for row in one.rows}
        unclear = {row for one in self.appends if not one.refused and not one.acknowledged for row in one.rows}
        odd = [one for one in self.appends if not one.is_bare and (one.acknowledged or one.refused)]
        streams = [stream.copy() for stream in self._streams.values()]
        refused = frozenset(sent - written - unclear)
        moved = frozenset(row for one in self.appends if one.step.omit or one.step.backwards for row in one.rows)
        omitted, is_decoded = dict(self._omitted), table is not None
        read = ReadBack(calls[0].index, rows, counts, streams, refused, odd, omitted, moved, is_decoded)
        (self.reads if is_decoded else self.undecoded).append(read)


def _why(step: WriteRows, append: RowsAppend, stream: StreamState | None, *, size: int, failed: bool) -> frozenset[Why]:
    """Why an append of ``size`` bytes may be refused, or has to be. ``failed`` is True after a lawful one on its
    connection that was.
    """
    found = {
        Why.FRAMING: append.framing is not Framing.BARE,
        Why.EXTRA: step.extra,
        Why.BAD_ROW: bool(append.bad),
        Why.NO_STREAM: stream is None,
        Why.TOO_LARGE: size > TOO_LARGE,
    }
    if stream is not None:
        end, offset = stream.end, append.offset
        found[Why.FINALIZED] = stream.finalized
        found[Why.ON_DEFAULT] = stream.is_default and offset is not None
        if end is not None and offset is not None:
            found[Why.BEHIND], found[Why.PAST] = offset < end, offset > end
        rows = tuple(range(append.first, append.first + append.count))
        found[Why.RETRIED] = bool(stream.unsure) and (rows, offset) == (stream.unsure, len(stream.rows))
        unknown = end is None and offset is not None and not stream.is_default
        found[Why.UNKNOWN_END] = unknown and not found[Why.RETRIED]
    reasons = frozenset(why for why, holds in found.items() if holds)
    # Of a stream that refuses what it should take, no particular answer to a wrong offset is to be expected.
    misplaced = stream is not None and stream.failing and not reasons.isdisjoint({Why.BEHIND, Why.PAST})
    return reasons | {Why.AFTER_FAILURE} if failed or misplaced else reasons


def _take(stream: StreamState, one: AppendView) -> None:
    """Change what is known of a stream by the answer to an append."""
    stream.failing = stream.failing or not (one.why or one.acknowledged or one.is_left)
    if one.why == {Why.RETRIED} and (one.acknowledged or one.is_known_already):
        stream.rows += one.rows
        stream.known, stream.unsure, stream.is_retried = True, (), True
    elif one.acknowledged:
        stream.rows += one.rows
        stream.known = stream.known and one.why <= {Why.TOO_LARGE}  # a server may have no such limit
        stream.unsure = ()
    elif not one.refused:
        again = one.is_left and stream.end is not None and one.append.offset == stream.end and not one.why
        stream.known, stream.unsure = False, tuple(one.rows) if again else ()


def _table(batches: Sequence[pa.RecordBatch | None]) -> pa.Table | None:
    """The rows of all batches; None if one cannot be decoded, or if they do not have the column that counts them.

    The schema is the server's: that column may be missing, be there twice, or be of a type without numbers.
    """
    decoded = [batch for batch in batches if batch is not None]
    if len(decoded) < len(batches) or not all(_is_counted(batch.schema) for batch in decoded):
        return None
    if not decoded:
        return pa.table({})
    if any(batch.schema != decoded[0].schema for batch in decoded):
        return None
    return pa.Table.from_batches(decoded)


def _is_counted(schema: pa.Schema) -> bool:
    found = schema.get_all_field_indices(ROW_ID)
    return len(found) == 1 and pa.types.is_integer(schema.field(found[0]).type)
