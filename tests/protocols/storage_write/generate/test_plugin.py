"""Cases whose steps do not fit their table are refused with the place."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from conformance.generate.casecheck import check_case
from conformance.generate.choices import Seeded
from conformance.protocols.storage_write.generate.simpler import simpler
from conformance.protocols.storage_write.records import (
    CommitStreams,
    CreateWriteStream,
    FinalizeStream,
    ReadWritten,
    RowsAppend,
    StorageWriteStep,
    WriteRows,
)
from conformance.records import BqType, Case, Column, Mode, Recipe, RecordError, Table

TABLE = Table((Column("row_id", BqType.INT64, Mode.REQUIRED), Column("word", BqType.STRING)), recipe=Recipe(rows=4))
CREATE = CreateWriteStream()
OPEN = WriteRows((RowsAppend(0),), during=1)


def _case(*steps: StorageWriteStep, table: Table = TABLE) -> Case:
    return Case("mine.case", "A case", table, steps, protocol="storage-write")


def test_steps_that_fit_are_accepted() -> None:
    """The default stream needs no step before it."""
    check_case(_case(CREATE, WriteRows((RowsAppend(0, 4),)), WriteRows((RowsAppend(0),), stream="default")))


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ((FinalizeStream(),), r"Case\.steps\[0\]"),
        ((CREATE, CommitStreams(("w", "x"))), r"Case\.steps\[1\]"),
        ((CREATE, WriteRows((RowsAppend(2, 3),))), r"Case\.steps\[1\]\.appends\[0\]"),
        ((CREATE, WriteRows((RowsAppend(0, 2, bad=(0,)),))), r"Case\.steps\[1\]\.appends\[0\]\.bad"),
        ((CREATE, WriteRows((RowsAppend(0),), during=1)), r"Case\.steps\[1\]\.during"),
        ((CREATE, OPEN, WriteRows((RowsAppend(0),), during=1), ReadWritten()), r"Case\.steps\[2\]\.during"),
    ],
)
def test_steps_that_do_not_fit_are_refused(steps: tuple[StorageWriteStep, ...], place: str) -> None:
    """Streams that nobody created, rows that are not there, bad rows without a TIMESTAMP, steps behind a pause."""
    with pytest.raises(RecordError, match=place):
        check_case(_case(*steps))


def test_a_pause_may_be_in_another() -> None:
    """If both end with the same step."""
    check_case(_case(CREATE, dataclasses.replace(OPEN, during=2), OPEN, ReadWritten()))


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("during", {"during": 1, "ahead": True}),
        ("during", {"during": 1, "leaves": True}),
        ("pause", {"pause": 1}),
        ("pause", {"during": 1, "pause": 2}),
    ],
)
def test_a_pause_is_behind_an_answer(name: str, how: dict[str, Any]) -> None:
    """The client waits for the answer to one of its requests, and steps follow."""
    with pytest.raises(RecordError, match=name):
        dataclasses.replace(OPEN, **{"during": 0, **how})


def test_a_case_with_a_pause_keeps_its_steps() -> None:
    """A simpler case has fewer columns."""
    case = _case(CREATE, OPEN, ReadWritten())

    assert simpler(Seeded(0, 0, "simpler"), case).steps == case.steps


def test_rows_have_to_be_found_again() -> None:
    """A case without the column that counts them is refused."""
    table = dataclasses.replace(TABLE, columns=TABLE.columns[1:])

    with pytest.raises(RecordError, match="row_id"):
        check_case(_case(CREATE, table=table))
