"""The registers of mutants; the modules of :mod:`conformance.reference.mutants` and of the protocols define them.

A mutant is one deviation from the reference. A mutant of bytes is a function on a message, a mutant of types or
values a function on a record batch, a mutant of behaviour a subclass of the service. Each is under one decorator, and
its docstring describes the fault. Mutants that differ only in an argument share one function: each is one call of it,
with the fault's text as an argument. Adding a mutant touches one place.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import Reading
from conformance.reference.message import DraftMessage
from conformance.reference.reshaping import Change, change_fields
from conformance.reference.serializer import Serializer, Write

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BYTE_MUTANTS",
    "STACKED_WITH",
    "Misread",
    "Mutant",
    "batch_mutant",
    "decorator",
    "fields_mutant",
    "first",
    "in_fields",
    "message_mutant",
    "reading_mutant",
    "rows_mutant",
    "schema_mutant",
]

Misread = Callable[[list[Reading]], list[Reading]]
"""A fault in an exchange's readings: from the true readings to wrong ones."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mutant:
    """One deviation: the ``fault`` in a sentence or two, and what it must and may break.

    ``kills`` are the clauses that have to fail on it, the intended one first.
    ``also`` are clauses that may rightly fail with it, each with the reason; no other clause may fail.
    ``defects`` are ids of the catalogue of public defects, ``source`` the URL of the report; both empty for a
    deviation that nobody has reported. A mutant of bytes or values has a ``serializer``, one of behaviour a
    ``service``, one of the decoding of right bytes ``readings``. ``process`` says that the service may hang or die, and
    needs a process of its own. ``protocol`` is that of its service.
    """

    name: str
    fault: str
    kills: tuple[str, ...]
    also: Mapping[str, str]
    defects: tuple[str, ...]
    source: str
    serializer: Serializer | None = None
    service: type[Any] | None = None
    readings: Misread | None = None
    process: bool = False
    protocol: str = DEFAULT_PROTOCOL


STACKED_WITH: Final = "+"
"""What separates the names of mutants that one service has together."""

_REGISTER: dict[str, Mutant] = {}

BYTE_MUTANTS: Final[Mapping[str, Mutant]] = MappingProxyType(_REGISTER)
"""Every mutant of bytes by name; complete once :mod:`conformance.reference.mutants` is imported."""

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def decorator(
    make: Callable[[Any], dict[str, Any]], into: dict[str, Mutant] | None = None
) -> Callable[..., Callable[[F], F]]:
    """A decorator that registers a function or class; ``make`` gives the field of :class:`Mutant` that it becomes.

    The decorator takes the mutant's name and the fields of :class:`Mutant`, ``kills`` also as one id. ``fault`` is
    given if the registered object has no docstring.
    """

    def named(
        name: str,
        *,
        kills: str | tuple[str, ...],
        also: Mapping[str, str] | None = None,
        defects: tuple[str, ...] = (),
        source: str = "",
        fault: str = "",
    ) -> Callable[[F], F]:
        def register(definition: F) -> F:
            stated = fault or inspect.cleandoc(definition.__dict__.get("__doc__") or definition.__doc__ or "")
            if not stated:
                raise ValueError(f"mutant {name}: expected a docstring that describes the fault, got none")
            known = _REGISTER if into is None else into
            if name in known:
                raise ValueError(f"mutant {name}: the name is taken")
            intended = (kills,) if isinstance(kills, str) else kills
            known[name] = Mutant(name, stated, intended, dict(also or {}), defects, source, **make(definition))
            return definition

        return register

    return named


def _patient(change: Write) -> Write:
    """A mutant that does not apply to a message (it has no list, for example) leaves the message unchanged."""

    def write(message: DraftMessage) -> DraftMessage | bytes:
        try:
            return change(message)
        except LookupError:
            return message

    return write


def first(found: Iterable[T], lacking: str) -> T:
    """The first place to which a mutant applies.

    Raises:
        LookupError: there is no such place; ``lacking`` is the text.
    """
    for each in found:
        return each
    raise LookupError(lacking)


schema_mutant: Final = decorator(lambda change: {"serializer": Serializer(write_schema=_patient(change))})
"""Register a function from the schema's message to a message or bytes."""

batch_mutant: Final = decorator(lambda change: {"serializer": Serializer(write_batch=_patient(change))})
"""Register a function from a batch's message to a message or bytes."""


def _reshaping(change: Callable[[pa.RecordBatch], pa.RecordBatch]) -> dict[str, Any]:
    return {"serializer": Serializer(reshape=change)}


def _of_both(change: Write) -> dict[str, Any]:
    return {"serializer": Serializer(write_schema=_patient(change), write_batch=_patient(change))}


message_mutant: Final = decorator(_of_both)
"""Register a function from either message to a message or bytes: a mutant that needs both."""

rows_mutant: Final = decorator(_reshaping)
"""Register a function from a record batch to one with other types, metadata or values; the schema follows it."""


def in_fields(change: Change) -> dict[str, Any]:
    """Return the arguments for :class:`Mutant` that apply ``change`` to each field of what the mutant sends."""
    return _reshaping(lambda batch: change_fields(batch, change))


fields_mutant: Final = decorator(in_fields)
"""As :data:`rows_mutant`, of a function that is given every field and its values, at any depth."""

reading_mutant: Final = decorator(lambda misread: {"readings": misread})
"""Register a function from the readings of an exchange to other readings."""
