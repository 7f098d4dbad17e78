"""A server of one gRPC service as a target: which server gets a case, and when one is given up.

A server that hung, crashed or sent too much in one case is replaced before the next, so that a defect affects only its
own case. A protocol whose steps make one call each says in :meth:`RpcTarget.asked` what a step asks for; one whose
answers decide what is asked next carries out its steps by itself (:meth:`RpcTarget.converse`).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import ClassVar

import pyarrow as pa

from conformance.protocol import plugin
from conformance.records import Call, Case, Exchange, Step
from conformance.targets.allowance import Allowance, UsedUpError, call_budget, unreached
from conformance.targets.costs import Meter
from conformance.targets.environment import Environment
from conformance.targets.patience import Patience
from conformance.targets.plugin import TargetsPlugin
from conformance.targets.recordedcall import BROKEN, Caller
from conformance.targets.running import RunningServer
from conformance.targets.seeding import run_token
from conformance.targets.servers import Servers
from conformance.targets.spec import TargetSpec, extra_seconds
from conformance.targets.starting import Starter
from conformance.targets.targeterrors import TargetUnavailable
from conformance.targets.ticks import now

__all__ = ["Contact", "Conversed", "RpcTarget"]


@dataclasses.dataclass(frozen=True, slots=True)
class Contact:
    """A server and how it is called for a case: ``allowance`` is what is left of the limits of the case.

    What ends with the case is put into ``later``. ``now`` is the beginning of the exchange, in microseconds since the
    Unix epoch.
    """

    running: RunningServer
    caller: Caller
    allowance: Allowance
    later: ExitStack
    now: int


@dataclasses.dataclass(frozen=True, slots=True)
class Conversed:
    """What came of the steps of a case: the calls in their order, and the steps that did not apply.

    ``stopped`` and ``untestable`` are those of :class:`~conformance.records.Exchange`. ``remarks`` are said once in the
    report on the target.
    """

    calls: Sequence[Call] = ()
    skipped: Sequence[int] = ()
    stopped: str = ""
    untestable: str = ""
    remarks: Sequence[str] = ()

    @property
    def broken(self) -> bool:
        """True if a call left the target in a state that must not affect the next case."""
        return any(call.end in BROKEN for call in self.calls)


class RpcTarget:
    """A server under test. One thread drives it at a time; :meth:`close` ends the started processes.

    ``SERVICE`` is what the names of its methods begin with, with a slash at both ends.
    """

    SERVICE: ClassVar[str]

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
        self._spec = spec
        self._remarks: dict[str, None] = {}
        self._deadlines = spec.deadlines.stretched(multiplier)
        # A server that runs longer than the suite knows what other runs have sent.
        self._token = "" if spec.endpoint is None else run_token()
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
        """What the report says about the server."""
        return tuple(self._remarks)

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the server and record everything; faults of the target are in the exchange."""
        exchange = Exchange(case.id, self.name, now=now(), protocol=self._spec.protocol)
        if case.isolated and self._spec.endpoint is not None:
            said = "the case needs a server process of its own, and this target is one that runs already"
            return dataclasses.replace(exchange, untestable=said)
        try:
            if not case.isolated and not self._starter.anew:
                return self._driven(self._servers.ready(), case, table, exchange)
            own = self._starter.open()
            try:
                return self._driven(own, case, table, exchange)
            finally:
                own.close(grace=0)
        except TargetUnavailable as error:
            return dataclasses.replace(exchange, untestable=str(error))

    def close(self) -> None:
        """Stop the server if the suite started it, and close the connections."""
        self._servers.close(grace=self._spec.start.grace if self._spec.start is not None else 0.0)

    def asked(self, case: Case, table: pa.Table, step: Step) -> tuple[str, bytes] | None:
        """The method, without the service, and the request of the call of a step; None if the step does not apply."""
        raise NotImplementedError

    def converse(self, contact: Contact, case: Case, table: pa.Table) -> Conversed:
        """Carry out every step, until the end, the limits of the case, or a call that shows the target broken."""
        calls: list[Call] = []
        skipped: list[int] = []
        for index, step in enumerate(case.steps):
            asked = self.asked(case, table, step)
            if asked is None:
                skipped.append(index)
                continue
            try:
                budget = contact.allowance.left()
            except UsedUpError as error:
                skipped += unreached(case, calls, skipped, index)
                return Conversed(calls, skipped, stopped=str(error))
            method, request = asked
            call = contact.caller.stream(Call(index, step.TAG, method, request), budget=budget)
            contact.allowance.count(call)
            calls.append(call)
            if call.end in BROKEN:
                break
        return Conversed(calls, skipped)

    def _driven(self, running: RunningServer, case: Case, table: pa.Table, exchange: Exchange) -> Exchange:
        exchange = dataclasses.replace(exchange, now=running.clock.now())
        limits, extra = self._spec.limits, extra_seconds(table.nbytes)
        caller = Caller(
            running.channel,
            began=running.clock.monotonic(),
            message_limit=plugin(TargetsPlugin, self._spec.protocol).message_limit(limits),
            last_words=running.last_words,
            credentials=self._starter.credentials.headers,
            service=self.SERVICE,
            clock=running.clock,
        )
        allowance = Allowance(
            call_budget(table, self._deadlines, limits),
            until=time.monotonic() + self._deadlines.case + extra * len(case.steps),
            case_bytes=limits.case,
        )
        with ExitStack() as later:
            conversed = self.converse(Contact(running, caller, allowance, later, exchange.now), case, table)
        if conversed.broken:
            self._servers.give_up(running)
        self._remarks.update(dict.fromkeys(conversed.remarks))
        return dataclasses.replace(
            exchange,
            calls=tuple(conversed.calls),
            skipped_steps=tuple(conversed.skipped),
            stopped=conversed.stopped,
            untestable=conversed.untestable,
        )
