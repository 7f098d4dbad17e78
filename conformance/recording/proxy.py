"""Starts the listeners of a recording, and ends them in order: every call that ended is in the log then."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import grpc.aio

from conformance.contain.interrupts import ending
from conformance.contain.jsonhttp import is_loopback
from conformance.contain.loops import says_plainly
from conformance.contain.supervised import Supervised
from conformance.recording.journal import Journal
from conformance.recording.meeting import Clock, Meeting
from conformance.recording.methods import method_names
from conformance.recording.passing import OPTIONS, Passing
from conformance.recording.restcalls import RestCalls
from conformance.records import FaultKind, PlannedFault
from conformance.reference.guard import ServerTls
from conformance.targets.endpoint import Tls
from conformance.targets.faulting import Faults
from conformance.targets.http1requests import Requests
from conformance.targets.splice import Splice
from conformance.targets.tls import SecureLine

__all__ = ["Listener", "Proxy", "ProxyPlan", "Upstream", "addresses", "joined", "record"]

LOOPBACK: Final = "127.0.0.1"
END_SECONDS: Final = 1.0
"""Seconds for calls in progress when a recording ends; what they have not done by then is cancelled."""


@dataclasses.dataclass(frozen=True, slots=True)
class Upstream:
    """The server's addresses as host and port, and the TLS with which it is reached; None for plain text."""

    grpc: tuple[str, int]
    rest: tuple[str, int] | None = None
    tls: Tls | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Listener:
    """The addresses to listen at as host and port, where 0 is any free port, and the TLS that clients have to speak."""

    grpc: tuple[str, int] = ("127.0.0.1", 0)
    rest: tuple[str, int] = ("127.0.0.1", 0)
    tls: ServerTls | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ProxyPlan:
    """Where a proxy listens, where it passes calls on to, and the ``faults`` that happen on the way.

    ``clock`` is what delays wait for.
    """

    listener: Listener
    upstream: Upstream
    faults: tuple[PlannedFault, ...] = ()
    clock: Clock = asyncio.sleep

    def __post_init__(self) -> None:
        for fault in self.faults:
            if fault.kind is FaultKind.DEADLINE:
                said = "the deadline of a call is its client's, and a proxy cannot set it"
                raise ValueError(f"expected faults that a proxy can make, got {fault}: {said}")
            if fault.method not in method_names():
                raise ValueError(f"expected a method out of {', '.join(method_names())}, got {fault.method!r}")

    @property
    def breaks(self) -> bool:
        """True if a fault breaks connections of clients."""
        return any(fault.kind in (FaultKind.RESET, FaultKind.GOAWAY) for fault in self.faults)


