"""Judging: verdicts in the order of the register, the same by the short way and by the long one."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, Clause, Violation, clause, load_chapters
from conformance.contract.judge import Judge, Judged, judge, judge_view
from conformance.contract.viewing import view_of
from conformance.records import BqType, Call, CallEnd, Case, Column, Exchange, Mode, Outcome, Table, Verdict
from conformance.reference.serializer import REFERENCE
from tests.engine.samples import CallSubject, sample_call, sample_clause

load_chapters()
COLUMNS = (Column("n", BqType.INT64), Column("items", BqType.STRING, Mode.REPEATED), Column("f", BqType.FLOAT64))
CASE = Case("c", "", Table(COLUMNS, rows=()))


def rows(**changes: list[object]) -> pa.Table:
    """The rows of the case, or others."""
    values = {"n": [1, None, 3], "items": [["a"], [], ["b", "c"]], "f": [0.5, None, -0.0], **changes}
    fields = [
        pa.field("n", pa.int64()),
        pa.field("items", pa.list_(pa.field("item", pa.utf8())), nullable=False),
        pa.field("f", pa.float64()),
    ]
    return pa.table([pa.array(values[field.name], field.type) for field in fields], schema=pa.schema(fields))


def exchange(table: pa.Table, *, chunks: int = 1) -> Exchange:
    """A table from the reference's serializer, in a number of batches."""
    size = -(-table.num_rows // chunks)
    batches = table.combine_chunks().to_batches(max_chunksize=size)
    calls = [Call(0, "", "SerializeSchema", b"", (REFERENCE.serialize_schema(table.schema),))]
    calls += [Call(0, "", "SerializeBatch", b"", (REFERENCE.serialize_batch(batch),)) for batch in batches]
    return Exchange("c", "x", tuple(calls))


def test_verdicts_follow_the_register() -> None:
    """Verdicts come in the order of the clauses, each once."""
    verdicts = judge(CASE, exchange(rows()), rows())

    order = list(CLAUSES)
    places = [order.index(verdict.clause) for verdict in verdicts]
    assert places == sorted(set(places))


def test_the_short_way_and_the_long_way_agree() -> None:
    """A batch whose bits are the table's is judged like one that has to be decoded, and like every clause by itself."""
    short = judge(CASE, exchange(rows()), rows())
    long = judge(CASE, exchange(rows(), chunks=3), rows())
    single = [verdict for one in CLAUSES.values() for verdict in judge(CASE, exchange(rows()), rows(), clauses=[one])]

    assert short == long == single
    assert {verdict.outcome for verdict in short} == {Outcome.PASS}


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({"n": [1, None, 4]}, "values.int64"),
        ({"n": [1, 2, 3]}, "values.nulls"),
        ({"items": [["a"], [], ["c", "b"]]}, "values.repeated"),
        ({"f": [0.5, None, 0.0]}, "values.float64"),
    ],
)
def test_a_wrong_value_is_told_by_one_clause(changes: dict[str, list[object]], reported: str) -> None:
    """One changed value fails one clause, whether the batch is cut up or not."""
    for chunks in (1, 3):
        verdicts = judge(CASE, exchange(rows(**changes), chunks=chunks), rows())

        assert [one.clause for one in verdicts if one.outcome is Outcome.FAIL] == [reported]


def test_findings_carry_their_place() -> None:
    """A finding on bytes says which call and which bytes."""
    spoilt = exchange(rows())
    marked = dataclasses.replace(
        spoilt.calls[1], responses=(spoilt.calls[1].responses[0] + bytes.fromhex("ffffffff00000000"),)
    )
    verdicts = judge(CASE, dataclasses.replace(spoilt, calls=(spoilt.calls[0], marked)), rows())

    (failed,) = [one for one in verdicts if one.outcome is Outcome.FAIL]
    (finding,) = failed.findings
    size = len(marked.responses[0])
    assert failed.clause == finding.clause == "framing.batch-without-end-of-stream"
    assert (finding.call, finding.response, finding.start, finding.end) == (1, 0, size - 8, size)


