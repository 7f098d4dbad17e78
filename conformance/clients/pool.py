"""The client programs that are judged, one process each, and the server that all of them ask."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from conformance.clients.backend import NAME, request_of
from conformance.clients.situations import Set
from conformance.contain.errors import CannotStart
from conformance.contract.clients import Situation
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.info import Hello, Unavailable
from conformance.readers.ipc.job import JobAnswer, Limits
from conformance.readers.ipc.program import ProgramRunner
from conformance.readers.programs.slot import WAITS, WARM_UP, warm_up_read
from conformance.readers.programs.spec import ClientProgram
from conformance.readers.tape import Tape, Tapes
from conformance.replay.certificates import CertificateError
from conformance.replay.server import Replay
from conformance.replay.shelf import Held

__all__ = ["ClientPool"]

MEMORY: Final = 2 << 30
"""Bytes that an answer may take. A situation claims 1 GiB at most, which some clients allocate; at a limit of as much,
chance decided between the limit and what the client does next.
"""
CANCEL_SECONDS: Final = 20.0
"""Seconds in which a call that a client has cancelled reaches the server: generous, and waited for if it does not."""


class ClientPool:
    """Programs and a server; use as a context manager. One thread drives a pool.

    Args:
        programs: The client programs by name.
        names: The readers (``program.path``) to judge; all of the programs by default.
        seconds: Processor time of one answer; a program that waits has three times as long by the clock.
    """

    def __init__(
        self, programs: Mapping[str, ClientProgram], names: Sequence[str] | None = None, *, seconds: float = 10.0
    ) -> None:
        self.infos: dict[str, ReaderInfo] = {}
        self._paths: dict[str, tuple[str, str]] = {}
        for program in programs.values():
            for path, info in program.paths.items():
                if names is None or info.name in names:
                    self.infos[info.name] = info
                    self._paths[info.name] = (program.adapter.name, path)
        used = {program for program, _ in self._paths.values()}
        self._tls = {program for program in used if programs[program].tls}
        self._no_tls = ""
        self._runners = {
            name: ProgramRunner(name, programs[name].command, _limits(programs[name].patience * seconds))
            for name in sorted(used)
        }
        self._warm: dict[str, object] = {}
        self._ends = contextlib.ExitStack()

    @property
    def names(self) -> tuple[str, ...]:
        """The readers of the pool."""
        return tuple(self.infos)

    def __enter__(self) -> Self:
        try:
            self._server = self._ends.enter_context(Replay(tls=bool(self._tls)))
        except CertificateError as error:
            self._no_tls = str(error)
            self._server = self._ends.enter_context(Replay(tls=False))
        for runner in self._runners.values():
            self._ends.callback(runner.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def hello(self, name: str) -> Hello:
        """The declaration of the program behind a reader.

        Raises:
            Unavailable: it is not built here, or does not list the path; the text says what is missing.
        """
        program, path = self._paths[name]
        if program in self._tls and self._no_tls:
            raise Unavailable(self._no_tls)
        try:
            hello = self._runners[program].hello()
        except CannotStart as error:
            raise Unavailable(str(error)) from None
        if path not in hello.paths:
            raise Unavailable(f"its client.toml names the path {path}, but the program has {', '.join(hello.paths)}")
        return hello

    def absent(self) -> dict[str, str]:
        """The readers that cannot run here, with what is missing."""
        missing = {}
        for name in self.names:
            try:
                self.hello(name)
            except Unavailable as error:
                missing[name] = str(error)
        return missing

    def fetch(self, name: str, asked: Set) -> tuple[JobAnswer, Sequence[dict[str, Any]]]:
        """The answer of a client in a situation, and what it asked the server; calls that are still open come last.

        Raises:
            Unavailable: the program cannot be started any more.
        """
        program, path = self._paths[name]
        runner = self._runners[program]
        if runner.ready() is not self._warm.get(program):
            # A program that has just started loads its code in a read that is not judged, which takes longer.
            runner.hello()
            self._server.shelf.put(Held(NAME, Tapes([Tape.of_read(warm_up_read())])))
            runner.fetch("warm-up", self._request(program, path, warm_up_read().request), times=WARM_UP)
            self._warm[program] = runner.ready()
        held = Held(NAME, asked.tapes, asked.plan)
        self._server.shelf.put(held)
        seen = self._server.asked.since(0)
        first = seen[-1]["number"] + 1 if seen else 0
        answer = runner.fetch(asked.id, self._request(program, path, asked.read.request))
        left = held.open_after(CANCEL_SECONDS) if asked.kind is Situation.ABANDONED else []
        return answer, [*self._server.asked.since(first), *({"event": "open", **call} for call in left)]

    def _request(self, program: str, path: str, request: bytes) -> dict[str, Any]:
        return {"path": path, **request_of(self._server, request, tls=program in self._tls)}


def _limits(seconds: float) -> Limits:
    """The limits of an answer that may take so many seconds of processor time."""
    return Limits(seconds=WAITS * seconds, cpu=seconds, memory=MEMORY)
