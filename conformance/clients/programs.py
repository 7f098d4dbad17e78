"""Client programs that are judged, one process each: what they declare, and which are missing here."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from conformance.contain.errors import CannotStart
from conformance.readers.info import ReaderInfo
from conformance.readers.ipc.implementation import Hello, Unavailable
from conformance.readers.ipc.job import JobAnswer, JobLimits
from conformance.readers.ipc.programrunner import ProgramRunner
from conformance.readers.programs.clientspec import ClientProgram
from conformance.readers.programs.slot import WARM_UP

__all__ = ["MEMORY", "ProgramPool"]

MEMORY: Final = 2 << 30
"""Bytes that an answer may take. A situation claims 1 GiB at most, which some clients allocate; at a limit of as much,
chance decided between the limit and what the client does next.
"""

WARM: Final = "warm-up"
"""The id of a read that is not judged."""


class ProgramPool:
    """Programs; use as a context manager. One thread drives a pool. A subclass has the server that they ask.

    ``_tls`` are the programs that need TLS, and ``_no_tls`` is the reason if there is none here.

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
            name: ProgramRunner(
                name, programs[name].command, JobLimits.of_work(programs[name].patience * seconds, memory=MEMORY)
            )
            for name in sorted(used)
        }
        self._warm: dict[str, object] = {}
        self._ends = contextlib.ExitStack()

    @property
    def names(self) -> tuple[str, ...]:
        """The readers of the pool."""
        return tuple(self.infos)

    def __enter__(self) -> Self:
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
            raise Unavailable(f"its file names the path {path}, but the program has {', '.join(hello.paths)}")
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

    def is_warm(self, program: str) -> bool:
        """False if the program has just started: it loads its code in a read that is not judged, and takes longer."""
        return self._runners[program].ready() is self._warm.get(program)

    def warm_up(self, program: str, request: Mapping[str, Any]) -> JobAnswer:
        """Let a program that has just started read once."""
        runner = self._runners[program]
        runner.hello()
        answer = runner.fetch(WARM, request, times=WARM_UP)
        self._warm[program] = runner.ready()
        return answer
