"""The nouns survive their JSON form and their Arrow row, and refuse what is not them."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from conformance.records import (
    AppendRows,
    BqType,
    Call,
    CallEnd,
    Case,
    Column,
    CreateSession,
    Exchange,
    Expect,
    Finding,
    Happening,
    Json,
    Meanwhile,
    MetadataEntry,
    Mode,
    Outcome,
    Reading,
    ReadingOutcome,
    ReadRows,
    Recipe,
    RecordError,
    SplitStream,
    Table,
    Verdict,
    arrow_schema,
    from_json,
    from_row,
    to_json,
    to_row,
)

NESTED = Column(
    "s", BqType.RECORD, fields=(Column("x", BqType.INT64), Column("y", BqType.NUMERIC, precision=10, scale=2))
)
CASE = Case(
    "rows.two",
    "two rows arrive",
    Table((NESTED, Column("r", BqType.RANGE, range_of=BqType.DATE, mode=Mode.REPEATED)), rows=(Json({"s": {"x": 1}}),)),
    steps=(
        CreateSession(selected_fields=("s.x",), expect=Expect(codes=("OK", "NOT_FOUND"))),
        ReadRows(offset="end+1", times=2, together=True),
        SplitStream(fraction=0.25),
        AppendRows(3),
        Meanwhile(Happening.QUERY_INTO),
    ),
    clauses=("rows.*",),
)
RECORDS = [
    CASE,
    Case("a.b", "made", Table((Column("n", BqType.INT64),), recipe=Recipe(rows=7, seed=3))),
    Exchange(
        "a.b", "t", calls=(Call(0, "s", "ReadRows", b"\xff\x00", (b"", b"\x01"), trailers=(MetadataEntry("k", b"v"),)),)
    ),
    Exchange("a.b", "t", untestable="cannot seed: no such type"),
    Finding("framing.one", "one message", "two messages", call=1, response=0, field="a.b", start=8, end=16),
    Reading("pyarrow.slots", "a.b", "s", ReadingOutcome.CRASH, error_class="SIGSEGV"),
    Verdict("a.b", "framing.one", Outcome.FAIL, (Finding("framing.one", "x", "y"),)),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_survives_json(record: object) -> None:
    """Reading back what was written as JSON text gives the same record."""
    text = json.dumps(to_json(record))

    assert from_json(type(record), json.loads(text)) == record


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_survives_an_arrow_table(record: object) -> None:
    """Reading back a row of an Arrow table under the record's schema gives the same record."""
    table = pa.Table.from_pylist([to_row(record)], schema=arrow_schema(type(record)))

    assert from_row(type(record), table.to_pylist()[0]) == record


def test_the_arrow_schema_does_not_depend_on_the_order_of_use() -> None:
    """A case's row schema is one and the same however the records were used before."""
    inner = arrow_schema(Table).field("columns")

    assert arrow_schema(Case).field("table").type.field("columns") == inner


def test_defaults_are_left_out_of_json() -> None:
    """A hand-written file and a written one look alike: what is not said is the default."""
    assert to_json(Call(0, "s", "ReadRows", b"")) == {"step": 0, "label": "s", "method": "ReadRows", "request": ""}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"codez": []}, "Expect.codez: expected one of the keys codes, reason, rows but got 'codez' (str)"),
        ({"codes": "OK"}, "Expect.codes: expected a list but got 'OK' (str)"),
        ({"rows": [0, "1"]}, "Expect.rows[1]: expected int but got '1' (str)"),
        ([], "Expect: expected an object (Expect) but got [] (list)"),
    ],
)
def test_a_wrong_record_is_refused_with_its_place(data: object, message: str) -> None:
    """The error names the path, the expected and the actual value."""
    with pytest.raises(RecordError) as caught:
        from_json(Expect, data)

    assert str(caught.value) == message


def test_an_unknown_step_is_refused() -> None:
    """A step with a misspelt op is never read as another step."""
    data = {**to_json(CASE), "steps": [{"op": "read-row"}]}

    with pytest.raises(RecordError, match=r"Case\.steps\[0\]: expected an object whose 'op' is one of create-session"):
        from_json(Case, data)


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        (lambda: Column("c", BqType.RECORD), "sub-fields on a RECORD"),
        (lambda: Column("c", BqType.INT64, fields=(NESTED,)), "sub-fields on a RECORD"),
        (lambda: Column("c", BqType.RANGE), "range_of on a RANGE"),
    ],
)
def test_a_contradictory_column_cannot_be_made(column: object, complaint: str) -> None:
    """Sub-fields belong to a RECORD and range_of to a RANGE, and nothing else has them."""
    with pytest.raises(RecordError, match=complaint):
        column()  # type: ignore[operator]  # a thunk, typed as object for parametrize


def test_a_table_has_rows_or_a_recipe() -> None:
    """A table with both, or with neither, is refused."""
    with pytest.raises(RecordError, match="either rows, a recipe or an Arrow table"):
        Table((NESTED,))


def test_each_outcome_has_a_rule_for_the_exit_status() -> None:
    """The outcomes that make a run fail are exactly these."""
    failing = {outcome for outcome in Outcome if outcome.fails_run}

    assert failing == {"fail", "error", "crash", "hang", "refused", "unexpected-pass"}


def test_a_call_is_complete_unless_it_says_otherwise() -> None:
    """A recorded call ended with a status unless its end says how else."""
    assert Call(0, "s", "ReadRows", b"").end is CallEnd.COMPLETE


def test_verdicts_of_passes_are_verdicts() -> None:
    """They equal those that the constructor makes, and are frozen like them."""
    made = Verdict.passes("case", ("body.one", "body.two"))

    assert made == [Verdict("case", clause, Outcome.PASS) for clause in ("body.one", "body.two")]
    with pytest.raises(AttributeError):
        made[0].clause = "body.three"


def test_two_long_texts_of_a_finding_are_not_cut_to_the_same() -> None:
    """Their lengths and the first difference stay, also where the record is read again."""
    same = "a" * 3000
    finding = Finding("types.record", f"{same}b", f"{same}c")

    assert finding.required.endswith("(3001 characters, from 3000 on: b)")
    assert finding.observed.endswith("(3001 characters, from 3000 on: c)")
    assert from_json(Finding, to_json(finding)) == finding
