"""Carries out the steps of a case as calls of BigQueryWrite and BigQueryRead, exactly as the case describes them.

It decodes an answer only as far as the next step requires: the names of created streams and of the streams of a
session. A step on a stream that was not created is skipped. The steps in the pause of a connection are carried out
where its next request is asked for.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.protocols.storage_write.contract.classes import RESPONSES
from conformance.protocols.storage_write.records import (
    DEFAULT,
    SHORT_DEFAULT,
    CommitStreams,
    CreateWriteStream,
    FinalizeStream,
    FlushStream,
    GetWriteStream,
    ReadWritten,
    WriteRows,
)
from conformance.protocols.storage_write.targets import requests
from conformance.records import Call, Case, Step
from conformance.targets.allowance import Allowance, UsedUpError, unreached
from conformance.targets.names import Names
from conformance.targets.recordedcall import BROKEN, CallBudget, Caller, Leaving
from conformance.targets.rpc import Conversed

__all__ = ["WriteConversation"]

MOST_STREAMS: Final = 10
"""Streams of a session that are read: one was asked for, and servers may give a few more."""


class WriteConversation:
    """The calls of one case; ``caller`` calls BigQueryWrite, and ``reader`` BigQueryRead of the same server."""

    def __init__(
        self, case: Case, table: pa.Table, names: Names, *, caller: Caller, reader: Caller, allowance: Allowance
    ) -> None:
        self._case = case
        self._table = table
        self._names = names
        self._caller = caller
        self._reader = reader
        self._allowance = allowance
        self._calls: list[Call] = []
        self._skipped: list[int] = []
        self._at = 0
        self._broken = False
        self._streams = {
            DEFAULT: f"{names.resource}/streams/_default",
            SHORT_DEFAULT: f"{names.resource}/_default",
        }

    def run(self) -> Conversed:
        """Carry out every step, until the end, the limits of the case, or a call that shows the target broken."""
        try:
            self._all_of(range(len(self._case.steps)))
        except UsedUpError as error:
            skipped = [*self._skipped, *unreached(self._case, self._calls, self._skipped, self._at)]
            return Conversed(self._calls, skipped, stopped=str(error))
        return Conversed(self._calls, self._skipped)

    def _all_of(self, steps: range) -> None:
        """Carry out these steps, until a call shows the target broken."""
        index = steps.start
        while index < steps.stop and not self._broken:
            self._at = index
            step = self._case.steps[index]
            self._carry_out(index, step)
            index += 1 + (step.during if isinstance(step, WriteRows) else 0)

    def _carry_out(self, index: int, step: Step) -> None:
        if isinstance(step, CreateWriteStream):
            self._create(index, step)
        elif isinstance(step, ReadWritten):
            self._read(index)
        elif isinstance(step, CommitStreams):
            names = [self._streams.get(label, "") for label in step.streams]
            self._about(
                index, "BatchCommitWriteStreams", all(names), lambda: requests.commit_request(names, self._names)
            )
        else:
            self._on_stream(index, step)

    def _on_stream(self, index: int, step: Step) -> None:
        """Make the call of a step about one stream."""
        stream = self._stream_of(step)
        match step:
            case WriteRows() if stream:
                call = Call(index, step.stream, "AppendRows", b"")
                if step.during:
                    self._hold_open(call, step, list(requests.append_requests(step, stream, self._table)))
                    return
                messages = list(requests.append_requests(step, stream, self._table))
                awaits = () if step.ahead else range(len(messages) - 1)
                leaving = Leaving(len(messages)) if step.leaves else None
                self._make(
                    lambda budget: self._caller.converse(call, messages, budget=budget, awaits=awaits, leaving=leaving)
                )
            case GetWriteStream():
                self._about(index, "GetWriteStream", bool(stream), lambda: requests.get_request(step, stream))
            case FinalizeStream():
                self._about(index, "FinalizeWriteStream", bool(stream), lambda: requests.finalize_request(stream))
            case FlushStream():
                self._about(index, "FlushRows", bool(stream), lambda: requests.flush_request(step, stream))
            case _:
                self._skipped.append(index)
                if isinstance(step, WriteRows):
                    self._all_of(range(index + 1, index + 1 + step.during))

    def _hold_open(self, call: Call, step: WriteRows, messages: Sequence[bytes]) -> None:
        """Make a call, and carry out the steps of its pause while it is open; its place is that of its beginning.

        If the connection ends before its pause, they are carried out behind it.
        """
        within = range(call.step + 1, call.step + 1 + step.during)
        place, failed, left = len(self._calls), [], [within]

        def pausing() -> Iterator[bytes]:
            yield from messages[: step.before_pause]
            left.clear()
            try:
                self._all_of(within)
            except Exception as error:  # noqa: BLE001  # gRPC would make it the end of the call; it is raised below
                failed.append(error)
            yield from messages[step.before_pause :]

        budget = self._allowance.left()
        budget = dataclasses.replace(budget, seconds=max(budget.seconds, budget.longest))
        made = self._caller.converse(call, pausing(), budget=budget, awaits=range(len(messages)))
        self._calls.insert(place, made)
        self._count(made)
        for steps in left:
            self._all_of(steps)
        for error in failed:
            raise error

    def _stream_of(self, step: Step) -> str:
        """The name of the stream of a step; empty if it was not created."""
        name: str = getattr(step, "name", "")
        return self._names.fill(name) or self._streams.get(getattr(step, "stream", ""), "")

    def _create(self, index: int, step: CreateWriteStream) -> None:
        request = requests.create_request(step, self._names)
        call = self._unary(self._caller, Call(index, step.label, "CreateWriteStream", request))
        answer = _answer(RESPONSES["CreateWriteStream"], call)
        self._streams.pop(step.label, None)
        if answer is not None and answer.name:
            self._streams[step.label] = answer.name

    def _about(self, index: int, method: str, known: bool, request: Callable[[], bytes]) -> None:  # noqa: FBT001  # private
        """Make a unary call, if its streams are known."""
        if known:
            self._unary(self._caller, Call(index, method, method, request()))
        else:
            self._skipped.append(index)

    def _read(self, index: int) -> None:
        """Read the table by the other API."""
        made = self._unary(
            self._reader, Call(index, "session", "CreateReadSession", requests.session_request(self._names))
        )
        session = _answer(proto.ReadSession, made)
        for stream in session.streams[:MOST_STREAMS] if session is not None else ():
            call = Call(index, "read", "ReadRows", requests.read_request(stream.name))
            self._make(functools.partial(_streamed, self._reader, call))

    def _unary(self, caller: Caller, call: Call) -> Call:
        return self._make(lambda budget: caller.unary(call, routing="", budget=budget))

    def _make(self, make: Callable[[CallBudget], Call]) -> Call:
        made = make(self._allowance.left())
        self._calls.append(made)
        self._count(made)
        return made

    def _count(self, made: Call) -> None:
        self._allowance.count(made)
        self._broken = self._broken or made.end in BROKEN


def _streamed(caller: Caller, call: Call, budget: CallBudget) -> Call:
    return caller.stream(call, budget=budget)


def _answer(kind: Any, call: Call) -> Any:
    """The decoded answer of a unary call; None if the call failed or the answer is not such a message."""
    if call.status != "OK" or not call.responses:
        return None
    try:
        return kind.FromString(call.responses[0])
    except DecodeError:
        return None
