"""``check --rest`` and ``dissect --rest``: the Arrow messages in the JSON answer of a query."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from conformance.cli._group import cli
from conformance.reference.message import batch_message, schema_message

BATCH = pa.record_batch({"x": pa.array([1, None, 3])})
SCHEMA_BYTES, BATCH_BYTES = schema_message(BATCH.schema).encode(), batch_message(BATCH).encode()


def answer(schema: bytes | str | None = SCHEMA_BYTES, batch: bytes | str | None = BATCH_BYTES) -> dict[str, Any]:
    """An answer of jobs.query; a text is put in as it is."""
    made: dict[str, Any] = {"jobComplete": True, "totalRows": "3"}
    for field, inner, value in (
        ("arrowSchema", "serializedSchema", schema),
        ("arrowRecordBatch", "serializedRecordBatch", batch),
    ):
        if value is not None:
            made[field] = {inner: value if isinstance(value, str) else base64.b64encode(value).decode()}
    return made


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that writes ``answer.json`` and calls a command beside it."""
    monkeypatch.chdir(tmp_path)

    def call(content: Any, *arguments: str) -> Result:
        text = content if isinstance(content, str) else json.dumps(content)
        Path("answer.json").write_text(text, encoding="utf-8")
        return CliRunner().invoke(cli, arguments)

    return call


def test_both_messages_of_an_answer_are_judged(called: Any) -> None:
    """A clean answer has no finding, on two messages."""
    done = called(answer(), "check", "--rest", "answer.json")

    assert (done.exit_code, "on 2 messages" in done.output) == (0, True)


def test_a_finding_names_the_field_of_the_answer(called: Any) -> None:
    """A batch that is cut is found, with the field that has it."""
    done = called(answer(batch=BATCH_BYTES[:-8]), "check", "--rest", "answer.json")

    assert done.exit_code == 1
    assert "framing.batch-body-complete" in done.output
    assert "answer.json, arrowRecordBatch.serializedRecordBatch, body" in done.output


@pytest.mark.parametrize("batch", [None, ""], ids=["absent", "empty"])
def test_an_answer_without_rows_has_a_schema_alone(called: Any, batch: str | None) -> None:
    """A page without rows need not have a batch."""
    done = called(answer(batch=batch), "check", "--rest", "answer.json")

    assert (done.exit_code, "on 1 message" in done.output) == (0, True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param({"rows": []}, "expected the answer of a query with arrowSchema.serializedSchema", id="json rows"),
        pytest.param(answer(schema="!!"), "arrowSchema.serializedSchema: expected base64", id="no base64"),
        pytest.param(
            answer() | {"arrowRecordBatch": "AAAA"}, "arrowRecordBatch: expected an object", id="a batch that is a text"
        ),
        pytest.param("nope", "expected JSON", id="no json"),
        pytest.param("[]", "expected a JSON object", id="no object"),
    ],
)
def test_what_has_no_arrow_messages_is_refused(called: Any, content: Any, said: str) -> None:
    """The sentence says which part of an answer is missing; nothing is judged."""
    done = called(content, "check", "--rest", "answer.json")

    assert (done.exit_code, said in done.output) == (2, True), done.output


def test_check_takes_one_kind_of_input(called: Any) -> None:
    """An answer beside a schema message is refused."""
    done = called(answer(), "check", "--rest", "answer.json", "--schema", "answer.json")

    assert (done.exit_code, "expected one of FILE" in done.output) == (2, True)


def test_an_answer_may_come_through_standard_input(called: Any) -> None:
    """As every other file."""
    done = CliRunner().invoke(cli, ["check", "--rest", "-"], input=json.dumps(answer()))

    assert (done.exit_code, "on 2 messages" in done.output) == (0, True)


def test_messages_are_judged_by_no_clause_on_writers(called: Any) -> None:
    """The option is refused, and not passed over."""
    done = called(answer(), "check", "--rest", "answer.json", "--writer")

    assert (done.exit_code, "expected FILE with --writer" in done.output) == (2, True)


def test_a_batch_in_the_place_of_the_schema_is_a_finding(called: Any) -> None:
    """``dissect`` says of a message what ``check`` says."""
    done = called(answer(schema=BATCH_BYTES), "dissect", "answer.json", "--rest", "schema")

    assert (done.exit_code, "framing.schema-header-kind" in done.output) == (1, True), done.output


@pytest.mark.parametrize(("part", "shown"), [("schema", "Schema message V5"), ("batch", "x data")])
def test_a_message_of_an_answer_is_annotated(called: Any, part: str, shown: str) -> None:
    """The batch is annotated by the schema beside it."""
    done = called(answer(), "dissect", "answer.json", "--rest", part)

    assert (done.exit_code, shown in done.output) == (0, True), done.output


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        pytest.param(answer(batch=None), ("--rest", "batch"), "with a record batch, got one without", id="no batch"),
        pytest.param(answer(), ("--rest", "batch", "--kind", "message"), "got --kind as well", id="kind"),
        pytest.param(
            answer(), ("--rest", "batch", "--schema", "answer.json"), "the answer has its schema", id="schema"
        ),
    ],
)
def test_what_does_not_fit_an_answer_is_refused(
    called: Any, content: Any, arguments: tuple[str, ...], said: str
) -> None:
    """A sentence says what is too much or missing."""
    done = called(content, "dissect", "answer.json", *arguments)

    assert (done.exit_code, said in done.output) == (2, True), done.output
