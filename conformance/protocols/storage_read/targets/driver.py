"""A BigQueryRead server as a target: started or found at an endpoint, seeded, driven over gRPC.

This module decides which server gets a case, and when one is given up. :mod:`.starting` starts it, :mod:`.seeding` puts
a case's table into it, :mod:`.conversation` carries out the steps, and :mod:`.calls` decides how a call ended.
A server that hung, crashed or sent too much in one case is replaced before the next, so that a defect affects only its
own case.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import grpc
import pyarrow as pa

from conformance.generate.changedrows import rows_then
from conformance.protocols.storage_read.targets.conversation import Conversation, ConversationPlan
from conformance.protocols.storage_read.targets.denied import PLAIN, PLAIN_TABLE, Denied, denied, needs_table
from conformance.records import SET_UP, AppendRows, Case, Column, Exchange, Happening, Meanwhile, PlannedFault
from conformance.records.changes import altered_columns, columns_before_each
from conformance.targets.allowance import call_budget
from conformance.targets.clocks import movable
from conformance.targets.costs import Meter
from conformance.targets.cutting import cut_after
from conformance.targets.elsewhere import Elsewhere
from conformance.targets.endpoint import Endpoint
from conformance.targets.environment import Environment
from conformance.targets.faulting import BreakableLine
from conformance.targets.names import Names
from conformance.targets.patience import Patience
from conformance.targets.projects import with_dataset
from conformance.targets.recent import Recent
from conformance.targets.recordedcall import EXIT_SECONDS, Caller, close_channel
from conformance.targets.restway import LARGE, LARGEST
from conformance.targets.running import PROBE_SECONDS, RunningServer
from conformance.targets.seeding import run_token
from conformance.targets.seeds import SeededTable, case_rows
from conformance.targets.servers import Servers
from conformance.targets.spec import TargetSpec, extra_seconds
from conformance.targets.starting import Starter
from conformance.targets.targeterrors import CannotSeed, TargetUnavailable
from conformance.targets.ticks import instant_after_seed, now

if TYPE_CHECKING:
    from conformance.targets.seeding import Seeder

__all__ = ["NO_REST", "ServerTarget"]

MADE_UP: Final = "/google.cloud.bigquery.storage.v1.BigQueryRead/MadeUp5f0c2a91"
"""A method that no server has."""

TRIES: Final = 3
"""The number of times that a case is put again, after a quota was exceeded or with a new token."""

LONGEST_WAIT: Final = 60.0
"""The longest wait in seconds that a server may ask for before it is asked again."""

GIVE_UP_AFTER: Final = 3
"""After so many consecutive cases that the set-up kept from being asked, no further case is put."""

NO_REST: Final = (
    "cannot seed: the target names no REST API, through which the suite makes the case's table ([endpoint] rest in a"
    " file, ?rest=http://HOST:PORT in a URL)"
)


class ServerTarget:
    """A server under test. One thread drives it at a time; :meth:`close` ends the started processes."""

    def __init__(
        self,
        spec: TargetSpec,
        environment: Environment,
        *,
        multiplier: float,
        starter: Callable[..., Starter] = Starter,
    ) -> None:
        self.name = spec.name
        self.capabilities = frozenset(spec.capabilities)
        self.version = environment.version
        self._token = run_token()
        self._spec = spec = with_dataset(spec, self._token)
        self._patience = Patience(spec.service)
        self._meter = Meter(None if spec.service is None else spec.service.max_bytes)
        self._environment = environment
        self._project = spec.project
        self._deadlines = spec.deadlines.stretched(multiplier)
        self._rows: Recent[tuple[Any, ...]] = Recent()
        self._endpoint = spec.endpoint or Endpoint("")
        self._starter = starter(
            spec,
            environment,
            deadlines=self._deadlines,
            token=self._token,
            patience=self._patience,
            meter=self._meter,
        )
        self._credentials = self._starter.credentials
        self._elsewhere = Elsewhere(self._endpoint.tls, spec.here, message_limit=spec.limits.message)
        self._refusals = 0
        self._refusal = ""
        self.lag = 0.0
        """Seconds between the moment at which REST lists a table's rows and the first request for them."""
        self._servers = Servers(self._starter.open)
        self._said = self._probe()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the report says about the server, what was asked again, and what was read."""
        late = f"sessions show rows up to {self.lag:g} s after tabledata.list does: that long was waited in each case"
        return (*self._said, *([late] if self.lag else []), *self._patience.remarks, *self._meter.remarks)

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the server and record everything; faults of the target are in the exchange.

        If a running server refuses the credentials or exceeds a quota, the case is put again, where that may help. If
        the server then refuses a plain request as well, the case is untestable because of the set-up.
        """
        if self._refusals >= GIVE_UP_AFTER:
            return dataclasses.replace(self._nothing(case), untestable=self._refusal)
        if self._meter.stopped:
            return dataclasses.replace(self._nothing(case), untestable=f"{SET_UP}{self._meter.stopped}")
        exchange = self._put(case, table)
        for tried in range(max(TRIES, self._patience.tries)):
            refusal = self._refused(exchange)
            if refusal is None:
                break
            again = self._overcome(refusal, tried)
            # A plain request would spend the quota that the case waits for.
            waited = again and refusal.quota and self._patience.tries > 0
            if not waited and (still := self._refused(self._put(PLAIN, PLAIN_TABLE))) is not None:
                return self._set_up(exchange, still)
            if not again:
                break
            exchange = self._put(case, table)
        else:
            if (refusal := self._refused(exchange)) is not None and refusal.quota:
                return self._set_up(exchange, refusal)
        if exchange.untestable.startswith(SET_UP):
            self._refusals, self._refusal = self._refusals + 1, exchange.untestable
        else:
            self._refusals = 0
        return exchange

    def _refused(self, exchange: Exchange) -> Denied | None:
        """The answer in an exchange that may be about who asks; a server that the suite started knows no one else."""
        running = self._servers.shared
        if self._spec.endpoint is None or running is None:
            return None
        said = ""
        if running.rest is not None:
            said, running.rest.refused = running.rest.refused, ""
        return denied(exchange, said)

    def _overcome(self, refusal: Denied, tried: int) -> bool:
        """Do what may help against the refusal number ``tried`` of a case; false if nothing may."""
        if refusal.quota:
            if refusal.retry is None:
                return self._patience.pause(tried, math.inf)
            if refusal.retry > LONGEST_WAIT:
                return False
            threading.Event().wait(refusal.retry)
            self._patience.again += 1
            return True
        if refusal.unknown and self._credentials.renewable:
            self._credentials.renew()
            return True
        return False

    def _set_up(self, exchange: Exchange, refusal: Denied) -> Exchange:
        """``exchange`` as one that says nothing about the server."""
        self._refusals += 1
        self._refusal = refusal.sentence(named=self._endpoint.names_credentials)
        return dataclasses.replace(exchange, calls=(), skipped_steps=(), untestable=self._refusal)

    def _nothing(self, case: Case) -> Exchange:
        """The exchange of a case before anything was asked."""
        return Exchange(case.id, self.name, project=self._project, dataset=self._spec.seed.dataset, now=now())

    def _put(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the server once, and count what it read."""
        exchange = self._put_uncounted(case, table)
        self._meter.count(exchange)
        return exchange

    def _put_uncounted(self, case: Case, table: pa.Table) -> Exchange:
        exchange = self._nothing(case)
        if case.isolated and self._spec.endpoint is not None:
            said = "the case needs a server process of its own, and this target is one that runs already"
            return dataclasses.replace(exchange, untestable=said)
        try:
            if not case.isolated and not self._starter.anew:
                running = self._servers.ready(restarted=self._starter.restarts and _is_restarted(case))
                return self._drive(running, case, table, exchange)
            own = self._starter.open()
            try:
                return self._drive(own, case, table, exchange)
            finally:
                own.close(grace=0)
        except TargetUnavailable as error:
            said = str(error) if self._spec.endpoint is None else f"{SET_UP}{error}"
            return dataclasses.replace(exchange, untestable=said)

    def close(self) -> None:
        """Stop the server if the suite started it, and close the connections."""
        self._elsewhere.close()
        self._servers.close(grace=self._grace)

    def _probe(self) -> tuple[str, ...]:
        """Call a method that does not exist; a remark if the server answers it.

        The interoperability tests of gRPC require UNIMPLEMENTED for an unknown method
        (https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md, "unimplemented_method"). The answers
        of a server that answers anything with OK do not show what it offers.
        """
        channel = self._servers.ready().channel
        call = channel.unary_unary(MADE_UP, request_serializer=None, response_deserializer=None)
        try:
            with cut_after(channel, PROBE_SECONDS):
                call(b"", timeout=PROBE_SECONDS, metadata=tuple(self._credentials.headers().items()))
        except grpc.RpcError:
            return ()
        remark = (
            f"called the made-up method {MADE_UP}, it should answer UNIMPLEMENTED but answered OK: it does not look at"
            " the method, so what it serves proves nothing"
        )
        return (remark,)

    @property
    def _grace(self) -> float:
        return self._spec.start.grace if self._spec.start is not None else 0.0

    def _drive(self, running: RunningServer, case: Case, table: pa.Table, exchange: Exchange) -> Exchange:
        exchange = dataclasses.replace(exchange, now=running.clock.now())
        withheld = sum(step.count for step in case.steps if isinstance(step, AppendRows))
        rows = self._rows_of(case, table)
        until = time.monotonic() + self._deadlines.case + extra_seconds(table.nbytes)
        columns = columns_before_each(case.table.columns, case.steps)[0]
        if running.seeder is None:
            if needs_table(case):
                return dataclasses.replace(exchange, untestable=NO_REST)
            conversation = self._converse(running, case, table, None)
            return _carried_out(exchange, conversation)
        try:
            seeded = running.seeder.seed(
                case.id, columns, rows_then(case, rows, columns), withheld=withheld, until=until
            )
            exchange = dataclasses.replace(exchange, table=seeded.names.table)
            threading.Event().wait(self.lag)
            try:
                conversation = self._converse(running, case, table, seeded)
            finally:
                with suppress(TargetUnavailable):  # there may be no token any more, and the exchange is complete
                    running.seeder.release(seeded)
        except CannotSeed as error:
            words = running.last_words(EXIT_SECONDS if not error.answered else 0)
            if words or not error.answered:
                self._servers.give_up(running)
            return dataclasses.replace(exchange, untestable=f"cannot seed: {words or error}")
        if conversation.broken:
            self._servers.give_up(running)
        return _carried_out(exchange, conversation)

    def _rows_of(self, case: Case, table: pa.Table) -> Sequence[Any]:
        """The rows of a case in JSON; those of large recipes are kept, for many cases have the same."""
        columns, recipe = case.table.columns, case.table.recipe
        if recipe is None or not LARGE <= recipe.rows <= LARGEST:
            return case_rows(case, table)
        return self._rows.get((columns, recipe), lambda: case_rows(case, table))

    def _converse(
        self, running: RunningServer, case: Case, table: pa.Table, seeded: SeededTable | None
    ) -> Conversation:
        """Carry out the steps of a case; without a table, if none of them needs it."""
        running.clock.tick()
        before = instant_after_seed(case.steps, running.clock)
        began = running.clock.monotonic()
        extra = extra_seconds(table.nbytes)
        limits = self._spec.limits
        until = time.monotonic() + self._deadlines.case + extra * len(case.steps)
        caller = Caller(
            running.channel,
            began=began,
            message_limit=limits.message,
            last_words=running.last_words,
            credentials=self._credentials.headers,
            clock=running.clock,
        )
        with movable(running, self._spec.clock, lost=lambda: self._servers.give_up(running)) as pass_time:
            plan = ConversationPlan(
                names=Names(self._project, self._spec.seed.dataset, "none") if seeded is None else seeded.names,
                seeded=0 if seeded is None else seeded.inserted,
                now=running.clock.now(),
                before_append=before,
                budget=call_budget(table, self._deadlines, limits),
                until=until,
                case_bytes=limits.case,
                append=self._inserts(running, seeded, lambda seeder: seeder.append, until),
                remake=self._inserts(running, seeded, lambda seeder: seeder.remake, until),
                change=self._inserts(running, seeded, lambda seeder: partial(_change, case, table, seeder), until),
                renew=self._inserts(running, seeded, lambda seeder: seeder.renew, until),
                derive=self._inserts(running, seeded, lambda seeder: seeder.derive, until),
                ask=self._inserts(running, seeded, lambda seeder: seeder.ask, until),
                restart=lambda: caller.over(running.channel) if self._restarted(running, seeded) else None,
                pass_time=pass_time,
                patience=self._patience,
            )
            conversation = Conversation(
                case,
                caller,
                plan,
                other=lambda: self._elsewhere.caller(caller, running.address),
                broken=lambda fault: self._over_line(caller, running.address, fault),
            )
            conversation.run()
        return conversation

    def _restarted(self, running: RunningServer, seeded: SeededTable | None) -> bool:
        """Stop the server and start it again; False if the target's file does not say that it may be."""
        if running.again is None:
            return False
        before = running.seeder
        running.restart(grace=self._grace)
        if seeded is not None and before is not None and running.seeder is not None:
            running.seeder.adopt(seeded, before)
        return True

    @contextmanager
    def _over_line(self, caller: Caller, endpoint: str, fault: PlannedFault) -> Iterator[tuple[Caller, BreakableLine]]:
        """A caller like ``caller`` over a connection that ``fault`` can break, and that connection."""
        with BreakableLine(endpoint, framed=self._starter.secure is None, cut=fault.bytes) as line:
            channel = self._starter.channel(endpoint, through=line.endpoint)
            try:
                yield caller.over(channel), line
            finally:
                close_channel(channel)

    @staticmethod
    def _inserts(
        running: RunningServer, seeded: SeededTable | None, way: Callable[[Seeder], Callable[..., Any]], until: float
    ) -> Callable[[Any], Any]:
        if seeded is None or running.seeder is None:
            return _inserts_nothing

        def insert(of: Any) -> Any:
            assert running.seeder is not None  # it is another one after a restart
            done = way(running.seeder)(seeded, of, until=until)
            running.clock.tick()
            return done

        return insert


def _change(
    case: Case, table: pa.Table, seeder: Seeder, seeded: SeededTable, columns: Sequence[Column], *, until: float
) -> bool:
    """Give the table other columns, and go on with rows of these."""
    last = {column.name: column for column in case.table.columns}
    altered = [
        (was, last[name])
        for name, was in altered_columns(case.steps).items()
        if was in seeded.columns and was not in columns
    ]
    rows = rows_then(case, case_rows(case, table), columns) if altered else ()
    return seeder.change(seeded, columns, altered=altered, rows=rows, until=until)


def _carried_out(exchange: Exchange, conversation: Conversation) -> Exchange:
    return dataclasses.replace(
        exchange,
        calls=tuple(conversation.calls),
        skipped_steps=tuple(conversation.skipped),
        stopped=conversation.stopped,
    )


def _is_restarted(case: Case) -> bool:
    return any(isinstance(step, Meanwhile) and step.what is Happening.RESTART for step in case.steps)


def _inserts_nothing(_count: object) -> None:
    """Without a table no row can be appended, and no case without one has such a step."""
