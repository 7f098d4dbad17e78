"""Carries out the steps of a case of Arrow Flight RPC as calls, in their order, exactly as the case describes them.

It does not judge answers. It decodes an answer only as far as the next step requires: the endpoints of a FlightInfo and
the descriptor of a PollInfo. Every method is called as one that streams its answers, so that an answer with too many
messages, or with none, is recorded as it came.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import pyarrow as pa

from conformance.contain.secrets import masked_bytes
from conformance.protocols.flight.contract import encoding
from conformance.protocols.flight.contract.decoding import (
    AT,
    DecodedEndpoint,
    Info,
    Poll,
    read_info,
    read_poll,
)
from conformance.protocols.flight.contract.passing import first_of, renewed_in, seconds_ahead
from conformance.protocols.flight.records import (
    Descriptor,
    DoAction,
    DoExchange,
    DoGet,
    DoPut,
    FlightLogin,
    FlightSqlStep,
    FlightToken,
    GetFlightInfo,
    GetSchema,
    Handshake,
    ListActions,
    ListFlights,
    PollFlightInfo,
    SendMessages,
)
from conformance.protocols.flight.table.dialect import SqlSpec, Statements, sql_name
from conformance.protocols.flight.targets.exchange import exchange_of
from conformance.protocols.flight.targets.locations import ServerPlace, Trust, place_of, places_of
from conformance.protocols.flight.targets.login import Memory
from conformance.protocols.flight.targets.meeting import ALONE, MeetingPoint, at_once
from conformance.protocols.flight.targets.messages import FlightNames, action_of
from conformance.protocols.flight.targets.puts import put_messages, spelled
from conformance.protocols.flight.targets.sampling import (
    MOST_SAMPLED,
    bounded,
    descriptor_in,
    given_up,
    is_spent,
    listed_in,
)
from conformance.protocols.flight.targets.sql import UPDATE, SqlSteps
from conformance.records import Call, CallEnd, Case, GivingUp, Meanwhile, Step
from conformance.records.together import groups
from conformance.targets.allowance import Allowance, UsedUpError, unreached
from conformance.targets.recordedcall import BROKEN, Caller, Leaving
from conformance.targets.seeds import case_rows

__all__ = ["AGAIN", "FlightConversation", "FlightPlan"]

MOST_ENDPOINTS: Final = 1000
"""The number of endpoints of one info that are redeemed."""

AGAIN: Final = "again"
"""The end of the label of a call that polls with a descriptor which is not the latest."""

OTHER: Final = Descriptor(path=("another",))
"""The flight that the later messages of a DoPut name if a step asks for that."""

STREAMED: Final = frozenset({"Handshake", "DoPut", "DoExchange"})
"""The methods in which the client streams."""


@dataclasses.dataclass(frozen=True, slots=True)
class FlightPlan:
    """The parameters of a conversation: the names of its flights, the address of the server, and its limits.

    ``elsewhere`` gives a caller for another place, over a connection of its own. ``memory`` is what the client knows.
    ``locations`` are the globs of the target file for further places that its headers and tokens may go to.
    With ``tls``, the server is spoken to over TLS; ``sql`` is its dialect, None if it speaks no Flight SQL.
    ``pass_time`` sets its clock so many seconds ahead; it returns False if the target offers no such thing. ``now`` is
    when the exchange began, in microseconds.
    """

    names: FlightNames
    endpoint: str
    allowance: Allowance
    elsewhere: Callable[[ServerPlace], Caller]
    memory: Memory = dataclasses.field(default_factory=Memory)
    tls: bool = False
    locations: tuple[str, ...] = ()
    sql: SqlSpec | None = None
    pass_time: Callable[[int], bool] = lambda _: False
    now: int = 0


class FlightConversation:
    """Carries out one case's steps through ``caller``; ``calls``, ``skipped`` and ``stopped`` are then the result.

    ``untried`` are the locations of endpoints of which none could be tried.
    """

    def __init__(self, case: Case, table: pa.Table, caller: Caller, plan: FlightPlan) -> None:
        self.calls: list[Call] = []
        self.skipped: list[int] = []
        self.stopped = ""
        self.untried: list[str] = []
        self._case = case
        self._table = table
        self._plan = plan
        self._memory = plan.memory
        self._caller = caller.with_credentials(self._memory.headers)
        self._allowance = plan.allowance
        self._parties: dict[str, FlightConversation] = {"": self}
        self._meeting = ALONE
        self._keeping = threading.Lock()
        self._infos: dict[str, Info] = {}
        self._later: dict[str, bytes] = {}
        self._ahead = 0
        by_query = plan.sql is not None and plan.sql.by_query
        self._sql = SqlSteps(case, table, self._statements(), self._make, self._talk, by_query, infos=self._infos)

    def _statements(self) -> Statements | None:
        """The statements about the case's table; None if the server speaks no Flight SQL."""
        if self._plan.sql is None:
            return None
        case, table = self._case, self._table
        name = sql_name(self._case.id, self._plan.names.token)
        return Statements(
            self._plan.sql,
            name,
            case.table.columns,
            lambda: () if case.table.arrow is not None else case_rows(case, table),
        )

    @property
    def _here(self) -> ServerPlace:
        """Where the server is to which all calls go that name no other place."""
        return ServerPlace(self._plan.endpoint, self._plan.tls)

    @property
    def broken(self) -> bool:
        """True if a call left the target in a state that must not affect the next case."""
        return any(call.end in BROKEN for call in self.calls)

    def run(self) -> None:
        """Carry out every step, until the end, the limits of the case, or a call that shows the target broken."""
        for group in groups(self._case.steps):
            try:
                goes_on = self._carry_out_group(group)
            except UsedUpError as error:
                self.skipped += unreached(self._case, self.calls, self.skipped, group[0])
                self.stopped = "" if self.broken else str(error)
                return
            if not goes_on or self.broken:
                return

    def _carry_out_group(self, group: Sequence[int]) -> bool:
        """Make the calls of steps at the same time; False if the target does not offer what the rest of the case takes.

        Raises:
            UsedUpError: not all could be made.
        """
        step = self._case.steps[group[0]]
        if isinstance(step, Meanwhile):
            if not self._lets_pass(group[0], step):
                self.skipped += range(group[0], len(self._case.steps))
                return False
            return True
        parties = [self._party(getattr(self._case.steps[index], "client", "")) for index in group]
        done = [parties[0].carry_out(group[0])] if len(group) == 1 else self._at_once(group, parties)
        self.skipped += [index for index, applied in zip(group, done, strict=True) if not applied]
        return True

    def _lets_pass(self, index: int, step: Meanwhile) -> bool:
        """Let the time of a step pass, if there is such a time; False if the target offers no way."""
        plan = self._plan
        ahead = seconds_ahead(self._case, self.calls, step, ahead=self._ahead, now=plan.now)
        if ahead is None:
            self.skipped.append(index)
            return True
        self._ahead = ahead
        return plan.pass_time(ahead)

    def carry_out(self, index: int, meeting: MeetingPoint = ALONE) -> bool:
        """Make the calls of a step, which meet others that are made at the same time; False if it does not apply."""
        self._meeting = meeting
        return self._carried_out(index, self._case.steps[index])

    def as_another(self) -> FlightConversation:
        """Another client of the same case, over a connection of its own; the answers that it can use are shared."""
        party = copy.copy(self)
        party.log_in(self._memory.fresh(), self._plan.elsewhere(self._here))
        return party

    def log_in(self, memory: Memory, caller: Caller) -> None:
        """Be the client that remembers this, and calls so; it logs in if the target file says how."""
        if memory.login is not None:
            memory.log_in(caller, self._allowance.left())
        self._memory, self._caller = memory, caller.with_credentials(memory.headers)

    def _party(self, client: str) -> FlightConversation:
        if client not in self._parties:
            self._parties[client] = self.as_another()
        return self._parties[client]

    def _at_once(self, group: Sequence[int], parties: Sequence[FlightConversation]) -> list[bool]:
        """Carry out steps at the same time; False for each that does not apply."""
        # Two steps of one client would share its meeting, so that each has a copy of the client.
        pairs = zip(group, map(copy.copy, parties), strict=True)
        try:
            return at_once([functools.partial(party.carry_out, index) for index, party in pairs])
        finally:
            self.calls.sort(key=lambda call: call.step)

    def _carried_out(self, index: int, step: Step) -> bool:
        """Make the calls of a step; False if it does not apply."""
        if isinstance(step, FlightSqlStep):
            return self._ask_sql(index, step)
        if not isinstance(step, DoPut | DoExchange):
            self._meeting.wait()
        match step:
            case PollFlightInfo():
                return self._poll(index, step)
            case DoGet():
                return self._get(index, step)
            case DoPut() | DoExchange():
                self._send_table(index, step)
            case Handshake():
                return self._shake_hands(index, step)
            case SendMessages() if step.method in STREAMED or len(step.messages) != 1:
                awaits = range(1, len(step.messages)) if step.in_turns else ()
                leaving = None if step.take != 0 else Leaving(len(step.messages))
                call = Call(index, "", step.method, b"")
                self._talk(call, step.messages, awaits, take=step.take, leaving=leaving)
            case _:
                return self._ask_once(index, step)
        return True

    def _ask_once(self, index: int, step: Step) -> bool:
        """Make the call of a step with one request message; False if it does not apply."""
        asked, caller = self._asked(step), self._caller_for(step)
        if asked is None or caller is None:
            return False
        method, label, request = asked
        take = step.take if isinstance(step, SendMessages) else None
        call = self._make(Call(index, label, method, request), caller=caller, take=take)
        if isinstance(step, DoAction) and step.label:
            self._remember(step.label, renewed_in(first_of(call)))
        if isinstance(step, GetFlightInfo):
            self._remember(step.label, read_info(first_of(call)))
        if isinstance(step, ListFlights) and step.label:
            self._remember(step.label, listed_in(call, step))
        return True

    def _ask_sql(self, index: int, step: FlightSqlStep) -> bool:
        """Make the calls of a step of Flight SQL; False if it does not apply."""
        made = self._sql.carried_out(index, step)
        if made is not None and made.method == "GetFlightInfo":
            self._remember(made.label, read_info(first_of(made)))
        if made is not None and made.label == UPDATE:
            self._get(index, DoGet(UPDATE))
        return made is not None

    def _asked(self, step: Step) -> tuple[str, str, bytes] | None:
        """The method, the label and the request of a step with one request message; None if it does not apply."""
        match step:
            case GetFlightInfo() | GetSchema():
                named = self._named(step.descriptor)
                if named is None or isinstance(step, GetSchema):
                    return None if named is None else ("GetSchema", "", named)
                return "GetFlightInfo", step.label, spelled("FlightDescriptor", named, step.spelled)
            case ListFlights():
                return "ListFlights", "", encoding.part(1, step.criteria) if step.criteria else b""
            case SendMessages():
                return step.method, "", step.messages[0]
            case DoAction():
                action = action_of(step, self._infos.get(step.info))
                return None if action is None else ("DoAction", step.type, action)
            case _:
                assert isinstance(step, ListActions)
                return "ListActions", "", b""

    def _named(self, named: Descriptor) -> bytes | None:
        """The descriptor of a step; None if it is that of an info that there is not, or that names none."""
        return descriptor_in(self._infos.get(named.info)) if named.info else self._descriptor(named)

    def _descriptor(self, named: Descriptor) -> bytes:
        return encoding.descriptor(self._plan.names.descriptor(named))

    def _caller_for(self, step: Step) -> Caller | None:
        """The caller with the token that a step asks for; None if it asks for a login that there is not."""
        if not isinstance(step, ListFlights | GetFlightInfo) or step.token is FlightToken.OWN:
            return self._caller
        if self._memory.login is None:
            return None
        token = self._memory.token(step.token)
        return self._plan.elsewhere(self._here).with_credentials(lambda: token)

    def _shake_hands(self, index: int, step: Handshake) -> bool:
        """Call Handshake; False if it is a login and the target file names none."""
        call = Call(index, "", "Handshake", b"")
        if step.login is FlightLogin.NONE:
            self._talk(call, [encoding.part(2, one) for one in step.payloads])
            return True
        if self._memory.login is None:
            return False
        headers, messages = self._memory.opening(step.login)
        budget = self._allowance.left()
        caller = self._plan.elsewhere(self._here).with_credentials(lambda: headers)
        made = self._memory.learn(caller.converse(call, messages, budget=budget), logged_in=True)
        hidden = tuple(map(masked_bytes, made.more_requests))
        self._keep(dataclasses.replace(made, request=masked_bytes(made.request), more_requests=hidden))
        return True

    def _remember(self, label: str, info: Info | None) -> None:
        self._infos.pop(label, None)
        if info is not None:
            self._infos[label] = info

    def _poll(self, index: int, step: PollFlightInfo) -> bool:
        """Ask until the query has ended; False if the step resumes one that there is not."""
        if step.resume and step.resume not in self._later:
            return False
        request = self._later[step.resume] if step.resume else self._descriptor(step.descriptor)
        first = poll = self._ask(index, f"{step.label}/0", step.label, request)
        number = 1
        while poll is not None and poll.descriptor is not None and number < step.most:
            poll = self._ask(index, f"{step.label}/{number}", step.label, poll.descriptor)
            number += 1
        if step.again and poll is not None and first is not None and first.descriptor is not None:
            self._ask(index, f"{step.label}/{AGAIN}", "", first.descriptor)
        return True

    def _ask(self, index: int, label: str, info: str, request: bytes) -> Poll | None:
        """Call PollFlightInfo; None if it gave no PollInfo. Its FlightInfo is remembered as ``info``."""
        call = self._make(Call(index, label, "PollFlightInfo", request))
        poll = read_poll(first_of(call)) if call.status == "OK" and call.end not in BROKEN else None
        if info and poll is not None and poll.info is not None:
            self._remember(info, poll.info)
        if info:
            self._later.pop(info, None)
            if poll is not None and poll.descriptor is not None:
                self._later[info] = poll.descriptor
        return poll

    def _get(self, index: int, step: DoGet) -> bool:
        """Redeem a literal ticket, or those of the endpoints of an info; False if there is nothing to redeem."""
        if step.ticket is not None:
            request = spelled("Ticket", encoding.part(1, step.ticket), step.spelled)
            self._make(Call(index, "", "DoGet", request), take=step.take)
            return True
        info = self._infos.get(step.info)
        most = MOST_SAMPLED if step.sample else MOST_ENDPOINTS
        endpoints = () if info is None else tuple(enumerate(info.endpoints[:most]))
        asked = False
        if step.sample and is_spent(self.calls):
            return False
        for number, endpoint in endpoints:
            if step.endpoint not in ("*", str(number)) or endpoint.ticket is None:
                continue
            places = self._places(endpoint, everywhere=step.everywhere)
            if not places:
                self.untried.extend(endpoint.locations)
            for place in places:
                asked = True
                if self._redeem(index, step, number, endpoint, place).end in BROKEN:
                    return True
        return asked

    def _places(self, endpoint: DecodedEndpoint, *, everywhere: bool) -> list[ServerPlace | None]:
        """Where a ticket is redeemed; None is the connection on which the info came."""
        trust = Trust(self._plan.locations, self._caller.bearing)
        place = place_of(endpoint, self._here, trust)
        first = [] if place is None else [None if place == self._here else place]
        others = places_of(endpoint, self._here, trust) if everywhere else []
        return [*first, *(one for one in others if one not in first)]

    def _redeem(
        self, index: int, step: DoGet, number: int, endpoint: DecodedEndpoint, place: ServerPlace | None
    ) -> Call:
        """Redeem the ticket of an endpoint at a place."""
        label = f"{step.info}/{number}" + ("" if place is None else f"{AT}{place.address}")
        caller = self._caller if place is None else self._plan.elsewhere(place).with_credentials(self._memory.headers)
        ticket = encoding.part(1, endpoint.ticket or b"")
        call = Call(index, label, "DoGet", spelled("Ticket", ticket, step.spelled))
        sample = number if step.sample else None
        return self._make(call, take=step.take, caller=caller, away=place is not None, how=step.gives_up, sample=sample)

    def _send_table(self, index: int, step: DoPut | DoExchange) -> None:
        of = self._descriptor(step.descriptor or Descriptor(cmd=self._plan.names.echo.encode()))
        table = self._table.slice(step.first, step.count)
        if isinstance(step, DoPut):
            method, take = "DoPut", None
            messages = list(put_messages(self._case, table, step, of, self._descriptor(OTHER)))
        else:
            method, take = "DoExchange", step.take
            messages = list(exchange_of(self._case, table, step, of))
        awaits = {at for at, (_, has_rows) in enumerate(messages) if has_rows} if step.in_turns else ()
        leaving = None if step.stop is None else Leaving(step.stop, step.gives_up)
        sent = self._meeting.messages([message for message, _ in messages])
        self._talk(Call(index, "", method, b""), sent, awaits, take=take, leaving=leaving)

    def _make(
        self,
        call: Call,
        *,
        take: int | None = None,
        caller: Caller | None = None,
        away: bool = False,
        how: GivingUp = GivingUp.CANCEL,
        sample: int | None = None,
    ) -> Call:
        """Make a call, given up after ``take`` answers as ``how`` says; ``away`` from the server under test, a
        connection that cannot be made is UNAVAILABLE. With ``sample``, the number of an endpoint, it reads a little.
        """
        budget, caller = bounded(self._allowance.left(), call, self.calls, sample), caller or self._caller
        if take is not None and how is GivingUp.DEADLINE:
            made = caller.left_alone(call, leaving=Leaving(take, how), budget=budget)
        else:
            made = caller.stream(call, budget=budget, take=take)
        if away and made.end is CallEnd.CRASH:
            made = dataclasses.replace(made, end=CallEnd.COMPLETE, status="UNAVAILABLE")
        return self._keep(given_up(made, budget, sample))

    def _talk(
        self,
        call: Call,
        messages: Iterable[bytes],
        awaits: Iterable[int] = (),
        *,
        take: int | None = None,
        leaving: Leaving | None = None,
    ) -> Call:
        budget, awaited = self._allowance.left(), frozenset(awaits)
        made = self._caller.converse(call, messages, budget=budget, awaits=awaited, take=take, leaving=leaving)
        return self._keep(made)

    def _keep(self, call: Call) -> Call:
        self._memory.learn(call)
        with self._keeping:
            self.calls.append(self._memory.without_tokens(call))
            self._allowance.count(call)
        return call
