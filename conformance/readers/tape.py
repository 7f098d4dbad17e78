"""Recorded sessions, and what each request of a client is answered with: nothing that was not recorded.

A :class:`Tape` is one recorded session. :class:`Tapes` holds those of many exchanges, and finds the answer to a
request in the form in which it was recorded: bytes, statuses and trailers. It does no I/O.

A read is answered from row 0, from each place between two recorded responses, and from the end. Such a place is the
number of rows before it: the rows that the batches hold, since a wrong ``row_count`` is not a place in the stream. Any
other offset is not recorded.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from google.protobuf.message import DecodeError

from conformance import wire
from conformance.contract import proto
from conformance.formats.messages import ARROW
from conformance.readers.fullread import FullRead
from conformance.readers.queryread import SUCCESS, RecordedQuery, job_in, recorded_queries, refused_queries
from conformance.readers.restanswers import RestTable
from conformance.records import Call, CallEnd, Case, Column, Exchange, MetadataEntry
from conformance.records.changes import columns_before_each

__all__ = ["Answer", "NotRecordedError", "RecordedEnding", "Tape", "TapeStream", "Tapes", "tapes_of"]


class NotRecordedError(Exception):
    """No recorded call answers the request; the text says what was asked for."""


@dataclasses.dataclass(frozen=True, slots=True)
class RecordedEnding:
    """How a recorded call ended: its status with its message and its trailers.

    Of a call whose client may stream, also how it went on: its ``initial`` metadata, the ``order`` of messages as in
    :class:`~conformance.records.Call`, and the ``requests``. Without an order, every response follows the request.
    """

    status: str = "OK"
    details: str = ""
    trailers: tuple[MetadataEntry, ...] = ()
    initial: tuple[MetadataEntry, ...] = ()
    order: str = ""
    requests: tuple[bytes, ...] = ()


OK: Final = RecordedEnding()
Answer: TypeAlias = tuple[tuple[bytes, ...], RecordedEnding]
"""The responses to a request, and how the call ends."""


@dataclasses.dataclass(frozen=True)
class TapeStream:
    """One stream: the responses of its read from row 0, how that read ended, and reads from other offsets.

    ``whole`` is False if no read from row 0 was recorded.
    """

    name: str
    responses: tuple[bytes, ...]
    ending: RecordedEnding = OK
    whole: bool = True
    others: tuple[tuple[int, Answer], ...] = ()

    @functools.cached_property
    def places(self) -> tuple[int, ...]:
        """The offset of each response, and of the end."""
        return tuple(itertools.accumulate(map(_rows_in, self.responses), initial=0))

    def read(self, offset: int) -> Answer:
        """The responses from ``offset`` on, and the end; raises :class:`NotRecordedError`."""
        if offset == 0 and self.whole:
            return self.responses, self.ending
        for other, answer in self.others:
            if other == offset:
                return answer
        index = bisect.bisect_left(self.places, offset)
        if not self.whole or index == len(self.places) or self.places[index] != offset:
            raise NotRecordedError(f"stream {self.name!r} from offset {offset}")
        return self.responses[index:], self.ending


@dataclasses.dataclass(frozen=True)
class Tape:
    """One recorded session: the request, the answer, its streams, and the splits that were recorded.

    ``alone`` is True if the session answers every request for its table and format. A client that judges one full read
    chooses columns, restriction and streams itself, and its rows are compared with those of that read.

    ``rows`` are those of the table, if they are known: the recorded streams may have others.

    A recorded ``query`` is a tape too, without a session: its streams are that of its job.
    """

    table: str
    request: bytes
    session: bytes
    ending: RecordedEnding
    streams: tuple[TapeStream, ...]
    columns: tuple[Column, ...] = ()
    splits: tuple[tuple[bytes, bytes], ...] = ()
    alone: bool = False
    rows: int | None = None
    query: RecordedQuery | None = None

    @classmethod
    def of_read(cls, read: FullRead, *, alone: bool = False) -> Tape:
        """The tape of a full read."""
        if read.offset is not None:
            query = RecordedQuery(read.request, read.session, alone=alone)
            behind = [(one.name, ((read.offset, (one.responses, OK)),)) for one in read.streams]
            parts = tuple(TapeStream(name, (), whole=False, others=others) for name, others in behind)
            return cls("", b"", b"", OK, parts, query=query)
        streams = tuple(TapeStream(stream.name, stream.responses) for stream in read.streams)
        return cls(_asked(read.request).table, read.request, read.session, OK, streams, read.columns, alone=alone)

    @functools.cached_property
    def asked(self) -> Any:
        """The recorded request's session."""
        return _asked(self.request)

    @functools.cached_property
    def named(self) -> tuple[str, ...]:
        """The names of the streams in the answer."""
        return _streams(self.session)

    @property
    def complete(self) -> bool:
        """True if every stream of the answer was read from row 0."""
        return set(self.named) <= {stream.name for stream in self.streams if stream.whole}

    @functools.cached_property
    def described(self) -> RestTable | None:
        """The table as ``tables.get`` shows it; None if its name or its columns are not recorded."""
        if not self.columns:
            return None
        recorded = sum(stream.places[-1] for stream in self.streams if stream.name in self.named)
        rows = recorded if self.rows is None else self.rows
        size = sum(len(data) for stream in self.streams for data in stream.responses)
        return RestTable.named(self.table, self.columns, rows=rows, size=size)


