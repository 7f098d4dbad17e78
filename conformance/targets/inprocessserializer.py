"""A serializer in this process as a target: two Python functions, from a schema to bytes and from a batch to bytes.

The results and exceptions of the functions are recorded. This module does not protect against a function that never
returns or ends the process: :mod:`.contained` calls the functions in a process that may be lost.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from conformance.records import Call, CallEnd, Case, Exchange
from conformance.targets.environment import Environment
from conformance.targets.handing import NO_PLACE, batches_of, place_of
from conformance.targets.spec import TargetSpec
from conformance.targets.targeterrors import TargetError

__all__ = ["SerializerEntry", "SerializerTarget"]


class SerializerEntry(Protocol):
    """The object that ``entry`` of a target file names: anything with these two functions, such as a module.

    Each function returns one encapsulated message. ``NotImplementedError`` means that the type is not supported,
    ``ValueError`` and ``TypeError`` that the table is refused; other exceptions count as defects.
    """

    def serialize_schema(self, schema: pa.Schema, /) -> bytes:
        """The Schema message of ``schema``."""

    def serialize_batch(self, batch: pa.RecordBatch, /) -> bytes:
        """The RecordBatch message of ``batch``; it may be a slice."""


class SerializerTarget:
    """A serializer under test, called in the thread that calls :meth:`drive`."""

    def __init__(self, spec: TargetSpec, environment: Environment) -> None:
        self.name = spec.name
        self.version = environment.version
        self.capabilities = frozenset(spec.capabilities)
        self.remarks: tuple[str, ...] = ()
        self._limits = spec.limits
        self._serializer = _load(spec)

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Serialize the case's table and record the messages, or the exception."""
        now = time.time_ns() // 1000
        if place_of(case) is None:
            return Exchange(case.id, self.name, now=now, untestable=NO_PLACE)
        return Exchange(case.id, self.name, tuple(self.calls(case, table)), now=now)

    def calls(self, case: Case, table: pa.Table) -> Iterator[Call]:
        """The calls that serialize the case's table, each as soon as it is made; a failing call is the last.

        There are no calls if the case has no steps for a serializer.
        """
        place = place_of(case)
        if place is None:
            return
        serializer = self._serializer
        wanted: list[tuple[int, str, str, Callable[[Any], Any], Any]] = [
            (place.session, "schema", "SerializeSchema", serializer.serialize_schema, table.schema)
        ]
        for number, batch in enumerate(batches_of(table, case.table.recipe)):
            wanted.append((place.read, f"batch/{number}", "SerializeBatch", serializer.serialize_batch, batch))
        began = time.monotonic()
        left = self._limits.case
        for step, label, method, function, argument in wanted:
            started = time.monotonic()
            answer = _answer(function, argument, method, limit=min(left, self._limits.message + table.nbytes))
            left -= sum(map(len, answer.responses))
            yield Call(
                step,
                label,
                method,
                b"",
                answer.responses,
                answer.status,
                answer.details,
                end=answer.end,
                started=started - began,
                seconds=time.monotonic() - started,
            )
            if answer.status != "OK":
                break

    def close(self) -> None:
        """Do nothing: there is no process to end."""


class _Answer(NamedTuple):
    """The result of one function call, in the fields of :class:`Call`."""

    responses: tuple[bytes, ...] = ()
    status: str = "OK"
    details: str = ""
    end: CallEnd = CallEnd.COMPLETE


def _answer(function: Callable[[Any], Any], argument: object, method: str, *, limit: int) -> _Answer:
    try:
        value = function(argument)
    except BaseException as error:  # noqa: BLE001  # any exception is the serializer's answer
        return _Answer(status=_status(error), details=_words(error))
    try:
        view = memoryview(value)
        if view.nbytes > limit:
            said = f"{method} returned {view.nbytes} bytes, and at most {limit} are taken"
            return _Answer(status="", details=said, end=CallEnd.OVER_BUDGET)
        return _Answer((value if type(value) is bytes else bytes(view),))
    except TypeError:
        said = f"expected bytes from {method} but got {type(value).__name__}"
        return _Answer(status="INTERNAL", details=said)


def _words(error: BaseException) -> str:
    """The name and text of an exception; a text that raises an exception itself is left out."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except BaseException as second:  # noqa: BLE001  # the code under test makes the text, too
        return f"{name}, whose text raised {type(second).__name__}"


def _status(error: BaseException) -> str:
    """The gRPC status of a server's answer in place of this exception."""
    if isinstance(error, NotImplementedError):  # pyarrow's ArrowNotImplementedError is one as well
        return "UNIMPLEMENTED"
    return "INVALID_ARGUMENT" if isinstance(error, ValueError | TypeError) else "INTERNAL"


def _load(spec: TargetSpec) -> SerializerEntry:
    assert spec.serializer is not None
    where = f"{spec.file}: target.serializer.entry"
    module_name, _, name = spec.serializer.entry.partition(":")
    sys.path[:0] = [str(spec.here / entry) for entry in spec.serializer.path]
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise TargetError(f"{where}: cannot import {module_name!r}: {error}") from None
    except BaseException as error:  # noqa: BLE001  # importing runs the module, which may raise anything
        raise TargetError(f"{where}: cannot import {module_name!r}: {_words(error)}") from None
    finally:
        del sys.path[: len(spec.serializer.path)]
    for part in filter(None, name.split(".")):
        if not hasattr(found, part):
            raise TargetError(f"{where}: module {module_name!r} has no {name!r}")
        found = getattr(found, part)
    for needed in ("serialize_schema", "serialize_batch"):
        if not callable(getattr(found, needed, None)):
            raise TargetError(f"{where}: expected a function {needed} in {spec.serializer.entry!r}, which has none")
    serializer: SerializerEntry = found
    return serializer
