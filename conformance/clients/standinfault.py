"""A wrong client of the suite's own, by which a clause on clients is shown to find what it is for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["StandinFault"]


@dataclass(frozen=True, slots=True)
class StandinFault:
    """A wrong client: ``says`` what it does, ``kills`` the clause that has to fail, and ``also`` those that fail with
    it.
    """

    says: str
    kills: str
    also: tuple[str, ...] = ()
