"""How calls ended decides between failure, crash and hang; classes forget the data of a case."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.outcomes import (
    WHOLE_CASE,
    answer_that,
    finding_class,
    reason_classes,
    refine,
    shape,
    unsupported,
)
from conformance.records import CallEnd, Finding, Outcome, Verdict
from tests.engine.samples import failing, passing, sample_call, sample_case, sample_clause, sample_exchange

CASE = sample_case("a")
FINE = (Outcome.UNTESTABLE, "nothing in the exchange shows it")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("row 3 of column 'a': expected 17, found 18", "row # of column '…': expected #, found #"),
        ("rows 1, 2, 3 are missing", "rows # are missing"),
        ("columns 'a', 'b'", "columns '…'"),
        ("metadata {'a': 'b', 'c': 'd'}, then {'e': 5}", "metadata <…>, then <…>"),
        ("without {'a': [1, {'b': None}], 'c': timestamp[us]} and 2 more", "without <…>"),
        ("the order ['a', 'b'] of timestamp[us]", "the order <…> of timestamp[us]"),
        ("without {'a': {'b': 1}, 'c': 'wide wide", "without <…>"),
        ("without {'a': [{'b': {'c': 1}}, {'b': {'c': ", "without <…>"),
        ("decimal128(38, 9) at 0x40", "decimal128(#) at #"),
        ("int64 instead of int32", "int64 instead of int32"),
        ("bytes ff ff ff ff, FF FF 10", "bytes #"),
        ("the bytes ff in slot 3", "the bytes # in slot #"),
        ("1 byte of metadata, 1 child, 1 such entry", "# bytes of metadata, # children, # such entries"),
        ("a length of -8; byte-swapped it would be 184", "a length of #"),
        ("0 rows (hint: a library ends there); 8 rows missing", "# rows; # rows missing"),
        ("large-list<item: struct<a: int64>> of b'x'", "large-list<…> of '…'"),
        (r"a table's size 'it\'s' and a field's", "a table's size '…' and a field's"),
        (r'Error("field \"a\" of Union")', "Error('…')"),
        (r'Error("of Union(UnionType { name: \"a\", kind: Int', 'Error("of Union(UnionType <…>'),
        ("found -57896044618658097711785492504343953926634992332820 here", "found # here"),
        ("table t_1e6658b8 of digest 1e6658b8", "table t_1e6658b8 of digest #"),
        ("-1.5e-7 or  twice", "# or twice"),
        ("no 'x'\nin SELECT x", "no '…' …"),
        (r"no 'x' at line 2\n\nLINE 2: WHERE x", "no '…' at line # …"),
        ("the lines 'a\nb' of row 3", "the lines '…' of row #"),
    ],
)
def test_a_shape_forgets_data_and_keeps_words(text: str, expected: str) -> None:
    """Quoted text, numbers and lists of them are data; type names are words."""
    assert shape(text) == expected


def test_a_shape_is_short() -> None:
    """A class has to fit a line of a TOML file."""
    assert len(shape("word " * 100)) == 120


def test_equal_findings_are_one_class() -> None:
    """Twenty repetitions of one fault are one reason."""
    verdict = failing("a", "framing.x", "3 messages", "4 messages", "none")

    assert reason_classes(verdict) == (
        "fail: # messages (required: one message)",
        "fail: none (required: one message)",
    )


def test_the_description_of_the_field_itself_is_data() -> None:
    """One defect in two columns of different types is one deviation."""
    findings = [
        Finding("schema.x", "a non-nullable list", text, field=field)
        for text, field in (("a: list<item: int64>", "a"), ("b: list<item: utf8>", "record.b"))
    ]

    assert {finding_class(Outcome.FAIL, finding) for finding in findings} == {
        "fail: '…': its type (required: a non-nullable list)"
    }


def _values(*pairs: tuple[str, str]) -> set[str]:
    findings = [Finding("values.string", required, observed) for required, observed in pairs]
    return {finding_class(Outcome.FAIL, finding) for finding in findings}


def test_a_value_in_place_of_another_is_one_class() -> None:
    """One conversion that goes wrong is one deviation, whatever the values and wherever they are."""
    assert _values(
        ("True", "False in row 0 (2 places differ)"),
        ("9999-12-31 (day 2932896)", "outside the calendar (day 2933265) in row 3, item 1 (9 places differ)"),
        ("'in row 2'", "'a\\'b… in row 2"),
    ) == {"fail: '…' (required: '…')"}


def test_a_value_a_null_and_other_items_are_different_failures() -> None:
    """A lost value, an invented one, and a list of another length are not one defect."""
    assert _values(
        ("1", "NULL in row 0"), ("NULL", "1 in row 0"), ("1 item", "2 items in row 4"), ("1", "2 in row 0")
    ) == {
        "fail: NULL (required: '…')",
        "fail: '…' (required: NULL)",
        "fail: # items (required: # items)",
        "fail: '…' (required: '…')",
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a reference to byte 76 of 72 bytes of metadata", "a reference of 0"),
        ("a metadata length of -1, where 9 bytes follow the prefix", "3 bytes and no more"),
        ("the same fields with other metadata", "the schema {a: int64}"),
        ("int32", "large-list<item: int64>"),
        ("8 bytes after the message", "a RecordBatch message of 160 bytes after the first message"),
    ],
)
def test_different_failures_of_one_clause_stay_apart(one: str, other: str) -> None:
    """A mask that merges two defects would let one excuse the other."""
    assert shape(one) != shape(other)


def test_the_prose_behind_a_status_is_data() -> None:
    """A server may quote the request; what counts is the code."""
    finding = Finding("errors.x", "INVALID_ARGUMENT", "NOT_FOUND: no column 'a'\nLINE 1: select", call=0)

    assert finding_class(Outcome.FAIL, finding) == "fail: NOT_FOUND: … (required: INVALID_ARGUMENT)"


def test_a_readers_own_words_are_data() -> None:
    """One reader that loses rows in two cases is one deviation, another reader that does is another."""
    findings = [
        Finding("readers.find-the-values", "the rows", f"{reader} loses rows: expected {text}", field=reader)
        for reader, text in (("polars", "2 rows, got 1"), ("polars", "Berlin, got none"), ("arro3", "2 rows, got 1"))
    ]

    assert {finding_class(Outcome.FAIL, finding) for finding in findings} == {
        "fail: polars loses rows (required: the rows)",
        "fail: arro3 loses rows (required: the rows)",
    }


def test_what_a_client_makes_of_an_early_end_does_not_depend_on_the_messages_before_it() -> None:
    """A client that takes a status for the end does so for each status and each kind of message."""
    answers = (
        answer_that("DoGet", "a batch of no rows", "INTERNAL", "behind"),
        answer_that("DoGet", "three batches", "NOT_FOUND", "behind"),
        answer_that("DoGet", "a batch of another table"),
    )
    texts = [f"all rows, where {answer}" for answer in answers]
    findings = [Finding("flight-client.status-is-error", "an error", text, field="go.read") for text in texts]

    assert [finding_class(Outcome.FAIL, finding) for finding in findings] == [
        *2 * ["fail: all rows, where the answer of DoGet ends behind its messages (required: an error)"],
        "fail: all rows, where the answer of DoGet has a batch of another table (required: an error)",
    ]


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (CallEnd.CRASH, Outcome.CRASH),
        (CallEnd.DEADLINE, Outcome.HANG),
        (CallEnd.OVER_BUDGET, Outcome.HANG),
        (CallEnd.COMPLETE, Outcome.FAIL),
    ],
)
def test_a_failure_on_a_call_that_died_is_named_after_its_death(end: CallEnd, outcome: Outcome) -> None:
    """A dead call is a crash or a hang, not a wrong answer."""
    exchange = sample_exchange("a", sample_call(end=end))

    (verdict,) = refine(CASE, exchange, [failing("a", "calls.end", "no status")], lambda: FINE)

    assert verdict.outcome is outcome


def test_a_failure_on_calls_that_ended_in_several_ways_stays_a_failure() -> None:
    """One call died and the other one answered: what the clause found is not the death alone."""
    exchange = sample_exchange("a", sample_call(end=CallEnd.CRASH), sample_call(end=CallEnd.COMPLETE))
    findings = tuple(Finding("calls.end", "a status", "none", call=call) for call in (0, 1))

    (verdict,) = refine(CASE, exchange, [Verdict("a", "calls.end", Outcome.FAIL, findings)], lambda: FINE)

    assert verdict.outcome is Outcome.FAIL


def test_a_death_that_no_clause_saw_fails_the_case_as_a_whole() -> None:
    """Nothing is lost because no clause was looking."""
    exchange = sample_exchange("a", sample_call(end=CallEnd.CRASH))

    refined = refine(CASE, exchange, [passing("a", "framing.x")], lambda: (Outcome.CRASH, "the target died"))

    assert refined[1] == Verdict("a", WHOLE_CASE, Outcome.CRASH, reason="the target died")


def test_an_exchange_that_cannot_be_explained_costs_no_verdict() -> None:
    """What the clauses decided is kept; the exception is an error of the case as a whole."""

    def raising() -> tuple[Outcome, str]:
        raise LookupError("no such call")

    refined = refine(CASE, sample_exchange("a", sample_call()), [passing("a", "framing.x")], raising)

    assert refined[0] == passing("a", "framing.x")
    assert (refined[1].clause, refined[1].outcome) == (WHOLE_CASE, Outcome.ERROR)
    assert "LookupError: no such call" in refined[1].reason


def test_a_death_that_a_clause_saw_is_not_counted_twice() -> None:
    """The clause's own failure is enough."""
    exchange = sample_exchange("a", sample_call(end=CallEnd.CRASH))

    refined = refine(CASE, exchange, [failing("a", "calls.end", "no status")], lambda: (Outcome.CRASH, "died"))

    assert [verdict.outcome for verdict in refined] == [Outcome.CRASH]


