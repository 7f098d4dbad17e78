"""What becomes of a table whose messages are damaged on the way to the server: it is whole, or it is refused.

Of each damage a server may make what it likes: it may pass over a message that means nothing, or end the call with an
error. What it may not do is lose rows, or invent some, and say OK.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.matching import RowMatch, match_rows, show_row
from conformance.contract.sources import STATUS_CODES, Inferred
from conformance.contract.view import View
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import (
    PutTable,
    about,
    columns_of,
    is_damaged,
    listed,
    sent_rows,
    stored,
    without_dictionaries,
)
from conformance.protocols.flight.contract.view import ExchangeView, FlightCall, FlightView, gave_up
from conformance.protocols.flight.records import FlightMethod
from conformance.records import Level

_SOURCE = (STATUS_CODES, Inferred(FLIGHT_PROTO))


@dataclasses.dataclass(frozen=True, slots=True)
class _DamagedPut:
    """A DoPut with a damage, the only one under its descriptor, and the GetFlightInfo that asked for it afterwards.

    ``stored`` is None if nothing was found, or if not everything was read.
    """

    put: FlightCall
    asked: FlightCall
    stored: PutTable | None
    response: None = None

    @property
    def call(self) -> int:
        """The index of the call whose end is judged."""
        return self.put.index


def _damaged(wanted: Callable[[_DamagedPut], bool]) -> Callable[[View], Sequence[_DamagedPut]]:
    """Return a selector of the damaged puts with a property."""

    def select(view: FlightView) -> list[_DamagedPut]:
        return [one for one in view.once(_damaged, lambda: list(_looked_for(view))) if wanted(one)]

    return about(select)


def _looked_for(view: FlightView) -> Iterator[_DamagedPut]:
    if any(_difference(one.table, _whole(one)) for one in stored(view)):
        return  # what is wrong with a table without a damage is no matter of the damage
    seen = {info.call: info for info in view.infos}
    for asked in view.flight_calls:
        if asked.raw.method != FlightMethod.GET_FLIGHT_INFO or not asked.answered:
            continue
        puts = list(view.puts_before(asked.step, asked.index))
        if len(puts) != 1 or not is_damaged(puts[0]) or not puts[0].answered or gave_up(puts[0]):
            continue
        info = seen.get(asked.index)
        kept = None if info is None else PutTable(puts[0], info)
        yield _DamagedPut(puts[0], asked, kept if kept is not None and kept.rows is not None else None)


def _whole(kept: PutTable) -> pa.Table:
    assert kept.rows is not None, "the selector leaves out what cannot be read"
    return kept.rows


def _rows(one: _DamagedPut) -> pa.Table:
    """The rows of the flight; none if it was not found."""
    return sent_rows(one.put).slice(0, 0) if one.stored is None else _whole(one.stored)


_refused = functools.partial(
    clause,
    over=_damaged(lambda one: not one.put.ok and (one.stored is not None or not one.asked.ok)),
    source=_SOURCE,
    profiles=FLIGHT,
)


def _difference(sent: pa.Table, came: pa.Table) -> str:
    """What tells the rows that came from those that were sent; "" if nothing does."""
    if columns_of(sent.schema) != columns_of(came.schema):
        return f"the columns {listed(came.schema)}"
    match = match_rows(sent, came)
    said = []
    if match.missing:
        said.append(f"{many(len(match.missing), 'row')} missing, the first {show_row(sent, match.missing[0])}")
    return "; ".join([*said, *_foreign(match, came)])


def _foreign(match: RowMatch, came: pa.Table) -> Iterator[str]:
    """What is said of rows that nobody sent."""
    surplus = (*match.repeated, *match.foreign, *(got for _, got in match.changed))
    if surplus:
        yield f"{many(len(surplus), 'row')} that nobody sent, or twice, the first {show_row(came, surplus[0])}"


@clause(
    "flight-put.damaged-is-whole-or-refused",
    over=_damaged(lambda one: not one.put.ok or not one.asked.ok or one.stored is not None),
    source=_SOURCE,
    breaks="every client whose stream was damaged: the server says that it has the rows, and they are lost or others",
    profiles=FLIGHT,
    role=Role.LIBRARY,
)
def damaged_is_whole_or_refused(one: _DamagedPut) -> Iterator[Violation]:
    """Where a message of a DoPut is damaged, missing or out of place, every row comes back, or the DoPut is refused.

    The status codes of gRPC: OK is "returned on success". A server that can read on, because the message means nothing,
    may do so; one that cannot ends the call with an error.
    """
    if not one.put.ok:
        return
    wanted = f"the {many(sent_rows(one.put).num_rows, 'row')} that were put, or a status other than OK"
    if not one.asked.ok:
        yield Violation(wanted, f"OK, and then {one.asked.raw.status} for the flight", call=one.asked.index)
        return
    difference = _difference(sent_rows(one.put), _rows(one))
    if difference:
        yield Violation(wanted, f"OK and {many(_rows(one).num_rows, 'row')}: {difference}", call=one.asked.index)


@_refused("flight-put.refused-is-not-stored", level=Level.SHOULD, role=Role.APPLICATION)
def refused_is_not_stored(one: _DamagedPut) -> Iterator[Violation]:
    """After a DoPut that was refused, its flight has no rows.

    A client that gets an error puts the table again. What Flight.proto calls pushing "a stream to the flight service
    associated with a particular flight stream" then has rows twice, if the server appends.
    """
    rows = _rows(one).num_rows
    if rows:
        observed = f"{one.put.raw.status}, and {many(rows, 'row')}"
        yield Violation("no rows of a DoPut that was refused", observed, call=one.asked.index)


@_refused(
    "flight-put.refused-is-not-invented",
    breaks="every client of the flight: it reads rows that nobody put",
    role=Role.LIBRARY,
)
def refused_is_not_invented(one: _DamagedPut) -> Iterator[Violation]:
    """What a flight has after a DoPut that was refused are rows that were sent, each once.

    Flight.proto, DoPut: "Push a stream to the flight service". Bytes that no message has are no rows of the stream.
    """
    sent, came = sent_rows(one.put), _rows(one)
    for said in _foreign(match_rows(sent, came), came):
        yield Violation("rows that were sent, each once", said, call=one.asked.index)


def _exchanges(view: FlightView) -> list[ExchangeView]:
    """Return every exchange with a damage; of those that ended in OK, the ones whose answers can be read. None if one
    without a damage does not send back what it gets.
    """
    exchanges = [call for call in view.flight_calls if isinstance(call, ExchangeView) and call.answered]
    damaged = [call for call in exchanges if is_damaged(call)]
    if any(not call.ok or not _can_be_judged(call) or _lost(call) for call in exchanges if call not in damaged):
        return []
    return [call for call in damaged if not call.ok or _can_be_judged(call)]


def _can_be_judged(call: ExchangeView) -> bool:
    return not call.joined.filled or call.table is not None


def _lost(call: ExchangeView) -> str:
    """What tells the rows that an exchange sent back from those that it got."""
    return _difference(sent_rows(call), _came(call))


def _came(call: ExchangeView) -> pa.Table:
    return sent_rows(call).slice(0, 0) if call.table is None else without_dictionaries(call.table)


@clause(
    "flight-exchange.damaged-is-whole-or-refused",
    over=about(_exchanges),
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
    lost = _lost(call)
    if lost:
        wanted = f"the {many(sent_rows(call).num_rows, 'row')} that were sent, or a status other than OK"
        yield Violation(wanted, f"OK and {many(_came(call).num_rows, 'row')}: {lost}")
