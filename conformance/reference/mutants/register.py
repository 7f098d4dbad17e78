"""How a mutant is named, found and described; the lies themselves stand in the other modules of this package.

A mutant is one deviation from the reference. A lie about bytes is a function on a message, a lie about types or values
a function on a record batch, a lie about behaviour a subclass of the service: each under one decorator, its docstring
being the lie. Where several are the same but for what they are told with, each is one call of a function that they
share, with the lie as an argument. Adding one touches one place.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from conformance.records import Reading
from conformance.reference.message import Message
from conformance.reference.mutants.reshaping import Change, change_fields
from conformance.reference.serializer import Serializer

if TYPE_CHECKING:
    import pyarrow as pa

    from conformance.reference.service import Service

__all__ = [
    "MUTANTS",
    "Misread",
    "Mutant",
    "batch_mutant",
    "behaviour_mutant",
    "decorator",
    "fields_mutant",
    "first",
    "in_fields",
    "message_mutant",
    "process_mutant",
    "reading_mutant",
    "rows_mutant",
    "schema_mutant",
]

Misread = Callable[[list[Reading]], list[Reading]]
"""A lie about an exchange's readings: from the true ones to others."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mutant:
    """One deviation: the ``fault`` in a sentence or two, and what it must and may break.

    ``kills`` are the clauses that have to fail on it, the intended one first.
    ``also`` are clauses that may honestly fail with it, each with the reason; no other clause may fail.
    ``defects`` are ids of the catalogue of public defects, ``source`` the URL of the report; both empty for a
    deviation that nobody has reported. A lie about bytes or values has a ``serializer``, one about behaviour a
    ``service``, one about what readers made of right bytes ``readings``. ``process`` says that the service may hang
    or die, and needs a process of its own.
    """

    name: str
    fault: str
    kills: tuple[str, ...]
    also: Mapping[str, str]
    defects: tuple[str, ...]
    source: str
    serializer: Serializer | None = None
    service: type[Service] | None = None
    readings: Misread | None = None
    process: bool = False


_REGISTER: dict[str, Mutant] = {}

MUTANTS: Final[Mapping[str, Mutant]] = MappingProxyType(_REGISTER)
"""Every mutant by name; complete once :mod:`conformance.reference.mutants` is imported."""

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def decorator(make: Callable[[Any], dict[str, Any]]) -> Callable[..., Callable[[F], F]]:
    """A decorator that registers what it is put on; ``make`` says what of a :class:`Mutant` that is.

    The decorator takes the mutant's name and what :class:`Mutant` says of it, ``kills`` also as one id. ``fault`` is
    given where what is registered has no docstring.
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
        def register(reported: F) -> F:
            stated = fault or inspect.cleandoc(reported.__dict__.get("__doc__") or reported.__doc__ or "")
            if not stated:
                raise ValueError(f"mutant {name}: expected a docstring that states the lie, got none")
            if name in _REGISTER:
                raise ValueError(f"mutant {name}: the name is taken")
            intended = (kills,) if isinstance(kills, str) else kills
            _REGISTER[name] = Mutant(name, stated, intended, dict(also or {}), defects, source, **make(reported))
            return reported

        return register

    return named


def _patient(reported: Callable[[Message], Message | bytes]) -> Callable[[Message], bytes]:
    """A lie that does not apply to a message (it has no list, say) leaves that message as it is."""

    def write(message: Message) -> bytes:
        try:
            made = reported(message)
        except LookupError:
            return message.encode()
        return made if isinstance(made, bytes) else made.encode()

    return write


def first(found: Iterable[T], lacking: str) -> T:
    """The first of what a lie can be told of.

    Raises:
        LookupError: there is none; ``lacking`` says so in words.
    """
    for each in found:
        return each
    raise LookupError(lacking)


schema_mutant: Final = decorator(lambda reported: {"serializer": Serializer(write_schema=_patient(reported))})
"""Register a function from the schema's message to a message or bytes."""

batch_mutant: Final = decorator(lambda reported: {"serializer": Serializer(write_batch=_patient(reported))})
"""Register a function from a batch's message to a message or bytes."""


def _reshaping(reported: Callable[[pa.RecordBatch], pa.RecordBatch]) -> dict[str, Any]:
    return {"serializer": Serializer(reshape=reported)}


def _of_both(reported: Callable[[Message], Message | bytes]) -> dict[str, Any]:
    return {"serializer": Serializer(write_schema=_patient(reported), write_batch=_patient(reported))}


message_mutant: Final = decorator(_of_both)
"""Register a function from either message to a message or bytes: a lie that takes both."""

rows_mutant: Final = decorator(_reshaping)
"""Register a function from a record batch to one with other types, metadata or values; the schema follows it."""


def in_fields(reported: Change) -> dict[str, Any]:
    """What a mutant is whose lie is a change of fields."""
    return _reshaping(lambda batch: change_fields(batch, reported))


fields_mutant: Final = decorator(in_fields)
"""As :data:`rows_mutant`, of a function that is given every field and its values, at any depth."""

behaviour_mutant: Final = decorator(lambda reported: {"service": reported})
"""Register a subclass of the service that replaces one step."""

process_mutant: Final = decorator(lambda reported: {"service": reported, "process": True})
"""Register a subclass of the service that hangs or dies."""

reading_mutant: Final = decorator(lambda reported: {"readings": reported})
"""Register a function from the readings of an exchange to other ones."""
