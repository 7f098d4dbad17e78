"""The Avro schema of a session and the rows under it, as clauses see them."""

from __future__ import annotations

import pytest

from conformance.contract.budget import EXCESS_CLAUSE, Budget
from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge_view
from conformance.contract.raised import JudgingEnded
from conformance.contract.viewing import view_of
from conformance.records import CreateSession, Outcome, ReadRows
from tests.contract.exchanges import Obedient, case_of, create, read

CASE = case_of(CreateSession(data_format="AVRO"), ReadRows())


def test_rows_in_avro_are_those_of_arrow() -> None:
    """A read gives the rows of the table, whatever form they came in."""
    server = Obedient(CASE)

    (whole,) = view_of(CASE, server.freeze(server.run()), server.table).reads

    assert whole.batches is not None
    assert [row for batch in whole.batches for row in batch.to_pylist()] == server.table.to_pylist()


def test_a_cut_row_leaves_the_response_unread() -> None:
    """Rows are decoded if every byte belongs to one; the reason names the response."""
    server = Obedient(CASE)
    answers = server.run()
    rows = read(answers).responses[0].avro_rows
    rows.serialized_binary_rows = rows.serialized_binary_rows[:-1]
    view = view_of(CASE, server.freeze(answers), server.table)

    assert view.reads[0].batches is None
    assert "response 0: the bytes of rows in Avro cannot be decoded" in view.reason_not_judged()[1]


def test_without_a_readable_schema_no_row_is_read() -> None:
    """The schema of a session counts, and the bytes of rows mean nothing without one."""
    server = Obedient(CASE)
    answers = server.run()
    for answer in (create(answers).responses[0], read(answers).responses[0]):
        answer.avro_schema.schema = "no JSON"
    view = view_of(CASE, server.freeze(answers), server.table)

    assert view.avro_rows == []
    assert "an Avro schema cannot be read" in view.reason_not_judged()[1]


def test_the_first_response_stands_in_for_a_session_without_a_schema() -> None:
    """A session whose schema is missing is read by that of its first response, as clients do."""
    server = Obedient(CASE)
    answers = server.run()
    create(answers).responses[0].ClearField("avro_schema")

    (whole,) = view_of(CASE, server.freeze(answers), server.table).reads

    assert whole.batches is not None


def test_rows_in_avro_of_a_session_in_arrow_are_not_compared() -> None:
    """The session asked for another form, and the clauses on forms say so."""
    server = Obedient(CASE)
    answers = server.run()
    create(answers).request.read_session.data_format = 2
    view = view_of(CASE, server.freeze(answers), server.table)

    assert view.avro_rows == []
    assert "the rows of a response are in Avro" in view.reason_not_judged()[1]


def test_rows_without_a_schema_are_named() -> None:
    """Neither the session nor its first response has one."""
    server = Obedient(CASE)
    answers = server.run()
    for answer in (create(answers).responses[0], *read(answers).responses):
        answer.ClearField("avro_schema")
    view = view_of(CASE, server.freeze(answers), server.table)

    assert "have no schema that can be read" in view.reason_not_judged()[1]


def test_a_payload_that_does_not_decompress_is_named() -> None:
    """In Avro as in Arrow."""
    case = case_of(CreateSession(data_format="AVRO", response_compression="LZ4"), ReadRows())
    server = Obedient(case)
    answers = server.run()
    rows = read(answers).responses[0]
    rows.uncompressed_byte_size = 100
    rows.avro_rows.serialized_binary_rows = b"no block"
    view = view_of(case, server.freeze(answers), server.table)

    assert "do not decompress" in view.reason_not_judged()[1]


def test_more_values_than_the_table_permits_are_one_finding() -> None:
    """They are not read, and the clause on excess says so."""
    load_chapters()
    server = Obedient(CASE)
    view = view_of(CASE, server.freeze(server.run()), server.table)
    view.budget = Budget(slots=-8 * 2 * server.table.num_rows * server.table.num_columns)

    verdicts = judge_view(view, CLAUSES.values())

    assert [one.clause for one in verdicts if one.outcome is Outcome.FAIL] == [EXCESS_CLAUSE]
    assert "have more values than" in view.reason_not_judged()[1]
    assert [rows.rows for rows in view.avro_rows] == [0] * len(view.avro_rows)


def test_rows_that_are_being_read_end_with_the_judging(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deadline that passes in the middle leaves every clause without a verdict, and none with an error."""
    monkeypatch.setattr("conformance.formats.avro.cursor.PACE", 1)
    load_chapters()
    server = Obedient(CASE)
    view = view_of(CASE, server.freeze(server.run()), server.table)
    view.given_up = lambda: "enough"

    with pytest.raises(JudgingEnded, match="enough"):
        _ = view.avro_rows

    assert {(one.outcome, one.reason) for one in judge_view(view, CLAUSES.values())} == {(Outcome.UNTESTABLE, "enough")}
    assert view.broke == {}
