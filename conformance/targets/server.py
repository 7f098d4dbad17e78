"""A BigQueryRead server as a target: started or found at an endpoint, seeded, driven over gRPC.

This module decides when a server is started, restarted and given up. :mod:`.seeding` puts a case's table into it,
:mod:`.conversation` carries out the steps, and :mod:`.calls` decides how a call ended.
A server that hung, crashed or sent too much in one case is replaced before the next, so that a defect affects only its
own case.
"""

from __future__ import annotations

import dataclasses
import functools
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

import grpc
import pyarrow as pa

from conformance.contain.child import Child, free_port
from conformance.contain.errors import CannotStart
from conformance.records import SET_UP, AppendRows, Case, CreateSession, Exchange, Step
from conformance.targets.calls import EXIT_SECONDS, CallBudget, Caller, open_channel
from conformance.targets.conversation import Conversation, ConversationPlan
from conformance.targets.credentials import Credentials
from conformance.targets.denied import PLAIN, PLAIN_TABLE, Denied, denied, needs_table
from conformance.targets.endpoint import Endpoint
from conformance.targets.environment import Environment, command_environment, fill
from conformance.targets.errors import CannotSeed, TargetError, TargetUnavailable
from conformance.targets.homes import fresh_home
from conformance.targets.kept import Kept
from conformance.targets.messages import Names
from conformance.targets.recent import Recent
from conformance.targets.rest import RestClient
from conformance.targets.restway import LARGE, LARGEST, RestTables
from conformance.targets.seeding import Seeder, open_seeder, run_token
from conformance.targets.seeds import SeededTable, case_rows
from conformance.targets.spec import Ready, Start, TargetSpec
from conformance.targets.tls import SecureLine, http2_refusal

if TYPE_CHECKING:
    from conformance.targets.asking import AskedProgram

__all__ = ["ServerTarget"]

HOST: Final = "127.0.0.1"

BYTES_PER_SECOND: Final = 2 << 20
"""The slowest accepted transfer: a table's size divided by it is added to each call's deadline."""

EXPANSION: Final = 16
"""The largest accepted ratio of a table's size in responses to its size in memory.

Booleans as Avro, or one row per message, come near it.
"""

SPARE_RESPONSES: Final = 1000
"""Responses permitted beyond two per row: enough to record a defect of empty responses with its end."""

PROBE_SECONDS: Final = 1.0
"""Seconds for one check of a starting server."""

MADE_UP: Final = "/google.cloud.bigquery.storage.v1.BigQueryRead/MadeUp5f0c2a91"
"""A method that no server has."""

LISTEN_SECONDS: Final = 0.1
"""Seconds for this machine to accept a connection of its own."""

TRIES: Final = 3
"""The number of times that a case is put again, after a quota was exceeded or with a new token."""

LONGEST_WAIT: Final = 60.0
"""The longest wait in seconds that a server may ask for before it is asked again."""

GIVE_UP_AFTER: Final = 3
"""After so many consecutive cases that the set-up kept from being asked, no further case is put."""

NO_REST: Final = "cannot seed: the target file names no [endpoint] rest, through which the suite makes the case's table"

MARGIN_SECONDS: Final = 0.02
"""Seconds between seed, snapshot instant and first append: servers store times in milliseconds, some in ticks."""


@dataclasses.dataclass(slots=True)
class _RunningServer:
    """One server: its connections, and its process if the suite started it."""

    endpoint: str
    channel: grpc.Channel
    rest: RestClient | None
    seeder: Seeder | None
    process: Child | None = None
    secure: SecureLine | None = None
    home: ExitStack = dataclasses.field(default_factory=ExitStack)

    def last_words(self, seconds: float) -> str | None:
        """How the process ended, after waiting ``seconds`` for it; None if it runs or the suite did not start it."""
        if self.process is None or not self.process.wait_for_exit(seconds):
            return None
        return self.process.last_words()

    def close(self, *, grace: float) -> None:
        self.channel.close()
        if self.seeder is not None:
            self.seeder.close(grace=grace)
        if self.rest is not None:
            self.rest.close()
        if self.process is not None:
            self.process.stop(grace=grace)
        self.home.close()


