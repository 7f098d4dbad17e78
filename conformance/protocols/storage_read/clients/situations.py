"""The situations in which clients are judged: cases that the reference serves, and one table with faults.

The table of the faults has two streams of three responses with four rows each, so that an interruption can happen
before, between and behind responses, and a lost, repeated or foreign row is seen by its number.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract import proto
from conformance.contract.clientjudging import Situation
from conformance.contract.viewing import view_of
from conformance.formats.messages import ARROW
from conformance.generate import materialise
from conformance.readers.fullread import FullRead, RecordedStream, full_reads
from conformance.readers.info import ReaderInfo
from conformance.readers.plugin import held_tables
from conformance.readers.programs.slot import ONE_STREAM
from conformance.readers.tape import Tape, Tapes
from conformance.records import BqType, Case, Column, Exchange, FaultKind, PlannedFault

__all__ = ["Set", "faulty", "of_case", "put_to"]

STREAMS: Final = 2
RESPONSES: Final = 3
ROWS: Final = 4
"""Rows of each response."""
MORE: Final = 16 << 20
MORE_RESPONSES: Final = 32
"""A stream that a client abandons has so many bytes of text in so many responses."""
CALLS: Final = 20
"""Calls of a stream that are refused, when it is refused for good: more than any client makes."""
LONG: Final = 100_000
"""The rows of a long response: more than an int16 counts, and than the caches of most decoders expect."""
MANY: Final = 300
"""The streams of a session with many: more than a client has threads."""
RST_STREAM: Final = "Received RST_STREAM with error code 2"
"""What gRPC says of a stream that a proxy resets. Google's client for Java looks for it and resumes:
https://github.com/googleapis/java-bigquerystorage/pull/419.
"""
LARGEST: Final = 4 << 20
"""The most bytes of a recording of a healthy situation: larger ones measure the program's pipe."""

_TABLE: Final = "projects/conformance/datasets/clients/tables/numbers"
_SESSION: Final = "projects/conformance/locations/us/sessions/clients"
_COLUMNS: Final = (Column("number", BqType.INT64), Column("text", BqType.STRING))
_PERMANENT: Final = ("PERMISSION_DENIED", "NOT_FOUND", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "DATA_LOSS")


@dataclasses.dataclass(frozen=True, slots=True)
class Set:
    """One situation: what is served, the plan of faults, and the rows that a client has to give.

    ``title`` continues the sentence *…, where*. ``ordered`` says that one stream has all rows, so that their order is
    known. ``served`` is what the server answers, if that is not the read.
    """

    id: str
    kind: Situation
    title: str
    read: FullRead
    expected: pa.Table
    plan: tuple[PlannedFault, ...] = ()
    ordered: bool = False
    served: Tapes | None = None

    @property
    def tapes(self) -> Tapes:
        """What the server serves."""
        return self.served or Tapes([Tape.of_read(self.read)])

    def in_one_stream(self) -> Set:
        """The same situation where one stream has the responses of all of them, in their order."""
        session = proto.ReadSession.FromString(self.read.session)
        del session.streams[1:]
        streams = self.read.streams
        before = [0, *itertools.accumulate(len(stream.responses) for stream in streams)]
        one = RecordedStream(streams[0].name, tuple(data for stream in streams for data in stream.responses))
        plan = (
            dataclasses.replace(fault, stream=0, responses=fault.responses + before[fault.stream])
            if fault.stream
            else fault
            for fault in self.plan
        )
        read = dataclasses.replace(self.read, session=session.SerializeToString(), streams=(one,))
        return dataclasses.replace(self, read=read, plan=tuple(plan))


def put_to(info: ReaderInfo, asked: Set) -> tuple[Set, str]:
    """The situation in the form in which this client asks for it, and the reason why it does not, if it does not."""
    refusal = info.refusal(asked.read)
    if not info.one_stream or len(asked.read.streams) < 2:
        return asked, refusal
    if asked.served is not None:
        return asked, refusal or ONE_STREAM
    return asked.in_one_stream(), refusal


def of_case(case: Case, exchange: Exchange) -> Iterator[Set]:
    """The healthy situations of a case as a correct server answers it, one for each session that is read whole."""
    held = held_tables(view_of(case, exchange, materialise(case.table)))
    for read in full_reads(case, exchange):
        size = sum(len(response) for stream in read.streams for response in stream.responses)
        if read.in_avro or read.label not in held or size > LARGEST:
            continue
        rows = held[read.label]
        yield Set(
            id=case.id if read.label == next(iter(held)) else f"{case.id}@{read.label}",
            kind=Situation.HEALTHY if rows.num_rows else Situation.EMPTY,
            title=f"the server answers the case {case.id} correctly",
            read=read,
            expected=rows,
            ordered=len(read.streams) == 1,
        )


