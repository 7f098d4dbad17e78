"""The clauses on readers: what a reading carries decides, and readers that were not there decide nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge
from conformance.records import BqType, Call, Case, Column, Exchange, Outcome, Reading, ReadingOutcome, Table
from conformance.reference.serializer import REFERENCE

load_chapters()
CASE = Case("c", "", Table((Column("n", BqType.INT64),), rows=({"n": 1}, {"n": None})), clauses=("readers.*",))
ROWS = pa.table({"n": pa.array([1, None], pa.int64())})
EXCHANGE = Exchange(
    "c",
    "x",
    (
        Call(0, "", "SerializeSchema", b"", (REFERENCE.serialize_schema(ROWS.schema),)),
        Call(0, "", "SerializeBatch", b"", (REFERENCE.serialize_batch(ROWS.to_batches()[0]),)),
    ),
)
GOOD = Reading("pyarrow-stream", "c", "serializer", ReadingOutcome.TABLE, table=b"ARROW", camp="all")


def outcomes(readings: Sequence[Reading]) -> dict[str, Outcome]:
    """The outcome of each clause on readers."""
    clauses = [clause for clause in CLAUSES.values() if clause.chapter == "readers"]
    return {one.clause: one.outcome for one in judge(CASE, EXCHANGE, ROWS, readings=readings, clauses=clauses)}


DEVIATIONS = {
    "readers.read-without-error": [dataclasses.replace(GOOD, outcome=ReadingOutcome.ERROR, error_text="no")],
    "readers.read-without-crash": [dataclasses.replace(GOOD, outcome=ReadingOutcome.CRASH, error_text="SIGSEGV")],
    "readers.read-without-hang": [dataclasses.replace(GOOD, outcome=ReadingOutcome.HANG)],
    "readers.find-the-values": [dataclasses.replace(GOOD, differences=("1 row of 2",))],
    "readers.agree": [dataclasses.replace(GOOD, camp="a"), dataclasses.replace(GOOD, reader="polars", camp="b")],
}


@pytest.mark.parametrize("clause_id", DEVIATIONS)
def test_a_deviation_fails_its_clause_alone(clause_id: str) -> None:
    """One clause reports each way in which a reading can fail."""
    found = outcomes(DEVIATIONS[clause_id])

    assert {one for one, outcome in found.items() if outcome is Outcome.FAIL} == {clause_id}


@pytest.mark.parametrize(
    ("said", "observed"), [("no", "pyarrow-stream ends in KeyError: no"), ("", "pyarrow-stream ends in KeyError")]
)
def test_a_finding_says_how_a_reader_ended(said: str, observed: str) -> None:
    """The class of the error, and its text if it has one."""
    reading = dataclasses.replace(GOOD, outcome=ReadingOutcome.ERROR, error_class="KeyError", error_text=said)

    (verdict,) = judge(CASE, EXCHANGE, ROWS, readings=[reading], clauses=[CLAUSES["readers.read-without-error"]])

    assert [finding.observed for finding in verdict.findings] == [observed]


def test_every_clause_on_readers_has_a_deviation() -> None:
    """The table above is complete."""
    assert set(DEVIATIONS) == {clause.id for clause in CLAUSES.values() if clause.chapter == "readers"}


def test_good_readings_pass() -> None:
    """Two readers that find the rows in the bytes pass every clause."""
    found = outcomes([GOOD, dataclasses.replace(GOOD, reader="nanoarrow-stream")])

    assert set(found.values()) == {Outcome.PASS}


@pytest.mark.parametrize(
    "readings",
    [(), (dataclasses.replace(GOOD, outcome=ReadingOutcome.UNAVAILABLE),), (dataclasses.replace(GOOD, camp=""),)],
    ids=["none", "unavailable", "not compared"],
)
def test_readers_that_did_not_read_show_nothing(readings: Sequence[Reading]) -> None:
    """Without a reading that was compared, nothing is shown to hold."""
    found = outcomes(readings)

    assert set(found.values()) == {Outcome.UNTESTABLE}
