"""An Arrow Flight server as a target: started or found at an endpoint, driven over gRPC with bytes of our own.

:mod:`.rpc` decides which server gets a case, and when one is given up. :mod:`.flightconversation` carries out the
steps.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.flight.table.dialect import UnknownTypeError
from conformance.protocols.flight.table.spec import FlightSpec
from conformance.protocols.flight.targets.conversation import FlightConversation, FlightPlan
from conformance.protocols.flight.targets.locations import ServerPlace
from conformance.protocols.flight.targets.login import Memory
from conformance.protocols.flight.targets.messages import FlightNames
from conformance.protocols.flight.wire.messages import SERVICE
from conformance.records import Case
from conformance.targets.allowance import UsedUpError
from conformance.targets.clocks import movable
from conformance.targets.recordedcall import Caller, close_channel
from conformance.targets.rpc import Contact, Conversed, RpcTarget
from conformance.targets.spec import TargetSpec

__all__ = ["FlightTarget"]

MOST_REMARKS: Final = 10
"""The number of locations that are named because they were not tried."""


class FlightTarget(RpcTarget):
    """A Flight server under test. One thread drives it at a time; :meth:`close` ends the started processes."""

    SERVICE = SERVICE

    def __init__(self, spec: TargetSpec, *given: Any, **named: Any) -> None:
        super().__init__(spec, *given, **named)
        self._flight = FlightSpec.of(spec)
        self._put: Counter[str] = Counter()

    @property
    def remarks(self) -> tuple[str, ...]:
        """The locations that could not be tried, by their names."""
        said = (
            "not tried: [flight] locations does not name it, and it is a socket, is not on this machine, or would get "
        )
        said += "headers or a token, or a connection without TLS"
        return tuple(f"the location {uri} was {said}" for uri in super().remarks[:MOST_REMARKS])

    def converse(self, contact: Contact, case: Case, table: pa.Table) -> Conversed:
        """Carry out the steps of a case."""
        running, caller, later = contact.running, contact.caller, contact.later
        # What an earlier attempt at the case has put is there still.
        again = str(self._put[case.id]) if self._put[case.id] and not self._starter.anew else ""
        self._put[case.id] += 1
        token = "x".join(filter(None, (self._token, again)))
        memory = Memory(self._flight.login, self._flight.headers)

        def elsewhere(place: ServerPlace) -> Caller:
            if running.connect is not None:
                return caller.over(running.connect(place.address))
            channel = self._starter.channel(place.address, tls=place.tls)
            later.callback(close_channel, channel)
            return caller.over(channel, away=place.address != running.endpoint)

        plan = FlightPlan(
            names=FlightNames(case.id, self._flight.path, token, self._flight.echo),
            endpoint=running.endpoint,
            allowance=contact.allowance,
            elsewhere=elsewhere,
            memory=memory,
            tls=self._starter.secure is not None,
            locations=self._flight.locations,
            sql=self._flight.sql,
            pass_time=later.enter_context(
                movable(running, self._spec.clock, lost=lambda: self._servers.give_up(running))
            ),
            now=contact.now,
        )
        if memory.login is not None:
            with suppress(UsedUpError):  # then no call can be made either, and the conversation says so
                memory.log_in(caller, contact.allowance.left())
        conversation = FlightConversation(case, table, caller, plan)
        try:
            conversation.run()
        except UnknownTypeError as error:
            return Conversed(untestable=str(error))
        return Conversed(conversation.calls, conversation.skipped, conversation.stopped, remarks=conversation.untried)
