"""The parts of ``docs/results.md`` on readers and writers of Arrow IPC: from the JSON reports in ``reports``, and from
``findings.toml``, with the program of each finding in ``docs/examples/arrow``.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conformance.contract.closed import Question
from conformance.records import Outcome, from_json

__all__ = [
    "DRIFT_FINDINGS",
    "IPC_FINDINGS",
    "PROGRAMS",
    "DriftFinding",
    "IpcFinding",
    "drift_findings",
    "failing_clauses",
    "findings",
    "table",
]

ROOT: Final = Path(__file__).resolve().parents[2]
REPORTS: Final = ROOT / "reports"
PROGRAMS: Final = ROOT / "docs" / "examples" / "arrow"
"""The programs that show a finding with the library alone."""


@dataclasses.dataclass(frozen=True, slots=True)
class IpcFinding:
    """One reproduced finding: what happens, the report below ``reports`` that has it, and the clauses that failed.

    ``shown`` is part of the id of a case that shows it. ``program`` is a file of :data:`PROGRAMS`; it prints what the
    regular expression ``prints`` matches, and the signal ``ends`` ends it, if there is one.
    """

    what: str
    report: str
    clauses: tuple[str, ...]
    shown: str
    program: str
    prints: str
    ends: str = ""

    @property
    def version(self) -> str:
        """The version of the library that the report is on."""
        return str(_report(self.report)["run"]["target"]).rpartition(" ")[2]


@dataclasses.dataclass(frozen=True, slots=True)
class DriftFinding:
    """A difference between versions of pyarrow, the ``version`` that shows it, and its program, as above."""

    what: str
    version: str
    program: str
    prints: str
    ends: str = ""


_ROWS: Final = tomllib.loads((Path(__file__).parent / "findings.toml").read_text(encoding="utf-8"))
IPC_FINDINGS: Final = tuple(from_json(IpcFinding, row) for row in _ROWS["ipc"])
DRIFT_FINDINGS: Final = tuple(from_json(DriftFinding, row) for row in _ROWS["drift"])
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
        page = f"[report](../reports/{finding.report}.json), {_program(finding)}"
        yield f"- {_report(finding.report)['run']['target']}: {finding.what} ({clauses}; {page})\n"


def drift_findings() -> Iterator[str]:
    """A line per difference between versions of pyarrow."""
    for finding in DRIFT_FINDINGS:
        yield f"- {finding.what} ({_program(finding)})\n"


def _program(finding: IpcFinding | DriftFinding) -> str:
    return f"[program](examples/arrow/{finding.program})"


def table() -> Iterator[str]:
    """A row for each implementation: for reading the verdict on conformance, then that on robustness; for writing one
    verdict.
    """
    yield "| implementation | conformance: clauses | wrong rows | crashes, hangs |"
    yield " robustness: clauses | crashes | hangs, memory exhausted | wrong rows |"
    yield " writing: clauses | crashes, hangs | wrong rows |\n"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    readers = {path.stem: path for path in sorted((REPORTS / "readers").glob("*.json"))}
    writers = {path.stem: path for path in sorted((REPORTS / "writers").glob("*.json"))}
    for name in dict.fromkeys([*readers, *writers]):
        read = _report(f"readers/{name}") if name in readers else None
        written = _report(f"writers/{name}") if name in writers else None
        named = read or written
        assert named is not None, "the name is that of a report"
        cells = [*_read(read, name), *_written(written, name)]
        yield f"| {named['run']['target']} | {' | '.join(cells)} |\n"
    made = [_report(f"readers/{name}")["run"] for name in readers] + [
        _report(f"writers/{name}")["run"] for name in writers
    ]
    days = sorted({run["provenance"]["began"][:10] for run in made})
    suites = ", ".join(sorted({run["suite"] for run in made}))
    yield f"\nRuns of {' to '.join(dict.fromkeys((days[0], days[-1])))}, by suite {suites}.\n"


_NOTHING: Final = "–"  # noqa: RUF001  # a dash in an empty cell


def _read(report: Mapping[str, Any] | None, name: str) -> list[str]:
    """The cells on reading."""
    if report is None or not report.get("questions"):
        return [_NOTHING] * 7  # a report of an earlier suite has one verdict for both questions
    legal, malformed = (
        [each for each in report["clauses"] if each.get("question") == question] for question in Question
    )
    page = f"../reports/readers/{name}.json"
    ends = _many(legal, Outcome.CRASH) + _many(legal, Outcome.HANG)
    return [
        f"[{_passed(legal)}]({page})",
        str(_many(legal, Outcome.FAIL, "reader.rows-true")),
        str(ends),
        f"[{_passed(malformed)}]({page})",
        *(str(_many(malformed, outcome)) for outcome in (Outcome.CRASH, Outcome.HANG)),
        str(_many(malformed, Outcome.FAIL, "reader.accepted-rows-are-true")),
    ]


def _written(report: Mapping[str, Any] | None, name: str) -> list[str]:
    """The cells on writing."""
    if report is None:
        return [_NOTHING] * 3
    clauses = report["clauses"]
    ends = _many(clauses, Outcome.CRASH) + _many(clauses, Outcome.HANG)
    wrong = _many(clauses, Outcome.FAIL, "written.rows")
    return [f"[{_passed(clauses)}](../reports/writers/{name}.json)", str(ends), str(wrong)]


def _passed(clauses: Sequence[Mapping[str, Any]]) -> str:
    """The clauses that pass and those that fail."""
    outcomes = [Outcome(each["outcome"]) for each in clauses]
    return f"{outcomes.count(Outcome.PASS)} pass · {sum(outcome.fails_run for outcome in outcomes)} fail"


def _many(clauses: Sequence[Mapping[str, Any]], outcome: Outcome, clause: str = "") -> int:
    """The number of verdicts with an outcome, of one clause or of all."""
    return sum(
        each["count"]
        for item in clauses
        if clause in ("", item["id"])
        for each in item["verdicts"]
        if each["outcome"] == outcome
    )