# --- one table, and what can happen to it ---------------------------------------------------------------


def faulty() -> Iterator[Set]:
    """Every situation in which the table of numbers is not simply served."""
    yield from _large()
    yield from _empty()
    yield from _interrupted()
    yield from _refused()
    yield from _broken()
    yield from _abandoned()


def _of(name: str, kind: Situation, title: str, plan: Iterable[PlannedFault] = (), read: FullRead | None = None) -> Set:
    return Set(f"{kind}.{name}", kind, title, read or numbers(), _expected(), tuple(plan))


def _large() -> Iterator[Set]:
    """What is correct, and rare: a response of very many rows, and as many streams as large clusters ask for."""
    made = _of(
        "long-response", Situation.HEALTHY, f"the only response has {LONG:,} rows", read=numbers((1,), rows=LONG)
    )
    yield dataclasses.replace(made, expected=pa.Table.from_batches([_batch(0, LONG)]), ordered=True)
    made = _of("many-streams", Situation.HEALTHY, f"the session has {MANY} streams", read=numbers((1,) * MANY))
    rows = [_batch(stream * RESPONSES * ROWS, ROWS) for stream in range(MANY)]
    yield dataclasses.replace(made, expected=pa.Table.from_batches(rows))


def _empty() -> Iterator[Set]:
    nothing = _expected().slice(0, 0)
    for name, title, counts in (
        ("no-streams", "the session has no streams", ()),
        ("no-responses", "the only stream ends without a response", (0,)),
        ("several-streams", "two streams end without a response", (0, 0)),
    ):
        made = _of(name, Situation.EMPTY, title, read=numbers(counts))
        yield dataclasses.replace(made, expected=nothing)
    made = _of("no-rows", Situation.EMPTY, "the only response has a batch of no rows", read=numbers((1,), rows=0))
    yield dataclasses.replace(made, expected=nothing)


def _interrupted() -> Iterator[Set]:
    for after in range(RESPONSES + 1):
        behind = f"after {after} of {RESPONSES} responses"
        for stream in range(STREAMS):
            cut = functools.partial(PlannedFault, stream=stream, responses=after)
            yield _of(
                f"unavailable.stream-{stream}.after-{after}",
                Situation.INTERRUPTED,
                f"a read ends once with UNAVAILABLE {behind}",
                [cut(FaultKind.STATUS)],
            )
        yield _of(
            f"reset.after-{after}",
            Situation.INTERRUPTED,
            f"the connection breaks once {behind}",
            [PlannedFault(FaultKind.RESET, stream=0, responses=after)],
        )
        yield _of(
            f"rst-stream.after-{after}",
            Situation.INTERRUPTED,
            f"a read ends once with INTERNAL and the text {RST_STREAM!r} {behind}",
            [PlannedFault(FaultKind.STATUS, stream=0, responses=after, code="INTERNAL", details=RST_STREAM)],
        )
    yield _of(
        "inside-a-message",
        Situation.INTERRUPTED,
        "the connection breaks once in the middle of a message",
        [PlannedFault(FaultKind.RESET, stream=0, bytes=len(numbers().streams[0].responses[0]) + 60)],
    )
    yield _of(
        "twice",
        Situation.INTERRUPTED,
        "a read ends with UNAVAILABLE after a response, twice",
        [PlannedFault(FaultKind.STATUS, stream=0, call=call, responses=1) for call in range(2)],
    )


def _refused() -> Iterator[Set]:
    for code in _PERMANENT:
        for after in (0, 1, RESPONSES):
            yield _of(
                f"{code.lower().replace('_', '-')}.after-{after}",
                Situation.REFUSED,
                f"each read of a stream ends with {code} after {after} of {RESPONSES} responses",
                [
                    PlannedFault(FaultKind.STATUS, stream=0, call=call, responses=after, code=code)
                    for call in range(CALLS)
                ],
            )
        yield _of(
            f"{code.lower().replace('_', '-')}.session",
            Situation.REFUSED,
            f"no session is created, with {code}",
            [PlannedFault(FaultKind.STATUS, method="CreateReadSession", call=call, code=code) for call in range(CALLS)],
        )


