"""A program in any language as a target: started once, asked over stdin and stdout, and replaced if it breaks.

``protocol.schema.json`` defines the messages, and :mod:`conformance.contain.lines` sends them through the pipes.
This module decides which messages a case needs. It starts the program again for the next case if it hung, crashed or
sent output without a question.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import time
from contextlib import ExitStack
from typing import Any, Final

import pyarrow as pa

from conformance import __version__
from conformance.contain.child import Child
from conformance.contain.errors import CannotStart, Lost, LostError, ProtocolError
from conformance.contain.lines import LineProtocol, Pipes, decode_base64
from conformance.contain.text import safe
from conformance.generate.materialise import to_json_rows
from conformance.records import Call, CallEnd, Case, Exchange, to_json
from conformance.targets.environment import Environment, command_environment, fill
from conformance.targets.errors import TargetUnavailable
from conformance.targets.handing import SerializedSteps, batches_of, place_of
from conformance.targets.homes import fresh_home
from conformance.targets.kept import Kept
from conformance.targets.spec import TargetSpec

__all__ = ["PROTOCOL", "ProgramTarget"]

PROTOCOL: Final = LineProtocol("conformance.targets")
"""The messages, as the published schema defines them."""

VERSION: Final = 1
"""The version of the messages; a program with another version reports it in its hello and is refused."""

BYTES_PER_SECOND: Final = 2 << 20
"""The slowest accepted serializing: a table's size divided by it is added to the deadline."""

NAME: Final = 200
"""Characters kept of a program's version and of each capability."""

EXIT_SECONDS: Final = 0.5
"""Seconds within which a program has to be seen dead after its output ended."""

MAX_HELLO: Final = 1 << 20
"""The largest answer to hello in bytes."""

HELLO_VALUES: Final = 10_000
"""The largest number of values in the answer to hello: capabilities are a few words."""

EXPANSION: Final = 16
"""The largest accepted ratio of a table's size in messages of base64 to its size in memory."""


@dataclasses.dataclass(slots=True)
class _RunningProgram:
    """One start of the program, with its answer to hello."""

    process: Child
    pipes: Pipes
    welcome: dict[str, Any]
    asked: int = 1
    home: ExitStack = dataclasses.field(default_factory=ExitStack)

    def close(self, *, grace: float) -> None:
        self.pipes.close()
        if grace > 0:
            self.process.wait_for_exit(grace)  # a program ends by itself at the end of its input
        self.process.stop(grace=grace)
        self.home.close()