def test_the_failure_of_a_may_clause_hides_no_death_and_no_refusal() -> None:
    """It fails no run, so that the run would pass although the target died or refused what it must serve."""
    load_chapters()
    optional = failing("a", "session.trace-id-is-echoed", "absent")
    refusal = Verdict("a", "rows.none-is-missing", Outcome.REFUSED, reason="call 0, ReadRows: ended in UNKNOWN")
    on_call = dataclasses.replace(optional, findings=(dataclasses.replace(optional.findings[0], call=0),))
    exchange = sample_exchange("a", sample_call())

    refined = refine(CASE, exchange, [optional], lambda: (Outcome.REFUSED, "ended in UNKNOWN"))
    kept = refine(CASE, exchange, [on_call, refusal], lambda: FINE)

    assert refined[1:] == [Verdict("a", WHOLE_CASE, Outcome.REFUSED, reason="ended in UNKNOWN")]
    assert kept == [on_call, refusal]


def test_a_case_that_shows_nothing_is_untestable_and_says_so() -> None:
    """No verdict at all would look like no case at all."""
    (verdict,) = refine(CASE, sample_exchange("a", sample_call()), [], lambda: FINE)

    assert (verdict.clause, verdict.outcome) == (WHOLE_CASE, Outcome.UNTESTABLE)