def _spoilt_twice(subject: Any) -> Iterable[Violation]:
    yield Violation("x", f"first of call {subject.call}")
    yield Violation("x", f"second of call {subject.call}")


@pytest.mark.parametrize(("calls", "repeated"), [(5, 10), (30, 10)])
def test_repetitions_of_one_fault_are_cut_and_each_call_keeps_a_finding(calls: int, repeated: int) -> None:
    """Twenty findings are enough of one fault; but a reader that fails on the last call is explained by one there."""
    call = sample_call()
    over = [CallSubject(place // repeated, place % repeated, call) for place in range(calls * repeated)]
    spoilt = sample_clause("demo.spoilt", over=lambda _view: over, check=_spoilt_twice)

    (failed,) = judge(CASE, Exchange("c", "x", (call,) * calls), rows(), clauses=[spoilt])

    assert [one.response for one in failed.findings[:20]] == [half // 2 for half in range(20)]
    assert [one.call for one in failed.findings[20:]] == list(range(1, calls))


def test_a_named_clause_that_was_not_observed_is_no_pass() -> None:
    """A clause that the case exists for gets the outcome of the call that prevented its judgement."""
    case = dataclasses.replace(CASE, clauses=("values.*",))
    died = Exchange("c", "x", (Call(0, "", "SerializeSchema", b"", status="", end=CallEnd.CRASH, details="SIGSEGV"),))

    verdicts = judge(case, died, rows(), clauses=[CLAUSES["values.int64"], CLAUSES["body.node-count"]])

    assert [(one.clause, one.outcome) for one in verdicts] == [("values.int64", Outcome.CRASH)]
    assert "SIGSEGV" in verdicts[0].reason


def test_an_untestable_exchange_answers_for_named_clauses_only() -> None:
    """If the table could not be seeded, the clauses that need it say so."""
    case = dataclasses.replace(CASE, clauses=("values.int64",))

    verdicts = judge(case, Exchange("c", "x", untestable="cannot seed: no such type"), rows())

    assert [(one.clause, one.outcome, one.reason) for one in verdicts] == [
        ("values.int64", Outcome.UNTESTABLE, "cannot seed: no such type")
    ]


def _silent(_subject: object) -> list[object]:
    return []


def _explained(_subject: object) -> list[object]:
    """A text."""
    return []


@pytest.mark.parametrize(
    ("check", "named", "said"),
    [
        (_silent, {"clause_id": "test.silent"}, "expected a docstring"),
        (_explained, {"clause_id": "body.node-count"}, "the id is taken"),
        (_explained, {"clause_id": "test.profile", "profiles": ("avro-file",)}, "expected profiles out of"),
    ],
)
def test_a_clause_without_text_id_or_profile_is_refused(check: object, named: dict[str, object], said: str) -> None:
    """The register takes no clause that could not be explained, found or selected."""
    arguments = dict(named)
    clause_id = arguments.pop("clause_id")

    with pytest.raises(ValueError, match=said):
        clause(clause_id, over=lambda _view: [], source="https://example.org", **arguments)(check)  # type: ignore[arg-type]


def test_a_clause_is_itself_and_no_other() -> None:
    """Clauses are compared by identity: two with the same text are two."""
    one = CLAUSES["body.node-count"]

    assert one == one  # noqa: PLR0124  # identity is the point
    assert Clause(*(getattr(one, field.name) for field in dataclasses.fields(one))) != one


def test_what_passes_is_told_by_its_id_alone() -> None:
    """A caller that wants all verdicts gets them in the order of the clauses."""
    judging = Judge(CLAUSES.values())
    view = view_of(CASE, exchange(rows(n=[1, 2, 3])), rows())

    judged = judging(view)

    assert [one.clause for one in judged.others] == ["values.nulls"]
    verdicts = judging.in_order(CASE, judged)
    assert verdicts == judge_view(view, CLAUSES.values())
    assert {one.clause for one in verdicts if one.outcome is Outcome.PASS} == {*judged.passed}


def test_a_judged_view_is_freed_at_once() -> None:
    """A view and all that was read for it go with the last reference to it: nothing waits for the cyclic collector."""
    judging = Judge(CLAUSES.values())
    table, written = rows(), exchange(rows())
    judging(view_of(CASE, written, table))
    gc.collect()
    gc.disable()
    try:
        judging(view_of(CASE, written, table))
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_the_size_of_the_table_is_not_summed_up_for_a_batch_that_is_not_compressed() -> None:
    """Only what is compressed has a size to compare it with."""
    view = view_of(CASE, exchange(rows()), rows())

    Judge(CLAUSES.values())(view)

    assert view.decompression is not None
    assert "inflation" not in vars(view)
    assert view.decompression.remaining == view.inflation


def test_verdicts_on_the_case_as_a_whole_come_last() -> None:
    """They are no clause's."""
    whole = Verdict("c", "case", Outcome.CRASH)
    one = CLAUSES["body.node-count"]

    verdicts = Judge([one]).in_order(CASE, Judged((one.id,), (whole,)))

    assert verdicts == [Verdict("c", one.id, Outcome.PASS), whole]


def test_a_clause_that_a_clean_facet_does_not_show_is_asked_where_the_case_names_it() -> None:
    """It then says why it was not observed; the other clauses of the aspect pass as before."""
    named = dataclasses.replace(CASE, clauses=("values.bool", "values.int64"))

    verdicts = judge(named, exchange(rows()), rows())

    (unseen,) = [one for one in verdicts if one.outcome is not Outcome.PASS]
    assert (unseen.clause, unseen.outcome) == ("values.bool", Outcome.UNTESTABLE)
    passed = [one for one in verdicts if one.outcome is Outcome.PASS]
    assert passed == judge(CASE, exchange(rows()), rows())


def test_a_view_that_is_given_up_is_judged_no_further() -> None:
    """Neither in the middle of the subjects of a clause, nor by the next clauses."""
    seen: list[int] = []
    view = view_of(CASE, Exchange("c", "x", (Call(0, "", "CreateReadSession", b"", ()),)), rows())
    view.given_up = lambda: "enough" if len(seen) >= 2 else ""

    def check(subject: int) -> list[Violation]:
        seen.append(subject)
        return []

    first = dataclasses.replace(next(iter(CLAUSES.values())), over=lambda _: range(1000), check=check)
    verdicts = judge_view(view, [first, dataclasses.replace(first, id="x.y")])

    assert seen == [0, 1]
    assert {(verdict.outcome, verdict.reason) for verdict in verdicts} == {(Outcome.UNTESTABLE, "enough")}


@pytest.mark.parametrize(("protocol", "method"), [("flight", "GetFlightInfo"), ("storage-read", "CreateReadSession")])
def test_clauses_of_another_protocol_say_nothing_of_a_view(protocol: str, method: str) -> None:
    """A recording of two protocols is judged by the clauses of both, and each exchange by those that know its view."""
    exchange = Exchange("c", "t", (Call(0, "", method, b"", ()),), protocol=protocol)
    case = dataclasses.replace(CASE, protocol=protocol)
    view = view_of(case, exchange, rows())

    judged = Judge(CLAUSES.values())(view)

    assert view.broke == {}
    assert not any(one.outcome is Outcome.ERROR for one in judged.others)


def test_clauses_on_any_arrow_message_judge_a_serializer() -> None:
    """They are of no protocol, and of no profile of one."""
    judged = Judge(CLAUSES.values())(view_of(CASE, exchange(rows()), rows()))

    assert any(CLAUSES[one].profiles[0] == "ipc-message" for one in judged.passed)
