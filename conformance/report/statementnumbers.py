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
from conformance.contain.text import APART, DIFFERENCE, told_apart
from conformance.contract.offers import profile_of, profile_titles
from conformance.contract.view import NOTHING_SHOWN
from conformance.engine.events import RunStarted
from conformance.engine.expectations import glob_match
from conformance.engine.result import Deviation
from conformance.engine.standing import ClauseStanding, Standing
from conformance.records import Level, Outcome
from conformance.report.document import Report
from conformance.report.profiles import has_profiles
from conformance.report.summary import Cell, cell_of, level_of, section_of
from conformance.truth.confirmed import Confirmed

__all__ = [
    "SCHEMA_VERSION",
    "Broken",
    "FileDigest",
    "Gap",
    "Statement",
    "StatementRow",
    "file_digest",
    "statement_on",
    "statement_schema",
]

SCHEMA_VERSION: Final = 1
"""It is raised when a reader of version n would misread the statement; a new key alone does not raise it."""

LONGEST: Final = 240
"""The most characters of what was observed, or required, in a statement; the report has the rest."""
SILENT: Final = "no case of the run showed anything that the clause applies to"
"""The reason why a chosen clause without a verdict was not judged."""
NOT_MADE: Final = "their tables could not be made"
ANOTHER: Final = "the answer failed another clause and did not show this one"
"""What may keep a clause from being judged on a case; a report of an older suite does not say which of them did."""
UNSEEDED: Final = "cannot seed"
"""How the reason begins why a case was not put to a target that has not its table."""
NOT_OFFERED: Final = "the target does not offer {profile}"
_UNDECIDED: Final = frozenset({Standing.HELD_WHERE_JUDGED, Standing.NOT_OFFERED, Standing.NOT_JUDGED})


@dataclasses.dataclass(frozen=True, slots=True)
class FileDigest:
    """A file that the statement rests on: its name without a directory, and its SHA-256 digest."""

    name: str
    sha256: str


@dataclasses.dataclass(frozen=True, slots=True)
class StatementRow:
    """The clauses of one group and level, each counted once under its standing.

    The groups are the profiles; for a target that is no server, the chapters.
    """

    group: str
    level: Level
    clauses: Cell


@dataclasses.dataclass(frozen=True, slots=True)
class Broken:
    """A clause that failed, expected or not: its reason class and the number of its cases; ``note`` and ``issue`` are
    those of the entry that expects it. ``observed`` and ``required`` are those of the first case, word for word.
    """

    clause: str
    level: Level
    outcome: Outcome
    reason: str
    cases: int
    note: str = ""
    issue: str = ""
    observed: str = ""
    required: str = ""

    @property
    def in_words(self) -> str:
        """What was observed and required; the reason class in a statement of an older suite."""
        if not self.observed:
            return self.reason
        return f"{self.observed} (required: {self.required})" if self.required else self.observed


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
    results: tuple[StatementRow, ...]
    failed: tuple[Broken, ...] = ()
    expected: tuple[Broken, ...] = ()
    not_judged: tuple[Gap, ...] = ()
    left_out: tuple[Gap, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    service: Confirmed | None = None

    @property
    def levels(self) -> tuple[StatementRow, ...]:
        """The results of each level over all groups."""
        cells = {level: sum((row.clauses for row in self.results if row.level is level), Cell()) for level in Level}
        return tuple(StatementRow("all", level, cell) for level, cell in cells.items())

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


def _rows(report: Report) -> Iterator[StatementRow]:
    """The results by profile, core first; by chapter, or by question about a reader, if the target is no server."""
    standings, served = report.standings, has_profiles(report.run)
    groups: dict[str, list[str]] = {profile: [] for profile in profile_titles()} if served else {}
    for clause in standings:
        groups.setdefault(profile_of(clause) if served else section_of(clause), []).append(clause)
    for name, clauses in groups.items():
        for level in Level:
            cells = [cell_of(standings[clause].standing) for clause in clauses if level_of(clause) is level]
            if cells:
                yield StatementRow(name, level, sum(cells, Cell()))


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
                observed, required = _lines(item.text, item.required)
                yield Broken(
                    clause,
                    level_of(clause),
                    item.outcome,
                    item.reason,
                    len(item.cases),
                    note,
                    issue,
                    observed,
                    required,
                )


def _lines(observed: str, required: str) -> tuple[str, str]:
    """Two texts, each on one line and no longer than a cell of a table bears, that differ where the whole texts do."""
    one, other = (" ".join(text.split()) for text in (observed, required))
    shown = told_apart(one, other, LONGEST)
    return shown if max(map(len, shown)) <= LONGEST else told_apart(one, other, LONGEST - APART - DIFFERENCE)


def _not_judged(report: Report) -> Iterator[Gap]:
    """The clauses that are neither held nor failed, each once, under the reason that the report gives."""
    counts = Counter(
        (found.standing, found.reason or _reason(report, clause, found))
        for clause, found in report.standings.items()
        if found.standing in _UNDECIDED
    )
    for (standing, reason), count in sorted(counts.items(), key=lambda item: str(item[0][0])):
        yield Gap(f"clause {standing.words}", count, reason)


def _reason(report: Report, clause: str, found: ClauseStanding) -> str:
    """The reason why a clause was not judged, if the report does not give it with the clause.

    That the target lacks what a case needs is a reason only where no case was left that could show the clause.
    """
    said = {item.outcome: _said(item) for item in reversed(report.deviations) if clause in item.clauses}
    if found.standing is Standing.HELD_WHERE_JUDGED or found.owed:
        own = (said.get(one) for one in (Outcome.DEPENDENCY_FAILED, Outcome.ERROR))
        return next(filter(None, own), "") or _in_part(report)
    if found.standing is Standing.NOT_OFFERED:
        profile = profile_of(clause)
        lacking = NOT_OFFERED.format(profile=profile) if profile in report.run.not_offered else ""
        return said.get(Outcome.UNSUPPORTED) or lacking or SILENT
    judged = (Outcome.DEPENDENCY_FAILED, Outcome.ERROR, Outcome.UNTESTABLE, Outcome.UNSUPPORTED)
    return next((said[outcome] for outcome in judged if outcome in said), SILENT)


def _in_part(report: Report) -> str:
    """What kept clauses from being judged on some of their cases, as far as anything of the kind occurred."""
    failed = any(item.outcome.fails_run or item.outcome is Outcome.EXPECTED_FAIL for item in report.deviations)
    unmade = any(item.outcome is Outcome.UNTESTABLE and item.text.startswith(UNSEEDED) for item in report.deviations)
    reasons = [text for text, occurred in ((NOT_MADE, unmade), (ANOTHER, failed)) if occurred]
    return f"on some of its cases: {' or '.join(reasons) or NOTHING_SHOWN}"


def _said(item: Deviation) -> str:
    """The reason of a deviation: the suite's own words as they are, and foreign words without their data."""
    return f"{item.outcome}: {item.text}" if item.outcome is Outcome.UNSUPPORTED else item.reason