class ServerTarget:
    """A server under test. One thread drives it at a time; :meth:`close` ends the started processes."""

    def __init__(self, spec: TargetSpec, environment: Environment, *, multiplier: float) -> None:
        self.name = spec.name
        self.capabilities = frozenset(spec.capabilities)
        self.version = environment.version
        self.remarks: tuple[str, ...] = ()
        self._spec = spec
        self._environment = environment
        self._project = spec.project
        self._deadlines = spec.deadlines.stretched(multiplier)
        self._probes = dataclasses.replace(
            spec.ready, rest_path=fill(spec.ready.rest_path, environment, project=spec.project)
        )
        self._rows: Recent[tuple[Any, ...]] = Recent()
        self._endpoint = spec.endpoint or Endpoint("")
        self._secure, self._credentials = _shown(self._endpoint, spec)
        self._refusals = 0
        self._refusal = ""
        self._shared = Kept("server", self._open)
        self.remarks += self._probe()

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the server and record everything; faults of the target are in the exchange.

        If a running server refuses the credentials or exceeds a quota, the case is put again, where that may help. If
        the server then refuses a plain request as well, the case is untestable because of the set-up.
        """
        if self._refusals >= GIVE_UP_AFTER:
            return dataclasses.replace(self._nothing(case), untestable=self._refusal)
        exchange = self._put(case, table)
        for _ in range(TRIES):
            refusal = self._refused(exchange)
            if refusal is None:
                break
            again = self._overcome(refusal)
            if (still := self._refused(self._put(PLAIN, PLAIN_TABLE))) is not None:
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
        running = self._shared.now
        if self._spec.endpoint is None or running is None:
            return None
        said = ""
        if running.rest is not None:
            said, running.rest.refused = running.rest.refused, ""
        return denied(exchange, said)

    def _overcome(self, refusal: Denied) -> bool:
        """Do what may help against ``refusal``; false if nothing may."""
        if refusal.quota:
            if refusal.retry is None or refusal.retry > LONGEST_WAIT:
                return False
            threading.Event().wait(refusal.retry)
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
        return Exchange(case.id, self.name, project=self._project, dataset=self._spec.seed.dataset, now=_now())

    def _put(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the server once."""
        exchange = self._nothing(case)
        if case.isolated and self._spec.endpoint is not None:
            said = "the case needs a server process of its own, and this target is one that runs already"
            return dataclasses.replace(exchange, untestable=said)
        try:
            if not case.isolated:
                return self._drive(self._ready(), case, table, exchange)
            own = self._open()
            try:
                return self._drive(own, case, table, exchange, shared=False)
            finally:
                own.close(grace=0)
        except TargetUnavailable as error:
            said = str(error) if self._spec.endpoint is None else f"{SET_UP}{error}"
            return dataclasses.replace(exchange, untestable=said)

    def close(self) -> None:
        """Stop the server if the suite started it, and close the connections."""
        self._shared.discard(grace=self._grace)

    def _probe(self) -> tuple[str, ...]:
        """Call a method that does not exist; a remark if the server answers it.

        The interoperability tests of gRPC require UNIMPLEMENTED for an unknown method
        (https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md, "unimplemented_method"). The answers
        of a server that answers anything with OK do not show what it offers.
        """
        call = self._ready().channel.unary_unary(MADE_UP, request_serializer=None, response_deserializer=None)
        try:
            call(b"", timeout=PROBE_SECONDS, metadata=tuple(self._credentials.headers().items()))
        except grpc.RpcError:
            return ()
        remark = (
            f"called the made-up method {MADE_UP}, it should answer UNIMPLEMENTED but answered OK: it does not look at"
            " the method, so what it serves proves nothing"
        )
        return (remark,)

    @property
    def _has_rest(self) -> bool:
        """True if a started server serves REST, as far as its file says."""
        start = self._spec.start or Start(())
        texts = (*start.command, *start.environment.values())
        if self._spec.seed.over_rest or self._spec.ready.rest_event:
            return True
        return any("{rest_port}" in text for text in texts)

    @property
    def _grace(self) -> float:
        return self._spec.start.grace if self._spec.start is not None else 0.0

    def _ready(self) -> _RunningServer:
        """The shared server, started again if the last one has ended."""
        shared = self._shared.now
        if shared is not None and shared.process is not None and not shared.process.running:
            self._shared.discard(grace=0)
        return self._shared.ready()

    def _drive(
        self, running: _RunningServer, case: Case, table: pa.Table, exchange: Exchange, *, shared: bool = True
    ) -> Exchange:
        withheld = sum(step.count for step in case.steps if isinstance(step, AppendRows))
        rows = self._rows_of(case, table)
        until = time.monotonic() + self._deadlines.case + table.nbytes / BYTES_PER_SECOND
        columns = case.table.columns
        if running.seeder is None:
            if needs_table(case):
                return dataclasses.replace(exchange, untestable=NO_REST)
            conversation = self._converse(running, case, table, None)
            return dataclasses.replace(exchange, calls=tuple(conversation.calls))
        try:
            seeded = running.seeder.seed(case.id, columns, rows, withheld=withheld, until=until)
            exchange = dataclasses.replace(exchange, table=seeded.names.table)
            try:
                conversation = self._converse(running, case, table, seeded)
            finally:
                with suppress(TargetUnavailable):  # there is no token any more, and the exchange is complete
                    running.seeder.release(seeded)
        except CannotSeed as error:
            words = running.last_words(EXIT_SECONDS if not error.answered else 0)
            if shared and running.process is not None and (words or not error.answered):
                self._shared.discard(grace=0)
            return dataclasses.replace(exchange, untestable=f"cannot seed: {words or error}")
        if shared and conversation.broken and running.process is not None:
            self._shared.discard(grace=0)
        return dataclasses.replace(exchange, calls=tuple(conversation.calls), skipped_steps=tuple(conversation.skipped))

    def _rows_of(self, case: Case, table: pa.Table) -> tuple[Any, ...]:
        """The rows of a case in JSON; those of large recipes are kept, for many cases have the same."""
        columns, recipe = case.table.columns, case.table.recipe
        if recipe is None or not LARGE <= recipe.rows <= LARGEST:
            return case_rows(case, table)
        return self._rows.get((columns, recipe), lambda: case_rows(case, table))

    def _converse(
        self, running: _RunningServer, case: Case, table: pa.Table, seeded: SeededTable | None
    ) -> Conversation:
        """Carry out the steps of a case; without a table, if none of them needs it."""
        before = _instant_after_seed(case.steps)
        began = time.monotonic()
        extra = table.nbytes / BYTES_PER_SECOND
        limits = self._spec.limits
        until = began + self._deadlines.case + extra * len(case.steps)
        plan = ConversationPlan(
            names=Names(self._project, self._spec.seed.dataset, "none") if seeded is None else seeded.names,
            seeded=0 if seeded is None else seeded.inserted,
            now=_now(),
            before_append=before,
            budget=CallBudget(
                seconds=self._deadlines.call + extra,
                responses=2 * table.num_rows + SPARE_RESPONSES,
                bytes=limits.call + EXPANSION * table.nbytes,
            ),
            until=until,
            case_bytes=limits.case,
            append=_appends_nothing if seeded is None else functools.partial(seeded.append, until=until),
        )
        caller = Caller(
            running.channel,
            began=began,
            message_limit=limits.message,
            last_words=running.last_words,
            credentials=self._credentials.headers,
        )
        conversation = Conversation(case, caller, plan)
        conversation.run()
        return conversation

    def _open(self) -> _RunningServer:
        spec = self._spec
        if spec.endpoint is not None:
            running = self._connect(spec.endpoint.grpc, spec.endpoint.rest, process=None, environment=self._environment)
            try:
                _wait_until_ready(running, self._probes, until=time.monotonic() + self._deadlines.start)
            except TargetUnavailable as error:
                running.close(grace=0)
                raise TargetUnavailable(f"{spec.file}: cannot reach {spec.endpoint.grpc}: {error}") from None
            return running
        return self._start()

    def _start(self) -> _RunningServer:
        spec, start = self._spec, self._spec.start
        assert start is not None
        until = time.monotonic() + self._deadlines.start
        asked = {
            "rest": 0 if spec.ready.rest_event or not self._has_rest else free_port(HOST),
            "grpc": 0 if spec.ready.grpc_event else free_port(HOST),
        }
        more = {"host": HOST, "project": self._project, **{f"{side}_port": str(port) for side, port in asked.items()}}
        with ExitStack() as home:
            environment = home.enter_context(fresh_home(spec, self._environment))
            command = [fill(part, environment, **more) for part in start.command]
            try:
                variables = command_environment(spec, environment, **more)
                process = Child(command, environment=variables, piped=spec.seed.by_server)
            except CannotStart as error:
                raise TargetUnavailable(str(error)) from None
            running = self._started(process, asked, until, environment)
            running.home = home.pop_all()
        return running

    def _started(
        self, process: Child, asked: Mapping[str, int], until: float, environment: Environment
    ) -> _RunningServer:
        """Wait until a process serves; raises :class:`TargetUnavailable`, with the process stopped, if it does not."""
        spec = self._spec
        try:
            return self._reached(process, asked, until, environment)
        except TargetUnavailable as error:
            process.stop(grace=0)
            raise TargetUnavailable(f"{spec.name} did not start: {error}") from None
        except BaseException:  # an interrupt at any moment must not leave the started process behind
            process.stop(grace=0)
            raise

    def _reached(
        self, process: Child, asked: Mapping[str, int], until: float, environment: Environment
    ) -> _RunningServer:
        """The server in ``process``, once it answers; ``asked`` are the ports given to it, 0 for its own choice."""
        ready = self._spec.ready
        rest = ""
        if self._has_rest:
            rest = f"http://{HOST}:{asked['rest'] or _declared(process, ready.rest_event, until)}"
        served = asked["grpc"] or _declared(process, ready.grpc_event, until)
        running = self._connect(f"{HOST}:{served}", rest, process=process, environment=environment)
        try:
            _wait_until_ready(running, self._probes, until=until)
            _check_ports(process, {side: port for side, port in asked.items() if port}, until=until)
        except BaseException:
            running.close(grace=0)
            raise
        return running

    def _connect(self, endpoint: str, rest: str, *, process: Child | None, environment: Environment) -> _RunningServer:
        client = None
        if rest:
            client = RestClient(
                rest, deadline=self._deadlines.seed, credentials=self._credentials.headers, secure=self._secure
            )
        host, _, port = endpoint.rpartition(":")
        reached = {"host": host, "grpc_port": port, "rest_port": rest.rstrip("/").rpartition(":")[2]}
        seeder = open_seeder(
            self._spec,
            RestTables(client) if client is not None else None,
            deadlines=self._deadlines,
            start=lambda: self._greet(process, environment, reached),
            # A server that runs longer than the suite has tables of other runs.
            token="" if process is not None else run_token(),
        )
        channel = open_channel(endpoint, message_limit=self._spec.limits.message, secure=self._secure)
        return _RunningServer(endpoint, channel, client, seeder, process, secure=self._secure)

    def _greet(self, server: Child | None, environment: Environment, reached: Mapping[str, str]) -> AskedProgram:
        """The program that seeds: the server itself, unless the file names another."""
        from conformance.targets.asking import greeted  # noqa: PLC0415  # it imports jsonschema, for few targets

        start = self._spec.seed.program
        if start is None:
            assert server is not None
            return greeted(server, self.name, seconds=self._deadlines.start)
        more = {"project": self._project, **reached}
        command = [fill(part, environment, **more) for part in start.command]
        variables = command_environment(dataclasses.replace(self._spec, start=start), environment, **more)
        try:
            process = Child(command, environment=variables, piped=True)
        except CannotStart as error:
            raise TargetUnavailable(str(error)) from None
        return greeted(process, "the seeding program", seconds=self._deadlines.start)


