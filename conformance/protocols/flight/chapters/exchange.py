"""DoExchange: the answers are an Arrow stream of their own, and an exchange that sends back what it gets loses nothing.

Flight leaves to the application what an exchange answers. A target file that names the command ``echo`` states that
each batch and all ``app_metadata`` come back under it; the clauses on what comes back hold the server to that. A server
may end an exchange early, with an error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.matching import RowMatch, match_rows, show_row, show_rows
from conformance.contract.sources import IPC_STREAM, STATUS_CODES, Inferred
from conformance.contract.view import View
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.arrowstream import first_is_no_schema, stream_violations
from conformance.protocols.flight.contract.damaged import damaged_exchanges, difference, rows_sent_back
from conformance.protocols.flight.contract.decoding import in_words
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO, INTEGRATION_SCENARIOS
from conformance.protocols.flight.contract.subjects import (
    about,
    asked_for,
    columns_differ,
    is_damaged,
    listed,
    sent_rows,
)
from conformance.protocols.flight.contract.view import ExchangeView, FlightCall, FlightView
from conformance.protocols.flight.records import DoExchange
from conformance.records import Level

_BREAKS = "every client: Flight libraries read the answers with their IPC readers"
_ECHO = (INTEGRATION_SCENARIOS, STATUS_CODES, Inferred(FLIGHT_PROTO))


def _exchanges(view: FlightView) -> list[ExchangeView]:
    """Return every exchange that ended in OK; an echo of what was no Arrow stream may be none."""
    calls = [call for call in view.flight_calls if isinstance(call, ExchangeView) and call.ok]
    return [call for call in calls if not is_damaged(call)]


def _echoes(*, rows: bool) -> Callable[[View], Sequence[ExchangeView]]:
    """Return a selector of the exchanges that ended in OK and had to send back rows, or metadata."""

    def select(view: FlightView) -> list[ExchangeView]:
        return [
            call
            for call in _exchanges(view)
            if isinstance(call.step, DoExchange)
            and (call.step.rows if rows else bool(call.step.alone or call.step.metadata))
            and (not rows or not call.joined.filled or call.table is not None)
        ]

    return about(select)


_clause = functools.partial(clause, over=about(_exchanges), profiles=FLIGHT, role=Role.LIBRARY)
_rows = functools.partial(clause, over=_echoes(rows=True), source=_ECHO, profiles=FLIGHT, role=Role.APPLICATION)


@_clause("flight-exchange.schema-comes-first", source=(IPC_STREAM, Inferred(FLIGHT_PAGE)), breaks=_BREAKS)
def schema_comes_first(call: ExchangeView) -> Iterator[Violation]:
    """The first answer with a header is the schema, whichever schema the client sends; metadata may come before it.

    The page: DoExchange is for an application that "may need to both send and receive data", in the IPC format, whose
    streams begin with the schema. Answers of metadata alone need none.
    """
    yield from first_is_no_schema(call)


@_clause("flight-exchange.is-an-arrow-stream", source=(IPC_STREAM, Inferred(FLIGHT_PAGE)), breaks=_BREAKS)
def is_an_arrow_stream(call: ExchangeView) -> Iterator[Violation]:
    """The answers, with their prefixes put back, are one IPC stream: no MUST of ``ipc-stream`` is broken.

    The page: Flight is "built on top of gRPC and the IPC format". A body without a header belongs to no stream, either.
    """
    for at, data in enumerate(call.data):
        if data is not None and data.body and not data.header:
            yield Violation("a data_header for the data_body", f"{many(len(data.body), 'byte')} of body", response=at)
    yield from stream_violations(call, Level.MUST)


@_clause("flight-exchange.no-descriptor-from-the-server", source=FLIGHT_PROTO, level=Level.SHOULD)
def no_descriptor_from_the_server(call: ExchangeView) -> Iterator[Violation]:
    """The answers name no descriptor.

    Flight.proto, ``flight_descriptor``: "This is only relevant when a client is starting a new DoPut stream."
    """
    for at, data in enumerate(call.data):
        if data is not None and data.descriptor is not None:
            yield Violation("no flight_descriptor", in_words(data.descriptor), response=at)
            return


@clause(
    "flight-exchange.descriptor-is-needed",
    over=about(asked_for("exchange-without-descriptor")),
    source=(FLIGHT_PROTO, Inferred(FLIGHT_PAGE)),
    level=Level.SHOULD,
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def descriptor_is_needed(call: FlightCall) -> Iterator[Violation]:
    """A DoExchange without any descriptor is refused.

    Flight.proto, DoExchange: "Open a bidirectional data channel for a given descriptor."
    """
    if call.ok:
        yield Violation("a status other than OK for an exchange under no descriptor", "OK")


def _match(call: ExchangeView) -> RowMatch:
    sent = sent_rows(call)
    return call.view.once(("echo", call.index), lambda: match_rows(sent, rows_sent_back(call)))


@_rows("flight-exchange.columns-are-kept", breaks="every client: columns are missing, or have other types")
def columns_are_kept(call: ExchangeView) -> Iterator[Violation]:
    """The columns that an echo sends back have the names and types of those that it got, in their order.

    The integration client of Arrow reads each batch of its echo as one of the schema that it sent.
    """
    wanted, came = sent_rows(call).schema, rows_sent_back(call).schema
    if said := columns_differ(wanted, came):
        yield Violation(f"the columns that were sent: {listed(wanted)}", said)


@_rows("flight-exchange.nothing-is-lost", breaks="every client: rows are gone, and the status is OK")
def nothing_is_lost(call: ExchangeView) -> Iterator[Violation]:
    """Every row of an exchange that echoes comes back before the status OK.

    The status codes of gRPC: OK is "returned on success". A server that cannot go on ends the call with an error.
    """
    missing = _match(call).missing
    if missing:
        table = sent_rows(call)
        observed = f"{many(rows_sent_back(call).num_rows, 'row')}; {many(len(missing), 'row')} missing, the first "
        yield Violation(f"the {many(table.num_rows, 'row')} that were sent", observed + show_row(table, missing[0]))


@_rows("flight-exchange.nothing-is-added", breaks="every client: it gets rows twice, or rows that it did not send")
def nothing_is_added(call: ExchangeView) -> Iterator[Violation]:
    """No row comes back that was not sent, and none more often than it was sent.

    The integration client of Arrow fails if its echo sends another batch after the last one.
    """
    match, came = _match(call), rows_sent_back(call)
    surplus = (*match.repeated, *match.foreign)
    if surplus:
        kinds = f"{many(len(match.repeated), 'row')} repeated, {len(match.foreign)} never sent"
        observed = f"{many(came.num_rows, 'row')}: {kinds}, the first {show_row(came, surplus[0])}"
        yield Violation(f"the {many(sent_rows(call).num_rows, 'row')} that were sent", observed)


@_rows("flight-exchange.values-are-kept", breaks="every client: it gets wrong values, without an error")
def values_are_kept(call: ExchangeView) -> Iterator[Violation]:
    """The values of each row are those that were sent, to the bit; all NaNs are one value.

    The integration client of Arrow compares each batch with the one that it sent.
    """
    for expected, got in _match(call).changed[:1]:
        yield Violation(*show_rows(sent_rows(call), expected, rows_sent_back(call), got))


@clause(
    "flight-exchange.metadata-comes-back",
    over=_echoes(rows=False),
    source=_ECHO,
    breaks="every client: what the application said with its batches is gone",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def metadata_comes_back(call: ExchangeView) -> Iterator[Violation]:
    """All ``app_metadata`` of an exchange that echoes comes back, in its order; other metadata may come between.

    The integration client of Arrow compares the metadata of each batch with that which it sent.
    """
    came = iter([data.metadata for data in call.data if data is not None and data.metadata is not None])
    wanted = [data.metadata for data in call.sent if data.metadata is not None]
    for at, one in enumerate(wanted):
        if one not in came:
            yield Violation(f"{many(len(wanted), 'app_metadata', 'app_metadata')}", f"{one!r}, number {at}, missing")
            return


@clause(
    "flight-exchange.damaged-is-whole-or-refused",
    over=damaged_exchanges,
    source=(STATUS_CODES, Inferred(FLIGHT_PAGE)),
    breaks="every client whose stream was damaged: it gets the status OK, and rows are lost or others",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def exchange_is_whole_or_refused(call: ExchangeView) -> Iterator[Violation]:
    """Where a message of a DoExchange that echoes is damaged, missing or out of place, every row comes back, or the
    exchange ends in an error.

    The status codes of gRPC: OK is "returned on success".
    """
    if not call.ok:
        return
    lost = difference(sent_rows(call), rows_sent_back(call))
    if lost:
        wanted = f"the {many(sent_rows(call).num_rows, 'row')} that were sent, or a status other than OK"
        yield Violation(wanted, f"OK and {many(rows_sent_back(call).num_rows, 'row')}: {lost}")
