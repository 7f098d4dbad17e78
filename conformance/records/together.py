"""Which steps of a case are carried out at the same time."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["groups"]


def groups(steps: Sequence[object]) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the steps in groups: a step ``alongside`` belongs to the group of the step before it.

    >>> from conformance.records import DoGet
    >>> groups((DoGet(), DoGet(), DoGet(alongside=True)))
    ((0,), (1, 2))
    """
    found: list[tuple[int, ...]] = []
    for index, step in enumerate(steps):
        if found and getattr(step, "alongside", False):
            found[-1] = (*found[-1], index)
        else:
            found.append((index,))
    return tuple(found)