def _shown(endpoint: Endpoint, spec: TargetSpec) -> tuple[SecureLine | None, Credentials]:
    """What the suite shows a server; the first token is asked for here, where its absence ends the run.

    Raises:
        TargetError: a certificate cannot be used, or there is no token.
    """
    try:
        secure = None if endpoint.tls is None else SecureLine.of(endpoint.tls, spec.here)
        credentials = Credentials(endpoint, spec.here)
        credentials.headers()
    except TargetError as error:
        raise TargetUnavailable(f"{spec.file}: {error}") from None
    return secure, credentials


def _appends_nothing(_count: int) -> None:
    """Without a table no row can be appended, and no case without one has such a step."""


def _declared(process: Child, event: str, until: float) -> int:
    port = process.wait_for_port(event, until)
    if port is None:
        raise TargetUnavailable(f"no line with the event {event!r} and a port in the output; {process.last_words()}")
    return port


def _wait_until_ready(running: _RunningServer, ready: Ready, *, until: float) -> None:
    """Wait until every probe answers; raises :class:`TargetUnavailable` at the deadline or when the process ends."""
    pause = threading.Event()
    wait = 0.005
    missing = ""
    while time.monotonic() < until:
        if running.process is not None and not running.process.running:
            raise TargetUnavailable(running.process.last_words())
        missing = ""
        final = False
        if ready.rest_path and running.rest is not None:
            missing = running.rest.refusal(ready.rest_path, deadline=1)
        if not missing and ready.grpc:
            missing, final = http2_refusal(running.endpoint, PROBE_SECONDS, running.secure)
        if not missing:
            return
        if running.process is None and final:
            raise TargetUnavailable(missing)  # a server that runs already does not change
        pause.wait(wait)
        wait = min(wait * 2, 0.1)
    words = f"; {running.process.last_words()}" if running.process is not None else ""
    raise TargetUnavailable(f"{missing or 'no time was left'} within the deadline{words}")


