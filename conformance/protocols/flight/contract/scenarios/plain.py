"""The scenarios of plain Flight: tables, exchanges, infos, a login and a header.

Source: https://github.com/apache/arrow/blob/main/cpp/src/arrow/flight/integration_tests/test_integration.cc.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.encoding import descriptor, number
from conformance.protocols.flight.contract.scenarios.form import (
    ANY_ERROR,
    Answers,
    StreamRead,
    Unlike,
    frames,
    register,
    same,
)
from conformance.protocols.flight.records import (
    Descriptor,
    DoAction,
    DoGet,
    FlightMethod,
    FlightToken,
    GetFlightInfo,
    ListFlights,
    PollFlightInfo,
    SendMessages,
)
from conformance.records import Expect

__all__ = ["ECHOED", "STORED"]


def _table(*columns: tuple[list[int | None], list[str | None]]) -> tuple[pa.RecordBatch, ...]:
    schema = pa.schema([pa.field("number", pa.int32()), pa.field("word", pa.string())])
    return tuple(
        pa.record_batch([pa.array(numbers, pa.int32()), pa.array(words, pa.string())], schema=schema)
        for numbers, words in columns
    )


_BATCHES: Final = _table(([1, None, 3], ["one", "two", None]), ([7], ["seven"]))
STORED: Final = StreamRead(_BATCHES[0].schema, [(batch, b"%d" % at) for at, batch in enumerate(_BATCHES)])
"""The table of the scenario without a name: each batch with its number."""
_PATH: Final = Descriptor(path=("conformance-integration",), known=True)
_NAMED: Final = descriptor(_PATH)


@register(
    "",
    "A table is put in turns, asked for, and read back",
    SendMessages(FlightMethod.DO_PUT, tuple(frames(_NAMED, *STORED)), in_turns=True),
    GetFlightInfo(_PATH),
    DoGet(),
)
def base(answers: Answers) -> Iterator[Unlike]:
    """Each batch is answered with its metadata; the info has the schema and an endpoint; everything comes back."""
    for index, call in answers.of(0):
        came = [_metadata(one) for one in call.responses]
        wanted = [metadata for _, metadata in STORED.batches]
        if came != wanted:
            yield Unlike(f"PutResults with {wanted}", f"{came}", index)
    for index, info in answers.infos(1):
        if not info.endpoints:
            yield Unlike("an endpoint", "none", index)
        schema = _schema(info.schema)
        if schema is None or not schema.equals(STORED.schema, check_metadata=True):
            yield Unlike("the schema that was put", str(schema or "no schema"), index)
    for index, read in answers.reads(2):
        yield from _all_of(index, read, STORED)


ECHOED: Final = StreamRead(
    STORED.schema,
    [
        (batch, None if at % 2 else b"%d" % at)
        for at, batch in enumerate(
            _table(([0], ["a"]), ([1, None], [None, "b"]), ([], []), ([3, 4, 5], ["c", "d", "e"]))
        )
    ],
)
"""The batches of the exchange: every other one with metadata."""


@register(
    "do_exchange:echo",
    "Four batches go out, and each comes back before the next one",
    SendMessages(FlightMethod.DO_EXCHANGE, tuple(frames(descriptor(Descriptor(cmd=b"echo")), *ECHOED)), in_turns=True),
)
def echo(answers: Answers) -> Iterator[Unlike]:
    """The batches and their metadata come back, and no metadata where there was none."""
    for index, read in answers.reads(0):
        yield from _all_of(index, read, ECHOED)


_NUMBERS: Final = pa.schema([pa.field("number", pa.int32())])


@register(
    "ordered", "The endpoints of an ordered info are read in order", GetFlightInfo(Descriptor(cmd=b"ordered")), DoGet()
)
def ordered(answers: Answers) -> Iterator[Unlike]:
    """The info is ordered, its endpoints have no locations, and together they have nine rows in order."""
    for index, info in answers.infos(0):
        if not info.ordered:
            yield Unlike("ordered = true", "ordered = false", index)
        for endpoint in info.endpoints:
            if endpoint.locations:
                yield Unlike("endpoints without locations", f"a location {endpoint.locations[0]!r}", index)
    yield from concatenated(answers, 1, _NUMBERS, [1, 2, 3, 10, 20, 30, 100, 200, 300])


def concatenated(answers: Answers, step: int, schema: pa.Schema, numbers: list[int]) -> Iterator[Unlike]:
    """What is unlike one stream of numbers, cut into the answers of a step; the column may be nullable or not."""
    reads = list(answers.reads(step))
    for index, read in reads:
        found = None if read is None else [(one.name, one.type) for one in read.schema]
        if found != [(one.name, one.type) for one in schema]:
            yield Unlike(str(schema), "data that cannot be read" if read is None else str(read.schema), index)
    rows = [row for _, read in reads if read is not None for row in read.rows]
    if reads and all(read is not None for _, read in reads) and rows != [{"number": one} for one in numbers]:
        yield Unlike(f"the numbers {numbers}", f"the rows {rows}", reads[-1][0])


@register(
    "location:reuse_connection",
    "An endpoint names the connection on which it came",
    GetFlightInfo(Descriptor(cmd=b"reuse")),
)
def reuse(answers: Answers) -> Iterator[Unlike]:
    """There is one endpoint with one location, of one form."""
    for index, info in answers.infos(0):
        found = [list(endpoint.locations) for endpoint in info.endpoints]
        wanted = [["arrow-flight-reuse-connection://?"]]
        if found != wanted:
            yield Unlike(f"the locations {wanted}", f"{found}", index)


@register(
    "app_metadata_flight_info_endpoint",
    "The command comes back as metadata of the info and of its endpoint",
    GetFlightInfo(Descriptor(cmd=b"foobar")),
)
def described(answers: Answers) -> Iterator[Unlike]:
    """Both have the bytes of the command."""
    for index, call in answers.of(0):
        info = message_of("FlightInfo", b"".join(call.responses[:1]))
        if info is None:
            yield Unlike("a FlightInfo", "no message", index)
            continue
        found = [
            bytes(info.data("app_metadata")),
            *(bytes(one.data("app_metadata")) for one in info.messages("endpoint")),
        ]
        if found != [b"foobar", b"foobar"]:
            yield Unlike("b'foobar' in the info and in its one endpoint", str(found), index)


@register(
    "auth:basic_proto",
    "Nobody is served without a login, and an action gives the name of the user who has logged in",
    ListFlights(token=FlightToken.NONE, expect=Expect(("UNAUTHENTICATED",))),
    DoAction(""),
    login=("arrow", "flight"),
)
def logged_in(answers: Answers) -> Iterator[Unlike]:
    """The action has one result: the name."""
    for index, results in answers.results(1):
        if results != [b"arrow"]:
            yield Unlike("one result, b'arrow'", str(results), index)


_HEADER: Final = ("x-middleware", "expected value")


@register(
    "middleware",
    "A header of each call comes back, when it fails and when it succeeds",
    SendMessages(FlightMethod.GET_FLIGHT_INFO, (number(1, 2),), expect=ANY_ERROR),
    GetFlightInfo(Descriptor(cmd=b"success")),
    headers=dict([_HEADER]),
)
def mirrored(answers: Answers) -> Iterator[Unlike]:
    """It comes in the headers or in the trailers."""
    name, wanted = _HEADER
    for index, call in enumerate(answers.calls):
        found = [one.value.decode("latin-1") for one in (*call.initial_metadata, *call.trailers) if one.key == name]
        if wanted not in found:
            yield Unlike(f"{name}: {wanted}", f"{name}: {', '.join(found) or 'not there'}", index)


@register("poll_flight_info", "A query is polled until it has ended", PollFlightInfo(Descriptor(cmd=b"heavy query")))
def polled(answers: Answers) -> Iterator[Unlike]:
    """The first answer is of a query that runs until a time, the second one of a query that has ended."""
    polls = [(index, message_of("PollInfo", b"".join(call.responses[:1]))) for index, call in answers.of(0)]
    for at, (index, poll) in enumerate(polls):
        if poll is None:
            yield Unlike("a PollInfo", "no message", index)
            continue
        progress = poll.real("progress") if poll.has("progress") else None
        said = f"progress {progress}" + "".join(
            f", {word}"
            for field, word in (("flight_descriptor", "a descriptor"), ("expiration_time", "an expiration time"))
            if poll.has(field)
        )
        runs = (
            poll.has("flight_descriptor")
            and poll.has("expiration_time")
            and progress is not None
            and 0 <= progress <= 1
        )
        ended = not poll.has("flight_descriptor") and not poll.has("expiration_time") and progress == 1
        if at == 0 and not runs:
            yield Unlike("a descriptor, a progress from 0 to 1, and an expiration time", said, index)
        if at == 1 and not ended:
            yield Unlike("progress 1.0, and neither a descriptor nor an expiration time", said, index)
    if len(polls) == 1:
        yield Unlike(
            "a query that has ended at the second question", "a query that has ended at the first", polls[0][0]
        )


def _all_of(index: int, read: StreamRead | None, wanted: StreamRead) -> Iterator[Unlike]:
    yield from same(index, read, wanted.schema, wanted.rows)
    if read is None:
        return
    if [len(batch) for batch, _ in read.batches] != [len(batch) for batch, _ in wanted.batches]:
        lengths = [len(batch) for batch, _ in wanted.batches]
        yield Unlike(
            f"batches of {lengths} rows", f"batches of {[len(batch) for batch, _ in read.batches]} rows", index
        )
        return
    # An empty field and no field are the same to Arrow's clients.
    came, sent = ([metadata or b"" for _, metadata in one.batches] for one in (read, wanted))
    if came != sent:
        yield Unlike(f"app_metadata {sent}", f"app_metadata {came}", index)


def _metadata(answer: bytes) -> bytes:
    found = message_of("PutResult", answer)
    return b"" if found is None else bytes(found.data("app_metadata"))


def _schema(message: bytes) -> pa.Schema | None:
    try:
        return pa.ipc.read_schema(pa.py_buffer(message))
    except pa.ArrowException:
        return None
