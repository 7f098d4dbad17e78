"""The columns that a table has before and after each change."""

from __future__ import annotations

from conformance.records import AlteredColumn, BqType, ChangeColumns, Column, CreateSession, Mode
from conformance.records.changes import columns_before_each

A, B, C = (Column(name, BqType.STRING) for name in "abc")


def test_columns_come_go_and_are_relaxed() -> None:
    """Each from its step on."""
    steps = (ChangeColumns(add=("c",), relax=("a",)), CreateSession(), ChangeColumns(drop=("b",)))
    strict = Column("a", BqType.STRING, Mode.REQUIRED)

    assert columns_before_each((A, B, C), steps) == [(strict, B), (A, B, C), (A, B, C), (A, C)]


def test_a_table_that_does_not_change_has_its_columns_before_every_step() -> None:
    """They are made once."""
    found = columns_before_each((A, B), (CreateSession(), CreateSession()))

    assert found == [(A, B)] * 3
    assert found[0] is found[2]


def test_columns_are_altered_from_their_step_on() -> None:
    """Until then each has the name and the type that it had, at its place."""
    was = Column("z", BqType.INT64)
    steps = (CreateSession(), ChangeColumns(alter=(AlteredColumn("b", was),)))

    assert columns_before_each((A, B, C), steps) == [(A, was, C), (A, was, C), (A, B, C)]
    assert columns_before_each((A, B, C), steps, skipped={1}) == [(A, was, C)] * 3


def test_a_change_that_was_skipped_is_none() -> None:
    """A column that was to be added was not there, and is not there."""
    steps = (ChangeColumns(add=("c",)), ChangeColumns(drop=("b",)))

    assert columns_before_each((A, B, C), steps, skipped={1}) == [(A, B), (A, B, C), (A, B, C)]
    assert columns_before_each((A, B, C), steps, skipped={0, 1}) == [(A, B)] * 3
