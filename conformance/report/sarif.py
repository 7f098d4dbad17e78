"""SARIF 2.1.0 (OASIS), for services that show the findings of analysis tools beside the code.

Deviations are results, and their clauses are rules; an expected failure is a suppressed result. A reason for which
clauses were not judged is a notification about the run, so that no reader counts it as a finding.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import quote

from conformance.contain.text import many
from conformance.contract.wholecase import EXPLAINED
from conformance.disk.files import write_whole
from conformance.engine.expectations import ProblemKind
from conformance.engine.result import NOT_JUDGED, Result
from conformance.records import Level, Outcome
from conformance.report.document import DeviationResult, Report, document
from conformance.report.escaping import in_sarif
from conformance.report.summary import level_of, section_of

__all__ = ["sarif", "write_sarif"]

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LEVELS: Final = {Level.MUST: "error", Level.SHOULD: "warning", Level.MAY: "note"}
_CASES_SHOWN: Final = 20
"""Cases with a logical location for each result: a service shows a few, and the JSON report has all."""


def write_sarif(result: Result, path: Path) -> None:
    """Write the SARIF report to ``path``."""
    write_whole(path, json.dumps(sarif(document(result)), indent=1, ensure_ascii=False) + "\n")


def sarif(report: Report) -> dict[str, Any]:
    """``report`` as a SARIF log with one run."""
    deviations = [item for item in report.deviations if item.outcome not in NOT_JUDGED]
    # The texts of all clauses take half a megabyte: a log holds those of its results.
    rules = {clause: place for place, clause in enumerate(dict.fromkeys(item.clauses[0] for item in deviations))}
    run = {
        "tool": {
            "driver": {"name": "conformance", "version": report.run.suite, "rules": [_rule(clause) for clause in rules]}
        },
        "automationDetails": {"id": f"conformance/{report.run.target}/"},
        "invocations": [
            {
                # The tool succeeded if it came to its end; findings are no failure of the tool.
                "executionSuccessful": report.complete and not report.broke,
                "toolExecutionNotifications": list(_notifications(report)),
            }
        ],
        "results": [_result(report, item, rules) for item in deviations],
        "properties": {"summary": report.summary, "seed": report.run.seed, "failed": report.failed},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(clause_id: str) -> dict[str, Any]:
    level = level_of(clause_id)
    rule: dict[str, Any] = {
        "id": clause_id,
        "defaultConfiguration": {"level": _LEVELS[level]},
        "properties": {"tags": [section_of(clause_id), level.value]},
    }
    clause = EXPLAINED.get(clause_id)
    if clause is None:
        return rule | {"shortDescription": {"text": "This version of the suite does not have the clause."}}
    first = clause.explanation.split("\n\n")[0].replace("\n", " ")
    facts = {
        "Level": level.upper(),
        "Source": clause.source,
        "Evidence": clause.evidence_in_words,
        "Breaks": clause.breaks,
    }
    lines = [clause.explanation, *(f"{name}: {text}" for name, text in facts.items() if text)]
    return rule | {
        "shortDescription": {"text": first},
        "fullDescription": {"text": clause.explanation},
        "help": {"text": "\n\n".join(lines), "markdown": "\n\n".join(lines)},
        "helpUri": clause.source,
    }


def _result(report: Report, item: DeviationResult, rules: Mapping[str, int]) -> dict[str, Any]:
    clause = item.clauses[0]
    required = f"required: {item.required}; observed: " if item.required else ""
    identity = _fingerprint(clause, item.reason)
    result: dict[str, Any] = {
        "ruleId": clause,
        "ruleIndex": rules[clause],
        "level": _LEVELS[item.level],
        "message": {"text": in_sarif(f"{required}{item.text}\nSee it again: {item.replay}")},
        "locations": [_location(report, item)],
        "occurrenceCount": item.count,
        # The second name is the only one that GitHub compares; it keeps one alert for one deviation over many runs.
        "partialFingerprints": {"clauseAndReasonClass/v1": identity, "primaryLocationLineHash": f"{identity}:1"},
        "properties": {"outcome": item.outcome.value, "reason": item.reason, "clauses": list(item.clauses)},
    }
    if item.outcome is Outcome.EXPECTED_FAIL:
        result["suppressions"] = [{"kind": "external", "justification": "an expected failure of the target file"}]
    return result


def _fingerprint(clause: str, reason: str) -> str:
    """The identity of a deviation: no case, number or name of one run is a part of it."""
    return hashlib.sha256(f"{clause}\0{reason}".encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _location(report: Report, item: DeviationResult) -> dict[str, Any]:
    """The cases of a deviation, the field, and the target file as the place, for the suite does not know the code."""
    field = item.finding.field if item.finding else ""
    places: list[dict[str, Any]] = [
        {"name": case, "fullyQualifiedName": f"{case}/{field}" if field else case, "kind": "test"}
        for case in item.cases[:_CASES_SHOWN]
    ]
    if field:
        places.append({"name": field, "kind": "member"})
    location: dict[str, Any] = {"logicalLocations": places}
    if place := report.run.target_file:
        if "://" in place:  # what shows a report takes files alone
            place = report.run.target
        location["physicalLocation"] = {
            "artifactLocation": {"uri": _uri(place)},
            "region": {"startLine": 1},
        }
    return location


def _uri(path: str) -> str:
    pure = PurePath(path)
    text = quote(pure.as_posix().encode("utf-8", "backslashreplace"))
    return f"file://{text}" if pure.is_absolute() else text


def _notifications(report: Report) -> Iterator[dict[str, Any]]:
    for item in report.deviations:
        if item.outcome in NOT_JUDGED:
            clause = item.clauses[0]
            more = f" (and {many(len(item.clauses) - 1, 'more clause')})" if len(item.clauses) > 1 else ""
            yield {
                "level": "note",
                "message": {"text": in_sarif(f"not judged: {clause}{more}: {item.text}")},
                "associatedRule": {"id": clause},
            }
    for problem in report.problems:
        yield {
            "level": "error" if problem.kind is ProblemKind.STALE else "note",
            "message": {"text": in_sarif(f"expected failures: {problem.text}")},
        }
    for case, traceback in zip(report.broke_on, report.broke, strict=False):
        yield {"level": "error", "message": {"text": in_sarif(f"the suite itself broke on {case}\n{traceback}")}}
