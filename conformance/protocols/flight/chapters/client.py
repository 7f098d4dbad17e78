"""Clients of Arrow Flight: the truth of rows and metadata, statuses that stay errors, illegal bytes, and ends of calls.

The requirement depends on what the server does (:class:`conformance.contract.clientjudging.Situation`), never on other
clients. What a path gives are rows of data, or one row for each ``app_metadata``, result, flight, action, field or
token; they are all there, or there is an error.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from conformance.contract.clause import CLIENTS, Role, Violation, clause
from conformance.contract.clientjudging import In, Situation
from conformance.contract.sources import ARROW_SECURITY, GRPC_STREAM_ENDS, IPC_STREAM, STATUS_CODES, Inferred
from conformance.protocols.flight.contract.clientread import FlightRead
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.records import ReadingOutcome

SERVED: Final = (Situation.HEALTHY, Situation.EMPTY)
TABLE: Final = (ReadingOutcome.TABLE,)
ANSWERED: Final = (ReadingOutcome.TABLE, ReadingOutcome.ERROR)
SILENT: Final = "programs that use the rows: these are wrong, without an error"

_clause = functools.partial(clause, profiles=CLIENTS, role=Role.CLIENT)
_in = functools.partial(In, of=FlightRead)


@_clause(
    "flight-client.survives",
    over=_in(),
    source=ARROW_SECURITY,
    breaks="programs that read from Flight: what a server sends ends the process or blocks a thread",
)
def survives(read: FlightRead) -> Iterator[Violation]:
    """A client answers in every situation, with rows or an error: its process neither dies nor hangs."""
    if read.answer.outcome not in ANSWERED:
        yield Violation("rows or an error", f"{read.summary}, where {read.title}", read.answer.client)


@_clause(
    "flight-client.reads",
    over=_in(*SERVED, ended=ANSWERED),
    source=(FLIGHT_PROTO, IPC_STREAM),
    breaks="users of the client: a server that keeps to Flight cannot be read",
)
def reads(read: FlightRead) -> Iterator[Violation]:
    """A client reads what Flight and the Arrow stream format permit: dictionaries that grow or are replaced, compressed
    buffers, batches without rows, fields in any order, and fields of later versions. What its maintainers say that it
    does not support may be an error.
    """
    if read.answer.outcome is ReadingOutcome.ERROR:
        yield Violation("rows", f"{read.summary}, where {read.title}", read.answer.client)


@_clause("flight-client.rows-true", over=_in(*SERVED, ended=TABLE), source=(FLIGHT_PROTO, IPC_STREAM), breaks=SILENT)
def rows_true(read: FlightRead) -> Iterator[Violation]:
    """The rows of a client are those that the server sent: none lost, repeated, added or changed, in their columns."""
    if not read.metadata:
        yield from _differences(read, "what the server sent")


@_clause(
    "flight-client.metadata",
    over=_in(*SERVED, Situation.OPEN, ended=ANSWERED),
    source=FLIGHT_PROTO,
    breaks="programs that count or acknowledge batches by their metadata: some is missing, or comes twice",
)
def metadata(read: FlightRead) -> Iterator[Violation]:
    """A path that gives ``app_metadata`` gives that of each message, once and in order, whether it has data or not, or
    an error; where an error is not permitted, ``flight-client.reads`` says so.
    """
    if read.metadata:
        yield from _differences(read, "the metadata of each message")
        if read.answer.order:
            yield Violation("the metadata in order", f"{read.answer.order}, where {read.title}", read.answer.client)


@_clause(
    "flight-client.order-in-stream",
    over=_in(Situation.HEALTHY, ended=TABLE),
    source=(FLIGHT_PAGE, IPC_STREAM),
    breaks="programs that rely on the order within one endpoint",
)
def order_in_stream(read: FlightRead) -> Iterator[Violation]:
    """The rows of one stream keep their order; between endpoints there is none."""
    if read.answer.order and not read.metadata:
        yield Violation("the rows in their order", f"{read.answer.order}, where {read.title}", read.answer.client)


@_clause(
    "flight-client.status-is-error",
    over=_in(Situation.REFUSED, ended=ANSWERED),
    source=(STATUS_CODES, FLIGHT_PAGE),
    breaks=SILENT,
)
def status_is_error(read: FlightRead) -> Iterator[Violation]:
    """A call that ends with another status than OK makes an error, wherever it ends and whatever its trailers have."""
    if read.answer.outcome is ReadingOutcome.TABLE:
        yield Violation("an error", f"{_rows(read)}, where {read.title}", read.answer.client)


@_clause(
    "flight-client.broken-is-error",
    over=_in(Situation.BROKEN, ended=ANSWERED),
    source=(ARROW_SECURITY, FLIGHT_PROTO),
    breaks=SILENT,
)
def broken_is_error(read: FlightRead) -> Iterator[Violation]:
    """What cannot be read makes an error, and never silence or other rows: a stream without a schema, a body that is
    missing or cut, a header that is no message, a message that is no protobuf, no answer where one is due.
    """
    whole = read.metadata and not (read.answer.columns or read.answer.differences)
    # A path that gives all of the metadata need not have looked at the data.
    if read.answer.outcome is ReadingOutcome.TABLE and not whole:
        yield Violation("an error", f"{_rows(read)}, where {read.title}", read.answer.client)


@_clause(
    "flight-client.whole-or-error",
    over=_in(Situation.OPEN, Situation.INTERRUPTED, ended=ANSWERED),
    source=(FLIGHT_PROTO, Inferred(FLIGHT_PAGE), GRPC_STREAM_ENDS),
    breaks=SILENT,
)
def whole_or_error(read: FlightRead) -> Iterator[Violation]:
    """Where the texts leave open what a message means, where its maintainers say that a client does not support a legal
    stream, and where a connection breaks, it gives every row once, or an error: never fewer rows. Messages with
    metadata alone are among what is open.

    Flight.proto, DoGet: "Retrieve a single stream associated with a particular descriptor". A part of it is no stream.
    """
    if not read.metadata or read.situation is Situation.INTERRUPTED:
        yield from _differences(read, "every row once, or an error")


@_clause(
    "flight-client.tickets-as-given",
    over=_in(ended=ANSWERED),
    source=(FLIGHT_PAGE, FLIGHT_PROTO),
    breaks="servers: a ticket that was changed on its way is not known, or is that of somebody else",
)
def tickets_as_given(read: FlightRead) -> Iterator[Violation]:
    """A client redeems tickets as it got them, byte for byte: they are opaque, and need not be text."""
    for complaint in read.answer.tickets:
        yield Violation("a ticket of an endpoint", f"{complaint}, where {read.title}", read.answer.client)


@_clause(
    "flight-client.uploads-are-true",
    over=_in(ended=ANSWERED),
    source=(FLIGHT_PROTO, IPC_STREAM),
    breaks="servers: the upload of this client cannot be stored, or other rows are",
)
def uploads_are_true(read: FlightRead) -> Iterator[Violation]:
    """What a client uploads is what the program wrote, in an Arrow stream of legal messages, and the first message of a
    DoPut has the descriptor.

    Flight.proto, FlightData: the descriptor "is only relevant when a client is starting a new DoPut stream".
    """
    for complaint in read.answer.uploads:
        yield Violation("the upload of the program", f"{complaint}, where {read.title}", read.answer.client)


def _differences(read: FlightRead, required: str) -> Iterator[Violation]:
    for found in (read.answer.columns, *read.answer.differences):
        if found:
            yield Violation(required, f"{found}, where {read.title}", read.answer.client)


def _rows(read: FlightRead) -> str:
    """What the table of a client is: all rows, or which are missing."""
    return "; ".join(filter(None, (read.answer.columns, *read.answer.differences))) or "all rows and no error"