def _broken() -> Iterator[Set]:
    for name, (title, change) in _BREAKS.items():
        for place in (0, RESPONSES - 1):
            yield _of(
                f"{name}.response-{place}",
                Situation.BROKEN,
                f"response {place} of a stream has {title}",
                read=numbers(change=_at(place, change)),
            )


def _abandoned() -> Iterator[Set]:
    """A stream that no client takes to its end unread: flow control stops the server after a part of it."""
    wide = [f"row {one} ".ljust(MORE // MORE_RESPONSES // ROWS, ".") for one in range(MORE_RESPONSES * ROWS)]
    yield dataclasses.replace(
        _of(
            "broken-before-more",
            Situation.ABANDONED,
            f"the first response of a stream has {_BREAKS['noise'][0]}, and {MORE >> 20} MiB follow",
            read=numbers((MORE_RESPONSES,), change=_at(0, _BREAKS["noise"][1]), texts=wide),
        ),
        expected=pa.Table.from_batches([_batch(0, len(wide), wide)]),
    )


def _at(place: int, change: Callable[[bytes], bytes]) -> Callable[[bytes, int], bytes]:
    return lambda data, at: change(data) if at == place else data


def _schema() -> pa.Schema:
    return pa.schema([pa.field("number", pa.int64()), pa.field("text", pa.string())])


@functools.cache
def _schema_message() -> bytes:
    data: bytes = _schema().serialize().to_pybytes()
    return data


_BREAKS: Final[Mapping[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "cut-in-half": ("half of a batch", lambda data: data[: len(data) // 2]),
    "cut-metadata": ("a message that ends inside its metadata", lambda data: data[:40]),
    "cut-body": ("a batch without the last 8 bytes", lambda data: data[:-8]),
    "noise": ("64 bytes that are no message", lambda _data: bytes(range(64))),
    "huge-metadata": (
        "a message that declares 1 GiB of metadata",
        lambda data: data[:4] + (1 << 30).to_bytes(4, "little") + data[8:],
    ),
    "schema-again": ("the schema in place of the batch", lambda _data: _schema_message()),
}
"""Bytes whose structure is invalid for every reader: the title and the change of a batch message."""


def _batch(first: int, rows: int, texts: Sequence[str] = ()) -> pa.RecordBatch:
    ids = range(first, first + rows)
    words = [texts[one] if texts else f"row {one}" for one in ids]
    return pa.record_batch([pa.array(ids, pa.int64()), pa.array(words)], schema=_schema())


@functools.cache
def _expected() -> pa.Table:
    return pa.Table.from_batches([_batch(0, STREAMS * RESPONSES * ROWS)])


def numbers(
    responses: Sequence[int] = (RESPONSES,) * STREAMS,
    *,
    rows: int = ROWS,
    change: Callable[[bytes, int], bytes] = lambda data, _at: data,
    texts: Sequence[str] = (),
) -> FullRead:
    """A read of the table: the number of responses of each stream; ``change`` gets each batch message of the first
    stream with its place, and ``texts`` are other texts of its rows.
    """
    request = proto.CreateReadSessionRequest(parent="projects/conformance")
    request.read_session.table = _TABLE
    request.read_session.data_format = proto.DATA_FORMAT["ARROW"]
    session = proto.ReadSession(name=_SESSION, table=_TABLE, data_format=proto.DATA_FORMAT["ARROW"])
    ARROW.put_schema(session, _schema_message())
    session.estimated_row_count = sum(responses) * rows
    streams = []
    for number, count in enumerate(responses):
        name = f"{_SESSION}/streams/{number}"
        session.streams.add(name=name)
        made = []
        for at in range(count):
            data = _batch((number * RESPONSES + at) * rows, rows, texts).serialize().to_pybytes()
            made.append(_response(change(data, at) if number == 0 else data, rows, first=at == 0))
        streams.append((name, tuple(made)))
    return _read(request.SerializeToString(), session.SerializeToString(), streams)


def _response(data: bytes, rows: int, *, first: bool) -> bytes:
    message = proto.ReadRowsResponse(row_count=rows)
    ARROW.put_rows(message, data, deprecated_count=rows)
    if first:
        ARROW.put_schema(message, _schema_message())
    encoded: bytes = message.SerializeToString()
    return encoded


def _read(request: bytes, session: bytes, streams: Iterable[tuple[str, tuple[bytes, ...]]]) -> FullRead:
    made = tuple(RecordedStream(name, responses) for name, responses in streams)
    return FullRead("clients", "s", request, session, made, _COLUMNS)
