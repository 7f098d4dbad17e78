"""SARIF has a rule for each clause and a result for each deviation, in the form that the standard gives."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.engine.events import RunEnded, SuiteBroke
from conformance.engine.result import fold
from conformance.records import Finding, Outcome, Verdict
from conformance.report.document import Report, document
from conformance.report.reading import read_report
from conformance.report.sarif import sarif, write_sarif
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started
from tests.fixtures import ROOT
from tests.report.samples import report_of, result_of

load_chapters()
TEXT: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}, "markdown": {"type": "string"}},
}
LEVEL: Final = {"enum": ["none", "note", "warning", "error"]}
LOCATION: Final = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "physicalLocation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9._~%/:-]+$"}},
                },
                "region": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"startLine": {"type": "integer", "minimum": 1}},
                },
            },
        },
        "logicalLocations": {
            "type": "array",
            "uniqueItems": True,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {name: {"type": "string"} for name in ("name", "fullyQualifiedName", "kind")},
            },
        },
    },
}
RULE: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "shortDescription": TEXT,
        "fullDescription": TEXT,
        "help": TEXT,
        "helpUri": {"type": "string", "format": "uri"},
        "defaultConfiguration": {"type": "object", "additionalProperties": False, "properties": {"level": LEVEL}},
        "properties": {
            "type": "object",
            "properties": {"tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}}},
        },
    },
}
RESULT: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["message"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": TEXT,
        "locations": {"type": "array", "items": LOCATION},
        "occurrenceCount": {"type": "integer", "minimum": 1},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "suppressions": {
            "type": "array",
            "uniqueItems": True,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["kind"],
                "properties": {"kind": {"enum": ["inSource", "external"]}, "justification": {"type": "string"}},
            },
        },
        "properties": {"type": "object"},
    },
}
NOTIFICATION: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["message"],
    "properties": {
        "level": LEVEL,
        "message": TEXT,
        "associatedRule": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"id": {"type": "string"}, "index": {"type": "integer", "minimum": 0}},
        },
    },
}
RUN: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["tool"],
    "properties": {
        "tool": {
            "type": "object",
            "additionalProperties": False,
            "required": ["driver"],
            "properties": {
                "driver": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["name"],
                    "properties": {
                        "name": {"type": "string"},
                        "version": {"type": "string"},
                        "rules": {"type": "array", "uniqueItems": True, "items": RULE},
                    },
                }
            },
        },
        "automationDetails": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"id": {"type": "string"}},
        },
        "invocations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["executionSuccessful"],
                "properties": {
                    "executionSuccessful": {"type": "boolean"},
                    "toolExecutionNotifications": {"type": "array", "items": NOTIFICATION},
                },
            },
        },
        "results": {"type": "array", "items": RESULT},
        "properties": {"type": "object"},
    },
}
SCHEMA: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"enum": ["2.1.0"]},
        "runs": {"type": "array", "items": RUN},
    },
}
"""The properties of SARIF 2.1.0 that the suite uses, as the schema of the standard declares them, and no others."""


def run_of(report: Report) -> dict[str, Any]:
    """The only run of the log."""
    (run,) = sarif(report)["runs"]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("name", ["bqemulator-1.4.0", "reference", "readers/nanoarrow"])
def test_it_fits_the_schema(name: str) -> None:
    """For published reports; the ids and indices of rules agree."""
    report = read_report(ROOT / "reports" / f"{name}.json")

    log = sarif(report)

    jsonschema.validate(json.loads(json.dumps(log)), SCHEMA)
    run = log["runs"][0]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    notes = [one["associatedRule"] for one in run["invocations"][0]["toolExecutionNotifications"]]
    assert all(ids[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    assert set(ids) == {one["ruleId"] for one in run["results"]}
    assert len(run["results"]) + len(notes) == len(report.deviations)


def test_a_rule_explains_its_clause() -> None:
    """With the requirement, the level, the source and who breaks, and its address; a clause that passed has none."""
    broken = failing("a", "framing.batch-single-message", "2 messages")
    (rule,) = run_of(report_of(broken, passing("a", "rows.none-is-missing")))["tool"]["driver"]["rules"]
    clause = CLAUSES["framing.batch-single-message"]

    assert rule["helpUri"] == clause.source
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert rule["properties"]["tags"] == ["framing", "must"]
    assert rule["shortDescription"] == {"text": clause.explanation}
    assert f"Breaks: {clause.breaks}" in rule["help"]["text"]


@pytest.mark.parametrize(
    ("clause", "level"),
    [
        ("framing.batch-single-message", "error"),
        ("structure.nesting", "warning"),
        (next(name for name, one in CLAUSES.items() if one.level == "may"), "note"),
        ("case", "error"),
    ],
)
def test_the_level_of_a_result_is_that_of_its_clause(clause: str, level: str) -> None:
    """MUST is an error, SHOULD a warning, MAY a note."""
    (result,) = run_of(report_of(failing("a", clause, "two"), clauses=[]))["results"]

    assert (result["ruleId"], result["level"]) == (clause, level)


def test_a_result_names_its_cases_and_its_field() -> None:
    """The place of a result is the target file; the message has the command that shows the failure again."""
    finding = Finding("types.x", "INT64", "INT32", call=0, field="rows.a")
    report = report_of(*(Verdict(case, "types.x", Outcome.FAIL, (finding,)) for case in "ab"))

    (result,) = run_of(report)["results"]

    assert result["message"]["text"].startswith("required: INT64; observed: INT32\nSee it again: conformance replay a")
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "fake.toml"}
    assert location["logicalLocations"] == [
        {"name": "a", "fullyQualifiedName": "a/rows.a", "kind": "test"},
        {"name": "b", "fullyQualifiedName": "b/rows.a", "kind": "test"},
        {"name": "rows.a", "kind": "member"},
    ]


def test_a_fingerprint_holds_no_data_of_the_case() -> None:
    """Clause and class of the failure make it: it is the same in the next run, and another for another failure."""

    def fingerprint(observed: str, clause: str = "rows.x") -> dict[str, str]:
        (result,) = run_of(report_of(failing("a", clause, observed)))["results"]
        found: dict[str, str] = result["partialFingerprints"]
        return found

    assert fingerprint("3 messages") == fingerprint("5 messages")
    assert fingerprint("3 messages") != fingerprint("no message")
    assert fingerprint("3 messages") != fingerprint("3 messages", "types.x")


def test_an_expected_failure_is_suppressed() -> None:
    """A service then shows it as closed."""
    entry = ExpectedFailure("rows.x", "fail: *")

    (result,) = run_of(report_of(failing("a", "rows.x", "two"), expectations=[entry]))["results"]

    assert result["suppressions"] == [{"kind": "external", "justification": "an expected failure of the target file"}]


def test_what_was_not_judged_is_no_result() -> None:
    """It is said of the run, with the suite's own errors, which make the run unsuccessful."""
    events = [
        started("types.x"),
        judged("a", Verdict("a", "types.x", Outcome.UNTESTABLE, reason="cannot seed")),
        SuiteBroke("b", "Traceback\nKeyError"),
        RunEnded(1.0),
    ]

    run = run_of(document(fold(events)))

    (invocation,) = run["invocations"]
    assert run["results"] == []
    assert not invocation["executionSuccessful"]
    assert [(one["level"], one["message"]["text"]) for one in invocation["toolExecutionNotifications"]] == [
        ("note", "not judged: types.x: cannot seed"),
        ("error", "the suite itself broke on b\nTraceback\nKeyError"),
    ]


@pytest.mark.parametrize(
    ("target_file", "place"),
    [("/x y/ü.toml", "file:///x%20y/%C3%BC.toml"), ("grpc://localhost:9060", "localhost-9060")],
)
def test_the_place_is_an_address_of_a_file(target_file: str, place: str, tmp_path: Path) -> None:
    """Also with characters that an address cannot have; a target without a file is named."""
    result = result_of(failing("a", "rows.x", "two"))
    start = dataclasses.replace(result.start, target_file=target_file, target="localhost-9060")
    result = dataclasses.replace(result, start=start)
    write_sarif(result, tmp_path / "a.sarif")

    (made,) = json.loads((tmp_path / "a.sarif").read_text())["runs"][0]["results"]

    uri = made["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == place


def test_a_clean_run_has_no_result() -> None:
    """And says that it came to its end."""
    run = run_of(report_of(passing("a", "rows.x")))

    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
