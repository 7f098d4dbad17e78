"""A legal variation of a service: a subclass that answers in another way than the reference, which a text permits."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["ServiceVariation", "registering"]

S = TypeVar("S")


@dataclasses.dataclass(frozen=True, slots=True)
class ServiceVariation(Generic[S]):
    """One legal difference: what it is, the text that permits it, and the service that does it."""

    name: str
    what: str
    source: str
    service: type[S]


def registering(into: dict[str, ServiceVariation[S]]) -> Callable[[str, str], Callable[[type[S]], type[S]]]:
    """A decorator that registers a subclass of the service; it takes the variation's name and source.

    Raises:
        ValueError: from the decorator, if the subclass has no docstring or the name is taken.
    """

    def variation(name: str, source: str) -> Callable[[type[S]], type[S]]:
        def register(service: type[S]) -> type[S]:
            what = inspect.cleandoc(service.__dict__.get("__doc__") or "")
            if not what or name in into:
                raise ValueError(f"variation {name}: expected a docstring and a name that is not taken")
            into[name] = ServiceVariation(name, what, source, service)
            return service

        return register

    return variation
