"""Cases whose steps do not fit their table are refused with the place."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.generate.casecheck import check_case
from conformance.protocols.storage_write.records import (
    CommitStreams,
    CreateWriteStream,
    FinalizeStream,
    RowsAppend,
    StorageWriteStep,
    WriteRows,
)
from conformance.records import BqType, Case, Column, Mode, Recipe, RecordError, Table

TABLE = Table((Column("row_id", BqType.INT64, Mode.REQUIRED), Column("word", BqType.STRING)), recipe=Recipe(rows=4))
CREATE = CreateWriteStream()


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
    ],
)
def test_steps_that_do_not_fit_are_refused(steps: tuple[StorageWriteStep, ...], place: str) -> None:
    """Streams that nobody created, rows that are not there, bad rows without a TIMESTAMP."""
    with pytest.raises(RecordError, match=place):
        check_case(_case(*steps))


def test_rows_have_to_be_found_again() -> None:
    """A case without the column that counts them is refused."""
    table = dataclasses.replace(TABLE, columns=TABLE.columns[1:])

    with pytest.raises(RecordError, match="row_id"):
        check_case(_case(CREATE, table=table))
