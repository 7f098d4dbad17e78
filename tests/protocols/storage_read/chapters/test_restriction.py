from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.contract import proto
from conformance.contract.closed import Form
from conformance.contract.comparing.matching import show_row
from conformance.contract.viewing import view_of
from conformance.protocols.storage_read.chapters.restriction import BAD_RESTRICTIONS, forms_of
from conformance.records import BqType, Column, CreateSession, Expect, Json, Outcome, ReadRows, Table
from tests.contract.exchanges import (
    Answer,
    Deviation,
    Obedient,
    Spoil,
    case_of,
    create,
    passed,
    prove,
    read,
    session,
    verdicts,
)


def where(restriction: str, *rows: int) -> Any:
    """A case that restricts to ``rows`` and reads them."""
    return case_of(CreateSession(row_restriction=restriction, expect=Expect(rows=rows)), ReadRows())


def bad(restriction: str, reason: str) -> Any:
    """A case whose restriction has to be refused."""
    expect = Expect(codes=("INVALID_ARGUMENT",), reason=reason)
    return case_of(CreateSession(row_restriction=restriction, expect=expect), ReadRows())


NAMED_UPDATE = case_of(
    CreateSession(row_restriction="update > 1", expect=Expect(rows=(1,))),
    ReadRows(),
    table=Table((Column("update", BqType.INT64),), (Json({"update": 1}), Json({"update": 2}))),
)
FORMS = {
    Form.FUNCTION: ("restriction.function", where("LENGTH(name) = 6 AND id = 7", 7)),
    Form.COMPARISON: ("restriction.comparison", where("id >= 7", 7, 8, 9)),
    Form.LOGIC: ("restriction.and-or", where("id = 1 OR id = 2 AND name = 'name 2'", 1, 2)),
    Form.NOT: ("restriction.not", where("NOT id < 7", 7, 8, 9)),
    Form.IN: ("restriction.in-list", where("id IN (7, 8, 20)", 7, 8)),
    Form.BETWEEN: ("restriction.between", where("id BETWEEN 7 AND 8", 7, 8)),
    Form.IS_NULL: ("restriction.is-null", where("city IS NULL", 0, 3, 6, 9)),
    Form.LIKE: ("restriction.like", where("name LIKE '%7'", 7)),
    Form.DOUBLE_QUOTED: ("restriction.double-quoted-literal", where('name = "name 7"', 7)),
    Form.TEMPORAL: ("restriction.temporal-literal", where("DATE '2020-01-01' < DATE '2020-01-02' AND id = 7", 7)),
    Form.NESTED_FIELD: ("restriction.nested-field", where("note.size = -7", 7)),
    Form.KEYWORD_LITERAL: ("restriction.keyword-inside-a-literal", where("name != 'select 1' AND id = 7", 7)),
    Form.KEYWORD_NAME: ("restriction.keyword-as-a-name", NAMED_UPDATE),
}
FUNCTIONS = (
    ("LOWER(name) IN ('a', 'b')", ()),
    ("LOWER(city) != 'city 1'", (2, 4, 5, 7, 8)),
    ("LENGTH(name) BETWEEN 1 AND 5 OR id = 1", (1,)),
)
"""Restrictions that select nothing, are NULL for a row, and have an operator with a clause of its own."""
NOTHING = ("restriction.nothing-selected", where("id > 100"))


def rows(*indices: int) -> Spoil:
    """The read delivers these rows of the table, whatever the restriction says."""

    def spoil(answers: list[Answer]) -> None:
        table = Obedient(case_of()).table
        if not session(answers).streams:
            name = session(answers).name + "/streams/0"
            session(answers).streams.add(name=name)
            answers.append(Answer(1, "s/0", "ReadRows", proto.ReadRowsRequest(read_stream=name)))
        read(answers).send(table.take(pa.array(indices, pa.int64())))

    return spoil


def ids(*indices: int) -> pa.Table:
    """These rows of the table, with the column ``id`` alone."""
    return Obedient(case_of()).table.select(["id"]).take(pa.array(indices, pa.int64()))


