"""Annotations of records for what is known at run time only, because protocols bring it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

__all__ = ["Members", "OneOf"]


@dataclasses.dataclass(frozen=True, slots=True)
class OneOf:
    """In ``Annotated[str, OneOf(words)]``: a text that is one of ``words()``, which are known at run time only."""

    words: Callable[[], Sequence[str]]


@dataclasses.dataclass(frozen=True, slots=True)
class Members:
    """In ``Annotated[Base, Members(kinds)]``: a record of one of ``kinds()``, which are known at run time only."""

    kinds: Callable[[], Sequence[type]]
