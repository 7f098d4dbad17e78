"""A program that speaks the suite's line protocol: its greeting, its questions, and tables in the form that it wants.

``protocol.schema.json`` defines the messages, and :mod:`conformance.contain.lines` sends them through the pipes.
Programs under test and programs that seed use it alike.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any, Final

import pyarrow as pa

from conformance import __version__
from conformance.contain.child import Child
from conformance.contain.errors import CannotStart, LostError, ProtocolError
from conformance.contain.lines import LineProtocol, Pipes
from conformance.targets.environment import Environment, command_environment, fill
from conformance.targets.spec import TargetSpec
from conformance.targets.targeterrors import TargetUnavailable

__all__ = [
    "EXIT_SECONDS",
    "HELLO_VALUES",
    "PROTOCOL",
    "AskedProgram",
    "greeted",
    "start_seeder",
    "table_forms",
]

PROTOCOL: Final = LineProtocol("conformance.targets")
"""The messages, as the published schema defines them."""

VERSION: Final = 1
"""The version of the messages; a program with another version reports it in its hello and is refused."""

EXIT_SECONDS: Final = 0.5
"""Seconds within which a program has to be seen dead after its output ended."""

MAX_HELLO: Final = 1 << 20
"""The largest answer to hello in bytes."""

HELLO_VALUES: Final = 10_000
"""The largest number of values in the answer to hello: capabilities are a few words."""


@dataclasses.dataclass(slots=True)
class AskedProgram:
    """One start of the program, with its answer to hello."""

    process: Child
    pipes: Pipes
    welcome: dict[str, Any]
    asked: int = 1
    home: ExitStack = dataclasses.field(default_factory=ExitStack)

    def ask(
        self, question: dict[str, Any], kinds: tuple[str, ...], *, seconds: float, limit: int, values: int
    ) -> dict[str, Any]:
        """Send ``question`` and return the answer, one of ``kinds``, of at most ``limit`` bytes and ``values`` values.

        Raises :class:`LostError` and :class:`ProtocolError`.
        """
        self.asked += 1
        request = {"op": question["op"], "id": self.asked, **question}
        line = self.pipes.ask(PROTOCOL.encode(request), seconds=seconds, limit=limit)
        return PROTOCOL.decode(line, request=self.asked, kinds=kinds, values=values)

    def close(self, *, grace: float) -> None:
        """End the program: first its input ends, then it is stopped with the steps for every process."""
        self.pipes.close()
        if grace > 0:
            self.process.wait_for_exit(grace)  # a program ends by itself at the end of its input
        self.process.stop(grace=grace)
        self.home.close()


def greeted(process: Child, name: str, *, seconds: float) -> AskedProgram:
    """Exchange the first messages with the program ``name``.

    Raises :class:`TargetUnavailable`, with the process stopped, if the answer is missing or wrong.
    """
    pipes = Pipes(process.stdin, process.stdout)
    hello = {"op": "hello", "id": 1, "protocol": VERSION, "suite": __version__}
    try:
        line = pipes.ask(PROTOCOL.encode(hello), seconds=seconds, limit=MAX_HELLO)
        welcome = PROTOCOL.decode(line, request=1, kinds=("welcome",), values=HELLO_VALUES)
    except (LostError, ProtocolError) as error:
        process.wait_for_exit(EXIT_SECONDS)
        said = process.last_words()
        AskedProgram(process, pipes, {}).close(grace=0)
        raise TargetUnavailable(f"{name} did not answer hello: {error}; {said}") from None
    except BaseException:  # an interrupt must not leave the started process behind
        AskedProgram(process, pipes, {}).close(grace=0)
        raise
    return AskedProgram(process, pipes, welcome)


def start_seeder(
    spec: TargetSpec, server: Child | None, environment: Environment, reached: Mapping[str, str], *, seconds: float
) -> AskedProgram:
    """The program that seeds a target: the ``server`` itself, unless the file names another program, which is started.

    ``reached`` are the host and the ports of the server, for the program's command.

    Raises:
        TargetUnavailable: the program does not start, or does not answer hello.
    """
    start = spec.seed.program
    if start is None:
        assert server is not None
        return greeted(server, spec.name, seconds=seconds)
    more = {"project": spec.project, **reached}
    command = [fill(part, environment, **more) for part in start.command]
    variables = command_environment(dataclasses.replace(spec, start=start), environment, **more)
    try:
        process = Child(command, environment=variables, piped=True)
    except CannotStart as error:
        raise TargetUnavailable(str(error)) from None
    return greeted(process, "the seeding program", seconds=seconds)


def table_forms(wanted: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: list[Any]) -> dict[str, Any]:
    """A table in the forms that a program's hello ``wanted``: ``arrow``, ``rows`` or ``both``."""
    forms: dict[str, Any] = {}
    if wanted in ("arrow", "both"):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        forms["arrow"] = base64.b64encode(sink.getvalue()).decode()
    if wanted in ("rows", "both"):
        forms["rows"] = rows
    return forms
