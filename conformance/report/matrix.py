"""Implementations beside clauses: JSON reports laid side by side, with nothing added that no report says.

The words about a clause are those of the suite that makes the matrix; what became of it is the report's alone.
A cell is what the clause's worst outcome is, and everything that the report knows of it is one click away.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Final

from conformance.contract.clause import CLAUSES
from conformance.engine.result import NOT_JUDGED
from conformance.records import Level, Outcome
from conformance.report.badge import badge_svg
from conformance.report.document import DeviationResult, Report
from conformance.report.reading import read_report
from conformance.report.summary import Cell, cell_of, level_of

__all__ = ["INDEX", "Chapter", "Entry", "Implementation", "Matrix", "MatrixError", "MatrixRow", "State", "load_matrix"]


INDEX: Final = "index"
"""The name of the page of all."""


class MatrixError(ValueError):
    """Reports cannot stand side by side; the message says which."""


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """How a cell looks: a class of the style sheet, a sign that needs no colour, and the words for it."""

    key: str
    sign: str
    words: str


_HOLDS: Final = State("holds", "✓", "holds")
_FAILS: Final = State("fails", "✗", "fails")
_EXPECTED: Final = State("expected", "◐", "fails as expected")
_BROKE: Final = State("broke", "!", "the suite broke")
_BLANK: Final = State("blank", "–", "not judged")  # noqa: RUF001  # a dash for nothing
_SILENT: Final = State("blank", "·", "nothing in the run showed it")
_ABSENT: Final = State("absent", "", "not chosen")
LEGEND: Final = (_HOLDS, _FAILS, _EXPECTED, _BLANK, _SILENT)


def state_of(outcome: Outcome | None) -> State:
    """How a clause with this worst outcome looks; None is a clause of the run that has no verdict."""
    if outcome is None:
        return _SILENT
    if outcome is Outcome.ERROR:
        return _BROKE
    if outcome in (Outcome.EXPECTED_FAIL, Outcome.UNEXPECTED_PASS):
        return _EXPECTED
    if outcome in NOT_JUDGED:
        return _BLANK
    return _HOLDS if outcome is Outcome.PASS else _FAILS


@dataclasses.dataclass(frozen=True)
class Implementation:
    """One report: what was judged, and the name of its files."""

    slug: str
    report: Report

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """The worst outcome of each clause that has a verdict."""
        return dict(self.report.worst)

    @cached_property
    def levels(self) -> dict[Level, Cell]:
        """Clauses of each level, counted by what became of them."""
        return self.report.levels()

    @property
    def badge(self) -> str:
        """The badge of the report, an SVG image."""
        return badge_svg(self.report)

    @cached_property
    def failed(self) -> list[DeviationResult]:
        """The distinct deviations, expected ones among them."""
        shown = {Outcome.EXPECTED_FAIL, *(outcome for outcome in Outcome if outcome.fails_run)}
        return [item for item in self.report.deviations if item.outcome in shown]

    def entry(self, clause_id: str) -> Entry:
        """The cell of one clause."""
        known = clause_id in self.report.run.clauses or clause_id in self.outcomes
        state = state_of(self.outcomes.get(clause_id)) if known else _ABSENT
        about = [item for item in self.report.deviations if clause_id in item.clauses]
        mine = [item for item in about if item.outcome == self.outcomes.get(clause_id)]
        others = [item for item in about if item.outcome != self.outcomes.get(clause_id)]
        return Entry(self, clause_id, state, (*mine, *others))


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One cell: a clause at an implementation, with every deviation that the report has of it."""

    implementation: Implementation
    clause: str
    state: State
    deviations: tuple[DeviationResult, ...]

    @property
    def anchor(self) -> str:
        """The fragment of a page of its own, in which its deviations stand."""
        return f"{self.implementation.slug}--{self.clause}"

    @property
    def count(self) -> int:
        """Distinct deviations that are failures."""
        return sum(item.outcome not in NOT_JUDGED for item in self.deviations)


@dataclasses.dataclass(frozen=True, slots=True)
class MatrixRow:
    """One clause at every implementation."""

    clause: str
    level: Level
    entries: tuple[Entry, ...]

    @property
    def holds_everywhere(self) -> bool:
        """Whether nothing at all is to be seen here."""
        return all(entry.state is _HOLDS for entry in self.entries)


@dataclasses.dataclass(frozen=True, slots=True)
class Chapter:
    """The clauses of one chapter, the binding ones first."""

    name: str
    rows: tuple[MatrixRow, ...]

    def totals(self) -> tuple[Cell, ...]:
        """Per implementation, the clauses of this chapter counted by what became of them."""
        columns = zip(*(row.entries for row in self.rows), strict=True)
        return tuple(sum((_cell(entry) for entry in column), Cell()) for column in columns)


def _cell(entry: Entry) -> Cell:
    outcome = entry.implementation.outcomes.get(entry.clause)
    return Cell() if entry.state is _ABSENT else cell_of(outcome or Outcome.UNTESTABLE)


@dataclasses.dataclass(frozen=True, slots=True)
class Matrix:
    """Implementations in the order given, chapters in the order of the contract."""

    implementations: tuple[Implementation, ...]
    chapters: tuple[Chapter, ...]

    @property
    def rows(self) -> Iterator[MatrixRow]:
        """Every row."""
        for chapter in self.chapters:
            yield from chapter.rows


_LEVELS: Final = tuple(Level)


def build(implementations: Sequence[Implementation]) -> Matrix:
    """The matrix of ``implementations``."""
    met = dict.fromkeys(clause for item in implementations for clause in (*item.report.run.clauses, *item.outcomes))
    order = {clause: place for place, clause in enumerate(CLAUSES)}
    clauses = sorted(met, key=lambda clause: order.get(clause, len(order)))
    chapters = []
    for name, members in groupby(clauses, key=lambda clause: clause.partition(".")[0]):
        rows = [
            MatrixRow(clause, level_of(clause), tuple(item.entry(clause) for item in implementations))
            for clause in members
        ]
        chapters.append(Chapter(name, tuple(sorted(rows, key=lambda row: _LEVELS.index(row.level)))))
    return Matrix(tuple(implementations), tuple(chapters))


def load_matrix(paths: Sequence[Path]) -> Matrix:
    """The matrix of the JSON reports at ``paths``, named after their files.

    Raises:
        ReportError: a file is not a report.
        MatrixError: two files have one name, or one has that of the page of all.
    """
    slugs = [re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem) for path in paths]
    if twice := sorted({slug for slug in slugs if slugs.count(slug) > 1}):
        raise MatrixError(f"expected reports in files of different names, but two are called {twice[0]}")
    if INDEX in slugs:
        raise MatrixError(f"expected no report to be called {INDEX}, which is the name of the page of all of them")
    return build([Implementation(slug, read_report(path)) for slug, path in zip(slugs, paths, strict=True)])
