"""What becomes of a table that DoPut accepted: asked for again, it is there, and nothing was lost in silence.

Flight leaves to the application what a DoPut means. A target file that says ``seeding = "put"`` states that the table
is stored under its descriptor; these clauses hold the server to that.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.matching import RowMatch, match_rows, show_row
from conformance.contract.sources import STATUS_CODES, Inferred
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.damaged import DamagedPut, damaged_puts, difference, not_sent
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO, INTEGRATION_CLIENT
from conformance.protocols.flight.contract.subjects import (
    LARGE,
    PutTable,
    about,
    asked_for,
    columns_differ,
    is_damaged,
    listed,
    stored,
    without_dictionaries,
)
from conformance.protocols.flight.contract.view import FlightCall, FlightView, gave_up
from conformance.protocols.flight.records import DoPut, FlightMethod, GetFlightInfo
from conformance.records import Level

_SOURCE = (INTEGRATION_CLIENT, STATUS_CODES, Inferred(FLIGHT_PROTO))
_clause = functools.partial(clause, over=stored, source=_SOURCE, profiles=FLIGHT, role=Role.APPLICATION)


def _match(one: PutTable) -> RowMatch:
    def match() -> RowMatch:
        assert one.rows is not None, "the selector leaves out what cannot be read"
        return match_rows(one.table, one.rows)

    return one.put.view.once(("match", one.call, one.seen.call), match)


@_clause("flight-put.columns-are-kept", breaks="every client: columns are missing, or have other types")
def columns_are_kept(one: PutTable) -> Iterator[Violation]:
    """The columns that come back have the names and types of those that were put, in their order.

    Flight.proto, DoPut: "Push a stream to the flight service associated with a particular flight stream."
    """
    assert one.rows is not None
    wanted, came = one.table.schema, one.rows.schema
    if one.seen.info.endpoints and (said := columns_differ(wanted, came)):
        yield Violation(f"the columns that were put: {listed(wanted)}", said, call=one.seen.call)


@_clause("flight-put.nothing-is-lost", breaks="every client: rows that the server accepted are gone, without an error")
def nothing_is_lost(one: PutTable) -> Iterator[Violation]:
    """Every row of a DoPut that ended in OK comes back from the endpoints of its flight.

    The page: the client uploads "a stream of Arrow record batches". If some of them are lost, the status OK is all that
    the client learns.
    """
    missing = _match(one).missing
    if missing:
        assert one.rows is not None
        shown = show_row(one.table, missing[0])
        came = f"{many(one.rows.num_rows, 'row')}{_hint(one)}"
        observed = f"{came}; {many(len(missing), 'row')} missing, the first {shown}"
        yield Violation(f"the {many(one.table.num_rows, 'row')} that were put", observed, call=one.seen.call)


def _hint(one: PutTable) -> str:
    """What a finding says of rows that are gone from the first message without rows on: there a library may end.

    The driver puts a message of metadata alone in front of the first rows. An application that calls this method of its
    library can learn nothing of the rows behind it, so that only the finding can tell it where they went.
    """
    step = one.put.step
    alone = isinstance(step, DoPut) and step.metadata and one.rows is not None and not one.rows.num_rows
    return " (hint: read_all of pyarrow ends at a message of metadata alone)" if alone else ""


@clause(
    "flight-put.large-is-whole",
    over=lambda view: [one for one in stored(view) if one.put.step.expect.reason == LARGE],
    source=_SOURCE,
    breaks="every client with large messages: rows that the server accepted are gone, without an error",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def large_is_whole(one: PutTable) -> Iterator[Violation]:
    """The rows of messages larger than 4 MiB come back, or the DoPut is refused.

    The status codes of gRPC: OK is "returned on success". A library may refuse a message that is too large for it, with
    RESOURCE_EXHAUSTED for example; it may not leave the message out.
    """
    missing = len(_match(one).missing)
    if missing:
        wanted = f"the {many(one.table.num_rows, 'row')} that were put, or a status other than OK"
        yield Violation(wanted, f"{many(missing, 'row')} missing", call=one.seen.call)


@_clause("flight-put.nothing-is-added", breaks="every client: it counts rows twice, or rows that nobody put")
def nothing_is_added(one: PutTable) -> Iterator[Violation]:
    """No row comes back that was not put, and none more often than it was put.

    The page, on downloading data: each endpoint "contains a subset of the response data".
    """
    match = _match(one)
    surplus = (*match.repeated, *match.foreign)
    if surplus:
        assert one.rows is not None
        kinds = f"{many(len(match.repeated), 'row')} repeated, {len(match.foreign)} never put"
        observed = f"{many(one.rows.num_rows, 'row')}: {kinds}, the first {show_row(one.rows, surplus[0])}"
        yield Violation(f"the {many(one.table.num_rows, 'row')} that were put", observed, call=one.seen.call)


@_clause("flight-put.values-are-kept", breaks="every client: it gets wrong values, without an error")
def values_are_kept(one: PutTable) -> Iterator[Violation]:
    """The values of each row are those that were put, to the bit; all NaNs are one value.

    Flight.proto, ``data_body``: "The actual batch of Arrow data."
    """
    for expected, got in _match(one).changed[:1]:
        assert one.rows is not None
        yield Violation(show_row(one.table, expected), show_row(one.rows, got), call=one.seen.call)


@about
def _looked_for(view: FlightView) -> list[FlightCall]:
    """Return each GetFlightInfo after a DoPut that was accepted, unless time passed between: the flight may be over."""
    asked = [call for call in view.flight_calls if call.raw.method == FlightMethod.GET_FLIGHT_INFO and call.answered]
    puts = [view.put_before(call.step, call.index) for call in asked]
    return [
        call
        for call, put in zip(asked, puts, strict=True)
        if put is not None and put.ahead == call.ahead and not is_damaged(put)
    ]


@clause(
    "flight-put.is-found",
    over=_looked_for,
    source=_SOURCE,
    breaks="every client: the table that the server accepted is nowhere",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def is_found(call: FlightCall) -> Iterator[Violation]:
    """After a DoPut that ended in OK, GetFlightInfo on the same descriptor finds the flight.

    The page: the descriptor is there "so the server can identify the dataset".
    """
    if not call.ok:
        yield Violation("status OK after a DoPut that ended in OK", f"{call.raw.status}: {call.raw.details}")


@clause(
    "flight-put.broken-data-is-refused",
    over=about(asked_for("broken-data")),
    source=(STATUS_CODES, Inferred(FLIGHT_PROTO)),
    breaks="every client whose message was damaged or cut: the server says that it has the rows",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def broken_data_is_refused(call: FlightCall) -> Iterator[Violation]:
    """A DoPut whose batch cannot be read does not end in OK.

    Flight.proto: "Header for message data as described in Message.fbs::Message." Such a header cannot be followed, so
    that its rows are lost; OK, which gRPC defines as "returned on success", would hide that.
    """
    if call.ok:
        yield Violation("a status other than OK for a batch that cannot be read", "OK")


@clause(
    "flight-put.descriptor-is-needed",
    over=about(asked_for("no-descriptor")),
    source=FLIGHT_PAGE,
    level=Level.SHOULD,
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def descriptor_is_needed(call: FlightCall) -> Iterator[Violation]:
    """A DoPut without any descriptor is refused.

    The page: "The FlightDescriptor is included with the first message so the server can identify the dataset."
    """
    if call.ok:
        yield Violation("a status other than OK for data of no flight", "OK")


@about
def _given_up(view: FlightView) -> list[PutTable]:
    """Return every flight that was read after a client had given up a DoPut of it, the first under its descriptor."""
    found = []
    for seen in view.infos:
        puts = list(view.puts_before(seen.of.step, seen.call)) if isinstance(seen.of.step, GetFlightInfo) else []
        if len(puts) == 1 and gave_up(puts[0]):
            found.append(PutTable(puts[0], seen))
    return [one for one in found if one.rows is not None and one.rows.num_rows]


@clause(
    "flight-put.given-up-is-what-was-sent",
    over=_given_up,
    source=_SOURCE,
    breaks="every client of the flight: it reads rows that nobody put",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def given_up_is_what_was_sent(one: PutTable) -> Iterator[Violation]:
    """After a DoPut that its client gave up, the flight has rows that were sent, each once, or it has none.

    Flight.proto, DoPut: "Push a stream to the flight service". How much of a stream is stored that has no end is left
    to the application.
    """
    match = _match(one)
    surplus = (*match.repeated, *match.foreign)
    if surplus or match.changed:
        assert one.rows is not None
        row = surplus[0] if surplus else match.changed[0][1]
        kinds = f"{many(len(match.repeated), 'row')} repeated, {len(match.foreign)} never sent"
        observed = f"{kinds}, {len(match.changed)} changed, the first {show_row(one.rows, row)}"
        yield Violation("rows that were sent before the client gave up, each once", observed, call=one.seen.call)


_DAMAGE = (STATUS_CODES, Inferred(FLIGHT_PROTO))
_refused = functools.partial(
    clause,
    over=damaged_puts(lambda one: not one.put.ok and (one.stored is not None or not one.asked.ok)),
    source=_DAMAGE,
    profiles=FLIGHT,
)


@clause(
    "flight-put.damaged-is-whole-or-refused",
    over=damaged_puts(lambda one: not one.put.ok or not one.asked.ok or one.stored is not None),
    source=_DAMAGE,
    breaks="every client whose stream was damaged: the server says that it has the rows, and they are lost or others",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def damaged_is_whole_or_refused(one: DamagedPut) -> Iterator[Violation]:
    """Where a message of a DoPut is damaged, missing or out of place, every row comes back, or the DoPut is refused.

    The status codes of gRPC: OK is "returned on success". A server that can read on, because the message means nothing,
    may do so; one that cannot ends the call with an error.
    """
    if not one.put.ok:
        return
    wanted = f"the {many(one.sent.num_rows, 'row')} that were put, or a status other than OK"
    if not one.asked.ok:
        yield Violation(wanted, f"OK, and then {one.asked.raw.status} for the flight", call=one.asked.index)
        return
    said = difference(one.sent, one.rows)
    if said:
        yield Violation(wanted, f"OK and {many(one.rows.num_rows, 'row')}: {said}", call=one.asked.index)


@_refused("flight-put.refused-is-not-stored", level=Level.SHOULD, role=Role.APPLICATION)
def refused_is_not_stored(one: DamagedPut) -> Iterator[Violation]:
    """After a DoPut that was refused, its flight has no rows.

    Some libraries end the stream for the application as if it were whole, and refuse the call afterwards.
    A client that gets an error puts the table again. What Flight.proto calls pushing "a stream to the flight service
    associated with a particular flight stream" then has rows twice, if the server appends.
    """
    rows = one.rows.num_rows
    if rows:
        observed = f"{one.put.raw.status}, and {many(rows, 'row')}"
        yield Violation("no rows of a DoPut that was refused", observed, call=one.asked.index)


@_refused(
    "flight-put.refused-is-not-invented",
    breaks="every client of the flight: it reads rows that nobody put",
    role=Role.LIBRARY,
)
def refused_is_not_invented(one: DamagedPut) -> Iterator[Violation]:
    """What a flight has after a DoPut that was refused are rows that were sent, each once.

    Flight.proto, DoPut: "Push a stream to the flight service". Bytes that no message has are no rows of the stream.
    """
    # Rows of another DoPut of the case are not invented; a server that mixes flights fails other clauses.
    sent, came = without_dictionaries(one.put.view.table), one.rows
    for said in not_sent(match_rows(sent, came), came):
        yield Violation("rows that were sent, each once", said, call=one.asked.index)
