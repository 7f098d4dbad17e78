"""The insertions of a history by table, and the rows that each session showed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

from conformance.history.calls import Append, Create, End, History

__all__ = ["SessionRows", "Tables"]


@dataclasses.dataclass(slots=True)
class SessionRows:
    """The rows that a session showed, each with the read that showed it first, and the reads that show it whole.

    ``covered`` says that every row of the session came; ``proof`` are then the reads that show this. ``reads`` are
    its reads that delivered anything, with their ends.
    """

    index: int
    create: Create
    shown: dict[int, int] = dataclasses.field(default_factory=dict)
    covered: bool = False
    proof: tuple[int, ...] = ()
    reads: list[tuple[float, int]] = dataclasses.field(default_factory=list)
    known: frozenset[int] = frozenset()
    """The rows of ``shown`` that were inserted into the table and before the snapshot."""

    def show(self, read: int, rows: Iterable[int]) -> None:
        """Add the rows of a read."""
        for row in rows:
            self.shown.setdefault(row, read)


class Tables:
    """The insertions of a history by table, and the relation of rows to them."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.inserted = history.inserted
        self.appends: dict[str, list[int]] = {}
        for index, call in enumerate(history.calls):
            if isinstance(call, Append) and call.ended is not End.REFUSED and call.rows:
                self.appends.setdefault(call.table, []).append(index)
        self._all = frozenset(index for index, call in enumerate(history.calls) if isinstance(call, Append))
        self.first = {table: min(found, key=self.visible) for table, found in self.appends.items()}

    def append(self, index: int) -> Append:
        """Return the insertion at ``index``."""
        call = self.history.calls[index]
        assert isinstance(call, Append)
        return call

    def visible(self, index: int) -> float:
        """Return the instant at which the rows of an insertion are visible at the latest; infinite if it is open."""
        call = self.append(index)
        return call.end if call.ended is End.OK and not call.late else math.inf

    def foreign_or_early(self, session: Create) -> frozenset[int]:
        """Return the insertions whose rows a session cannot have: of other tables, refused, or after its snapshot."""
        own = self.appends.get(session.table, ())
        early = {index for index in own if self.append(index).begin > session.latest}
        return (self._all - frozenset(own)) | early
