"""The chapter on the Avro schema of a session: one wrong schema at a time, before right rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.formats.avro import AvroRule
from conformance.records import BqType, Column, CreateSession, Mode, Table
from tests.contract.exchanges import Answer, case_of, create, failed, verdicts

load_chapters()
NOT_ASKED = {
    AvroRule.LOGICAL_UNKNOWN: "readers ignore such a type, and the clause on types compares what is left",
    AvroRule.DEPTH: "a limit of the reader",
    AvroRule.SIZE: "a limit of the reader",
    AvroRule.ITEMS_LIMIT: "a limit of the reader",
    AvroRule.ROWS_MISSING: "no number of rows is given to the reader: the count of a response has clauses",
    AvroRule.ROWS_BEHIND: "as above",
}
COLUMNS = (
    Column("row_id", BqType.INT64, Mode.REQUIRED),
    Column("at", BqType.DATETIME),
    Column("note", BqType.JSON),
    Column("open", BqType.RANGE, Mode.REQUIRED, range_of=BqType.DATE),
    Column("tags", BqType.STRING, Mode.REPEATED),
    Column("home", BqType.RECORD, fields=(Column("town", BqType.STRING),)),
)
CASE = case_of(CreateSession(data_format="AVRO"), table=Table(COLUMNS, ()))


def found(change: Callable[[Any], None]) -> set[str]:
    """The clauses that fail where the schema of the session, as JSON, is changed in place."""

    def spoil(answers: list[Answer]) -> None:
        session = create(answers).responses[0]
        tree = json.loads(session.avro_schema.schema)
        change(tree)
        session.avro_schema.schema = json.dumps(tree)

    return failed(verdicts(CASE, spoil))


def test_the_right_schema_fails_nothing() -> None:
    """It is the one that the reference writes."""
    assert found(lambda _tree: None) == set()


def test_a_text_that_is_no_json_is_one_finding() -> None:
    """Nothing else is said of what cannot be read."""

    def spoil(answers: list[Answer]) -> None:
        create(answers).responses[0].avro_schema.schema = "{"

    assert failed(verdicts(CASE, spoil)) == {"avro.schema-is-json"}


@pytest.mark.parametrize(
    ("change", "clauses"),
    [
        (lambda tree: tree.update(name="table"), {"avro.root-has-its-name"}),
        (lambda tree: tree["fields"].reverse(), {"avro.fields-are-the-columns"}),
        (lambda tree: tree["fields"].__delitem__(-1), {"avro.fields-are-the-columns"}),
        (lambda tree: tree["fields"][1].update(type="string"),
         {"avro.types-are-the-columns", "avro.modes-are-the-columns"}),
        (lambda tree: tree["fields"][1].update(type=["null", "string"]), {"avro.types-are-the-columns"}),
        (lambda tree: tree["fields"][2].update(type=["null", "string"]), {"avro.sql-types-are-named"}),
        (lambda tree: tree["fields"][0].update(type=["null", "long"]), {"avro.modes-are-the-columns"}),
        (lambda tree: tree["fields"][4].update(type={"type": "array", "items": ["null", "string"]}),
         {"avro.modes-are-the-columns"}),
        (lambda tree: tree["fields"][3]["type"]["fields"][0].update(type={"type": "int", "logicalType": "date"}),
         {"avro.bounds-are-unions"}),
        (lambda tree: tree["fields"][5]["type"][1]["fields"][0].update(name="city"), {"avro.fields-are-the-columns"}),
        (lambda tree: tree["fields"][5]["type"][1].update(name="a-b"), {"avro.names-are-legal"}),
    ],
)  # fmt: skip
def test_a_wrong_schema_fails_its_clauses(change: Callable[[Any], None], clauses: set[str]) -> None:
    """Each deviation is found by the clause on it."""
    assert found(change) == clauses


def test_every_rule_is_named_or_left_for_a_reason() -> None:
    """Each rule of Avro is named by one clause, or no clause uses it, for a reason."""
    named = [rule for clause in CLAUSES.values() for rule in clause.rules if isinstance(rule, AvroRule)]

    assert len(named) == len(set(named))
    assert set(AvroRule) - set(named) == set(NOT_ASKED)
