"""The JSON Schema of a record says what the codec reads, for every record of the suite."""

from __future__ import annotations

import jsonschema
import pytest

from conformance._jsonschema import json_schema, tagged_schema
from conformance.records import (
    BqType,
    Call,
    Case,
    Column,
    CreateSession,
    Exchange,
    Finding,
    Reading,
    ReadRows,
    RecordError,
    SplitStream,
    Table,
    Verdict,
    from_json,
    to_json,
)
from tests.engine.samples import failing, sample_call, sample_case, sample_exchange

RECORDS = [
    sample_case("a", clauses=["x.*"], needs=["split"]),
    Case(
        "b",
        "B",
        Table((Column("r", BqType.RECORD, fields=(Column("a", BqType.INT64),)),), rows=()),
        (CreateSession(), ReadRows(take=1), SplitStream()),
    ),
    sample_exchange("a", sample_call(responses=(b"\x00\xff",))),
    failing("a", "x.y", "3 messages"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_what_the_codec_writes_is_valid(record: object) -> None:
    """Writer and schema agree."""
    schema = json_schema(type(record), title="x")

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(to_json(record), schema)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Verdict, {"case_id": "a", "clause": "x", "outcome": "maybe"}),
        (Verdict, {"case_id": "a", "clause": "x"}),
        (Verdict, {"case_id": "a", "clause": "x", "outcome": "pass", "colour": "red"}),
        (Finding, {"clause": "x", "required": "y", "observed": "z", "start": "4"}),
        (Exchange, {"case_id": "a", "target": "t", "calls": {}}),
    ],
)
def test_what_the_codec_refuses_is_invalid(kind: type, data: object) -> None:
    """Reader and schema agree."""
    with pytest.raises(RecordError):
        from_json(kind, data)
    assert not jsonschema.Draft202012Validator(json_schema(kind, title="x")).is_valid(data)


@pytest.mark.parametrize("kind", [Case, Exchange, Verdict, Reading, Call])
def test_every_record_has_a_schema_with_descriptions(kind: type) -> None:
    """A reader of the schema finds the words of the docstrings."""
    definitions = json_schema(kind, title="x")["$defs"]

    described = [definition.get("description") for definition in definitions.values() if "properties" in definition]
    assert all(described)


def test_members_of_a_union_are_told_apart_by_their_tag() -> None:
    """The tag is required and constant."""
    validator = jsonschema.Draft202012Validator(tagged_schema([CreateSession, ReadRows], tag="op", title="x"))

    assert validator.is_valid({"op": "read-rows", "take": 1})
    assert not validator.is_valid({"op": "create-session", "take": 1})
    assert not validator.is_valid({"take": 1})


def test_an_annotation_without_a_schema_is_refused() -> None:
    """Better no schema than one that accepts anything."""
    with pytest.raises(TypeError, match="no JSON Schema for the annotation"):
        json_schema(complex, title="x")
