"""Start the server of a target file, or find it at its endpoint: processes, homes, ports, connections, seeders."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

import grpc

from conformance.contain.child import Child, free_port
from conformance.contain.errors import CannotStart
from conformance.protocol import plugin
from conformance.targets.costs import Meter
from conformance.targets.credentials import Credentials
from conformance.targets.dataset import OwnDataset
from conformance.targets.endpoint import Endpoint
from conformance.targets.environment import Environment, command_environment, fill
from conformance.targets.fence import FencedClient
from conformance.targets.homes import fresh_home
from conformance.targets.names import Names
from conformance.targets.patience import Patience
from conformance.targets.plugin import TargetsPlugin
from conformance.targets.recordedcall import open_channel
from conformance.targets.restway import RestTables
from conformance.targets.running import HOST, RunningServer, check_ports, declared_port, wait_until_ready
from conformance.targets.seeding import Remembering, open_seeder
from conformance.targets.spec import Deadlines, Start, TargetSpec
from conformance.targets.targeterrors import TargetError, TargetUnavailable
from conformance.targets.tls import SecureLine
from conformance.targets.transport import Exchanging

if TYPE_CHECKING:
    from conformance.targets.questions import AskedProgram

__all__ = ["Starter"]


class Starter:
    """Opens servers of one target file. ``token`` names the tables of this run on a server that runs longer than it.

    Raises:
        TargetUnavailable: a certificate cannot be used, or there is no token for the server.
    """

    def __init__(
        self,
        spec: TargetSpec,
        environment: Environment,
        *,
        deadlines: Deadlines,
        token: str,
        patience: Patience,
        meter: Meter,
    ) -> None:
        self._spec = spec
        self._environment = environment
        self._deadlines = deadlines
        self._token = token
        self._patience = patience
        self._meter = meter
        self._probes = dataclasses.replace(
            spec.ready, rest_path=fill(spec.ready.rest_path, environment, project=spec.project)
        )
        self.secure, self.credentials = _shown(spec.endpoint or Endpoint(""), spec)

    def open(self) -> RunningServer:
        """A server that serves: a new process, or connections to the one that runs at the endpoint.

        Raises:
            TargetUnavailable: it does not start, or cannot be reached.
        """
        spec = self._spec
        if spec.endpoint is not None:
            running = self._connect(spec.endpoint.grpc, spec.endpoint.rest, process=None, environment=self._environment)
            try:
                wait_until_ready(running, self._probes, until=time.monotonic() + self._deadlines.start)
            except TargetUnavailable as error:
                running.close(grace=0)
                raise TargetUnavailable(f"{spec.file}: cannot reach {spec.endpoint.grpc}: {error}") from None
            return running
        return self._start()

    def channel(self, endpoint: str, *, through: str = "", tls: bool = True) -> grpc.Channel:
        """A channel to a server, with its limit on messages; ``through`` is a line that leads there.

        Without ``tls``, it is spoken to in plain text.
        """
        limit = plugin(TargetsPlugin, self._spec.protocol).message_limit(self._spec.limits)
        return open_channel(endpoint, message_limit=limit, secure=self.secure if tls else None, through=through)

    @property
    def anew(self) -> bool:
        """True if every case has a server of its own."""
        return False

    @property
    def restarts(self) -> bool:
        """True if the suite may stop the server and start it again."""
        return self._spec.start is not None and self._spec.start.restarts

    @property
    def _has_rest(self) -> bool:
        """True if a started server serves REST, as far as its file says."""
        start = self._spec.start or Start(())
        texts = (*start.command, *start.environment.values())
        if self._spec.over_rest or self._spec.ready.rest_event:
            return True
        return any("{rest_port}" in text for text in texts)

    def _start(self) -> RunningServer:
        """Start the server with a home of its own."""
        with ExitStack() as home:
            environment = home.enter_context(fresh_home(self._spec, self._environment))
            running = self._launched(environment)
            running.home = home.pop_all()
        if self.restarts:
            running.again = functools.partial(self._launched, environment)
        return running

    def _launched(self, environment: Environment) -> RunningServer:
        """Start the server in the home of ``environment``."""
        spec, start = self._spec, self._spec.start
        assert start is not None
        until = time.monotonic() + self._deadlines.start
        asked = {
            "rest": 0 if spec.ready.rest_event or not self._has_rest else free_port(HOST),
            "grpc": 0 if spec.ready.grpc_event else free_port(HOST),
        }
        more = {
            "host": HOST,
            "project": self._spec.project,
            **{name: one.value(spec) for name, one in plugin(TargetsPlugin, spec.protocol).placeholders.items()},
            **{f"{side}_port": str(port) for side, port in asked.items()},
        }
        command = [fill(part, environment, **more) for part in start.command]
        try:
            variables = command_environment(spec, environment, **more)
            process = Child(command, environment=variables, piped=spec.seed.by_server)
        except CannotStart as error:
            raise TargetUnavailable(str(error)) from None
        return self._started(process, asked, until, environment)

    def _started(
        self, process: Child, asked: Mapping[str, int], until: float, environment: Environment
    ) -> RunningServer:
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
    ) -> RunningServer:
        """The server in ``process``, once it answers; ``asked`` are the ports given to it, 0 for its own choice."""
        ready = self._spec.ready
        rest = ""
        if self._has_rest:
            rest = f"http://{HOST}:{asked['rest'] or declared_port(process, ready.rest_event, until)}"
        served = asked["grpc"] or declared_port(process, ready.grpc_event, until)
        running = self._connect(f"{HOST}:{served}", rest, process=process, environment=environment)
        try:
            wait_until_ready(running, self._probes, until=until)
            check_ports(process, {side: port for side, port in asked.items() if port}, until=until)
        except BaseException:
            running.close(grace=0)
            raise
        return running

    def _connect(
        self,
        endpoint: str,
        rest: str,
        *,
        process: Child | None,
        environment: Environment,
        channel: grpc.Channel | None = None,
        http: Exchanging | None = None,
        remembering: Remembering | None = None,
    ) -> RunningServer:
        """The server at these addresses; ``channel`` and ``http`` lead there instead of new connections.

        ``remembering`` is that of its seeder.
        """
        client = tables = None
        if rest:
            names = Names(self._spec.project, self._spec.seed.dataset, "none")
            client = FencedClient(
                rest,
                project=names.project,
                dataset=names.dataset,
                deadline=self._deadlines.seed,
                credentials=self.credentials.headers,
                secure=self.secure,
                http=http,
                clock="" if self._spec.clock is None else self._spec.clock.rest_path,
            )
            if self._spec.is_seeded:
                service = self._spec.service
                own = None if service is None else OwnDataset(client, names, self._token, service)
                tables = RestTables(client, own=own, patience=self._patience, scanned=self._meter.add)
        host, _, port = endpoint.rpartition(":")
        reached = {"host": host, "grpc_port": port, "rest_port": rest.rstrip("/").rpartition(":")[2]}
        seeder = open_seeder(
            self._spec,
            tables,
            deadlines=self._deadlines,
            start=lambda: self._greeted(process, environment, reached),
            # A server that runs longer than the suite has tables of other runs.
            token="" if process is not None or self.anew else self._token,
            remembering=remembering,
        )
        channel = channel or self.channel(endpoint)
        return RunningServer(endpoint, channel, client, seeder, process, tables=tables, secure=self.secure)

    def _greeted(self, server: Child | None, environment: Environment, reached: Mapping[str, str]) -> AskedProgram:
        from conformance.targets.questions import start_seeder  # noqa: PLC0415  # it imports jsonschema, for few targets

        return start_seeder(self._spec, server, environment, reached, seconds=self._deadlines.start)


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
