"""Whether a first cause names a fault is decided by a table, and by nothing that a run shows."""

from __future__ import annotations

import fnmatch

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from tests.faults.blame import BLAME, Blame, First, Sense
from tests.faults.catalogue import FAULTS

load_chapters()
OFFSET = Blame(("offsets.last-row",), ("offsets.*", "history.*"), ("row_restriction", "an offset"))
TOGETHER = "the failing requests alone ask for row_restriction together with an offset; neither alone fails"


@pytest.mark.parametrize(
    ("clause", "contrast", "sense"),
    [
        ("offsets.last-row", (), Sense.RIGHT),
        ("history.no-lost-row", (TOGETHER,), Sense.RIGHT),
        ("history.no-lost-row", ("the failing requests alone ask for an offset",), Sense.NEAR),
        ("history.no-lost-row", ("an offset", "row_restriction"), Sense.NEAR),
        (
            "history.no-lost-row",
            ("of its options it takes an offset; it fails without row_restriction, too",),
            Sense.NEAR,
        ),
        ("history.no-lost-row", ("cases drawn for it fail without row_restriction, an offset, too",), Sense.NEAR),
        ("values.nulls", (TOGETHER,), Sense.WRONG),
    ],
)
def test_a_first_cause_is_right_by_its_clause_or_by_the_features_it_names(
    clause: str, contrast: tuple[str, ...], sense: Sense
) -> None:
    """One sentence has to name all of the features, and the clause has to be close."""
    assert OFFSET.of(First(clause, "a title", contrast, 1)) is sense


@pytest.mark.parametrize("name", BLAME)
def test_each_entry_is_of_a_fault_and_names_clauses(name: str) -> None:
    """A glob that matches nothing would make a right cause wrong."""
    one = BLAME[name]

    assert name in FAULTS
    assert [glob for glob in (*one.right, *one.near) if not fnmatch.filter(CLAUSES, glob)] == []
