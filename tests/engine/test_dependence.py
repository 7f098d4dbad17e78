"""The known dependences, compared with what the mutants declare that they break besides their clause."""

from __future__ import annotations

import fnmatch

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.comparing.declarations import SECOND_FIELD
from conformance.engine import dependence
from conformance.engine.dependence import Symptom, causes_within
from conformance.records import Finding

load_chapters()

ROWS = [(causes, effects) for causes, effects, _ in dependence._TABLE]  # the table is what is tested


def symptom(clause: str, *, call: int = 0, session: int | None = 0, response: int | None = None) -> Symptom:
    """A finding of ``clause`` at a place."""
    return Symptom("a", clause, 0, Finding(clause, "x", "y", call=call, response=response), call, session)


@pytest.mark.parametrize("globs", [globs for row in ROWS for globs in row], ids=str)
def test_each_name_in_the_table_is_that_of_a_clause(globs: tuple[str, ...]) -> None:
    """A glob that matches nothing would hide that a clause is called otherwise."""
    assert [glob for glob in globs if not fnmatch.filter(CLAUSES, glob)] == []


def test_a_chain_ends_at_its_first_cause() -> None:
    """A shifted node makes the buffers wrong, and these the readers."""
    first, second, third = (
        symptom(name, call=1, response=0) for name in ("body.column-lengths", "body.offsets-monotonic", "readers.agree")
    )

    assert causes_within([third, second, first]) == {third: first, second: first, first: first}


@pytest.mark.parametrize(("clause", "explains"), [("buffers.frame-length", True), ("body.padding-zero", False)])
def test_a_should_on_bytes_explains_a_reader_only_if_it_names_readers_that_fail(clause: str, *, explains: bool) -> None:
    """Most readers accept what only SHOULD be otherwise."""
    on_bytes = symptom(clause, call=1, response=0, session=0)
    reader = symptom("readers.read-without-error", call=0, session=0)

    assert causes_within([reader, on_bytes])[reader] is (on_bytes if explains else reader)


@pytest.mark.parametrize(
    ("cause", "effect"),
    [
        ("errors.permanent-one-is-not-retryable", "errors.missing-table-is-named"),
        ("errors.permanent-one-is-not-unknown", "errors.unknown-column-is-named"),
        ("offsets.last-row", "rows.progress-is-a-fraction"),
        ("split.child-resumes", "rows.progress-is-a-fraction"),
    ],
)
def test_what_one_answer_shows_twice_is_one_cause(cause: str, effect: str) -> None:
    """In another call it is another."""
    first, same, other = symptom(cause, call=3), symptom(effect, call=3), symptom(effect, call=4)

    assert causes_within([first, same, other]) == {first: first, same: first, other: other}


def test_a_finding_of_another_message_follows_from_nothing() -> None:
    """What is shared decides, not the case."""
    one = symptom("body.node-count", call=1, response=0)
    other = symptom("body.buffer-count", call=1, response=1)

    assert causes_within([one, other]) == {one: one, other: other}


def test_a_type_that_is_wrong_explains_that_it_is_unknown_in_its_field_alone() -> None:
    """Another column may have an unknown type of its own."""
    wrong = Symptom("a", "types.date", 0, Finding("types.date", "x", "y", call=0, field="day"), 0, 0)
    same = Symptom("a", "types.known", 1, Finding("types.known", "x", "y", call=0, field="day"), 0, 0)
    other = Symptom("a", "types.known", 1, Finding("types.known", "x", "y", call=0, field="more"), 0, 0)

    assert causes_within([same, other, wrong]) == {same: wrong, other: other, wrong: wrong}


def on_field(clause: str, field: str, observed: str = "y") -> Symptom:
    """A finding of ``clause`` on a field of the schema."""
    return Symptom("a", clause, 0, Finding(clause, "x", observed, call=0, field=field), 0, 0)


def test_a_column_of_another_name_is_missing_and_is_a_field_that_nobody_knows() -> None:
    """One cause. A surplus field of another record is none of it."""
    missing, renamed = on_field("schema.columns-present", "a.number"), on_field("schema.columns-known", "a.num")
    elsewhere = on_field("schema.columns-known", "more")

    assert causes_within([renamed, missing, elsewhere]) == {missing: missing, renamed: missing, elsewhere: elsewhere}


@pytest.mark.parametrize(("again", "explains"), [(f", {SECOND_FIELD}", True), ("", False)])
def test_a_name_that_comes_twice_explains_readers(again: str, *, explains: bool) -> None:
    """Some refuse it, and others keep one of the columns. A surplus field of another name is read by all."""
    surplus = on_field("schema.columns-known", "word", f"word: int64{again}")
    reader = symptom("readers.read-without-error")

    assert causes_within([reader, surplus])[reader] is (surplus if explains else reader)


@pytest.mark.parametrize(
    ("clause", "said", "follows"),
    [
        ("rows.first-response-has-the-schema", "TypeError: Unsupported schema type in message: None", True),
        ("rows.row-count-is-true", "RowCountMismatch: expected num_items to be 500", True),
        ("rows.row-count-is-true", "TypeError: Unsupported schema type in message: None", False),
    ],
)
def test_a_reader_follows_from_what_its_error_names(clause: str, said: str, *, follows: bool) -> None:
    """Other errors of the same session have another cause."""
    cause, reader = on_field(clause, ""), on_field("readers.read-without-error", "a.b", said)

    assert causes_within([reader, cause])[reader] is (cause if follows else reader)


@pytest.mark.parametrize(("said", "follows"), [("row_count 20", True), ("row_count 3", False)])
def test_one_wrong_number_in_two_fields_is_one_cause(said: str, *, follows: bool) -> None:
    """Another number in the deprecated field has another cause."""
    count = on_field("rows.row-count-is-true", "row_count", "row_count 20")
    deprecated = on_field("rows.deprecated-count-is-zero-or-true", "arrow_record_batch.row_count", said)

    assert causes_within([deprecated, count])[deprecated] is (count if follows else deprecated)


def test_a_call_without_an_end_follows_from_its_endless_answer() -> None:
    """A finding on the answer itself has another cause."""
    endless, bytes_ = symptom("calls.stay-within-reason", call=1), symptom("buffers.frame", call=1, response=0)
    ended = Symptom("a", "rows.none-is-missing", 1, None, 1, 0)

    assert causes_within([ended, bytes_, endless]) == {ended: endless, bytes_: bytes_, endless: endless}
