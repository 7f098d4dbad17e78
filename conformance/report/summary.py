"""Counts that several reports show, per chapter and level, and the lines at the head of a report."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.contain.text import many as _many
from conformance.contract.clause import CLAUSES
from conformance.engine.events import READ_PROFILE, WRITE_PROFILE, RunStarted
from conformance.engine.result import NOT_JUDGED, Deviation, Result
from conformance.engine.selection import LeftOut
from conformance.engine.standing import ClauseStanding, Standing
from conformance.records import Level, Outcome

__all__ = [
    "Cell",
    "ChapterRow",
    "cell_of",
    "header",
    "held_line",
    "level_of",
    "replay_command",
    "summarise",
    "verdict_line",
]


_REPLAYED_BY: Final = {
    READ_PROFILE: ("read", "--reader", "--vector"),
    WRITE_PROFILE: ("write", "--writer", "--case"),
}
"""The command that replays a case of a run on a reader or a writer, and its two options."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """Clauses of one chapter and level, each counted once under its standing; the field names are those of
    :class:`~conformance.engine.standing.Standing`.
    """

    held: int = 0
    held_where_judged: int = 0
    failed: int = 0
    expected: int = 0
    not_judged: int = 0
    not_offered: int = 0

    @property
    def total(self) -> int:
        """The number of clauses that the target owes: all but those of what it does not offer."""
        return self.held + self.held_where_judged + self.failed + self.expected + self.not_judged

    @property
    def share(self) -> str:
        """The clauses held, out of those owed: *12/15*; empty if none is owed."""
        return f"{self.held}/{self.total}" if self.total else ""

    def __add__(self, other: Cell) -> Cell:
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
        return Cell(*(mine + theirs for mine, theirs in pairs))


@dataclasses.dataclass(frozen=True, slots=True)
class ChapterRow:
    """One chapter: a cell per level, in the order must, should, may."""

    chapter: str
    cells: tuple[Cell, ...]

    @property
    def total(self) -> Cell:
        """All levels added up."""
        return sum(self.cells, Cell())


def level_of(clause_id: str) -> Level:
    """The level of a clause; a verdict on a case as a whole counts as a MUST."""
    return CLAUSES[clause_id].level if clause_id in CLAUSES else Level.MUST


def cell_of(standing: Standing) -> Cell:
    """One clause, counted under its standing."""
    return Cell(**{standing.name.lower(): 1})


def summarise(standings: Mapping[str, ClauseStanding]) -> list[ChapterRow]:
    """One row per chapter, in the order of the clauses given, which are counted by their standing."""
    cells: dict[str, dict[Level, Cell]] = {}
    for clause_id, item in standings.items():
        row = cells.setdefault(clause_id.partition(".")[0], dict.fromkeys(Level, Cell()))
        row[level_of(clause_id)] += cell_of(item.standing)
    return [ChapterRow(chapter, tuple(row.values())) for chapter, row in cells.items()]


def held_line(standings: Mapping[str, ClauseStanding]) -> str:
    """The clauses of each level that are held, and the others by standing: *MUST 230 of 260 held, 4 failed, …*."""
    parts = []
    rows = summarise(standings)
    for place, level in enumerate(Level):
        cell = sum((row.cells[place] for row in rows), Cell())
        if not cell.total:
            continue
        others = (
            (cell.held_where_judged, "held where judged"),
            (cell.failed, "failed"),
            (cell.expected, "expected to fail"),
            (cell.not_judged, "not judged"),
        )
        said = "".join(f", {count} {words}" for count, words in others if count)
        parts.append(f"{level.upper()} {cell.held} of {cell.total} held{said}")
    return "; ".join(parts)


def header(start: RunStarted, remarks: Sequence[str]) -> list[tuple[str, str]]:
    """The parameters of the run as (name, text) lines: versions, target, selection, seed; enough to repeat it."""
    corpus = f"{len(start.cases)} of {start.all_cases} cases"
    generated = f", {start.generated} generated ({start.profile})" if start.generated else ""
    clauses = f"{len(start.clauses)} of {start.all_clauses} clauses"
    globs = [f"--select {glob}" for glob in start.select] + [f"--clause {glob}" for glob in start.clause]
    narrowed = f" [{' '.join(globs)}]" if globs else ""
    return [
        ("suite", f"conformance {start.suite}, Python {start.python}, pyarrow {start.pyarrow}, {start.platform}"),
        ("target", f"{start.target} ({start.target_file})" if start.target_file else start.target),
        ("selection", f"{corpus}{generated}, {clauses} down to level {start.level}{narrowed}"),
        *(
            [("shard", f"{start.shard}: a part of the run; `conformance report` merges the logs")]
            if start.shard
            else []
        ),
        ("seed", str(start.seed)),
        *([] if start.profile in _REPLAYED_BY else [("readers", "on" if start.readers else "off")]),
        *(("left out", text) for text in _left_out(start.left_out)),
        *(("remark", remark) for remark in remarks),
    ]


def _left_out(left_out: Sequence[LeftOut]) -> list[str]:
    """Everything that was not selected, counted by reason: a narrow run must not look like a complete one."""
    counts = Counter((left.kind, left.reason) for left in left_out)
    return [f"{_many(count, kind)}: {reason}" for (kind, reason), count in counts.items()]


def replay_command(result: Result, deviation: Deviation) -> str:
    """The command that shows the deviation again, with every byte of the exchange."""
    if (words := _REPLAYED_BY.get(result.start.profile)) is not None:
        command, who, what = words
        return shlex.join(["conformance", command, who, result.start.target_file, what, deviation.replay])
    return shlex.join(["conformance", "replay", deviation.replay, "--target", result.start.target_file])


def verdict_line(result: Result) -> str:
    """One sentence about the result of the run."""
    judged = sum(count for outcome, count in result.outcomes.items() if outcome not in NOT_JUDGED)
    cases = _many(len(result.cases), "case")
    scope = f"{_many(judged, 'verdict')} on {cases} in {result.seconds:.1f} s"
    if not result.complete:
        return f"INCOMPLETE: the run was cut short after {scope}"
    if not judged:
        return f"FAILED: nothing was judged on {cases}"
    if not result.fails:
        return f"PASSED: {scope}, nothing unexpected"
    errors = result.listed(Outcome.ERROR)
    deviations = [item for item in result.failed if item.outcome is not Outcome.ERROR]
    parts = [_levels(deviations)] if deviations else []
    if errors:
        parts.append(f"{_many(sum(item.count for item in errors), 'case')} on which the suite itself broke")
    if unexpected := result.listed(Outcome.UNEXPECTED_PASS):
        parts.append(_many(len(unexpected), "unexpected pass", "unexpected passes"))
    if stale := [problem for problem in result.problems if problem.fails_run]:
        parts.append(_many(len(stale), "stale expected failure"))
    return f"FAILED: {', '.join(parts)}; {scope}"


def _levels(failed: Sequence[Deviation]) -> str:
    counts = {level: sum(level_of(item.clause) is level for item in failed) for level in Level}
    per_level = ", ".join(f"{count} {level.upper()}" for level, count in counts.items() if count)
    return f"{_many(len(failed), 'distinct deviation')} ({per_level})"
