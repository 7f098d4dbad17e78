"""From a target file to something that can be driven, whatever its kind."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from conformance.records import Case, Exchange
from conformance.targets import environment
from conformance.targets.homes import fresh_home
from conformance.targets.spec import TargetKind, TargetSpec

__all__ = ["Target", "open_target"]


class Target(Protocol):
    """One implementation under test, ready to be driven by one thread at a time.

    ``name`` and ``version`` are what reports say, ``capabilities`` what it declares to be able to do;
    ``remarks`` are sentences about the target as a whole that no single case can carry.
    """

    @property
    def name(self) -> str:
        """The target's name."""

    @property
    def version(self) -> str:
        """The target's version, empty where nothing tells it."""

    @property
    def capabilities(self) -> frozenset[str]:
        """What the target declares."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed about the target beside its cases."""

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the target; ``table`` holds its rows. Never raises for what the target does."""

    def close(self) -> None:
        """End what was started; :func:`open_target` does it."""


@contextlib.contextmanager
def open_target(
    spec: TargetSpec, *, project: str = "test-project", multiplier: float = 1.0, alone: bool = False
) -> Iterator[Target]:
    """Start (or connect to) the target that ``spec`` describes, and end it afterwards.

    ``multiplier`` stretches every deadline; ``alone`` says that this process may be lost, so that a Python
    serializer is called in it rather than in one of its own.

    Raises:
        TargetUnavailable: the target cannot run here, its environment has not been made, or it does not start.
    """
    target = _open(spec, project=project, multiplier=multiplier, alone=alone)
    try:
        yield target
    finally:
        target.close()


def _open(spec: TargetSpec, *, project: str, multiplier: float, alone: bool) -> Target:
    """Import only what the kind needs: judging a serializer does not take grpcio."""
    found = environment.find(spec)
    with fresh_home(spec, found) as asked:
        found = dataclasses.replace(found, version=spec.version or environment.ask_version(spec, asked))
    match spec.kind:
        case TargetKind.SERVER:
            from conformance.targets.server import ServerTarget  # noqa: PLC0415

            return ServerTarget(spec, found, project=project, multiplier=multiplier)
        case TargetKind.SERIALIZER:
            if alone:
                from conformance.targets.serializer import SerializerTarget  # noqa: PLC0415

                return SerializerTarget(spec, found)
            from conformance.targets.contained import ContainedTarget  # noqa: PLC0415

            return ContainedTarget(spec, found, multiplier=multiplier)
        case TargetKind.PROGRAM:
            from conformance.targets.program import ProgramTarget  # noqa: PLC0415

            return ProgramTarget(spec, found, multiplier=multiplier)
