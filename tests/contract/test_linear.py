"""Judging costs in proportion to what came: steps of Python and comparisons are counted, for n things, 2n and 3n.

Of what is linear the second difference is nothing, whatever is done once and whatever each thing costs. Steps in C are
not seen by the interpreter; names that count how often they are compared show those that look through a list.
"""

from __future__ import annotations

import dataclasses
import gc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, ClassVar, Final

import pyarrow as pa
import pytest

from conformance import wire
from conformance.contract import proto
from conformance.contract.clause import load_chapters
from conformance.contract.comparing.declarations import Declarations, Declared, Pairing
from conformance.contract.ipc.judging import judge_ipc
from conformance.contract.judge import judge, judge_view
from conformance.generate import materialise
from conformance.protocols.flight.contract.view import FlightView
from conformance.protocols.flight.records import Descriptor, DoGet, DoPut, GetFlightInfo, GetSchema
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Flight
from conformance.protocols.storage_read.engine.substituted import _serialized, _served
from conformance.protocols.storage_read.targets.messages import read_request, split_request
from conformance.records import (
    BqType,
    Call,
    Case,
    Column,
    CreateSession,
    Exchange,
    Json,
    Mode,
    ReadRows,
    Recipe,
    SplitStream,
    Step,
    Table,
)
from conformance.reference.message import batch_message, dictionary_message, schema_message
from conformance.wire import Kind
from tests.protocols.flight.reference.direct import FIXTURE, PATH, PUT_AND_GET, seen
from tests.protocols.flight.reference.direct import case_of as flight_case
from tests.studies import sample

load_chapters()
N: Final = 40
"""Things at a time: enough for a loop inside a loop to outweigh what is done for each."""
FEW: Final = 8
"""The same for calls, each of which costs thousands of steps."""
TOLERANCE: Final = 0.05
"""How much of what n things cost the second difference may be: how many turns a sum takes depends on what is in it."""