def served_unfiltered(answers: list[Answer]) -> None:
    """The restriction is dropped, and the whole table delivered."""
    create(answers).status, create(answers).details = "OK", ""
    reply = proto.ReadSession()
    reply.CopyFrom(create(answers).request.read_session)
    reply.name = "projects/p/locations/us/sessions/s0"
    reply.expire_time.FromMicroseconds(1_790_000_000_000_000 + 21_600_000_000)
    reply.arrow_schema.serialized_schema = Obedient(case_of()).table.schema.serialize().to_pybytes()
    create(answers).responses = [reply]
    rows(*range(10))(answers)


def accepted(answers: list[Answer]) -> None:
    """The restriction is accepted, and nothing is read."""
    served_unfiltered(answers)
    answers.pop()


def without_streams(answers: list[Answer]) -> None:
    """The session has no streams, as one that selects nothing, and nothing is read."""
    session(answers).ClearField("streams")
    answers.pop()


def noticed_late(answers: list[Answer]) -> None:
    """The restriction is accepted, and only the read of the session fails."""
    served_unfiltered(answers)
    read(answers).refuse()


DEVIATIONS = (
    *(
        Deviation(clause, case, rows(*range(10)))
        for form, (clause, case) in FORMS.items()
        if form not in (Form.IS_NULL, Form.KEYWORD_NAME)
    ),
    Deviation("restriction.keyword-as-a-name", NAMED_UPDATE, lambda a: read(a).send(Obedient(NAMED_UPDATE).table)),
    Deviation("restriction.is-null", where("city IS NOT NULL", 1, 2, 4, 5, 7, 8), rows(1, 2, 4, 5, 7)),
    Deviation("restriction.is-null", where("(city = 'city 1') IS NOT FALSE", 0, 1, 3, 6, 9), rows(1)),
    *(Deviation(clause, case, lambda a: create(a).refuse()) for clause, case in FORMS.values()),
    *(
        Deviation(*NOTHING, spoil, others=("restriction.comparison",))
        for spoil in (rows(*range(10)), rows(1), lambda answers: create(answers).refuse())
    ),
    Deviation(
        "restriction.between",
        where("id BETWEEN 70 AND 80"),
        rows(7),
        others=("restriction.nothing-selected",),
    ),
    *(
        Deviation(clause, case, rows(1))
        for form, (clause, case) in FORMS.items()
        if form not in (Form.LOGIC, Form.KEYWORD_NAME)
    ),
    Deviation("restriction.comparison", FORMS[Form.COMPARISON][1], lambda a: read(a).refuse()),
    Deviation("restriction.comparison", FORMS[Form.COMPARISON][1], without_streams),
    *(Deviation("restriction.function", where(text, *kept), rows(0, 1)) for text, kept in FUNCTIONS),
    Deviation(
        "restriction.null-is-not-true",
        where("city != 'city 1'", 2, 4, 5, 7, 8),
        rows(0, 2, 3, 4, 5, 6, 7, 8, 9),
    ),
    Deviation("restriction.malformed-is-refused", bad("id >", "malformed-restriction"), accepted),
    Deviation("restriction.malformed-is-refused", bad("id > 1 LIMIT 3", "malformed-restriction"), noticed_late),
    Deviation(
        "restriction.bad-one-yields-no-rows",
        bad("id >", "malformed-restriction"),
        served_unfiltered,
        others=("restriction.malformed-is-refused",),
    ),
    Deviation("restriction.too-long-is-refused", bad("id > 0 " * 200_000, "restriction-too-long"), accepted),
    Deviation("restriction.unknown-column-is-refused", bad("nope > 0", "restriction-unknown-column"), accepted),
    Deviation("restriction.aggregate-is-refused", bad("COUNT(*) > 0", "restriction-aggregate"), accepted),
    Deviation("restriction.subquery-is-refused", bad("id IN (SELECT 1)", "restriction-subquery"), accepted),
    Deviation("restriction.second-statement-is-refused", bad("TRUE; DROP TABLE t", "restriction-statement"), accepted),
    Deviation("restriction.not-boolean-is-refused", bad("id + 1", "restriction-not-boolean"), accepted),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


@pytest.mark.parametrize("form", Form)
def test_each_form_is_known_by_its_text(form: Form) -> None:
    """A restriction is asked about by the clause on its own form."""
    case = FORMS[form][1]
    server = Obedient(case)
    view = view_of(case, server.freeze(server.run()), server.table)

    assert forms_of(view.sessions[0])[0] is form


def test_an_operator_and_its_operand_are_judged_by_two_clauses() -> None:
    """BETWEEN may be wrong, or the dates that it compares."""
    found = passed(verdicts(where("DATE '2020-01-02' BETWEEN DATE '2020-01-01' AND DATE '2020-01-03'", *range(10))))

    restricted = {clause for clause in found if clause.startswith("restriction.")}
    assert restricted == {"restriction.temporal-literal", "restriction.between"}


def test_a_function_may_be_refused() -> None:
    """A refusal that the case permits is no finding, and no other clause asks for the rows."""
    step = CreateSession(row_restriction="LENGTH(name) = 6", expect=Expect(rows=(7,), codes=("OK", "INVALID_ARGUMENT")))

    found = verdicts(case_of(step, ReadRows()), lambda answers: create(answers).refuse())

    assert [one for one in found if one.clause.startswith("restriction.") and one.outcome is Outcome.FAIL] == []


def test_wrong_rows_of_a_function_under_a_projection_are_those_of_the_function() -> None:
    """The clause on filters over other columns is a MUST, and what a function selects is none."""
    step = CreateSession(
        row_restriction="LENGTH(name) = 6 AND id = 7", selected_fields=("id",), expect=Expect(rows=(7,))
    )

    found = verdicts(case_of(step, ReadRows()), lambda answers: read(answers).send(ids(1)))

    assert {one.clause for one in found if one.outcome is Outcome.FAIL} == {"restriction.function"}


def test_an_empty_answer_is_judged_by_two_clauses() -> None:
    """The clause of the form judges each answer, and an empty one is judged as such, too."""
    found = passed(verdicts(where("id BETWEEN 70 AND 80"), rows()))

    restricted = {clause for clause in found if clause.startswith("restriction.")}
    assert restricted == {"restriction.between", "restriction.nothing-selected"}


def test_words_in_quotes_are_no_words() -> None:
    """A literal that holds LIKE, IN and AND makes no restriction of those forms."""
    case = where("name = 'like in and or not'", 1)
    server = Obedient(case)
    view = view_of(case, server.freeze(server.run()), server.table)

    assert forms_of(view.sessions[0]) == (Form.COMPARISON,)


def test_every_reason_class_of_a_bad_restriction_has_a_clause() -> None:
    """Every reason class in the list has a deviation here."""
    reasons = {d.case.steps[0].expect.reason for d in DEVIATIONS}

    assert set(BAD_RESTRICTIONS) <= reasons


@pytest.mark.parametrize(
    ("came", "observed"),
    [
        ((7, 9), [("1 of them missing", 8)]),
        ((7, 8, 9, 8), [("1 of them once more", 8)]),
        ((7, 8, 9, 8, 9, 7), [("3 of them once more", 8)]),
        ((3, 7, 8, 9, 4), [("2 other rows", 3)]),
        ((9, 9, 0), [("1 other row", 0), ("2 of them missing", 7), ("1 of them once more", 9)]),
    ],
)
def test_rows_that_a_restriction_does_not_select_are_counted(
    came: tuple[int, ...], observed: list[tuple[str, int]]
) -> None:
    """Others, missing ones and repeated ones, each with the first of them."""
    found = [one for one in verdicts(where("id >= 7", 7, 8, 9), rows(*came)) if one.outcome is Outcome.FAIL]
    findings = [finding for one in found if one.clause == "restriction.comparison" for finding in one.findings]

    table = Obedient(case_of()).table
    assert [finding.observed for finding in findings] == [
        f"{count}, such as {show_row(table, row)}" for count, row in observed
    ]
    assert {finding.required for finding in findings} == {"the 3 rows for which 'id >= 7' is TRUE"}
