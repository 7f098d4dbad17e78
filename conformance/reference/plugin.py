"""What the reference knows of a protocol: its servers, in this process or another, and how they may deviate."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from conformance.records import Case
from conformance.reference.register import Mutant
from conformance.targets import Target
from conformance.targets.spec import TargetSpec

__all__ = ["ReferencePlugin"]


def _no_scenarios() -> Mapping[str, Case]:
    return {}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePlugin:
    """The reference of a protocol.

    ``target`` gives the reference in this process, or its deviation of a name, as
    a target; ``played`` the server of one of the ``scenarios`` of other integration tests, whose cases are by their
    names. ``served`` gives any service as such a target. ``meeting`` is as ``target``, by the clock of the machine:
    for calls that are made at the same time. ``listening`` gives one that listens and outlives the cases,
    by the clock of the machine, as the target file of a running server, and ``process`` the target file that starts a
    deviation in a process of its own, with a folder for what it keeps.

    ``service`` gives the class of a deviation, or of the reference for None. ``bases`` are the services from which all
    others deviate, the special ones first, and ``entries`` their methods to which calls are given. ``mutants`` gives
    every mutant, ``variations`` the names of the legal variations of the service, and ``faulty`` those of faulty
    servers, each with many faults.
    If ``refusals_fail``, a server of the protocol has to serve every legal request, so that a refusal that no clause
    reports fails a legal variation. Servers of other protocols differ in what they offer, and refuse the rest.

    ``capabilities`` are those that the reference has: cases that need no others are put to its deviations.
    ``serve`` runs a server for users until SIGTERM or SIGINT. Its arguments, each optional, are those of
    ``serve_options``, among ``mutant``, ``scenario``, ``host``, ``tls``, ``path``, ``guard`` and ``delays``, and
    ``say``, which gets a JSON line for each port.
    """

    LAYER: ClassVar[str] = "reference"

    target: Callable[[str | None], Target]
    served: Callable[[Any], Target]
    meeting: Callable[[str | None], Target]
    listening: Callable[[str | None], AbstractContextManager[TargetSpec]]
    process: Callable[[str, Path], TargetSpec]
    service: Callable[[str | None], type]
    bases: tuple[type, ...]
    entries: frozenset[str]
    mutants: Callable[[], Mapping[str, Mutant]]
    variations: Callable[[], tuple[str, ...]]
    faulty: tuple[str, ...] = ()
    played: Callable[[str], Target] | None = None
    scenarios: Callable[[], Mapping[str, Case]] = _no_scenarios
    refusals_fail: bool = True
    capabilities: frozenset[str] = frozenset()
    serve: Callable[..., None]
    serve_options: frozenset[str]
