"""Evidence shows the message that a finding is about, with the bytes at fault marked."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.judge import judge_view
from conformance.contract.view import View
from conformance.engine.events import Evidence
from conformance.engine.evidence import MAX_LINES, annotate, gather, hex_lines
from conformance.engine.selection import all_clauses
from conformance.records import BqType, Call, Case, Column, Exchange, Outcome, Table
from tests.engine.samples import failing, sample_call, sample_case, sample_exchange

SCHEMA = pa.schema([pa.field("a", pa.int64())])
BATCH = pa.record_batch([pa.array([1, None, 3])], schema=SCHEMA)
CASE = Case("a", "Case a", Table((Column("a", BqType.INT64),), rows=({"a": 1}, {"a": None}, {"a": 3})))  # type: ignore[arg-type]


def serialized(schema: bytes, *batches: bytes) -> View:
    """The view of a serializer's exchange."""
    calls = [Call(0, "", "SerializeSchema", b"", (schema,))]
    calls += [Call(0, "", "SerializeBatch", b"", (batch,)) for batch in batches]
    return View(CASE, Exchange("a", "fake", tuple(calls)), pa.table({"a": [1, None, 3]}))


def evidence_of(view: View) -> list[Evidence]:
    """The evidence for everything that is wrong with ``view``."""
    failed = [verdict for verdict in judge_view(view, all_clauses().values()) if verdict.outcome is Outcome.FAIL]
    return list(gather(view, failed, all_clauses()).evidence)


def test_bytes_after_the_message_are_marked_in_it() -> None:
    """The finding's range counts in the message that the clause looked at."""
    message = BATCH.serialize().to_pybytes()

    evidence = evidence_of(
        serialized(SCHEMA.serialize().to_pybytes(), message, message + b"\xff\xff\xff\xff" + bytes(4))
    )

    assert {item.of for item in evidence} == {f"record batch message of call 2, response 0, {len(message) + 8} bytes"}
    marked = [line for line in evidence[0].lines if line.marked]
    assert [line.offset for line in marked] == [len(message), len(message) + 4]
    assert marked[0].hex == "ff ff ff ff"


def test_a_clean_exchange_has_no_evidence() -> None:
    """Nothing is shown where nothing is wrong."""
    assert evidence_of(serialized(SCHEMA.serialize().to_pybytes(), BATCH.serialize().to_pybytes())) == []


def test_equal_findings_are_shown_once() -> None:
    """The bytes of the first are enough."""
    view = View(sample_case("a"), sample_exchange("a", sample_call(responses=(bytes(64),))), pa.table({}))
    verdict = failing("a", "x.y", "3 messages", "4 messages", "none")
    findings = tuple(
        type(finding)(finding.clause, finding.required, finding.observed, 0, 0, "", 16, 20)
        for finding in verdict.findings
    )

    shown = list(gather(view, [type(verdict)("a", "x.y", Outcome.FAIL, findings)], {}).evidence)

    assert [item.finding.observed for item in shown] == ["3 messages", "none"]
    assert shown[0].of == "bytes of call 0, response 0, 64 in all"


@pytest.mark.parametrize(
    ("size", "start", "end"),
    [(0, 0, 1), (1, 0, 1), (16, 16, 20), (64, 0, 64), (10_000, 5000, 9000), (10_000, 20_000, 20_008)],
)
def test_plain_bytes_are_shown_whatever_the_range(size: int, start: int, end: int) -> None:
    """A range beyond the end, of any length, in any number of bytes gives few lines and never an error."""
    lines = hex_lines(bytes(size), start, end)

    assert len(lines) <= MAX_LINES
    assert any(line.marked for line in lines) == (start < size)


def test_a_field_of_the_metadata_is_named() -> None:
    """The lines are those of the annotated dump."""
    lines = annotate(BATCH.serialize().to_pybytes(), 4, 8)

    assert [(line.field, line.meaning) for line in lines if line.marked] == [("prefix", "metadata length = 136 bytes")]
    assert len(lines) == 5


def test_a_message_is_cut_to_sixteen_lines() -> None:
    """A schema of many fields is shown around what is at fault."""
    schema = pa.schema([pa.field(f"column {number}", pa.int64()) for number in range(20)]).serialize().to_pybytes()

    assert len(annotate(schema, 0, len(schema), None)) == MAX_LINES == 16


def test_a_long_buffer_is_cut_to_the_bytes_at_fault() -> None:
    """A megabyte of values is not evidence; the value is."""
    batch = pa.record_batch([pa.array(range(1000))], schema=SCHEMA)
    message = batch.serialize().to_pybytes()
    start = message.index((777).to_bytes(8, "little"))

    lines = annotate(message, start, start + 8, serialized(SCHEMA.serialize().to_pybytes(), message).batches[0].schema)

    at_fault = [line for line in lines if line.marked][-1]
    assert (at_fault.offset, at_fault.hex) == (start, (777).to_bytes(8, "little").hex(" "))
    assert len(lines) <= MAX_LINES
