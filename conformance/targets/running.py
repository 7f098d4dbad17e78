"""One running server: its connections, its process, and how the suite finds out that it serves."""

from __future__ import annotations

import dataclasses
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Final

import grpc

from conformance.contain.child import Child
from conformance.targets.recordedcall import close_channel
from conformance.targets.rest import RestClient
from conformance.targets.restway import RestTables
from conformance.targets.seeding import Seeder
from conformance.targets.spec import Ready
from conformance.targets.targeterrors import TargetUnavailable
from conformance.targets.ticks import WALL, Time
from conformance.targets.tls import SecureLine, http2_refusal

__all__ = ["HOST", "PROBE_SECONDS", "RunningServer", "check_ports", "declared_port", "wait_until_ready"]

HOST: Final = "127.0.0.1"
PROBE_SECONDS: Final = 1.0
"""Seconds for one check of a starting server."""

LISTEN_SECONDS: Final = 0.1
"""Seconds for this machine to accept a connection of its own."""


@dataclasses.dataclass(slots=True)
class RunningServer:
    """One server: its connections, and its process if the suite started it."""

    endpoint: str
    channel: grpc.Channel
    rest: RestClient | None
    seeder: Seeder | None
    process: Child | None = None
    tables: RestTables | None = None
    secure: SecureLine | None = None
    home: ExitStack = dataclasses.field(default_factory=ExitStack)
    again: Callable[[], RunningServer] | None = None
    """Starts the server once more with the same home; None if it is not to be restarted."""
    connect: Callable[[str], grpc.Channel] | None = None
    """Gives another channel to an address; None if any server there is reached over a network."""
    listening: Callable[[], str] | None = None
    """Gives the address at which the server listens; None if that is ``endpoint``."""
    clock: Time = WALL
    """The clocks by which the server is asked."""

    @property
    def address(self) -> str:
        """The address at which the server listens; one in this process begins to, where it is asked for."""
        return self.endpoint if self.listening is None else self.listening()

    def last_words(self, seconds: float) -> str | None:
        """How the process ended, after waiting ``seconds`` for it; None if it runs or the suite did not start it."""
        if self.process is None or not self.process.wait_for_exit(seconds):
            return None
        return self.process.last_words()

    def restart(self, *, grace: float) -> None:
        """End the process and start it again; its ports may be others then.

        Raises:
            TargetUnavailable: it does not start again.
        """
        assert self.again is not None
        home, again = self.home, self.again
        self.home = ExitStack()
        try:
            self.close(grace=grace)
            fresh = again()
        except BaseException:
            self.home = home
            raise
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(fresh, field.name))
        self.home, self.again = home, again

    def close(self, *, grace: float) -> None:
        """Close the connections; the process, if the suite started it, has ``grace`` seconds to end.

        Raises:
            LeftBehind: the dataset of the run is still there.
        """
        with ExitStack() as ending:
            ending.callback(self.home.close)
            if self.process is not None:
                ending.callback(self.process.stop, grace=grace)
            if self.rest is not None:
                ending.callback(self.rest.close)
            if self.tables is not None:
                ending.callback(self.tables.close)
            if self.seeder is not None:
                ending.callback(self.seeder.close, grace=grace)
            if self.connect is None:  # else it leads to a server in this process, and has nothing to close
                close_channel(self.channel)


def wait_until_ready(running: RunningServer, ready: Ready, *, until: float) -> None:
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


def check_ports(process: Child, ports: Mapping[str, int], *, until: float) -> None:
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


def declared_port(process: Child, event: str, until: float) -> int:
    """The port that the process names in a line with ``event``; raises :class:`TargetUnavailable` without one."""
    port = process.wait_for_port(event, until)
    if port is None:
        raise TargetUnavailable(f"no line with the event {event!r} and a port in the output; {process.last_words()}")
    return port


def _accepts(port: int) -> bool:
    """True if any process accepts connections on ``port``."""
    try:
        socket.create_connection((HOST, port), timeout=LISTEN_SECONDS).close()
    except OSError:
        return False
    return True