def _check_ports(process: Child, ports: Mapping[str, int], *, until: float) -> None:
    """Wait until the started process listens on all ``ports``, by the name of their side.

    With SO_REUSEPORT, two processes can share a port (socket(7)), so that the reached server need not be the started
    one. Raises :class:`TargetUnavailable` if another process listens on a port, or nothing does at the deadline.
    """
    pause = threading.Event()
    for side, port in ports.items():
        while not process.listens_on(port):
            if _accepts(port) and not process.listens_on(port):
                raise TargetUnavailable(f"port {port} is served by another process than the one that was started")
            if not process.running or time.monotonic() >= until:
                said = f"nothing listens on port {port}, which the command got as {{{side}_port}}"
                raise TargetUnavailable(f"{said}; {process.last_words()}")
            pause.wait(0.05)


def _accepts(port: int) -> bool:
    """True if any process accepts connections on ``port``."""
    try:
        socket.create_connection((HOST, port), timeout=LISTEN_SECONDS).close()
    except OSError:
        return False
    return True


def _instant_after_seed(steps: Iterable[Step]) -> int:
    """An instant between seed and first append; waits on both sides of it if a step refers to it."""
    if not any(isinstance(step, CreateSession) and step.snapshot == "before-append" for step in steps):
        return _now()
    pause = threading.Event()
    pause.wait(MARGIN_SECONDS)
    instant = _now()
    pause.wait(MARGIN_SECONDS)
    return instant


def _now() -> int:
    """The wall clock in microseconds since the Unix epoch."""
    return time.time_ns() // 1000
