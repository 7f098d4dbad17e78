"""What records know of a protocol: the steps that its cases may have."""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, ClassVar, TypeAlias

from conformance._hints import Members
from conformance.protocol import merged, plugin, plugins
from conformance.records.step import Step

__all__ = ["AnyStep", "RecordsPlugin", "all_steps", "described", "steps_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class RecordsPlugin:
    """A protocol in records: ``steps`` are the kinds of step that its cases may have.

    ``described`` are the beginnings of the ids of cases that are in no corpus, because a target file or another
    integration test describes them.
    """

    LAYER: ClassVar[str] = "records"

    steps: tuple[type[Step], ...]
    described: tuple[str, ...] = ()


@functools.cache
def described() -> tuple[str, ...]:
    """The beginnings of the ids of cases that are in no corpus, of all protocols."""
    return tuple(beginning for one in plugins(RecordsPlugin).values() for beginning in one.described)


def steps_of(protocol: str) -> tuple[type[Step], ...]:
    """The kinds of step that a case of this protocol may have."""
    return plugin(RecordsPlugin, protocol).steps


@functools.cache
def all_steps() -> tuple[type[Step], ...]:
    """Every kind of step, in the order of the protocols; several may have the same kind.

    Raises:
        ValueError: two kinds have one tag, so that a stored step could be read as either.
    """
    brought = {name: [(kind.TAG, kind) for kind in one.steps] for name, one in plugins(RecordsPlugin).items()}
    return tuple(merged("step", brought).values())


AnyStep: TypeAlias = Annotated[Step, Members(all_steps)]
"""A step in a record: of whichever protocol."""