def test_a_case_whose_driver_stopped_says_so_once() -> None:
    """What passed is kept, and nobody takes the rest for judged."""
    stopped = dataclasses.replace(sample_exchange("a", sample_call()), stopped="no time")
    one, named = passing("a", "framing.x"), Verdict("a", "rows.x", Outcome.UNTESTABLE, reason="no time")

    assert refine(CASE, stopped, [one], lambda: (Outcome.UNTESTABLE, "no time")) == [
        one,
        Verdict("a", WHOLE_CASE, Outcome.UNTESTABLE, reason="no time"),
    ]
    assert refine(CASE, stopped, [one, named], lambda: (Outcome.UNTESTABLE, "no time")) == [one, named]


def test_an_unsupported_case_counts_for_each_clause_it_exists_for() -> None:
    """Clauses that were not judged are listed."""
    case = sample_case("a", clauses=["framing.*"])
    clauses = [sample_clause("framing.a"), sample_clause("framing.b"), sample_clause("rows.a")]

    verdicts = unsupported(case, clauses, "the target does not declare nested")

    assert [(verdict.clause, verdict.outcome) for verdict in verdicts] == [
        ("framing.a", Outcome.UNSUPPORTED),
        ("framing.b", Outcome.UNSUPPORTED),
    ]


@pytest.mark.parametrize(("call", "outcome"), [(0, Outcome.DEPENDENCY_FAILED), (1, Outcome.REFUSED)])
def test_what_a_judged_refusal_hides_is_no_second_failure(call: int, outcome: Outcome) -> None:
    """Where a clause has failed for the refused call, what could not be seen depends on it."""
    refusal = Verdict(
        "a", "rows.none-is-missing", Outcome.REFUSED, reason="call 0, CreateReadSession: ended in UNKNOWN"
    )
    finding = Finding("session.plain-request-is-served", "status OK", "UNKNOWN", call=call)
    reported = Verdict("a", finding.clause, Outcome.FAIL, (finding,))

    refined = refine(CASE, sample_exchange("a", sample_call(), sample_call()), [reported, refusal], lambda: FINE)

    assert [verdict.outcome for verdict in refined] == [Outcome.FAIL, outcome]
