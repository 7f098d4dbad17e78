"""Evidence shows the message that a finding is about, with the bytes at fault marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from conformance.contract.clause import Clause, Violation
from conformance.contract.judge import judge_view
from conformance.contract.view import BatchBytes, SchemaBytes, View
from conformance.contract.viewing import view_of
from conformance.engine.annotated import MAX_LINES, annotate, hex_lines
from conformance.engine.events import Evidence
from conformance.engine.evidence import gather
from conformance.engine.selection import all_clauses
from conformance.records import (
    BqType,
    Call,
    Case,
    Column,
    CreateSession,
    Exchange,
    Finding,
    Outcome,
    ReadRows,
    Table,
    Verdict,
)
from tests.contract.exchanges import Obedient, calls_of, case_of
from tests.engine.samples import failing, sample_call, sample_case, sample_clause, sample_exchange

SCHEMA = pa.schema([pa.field("a", pa.int64())])
BATCH = pa.record_batch([pa.array([1, None, 3])], schema=SCHEMA)
CASE = Case("a", "Case a", Table((Column("a", BqType.INT64),), rows=({"a": 1}, {"a": None}, {"a": 3})))  # type: ignore[arg-type]


def serialized(schema: bytes, *batches: bytes) -> View:
    """The view of a serializer's exchange."""
    calls = [Call(0, "", "SerializeSchema", b"", (schema,))]
    calls += [Call(0, "", "SerializeBatch", b"", (batch,)) for batch in batches]
    return view_of(CASE, Exchange("a", "fake", tuple(calls)), pa.table({"a": [1, None, 3]}))


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
    view = view_of(sample_case("a"), sample_exchange("a", sample_call(responses=(bytes(64),))), pa.table({}))
    verdict = failing("a", "x.y", "3 messages", "4 messages", "none")
    findings = tuple(
        type(finding)(finding.clause, finding.required, finding.observed, 0, 0, "", 16, 20)
        for finding in verdict.findings
    )

    shown = list(gather(view, [type(verdict)("a", "x.y", Outcome.FAIL, findings)], {}).evidence)

    assert [item.finding.observed for item in shown] == ["3 messages", "none"]
    assert shown[0].of == "bytes of call 0, response 0, 64 in all"


def test_the_subjects_of_a_clause_are_made_once_for_all_of_its_findings() -> None:
    """Findings come clause by clause; the messages of a clause are its own."""
    view = serialized(SCHEMA.serialize().to_pybytes(), BATCH.serialize().to_pybytes())
    made: list[str] = []

    def counted(name: str) -> Clause:
        def over(view: View) -> Sequence[BatchBytes]:
            made.append(name)
            return view.batches

        return sample_clause(name, over=over, check=lambda _: [])

    findings = {
        name: tuple(Finding(name, "something", text, 1, 0, "", 0, 4) for text in ("one thing", "another"))
        for name in "ab"
    }
    verdicts = [Verdict("a", name, Outcome.FAIL, found) for name, found in findings.items()]

    evidence = gather(view, verdicts, {name: counted(name) for name in "ab"}).evidence

    assert [item.finding for item in evidence] == [*findings["a"], *findings["b"]]
    assert {item.of for item in evidence} == {
        f"record batch message of call 1, response 0, {len(view.batches[0].data)} bytes"
    }
    assert made == ["a", "b"]


def test_of_two_messages_in_one_response_the_one_at_fault_is_shown() -> None:
    """A response may carry a schema and a batch; the clause has its finding for one of them."""
    server = Obedient(case_of(CreateSession(), ReadRows()), response_rows=10)
    view = view_of(server.case, server.freeze(server.run()), server.table)

    def check(message: SchemaBytes | BatchBytes) -> Iterator[Violation]:
        if isinstance(message, BatchBytes):
            yield Violation("something", "another thing", start=0, end=4)

    made = sample_clause("x.both", over=lambda view: [*view.schemas, *view.batches], check=check)

    (evidence,) = gather(view, judge_view(view, [made]), {"x.both": made}).evidence

    assert evidence.of.startswith("record batch message of call 1, response 0,")


def test_a_wrong_value_is_shown_in_the_response_and_the_row_that_hold_it() -> None:
    """The finding is one of the session; its bytes are those of the second read, in its second response."""
    server = Obedient(case_of(CreateSession(), ReadRows()), streams=2, response_rows=3)
    answers = server.run()
    batch = calls_of(answers, "ReadRows")[1].responses[1].arrow_record_batch
    batch.serialized_record_batch = batch.serialized_record_batch.replace(b"city 8", b"city 9")
    view = view_of(server.case, server.freeze(answers), server.table)

    (evidence,) = gather(view, judge_view(view, [all_clauses()["values.string"]]), all_clauses()).evidence

    assert (evidence.finding.call, evidence.finding.field) == (0, "city")
    size = len(batch.serialized_record_batch)
    assert evidence.of == f"record batch message of call 2, response 1, {size} bytes, row 0"
    assert b"city 9".hex(" ") in [line.hex for line in evidence.lines if line.marked]


def test_evidence_that_cannot_be_had_costs_its_own_finding() -> None:
    """The other findings have theirs; the exception is reported as a defect of the suite."""
    view = view_of(sample_case("a"), sample_exchange("a", sample_call(responses=(bytes(64),))), pa.table({}))

    def broken(_: View) -> Sequence[BatchBytes]:
        raise KeyError("of ours")

    findings = [Finding(name, "something", "nothing", 0, 0, "", 16, 20) for name in ("a", "b", "c")]
    verdicts = [Verdict("a", finding.clause, Outcome.FAIL, (finding,)) for finding in findings]

    gathered = gather(view, verdicts, {"b": sample_clause("b", over=broken)})

    assert [item.finding.clause for item in gathered.evidence] == ["a", "c"]
    assert [text.rstrip().rpartition("\n")[2] for text in gathered.broke] == ["KeyError: 'of ours'"]


@pytest.mark.parametrize(
    ("call", "response", "of"),
    [
        (0, 0, "bytes of call 0, response 0, 4 in all"),
        (0, 1, "bytes of call 0, response 1, 8 in all"),
        (0, None, "bytes of call 0, 4 in all"),
        (0, 2, None),
        (1, None, None),
        (None, None, None),
    ],
)
def test_the_bytes_of_a_finding_are_those_of_its_response(
    call: int | None, response: int | None, of: str | None
) -> None:
    """Without a response, they are those of the call's first; what is not there is not shown."""
    view = view_of(sample_case("a"), sample_exchange("a", sample_call(responses=(bytes(4), bytes(8)))), pa.table({}))
    finding = Finding("x.y", "something", "nothing", call, response, "", 0, 4)

    shown = gather(view, [Verdict("a", "x.y", Outcome.FAIL, (finding,))], {}).evidence

    assert [item.of for item in shown] == ([] if of is None else [of])


def test_plain_bytes_are_sixteen_to_a_line_with_their_text() -> None:
    """Three lines before and after those at fault; what is not printable is a point."""
    data = b"0123456789abcde~" + bytes(range(0x10, 0x20)) + b"\x7f \xff" + bytes(157)

    lines = hex_lines(data, 80, 100)

    assert [(line.offset, line.marked) for line in lines] == [
        (32, False),
        (48, False),
        (64, False),
        (80, True),
        (96, True),
        (112, False),
        (128, False),
        (144, False),
    ]
    first, *rest = hex_lines(data, 0, 1)
    assert (first.hex, first.field, first.meaning) == (data[:16].hex(" "), "", "0123456789abcde~")
    assert [line.meaning for line in rest[:2]] == ["." * 16, ". ." + "." * 13]


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
