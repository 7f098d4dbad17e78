"""An Arrow Flight server as a target: started or found at an endpoint, driven over gRPC with bytes of our own.

This module decides which server gets a case, and when one is given up. :mod:`.flightconversation` carries out the
steps. As with Storage Read, a server that hung, crashed or sent too much in one case is replaced before the next.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Final

import pyarrow as pa

from conformance.records import Case, Exchange
from conformance.targets.allowance import Allowance, UsedUpError, call_budget
from conformance.targets.calls import Caller, close_channel
from conformance.targets.clocks import movable
from conformance.targets.costs import Meter
from conformance.targets.dialect import UnknownTypeError
from conformance.targets.environment import Environment
from conformance.targets.errors import TargetUnavailable
from conformance.targets.flightconversation import FlightConversation, FlightPlan
from conformance.targets.flightlogin import Memory
from conformance.targets.flightmessages import Names
from conformance.targets.flightplaces import ServerPlace
from conformance.targets.flightspec import FlightSpec
from conformance.targets.instants import now
from conformance.targets.patience import Patience
from conformance.targets.running import RunningServer
from conformance.targets.seeding import run_token
from conformance.targets.servers import Servers
from conformance.targets.spec import TargetSpec, extra_seconds
from conformance.targets.starting import Starter
from conformance.wire.flight import SERVICE

__all__ = ["FlightTarget"]

MOST_REMARKS: Final = 10
"""The number of locations that are named because they were not tried."""


class FlightTarget:
    """A Flight server under test. One thread drives it at a time; :meth:`close` ends the started processes."""

    def __init__(
        self,
        spec: TargetSpec,
        environment: Environment,
        *,
        multiplier: float,
        starter: Callable[..., Starter] = Starter,
    ) -> None:
        self.name = spec.name
        self.version = environment.version
        self.capabilities = frozenset(spec.capabilities)
        self._untried: dict[str, None] = {}
        self._spec = spec
        self._flight = spec.flight or FlightSpec()
        self._deadlines = spec.deadlines.stretched(multiplier)
        # A server that runs longer than the suite has flights of other runs.
        self._token = "" if spec.endpoint is None else run_token()
        self._driven: Counter[str] = Counter()
        self._starter = starter(
            spec,
            environment,
            deadlines=self._deadlines,
            token=self._token,
            patience=Patience(None),
            meter=Meter(None),
        )
        self._servers = Servers(self._starter.open)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The locations that could not be tried, by their names."""
        said = (
            "not tried: [flight] locations does not name it, and it is a socket, is not on this machine, or would get "
        )
        said += "headers or a token, or a connection without TLS"
        return tuple(f"the location {uri} was {said}" for uri in list(self._untried)[:MOST_REMARKS])

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the server and record everything; faults of the target are in the exchange."""
        exchange = Exchange(case.id, self.name, now=now(), protocol="flight")
        if case.isolated and self._spec.endpoint is not None:
            said = "the case needs a server process of its own, and this target is one that runs already"
            return dataclasses.replace(exchange, untestable=said)
        try:
            if not case.isolated and not self._starter.anew:
                return self._converse(self._servers.ready(), case, table, exchange)
            own = self._starter.open()
            try:
                return self._converse(own, case, table, exchange)
            finally:
                own.close(grace=0)
        except TargetUnavailable as error:
            return dataclasses.replace(exchange, untestable=str(error))

    def close(self) -> None:
        """Stop the server if the suite started it, and close the connections."""
        self._servers.close(grace=self._spec.start.grace if self._spec.start is not None else 0.0)

    def _converse(self, running: RunningServer, case: Case, table: pa.Table, exchange: Exchange) -> Exchange:
        exchange = dataclasses.replace(exchange, now=running.clock.now())
        # What an earlier attempt at the case has put is there still.
        again = str(self._driven[case.id]) if self._driven[case.id] and not self._starter.anew else ""
        self._driven[case.id] += 1
        token = "x".join(filter(None, (self._token, again)))
        extra = extra_seconds(table.nbytes)
        limits = self._spec.limits
        caller = Caller(
            running.channel,
            began=running.clock.monotonic(),
            message_limit=limits.flight_message,
            last_words=running.last_words,
            credentials=self._starter.credentials.headers,
            service=SERVICE,
            clock=running.clock,
        )
        with ExitStack() as later:
            memory = Memory(self._flight.login, self._flight.headers)

            def elsewhere(place: ServerPlace) -> Caller:
                if running.connect is not None:
                    return caller.over(running.connect(place.address))
                channel = self._starter.channel(place.address, tls=place.tls)
                later.callback(close_channel, channel)
                return caller.over(channel)

            plan = FlightPlan(
                names=Names(case.id, self._flight.path, token, self._flight.echo),
                endpoint=running.endpoint,
                allowance=Allowance(
                    call_budget(table, self._deadlines, limits),
                    until=time.monotonic() + self._deadlines.case + extra * len(case.steps),
                    case_bytes=limits.case,
                ),
                elsewhere=elsewhere,
                memory=memory,
                tls=self._starter.secure is not None,
                locations=self._flight.locations,
                sql=self._flight.sql,
                pass_time=later.enter_context(
                    movable(running, self._spec.clock, lost=lambda: self._servers.give_up(running))
                ),
                now=exchange.now,
            )
            if memory.login is not None:
                with suppress(UsedUpError):  # then no call can be made either, and the conversation says so
                    memory.log_in(caller, plan.allowance.left())
            conversation = FlightConversation(case, table, caller, plan)
            try:
                conversation.run()
            except UnknownTypeError as error:
                return dataclasses.replace(exchange, untestable=str(error))
        self._untried.update(dict.fromkeys(conversation.untried))
        if conversation.broken:
            self._servers.give_up(running)
        return dataclasses.replace(
            exchange,
            calls=tuple(conversation.calls),
            skipped_steps=tuple(conversation.skipped),
            stopped=conversation.stopped,
        )
