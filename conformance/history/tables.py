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
        self.by_visibility = {table: sorted(found, key=self.visible) for table, found in self.appends.items()}

    def append(self, index: int) -> Append:
        """Return the insertion at ``index``."""
        call = self.history.calls[index]
        assert isinstance(call, Append)
        return call

    def visible(self, index: int) -> float:
        """Return the instant at which the rows of an insertion are visible at the latest; infinite if it is open."""
        call = self.append(index)
        return call.end if call.ended is End.OK and not call.late else math.inf

    def may_have(self, session: Create, row: int) -> bool:
        """True if a session can have a row: it is of an insertion into its table that began before its snapshot."""
        index = self.inserted.get(row)
        return index is not None and self.is_own(session, index) and self.append(index).begin <= session.latest

    def is_own(self, session: Create, index: int) -> bool:
        """True for an insertion into the table of a session that was not refused."""
        call = self.append(index)
        return call.table == session.table and call.ended is not End.REFUSED
