"""A Python serializer in a process of its own: if the process ends or hangs, only the current case is affected."""

from __future__ import annotations

import dataclasses
import pickle
import time
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from conformance.contain.channel import ChannelMessage, FrameError
from conformance.contain.errors import CannotStart
from conformance.contain.worker import Worker, last_words
from conformance.records import Call, CallEnd, Case, Exchange, RecordError, from_json, to_json
from conformance.targets.environment import Environment
from conformance.targets.handing import NO_PLACE, SerializedSteps, place_of
from conformance.targets.spec import TargetSpec, extra_seconds
from conformance.targets.targeterrors import TargetError, TargetUnavailable

__all__ = ["ContainedTarget"]

START: Final = 180.0
"""Seconds for the process to import the suite's own libraries on a busy machine."""
READY: Final = 60.0
"""Seconds for the process to receive a case and make its table; large tables get more."""


class _Lost(Exception):  # noqa: N818  # an event, not an error of the caller
    """The runner has ended or cannot be trusted any more; the text is the reason, ``hung`` is True after a deadline."""

    def __init__(self, text: str, *, hung: bool = False) -> None:
        super().__init__(text)
        self.hung = hung


class ContainedTarget:
    """A serializer under test in a process of its own.

    Cases share that process until one of them ends it. Raises :class:`~conformance.targets.TargetError` if the entry
    in the target file is wrong, and :class:`~conformance.targets.TargetUnavailable` if importing it ends the process or
    does not return.
    """

    def __init__(self, spec: TargetSpec, environment: Environment, *, multiplier: float) -> None:
        self.name = spec.name
        self.version = environment.version
        self.capabilities = frozenset(spec.capabilities)
        self.remarks: tuple[str, ...] = ()
        self._spec = spec
        self._environment = environment
        self._multiplier = multiplier
        self._deadlines = spec.deadlines.stretched(multiplier)
        self._worker: Worker | None = None
        self._open = False
        self._driven = 0
        self._ready()

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Let the process serialize the case's table, and record the messages or the way in which that failed.

        If the process ends in a case after others, the case is tried once more in a fresh process, because an earlier
        case may be the cause.
        """
        exchange = Exchange(case.id, self.name, now=time.time_ns() // 1000)
        place = place_of(case)
        if place is None:
            return dataclasses.replace(exchange, untestable=NO_PLACE)
        while True:
            worker = self._ready()
            first = self._driven == 0
            self._driven += 1
            calls: list[Call] = []
            try:
                self._drive(worker, case, table, place=place, calls=calls)
            except _Lost as lost:
                if not lost.hung and not first:
                    continue
                end = CallEnd.DEADLINE if lost.hung else CallEnd.CRASH
                failed = dataclasses.replace(_next(calls, place), status="", details=str(lost), end=end)
                calls.append(failed)
            return dataclasses.replace(exchange, calls=tuple(calls))

    def close(self) -> None:
        """End the process and all its descendants."""
        worker, self._worker = self._worker, None
        self._open = False
        if worker is not None:
            worker.close()

    def _drive(self, worker: Worker, case: Case, table: pa.Table, *, place: SerializedSteps, calls: list[Call]) -> None:
        """Append the case's calls to ``calls``, each as soon as it is known; raises :class:`_Lost`."""
        extra = extra_seconds(table.nbytes)
        ready = READY * self._multiplier + extra
        self._send(worker, {"drive": to_json(case)}, seconds=ready)
        self._answer(worker, "ready", seconds=ready, doing="taking the case")
        while True:
            expected = _next(calls, place)
            seconds = self._deadlines.call + extra
            frame = self._answer(worker, "call", "done", seconds=seconds, doing=expected.method)
            if "done" in frame.header:
                return
            try:
                said = from_json(Call, frame.header["call"])
                call = dataclasses.replace(
                    said, step=expected.step, label=expected.label, method=expected.method, responses=frame.blobs
                )
            except RecordError as error:
                raise self._broken(worker, f"expected a call, got what is none: {error}") from None
            calls.append(call)

    def _ready(self) -> Worker:
        """The process, with the serializer imported; raises :class:`TargetUnavailable` or :class:`TargetError`."""
        worker = self._worker
        if worker is not None and self._open:
            return worker
        try:
            return self._opened(worker)
        except _Lost as lost:
            self.close()
            raise TargetUnavailable(f"{self.name} cannot be imported: {lost}") from None
        except BaseException:
            self.close()
            raise

    def _opened(self, worker: Worker | None) -> Worker:
        if worker is None:
            try:
                worker = Worker("conformance.targets.serving", frame=self._spec.limits.case)
            except CannotStart as error:
                raise TargetUnavailable(str(error)) from None
            self._worker = worker
        blob = pickle.dumps((self._spec, self._environment))
        self._send(worker, {"open": True}, (blob,), seconds=START)
        self._answer(worker, "importing", seconds=START * self._multiplier, doing="its start")
        answer = self._answer(worker, "opened", "unusable", seconds=self._deadlines.start, doing="its import")
        if "unusable" in answer.header:
            raise TargetError(str(answer.header["unusable"]))
        self._open = True
        self._driven = 0
        return worker

    def _send(
        self, worker: Worker, header: Mapping[str, Any], blobs: tuple[bytes, ...] = (), *, seconds: float
    ) -> None:
        worker.forget()
        try:
            worker.channel.send(header, blobs, seconds=seconds)
        except OSError as error:
            raise self._broken(worker, f"the connection to its process broke: {error}") from None

    def _answer(self, worker: Worker, *kinds: str, seconds: float, doing: str) -> ChannelMessage:
        """Receive the next frame, which must be of one of ``kinds``; raises :class:`_Lost`."""
        try:
            frame = worker.channel.receive(seconds=seconds)
        except TimeoutError:
            raise self._broken(worker, f"{doing} did not return within {seconds:.3g} s", hung=True) from None
        except (FrameError, OSError) as error:
            raise self._broken(worker, f"the connection to its process broke: {error}") from None
        if "died" in frame.header:
            self._open = False
            raise _Lost(f"its process ended in {doing}: {frame.header['died']}{_said(worker)}")
        if not any(kind in frame.header for kind in kinds):
            raise self._broken(worker, f"expected {' or '.join(kinds)} from its process, got {list(frame.header)}")
        return frame

    def _broken(self, worker: Worker, text: str, *, hung: bool = False) -> _Lost:
        """End the process, whose connection is unusable; returns the error to raise."""
        said = _said(worker)
        self.close()
        return _Lost(text + said, hung=hung)


def _said(worker: Worker) -> str:
    words = last_words(worker.said())
    return f"; it last said: {words}" if words else ""


def _next(calls: list[Call], place: SerializedSteps) -> Call:
    """The call that follows ``calls``, before it is made."""
    if not calls:
        return Call(place.session, "schema", "SerializeSchema", b"")
    return Call(place.read, f"batch/{len(calls) - 1}", "SerializeBatch", b"")
