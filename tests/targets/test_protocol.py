"""The published schema is what binds both sides, and errors say what was expected."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from conformance.contain.errors import ProtocolError
from conformance.contain.lines import decode_base64
from conformance.records import BqType, Column, Mode, to_json
from conformance.targets.questions import PROTOCOL

ANSWERS = ("serialized", "unsupported", "error")


def test_the_published_schema_is_a_schema() -> None:
    """The file is valid JSON Schema, and every definition in it is used."""
    published = PROTOCOL.schema
    text = json.dumps(published)

    Draft202012Validator.check_schema(published)
    assert [name for name in published["$defs"] if f'"#/$defs/{name}"' not in text] == []


def test_every_column_fits_the_schema() -> None:
    """The JSON form of each kind of column is a column of the protocol."""
    columns = [
        Column("a", BqType.NUMERIC, precision=10, scale=2),
        Column("b", BqType.STRING, Mode.REPEATED, max_length=4),
        Column("c", BqType.RANGE, range_of=BqType.DATE),
        Column("d", BqType.RECORD, fields=(Column("e", BqType.RECORD, fields=(Column("f", BqType.INT64),)),)),
    ]
    request = {
        "op": "serialize", "id": 2, "case": "c", "needs": [], "columns": [to_json(column) for column in columns],
        "batches": [1], "arrow": "AAAA", "rows": [{}],
    }  # fmt: skip

    assert json.loads(PROTOCOL.encode(request)) == request


def test_our_own_requests_are_checked_too() -> None:
    """A request outside the schema is a defect of ours, and is not sent."""
    with pytest.raises(ValidationError):
        PROTOCOL.encode({"op": "serialize", "id": 0})


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 2, "status": "ok", "schema": "AA==", "batches": []},
        {"id": 2, "status": "unsupported"},
        {"id": 2, "status": "error", "message": "no", "code": "UNIMPLEMENTED"},
    ],
)
def test_answers_within_the_schema_are_taken(answer: dict[str, Any]) -> None:
    """Each kind of answer to a request is accepted."""
    assert PROTOCOL.decode(json.dumps(answer).encode(), request=2, kinds=ANSWERS) == answer


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"debug: here", "expected a JSON object on one line but got b'debug: here'"),
        (b"\xff\xfe", "expected a JSON object on one line but got b'\\xff\\xfe'"),
        (b"[1]", "expected a JSON object on one line but got b'[1]'"),
        (b'{"id": 1, "status": "unsupported"}', "expected the answer to request 2 but got the id 1"),
        (b'{"status": "unsupported"}', "expected the answer to request 2 but got the id None"),
        (
            b'{"id": 2, "status": "ok", "schema": "AA=="}',
            "expected serialized as protocol.schema.json has it, but in the answer: 'batches' is a required property",
        ),
        (
            b'{"id": 2, "status": "ok", "schema": "AA==", "batches": [1]}',
            "expected serialized as protocol.schema.json has it, but in ['batches'][0]: 1 is not of type 'string'",
        ),
        (
            b'{"id": 2, "status": "error", "message": "no", "code": "OK"}',
            "expected error as protocol.schema.json has it, but in ['code']: 'OK' is not one of",
        ),
        (
            b'{"id": 2, "status": "unsupported", "why": 1}',
            "expected unsupported as protocol.schema.json has it, but in the answer: Additional properties are not",
        ),
        (b'{"id": 2, "status": "maybe"}', "expected serialized as protocol.schema.json has it, but in "),
    ],
)
def test_lines_outside_the_schema_are_refused(line: bytes, message: str) -> None:
    """A line that is not an answer is refused with the expected and the actual form."""
    with pytest.raises(ProtocolError) as raised:
        PROTOCOL.decode(line, request=2, kinds=ANSWERS)

    assert str(raised.value).startswith(message)


def test_bytes_have_to_be_base64() -> None:
    """Text that is no base64 is refused with its place."""
    with pytest.raises(ProtocolError, match=r"expected base64 in batches\[1\] but got '\?\?'"):
        decode_base64("??", "batches[1]")
