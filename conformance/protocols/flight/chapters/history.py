"""Several clients and many calls: what one client puts, cancels, renews or sets is not another one's.

Other chapters judge a call, or two. The clauses here judge drawn histories: sequences of puts, infos, polls, reads,
cancellations, renewals, exchanges and options of a session, by two clients, some of them at the same time. The model
(:mod:`conformance.protocols.flight.model`) says which rows a flight may have then, whether a further DoPut appends or
replaces.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.matching import match_rows, show_row
from conformance.contract.sources import STATUS_CODES, Inferred, Sources
from conformance.contract.view import View, once_per_view
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.decoding import Poll
from conformance.protocols.flight.contract.histories import PutAndRead, histories, is_history
from conformance.protocols.flight.contract.lapses import Lasting, lasting, revived
from conformance.protocols.flight.contract.options import OptionsRead, option_reads, outlived
from conformance.protocols.flight.contract.sources import (
    FLIGHT_PAGE,
    FLIGHT_PROTO,
    INTEGRATION_CLIENT,
    INTEGRATION_SCENARIOS,
)
from conformance.protocols.flight.contract.subjects import about, columns_of, sent_rows, without_dictionaries
from conformance.protocols.flight.contract.view import ExchangeView, FlightCall, FlightView, GetView
from conformance.protocols.flight.model import FlightDeviation, HistoryFault
from conformance.protocols.flight.records import DoAction, DoGet, PollFlightInfo
from conformance.protocols.flight.wire.messages import CANCEL
from conformance.records import Level

_STORED: Final = (INTEGRATION_CLIENT, STATUS_CODES, Inferred(FLIGHT_PROTO))

Words = Callable[[PutAndRead, FlightDeviation], str]
"""A function that says what must be the case."""


def _deviates(
    clause_id: str,
    kind: HistoryFault,
    says: str,
    required: Words,
    observed: str,
    *,
    source: Sources = _STORED,
    level: Level = Level.MUST,
    breaks: str = "every client of the flight: it gets wrong rows, without an error",
    when: Callable[[PutAndRead], bool] = lambda _: True,
) -> None:
    """Register the clause that no flight has a deviation of this kind; ``when`` selects the flights that may."""

    def check(history: PutAndRead) -> Iterator[Violation]:
        for deviation in history.found:
            if deviation.kind is kind:
                said = f"{many(len(deviation.rows), 'row')} {observed}, such as {history.shown(deviation.rows[0])}"
                yield Violation(required(history, deviation), said, call=deviation.call)

    def over(view: View) -> list[PutAndRead]:
        return [one for one in histories(view) if one.model.reads and when(one)]

    clause(
        clause_id,
        over=once_per_view(over),
        source=source,
        breaks=breaks,
        level=level,
        says=says,
        profiles=FLIGHT,
        role=Role.APPLICATION,
    )(check)


def _is_put_together(history: PutAndRead) -> bool:
    return any(put.together for put in history.model.puts)


def _is_put_again(history: PutAndRead) -> bool:
    return len(history.model.puts) > 1


def _is_read_again(history: PutAndRead) -> bool:
    return len(history.model.reads) > 1


# A table, one row per clause: id, the deviation of the model, explanation, what is required, what was observed.
# fmt: off
_deviates("flight-history.rows-are-of-the-flight", HistoryFault.FOREIGN,
  """A flight gives only rows that were put under its descriptor, and none more often than it was put.

  This binds reads while others put, of renewed endpoints, and after other flights were put, polled or cancelled.
  Flight.proto, PATH: "A named path that identifies a dataset."
  """, lambda history, _: f"only rows that were put under the descriptor of call {history.call}",
  "of another flight, or once too often")
_deviates("flight-history.none-is-lost", HistoryFault.LOST,
  """After each DoPut that ended in OK, its rows are there, with the earlier ones or in their place.

  Flight.proto, DoPut: "a client consumer could be allowed to upload a single stream per descriptor or an unlimited
  number." A server that stores one alone refuses the second, or lets it take the place of the first; the status OK is
  all that the client learns.
  """, lambda _, deviation: f"every row of call {deviation.before}, which ended in OK", "missing")
_deviates("flight-history.puts-together-are-kept", HistoryFault.LOST_TOGETHER,
  """A DoPut that ended in OK is stored, too, if it was made at the same time as other calls.

  Of two under one descriptor, either may be the later one. The page: "The FlightDescriptor is included with the first
  message so the server can identify the dataset." Nothing else that comes at that time is about it.
  """, lambda _, deviation: f"every row of call {deviation.before}, which ended in OK", "missing",
  when=_is_put_together)
_deviates("flight-history.earlier-put-stays-whole", HistoryFault.MIXED,
  """After a further DoPut, all rows of an earlier one are there, or none of them.

  Flight.proto, DoPut: "a single stream per descriptor or an unlimited number." The text does not say what becomes of
  the earlier stream; a part of it is neither.
  """, lambda _, deviation: f"all rows of each DoPut before call {deviation.before}, or none of them",
  "of an earlier one, without the others of it", level=Level.SHOULD, when=_is_put_again,
  source=Inferred(FLIGHT_PROTO))
_deviates("flight-history.keeps-its-rows", HistoryFault.CHANGED,
  """Two reads of a flight, between which nobody put anything under its descriptor, give the same rows.

  It makes no difference what becomes of other flights between them. Flight.proto, FlightDescriptor: "The name or tag
  for a Flight."
  """, lambda _, deviation: f"the rows that call {deviation.before} gave", "more, or fewer", when=_is_read_again)
# fmt: on


@about
def _others_cancelled(view: FlightView) -> list[GetView]:
    """Return the first read of each ticket after infos of other flights were cancelled, if its own was not touched."""
    found: list[GetView] = []
    redeemed: set[bytes | None] = set()
    for get in view.gets if is_history(view) else ():
        if get.ticket not in redeemed and get.answered and _is_untouched(view, get):
            found.append(get)
        redeemed.add(get.ticket)
    return found


def _is_untouched(view: FlightView, get: GetView) -> bool:
    step, seen = get.step, get.info
    if not isinstance(step, DoGet) or seen is None or get.may_be_over or seen.put_until(get):
        return False
    own = view.descriptor_of(step.info, get.index)
    acted = [call for call in view.flight_calls if isinstance(call.step, DoAction) and call.step.info]
    before = [call for call in acted if seen.of.at <= call.at <= get.at]
    others = {view.descriptor_of(call.step.info, call.index) for call in before if isinstance(call.step, DoAction)}
    cancelled = any(isinstance(call.step, DoAction) and call.step.type == CANCEL and call.ok for call in before)
    return cancelled and own is not None and own not in others


@clause(
    "flight-history.cancel-leaves-others",
    over=_others_cancelled,
    source=(FLIGHT_PROTO, FLIGHT_PAGE),
    breaks="every client of a server on which somebody cancels: its query is gone",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def cancel_leaves_others(get: GetView) -> Iterator[Violation]:
    """The ticket of a flight is redeemed after infos of other flights were cancelled.

    Flight.proto, PollFlightInfo: "A client may use the CancelFlightInfo action with PollInfo.info to cancel the running
    query". It cancels that query alone.
    """
    if not get.ok:
        yield Violation("status OK: infos of other flights were cancelled", f"{get.raw.status}: {get.raw.details}")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Resumed:
    """The answers to a query that is polled on after other calls."""

    of: FlightCall
    poll: Poll
    before: Poll
    response: int = 0

    @property
    def call(self) -> int:
        """The index of the later call."""
        return self.of.index


@about
def _resumed(view: FlightView) -> list[_Resumed]:
    found: list[_Resumed] = []
    for call in view.flight_calls if is_history(view) else ():
        if not isinstance(call.step, PollFlightInfo) or not call.step.resume or not call.ok:
            continue
        before = view.made_by(call.step.resume, call.index)
        pair = (before.polls[-1:] if before is not None else ()) + call.polls[:1]
        wrote = any(one.raw.method == "DoPut" and call.since <= one.at <= call.at for one in view.flight_calls)
        cancelled = any(_is_cancel(one) and call.since <= one.at <= call.at for one in view.flight_calls)
        if before is None or wrote or cancelled or before.ahead != call.ahead or len(pair) != 2:
            continue
        if pair[0] is not None and pair[1] is not None:
            found.append(_Resumed(call, pair[1], pair[0]))
    return found


def _is_cancel(call: FlightCall) -> bool:
    return isinstance(call.step, DoAction) and call.step.type == CANCEL


@clause(
    "flight-history.poll-goes-on",
    over=_resumed,
    source=FLIGHT_PAGE,
    level=Level.SHOULD,
    breaks="clients that have redeemed tickets of an earlier answer: they read rows twice or not at all",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def poll_goes_on(one: _Resumed) -> Iterator[Violation]:
    """A query that is polled on after the calls of other clients has the endpoints that it had.

    The page: "A server should only append to the endpoints in PollInfo.info each time."
    """
    had = [] if one.before.info is None else [endpoint.ticket for endpoint in one.before.info.endpoints]
    has = [] if one.poll.info is None else [endpoint.ticket for endpoint in one.poll.info.endpoints]
    if has[: len(had)] != had:
        yield Violation(f"the {many(len(had), 'ticket')} of before, and further ones", f"{many(len(has), 'ticket')}")


@clause(
    "flight-history.renewed-lasts",
    over=lambda view: [one for one in lasting(view) if one.before is not None],
    source=(FLIGHT_PAGE, FLIGHT_PROTO),
    breaks="clients that renew an endpoint in order to read it later: the rows are gone before the time that they got",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def renewed_lasts(one: Lasting) -> Iterator[Violation]:
    """A renewed endpoint is read until the time that the renewal gave, also after the time that it had before.

    The page: "If an endpoint has expiration time, the client can get data multiple times by DoGet until the expiration
    time is reached", and "the client may be able to extend the expiration time by RenewFlightEndpoint action." A server
    need not renew, and what it does after the later time is its choice.
    """
    if not one.get.ok:
        required = f"status OK until {one.until} s, as the renewal says; before, it was {one.before} s"
        yield Violation(required, f"{one.get.raw.status}: {one.get.raw.details}")


@clause(
    "flight-history.expiry-leaves-others",
    over=lambda view: [one for one in lasting(view) if one.others and one.before is None],
    source=(FLIGHT_PAGE, FLIGHT_PROTO),
    breaks="every client of a server on which something else expires: its rows are gone",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def expiry_leaves_others(one: Lasting) -> Iterator[Violation]:
    """An endpoint is read until its expiration time, also after endpoints of other flights have expired.

    The page: "If an endpoint has expiration time, the client can get data multiple times by DoGet until the expiration
    time is reached." Flight.proto: "Expiration time of this stream."
    """
    if not one.get.ok:
        required = f"status OK until {one.until} s: it is another flight that has expired"
        yield Violation(required, f"{one.get.raw.status}: {one.get.raw.details}")


@clause(
    "flight-history.cancelled-is-not-renewed",
    over=revived,
    source=Inferred(FLIGHT_PROTO),
    level=Level.SHOULD,
    breaks="clients that have cancelled a query: it holds memory, and runs, for longer than they know",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def cancelled_is_not_renewed(get: GetView) -> Iterator[Violation]:
    """A ticket that was refused after its info was CANCELLED is not redeemed again because somebody renews it.

    Flight.proto, on CANCELLED: "The cancellation request is complete." Another DoPut under the descriptor, and another
    info, begin anew.
    """
    if get.ok:
        yield Violation("a status other than OK: the info was cancelled, and the ticket refused", "OK")


@about
def _exchanged_together(view: FlightView) -> list[ExchangeView]:
    return [
        call
        for call in view.flight_calls
        if isinstance(call, ExchangeView) and call.ok and call.table is not None and is_history(view)
        if any(isinstance(other, ExchangeView) for other in call.beside)
    ]


@clause(
    "flight-history.exchanges-are-apart",
    over=_exchanged_together,
    source=(INTEGRATION_SCENARIOS, Inferred(FLIGHT_PROTO)),
    breaks="every client of a server that others use: it gets what they sent",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def exchanges_are_apart(call: ExchangeView) -> Iterator[Violation]:
    """An exchange that sends back what it gets sends back nothing that came in another one at the same time.

    Flight.proto, DoExchange: clients "send and receive arbitrary Arrow data and application-specific metadata in a
    single logical stream."
    """
    assert call.table is not None, "the selector leaves out what cannot be read"
    came, own = without_dictionaries(call.table), sent_rows(call)
    if columns_of(came.schema) != columns_of(own.schema):
        return
    foreign = match_rows(own, came).foreign
    if foreign:
        observed = f"{many(len(foreign), 'other row')}, such as {show_row(came, foreign[0])}"
        yield Violation("rows that this client sent", observed)


def _read_by_one_of_several(view: View) -> list[OptionsRead]:
    return list(option_reads(view)) if isinstance(view, FlightView) and is_history(view) else []


@clause(
    "flight-history.options-are-of-the-session",
    over=_read_by_one_of_several,
    source=FLIGHT_PROTO,
    level=Level.SHOULD,
    breaks="every client with options: it works with those of another one",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def options_are_of_the_session(read: OptionsRead) -> Iterator[Violation]:
    """A client does not read an option that only another client has set, if the server gave each a cookie of its own.

    Flight.proto, GetSessionOptionsRequest: "A request to access the session options for the current server session."
    """
    for name, value in read.theirs.items():
        yield Violation("options of the session of this client", f"{name!r}: {value}, which another client has set")


@clause(
    "flight-history.session-outlives-others",
    over=about(lambda view: outlived(view) if is_history(view) else []),
    source=FLIGHT_PROTO,
    level=Level.SHOULD,
    breaks="every client with options: they are gone when another client ends its work",
    profiles=FLIGHT,
    role=Role.APPLICATION,
)
def session_outlives_others(call: FlightCall) -> Iterator[Violation]:
    """A session is there after another client has closed its own, if the server gave each a cookie of its own.

    Flight.proto, GetSessionOptionsRequest: "A request to access the session options for the current server session."
    """
    if not call.ok:
        yield Violation("the options of an open session", f"{call.raw.status}: {call.raw.details}")
