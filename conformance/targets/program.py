"""A program in any language as a target: started once, asked over stdin and stdout, and replaced if it breaks.

:mod:`.asking` sends the messages. This module decides which messages a case needs. It starts the program
again for the next case if it hung, crashed or sent output without a question.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from contextlib import ExitStack
from typing import Any, Final

import pyarrow as pa

from conformance.contain.child import Child
from conformance.contain.errors import CannotStart, Lost, LostError, ProtocolError
from conformance.contain.lines import decode_base64
from conformance.contain.text import safe
from conformance.generate.materialise import to_json_rows
from conformance.records import Call, CallEnd, Case, Exchange, to_json
from conformance.targets.environment import Environment, command_environment, fill
from conformance.targets.handing import SerializedSteps, batches_of, place_of
from conformance.targets.homes import fresh_home
from conformance.targets.kept import Kept
from conformance.targets.questions import (
    EXIT_SECONDS,
    HELLO_VALUES,
    AskedProgram,
    greeted,
    table_forms,
)
from conformance.targets.spec import TargetSpec, extra_seconds
from conformance.targets.targeterrors import TargetUnavailable

__all__ = ["ProgramTarget"]

NAME: Final = 200
"""Characters kept of a program's version and of each capability."""


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

    def _ready(self) -> AskedProgram:
        if self._kept.now is not None and (surplus := self._kept.now.pipes.surplus()):
            self.remarks += (f"after {self._last}, {surplus} bytes came that nothing had asked for",)
            self._kept.discard(grace=0)
        return self._kept.ready()

    def _start(self) -> AskedProgram:
        spec = self._spec
        assert spec.start is not None
        with ExitStack() as home:
            environment = home.enter_context(fresh_home(spec, self._environment))
            command = [fill(part, environment) for part in spec.start.command]
            try:
                process = Child(command, environment=command_environment(spec, environment), piped=True)
            except CannotStart as error:
                raise TargetUnavailable(str(error)) from None
            running = greeted(process, self.name, seconds=self._deadlines.start)
            running.home = home.pop_all()
        return running

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
        self, running: AskedProgram, case: Case, table: pa.Table, place: SerializedSteps
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

    def _ask(self, running: AskedProgram, body: dict[str, Any], table: pa.Table) -> dict[str, Any]:
        """Ask the program to serialize; the answer. Raises :class:`LostError` and :class:`ProtocolError`."""
        limits = self._spec.limits
        return running.ask(
            {"op": "serialize", **body},
            ("serialized", "unsupported", "error"),
            seconds=self._deadlines.call + extra_seconds(table.nbytes),
            limit=min(limits.message, limits.of_call(table.nbytes)),
            values=HELLO_VALUES + 2 * table.num_rows,
        )


def _body(
    running: AskedProgram, batches: list[pa.RecordBatch], schema: pa.Schema, *, columns: list[Any], rows: list[Any]
) -> dict[str, Any]:
    """The parts of a request that describe a table."""
    forms = table_forms(running.welcome["input"], batches, schema, rows)
    return {"columns": columns, "batches": [batch.num_rows for batch in batches], **forms}


def _messages(answer: dict[str, Any]) -> list[bytes]:
    """The schema message and the batch messages of an answer; empty if it has none."""
    if answer["status"] != "ok":
        return []
    named = [("schema", answer["schema"]), *((f"batches[{at}]", text) for at, text in enumerate(answer["batches"]))]
    return [decode_base64(text, what) for what, text in named]
