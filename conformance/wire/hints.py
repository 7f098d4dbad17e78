"""Remarks that findings make on the probable cause of a wrong number."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["byte_swapped"]


def byte_swapped(value: int, width: int, fits: Callable[[int], bool]) -> str:
    """A remark that ends an observation: the number in the other byte order, if it ``fits`` there; else empty.

    >>> byte_swapped(-1207959552, 4, range(256).__contains__)
    '; byte-swapped it would be 184'
    """
    swapped = int.from_bytes(value.to_bytes(width, "little", signed=True), "big", signed=True)
    return f"; byte-swapped it would be {swapped}" if swapped != value and fits(swapped) else ""
