"""The streams of FlightData that DoGet gives: how messages carry Arrow data, and that this data is an Arrow stream."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.matching import match_rows
from conformance.contract.sources import IPC_STREAM, Inferred
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.arrowstream import first_is_no_schema, stream_violations
from conformance.protocols.flight.contract.decoding import in_words
from conformance.protocols.flight.contract.sources import FLIGHT_CLIENT, FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import about, columns_differ, listed, reads, without_dictionaries
from conformance.protocols.flight.contract.view import FlightView, GetView
from conformance.protocols.flight.records import FlightSqlStep
from conformance.records import Level
from conformance.wire import Header

_PREFIX: Final = b"\xff\xff\xff\xff"
_WRITING: Final = frozenset({"DoPut", "DoExchange"})
_BREAKS: Final = "every client: Flight libraries read the data with their IPC readers"

_clause = functools.partial(clause, over=reads, profiles=FLIGHT, role=Role.LIBRARY)


@_clause("flight-data.schema-comes-first", source=(IPC_STREAM, Inferred(FLIGHT_PAGE)), breaks=_BREAKS)
def schema_comes_first(get: GetView) -> Iterator[Violation]:
    """The first message with a header is the schema, also of a stream without rows; only metadata may come before it.

    The page: DoGet "will give the client a stream of Arrow record batches", in the IPC format, whose streams begin with
    the schema.
    """
    if get.joined.filled:
        yield from first_is_no_schema(get)
        return
    came = many(len(get.data), "message")
    yield Violation("a schema before the status OK", f"{came}, none with a header")


@_clause("flight-data.header-without-prefix", source=FLIGHT_PROTO, breaks=_BREAKS)
def header_without_prefix(get: GetView) -> Iterator[Violation]:
    """``data_header`` is the Message alone, without the continuation and the length of an IPC stream.

    Flight.proto: "Header for message data as described in Message.fbs::Message."
    """
    for at, data in enumerate(get.data):
        if data is not None and data.header and data.header.startswith(_PREFIX):
            yield Violation("a Message table", f"the continuation {data.header[:8].hex(' ')}", response=at)


@_clause(
    "flight-data.body-has-a-header",
    source=(FLIGHT_CLIENT, Inferred(FLIGHT_PROTO)),
    breaks="clients lose the body without an error, because nothing says what it is",
)
def body_has_a_header(get: GetView) -> Iterator[Violation]:
    """A message with a body has a header that describes it. A message of metadata alone has neither.

    Flight.proto, ``data_body``: "The actual batch of Arrow data."
    """
    for at, data in enumerate(get.data):
        if data is not None and data.body and not data.header:
            yield Violation("a data_header for the data_body", f"{many(len(data.body), 'byte')} of body", response=at)


@_clause("flight-data.body-is-as-long-as-declared", source=(Inferred(FLIGHT_PROTO), IPC_STREAM), breaks=_BREAKS)
def body_is_as_long_as_declared(get: GetView) -> Iterator[Violation]:
    """``data_body`` has the number of bytes that ``bodyLength`` of its header declares.

    Message.fbs, Message: ``bodyLength`` is the length of the body that follows the metadata.
    """
    for at, message in zip(get.joined.filled, get.messages, strict=True):
        data = get.data[at]
        if data is None or not data.header or data.header.startswith(_PREFIX) or message.header is Header.UNKNOWN:
            continue
        came = len(data.body or b"")
        if message.body_length != came:
            yield Violation(f"a body of {many(message.body_length, 'byte')}", many(came, "byte"), response=at)


@_clause("flight-data.is-an-arrow-stream", source=(IPC_STREAM, Inferred(FLIGHT_PAGE)), breaks=_BREAKS)
def is_an_arrow_stream(get: GetView) -> Iterator[Violation]:
    """The messages of a DoGet, with their prefixes put back, are an IPC stream: no MUST of ``ipc-stream`` is broken.

    The page: Flight is "built on top of gRPC and the IPC format". Each finding begins with the id of the clause on
    streams. The end of the call is the end of the stream.
    """
    yield from stream_violations(get, Level.MUST)


@_clause(
    "flight-data.is-an-arrow-stream-as-advised",
    source=(IPC_STREAM, Inferred(FLIGHT_PAGE)),
    level=Level.SHOULD,
)
def is_an_arrow_stream_as_advised(get: GetView) -> Iterator[Violation]:
    """The same stream follows what the format recommends: no SHOULD of ``ipc-stream`` is broken."""
    yield from stream_violations(get, Level.SHOULD)


@_clause("flight-data.no-descriptor-from-the-server", source=FLIGHT_PROTO, level=Level.SHOULD)
def no_descriptor_from_the_server(get: GetView) -> Iterator[Violation]:
    """The messages of a DoGet name no descriptor.

    Flight.proto, ``flight_descriptor``: "This is only relevant when a client is starting a new DoPut stream."
    """
    for at, data in enumerate(get.data):
        if data is not None and data.descriptor is not None:
            yield Violation("no flight_descriptor", in_words(data.descriptor), response=at)
            return


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Again:
    """Two reads of one ticket, of which the second is judged."""

    before: GetView
    get: GetView
    response: None = None

    @property
    def call(self) -> int:
        """The index of the second call."""
        return self.get.index


@about
def _again(view: FlightView) -> list[_Again]:
    """Return the reads of one ticket between which nothing was written, if both ended in OK and can be decoded.

    What an application serves may change by itself, and a flight of its own at any time. Only a table that the suite
    stored, and an endpoint whose expiration time says that it may be read again, have to give the same rows.
    """
    found: list[_Again] = []
    first: dict[bytes, GetView] = {}
    for call in view.flight_calls:
        if call.raw.method in _WRITING or isinstance(call.step, FlightSqlStep):
            first.clear()
        written = any(one.raw.method in _WRITING for one in call.beside)
        if isinstance(call, GetView) and call.ticket is not None and not call.elsewhere and _lasts(call):
            if written:  # what is there at that time is open
                continue
            if call.ticket in first:
                found.append(_Again(first[call.ticket], call))
            first.setdefault(call.ticket, call)
    return found


def _lasts(get: GetView) -> bool:
    """True for decoded rows that have to be the same in the next read."""
    seen = get.info
    if seen is None or seen.found or not get.ok or get.table is None:
        return False
    endpoint = seen.endpoint_of(get)
    return seen.put is not None or (endpoint is not None and endpoint.expires is not None)


@clause(
    "flight-data.read-again-is-the-same",
    over=_again,
    source=(FLIGHT_PAGE, FLIGHT_PROTO),
    breaks="clients that read again after a lost connection: rows are missing, or come twice, without an error",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def read_again_is_the_same(pair: _Again) -> Iterator[Violation]:
    """A ticket that is redeemed twice gives the same rows, or a status other than OK.

    The page: "the client can get data multiple times by DoGet". Flight.proto, Ticket: "An opaque identifier that the
    service can use to retrieve a particular portion of a stream." A server that has cancelled or used the ticket says
    so by its status.
    """
    before, after = pair.before.table, pair.get.table
    assert before is not None
    assert after is not None
    one, other = without_dictionaries(before), without_dictionaries(after)
    if said := columns_differ(one.schema, other.schema):
        yield Violation(f"the columns of the first read: {listed(one.schema)}", said)
        return
    match = match_rows(one, other)
    if match.missing or match.repeated or match.foreign or match.changed:
        yield Violation(f"the {many(one.num_rows, 'row')} of the first read", f"{many(other.num_rows, 'row')}, others")


def _ordered(pair: _Again) -> bool:
    seen = pair.get.info
    return seen is not None and seen.info.ordered


@clause(
    "flight-data.order-stays",
    over=lambda view: [pair for pair in _again(view) if _ordered(pair)],
    source=FLIGHT_PROTO,
    breaks="clients that rely on the order, which the info promises",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def order_stays(pair: _Again) -> Iterator[Violation]:
    """An endpoint of an info with ``ordered`` gives its rows in the same order when it is read again.

    Flight.proto, ``ordered``: "FlightEndpoints are in the same order as the data." Without ``ordered`` and with several
    endpoints "there is no ordering defined on endpoints or the data within". The first column of the table, which
    numbers its rows, is compared.
    """
    before, after = pair.before.table, pair.get.table
    assert before is not None
    assert after is not None
    if not before.num_columns or not after.num_columns:
        return
    one, other = before.column(0).to_pylist(), after.column(0).to_pylist()
    at = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    if at is not None and sorted(one, key=repr) == sorted(other, key=repr):
        yield Violation(f"row {at}: {one[at]!r}, as in the first read", repr(other[at]))
