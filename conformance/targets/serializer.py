"""A serializer in this process as a target: two Python functions, a schema to bytes and a batch to bytes.

What the functions raise or return is recorded; a function that does not return costs its deadline and a thread that
is left behind. A function that ends this process ends the run: whoever fears that makes the serializer a program.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import sys
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from conformance.records import Call, CallEnd, Case, Exchange
from conformance.targets.environment import Environment
from conformance.targets.errors import TargetError
from conformance.targets.handing import batches_of, place_of
from conformance.targets.spec import TargetSpec

__all__ = ["Serializer", "SerializerTarget"]

BYTES_PER_SECOND = 2 << 20
"""The slowest serializing that still counts as such: a table's size divided by it is added to the deadline."""


class Serializer(Protocol):
    """What ``entry`` of a target file names: anything with these two functions, a module for one.

    Each returns one encapsulated message. ``NotImplementedError`` says that the type is not supported,
    ``ValueError`` and ``TypeError`` that the table is refused; other exceptions count as defects.
    """

    def serialize_schema(self, schema: pa.Schema, /) -> bytes:
        """The Schema message of ``schema``."""

    def serialize_batch(self, batch: pa.RecordBatch, /) -> bytes:
        """The RecordBatch message of ``batch``; it may be a slice."""


class SerializerTarget:
    """A serializer under test.

    ``alone`` says that the caller ends this process where a call does not return; then no thread watches over calls.
    """

    def __init__(self, spec: TargetSpec, environment: Environment, *, multiplier: float, alone: bool = False) -> None:
        self.name = spec.name
        self.version = environment.version
        self.capabilities = frozenset(spec.capabilities)
        self.remarks: tuple[str, ...] = ()
        self._spec = spec
        self._deadline = spec.deadlines.stretched(multiplier).call
        self._serializer = _load(spec)
        self._alone = alone
        self._hand: _Hand | None = None

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Serialize the case's table and record the messages, or the error raised."""
        now = time.time_ns() // 1000
        place = place_of(case)
        if place is None:
            said = "a serializer takes no requests, and no session of the case reads the whole table as Arrow"
            return Exchange(case.id, self.name, now=now, untestable=said)
        began = time.monotonic()
        seconds = self._deadline + (0 if self._alone else table.nbytes / BYTES_PER_SECOND)
        serializer = self._serializer
        wanted: list[tuple[int, str, str, Callable[[Any], Any], Any]] = [
            (place.session, "schema", "SerializeSchema", serializer.serialize_schema, table.schema)
        ]
        for number, batch in enumerate(batches_of(table, case.table.recipe)):
            wanted.append((place.read, f"batch/{number}", "SerializeBatch", serializer.serialize_batch, batch))
        calls: list[Call] = []
        for step, label, method, function, argument in wanted:
            started = time.monotonic()
            answer = self._answer(functools.partial(function, argument), method, seconds=seconds)
            took = time.monotonic() - started
            calls.append(
                Call(
                    step,
                    label,
                    method,
                    b"",
                    answer.responses,
                    answer.status,
                    answer.details,
                    end=answer.end,
                    started=started - began,
                    seconds=took,
                )
            )
            if answer.status != "OK":
                break
        return Exchange(case.id, self.name, tuple(calls), now=now)

    def restart(self) -> None:
        """Do nothing: there is no process to replace."""

    def close(self) -> None:
        """Let the thread that calls the functions end."""
        if self._hand is not None:
            self._hand.close()
            self._hand = None

    def _by_hand(self, function: Callable[[], Any], *, seconds: float) -> _Result | None:
        self._hand = self._hand or _Hand()
        result = self._hand.call(function, seconds=seconds)
        if result is None:
            self._hand = None
        return result

    def _answer(self, function: Callable[[], Any], method: str, *, seconds: float) -> _Answer:
        result = _called(function) if self._alone else self._by_hand(function, seconds=seconds)
        if result is None:
            said = f"{method} did not return within {seconds:.3g} s"
            return _Answer(status="", end=CallEnd.DEADLINE, details=said)
        if result.error is not None:
            said = f"{type(result.error).__name__}: {result.error}"
            return _Answer(status=_status(result.error), details=said)
        if type(result.value) is bytes:
            return _Answer((result.value,))
        try:
            message = bytes(memoryview(result.value))
        except TypeError:
            said = f"expected bytes from {method} but got {type(result.value).__name__}"
            return _Answer(status="INTERNAL", details=said)
        return _Answer((message,))


class _Answer(NamedTuple):
    """What a call came to, as :class:`Call` has it."""

    responses: tuple[bytes, ...] = ()
    status: str = "OK"
    details: str = ""
    end: CallEnd = CallEnd.COMPLETE


@dataclasses.dataclass(frozen=True, slots=True)
class _Result:
    value: Any = None
    error: BaseException | None = None


def _called(function: Callable[[], Any]) -> _Result:
    try:
        return _Result(value=function())
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is the serializer's answer
        return _Result(error=error)


class _Hand:
    """A thread that calls functions one after another; one that does not return in time is left behind with it.

    A thread of its own for each call would cost more than serializing a small batch does.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._results: SimpleQueue[_Result] = SimpleQueue()
        threading.Thread(target=self._serve, args=(self._work, self._results), daemon=True).start()

    def call(self, function: Callable[[], Any], *, seconds: float) -> _Result | None:
        """What ``function`` returned or raised; None where it did neither in time, and then this hand is of no use."""
        self._work.put(function)
        try:
            return self._results.get(timeout=seconds)
        except Empty:
            self.close()
            return None

    def close(self) -> None:
        """Let the thread end, once what it is at has returned."""
        self._work.put(None)

    @staticmethod
    def _serve(work: SimpleQueue[Callable[[], Any] | None], results: SimpleQueue[_Result]) -> None:
        while (function := work.get()) is not None:
            results.put(_called(function))
            del function


def _status(error: BaseException) -> str:
    """The gRPC status that a server would answer with in place of this exception."""
    if isinstance(error, NotImplementedError):  # pyarrow's ArrowNotImplementedError is one as well
        return "UNIMPLEMENTED"
    return "INVALID_ARGUMENT" if isinstance(error, ValueError | TypeError) else "INTERNAL"


def _load(spec: TargetSpec) -> Serializer:
    assert spec.serializer is not None
    where = f"{spec.file}: target.serializer.entry"
    module_name, _, name = spec.serializer.entry.partition(":")
    sys.path[:0] = [str(spec.here / entry) for entry in spec.serializer.path]
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise TargetError(f"{where}: cannot import {module_name!r}: {error}") from None
    finally:
        del sys.path[: len(spec.serializer.path)]
    for part in filter(None, name.split(".")):
        if not hasattr(found, part):
            raise TargetError(f"{where}: module {module_name!r} has no {name!r}")
        found = getattr(found, part)
    for needed in ("serialize_schema", "serialize_batch"):
        if not callable(getattr(found, needed, None)):
            raise TargetError(f"{where}: expected a function {needed} in {spec.serializer.entry!r}, and there is none")
    serializer: Serializer = found
    return serializer
