"""How much a check may do beyond one look at each call and row: what costs more is refused in a sentence.

Permitted histories stay far below: most of their work is a look at each row. What grows with a product is proofs, with
as many reads as a session has, of insertions that sessions lack, and rows of splits inside splits, which every stream
above them has too.
"""

from __future__ import annotations

from typing import Final

from conformance.contain.text import many
from conformance.history.calls import HistoryError

__all__ = ["EACH", "FREE", "Effort"]

FREE: Final = 2_000_000
"""Units of work that any history may cost: some seconds."""
EACH: Final = 20
"""Units of work more for each call and each row."""


class Effort:
    """What is left of the work that a history of so many ``calls`` and ``rows`` may cost; it reads no clock."""

    def __init__(self, calls: int, rows: int) -> None:
        self._size = f"{many(calls, 'call')} with {many(rows, 'row')}"
        self._most = self._left = FREE + EACH * (calls + rows)

    def spend(self, units: int) -> None:
        """Take so many units: rows, calls or insertions that are looked at.

        Raises:
            HistoryError: there are no more.
        """
        self._left -= units
        if self._left < 0:
            raise HistoryError(
                f"expected a history that is judged in {self._most} steps, got {self._size} that need more: too many"
                " insertions that sessions lack, or splits inside splits; give the sessions of each table alone"
            )
