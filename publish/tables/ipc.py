"""The part of ``README.md`` on readers and writers of Arrow IPC, from the JSON reports in ``reports``."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance.records import Outcome, from_json

__all__ = ["IPC_FINDINGS", "IpcFinding", "failing_clauses", "findings", "table"]

REPORTS: Final = Path(__file__).resolve().parents[2] / "reports"


@dataclasses.dataclass(frozen=True, slots=True)
class IpcFinding:
    """One reproduced finding: what happens, the report below ``reports`` that has it, and the clauses that failed.

    ``shown`` is part of the id of a case that shows it.
    """

    what: str
    report: str
    clauses: tuple[str, ...]
    shown: str


IPC_FINDINGS: Final = tuple(
    from_json(IpcFinding, row)
    for row in tomllib.loads((Path(__file__).parent / "findings.toml").read_text(encoding="utf-8"))["ipc"]
)
"""Every finding, in the order of the file."""


def _report(name: str) -> Mapping[str, Any]:
    report: Mapping[str, Any] = json.loads((REPORTS / f"{name}.json").read_text(encoding="utf-8"))
    return report


def failing_clauses(name: str) -> Mapping[str, list[str]]:
    """The clauses that fail in a report, each with the cases in which they fail."""
    found: dict[str, list[str]] = {}
    for item in _report(name)["deviations"]:
        if Outcome(item["outcome"]).fails_run:
            for clause in item["clauses"]:
                found.setdefault(clause, []).extend(item["cases"])
    return found


def findings() -> Iterator[str]:
    """A line per finding: implementation and version, the finding, the clauses."""
    for finding in IPC_FINDINGS:
        clauses = ", ".join(f"`{clause}`" for clause in finding.clauses)
        page = f"[report](reports/{finding.report}.html)"
        yield f"- {_report(finding.report)['run']['target']}: {finding.what} ({clauses}; {page})\n"


def table() -> Iterator[str]:
    """A row for each implementation: clauses passed of those judged, crashes, hangs and wrong rows."""
    yield "| implementation | reading: clauses passed | crashes | hangs, memory exhausted | wrong rows, no error |"
    yield " writing: clauses passed | crashes + hangs | wrong rows |\n"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|\n"
    readers = {path.stem: path for path in sorted((REPORTS / "readers").glob("*.json"))}
    writers = {path.stem: path for path in sorted((REPORTS / "writers").glob("*.json"))}
    for name in dict.fromkeys([*readers, *writers]):
        read = _report(f"readers/{name}") if name in readers else None
        written = _report(f"writers/{name}") if name in writers else None
        named = read or written
        assert named is not None, "the name is that of a report"
        cells = _cells(read, "readers", name, "reader.rows-true") + _cells(written, "writers", name, "written.rows")
        passed, crashes, hangs, wrong, writes, *ends, lost = cells
        ended = " + ".join(ends) if written else _NOTHING
        row = f"{passed} | {crashes} | {hangs} | {wrong} | {writes} | {ended} | {lost}"
        yield f"| {named['run']['target']} | {row} |\n"


_NOTHING: Final = "–"  # noqa: RUF001  # a dash in an empty cell


def _cells(report: Mapping[str, Any] | None, folder: str, name: str, rows: str) -> tuple[str, str, str, str]:
    """Clauses passed of those judged, with a link; crashes, hangs and failures of the clause on rows, by case."""
    if report is None:
        return _NOTHING, _NOTHING, _NOTHING, _NOTHING
    outcomes = [Outcome(each["outcome"]) for each in report["clauses"]]
    judged = sum(outcome is Outcome.PASS or outcome.fails_run for outcome in outcomes)
    passed = f"[{outcomes.count(Outcome.PASS)} of {judged}](reports/{folder}/{name}.html)"
    crashes, hangs = (_many(report, outcome) for outcome in (Outcome.CRASH, Outcome.HANG))
    return passed, crashes, hangs, _many(report, Outcome.FAIL, rows)


def _many(report: Mapping[str, Any], outcome: Outcome, clause: str = "") -> str:
    counts = (
        each["count"]
        for item in report["clauses"]
        if clause in ("", item["id"])
        for each in item["verdicts"]
        if each["outcome"] == outcome
    )
    return str(sum(counts))
