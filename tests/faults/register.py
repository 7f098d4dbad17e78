"""A fault: a service with one mistake, why a developer makes it, and the features that it needs to act."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Final

from conformance.protocols.storage_read.reference.service import ReadService

__all__ = ["FAULTS", "Fault", "fault"]


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """A named mistake.

    ``why`` says how a developer comes to write it. ``source`` is a public defect of that kind, or documentation that
    invites it or of an engine that behaves so; empty if none is known. ``needs`` are the features that have to meet
    before it acts. ``inexpressible`` says why no client can observe it, empty if a client can.
    """

    name: str
    service: type[ReadService]
    why: str
    source: str
    needs: tuple[str, ...]
    inexpressible: str

    @property
    def description(self) -> str:
        """The deviation of the server, in one sentence."""
        return " ".join((inspect.getdoc(self.service) or "").split())


FAULTS: Final[dict[str, Fault]] = {}
"""Every fault by name, in the order in which they were written down."""


def fault(
    name: str, *, why: str, source: str, needs: str, inexpressible: str = ""
) -> Callable[[type[ReadService]], type[ReadService]]:
    """Register a service as a fault; its docstring is the description, ``needs`` is a list with commas."""

    def register(service: type[ReadService]) -> type[ReadService]:
        if name in FAULTS:
            raise ValueError(f"expected a new name, got {name!r} again")
        FAULTS[name] = Fault(name, service, why, source, tuple(needs.split(", ")), inexpressible)
        return service

    return register