def steps(work: Callable[[], object]) -> int:
    """How many lines Python runs, each pass of a loop among them, but for those that clear up after other tests."""
    count = 0
    gc.collect()
    gc.disable()

    def trace(_frame: FrameType, _event: str, _arg: object) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def is_linear(cost: Callable[[int], int], things: int = N) -> bool:
    """Whether n things more cost no more than the n before them, once what is remembered for good is remembered."""
    cost(things // 4)
    once, twice, thrice = (cost(times * things) for times in (1, 2, 3))
    return thrice - 2 * twice + once <= TOLERANCE * (twice - once)


# --- exchanges -------------------------------------------------------------------------------------


def columns(count: int, kind: BqType = BqType.INT64, mode: Mode = Mode.NULLABLE) -> tuple[Column, ...]:
    """So many columns of a type."""
    return tuple(Column(f"column{place}", kind, mode) for place in range(count))


def case_of(made: tuple[Column, ...], rows: int = 3) -> Case:
    """A case of a table with these columns."""
    return Case("c", "", Table(made, recipe=Recipe(rows)))


SMALL: Final = case_of(columns(2))
ROWS: Final = materialise(SMALL.table)
(BATCH,) = ROWS.to_batches()
SCHEMA: Final = schema_message(ROWS.schema).encode()


def judged(case: Case, batch: pa.RecordBatch) -> Callable[[], object]:
    """The judge of a case's exchanges with a batch, from a serializer and from a server."""
    table, schema = materialise(case.table), schema_message(batch.schema).encode()
    both = [make(case, schema, [batch.slice(0, 1), batch.slice(1)]) for make in (_serialized, _served)]
    return lambda: [judge(case, exchange, table) for exchange in both]


def numbers(count: int, names: list[str] | None = None) -> pa.RecordBatch:
    """A batch of so many columns."""
    names = [f"column{place}" for place in range(count)] if names is None else names
    return pa.record_batch([pa.array([7, 8, 9])] * count, names=names)


def surplus(count: int) -> Callable[[], object]:
    """Columns that the table does not have."""
    return judged(SMALL, numbers(count))


def missing(count: int) -> Callable[[], object]:
    """Columns that are not sent."""
    return judged(case_of(columns(count)), BATCH)


def renamed(count: int) -> Callable[[], object]:
    """Columns under other names."""
    return judged(case_of(columns(count)), numbers(count, [f"other{place}" for place in range(count)]))


def in_capitals(count: int) -> Callable[[], object]:
    """Columns whose names differ in case."""
    return judged(case_of(columns(count)), numbers(count, [f"COLUMN{place}" for place in range(count)]))


def backwards(count: int) -> Callable[[], object]:
    """Columns in another order."""
    return judged(case_of(columns(count)), numbers(count, [f"column{place}" for place in reversed(range(count))]))


def other_types(count: int) -> Callable[[], object]:
    """Columns of another type."""
    return judged(case_of(columns(count, BqType.JSON)), numbers(count))


def reordered_lists(count: int) -> Callable[[], object]:
    """Lists with their items in another order."""
    case = case_of(columns(count, mode=Mode.REPEATED))
    table = materialise(case.table)
    turned = [pa.array([row[::-1] for row in column.to_pylist()], column.type) for column in table.columns]
    return judged(case, pa.RecordBatch.from_arrays(turned, schema=table.schema))


def nested(count: int) -> Callable[[], object]:
    """Fields of a RECORD that it does not have."""
    case = case_of((Column("column0", BqType.RECORD, fields=columns(2)),))
    fields = pa.struct([(f"field{place}", pa.int64()) for place in range(count)])
    return judged(case, pa.record_batch([pa.array([{}, None, {}], fields)], names=["column0"]))


def spoilt(change: Callable[[Any, list[Any]], None]) -> Callable[[], object]:
    """The judge of an exchange with a server whose answers were changed."""
    exchange = _served(SMALL, SCHEMA, [BATCH])
    created, read = exchange.calls
    session = proto.ReadSession.FromString(created.responses[0])
    responses = [proto.ReadRowsResponse.FromString(data) for data in read.responses]
    change(session, responses)
    created = dataclasses.replace(created, responses=(session.SerializeToString(),))
    read = dataclasses.replace(read, responses=tuple(one.SerializeToString() for one in responses))
    changed: Exchange = dataclasses.replace(exchange, calls=(created, read))
    return lambda: judge(SMALL, changed, ROWS)


def streams(count: int) -> Callable[[], object]:
    """Streams of a session, under names that are not its own."""
    return spoilt(lambda session, _: [session.streams.add(name=f"stream{place}") for place in range(count)])


def empty_responses(count: int) -> Callable[[], object]:
    """Responses without rows, each with the schema."""
    return spoilt(lambda _, responses: responses.extend([_empty()] * count))


def _empty() -> Any:
    response = proto.ReadRowsResponse()
    response.arrow_schema.serialized_schema = SCHEMA
    response.arrow_record_batch.serialized_record_batch = batch_message(BATCH.slice(0, 0)).encode()
    return response


def metadata(count: int) -> Callable[[], object]:
    """Pairs of metadata at a field and at the schema."""
    pairs = {f"key{place}": "value" for place in range(count)}
    schema = pa.schema([field.with_metadata(pairs) for field in BATCH.schema], metadata=pairs)
    return judged(SMALL, pa.RecordBatch.from_arrays(BATCH.columns, schema=schema))


def stream_of_batches(count: int) -> Callable[[], object]:
    """An IPC stream of batches."""
    data = SCHEMA + batch_message(BATCH).encode() * count
    return lambda: judge_ipc(data, Kind.STREAM, writer=True)


def stream_of_dictionaries(count: int) -> Callable[[], object]:
    """An IPC stream in which a dictionary is replaced, and another appended to, before each batch."""
    column = pa.array(["a", "b"]).dictionary_encode()
    batch = pa.record_batch([column, column], names=["replaced", "appended"])
    data = schema_message(batch.schema, [0, 1]).encode()
    data += dictionary_message(0, column.dictionary).encode() + dictionary_message(1, column.dictionary).encode()
    more = dictionary_message(0, column.dictionary).encode()
    more += dictionary_message(1, column.dictionary, delta=True).encode() + batch_message(batch).encode()
    return lambda: judge_ipc(data + more * count, Kind.STREAM, writer=True)


def encoded_columns(count: int) -> Callable[[], object]:
    """An IPC stream of columns with a dictionary each."""
    column = pa.array(["a", "b"]).dictionary_encode()
    batch = pa.record_batch([column] * count, names=[f"column{place}" for place in range(count)])
    data = schema_message(batch.schema, range(count)).encode()
    data += b"".join(dictionary_message(place, column.dictionary).encode() for place in range(count))
    return lambda: judge_ipc(data + batch_message(batch).encode(), Kind.STREAM, writer=True)


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pyarrow 14 not search for pandas, where it is not installed, each time that it converts a value."""
    if importlib.util.find_spec("pandas") is None:
        monkeypatch.setitem(sys.modules, "pandas", None)


GROWING: Final = (
    surplus, missing, renamed, in_capitals, backwards, other_types, reordered_lists, nested, streams, empty_responses,
    metadata, stream_of_batches, stream_of_dictionaries, encoded_columns,
)  # fmt: skip
QUICK: Final = ("missing", "nested", "streams", "stream_of_batches")


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("made", sample(GROWING, QUICK, env="studies", name=lambda made: made.__name__))
def test_judging_is_linear(made: Callable[[int], Callable[[], object]]) -> None:
    """Each thing more costs what the one before it cost."""
    assert is_linear(lambda count: steps(made(count)))


# --- calls --------------------------------------------------------------------------------------------


def sessions(count: int) -> Callable[[], object]:
    """Sessions of one case, each with a read."""
    steps = [step for n in range(count) for step in (CreateSession(label=f"s{n}"), ReadRows(session=f"s{n}"))]
    exchange = _served(SMALL, SCHEMA, [BATCH])
    created, read = exchange.calls
    calls: list[Call] = []
    for n in range(count):
        session = proto.ReadSession.FromString(created.responses[0])
        session.name += str(n)
        session.streams[0].name = f"{session.name}/streams/a"
        answer = (session.SerializeToString(),)
        request, _ = read_request(session.streams[0].name, 0)
        calls.append(dataclasses.replace(created, step=2 * n, label=f"s{n}", responses=answer))
        calls.append(dataclasses.replace(read, step=2 * n + 1, label=f"s{n}/0", request=request))
    case = dataclasses.replace(SMALL, steps=tuple(steps))
    changed: Exchange = dataclasses.replace(exchange, calls=tuple(calls))
    return lambda: judge(case, changed, ROWS)


def reads(count: int, offsets: Sequence[int] = (0,), streams: int = 1) -> Callable[[], object]:
    """Reads of the ``streams`` streams of one session in turn, from these offsets in turn.

    Each stream has all rows, so that the case is wrong if there are several: findings are counted too.
    """
    exchange = _served(SMALL, SCHEMA, [BATCH.slice(row, 1) for row in range(BATCH.num_rows)])
    created, read = exchange.calls
    session = proto.ReadSession.FromString(created.responses[0])
    del session.streams[:]
    names = [session.streams.add(name=f"{session.name}/streams/{place}").name for place in range(streams)]
    created = dataclasses.replace(created, responses=(session.SerializeToString(),))
    calls: list[Call] = [created]
    for n in range(count):
        offset = offsets[n % len(offsets)]
        request, _ = read_request(names[n % streams], offset)
        came = tuple(proto.ReadRowsResponse.FromString(data) for data in read.responses[offset:])
        if came:
            came[0].arrow_schema.serialized_schema = SCHEMA
        responses = tuple(one.SerializeToString() for one in came)
        label = f"s/{n % streams}"
        calls.append(dataclasses.replace(read, step=1 + n, label=label, request=request, responses=responses))
    steps: tuple[Step, ...] = (CreateSession(max_stream_count=streams), *[ReadRows()] * count)
    changed: Exchange = dataclasses.replace(exchange, calls=tuple(calls))
    return lambda: judge(dataclasses.replace(SMALL, steps=steps), changed, ROWS)


def repeated_reads(count: int) -> Callable[[], object]:
    """Reads of one stream."""
    return reads(count)


def offset_reads(count: int) -> Callable[[], object]:
    """Reads of one stream from several rows, and from its end."""
    return reads(count, offsets=range(BATCH.num_rows + 1))


def read_streams(count: int) -> Callable[[], object]:
    """Streams of one session, each read."""
    return reads(count, streams=count)


def splits(count: int) -> Callable[[], object]:
    """Splits of one stream, each with two children of its own."""
    exchange = _served(SMALL, SCHEMA, [BATCH])
    created, read = exchange.calls
    stream = proto.ReadSession.FromString(created.responses[0]).streams[0].name
    calls: list[Call] = [created, read]
    for n in range(count):
        request, _ = split_request(stream, 0.5)
        answer = proto.SplitReadStreamResponse()
        answer.primary_stream.name, answer.remainder_stream.name = f"{stream}{n}p", f"{stream}{n}r"
        responses = (answer.SerializeToString(),)
        calls.append(Call(2 + n, f"x{n}", "SplitReadStream", request, responses))
    steps: tuple[Step, ...] = (CreateSession(), ReadRows(), *[SplitStream(label=f"x{n}") for n in range(count)])
    changed: Exchange = dataclasses.replace(exchange, calls=tuple(calls))
    return lambda: judge(dataclasses.replace(SMALL, steps=steps), changed, ROWS)


class ManyEndpoints(FlightService):
    """Has an endpoint for each row, all with tickets of their own."""

    def endpoints(self, flight: Flight) -> list[bytes]:
        """One for each row."""
        return [self.endpoint(self.store.ticket(flight, flight.batches)) for _ in range(flight.rows)]


def flight(*steps: Step, rows: int = 2, service: FlightService | None = None) -> Callable[[], object]:
    """The judge of an exchange with a Flight server."""
    table = Table(columns(1), rows=tuple(Json({"column0": row}) for row in range(rows)))
    view = seen(flight_case(*steps, table=table), service)
    return lambda: judge_view(FlightView(view.case, view.exchange, view.table), FIXTURE.clauses)


def endpoints(count: int) -> Callable[[], object]:
    """Endpoints of one info, each read."""
    return flight(*PUT_AND_GET, rows=count, service=ManyEndpoints())


def flights(count: int) -> Callable[[], object]:
    """Tables under descriptors of their own."""
    steps: list[Step] = []
    for n in range(count):
        path = Descriptor(path=(f"table{n}",))
        steps += [DoPut(path), GetFlightInfo(path, label=f"i{n}"), DoGet(info=f"i{n}")]
    return flight(*steps)


def schemas_and_infos(count: int) -> Callable[[], object]:
    """Infos and schemas of one flight."""
    return flight(DoPut(PATH), *[GetSchema(PATH)] * count, *[GetFlightInfo(PATH)] * count)


CALLS: Final = (
    sessions, repeated_reads, offset_reads, read_streams, splits, endpoints, flights, schemas_and_infos,
)  # fmt: skip
QUICK_CALLS: Final = ("sessions", "read_streams", "endpoints", "flights", "schemas_and_infos")
MANY: Final[dict[Callable[[int], Callable[[], object]], int]] = {
    read_streams: 2000,
    endpoints: 2000,
    repeated_reads: 10_000,
    schemas_and_infos: 5000,
}
"""How many of each a case may well have: what costs nothing for dozens may outweigh all else for thousands."""


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("made", sample(CALLS, QUICK_CALLS, env="studies", name=lambda made: made.__name__))
def test_judging_of_calls_is_linear(made: Callable[[int], Callable[[], object]]) -> None:
    """Each call more costs what the one before it cost."""
    assert is_linear(lambda count: steps(made(count)), FEW)


@pytest.mark.slow(env="studies")
@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("made", MANY, ids=lambda made: made.__name__)
def test_judging_of_thousands_of_calls_is_linear(made: Callable[[int], Callable[[], object]]) -> None:
    """The last half of thousands costs what the first half cost."""
    made(FEW)()
    half, whole = steps(made(MANY[made] // 2)), steps(made(MANY[made]))
    assert whole <= (2 + TOLERANCE) * half


def test_a_loop_inside_a_loop_is_seen() -> None:
    """A few steps for each pair outweigh hundreds for each thing."""

    def cost(count: int) -> int:
        return steps(lambda: [sum(one == other for other in range(count)) for one in range(count)])

    assert not is_linear(cost)


# --- comparisons of names -----------------------------------------------------------------------------


class Name(str):
    """A name that counts how often any is compared."""

    __slots__ = ()
    compared: ClassVar[int] = 0

    def __eq__(self, other: object) -> bool:
        """Equality of text, counted."""
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def comparisons(count: int) -> int:
    """How often names are compared while every check of columns looks at surplus and missing ones, backwards."""
    kind = wire.Type(wire.TypeKind.INT, bit_width=64, signed=True)
    fields = tuple(
        wire.Field(Name(f"Column{place}"), kind, nullable=True) for place in reversed(range(0, 2 * count, 2))
    )
    table = tuple(Column(Name(f"Column{place}"), BqType.INT64) for place in range(count))
    before = Name.compared
    pairing = Pairing(table, wire.Schema(fields), selected=False)
    for check in Declarations.aspect.checks:
        pairing.found(Declared(0, 0, pairing), check)
    return Name.compared - before


def test_names_are_compared_linearly() -> None:
    """To look each name up in a list compares it with half of the others."""
    assert comparisons(10) > 0
    assert is_linear(comparisons)
