"""The statement on a run: one page with numbers that a vendor signs, and that anybody can count again.

It is made only from the report, the log's digest and the suite, so that making it again shows every change in it.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from conformance._jsonschema import json_schema
from conformance.contract.offers import profile_of
from conformance.engine.events import RunStarted
from conformance.engine.expectations import glob_match
from conformance.engine.result import NOT_JUDGED
from conformance.engine.standing import Standing
from conformance.records import Level, Outcome, Profile
from conformance.report.document import Report
from conformance.report.profiles import has_profiles
from conformance.report.summary import Cell, cell_of, level_of, section_of
from conformance.truth.shipped import Confirmed

__all__ = [
    "SCHEMA_VERSION",
    "Broken",
    "FileDigest",
    "Gap",
    "Row",
    "Statement",
    "file_digest",
    "statement_on",
    "statement_schema",
]

SCHEMA_VERSION: Final = 1
"""It is raised when a reader of version n would misread the statement; a new key alone does not raise it."""

SILENT: Final = "no case of the run showed anything that the clause applies to"
"""The reason why a chosen clause without a verdict was not judged."""
PARTLY: Final = "on some of its cases something else failed first"
"""The reason why a clause that is held where it was judged is not held, if the report names no other one."""
_UNDECIDED: Final = frozenset({Standing.HELD_WHERE_JUDGED, Standing.NOT_OFFERED, Standing.NOT_JUDGED})


@dataclasses.dataclass(frozen=True, slots=True)
class FileDigest:
    """A file that the statement rests on: its name without a directory, and its SHA-256 digest."""

    name: str
    sha256: str


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """The clauses of one group and level, each counted once under its standing.

    The groups are the profiles; for a target that is no server, the chapters.
    """

    group: str
    level: Level
    clauses: Cell


@dataclasses.dataclass(frozen=True, slots=True)
class Broken:
    """A clause that failed, expected or not: its reason class and the number of its cases; ``note`` and ``issue`` are
    those of the entry that expects it.
    """

    clause: str
    level: Level
    outcome: Outcome
    reason: str
    cases: int
    note: str = ""
    issue: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Gap:
    """Clauses or cases that were not judged, counted, and why; ``kind`` is *case*, or *clause* with its standing."""

    kind: str
    count: int
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Statement:
    """The numbers of a run: everything that it judged and everything that it did not.

    ``run`` is the first event of the run without its lists of cases and clauses, which the report has. ``releases`` are
    the releases of the suite whose frozen clauses and cases are those of this run. ``passed`` and ``complete`` are
    those of the run. ``service`` says how many clauses the service itself has confirmed; None for a run that did not
    judge a server.
    """

    schema_version: int
    run: RunStarted
    releases: tuple[str, ...]
    report: FileDigest
    logs: tuple[FileDigest, ...]
    complete: bool
    passed: bool
    cases: int
    clauses: int
    results: tuple[Row, ...]
    failed: tuple[Broken, ...] = ()
    expected: tuple[Broken, ...] = ()
    not_judged: tuple[Gap, ...] = ()
    left_out: tuple[Gap, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    service: Confirmed | None = None

    @property
    def levels(self) -> tuple[Row, ...]:
        """The results of each level over all groups."""
        cells = {level: sum((row.clauses for row in self.results if row.level is level), Cell()) for level in Level}
        return tuple(Row("all", level, cell) for level, cell in cells.items())

    @property
    def total(self) -> Cell:
        """The results over all groups and levels."""
        return sum((row.clauses for row in self.results), Cell())


def statement_schema() -> dict[str, Any]:
    """The JSON Schema of a statement's form for programs."""
    return json_schema(Statement, title="Statement on a run of the Arrow conformance suite")


def file_digest(path: Path) -> FileDigest:
    """The name and the digest of the file at ``path``; raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return FileDigest(path.name, hashlib.file_digest(file, "sha256").hexdigest())


def statement_on(
    report: Report,
    *,
    releases: Iterable[str],
    report_file: FileDigest,
    logs: Iterable[FileDigest],
    cases: int,
) -> Statement:
    """The statement on the run of ``report``; ``cases`` counts those that have verdicts."""
    run = report.run
    return Statement(
        schema_version=SCHEMA_VERSION,
        run=dataclasses.replace(run, cases=(), clauses=(), left_out=(), expectations=()),
        releases=tuple(releases),
        report=report_file,
        logs=tuple(sorted(logs, key=lambda log: (log.name, log.sha256))),
        complete=report.complete,
        passed=not report.failed,
        cases=cases,
        clauses=len(run.clauses),
        results=tuple(_rows(report)),
        failed=tuple(_broken(report, {outcome for outcome in Outcome if outcome.fails_run})),
        expected=tuple(_broken(report, {Outcome.EXPECTED_FAIL})),
        not_judged=tuple(_not_judged(report)),
        left_out=tuple(
            Gap(kind, count, reason)
            for (kind, reason), count in Counter((left.kind, left.reason) for left in run.left_out).items()
        ),
        problems=tuple(problem.text for problem in report.problems),
        remarks=report.remarks,
        service=report.service,
    )


def _rows(report: Report) -> Iterator[Row]:
    """The results by profile, core first; by chapter, or by question about a reader, if the target is no server."""
    standings, served = report.standings, has_profiles(report.run)
    groups: dict[str, list[str]] = {profile.value: [] for profile in Profile} if served else {}
    for clause in standings:
        groups.setdefault(profile_of(clause) if served else section_of(clause), []).append(clause)
    for name, clauses in groups.items():
        for level in Level:
            cells = [cell_of(standings[clause].standing) for clause in clauses if level_of(clause) is level]
            if cells:
                yield Row(name, level, sum(cells, Cell()))


def _broken(report: Report, outcomes: set[Outcome]) -> Iterator[Broken]:
    for item in report.deviations:
        if item.outcome in outcomes:
            for clause in item.clauses:
                entry = next(
                    (
                        each
                        for each in report.run.expectations
                        if glob_match(clause, each.clause) and glob_match(item.reason, each.reason)
                    ),
                    None,
                )
                note, issue = (entry.note, entry.issue) if entry is not None else ("", "")
                yield Broken(clause, level_of(clause), item.outcome, item.reason, len(item.cases), note, issue)


def _not_judged(report: Report) -> Iterator[Gap]:
    """The clauses that are neither held nor failed, each once, under the first reason that the report gives."""
    reasons: dict[str, str] = {}
    for item in report.deviations:
        if item.outcome in NOT_JUDGED:
            reasons |= {clause: item.reason for clause in item.clauses if clause not in reasons}
    counts: Counter[tuple[Standing, str]] = Counter()
    for clause, found in report.standings.items():
        if found.standing in _UNDECIDED:
            otherwise = PARTLY if found.standing is Standing.HELD_WHERE_JUDGED else SILENT
            reason = reasons.get(clause, otherwise)
            counts[found.standing, found.reason or reason] += 1
    for (standing, reason), count in sorted(counts.items(), key=lambda item: str(item[0][0])):
        yield Gap(f"clause {standing.words}", count, reason)