class Tapes:
    """The tapes that are served. A request finds its tape by table and options, or by the name of a stream."""

    def __init__(self, tapes: Iterable[Tape] = ()) -> None:
        self._tapes = tuple(tapes)

    def __iter__(self) -> Iterator[Tape]:
        return iter(self._tapes)

    def answer(self, method: str, request: bytes) -> Answer:
        """The recorded answer to a request of the method with this bare name.

        Raises:
            NotRecordedError: nothing that was recorded answers the request.
        """
        try:
            return self._answer(method, request)
        except DecodeError:
            raise NotRecordedError(f"a {method} request that is no such message") from None

    def _answer(self, method: str, request: bytes) -> Answer:
        match method:
            case "CreateReadSession":
                return self._create(request)
            case "ReadRows":
                asked = proto.ReadRowsRequest.FromString(request)
                return self._read(asked.read_stream, asked.offset)
            case "SplitReadStream":
                return self._split(request)
        raise NotRecordedError(f"a call of {method}")

    def _create(self, request: bytes) -> Answer:
        asked = _asked(request)
        found = [tape for tape in self._tapes if tape.table == asked.table]
        found = [tape for tape in found if tape.asked.data_format == asked.data_format]
        if not found:
            raise NotRecordedError(f"a session of {asked.table!r} in format {asked.data_format}")
        matching = [tape for tape in found if _same_rows(tape, asked)]
        if not matching:
            options = asked.read_options
            raise NotRecordedError(
                f"a session of {asked.table!r} with the columns {list(options.selected_fields)}"
                f" and the restriction {options.row_restriction!r}"
            )
        most = int(proto.CreateReadSessionRequest.FromString(request).max_stream_count)
        few = [tape for tape in matching if tape.alone or not most or len(tape.named) <= most]
        if not few:
            streams = len(matching[0].named)
            raise NotRecordedError(f"a session of {asked.table!r} with at most {most} streams, but one with {streams}")
        tape = next((tape for tape in few if tape.complete), few[0])
        return ((tape.session,) if tape.session else ()), tape.ending

    def _read(self, name: str, offset: int) -> Answer:
        for stream in self.streams():
            if stream.name == name:
                return stream.read(offset)
        raise NotRecordedError(f"stream {name!r} from offset {offset}")

    def _split(self, request: bytes) -> Answer:
        for tape in self._tapes:
            for recorded, answer in tape.splits:
                if recorded == request:
                    return (answer,), OK
        raise NotRecordedError(f"a split of {proto.SplitReadStreamRequest.FromString(request).name!r}")

    def described(self, project: str, dataset: str, table: str) -> RestTable | None:
        """The table as ``tables.get`` shows it; an empty ``project`` is any, None if no tape is of this table."""
        for tape in self._tapes:
            found = tape.described
            if found is None or project not in ("", found.project):
                continue
            if (found.dataset, found.table) == (dataset, table):
                return found
        return None

    def queried(self, body: Mapping[str, Any]) -> tuple[int, bytes] | None:
        """The recorded answer of jobs.query to a request with this body, and its status; None if none was recorded.

        An error is the answer if no success was recorded: a client that asks again gets what came then.
        """
        queries = (tape.query for tape in self._tapes if tape.query is not None)
        found = [(query.status, query.answer) for query in queries if query.answers(body)]
        return min(found, key=lambda answer: answer[0] != SUCCESS, default=None)

    def job(self, name: str) -> dict[str, Any] | None:
        """The job with this id of a recorded query, as jobs.get answers; None if none was recorded."""
        queries = (tape.query for tape in self._tapes if tape.query is not None)
        return next((query.resource() for query in queries if name and query.job == name), None)

    def streams(self) -> Iterator[TapeStream]:
        """Every stream of every tape."""
        return itertools.chain.from_iterable(tape.streams for tape in self._tapes)


