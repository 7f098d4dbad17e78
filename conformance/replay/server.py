"""A replay server with all its listeners: gRPC and REST in plain text and over TLS, and the proxy."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from conformance.contain.interrupts import Stop
from conformance.contain.jsonhttp import JsonServer
from conformance.contain.supervised import Supervised
from conformance.readers.byteserver import Loop, ReplayServer
from conformance.recording.meeting import Clock, Meeting
from conformance.replay.asked import AskedLog
from conformance.replay.certificates import certify
from conformance.replay.control import PREFIX, Control
from conformance.replay.desk import ReplayDesk
from conformance.replay.front import Front
from conformance.replay.retrytable import read_table
from conformance.replay.shelf import Shelf
from conformance.replay.trials import Trials
from conformance.targets.splice import Splice

__all__ = ["Replay", "run"]

HOST: Final = "127.0.0.1"
END_SECONDS: Final = 1.0
"""Seconds for a program that is ended by a signal to the server."""


class Replay:
    """A running server, used as a context manager; ``addresses`` says where it listens.

    ``ca`` is where the certificate of its authority is written; without it, a temporary file has it. With ``tls``
    false, there is neither TLS nor a proxy. ``clock`` is what delays wait for.

    Raises:
        CertificateError: there is no openssl.
        DiskError: the log cannot be written.
    """

    def __init__(
        self, *, log: Path | None = None, ca: Path | None = None, tls: bool = True, clock: Clock = asyncio.sleep
    ) -> None:
        self.shelf = Shelf()
        self.addresses: dict[str, Any] = {"event": "replay.listen"}
        self._clock = clock
        self._tls = tls
        self._ca = ca
        self._log = log
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as ends:
            self._open(ends)
            self._ends = ends.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.close()

    def _open(self, ends: contextlib.ExitStack) -> None:
        self.asked = ends.enter_context(AskedLog(self._log))
        loop = Loop("replay")
        ends.callback(loop.close)
        grpc = loop.run(_splice(framed=True))
        desk = ReplayDesk(self.shelf, self.asked, Meeting(self._clock, grpc), self._clock)
        self.control = Control(self.shelf, self.asked, self.addresses, Trials(read_table(), self.shelf))
        server = ReplayServer(desk, loop)
        ends.callback(server.close)
        grpc.port = int(server.address.rpartition(":")[2])

        def answer(method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
            if target.startswith(PREFIX):
                return self.control.answer(method, target, headers, body)
            return desk.http(method, target, headers, body)

        http = JsonServer(answer, host=HOST)
        http.start()
        ends.callback(http.stop)
        ends.callback(loop.run, grpc.close())
        self.addresses["grpc"] = loop.run(grpc.listen(HOST, 0, None))
        self.addresses["rest"] = http.port
        if self._tls:
            self._open_tls(ends, loop, grpc, http.port)

    def _open_tls(self, ends: contextlib.ExitStack, loop: Loop, grpc: Splice, rest_port: int) -> None:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="replay-")))
        ca, tls = certify(folder)
        if self._ca is not None:
            self._ca.write_bytes(ca.read_bytes())
        rest = loop.run(_splice(framed=False))
        rest.port = rest_port
        ends.callback(loop.run, rest.close())
        context = tls.context()
        context.set_alpn_protocols(["h2"])
        self.addresses["grpc_tls"] = loop.run(grpc.listen(HOST, 0, context))
        self.addresses["rest_tls"] = loop.run(rest.listen(HOST, 0, tls.context()))
        front = Front(tls, grpc=grpc, rest=rest, asked=self._connect)
        self.addresses["proxy"] = loop.run(front.listen(HOST))
        ends.callback(loop.run, front.close())
        self.addresses["ca"] = str((self._ca or ca).resolve())

    def _connect(self, host: str, known: bool) -> None:  # noqa: FBT001  # the front's callback
        self.asked.say("connect", host=host, known=known)


def run(server: Replay, program: Sequence[str], done: Stop) -> int | None:
    """Wait until ``program`` ends, or until ``done`` is set; returns the program's exit status, None without one.

    The program finds the addresses, and the table of the first recording, in its environment.

    Raises:
        CannotStart: the program cannot be started.
    """
    if not program:
        done.wait()
        return None
    environment = {**os.environ, **_named(server.addresses)}
    for table in [held.table for held in server.shelf.all() if held.table][:1]:
        environment["CONFORMANCE_TABLE"] = table
    started = Supervised(program, environment=environment, stdin=0, stdout=1, stderr=2, on_end=done.set)
    done.wait()
    code = None if started.running else started.code
    started.end(grace=END_SECONDS)
    return code


def _named(addresses: Mapping[str, Any]) -> dict[str, str]:
    """The environment variables that name the addresses to a program."""
    url = f"http://{HOST}:{addresses['rest']}"
    named = {"CONFORMANCE_GRPC": f"{HOST}:{addresses['grpc']}", "CONFORMANCE_REST": url, "BIGQUERY_EMULATOR_HOST": url}
    if "proxy" in addresses:
        named |= {
            "CONFORMANCE_GRPC_TLS": f"localhost:{addresses['grpc_tls']}",
            "CONFORMANCE_REST_TLS": f"https://localhost:{addresses['rest_tls']}",
            "CONFORMANCE_PROXY": f"http://{HOST}:{addresses['proxy']}",
            "CONFORMANCE_CA": str(addresses["ca"]),
        }
    return named


async def _splice(*, framed: bool) -> Splice:
    return Splice(HOST, 0, framed=framed)
