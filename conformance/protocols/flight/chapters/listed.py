"""The flights that a server lists: they can be asked for and read, and one reader changes nothing for the next.

The suite knows nothing of these flights. Their data may change at any time, they may end, and not everybody may read
them: only a flight that is listed still is judged, and rows only between two reads that gave the same ones.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.matching import match_rows
from conformance.contract.sources import Inferred
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.decoding import AT, Meaning, in_words, meaning_of, message_of
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import LIMITS, about, columns_of, together
from conformance.protocols.flight.contract.view import FlightCall, FlightView, GetView, InfoSeen
from conformance.protocols.flight.records import DoGet, FlightMethod, GetFlightInfo, GetSchema
from conformance.records import Level

_clause = functools.partial(clause, source=FLIGHT_PROTO, profiles=FLIGHT, role=Role.APPLICATION, level=Level.SHOULD)

_NOT_FOUND = frozenset({"NOT_FOUND", "INVALID_ARGUMENT"})
"""The statuses that say that nothing has a descriptor."""
_SHOWN = 1000
"""Rows of a flight whose order is compared."""


def _asked(call: FlightCall) -> Meaning | None:
    """The descriptor of a request; None if it has none."""
    found = message_of("FlightDescriptor", call.raw.request)
    return None if found is None else meaning_of(found)


def _still(view: FlightView, name: Meaning | None, index: int) -> bool:
    """True if a list after the call ``index`` has the flight still."""
    lists = (call for call in view.flight_calls[index + 1 :] if call.raw.method == FlightMethod.LIST_FLIGHTS)
    return any(info.descriptor == name for call in lists for _, info in call.infos)


@about
def _asked_for(view: FlightView) -> list[FlightCall]:
    """Return the answered calls that ask for a flight by the descriptor in the list, if it is listed afterwards."""
    asked = [call for call in view.flight_calls if call.answered and isinstance(call.step, GetFlightInfo | GetSchema)]
    of_list = [call for call in asked if isinstance(call.step, GetFlightInfo | GetSchema) and call.step.descriptor.info]
    return [call for call in of_list if _still(view, _asked(call), call.index)]


@_clause("flight-listed.is-found", over=_asked_for, breaks="clients that show a list, and ask for what is chosen")
def is_found(call: FlightCall) -> Iterator[Violation]:
    """A flight that is listed is found under the descriptor that the list names.

    Flight.proto, FlightInfo: "The descriptor associated with this info." ListFlights: "Get a list of available streams
    given a particular criteria." A service need not have GetFlightInfo or GetSchema, and may refuse a client.
    """
    if call.raw.status in _NOT_FOUND:
        name = _asked(call)
        what = "the flight of the list" if name is None else in_words(name)
        yield Violation(f"an answer about {what}", f"{call.raw.status}: {call.raw.details}")


@about
def _described(view: FlightView) -> list[InfoSeen]:
    return [seen for seen in view.infos if seen.found and seen.of.raw.method == FlightMethod.GET_FLIGHT_INFO]


@_clause("flight-listed.records-have-endpoints", over=_described, breaks="every client: there is nothing to read")
def records_have_endpoints(seen: InfoSeen) -> Iterator[Violation]:
    """A listed flight of some records has an endpoint at which they are.

    Flight.proto, ``endpoint``: "A list of endpoints associated with the flight. To consume the whole flight, all
    endpoints (and hence all Tickets) must be consumed."
    """
    if seen.info.records > 0 and not seen.info.endpoints:
        yield Violation("an endpoint", f"total_records {seen.info.records}, and no endpoint")


_Place = tuple[Meaning | None, str]
"""An endpoint of a flight: the descriptor, and the number of the endpoint."""


@about
def _first_reads(view: FlightView) -> list[tuple[_Place, GetView]]:
    """Return the first read of each ticket of each info of a listed flight, if the flight is listed afterwards.

    What says nothing of the flight is left out: a refusal of this client, or of one at this time. A place that cannot
    be reached counts where the endpoint names no other one.
    """
    found: list[tuple[_Place, GetView]] = []
    for get in view.gets:
        seen = get.info
        if seen is None or not seen.found or not get.answered or get.may_be_over or get.raw.status in LIMITS:
            continue
        if get.raw.status == "UNAVAILABLE" and not _has_no_other_place(get, seen):
            continue
        if seen.read_of(get.ticket) is get and _still(view, seen.name, get.index):
            found.append(((seen.name, get.raw.label.partition(AT)[0].rpartition("/")[2]), get))
    return found


def _has_no_other_place(get: GetView, seen: InfoSeen) -> bool:
    endpoint = seen.endpoint_of(get)
    return get.elsewhere and endpoint is not None and len(endpoint.locations) == 1


def _redeemed(view: FlightView, *, served: bool) -> list[GetView]:
    """Return the reads of the endpoints that were read at least once, or of those that never were."""
    known = {place for place, get in _first_reads(view) if get.ok}
    return [get for place, get in _first_reads(view) if (place in known) is served]


@_clause(
    "flight-listed.tickets-are-redeemed",
    over=about(lambda view: [get for _, get in _first_reads(view) if get.ok] + _redeemed(view, served=False)),
    source=(FLIGHT_PROTO, FLIGHT_PAGE),
    level=Level.MUST,
    breaks="every client: a part of the flight is missing",
)
def tickets_are_redeemed(get: GetView) -> Iterator[Violation]:
    """A ticket of a flight that is listed before and after is redeemed where its endpoint says.

    Flight.proto: "If the list is empty, the expectation is that the ticket can only be redeemed on the current service
    where the ticket was generated." ListFlights: "Most flight services will expose one or more streams that are readily
    available for retrieval." A status that says that a client may not read, or not now, is permitted. An endpoint that
    is read at another time is judged by ``flight-listed.is-read-again``.
    """
    if not get.ok:
        yield Violation("status OK for a ticket that was just given out", f"{get.raw.status}: {get.raw.details}")


@_clause(
    "flight-listed.is-read-again",
    over=about(lambda view: _redeemed(view, served=True)),
    source=(Inferred(FLIGHT_PROTO), FLIGHT_PAGE),
    breaks="every other client of the server: one that reads a flight takes it from it",
)
def is_read_again(get: GetView) -> Iterator[Violation]:
    """A flight that is read once is read by the tickets of its other infos, also at the same time as another reader.

    Flight.proto, DoGet: "each stream can be retrieved using a separate opaque ticket that the flight service uses for
    managing a collection of streams." A ticket that is used may be refused; an info that gives it out again says that
    it can be redeemed.
    """
    if not get.ok:
        yield Violation("status OK, as for another read of the endpoint", f"{get.raw.status}: {get.raw.details}")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """All endpoints of a listed flight, read in one step; ``call`` is the last of its calls."""

    call: int
    seen: InfoSeen
    rows: pa.Table
    response: None = None


@about
def _readings(view: FlightView) -> list[_Reading]:
    """Return the readings of listed flights that were whole and can be decoded."""
    steps: dict[int, dict[str, GetView]] = {}
    for get in view.gets:
        if isinstance(get.step, DoGet) and get.info is not None and get.info.found:
            steps.setdefault(get.raw.step, {}).setdefault(get.raw.label.partition(AT)[0], get)
    found: list[_Reading] = []
    for reads in steps.values():
        gets = list(reads.values())
        seen = gets[0].info
        tables = [get.table for get in gets if get.ok and get.table is not None]
        if seen is None or len(tables) != len(seen.info.endpoints):
            continue
        rows = together(tables)
        if rows is not None:
            found.append(_Reading(gets[-1].index, seen, rows))
    return found


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Between:
    """A reading between two others that gave the same rows, with the first of them."""

    before: _Reading
    reading: _Reading
    response: None = None

    @property
    def call(self) -> int:
        """The index of the last call of the reading."""
        return self.reading.call


_Same = Callable[[pa.Table, pa.Table], bool]


def _between(view: FlightView, same: _Same, *, most: bool) -> Iterator[_Between]:
    """The readings of each flight between two that are the same; with ``most``, as most of them are."""
    flights: dict[Meaning | None, list[_Reading]] = {}
    for reading in _readings(view):
        flights.setdefault(reading.seen.name, []).append(reading)
    for readings in flights.values():
        yield from _enclosed(readings, same, most=most)


def _enclosed(readings: Sequence[_Reading], same: _Same, *, most: bool) -> Iterator[_Between]:
    groups: list[list[int]] = []
    for at, reading in enumerate(readings):
        known = next((one for one in groups if same(readings[one[0]].rows, reading.rows)), None)
        if known is None:
            groups.append([at])
        else:
            known.append(at)
    for group in groups:
        if not most or 2 * len(group) > len(readings):
            yield from (_Between(readings[group[0]], readings[at]) for at in range(group[0] + 1, group[-1]))


def _alike(one: pa.Table, other: pa.Table) -> bool:
    if columns_of(one.schema) != columns_of(other.schema):
        return False
    match = match_rows(one, other)
    return not (match.missing or match.repeated or match.foreign or match.changed)


@_clause(
    "flight-listed.reads-agree",
    over=about(lambda view: list(_between(view, _alike, most=True))),
    source=(Inferred(FLIGHT_PROTO), FLIGHT_PAGE),
    breaks="every client: rows are missing or come twice, without an error, while another client reads",
)
def reads_agree(pair: _Between) -> Iterator[Violation]:
    """A flight that gives the same rows most of the time gives them to whoever reads it in between.

    Flight.proto, Ticket: "An opaque identifier that the service can use to retrieve a particular portion of a stream."
    Data may change; data that is back later, as if nothing had been, shows that it was the reading that changed it.
    """
    one, other = pair.before.rows, pair.reading.rows
    if not _alike(one, other):
        wanted = f"the {many(one.num_rows, 'row')} of before and after"
        yield Violation(wanted, f"{many(other.num_rows, 'row')}, others")


def _ordered(view: FlightView) -> list[_Between]:
    return [pair for pair in _between(view, _in_one_order, most=False) if pair.reading.seen.info.ordered]


@_clause(
    "flight-listed.order-stays",
    over=about(_ordered),
    breaks="clients that rely on the order, which the info promises",
)
def order_stays(pair: _Between) -> Iterator[Violation]:
    """An info with ``ordered`` gives its rows in the order of the reads before and after it.

    Flight.proto, ``ordered``: "FlightEndpoints are in the same order as the data." It is no MUST, because rows of the
    same rank have no order among each other.
    """
    one, other = _first_rows(pair.before.rows), _first_rows(pair.reading.rows)
    if one != other and sorted(one) == sorted(other):
        at = next(at for at, (left, right) in enumerate(zip(one, other, strict=True)) if left != right)
        yield Violation(f"row {at}: {one[at]}, as in the first read", other[at])


def _in_one_order(one: pa.Table, other: pa.Table) -> bool:
    return one.num_rows == other.num_rows and _first_rows(one) == _first_rows(other)


def _first_rows(rows: pa.Table) -> list[str]:
    return [repr(row) for row in rows.slice(0, _SHOWN).to_pylist()]
