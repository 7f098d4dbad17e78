"""The chapter on the Avro schema of a session: one wrong schema at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge_view
from conformance.contract.viewing import view_of
from conformance.formats.avro import AvroRule, read_avro_schema
from conformance.records import BqType, Column, CreateSession, Level, Mode, Outcome, Table
from tests.contract.exchanges import Answer, Deviation, Obedient, Spoil, case_of, create, prove
from tests.formats.avro.breaking import SCHEMAS

load_chapters()
NOT_ASKED = {
    AvroRule.LOGICAL_UNKNOWN: "readers ignore such a type, and the clause on types compares what is left",
    AvroRule.ITEMS_LIMIT: "a limit of the reader",
    AvroRule.ROWS_MISSING: "no number of rows is given to the reader: the count of a response has clauses",
    AvroRule.ROWS_BEHIND: "as above",
}
"""The rules that no clause reports, each with the reason."""

COLUMNS = (
    Column("row_id", BqType.INT64, Mode.REQUIRED),
    Column("at", BqType.DATETIME),
    Column("note", BqType.JSON),
    Column("open", BqType.RANGE, Mode.REQUIRED, range_of=BqType.DATE),
    Column("tags", BqType.STRING, Mode.REPEATED),
    Column("home", BqType.RECORD, fields=(Column("town", BqType.STRING), Column("price", BqType.NUMERIC))),
)
CASE = case_of(CreateSession(data_format="AVRO"), table=Table(COLUMNS, ()))


def sent(text: str) -> Spoil:
    """The session has this text as its schema."""

    def spoil(answers: list[Answer]) -> None:
        create(answers).responses[0].avro_schema.schema = text

    return spoil


def changed(change: Callable[[Any, Any], None]) -> Spoil:
    """The schema of the session is changed in place, given as JSON: the record of a row, and its fields."""

    def spoil(answers: list[Answer]) -> None:
        session = create(answers).responses[0]
        tree = json.loads(session.avro_schema.schema)
        change(tree, tree["fields"])
        session.avro_schema.schema = json.dumps(tree)

    return spoil


def lie(clause: str, change: Callable[[Any, Any], None], *others: str) -> Deviation:
    """A schema that is changed so fails the clause, and those that follow from it."""
    return Deviation(clause, CASE, changed(change), others)


PLAIN_DATE = {"type": "int", "logicalType": "date"}
DEVIATIONS = (
    Deviation("avro-schema.is-json", CASE, sent("{")),
    Deviation("avro-schema.root-is-a-record", CASE, sent('{"type":"array","items":"long"}')),
    lie("avro-schema.is-valid", lambda _, fields: fields[0].update(type="LONG")),
    lie("avro-schema.names-are-legal", lambda _, fields: fields[5]["type"][1].update(name="a-b")),
    lie("avro-schema.names-are-unique", lambda _, fields: fields[5]["type"][1].update(name="__root__")),
    lie("avro-schema.root-has-its-name", lambda tree, _: tree.update(name="table")),
    lie("avro-schema.null-is-the-first-branch", lambda _, fields: fields[1]["type"].reverse()),
    lie("avro-schema.fields-are-the-columns", lambda _, fields: fields.reverse()),
    lie("avro-schema.fields-are-the-columns", lambda _, fields: fields.__delitem__(-1)),
    lie("avro-schema.fields-are-the-columns", lambda _, fields: fields[5]["type"][1]["fields"][0].update(name="city")),
    lie("avro-schema.types-are-the-columns", lambda _, fields: fields[1].update(type=["null", "string"])),
    lie("avro-schema.types-are-the-columns", lambda _, fields: fields[5].update(type=["null", "string"])),
    lie("avro-schema.sql-types-are-named", lambda _, fields: fields[2].update(type=["null", "string"])),
    lie("avro-schema.modes-are-the-columns", lambda _, fields: fields[0].update(type=["null", "long"])),
    lie("avro-schema.modes-are-the-columns", lambda _, fields: fields[4]["type"].update(items=["null", "string"])),
    lie("avro-schema.bounds-are-unions", lambda _, fields: fields[3]["type"]["fields"][0].update(type=PLAIN_DATE)),
    lie(
        "avro-schema.decimals-are-declared",
        lambda _, fields: fields[5]["type"][1]["fields"][1]["type"][1].__delitem__("precision"),
        "avro-schema.types-are-the-columns",
    ),
)  # fmt: skip


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def test_every_rule_is_named_or_left_for_a_reason() -> None:
    """Each rule of Avro is named by one clause, or no clause uses it, for a reason."""
    named = [rule for clause in CLAUSES.values() for rule in clause.rules if isinstance(rule, AvroRule)]

    assert len(named) == len(set(named))
    assert set(AvroRule) - set(named) == set(NOT_ASKED)


@pytest.mark.parametrize("rule", SCHEMAS, ids=str)
def test_a_schema_by_which_nothing_can_be_decoded_is_a_finding(rule: AvroRule) -> None:
    """A MUST clause fails itself: the clauses on columns have no subject then, and would say nothing."""
    server = Obedient(CASE)
    answers = server.run()
    create(answers).responses[0].avro_schema.schema = SCHEMAS[rule]
    view = view_of(CASE, server.freeze(answers), server.table)

    failed = [one.clause for one in judge_view(view, CLAUSES.values()) if one.outcome is Outcome.FAIL]

    decodable = read_avro_schema(SCHEMAS[rule]).schema is not None
    assert decodable or any(one.startswith("avro-schema.") and CLAUSES[one].level is Level.MUST for one in failed)
