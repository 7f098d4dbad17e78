"""What a server serves of a table has any schema and any bytes: rows that cannot be read are a finding, no error."""

from __future__ import annotations

import dataclasses
from contextlib import closing

import pyarrow as pa
import pytest
from google.cloud.bigquery_storage_v1.types import ReadRowsResponse, ReadSession

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge
from conformance.engine.corpus import load_corpus
from conformance.generate import materialise
from conformance.protocol import plugin
from conformance.records import Case, Exchange, Outcome
from conformance.reference.plugin import ReferencePlugin

CASES = load_corpus(protocol="storage-write")
CASE = CASES["storage-write.committed"]
READ = "storage-write-visible.committed-rows-are-read"
load_chapters()
OWN = [one for one in CLAUSES.values() if one.profiles == ("storage-write",)]


def _served(case: Case, mutant: str | None, schema: bytes, batch: bytes) -> Exchange:
    """What the reference says, but for the schema and the batch of each read."""
    with closing(plugin(ReferencePlugin, "storage-write").target(mutant)) as target:
        exchange = target.drive(case, materialise(case.table))
    calls = []
    for call in exchange.calls:
        match call.method:
            case "CreateReadSession":
                session = ReadSession.deserialize(call.responses[0])
                session.arrow_schema.serialized_schema = schema
                calls.append(dataclasses.replace(call, responses=(ReadSession.serialize(session),)))
            case "ReadRows":
                answer = ReadRowsResponse(arrow_record_batch={"serialized_record_batch": batch}, row_count=1)
                calls.append(dataclasses.replace(call, responses=(ReadRowsResponse.serialize(answer),)))
            case _:
                calls.append(call)
    return dataclasses.replace(exchange, calls=tuple(calls))


def _outcomes(schema: bytes, batch: bytes, case: Case = CASE, mutant: str | None = None) -> dict[str, Outcome]:
    exchange = _served(case, mutant, schema, batch)
    verdicts = judge(case, exchange, materialise(case.table), clauses=OWN, profile="storage-write")
    return {one.clause: one.outcome for one in verdicts}


@pytest.mark.parametrize(
    "batch",
    [
        pa.record_batch({"row_id": pa.array([[1]])}),
        pa.record_batch({"row_id": pa.array([{"a": 1}])}),
        pa.record_batch({"row_id": pa.array([2**62], pa.timestamp("s"))}),
        pa.record_batch({"row_id": pa.array([2**62], pa.duration("s"))}),
        pa.record_batch({"row_id": pa.array(["x"])}),
        pa.record_batch({"row_id": pa.array([float("nan")])}),
        pa.record_batch([pa.array([1]), pa.array([1])], names=["row_id", "row_id"]),
        pa.record_batch({"other": pa.array([1])}),
        pa.record_batch([pa.array([0]), pa.array(["a"]), pa.array(["b"])], names=["row_id", "word", "word"]),
    ],
    ids=["list", "struct", "timestamp", "duration", "text", "float", "twice", "missing", "other-twice"],
)
def test_a_column_of_numbers_may_be_none(batch: pa.RecordBatch) -> None:
    """The column that counts rows is the server's, as is each name."""
    outcomes = _outcomes(bytes(batch.schema.serialize()), bytes(batch.serialize()))

    assert outcomes[READ] is Outcome.FAIL
    assert Outcome.ERROR not in outcomes.values()


@pytest.mark.parametrize("batch", [b"", b"no message", b"\xff\xff\xff\xff\x10\0\0\0" + bytes(16)])
def test_bytes_that_are_no_batch_are_rows_that_are_missing(batch: bytes) -> None:
    """Nothing else judges these bytes for a server of writes, so that a run would pass without this finding."""
    schema = pa.schema({"row_id": pa.int64()})

    assert _outcomes(bytes(schema.serialize()), batch)[READ] is Outcome.FAIL


def test_rows_of_a_wrong_form_that_are_acknowledged_have_to_be_readable() -> None:
    """The server takes full streams, and what it serves of them is no batch."""
    schema, case = bytes(pa.schema({"row_id": pa.int64()}).serialize()), CASES["storage-write.framing.streams"]
    outcomes = _outcomes(schema, b"", case, "storage-write.joined-and-opened")

    assert outcomes["storage-write-framing.refused-or-stored"] is Outcome.FAIL
