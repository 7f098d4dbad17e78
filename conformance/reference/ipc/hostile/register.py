"""The register of hostile inputs."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.register import ContainerKind
from conformance.reference.ipc.samples import SAMPLES

__all__ = ["HOSTILE", "Hostile", "hostile", "hostile_stream", "register"]


@dataclasses.dataclass(frozen=True, slots=True)
class Hostile:
    """A hostile input. ``source`` is the URL of a report of the harm that it did, empty if none is known.

    ``make`` returns at most :data:`MAX_SIZE` bytes, the same every time.
    """

    name: str
    what: str
    kind: ContainerKind
    source: str
    make: Callable[[], bytes]


MAX_SIZE: Final = 1 << 20
"""The most bytes of a hostile input: input need not be large to do harm."""

_REGISTER: dict[str, Hostile] = {}

HOSTILE: Final[Mapping[str, Hostile]] = MappingProxyType(_REGISTER)
"""All hostile inputs by name; complete once :mod:`conformance.reference.ipc.hostile` is imported."""


def register(
    name: str, what: str, make: Callable[[], bytes], *, kind: ContainerKind = "stream", source: str = ""
) -> None:
    """Registers an input under a name that is not taken."""
    if name in _REGISTER:
        raise ValueError(f"{name}: the name is taken")
    _REGISTER[name] = Hostile(name, what, kind, source, make)


def hostile(
    name: str, *, kind: ContainerKind = "stream", source: str = ""
) -> Callable[[Callable[[], bytes]], Callable[[], bytes]]:
    """Registers a function that makes an input; its docstring says what the input does."""

    def decorate(make: Callable[[], bytes]) -> Callable[[], bytes]:
        register(name, inspect.cleandoc(make.__doc__ or ""), make, kind=kind, source=source)
        return make

    return decorate


def hostile_stream(name: str, on: str, *, source: str = "") -> Callable[[Callable[[StreamModel], Any]], object]:
    """Registers a function that changes the model of a sample's stream, or makes bytes from it."""

    def decorate(change: Callable[[StreamModel], Any]) -> object:
        make = functools.partial(_changed, on, change)
        register(name, inspect.cleandoc(change.__doc__ or ""), make, source=source)
        return change

    return decorate


def _changed(on: str, change: Callable[[StreamModel], Any]) -> bytes:
    model = SAMPLES[on].stream()
    made = change(model)
    return made if isinstance(made, bytes) else model.encode()