def tapes_of(case: Case, exchange: Exchange) -> tuple[Tape, ...]:
    """The recorded sessions of an exchange, in either format, in their order, with what was read of them.

    A call that the driver, its deadline or a lost connection ended is no answer, and is left out; so is one whose
    request breaks the encoding, which a proxy records as it came.
    """
    complete = (call for call in exchange.calls if call.end is CallEnd.COMPLETE and call.status)
    calls = [call for call in complete if call.method in proto.REQUESTS and _parses(call.method, call.request)]
    reads: dict[str, list[tuple[int, Call]]] = {}
    for call in calls:
        if call.method == "ReadRows":
            request = proto.ReadRowsRequest.FromString(call.request)
            reads.setdefault(request.read_stream, []).append((request.offset, call))
    columns = columns_before_each(case.table.columns, case.steps)
    made = []
    for call in calls:
        if call.method != "CreateReadSession":
            continue
        answer = call.responses[0] if call.responses and call.status == "OK" else b""
        names = _streams(answer)
        splits, children = _splits(calls, names)
        streams = tuple(_stream(name, reads[name]) for name in (*names, *children) if name in reads)
        table = _asked(call.request).table
        made.append(
            Tape(table, call.request, answer, _ending(call), streams, columns[min(call.step, len(columns) - 1)], splits)
        )
    return (*made, *_queries_of(exchange, reads))


def _queries_of(exchange: Exchange, reads: Mapping[str, Sequence[tuple[int, Call]]]) -> Iterator[Tape]:
    """The recorded queries, each with the streams of its job, whatever location their names have, and the errors."""
    for _, query in recorded_queries(exchange):
        names = [name for name in reads if query.job and job_in(name) == query.job]
        yield Tape("", b"", b"", OK, tuple(_stream(name, reads[name]) for name in names), query=query)
    for query in refused_queries(exchange):
        yield Tape("", b"", b"", OK, (), query=query)


def _parses(method: str, request: bytes) -> bool:
    try:
        proto.REQUESTS[method].FromString(request)
    except DecodeError:
        return False
    return True


def _stream(name: str, reads: Sequence[tuple[int, Call]]) -> TapeStream:
    whole = next((call for offset, call in reads if offset == 0), None)
    others = {offset: (offset, (call.responses, _ending(call))) for offset, call in reversed(reads) if offset}
    if whole is None:
        return TapeStream(name, (), whole=False, others=tuple(others.values()))
    return TapeStream(name, whole.responses, _ending(whole), others=tuple(others.values()))


def _splits(calls: Iterable[Call], names: Sequence[str]) -> tuple[tuple[tuple[bytes, bytes], ...], tuple[str, ...]]:
    """The splits of these streams and of their children, and the names of the children."""
    known, children, splits = set(names), [], []
    for call in calls:
        if call.method != "SplitReadStream" or call.status != "OK" or not call.responses:
            continue
        if proto.SplitReadStreamRequest.FromString(call.request).name not in known:
            continue
        splits.append((call.request, call.responses[0]))
        try:
            answer = proto.SplitReadStreamResponse.FromString(call.responses[0])
        except DecodeError:  # it is answered as it came, and has no children
            continue
        made = [child.name for child in (answer.primary_stream, answer.remainder_stream) if child.name]
        known.update(made)
        children += made
    return tuple(splits), tuple(children)


def _streams(session: bytes) -> tuple[str, ...]:
    try:
        return tuple(stream.name for stream in proto.ReadSession.FromString(session).streams)
    except DecodeError:
        return ()


def _ending(call: Call) -> RecordedEnding:
    return RecordedEnding(call.status, call.details, call.trailers)


def _asked(request: bytes) -> Any:
    return proto.CreateReadSessionRequest.FromString(request).read_session


def _same_rows(tape: Tape, asked: Any) -> bool:
    """True if the recorded session has the rows and columns that a client asks for now, or answers every request.

    Compression of whole responses is an option that changes the bytes which a client gets, and that it has to know of.
    """
    recorded = tape.asked.read_options
    options = asked.read_options
    if tape.alone:
        return True
    if options.row_restriction.strip() != recorded.row_restriction.strip():
        return False
    if recorded.response_compression_codec and not options.response_compression_codec:
        return False
    return _selection(tape, options.selected_fields) == _selection(tape, recorded.selected_fields)


def _selection(tape: Tape, names: Iterable[str]) -> frozenset[str]:
    """The selected names without their case; all columns by name are the same as none."""
    chosen = frozenset(name.lower() for name in names)
    return frozenset() if chosen == frozenset(column.name.lower() for column in tape.columns) else chosen


def _rows_in(response: bytes) -> int:
    """The rows of a response: those that its Arrow messages declare, and its ``row_count`` where there are none."""
    try:
        message = proto.ReadRowsResponse.FromString(response)
    except DecodeError:
        return 0
    counted = int(message.row_count)
    payload = ARROW.rows_in(message) or b""
    if message.HasField("uncompressed_byte_size") and message.uncompressed_byte_size > 0:
        return counted
    lengths = wire.batch_lengths(payload)
    return sum(lengths) if lengths else counted
