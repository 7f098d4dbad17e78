"""The JSON report obeys its published schema, and two runs that saw the same differ in nothing but time."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

import conformance.report
from conformance.contract.clause import load_chapters
from conformance.engine.events import RunEnded, SuiteBroke
from conformance.engine.result import Result, fold
from conformance.records import Outcome, Verdict, from_json, to_json
from conformance.report.document import Report, document, report_schema, write_json
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started

SCHEMA_FILE = Path(conformance.report.__file__).with_name("report.schema.json")


def full_result() -> Result:
    """A run with something of everything."""
    verdicts = [
        failing("a", "framing.x", "3 messages", "no message"),
        passing("a", "rows.once"),
        Verdict("a", "types.x", Outcome.UNTESTABLE, reason="cannot seed"),
    ]
    entries = [ExpectedFailure("framing.x", "fail: no message*"), ExpectedFailure("gone.*", "*")]
    start = started("framing.x", "rows.once", "types.x", "silent.x", expectations=entries)
    return fold([start, judged("a", *verdicts), SuiteBroke("b", "Traceback"), RunEnded(2.0)])


def test_the_report_obeys_the_published_schema(tmp_path: Path) -> None:
    """A reader in another language needs the schema and nothing else."""
    path = tmp_path / "out" / "report.json"

    write_json(full_result(), path)

    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    assert [error.message for error in validator.iter_errors(json.loads(path.read_text()))] == []


def test_the_schema_is_strict() -> None:
    """An unknown key, a missing one and a wrong outcome are refused."""
    validator = jsonschema.Draft202012Validator(report_schema())
    good = to_json(document(full_result()))

    assert validator.is_valid(good)
    assert not validator.is_valid(good | {"extra": 1})
    assert not validator.is_valid({key: value for key, value in good.items() if key != "clauses"})
    assert not validator.is_valid(good | {"outcomes": [{"outcome": "maybe", "count": 1}]})


def test_the_report_reads_back(tmp_path: Path) -> None:
    """The document is a record like any other."""
    path = tmp_path / "report.json"
    write_json(full_result(), path)

    assert from_json(Report, json.loads(path.read_text())) == document(full_result())


def test_each_list_of_the_run_is_in_the_report() -> None:
    """Failed, expected, not judged, stale and silent are all there."""
    report = document(full_result())

    assert [(item.outcome, item.text) for item in report.deviations] == [
        (Outcome.FAIL, "3 messages"),
        (Outcome.EXPECTED_FAIL, "no message"),
        (Outcome.UNTESTABLE, "cannot seed"),
    ]
    assert [problem.entry for problem in report.problems] == [1]
    assert report.silent == ("silent.x",)
    assert list(zip(report.broke_on, report.broke, strict=True)) == [("b", "Traceback")]
    assert report.failed


def test_a_deviation_carries_its_replay() -> None:
    """One line that shows it again."""
    assert document(full_result()).deviations[0].replay == "conformance replay a --target fake.toml"


def test_a_clause_has_the_evidence_of_its_requirement() -> None:
    """A clause that this version of the suite does not know has none."""
    load_chapters()
    start = started("rows.row-count-is-true", "rows.once")
    result = fold(
        [start, judged("a", passing("a", "rows.row-count-is-true"), passing("a", "rows.once")), RunEnded(2.0)]
    )

    evidence = {clause["id"]: clause.get("evidence") for clause in to_json(document(result))["clauses"]}

    assert evidence == {"rows.row-count-is-true": ["recorded", "client", "documentation"], "rows.once": None}
