"""A table that grows, and the rows of it that a session sees: those of its snapshot that its restriction selects."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.protocols.storage_read.model.predicates import Predicate

__all__ = ["GrowingTable"]


@dataclasses.dataclass(slots=True)
class GrowingTable:
    """The rows of a case's table, of which those from ``oldest`` to ``now`` exist; appends add the next ones.

    ``first`` is the number of rows before the first append. ``oldest`` is 0 until the table is made again.
    """

    rows: Sequence[Mapping[str, Any]]
    now: int
    first: int
    oldest: int = 0

    @classmethod
    def before_appends(cls, rows: Sequence[Mapping[str, Any]], appended: int) -> GrowingTable:
        """Return the table before its last ``appended`` rows are inserted."""
        count = len(rows) - appended
        return cls(rows, count, count)

    def append(self, count: int) -> None:
        """Insert the next ``count`` rows.

        Raises:
            ValueError: the table does not have as many.
        """
        if self.now + count > len(self.rows):
            raise ValueError(f"expected at most {len(self.rows) - self.now} rows to append, got {count}")
        self.now += count

    def make_again(self, count: int) -> None:
        """Drop the table and make it again with the next ``count`` rows.

        Raises:
            ValueError: the table does not have as many.
        """
        self.oldest = self.now
        self.append(count)

    def seen(self, restriction: Predicate | None = None, *, before_appends: bool = False) -> tuple[int, ...]:
        """Return the rows that a session made now sees, by index: a restriction selects those for which it is TRUE.

        ``before_appends`` is a snapshot time between the first rows and the first append.
        """
        seen = range(self.first) if before_appends else range(self.oldest, self.now)
        if restriction is None:
            return tuple(seen)
        return tuple(index for index in seen if restriction.truth(self.rows[index]) is True)
