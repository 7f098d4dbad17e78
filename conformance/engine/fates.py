"""What becomes of a systematic change of a right answer: a clause rejects it, or something permits it."""

from __future__ import annotations

import dataclasses
import fnmatch

__all__ = ["Fate", "Permission"]


@dataclasses.dataclass(frozen=True, slots=True)
class Permission:
    """Changes that violate nothing: globs over path and change, and the text that permits them."""

    path: str
    change: str
    reason: str
    source: str

    def covers(self, path: str, change: str) -> bool:
        """True if the permission covers this change of what is at a path."""
        # fnmatch would read the brackets of an index as a character set.
        path = path.replace("[", "<").replace("]", ">")
        return fnmatch.fnmatchcase(path, self.path) and fnmatch.fnmatchcase(change, self.change)


@dataclasses.dataclass(frozen=True, slots=True)
class Fate:
    """The result of one change: the clauses that rejected it, or else the permission, or else neither (it survived).

    ``errors`` are the clauses that raised an exception, each with the reason: no change may cause one.
    """

    path: str
    change: str
    clauses: tuple[str, ...] = ()
    permission: Permission | None = None
    errors: tuple[str, ...] = ()

    @property
    def survived(self) -> bool:
        """True if no clause rejected the change and nothing permits it."""
        return not self.clauses and self.permission is None