class ProgramTarget:
    """A program under test. One thread drives it at a time."""

    def __init__(self, spec: TargetSpec, environment: Environment, *, multiplier: float) -> None:
        self.name = spec.name
        self._spec = spec
        self._environment = environment
        self._deadlines = spec.deadlines.stretched(multiplier)
        self._last = "hello"
        self.remarks: tuple[str, ...] = ()
        self._kept = Kept("program", self._start)
        welcome = self._kept.ready().welcome
        self.version: str = environment.version or safe(welcome.get("version", ""), NAME)
        self.capabilities = frozenset(safe(one, NAME) for one in welcome["capabilities"])
        self.remarks += self._probe()

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Let the program serialize the case's table, and record the messages or the way in which that failed."""
        exchange = Exchange(case.id, self.name, now=time.time_ns() // 1000)
        place = place_of(case)
        if place is None:
            said = "a serializer takes no requests, and no session of the case reads the whole table as Arrow"
            return dataclasses.replace(exchange, untestable=said)
        try:
            running = self._ready()
        except TargetUnavailable as error:
            return dataclasses.replace(exchange, untestable=str(error))
        calls, broken = self._serialize(running, case, table, place)
        self._last = case.id
        if broken:
            self._kept.discard(grace=0)
        return dataclasses.replace(exchange, calls=tuple(calls))

    def close(self) -> None:
        """End the program: first its input ends, then it is stopped with the steps for every process."""
        self._kept.discard(grace=self._grace)

    @property
    def _grace(self) -> float:
        assert self._spec.start is not None
        return self._spec.start.grace

    def _ready(self) -> _RunningProgram:
        if self._kept.now is not None and (surplus := self._kept.now.pipes.surplus()):
            self.remarks += (f"after {self._last}, {surplus} bytes came that nothing had asked for",)
            self._kept.discard(grace=0)
        return self._kept.ready()

    def _start(self) -> _RunningProgram:
        spec = self._spec
        assert spec.start is not None
        with ExitStack() as home:
            environment = home.enter_context(fresh_home(spec, self._environment))
            command = [fill(part, environment) for part in spec.start.command]
            try:
                process = Child(command, environment=command_environment(spec, environment), piped=True)
            except CannotStart as error:
                raise TargetUnavailable(str(error)) from None
            running = self._greeted(process)
            running.home = home.pop_all()
        return running

    def _greeted(self, process: Child) -> _RunningProgram:
        """Exchange the first messages; raises :class:`TargetUnavailable`, with the process stopped, without answer."""
        pipes = Pipes(process.stdin, process.stdout)
        hello = {"op": "hello", "id": 1, "protocol": VERSION, "suite": __version__}
        try:
            line = pipes.ask(PROTOCOL.encode(hello), seconds=self._deadlines.start, limit=MAX_HELLO)
            welcome = PROTOCOL.decode(line, request=1, kinds=("welcome",), values=HELLO_VALUES)
        except (LostError, ProtocolError) as error:
            process.wait_for_exit(EXIT_SECONDS)
            said = process.last_words()
            _RunningProgram(process, pipes, {}).close(grace=0)
            raise TargetUnavailable(f"{self.name} did not answer hello: {error}; {said}") from None
        except BaseException:  # an interrupt must not leave the started process behind
            _RunningProgram(process, pipes, {}).close(grace=0)
            raise
        return _RunningProgram(process, pipes, welcome)

    def _probe(self) -> tuple[str, ...]:
        """Ask for a capability that does not exist; a remark if the program does not answer that it is unsupported."""
        running = self._ready()
        madeup = "made-up-" + hashlib.sha256(self.name.encode()).hexdigest()[:8]
        table = pa.table({"a": pa.array([], pa.int64())})
        body = _body(running, batches_of(table), table.schema, columns=[{"name": "a", "type": "INT64"}], rows=[])
        try:
            answer = self._ask(running, {"case": "probe", "needs": [madeup], **body}, table)
        except (LostError, ProtocolError) as error:
            self._kept.discard(grace=0)
            return (f"asked for the made-up capability {madeup!r}, it should answer unsupported, but: {error}",)
        if answer["status"] == "unsupported":
            return ()
        remark = (
            f"asked for the made-up capability {madeup!r}, it should answer unsupported but answered "
            f"{answer['status']}: it does not look at needs, so what it leaves undeclared proves nothing"
        )
        return (remark,)

    def _serialize(
        self, running: _RunningProgram, case: Case, table: pa.Table, place: SerializedSteps
    ) -> tuple[list[Call], bool]:
        """The calls of one case, and True if the program cannot be used for the next case."""
        began = time.monotonic()
        rows = to_json_rows(table, case.table.columns) if running.welcome["input"] != "arrow" else []
        columns = [to_json(column) for column in case.table.columns]
        schema = Call(place.session, "schema", "SerializeSchema", b"")
        body = _body(running, batches_of(table, case.table.recipe), table.schema, columns=columns, rows=rows)
        try:
            answer = self._ask(running, {"case": case.id, "needs": list(case.needs), **body}, table)
            messages = _messages(answer)
        except LostError as error:
            said = str(error)
            if error.how is Lost.CRASH:
                running.process.wait_for_exit(EXIT_SECONDS)
                said = f"{error}; {running.process.last_words()}"
            end = CallEnd.COMPLETE if error.how is Lost.OUT_OF_TURN else CallEnd(error.how.value)
            status = "INTERNAL" if end is CallEnd.COMPLETE else ""
            failed = dataclasses.replace(schema, status=status, end=end, details=said)
            return [dataclasses.replace(failed, seconds=time.monotonic() - began)], True
        except ProtocolError as error:
            broke = dataclasses.replace(schema, status="INTERNAL", details=f"the program broke the protocol: {error}")
            return [dataclasses.replace(broke, seconds=time.monotonic() - began)], True
        seconds = time.monotonic() - began
        if answer["status"] != "ok":
            status = "UNIMPLEMENTED" if answer["status"] == "unsupported" else answer.get("code", "INTERNAL")
            details = answer.get("message", "")
            return [dataclasses.replace(schema, status=status, details=details, seconds=seconds)], False
        calls = [dataclasses.replace(schema, responses=(messages[0],), seconds=seconds)]
        for number, message in enumerate(messages[1:]):
            calls.append(Call(place.read, f"batch/{number}", "SerializeBatch", b"", responses=(message,)))
        return calls, False

    def _ask(self, running: _RunningProgram, body: dict[str, Any], table: pa.Table) -> dict[str, Any]:
        """Ask the program to serialize; the answer. Raises :class:`LostError` and :class:`ProtocolError`."""
        running.asked += 1
        request = {"op": "serialize", "id": running.asked, **body}
        limits = self._spec.limits
        line = running.pipes.ask(
            PROTOCOL.encode(request),
            seconds=self._deadlines.call + table.nbytes / BYTES_PER_SECOND,
            limit=min(limits.message, limits.call + EXPANSION * table.nbytes),
        )
        kinds = ("serialized", "unsupported", "error")
        return PROTOCOL.decode(line, request=running.asked, kinds=kinds, values=HELLO_VALUES + 2 * table.num_rows)


def _body(
    running: _RunningProgram, batches: list[pa.RecordBatch], schema: pa.Schema, *, columns: list[Any], rows: list[Any]
) -> dict[str, Any]:
    """The batches of a table in the forms that the program requested."""
    body: dict[str, Any] = {"columns": columns, "batches": [batch.num_rows for batch in batches]}
    wanted = running.welcome["input"]
    if wanted in ("arrow", "both"):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        body["arrow"] = base64.b64encode(sink.getvalue()).decode()
    if wanted in ("rows", "both"):
        body["rows"] = rows
    return body


def _messages(answer: dict[str, Any]) -> list[bytes]:
    """The schema message and the batch messages of an answer; empty if it has none."""
    if answer["status"] != "ok":
        return []
    named = [("schema", answer["schema"]), *((f"batches[{at}]", text) for at, text in enumerate(answer["batches"]))]
    return [decode_base64(text, what) for what, text in named]
