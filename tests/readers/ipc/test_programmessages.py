"""The messages of programs: the published schema, and the walk over values that decides as it does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from conformance.contain.errors import ProtocolError
from conformance.contain.lines import decode_base64
from conformance.readers.ipc.job import KINDS, READ_OPTIONS, WRITE_OPTIONS, JobStage
from conformance.readers.ipc.programmessages import PROTOCOL, wrong_value

PLAIN: list[Any] = [
    None,
    True,
    -1,
    1 << 70,
    "text",
    {"f64": "3ff0000000000000"},
    {"f64": "nan"},
    {"hex": ""},
    {"hex": "00ff"},
    {"decimal": "-12"},
    {"months": 3},
    {"days": 1, "ms": -5},
    {"months": 1, "days": 2, "ns": 3},
    {"struct": []},
    {"struct": [1, {"struct": [None]}]},
    {"map": [["k", None], ["k", {"map": []}]]},
    [[1, [None]], []],
]
NOT_PLAIN: list[Any] = [
    1.5,
    {},
    {"f64": "3FF0000000000000"},
    {"f64": "inf"},
    {"f64": 1},
    {"hex": "0"},
    {"hex": "zz"},
    {"decimal": "1.5"},
    {"decimal": 1},
    {"months": "3"},
    {"days": 1},
    {"months": True},
    {"days": 1, "ms": 1.5},
    {"struct": {}},
    {"struct": [1.5]},
    {"map": [["k"]]},
    {"map": [["k", 0.5]]},
    {"map": {"k": 1}},
    {"list": []},
    {"struct": [], "map": []},
    [[1.5]],
]


def test_schema_is_one() -> None:
    """The published file is a JSON Schema."""
    Draft202012Validator.check_schema(PROTOCOL.schema)


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values(value: Any) -> None:
    """The walk accepts every value that is plain under the schema."""
    assert Draft202012Validator({**PROTOCOL.schema, "oneOf": [{"$ref": "#/$defs/plain"}]}).is_valid(value)
    assert wrong_value([value]) == ""


@pytest.mark.parametrize("value", NOT_PLAIN, ids=repr)
def test_no_plain_values(value: Any) -> None:
    """The walk finds every value that is not plain under the schema, at any depth."""
    assert not Draft202012Validator({**PROTOCOL.schema, "oneOf": [{"$ref": "#/$defs/plain"}]}).is_valid(value)
    assert wrong_value([1, [value, 1], "x"]).startswith("got ")


def test_vocabularies_agree() -> None:
    """The schema knows the kinds, the options and the stages that jobs and answers have.

    A program has one way to its values, which is its library's own interface.
    """
    defined = PROTOCOL.schema["$defs"]

    assert set(defined["kinds"]["items"]["enum"]) == set(KINDS)
    assert set(defined["readOptions"]["properties"]) == set(READ_OPTIONS)
    assert set(defined["writeOptions"]["properties"]) == set(WRITE_OPTIONS)
    assert set(defined["welcome"]["properties"]["read_options"]["propertyNames"]["enum"]) == set(READ_OPTIONS)
    assert set(defined["welcome"]["properties"]["write_options"]["propertyNames"]["enum"]) == set(WRITE_OPTIONS)
    assert set(defined["error"]["properties"]["stage"]["enum"]) == set(JobStage) - {JobStage.OWN}


def test_request_is_checked() -> None:
    """The suite's own questions are valid under the schema."""
    with pytest.raises(ValidationError):
        PROTOCOL.encode({"id": 1, "op": "read", "kind": "stream", "data": "", "options": {"codec": "lz4"}})


def test_request_is_one_line() -> None:
    """A request has no line end inside."""
    line = PROTOCOL.encode({"id": 1, "op": "read", "kind": "stream", "data": "", "options": {"chunk": 3}})

    assert b"\n" not in line
    assert json.loads(line)["options"] == {"chunk": 3}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"", "expected a JSON object"),
        (b"[" * 100_000, "expected a JSON object"),
        (b"[1]", "expected a JSON object"),
        (b'{"status": "ok"}', "but got the id None"),
        (b'{"id": 7}', "'status' is a required property"),
        (b'{"id": 7, "status": "error", "message": ""}', "'class' is a required property"),
        (b'{"id": 7, "status": "ok", "names": [null], "rows": 0, "columns": [[]]}', "['names'][0]"),
        (b'{"id": 7, "status": "ok", "names": [], "rows": 0, "columns": [], "row": 1}', "Additional properties"),
        (
            b'{"id": 7, "status": "ok", "names": ["a"], "rows": 0, "columns": [3]}',
            "in column 0, but got 3 for the list",
        ),
    ],
)
def test_wrong_answers(line: bytes, said: str) -> None:
    """A fault in an answer is reported with its place."""
    with pytest.raises(ProtocolError) as caught:
        PROTOCOL.decode(line, request=7, kinds=("rows", "unsupported", "error"))

    assert said in str(caught.value)


def test_wrong_base64() -> None:
    """Data that is no base64 breaks the protocol."""
    with pytest.raises(ProtocolError, match="expected base64 in data"):
        decode_base64("§", "data")
