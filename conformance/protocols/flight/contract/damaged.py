"""Tables whose messages are damaged on the way to the server, and what tells the rows that came back from those sent.

Of each damage a server may make what it likes: it may pass over a message that means nothing, or end the call with an
error. What it may not do is lose rows, or invent some, and say OK.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.comparing.matching import RowMatch, match_rows, show_row
from conformance.contract.view import View
from conformance.protocols.flight.contract.subjects import (
    PutTable,
    about,
    columns_differ,
    is_damaged,
    sent_rows,
    stored,
    without_dictionaries,
)
from conformance.protocols.flight.contract.view import ExchangeView, FlightCall, FlightView, gave_up
from conformance.protocols.flight.records import FlightMethod

__all__ = ["DamagedPut", "damaged_exchanges", "damaged_puts", "difference", "not_sent", "rows_sent_back"]


@dataclasses.dataclass(frozen=True, slots=True)
class DamagedPut:
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

    @property
    def sent(self) -> pa.Table:
        """The rows that were sent."""
        return sent_rows(self.put)

    @property
    def rows(self) -> pa.Table:
        """The rows of the flight; none if it was not found."""
        return self.sent.slice(0, 0) if self.stored is None else _whole(self.stored)


def damaged_puts(wanted: Callable[[DamagedPut], bool]) -> Callable[[View], Sequence[DamagedPut]]:
    """Return a selector of the damaged puts with a property."""

    def select(view: FlightView) -> list[DamagedPut]:
        return [one for one in view.once(damaged_puts, lambda: list(_looked_for(view))) if wanted(one)]

    return about(select)


def _looked_for(view: FlightView) -> Iterator[DamagedPut]:
    if not any(map(is_damaged, view.flight_calls)):
        return
    if any(difference(one.table, _whole(one)) for one in stored(view)) or any(map(_is_lost, view.flight_calls)):
        return  # what is wrong with a table without a damage is no matter of the damage
    seen = {info.call: info for info in view.infos}
    for asked in view.flight_calls:
        if asked.raw.method != FlightMethod.GET_FLIGHT_INFO or not asked.answered:
            continue
        puts = list(itertools.islice(view.puts_before(asked.step, asked.index), 2))
        if len(puts) != 1 or not is_damaged(puts[0]) or not puts[0].answered or gave_up(puts[0]):
            continue
        info = seen.get(asked.index)
        kept = None if info is None else PutTable(puts[0], info)
        yield DamagedPut(puts[0], asked, kept if kept is not None and kept.rows is not None else None)


def _is_lost(asked: FlightCall) -> bool:
    """True for a GetFlightInfo that does not find what a DoPut without a damage has stored."""
    if asked.raw.method != FlightMethod.GET_FLIGHT_INFO or not asked.answered or asked.ok:
        return False
    put = asked.view.put_before(asked.step, asked.index)
    return put is not None and not is_damaged(put)


def _whole(kept: PutTable) -> pa.Table:
    assert kept.rows is not None, "the selector leaves out what cannot be read"
    return kept.rows


def difference(sent: pa.Table, came: pa.Table) -> str:
    """Return what tells the rows that came from those that were sent; "" if nothing does."""
    if columns := columns_differ(sent.schema, came.schema):
        return f"the columns {columns}"
    match = match_rows(sent, came)
    said = []
    if match.missing:
        said.append(f"{many(len(match.missing), 'row')} missing, the first {show_row(sent, match.missing[0])}")
    return "; ".join([*said, *not_sent(match, came)])


def not_sent(match: RowMatch, came: pa.Table) -> Iterator[str]:
    """Give what is said of rows that nobody sent, if there are any."""
    surplus = (*match.repeated, *match.foreign, *(got for _, got in match.changed))
    if surplus:
        yield f"{many(len(surplus), 'row')} that nobody sent, or twice, the first {show_row(came, surplus[0])}"


@about
def damaged_exchanges(view: FlightView) -> list[ExchangeView]:
    """Return every exchange with a damage; of those that ended in OK, the ones whose answers can be read. None if one
    without a damage does not send back what it gets.
    """
    exchanges = [call for call in view.flight_calls if isinstance(call, ExchangeView) and call.answered]
    damaged = [call for call in exchanges if is_damaged(call)]
    if any(
        not call.ok or not _can_be_judged(call) or difference(sent_rows(call), rows_sent_back(call))
        for call in exchanges
        if call not in damaged
    ):
        return []
    return [call for call in damaged if not call.ok or _can_be_judged(call)]


def _can_be_judged(call: ExchangeView) -> bool:
    return not call.joined.filled or call.table is not None


def rows_sent_back(call: ExchangeView) -> pa.Table:
    """Return the rows of the answers; answers without a schema have none."""
    return sent_rows(call).slice(0, 0) if call.table is None else without_dictionaries(call.table)
