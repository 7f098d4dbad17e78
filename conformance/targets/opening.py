"""Opens a target of any kind from its target file."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from conformance.protocol import plugin
from conformance.records import Case, Exchange
from conformance.targets import environment
from conformance.targets.homes import fresh_home
from conformance.targets.plugin import TargetsPlugin
from conformance.targets.projects import with_project
from conformance.targets.spec import TargetKind, TargetSpec
from conformance.targets.targeterrors import LeftBehind

__all__ = ["Target", "open_target"]


class Target(Protocol):
    """One implementation under test, ready to be driven by one thread at a time.

    Reports show ``name`` and ``version``. ``capabilities`` are those that the target declares; ``remarks`` are
    sentences about the target as a whole, which belong to no single case.
    """

    @property
    def name(self) -> str:
        """The target's name."""

    @property
    def version(self) -> str:
        """The target's version; empty if it is unknown."""

    @property
    def capabilities(self) -> frozenset[str]:
        """The capabilities that the target declares."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Observations about the target that belong to no case."""

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the target; ``table`` contains its rows. No fault of the target makes this raise."""

    def close(self) -> None:
        """End the started processes; :func:`open_target` calls this."""


@contextlib.contextmanager
def open_target(spec: TargetSpec, *, multiplier: float = 1.0, alone: bool = False) -> Iterator[Target]:
    """Start (or connect to) the target that ``spec`` describes, and end it afterwards.

    ``multiplier`` stretches every deadline. With ``alone``, a Python serializer is called in this process and not in
    one of its own, because the caller accepts that it may end this process.

    Raises:
        TargetUnavailable: the target cannot run here, its environment has not been created, or it does not start.
        LeftBehind: on leaving, something that was made in the target is still there.
    """
    target = _open(with_project(spec), multiplier=multiplier, alone=alone)
    try:
        yield target
    except BaseException:
        with contextlib.suppress(LeftBehind):  # the first error says more
            target.close()
        raise
    target.close()


def _open(spec: TargetSpec, *, multiplier: float, alone: bool) -> Target:
    """Open the target, importing only the modules of its kind: a serializer, for example, does not need grpcio."""
    found = environment.find(spec)
    with fresh_home(spec, found) as asked:
        found = dataclasses.replace(found, version=spec.version or environment.ask_version(spec, asked))
    if spec.serves:
        driver: Target = plugin(TargetsPlugin, spec.protocol).driver(spec, found, multiplier=multiplier)
        return driver
    if spec.kind == TargetKind.PROGRAM:
        from conformance.targets.program import ProgramTarget  # noqa: PLC0415

        return ProgramTarget(spec, found, multiplier=multiplier)
    if alone:
        from conformance.targets.inprocessserializer import SerializerTarget  # noqa: PLC0415

        return SerializerTarget(spec, found)
    from conformance.targets.contained import ContainedTarget  # noqa: PLC0415

    return ContainedTarget(spec, found, multiplier=multiplier)
