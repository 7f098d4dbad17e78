"""``check --avro-schema`` and ``dissect --avro-schema``: a session's schema and rows in Avro."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli._group import cli
from tests.formats.avro.breaking import record, text_of

SCHEMA = text_of(["null", "long"], "string")
ROWS = bytes.fromhex("02 54 02 78 00 00")
CHECK = ("check", "--avro-schema", "schema.json")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """A runner in a folder with schemas and rows."""
    monkeypatch.chdir(tmp_path)
    Path("schema.json").write_text(SCHEMA)
    Path("second.json").write_text(text_of(["long", "null"], "string"))
    Path("broken.json").write_text("{")
    Path("hyphen.json").write_text(json.dumps(record("long", namespace="my-project")))
    Path("rows.bin").write_bytes(ROWS)
    Path("cut.bin").write_bytes(ROWS[:3])
    Path("long.bin").write_bytes(bytes.fromhex("02 d4 00 00"))
    Path("empty.bin").write_bytes(b"")
    Path("table.avro").write_bytes(b"Obj\x01" + bytes(8))
    return CliRunner()


def _run(run: CliRunner, *arguments: str) -> Result:
    return run.invoke(cli, arguments)


def test_a_clean_schema_and_clean_rows_have_a_line_each(run: CliRunner) -> None:
    """With the number of columns and rows."""
    done = _run(run, *CHECK, "--avro-rows", "rows.bin", "--row-count", "2")

    assert done.output.splitlines() == [
        "schema.json: 0 faults, 0 notes (Avro schema, 2 columns)",
        "rows.bin: 0 faults, 0 notes (Avro rows, 2 rows)",
    ]
    assert done.exit_code == 0


def test_a_schema_may_be_judged_alone(run: CliRunner) -> None:
    """A fault names the attribute, and who forbids it."""
    done = _run(run, "check", "--avro-schema", "hyphen.json")

    assert done.exit_code == 1
    assert "avro-schema.namespace-illegal  [AVRO]" in done.output
    assert "hyphen.json, namespace" in done.output


def test_a_rule_of_the_service_counts(run: CliRunner) -> None:
    """Legal Avro that BigQuery does not send."""
    done = _run(run, "check", "--avro-schema", "second.json")

    assert (done.exit_code, "avro-schema.union-null-first  [BIGQUERY]" in done.output) == (1, True)


def test_a_fault_of_rows_shows_the_bytes(run: CliRunner) -> None:
    """With row, column and part."""
    done = _run(run, *CHECK, "--avro-rows", "rows.bin", "--avro-rows", "cut.bin")

    assert done.exit_code == 1
    assert "where     cut.bin, row 0, b" in done.output
    assert "> 0x0002  02                         row 0, b: length of the text = 1 byte" in done.output
    assert done.output.endswith("cut.bin: 1 fault, 0 notes (Avro rows, 0 rows)\n")


def test_a_note_does_not_count(run: CliRunner) -> None:
    """A number with a zero byte too many is accepted by every parser."""
    done = _run(run, *CHECK, "--avro-rows", "long.bin")

    assert done.exit_code == 0
    assert "avro-rows.varint-not-minimal  (note)" in done.output
    assert done.output.endswith("long.bin: 0 faults, 1 note (Avro rows, 1 row)\n")


def test_the_declared_number_of_rows_counts(run: CliRunner) -> None:
    """Too many are found as well as too few."""
    for count, rule in (("1", "avro-rows.behind"), ("3", "avro-rows.missing")):
        done = _run(run, *CHECK, "--avro-rows", "rows.bin", "--row-count", count)
        assert (done.exit_code, f"{rule}  [BIGQUERY]" in done.output) == (1, True)


def test_rows_are_not_judged_by_a_schema_that_is_not_understood(run: CliRunner) -> None:
    """The line says why."""
    done = _run(run, "check", "--avro-schema", "broken.json", "--avro-rows", "rows.bin")

    assert done.exit_code == 1
    assert done.output.endswith("rows.bin: not judged, because rows cannot be decoded by this schema\n")


def test_json_has_every_fault(run: CliRunner) -> None:
    """A file each, with places and sources."""
    done = _run(run, *CHECK, "--avro-rows", "cut.bin", "--json")

    schema, rows = json.loads(done.stdout)
    assert (schema["kind"], schema["faults"]) == ("avro schema", [])
    (fault,) = rows["faults"]
    assert (fault["rule"], fault["forbidden_by"], fault["field"]) == ("avro-rows.length-beyond", "Avro", "row 0, b")
    assert (fault["start"], fault["end"]) == (2, 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "--avro-rows", "rows.bin"), "got rows without a schema"),
        ((*CHECK, "--row-count", "1"), "expected --row-count with one --avro-rows, got 0"),
        ((*CHECK, "rows.bin"), "expected one of FILE"),
        ((*CHECK, "--writer"), "expected --avro-schema without --writer"),
        ((*CHECK, "--level", "must"), "expected --avro-schema without --level"),
        (("check", "--avro-schema", "empty.bin"), "expected an Avro schema in JSON, got an empty file"),
        (("check", "--avro-schema", "table.avro"), "expected an Avro schema in JSON, got an Avro file"),
        (("dissect", "rows.bin", "--row-count", "1"), "expected --avro-schema to go with it"),
        (("dissect", "rows.bin", "--avro-schema", "schema.json", "--kind", "file"), "got --kind as well"),
        (("dissect", "rows.bin", "--avro-schema", "broken.json"), "`conformance check --avro-schema broken.json`"),
        (("dissect", "empty.bin", "--avro-schema", "schema.json"), "expected rows in Avro, got no bytes"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(run: CliRunner, arguments: tuple[str, ...], said: str) -> None:
    """The sentence says what is missing, or too much."""
    done = _run(run, *arguments)

    assert (done.exit_code, said in " ".join(done.output.split())) == (2, True), done.output


def test_rows_are_annotated(run: CliRunner) -> None:
    """Each byte with its row, its column and its part."""
    done = _run(run, "dissect", "rows.bin", "--avro-schema", "schema.json")

    assert done.exit_code == 0
    assert "row 0, a" in done.output
    assert "0x0001  54                       long                    42" in done.output


def test_a_fault_is_marked_in_the_dump(run: CliRunner) -> None:
    """A note is not; the exit status follows."""
    cut = _run(run, "dissect", "cut.bin", "--avro-schema", "schema.json")
    note = _run(run, "dissect", "long.bin", "--avro-schema", "schema.json")

    assert (cut.exit_code, "!! avro-rows.length-beyond" in cut.output) == (1, True)
    assert (note.exit_code, "!  avro-rows.varint-not-minimal" in note.output) == (0, True)


def test_a_rule_is_explained(run: CliRunner) -> None:
    """As each rule on bytes is."""
    done = _run(run, "explain", "avro-rows.union-branch")

    assert (done.exit_code, "[rule on bytes]" in done.output) == (0, True)
