"""The rows that a session sees of a table that grows and is made again."""

from __future__ import annotations

import pytest

from conformance.protocols.storage_read.model.tables import GrowingTable


def test_a_table_made_again_has_its_own_rows_alone() -> None:
    """Appends add to the rows before them; a table that was made again begins with the next rows."""
    table = GrowingTable.before_appends([{} for _ in range(10)], 6)
    seen = [table.seen()]
    table.append(2)
    seen.append(table.seen())
    table.make_again(3)
    seen.append(table.seen())
    table.append(1)
    seen.append(table.seen())

    assert seen == [tuple(range(4)), tuple(range(6)), (6, 7, 8), (6, 7, 8, 9)]
    assert table.seen(before_appends=True) == tuple(range(4))


def test_more_rows_than_the_table_has_are_refused() -> None:
    """The message has both numbers."""
    with pytest.raises(ValueError, match="expected at most 1 rows to append, got 2"):
        GrowingTable.before_appends([{}, {}], 1).make_again(2)
