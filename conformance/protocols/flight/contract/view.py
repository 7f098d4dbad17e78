"""An exchange of Arrow Flight as the clauses see it: calls, the FlightInfos in them, and the streams that DoGet gave.

It judges nothing and never raises on foreign bytes. The stream of a DoGet is read like any other IPC stream
(:mod:`conformance.protocols.flight.contract.streamjudging`).
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.budget import Excess
from conformance.contract.raised import remembered_property
from conformance.contract.view import CallView, View
from conformance.protocols.flight.contract.decoding import (
    AT,
    Data,
    DecodedEndpoint,
    Info,
    Meaning,
    Poll,
    data_of,
    is_cut,
    meaning_of,
    message_of,
    read_data,
    read_info,
    read_poll,
)
from conformance.protocols.flight.contract.expanding import MOST_EXPANDED, MOST_ROWS, expanded
from conformance.protocols.flight.contract.passing import seconds_ahead
from conformance.protocols.flight.contract.streamview import FlightStreamView
from conformance.protocols.flight.records import (
    Descriptor,
    DoAction,
    DoGet,
    DoPut,
    FlightMethod,
    FlightSqlStep,
    FlightStep,
    GetFlightInfo,
    ListFlights,
    Naming,
    PollFlightInfo,
)
from conformance.protocols.flight.wire.data import FlightStream, join_flight
from conformance.protocols.flight.wire.messages import METHODS
from conformance.records import CallEnd, GivingUp, Meanwhile, Step
from conformance.records.together import groups
from conformance.wire import DecodingError, Message
from conformance.wire.protobuf import MAX_FIELDS

__all__ = ["MARGIN", "DataView", "ExchangeView", "FlightCall", "FlightView", "GetView", "InfoSeen", "gave_up"]

_METHODS: Final = frozenset(FlightMethod)
MARGIN: Final = 60
"""Seconds by which the clocks of both sides may differ, and in which an endpoint may expire while it is read."""


class FlightCall(CallView):
    """A call of Flight."""

    view: FlightView
    step: FlightStep | FlightSqlStep

    @property
    def at(self) -> int:
        """The number of the group of steps in which the call was made: those of one group are made at the same time."""
        return self.view.groups.get(self.raw.step, self.raw.step)

    @property
    def since(self) -> int:
        """The group in which the query of the call began: an earlier one if the call goes on polling."""
        resumed = self.step.resume if isinstance(self.step, PollFlightInfo) else ""
        before = self.view.made_by(resumed, self.index) if resumed else None
        return self.at if before is None else before.since

    @property
    def ahead(self) -> int:
        """The seconds by which the server's clock is ahead of the driver's, because the case let time pass."""
        return self.view.ahead.get(self.raw.step, 0)

    @property
    def instant(self) -> float | None:
        """When the call began by the server's clock, in seconds since the Unix epoch; None if the exchange does not
        say.
        """
        now = self.view.exchange.now
        return now / 1e6 + self.raw.started + self.ahead if now else None

    @property
    def client(self) -> str:
        """The client that made the call."""
        return getattr(self.step, "client", "")

    @property
    def beside(self) -> tuple[FlightCall, ...]:
        """The calls that were made at the same time as this one, in other steps."""
        together = self.view.together.get(self.at, ())
        return tuple(one for one in together if one.raw.step != self.raw.step)

    @property
    def answered(self) -> bool:
        """True if the target ended the call itself, with any status."""
        return self.raw.end is CallEnd.COMPLETE

    @remembered_property
    def infos(self) -> tuple[tuple[int, Info], ...]:
        """Each FlightInfo in the answer that can be read, with the index of its message."""
        method = self.raw.method
        if method in (FlightMethod.GET_FLIGHT_INFO, FlightMethod.LIST_FLIGHTS):
            found = [(at, read_info(data)) for at, data in enumerate(self.raw.responses)]
        else:
            found = [(at, None if poll is None else poll.info) for at, poll in enumerate(self.polls)]
        return tuple((at, info) for at, info in found if info is not None)

    @remembered_property
    def polls(self) -> tuple[Poll | None, ...]:
        """The PollInfos in the answer to PollFlightInfo; None for one that cannot be read."""
        asked = self.raw.method == FlightMethod.POLL_FLIGHT_INFO
        return tuple(map(read_poll, self.raw.responses)) if asked else ()


class DataView(FlightCall):
    """A call that answers with data."""

    @property
    def stream_label(self) -> str:
        """The label of what readers make of the stream."""
        return f"{self.raw.method} {self.index}"

    @remembered_property
    def joined(self) -> FlightStream:
        """The messages of the answer, and the IPC stream in them."""
        return join_flight(self.raw.responses)

    @remembered_property
    def stream(self) -> FlightStreamView:
        """The IPC stream in the answer; calls with the same answer share it."""
        return self.view.once((FlightStreamView, self.raw.responses), lambda: FlightStreamView(self.joined))

    @property
    def messages(self) -> Sequence[Message]:
        """The IPC messages of the answer, one for each part of it that is filled."""
        reading = self.stream.stream
        assert reading is not None, "the view is of a stream"
        return reading.messages

    @remembered_property
    def data(self) -> tuple[Data | None, ...]:
        """The FlightData of the answer; None for a message that breaks the encoding."""
        return tuple(map(data_of, self.joined.parts))

    @property
    def table(self) -> pa.Table | None:
        """The rows of the stream; None if they cannot be decoded, or are too many bytes to be compared."""
        return None if self.excess else self._decoded

    @remembered_property
    def excess(self) -> str:
        """What of its rows is too much to be compared, in words; empty if nothing is."""
        if self._decoded is None:
            return ""
        if sum(map(expanded, self._decoded.columns)) > MOST_EXPANDED:
            return f"its dictionary columns take more than {MOST_EXPANDED >> 20} MiB once decoded"
        # A row of NULLs, or of no columns, takes no byte: the length of a stream is no bound of its rows.
        came, permitted = self.view.rows_until[self.index]
        return f"{many(came, 'row')} or more, of which at most {permitted} are compared" if came > permitted else ""

    @property
    def row_count(self) -> int:
        """The number of rows that can be decoded."""
        return 0 if self._decoded is None else int(self._decoded.num_rows)

    @property
    def _decoded(self) -> pa.Table | None:
        return self.view.once((DataView, self.raw.responses), self._decode)

    def _decode(self) -> pa.Table | None:
        reading = self.stream.stream
        if reading is None or reading.violations or any(one is None for one in self.data):
            return None
        try:
            return reading.to_arrow()
        except DecodingError:
            return None


class ExchangeView(DataView):
    """A DoExchange call."""

    @remembered_property
    def sent(self) -> tuple[Data, ...]:
        """The FlightData of the requests that can be read."""
        found = map(read_data, self.raw.requests)
        return tuple(one for one in found if one is not None)


class GetView(DataView):
    """A DoGet call."""

    @remembered_property
    def ticket(self) -> bytes | None:
        """The ticket of the request; None if that is no Ticket."""
        asked = message_of("Ticket", self.raw.request)
        return None if asked is None else bytes(asked.data("ticket"))

    @property
    def may_be_over(self) -> bool:
        """True for a read that was refused when its endpoint may have expired by the server's clock. One without an
        expiration time may have if the case let time pass.
        """
        endpoint = None if self.info is None else self.info.endpoint_of(self)
        if self.ok or self.info is None or endpoint is None:
            return False
        if endpoint.expires is None:
            return self.info.of.ahead != self.ahead
        return self.instant is None or self.instant + MARGIN >= endpoint.expires

    @property
    def elsewhere(self) -> bool:
        """True if the ticket was redeemed at another place, or over a connection of its own."""
        return AT in self.raw.label

    @remembered_property
    def info(self) -> InfoSeen | None:
        """The latest info before the call that has the ticket; None for a literal ticket."""
        if self.view.exchange.driven and isinstance(self.step, DoGet) and self.step.ticket is not None:
            return None
        given = () if self.ticket is None else self.view.given_out.get(self.ticket, ())
        before = bisect.bisect_left(given, self.index, key=_call)
        return given[before - 1] if before else None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class InfoSeen:
    """A FlightInfo, with the call and the response that it came in."""

    of: FlightCall
    response: int
    info: Info
    tickets: Mapping[bytes, DecodedEndpoint] = dataclasses.field(init=False, repr=False)
    """The first endpoint with each ticket."""

    def __post_init__(self) -> None:
        found: dict[bytes, DecodedEndpoint] = {}
        for one in self.info.endpoints:
            if one.ticket is not None:
                found.setdefault(one.ticket, one)
        object.__setattr__(self, "tickets", found)

    @property
    def call(self) -> int:
        """The index of its call."""
        return self.of.index

    @property
    def found(self) -> bool:
        """True for a flight of the server's own, which the suite has found in its list: its data may change at any
        time, and not everybody may read it.
        """
        if isinstance(self.of.step, ListFlights):
            return True
        return isinstance(self.of.step, GetFlightInfo) and bool(self.of.step.descriptor.info)

    @property
    def name(self) -> Meaning | None:
        """The descriptor of the flight: the one that was asked for, or else that of the info; None without one."""
        asks = self.of.raw.method == FlightMethod.GET_FLIGHT_INFO
        asked = message_of("FlightDescriptor", self.of.raw.request) if asks else None
        return self.info.descriptor if asked is None else meaning_of(asked)

    def endpoint_of(self, get: GetView) -> DecodedEndpoint | None:
        """The endpoint whose ticket a call redeems."""
        return None if get.ticket is None else self.tickets.get(get.ticket)

    def read_of(self, ticket: bytes | None) -> GetView | None:
        """The first read of a ticket; None if it was not read."""
        made = () if ticket is None else self.of.view.reads_by_ticket.get(self, {}).get(ticket, ())
        return next(iter(made), None)

    @property
    def reads(self) -> tuple[GetView | None, ...]:
        """The first read of each endpoint; None for an endpoint that was not read.

        Endpoints with the same ticket have a read each: one read for a million of them would be its rows a million
        times.
        """
        made = {ticket: iter(reads) for ticket, reads in self.of.view.reads_by_ticket.get(self, {}).items()}
        nothing: Iterator[GetView] = iter(())
        return tuple(
            next(nothing if one.ticket is None else made.get(one.ticket, nothing), None) for one in self.info.endpoints
        )

    @property
    def whole(self) -> tuple[GetView, ...] | None:
        """The reads of all endpoints, if each ended in OK and can be decoded; else None. None, too, if the flight was
        put meanwhile: the tickets may give what is there now.
        """
        reads = [read for read in self.reads if read is not None and read.ok and read.table is not None]
        if any(self.put_until(read) for read in reads):
            return None
        return tuple(reads) if len(reads) == len(self.info.endpoints) else None

    @property
    def put(self) -> FlightCall | None:
        """The latest DoPut under the descriptor of the request that was accepted before; None without one, and for a
        query that runs.
        """
        polled = self.of.polls[self.response] if self.of.polls else None
        if not isinstance(self.of.step, GetFlightInfo | PollFlightInfo) or (polled and polled.descriptor is not None):
            return None
        return self.of.view.put_before(self.of.step, self.call)

    def put_until(self, read: GetView) -> bool:
        """True if somebody put under the descriptor of the info while it was asked for, after it, or during a read."""
        wanted = getattr(self.of.step, "descriptor", None)
        times = () if wanted is None else self.of.view.put_times.get(wanted, ())
        first = bisect.bisect_left(times, self.of.since)
        return first < len(times) and times[first] <= read.at


def _call(seen: InfoSeen) -> int:
    return seen.call


def _index(call: FlightCall) -> int:
    return call.index


class FlightView(View):
    """An exchange of Flight as subjects."""

    @remembered_property
    def served(self) -> tuple[FlightCall, ...]:
        """The calls of Flight in order, whichever party made them."""
        return tuple(
            _VIEWS.get(call.method, FlightCall)(self, index, call)
            for index, call in enumerate(self.exchange.calls)
            if call.method in _METHODS
        )

    @remembered_property
    def rows_until(self) -> Mapping[int, tuple[int, int]]:
        """For each call that answers with data, the rows of all such calls up to it, and how many are compared."""
        calls = [call for call in self.served if isinstance(call, DataView)]
        counts = itertools.accumulate(call.row_count for call in calls)
        each = 2 * int(self.table.num_rows)
        return {
            call.index: (came, MOST_ROWS + each * number)
            for number, (call, came) in enumerate(zip(calls, counts, strict=True), 1)
        }

    @remembered_property
    def _too_much(self) -> tuple[int, str] | None:
        """The first call whose rows are too much to be compared, and what is, in words."""
        large = ((call.index, call.excess) for call in self.served if isinstance(call, DataView) and call.excess)
        return next(large, None)

    @remembered_property
    def _cut(self) -> Excess | None:
        """The first answer with more fields than are read: the clauses would take the rest of it for absent."""
        for call in self.served:
            name = METHODS[call.raw.method].response
            if any(is_cut(name, data) for data in call.raw.responses):
                return Excess(call.index, f"a {name} with more than {MAX_FIELDS} fields, which are not read")
        return None

    def unjudgeable(self) -> str:
        """Return which answer was not read to its end, if nobody knows the table to which it belongs."""
        if self._cut is None or self.case.table.columns:
            return ""
        return f"not judged: call {self._cut.call}: {self._cut.observed}"

    def _excess_of_received(self) -> Excess | None:
        return self._cut if self.case.table.columns else None

    def _excess_of_rows(self) -> Excess | None:
        # Whoever put the tables of the case knows that no answer is so large.
        asked = any(isinstance(step, DoPut) for step in self.case.steps)
        return Excess(*self._too_much) if asked and self._too_much else super()._excess_of_rows()

    def _too_large(self) -> str:
        return "call {}: {}, which are not compared".format(*self._too_much) if self._too_much else ""

    @remembered_property
    def groups(self) -> Mapping[int, int]:
        """The number of the group of each step."""
        return {step: at for at, group in enumerate(groups(self.case.steps)) for step in group}

    @remembered_property
    def ahead(self) -> Mapping[int, int]:
        """The seconds by which the server's clock is ahead at each step after time has passed."""
        found: dict[int, int] = {}
        ahead, calls, skipped = 0, self.exchange.calls, frozenset(self.exchange.skipped_steps)
        for index, step in enumerate(self.case.steps if self.exchange.driven else ()):
            if isinstance(step, Meanwhile) and index not in skipped:
                before = [call for call in calls if call.step < index]
                passed = seconds_ahead(self.case, before, step, ahead=ahead, now=self.exchange.now)
                ahead = ahead if passed is None else passed
            if ahead:
                found[index] = ahead
        return found

    @remembered_property
    def together(self) -> Mapping[int, Sequence[FlightCall]]:
        """The calls of each group of several steps."""
        found: dict[int, list[FlightCall]] = {at: [] for at, group in enumerate(groups(self.case.steps)) if group[1:]}
        for call in self.flight_calls:
            if call.at in found:
                found[call.at].append(call)
        return found

    @remembered_property
    def puts(self) -> Mapping[Descriptor, Sequence[FlightCall]]:
        """The DoPuts under each descriptor."""
        found: dict[Descriptor, list[FlightCall]] = {}
        for call in self.flight_calls:
            if isinstance(call.step, DoPut):
                found.setdefault(call.step.descriptor, []).append(call)
        return found

    @remembered_property
    def put_times(self) -> Mapping[Descriptor, Sequence[int]]:
        """The groups in which there was a DoPut under each descriptor, in order."""
        return {wanted: sorted(call.at for call in calls) for wanted, calls in self.puts.items()}

    @remembered_property
    def given_out(self) -> Mapping[bytes, Sequence[InfoSeen]]:
        """The infos that have each ticket, in the order of their calls."""
        found: dict[bytes, list[InfoSeen]] = {}
        for seen in self.infos:
            for ticket in seen.tickets:
                found.setdefault(ticket, []).append(seen)
        return found

    @remembered_property
    def reads_by_ticket(self) -> Mapping[InfoSeen, Mapping[bytes, Sequence[GetView]]]:
        """The reads of each ticket of each info, in their order."""
        found: dict[InfoSeen, dict[bytes, list[GetView]]] = {}
        for get in self.gets:
            if get.info is not None and get.ticket is not None:
                found.setdefault(get.info, {}).setdefault(get.ticket, []).append(get)
        return found

    @remembered_property
    def labelled(self) -> Mapping[str, Sequence[FlightCall]]:
        """The calls whose answers have each label, in their order."""
        found: dict[str, list[FlightCall]] = {}
        for call in self.flight_calls:
            found.setdefault(getattr(call.step, "label", ""), []).append(call)
        return found

    @property
    def flight_calls(self) -> Sequence[FlightCall]:
        """The calls that carry out a step."""
        return self.served if self.exchange.driven else ()

    @property
    def calls_read(self) -> Mapping[str, int]:
        """The place of each call that gave a stream, by the label of its readings."""
        return {call.stream_label: call.index for call in self.flight_calls if isinstance(call, DataView)}

    @remembered_property
    def gets(self) -> tuple[GetView, ...]:
        """The DoGet calls."""
        return tuple(call for call in self.flight_calls if isinstance(call, GetView))

    @remembered_property
    def infos(self) -> tuple[InfoSeen, ...]:
        """Every FlightInfo of a call that ended in OK."""
        return tuple(InfoSeen(call, at, info) for call in self.flight_calls if call.ok for at, info in call.infos)

    def puts_before(self, asked: Step, index: int) -> Iterator[FlightCall]:
        """The DoPuts before the call ``index``, latest first, under the descriptor of the step ``asked``."""
        wanted = getattr(asked, "descriptor", None)
        puts = () if wanted is None else self.puts.get(wanted, ())
        for at in reversed(range(bisect.bisect_left(puts, index, key=_index))):
            step = puts[at].step
            if isinstance(step, DoPut) and step.named is not Naming.LATE:
                yield puts[at]

    def put_before(self, asked: Step, index: int) -> FlightCall | None:
        """The latest DoPut before the call ``index`` that was accepted, under the descriptor of the step ``asked``.

        None if the client gave up a later one, or if one was made at the same time as the call or as the latest: what
        is stored then is open.
        """
        wanted = getattr(asked, "descriptor", None)
        for call in self.puts_before(asked, index):
            if gave_up(call) or call.at == self.flight_calls[index].at:
                return None
            if call.ok and any(isinstance(one.step, DoPut) and one.step.descriptor == wanted for one in call.beside):
                return None
            if call.ok:
                return call
        return None

    def made_by(self, label: str, index: int) -> FlightCall | None:
        """The latest call before the call ``index`` whose answer has a label."""
        calls = self.labelled.get(label, ())
        before = bisect.bisect_left(calls, index, key=_index)
        return calls[before - 1] if before else None

    def descriptor_of(self, label: str, index: int) -> Descriptor | None:
        """The descriptor of the flight whose info, or renewed endpoint, has a label at the call ``index``."""
        call = self.made_by(label, index)
        if call is not None and isinstance(call.step, DoAction):
            return self.descriptor_of(call.step.info, call.index)
        return None if call is None else getattr(call.step, "descriptor", None)


def gave_up(call: FlightCall) -> bool:
    """True for a DoPut that ended before the client had sent everything that it had: what is stored is open."""
    step = call.step
    unfinished = isinstance(step, DoPut) and step.stop is not None and step.gives_up is not GivingUp.HALF_CLOSE
    return unfinished and (call.ok or call.raw.end is CallEnd.CANCELLED)


_VIEWS: Final[dict[str, type[FlightCall]]] = {FlightMethod.DO_GET: GetView, FlightMethod.DO_EXCHANGE: ExchangeView}
