"""The content of ``[environment]`` in a target file: what ``conformance prepare`` installs for the target.

This module decides which keys exist and which values they take; :mod:`.installing` installs.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Final

from conformance.records import RecordError
from conformance.targets.ranges import DAY, LEAST, check_range

__all__ = ["CopiedFile", "EnvironmentSpec", "listed"]

_INTERPRETER: Final = re.compile(r"3\.\d{1,2}(\.\d{1,2})?")


@dataclasses.dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file to copy: ``source`` is relative to the environment's site-packages, ``target`` to ``{home}``."""

    source: str
    target: str


@dataclasses.dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """The environment of a target, which ``prepare`` creates in a directory of its own.

    ``python`` are pinned requirements for a virtual environment; ``constraints`` pin their dependencies, and
    ``interpreter`` is the version of its Python, by default that of the suite.
    ``go`` are ``module@version`` arguments of ``go install``. ``copy`` files are put under ``{home}``.
    ``platforms`` (``linux-x86_64`` …) are those on which it can run; none means all.
    ``deadline`` limits the installation, in seconds.
    """

    interpreter: str = ""
    python: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    go: tuple[str, ...] = ()
    copy: tuple[CopiedFile, ...] = ()
    platforms: tuple[str, ...] = ()
    deadline: float = 900.0

    def __post_init__(self) -> None:
        check_range("target.environment.deadline", self.deadline, LEAST, DAY, "seconds")
        if self.interpreter and not _INTERPRETER.fullmatch(self.interpreter):
            raise RecordError("target.environment.interpreter", 'a version of Python such as "3.13"', self.interpreter)


def listed(wanted: EnvironmentSpec) -> Iterable[tuple[str, Sequence[object]]]:
    """The lists of ``[environment]``, in which each entry may occur only once."""
    yield "target.environment.copy", [copied.target for copied in wanted.copy]
    for field in dataclasses.fields(wanted):
        value = getattr(wanted, field.name)
        if isinstance(value, tuple) and field.name != "copy":
            yield f"target.environment.{field.name}", value
