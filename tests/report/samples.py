"""Reports of small runs, for the writers that lay several side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from conformance.engine.events import CaseJudged, RunEnded
from conformance.engine.result import Result, fold
from conformance.engine.selection import LeftOut
from conformance.records import Verdict
from conformance.report.document import Report, document, write_json
from conformance.targets import ExpectedFailure
from tests.engine.samples import judged, started

CLAUSES = ("framing.x", "rows.x", "types.x")


def report_of(
    *verdicts: Verdict,
    clauses: Iterable[str] = CLAUSES,
    left_out: Iterable[str] = (),
    expectations: Iterable[ExpectedFailure] = (),
    events: Iterable[CaseJudged] = (),
) -> Report:
    """The report of a run that came to ``verdicts``."""
    return document(result_of(*verdicts, clauses=clauses, left_out=left_out, expectations=expectations, events=events))


def save_report(path: Path, *verdicts: Verdict, target: str = "fake 1.0", events: Iterable[CaseJudged] = ()) -> Path:
    """A JSON report in a file."""
    write_json(result_of(*verdicts, target=target, events=events), path)
    return path


def result_of(
    *verdicts: Verdict,
    clauses: Iterable[str] = CLAUSES,
    left_out: Iterable[str] = (),
    expectations: Iterable[ExpectedFailure] = (),
    target: str = "fake 1.0",
    events: Iterable[CaseJudged] = (),
) -> Result:
    """The result of a run that came to ``verdicts``, and of the cases in ``events``."""
    by_case: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_case.setdefault(verdict.case_id, []).append(verdict)
    cases = [*(judged(case_id, *members) for case_id, members in by_case.items()), *events]
    start = started(*clauses, cases=[case.case_id for case in cases], expectations=expectations)
    gone = tuple(LeftOut("clause", clause, "no --clause pattern matches it") for clause in left_out)
    start = dataclasses.replace(start, left_out=gone, target=target)
    return fold([start, *cases, RunEnded(2.0)])