class Proxy:
    """A running proxy, used as an asynchronous context manager; ``grpc`` and ``rest`` are its addresses.

    Raises:
        TargetError: the files of the upstream's TLS cannot be used.
        OSError: an address cannot be bound, or a file of the listener's TLS cannot be used.
    """

    def __init__(self, plan: ProxyPlan, journal: Journal) -> None:
        self._plan = plan
        self._journal = journal
        secure = None if plan.upstream.tls is None else SecureLine.of(plan.upstream.tls, Path.cwd())
        self._secure = secure
        self._channel: grpc.aio.Channel | None = None
        self._server: grpc.aio.Server | None = None
        self._splice: Splice | None = None
        self._front: Splice | None = None
        self.grpc = ""
        self.rest = ""

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def _open(self) -> None:
        listener, upstream = self._plan.listener, self._plan.upstream
        self._channel = _channel(joined(*upstream.grpc), self._secure)
        self._server = grpc.aio.server(options=OPTIONS)
        inside = _bound(self._server, (LOOPBACK, 0), None) if self._plan.breaks else 0
        self._front = Splice(LOOPBACK, inside, framed=True) if self._plan.breaks else None
        faults = self._plan.faults
        meeting = Meeting(self._plan.clock, self._front) if faults else None
        self._server.add_generic_rpc_handlers((Passing(self._channel, self._journal, meeting, Faults(faults)),))
        if self._front is None:
            port = _bound(self._server, listener.grpc, listener.tls)
        else:  # the front speaks TLS with clients, so that it sees the frames
            accept = None if listener.tls is None else listener.tls.context()
            if accept is not None:
                accept.set_alpn_protocols(["h2"])
            port = await self._front.listen(*listener.grpc, accept)
        self.grpc = joined(listener.grpc[0], port)
        await self._server.start()
        if upstream.rest is not None:
            context = None if self._secure is None else self._secure.context
            name = "" if upstream.tls is None else upstream.tls.server_name
            accept = None if listener.tls is None else listener.tls.context()
            named = accept is not None or not is_loopback(listener.rest[0])
            self._splice = Splice(
                *upstream.rest,
                secure=context,
                name=name,
                requests=partial(Requests, named=named),
                followed=partial(RestCalls, self._journal),
            )
            self.rest = joined(listener.rest[0], await self._splice.listen(*listener.rest, accept))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            await self._server.stop(END_SECONDS)
        if self._front is not None:
            await self._front.close()
        if self._splice is not None:
            await self._splice.close()
        if self._channel is not None:
            await self._channel.close(None)

    @property
    def connections(self) -> int:
        """How many connections of clients came; 0 without a plan that breaks them, as nobody counts then."""
        return 0 if self._front is None else self._front.connections

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the proxy could not do, in words."""
        if self._splice is None or not self._splice.failed:
            return ()
        where = joined(*self._plan.upstream.rest or ("", 0))
        return (f"{self._splice.failed} REST connections could not be passed on to {where}: {self._splice.reason}",)


def joined(host: str, port: int) -> str:
    """``host:port``, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _bound(server: grpc.aio.Server, address: tuple[str, int], tls: ServerTls | None) -> int:
    """Let ``server`` listen at an address; returns the port. Raises :class:`OSError`."""
    named = joined(*address)
    try:
        return server.add_insecure_port(named) if tls is None else server.add_secure_port(named, tls.credentials())
    except RuntimeError as error:
        raise OSError(f"cannot listen at {named}: {error}") from None


def _channel(address: str, secure: SecureLine | None) -> grpc.aio.Channel:
    options: list[tuple[str, int | str]] = list(OPTIONS)
    if secure is None:
        return grpc.aio.insecure_channel(address, options=options)
    if name := secure.tls.server_name:
        options += [("grpc.ssl_target_name_override", name), ("grpc.default_authority", name)]
    return grpc.aio.secure_channel(address, secure.credentials, options=options)


def addresses(proxy: Proxy, *, tls: bool) -> Mapping[str, str]:
    """The environment variables that name the addresses of ``proxy`` to a command."""
    named = {"CONFORMANCE_GRPC": proxy.grpc}
    if proxy.rest:
        url = f"{'https' if tls else 'http'}://{proxy.rest}"
        named |= {"CONFORMANCE_REST": url, "BIGQUERY_EMULATOR_HOST": url}
    return named


async def record(
    plan: ProxyPlan, journal: Journal, *, command: Sequence[str] = (), ready: Callable[[Proxy], None]
) -> tuple[int | None, tuple[str, ...]]:
    """Pass calls on until ``command`` ends, or until SIGTERM, or a SIGINT or SIGHUP that is not ignored; a second
    signal ends the process at once.

    Returns the exit status of the command, None without one or if a signal came first, and remarks. ``ready`` is called
    when the proxy listens. For the main thread only.

    Raises:
        CannotStart: the command cannot be started.
    """
    done = asyncio.Event()
    signals = ending()
    loop = says_plainly(asyncio.get_running_loop())

    def stop() -> None:
        for number in signals:
            loop.remove_signal_handler(number)
        done.set()

    def ended() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed if a signal came first
            loop.call_soon_threadsafe(done.set)

    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        async with Proxy(plan, journal) as proxy:
            ready(proxy)
            program = _started(command, proxy, plan, ended) if command else None
            await done.wait()
            code = program.code if program is not None else None
            if program is not None:
                await asyncio.to_thread(program.end, grace=END_SECONDS)
        return code, proxy.remarks
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _started(command: Sequence[str], proxy: Proxy, plan: ProxyPlan, on_end: Callable[[], None]) -> Supervised:
    environment = {**os.environ, **addresses(proxy, tls=plan.listener.tls is not None)}
    return Supervised(command, environment=environment, stdin=0, stdout=1, stderr=2, on_end=on_end)
