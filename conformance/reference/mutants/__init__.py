"""Named single deviations from the reference service: adding one touches one place, a class in a module here.

A behavioural mutant is a subclass of :class:`~conformance.reference.service.Service` that replaces one step;
its docstring states the lie. ``conformance serve --mutant NAME`` serves it.
This module decides how mutants are named and found; the lies themselves stand in the other modules.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from conformance.reference.service import Service

__all__ = ["MUTANTS", "Mutant", "mutant", "service_class"]


@dataclasses.dataclass(frozen=True, slots=True)
class Mutant:
    """One deviation: ``lie`` in a sentence, the service that tells it, the public defect that it reproduces.

    ``defect`` is an id of the catalogue of public defects and ``source`` its URL; both are empty for a deviation
    that nobody has reported. ``clauses`` are the ids (or globs) of the clauses that it honestly breaks.
    """

    name: str
    lie: str
    service: type[Service]
    defect: str
    source: str
    clauses: tuple[str, ...]


_REGISTER: dict[str, Mutant] = {}

MUTANTS: Final[Mapping[str, Mutant]] = MappingProxyType(_REGISTER)
"""Every mutant by name."""

S = TypeVar("S", bound=type[Service])


def mutant(name: str, *, defect: str = "", source: str = "", clauses: tuple[str, ...] = ()) -> Callable[[S], S]:
    """Register the decorated subclass of the service as the mutant ``name``; its docstring is the lie.

    Raises:
        ValueError: the name is taken, or the class has no docstring of its own.
    """

    def register(service: S) -> S:
        lie = inspect.cleandoc(service.__dict__.get("__doc__") or "")
        if not lie:
            raise ValueError(f"mutant {name}: expected a docstring that states the lie, got none")
        if name in _REGISTER:
            raise ValueError(f"mutant {name}: the name is taken")
        _REGISTER[name] = Mutant(name, lie, service, defect, source, clauses)
        return service

    return register


def service_class(name: str | None) -> type[Service]:
    """The service to run: the mutant of that name, or the reference itself for None.

    Raises:
        KeyError: there is no such mutant.
    """
    if name is None:
        return Service
    if name not in MUTANTS:
        raise KeyError(f"expected a mutant out of {', '.join(sorted(MUTANTS))}, got {name!r}")
    return MUTANTS[name].service


from conformance.reference.mutants import behaviour  # noqa: E402, F401  # registers its mutants, needs the decorator
