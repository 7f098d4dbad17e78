"""The decorator that declares a record: a frozen dataclass with slots."""

from __future__ import annotations

import dataclasses
from typing import TypeVar, dataclass_transform

__all__ = ["record"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def record(kind: type[T]) -> type[T]:
    """Make ``kind`` a frozen dataclass with slots."""
    return dataclasses.dataclass(frozen=True, slots=True)(kind)
