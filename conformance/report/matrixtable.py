"""A matrix of implementations and clauses, made only from the contents of JSON reports.

The text about a clause comes from the version of the suite that makes the matrix; the outcomes come from the
reports. A cell shows the clause's worst outcome and links to everything that the report says about it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from conformance.contract.clause import CLAUSES
from conformance.contract.closed import Question
from conformance.engine.result import NOT_JUDGED
from conformance.engine.standing import Standing
from conformance.records import Level, Outcome
from conformance.report.badge import badge_svg
from conformance.report.document import DeviationResult, Report
from conformance.report.reading import read_report
from conformance.report.summary import COLUMNS, Cell, cell_of, level_of, section_of, section_place

__all__ = [
    "CLAUSE_TEXTS",
    "INDEX",
    "Chapter",
    "Entry",
    "Implementation",
    "Matrix",
    "MatrixError",
    "MatrixRow",
    "State",
    "load_matrix",
]


INDEX: Final = "index"
"""The name of the page with all implementations."""
CLAUSE_TEXTS: Final = "clauses"
"""The name of the page with the texts of the clauses."""


class MatrixError(ValueError):
    """Reports cannot be combined; the message says which."""


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """The appearance of a cell: a class of the style sheet, a sign that needs no colour, and words."""

    key: str
    sign: str
    words: str


_HOLDS: Final = State("holds", "✓", Standing.HELD.words)
_PARTLY: Final = State("partly", "(✓)", Standing.HELD_WHERE_JUDGED.words)
_FAILS: Final = State("fails", "✗", Standing.FAILED.words)
_OPTIONAL: Final = State("optional", "○", "fails, but is optional")
_EXPECTED: Final = State("expected", "◐", Standing.EXPECTED.words)
_BROKE: Final = State("broke", "!", "the suite broke")
_BLANK: Final = State("blank", "–", "not judged")  # noqa: RUF001  # a dash for an empty cell
_SILENT: Final = State("blank", "·", "no case of the run had anything to judge")
_NOT_OFFERED: Final = State("blank", "∅", "not offered")
_ABSENT: Final = State("absent", "", "not selected")
LEGEND: Final = (_HOLDS, _PARTLY, _FAILS, _OPTIONAL, _EXPECTED, _BLANK, _NOT_OFFERED, _SILENT)


_STATES: Final = {
    Standing.HELD: _HOLDS,
    Standing.HELD_WHERE_JUDGED: _PARTLY,
    Standing.FAILED: _FAILS,
    Standing.EXPECTED: _EXPECTED,
    Standing.NOT_JUDGED: _BLANK,
    Standing.NOT_OFFERED: _NOT_OFFERED,
}


def state_of(standing: Standing | None, outcome: Outcome | None) -> State:
    """The state of a clause with this standing and worst outcome; None for a clause that the run did not select."""
    if standing is None:
        return _ABSENT
    if outcome is Outcome.ERROR:
        return _BROKE
    return _SILENT if outcome is None and standing is Standing.NOT_JUDGED else _STATES[standing]


@dataclasses.dataclass(frozen=True)
class Implementation:
    """One report on an implementation, and the name of its files."""

    slug: str
    report: Report

    @cached_property
    def title(self) -> tuple[str, str]:
        """The name and the version, the two lines of a column's head; the version is empty if none is known."""
        target, version = self.report.run.target, self.report.run.provenance.target.version
        name = target.removesuffix(version).rstrip(" -") if version else ""
        return (name, version) if name else (target, "")

    @property
    def must(self) -> Cell:
        """Its MUST clauses, whatever question they answer."""
        return sum((cell for (_, level), cell in self.counted.items() if level is Level.MUST), Cell())

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """The worst outcome of each clause that has a verdict."""
        return dict(self.report.worst)

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """The standing of each clause of the run."""
        return {clause: item.standing for clause, item in self.report.standings.items()}

    @cached_property
    def counted(self) -> dict[tuple[Question | None, Level], Cell]:
        """The clauses by the question about a reader that they answer and by level, counted by standing."""
        return self.report.counted()

    @property
    def badge(self) -> str:
        """The badge of the report, an SVG image."""
        return badge_svg(self.report)

    @cached_property
    def failed(self) -> list[DeviationResult]:
        """The distinct deviations, including expected ones."""
        shown = {Outcome.EXPECTED_FAIL, *(outcome for outcome in Outcome if outcome.fails_run)}
        return [item for item in self.report.deviations if item.outcome in shown]

    def entry(self, clause_id: str) -> Entry:
        """The cell of one clause."""
        state = state_of(self.standings.get(clause_id), self.outcomes.get(clause_id))
        about = [item for item in self.report.deviations if clause_id in item.clauses]
        failures = [item for item in about if item.outcome not in NOT_JUDGED]
        if state is _FAILS and failures and all(item.optional for item in failures):
            state = _OPTIONAL
        mine = [item for item in about if item.outcome == self.outcomes.get(clause_id)]
        others = [item for item in about if item.outcome != self.outcomes.get(clause_id)]
        return Entry(self, clause_id, state, (*mine, *others))


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One cell: a clause and an implementation, with every deviation of the clause in the report."""

    implementation: Implementation
    clause: str
    state: State
    deviations: tuple[DeviationResult, ...]

    @property
    def anchor(self) -> str:
        """The id of the cell's panel in a page without separate report pages."""
        return f"{self.implementation.slug}--{self.clause}"

    @property
    def passes(self) -> bool:
        """True if the clause passes, at least where it was judged."""
        return self.state in (_HOLDS, _PARTLY)

    @property
    def leads(self) -> bool:
        """True if its page has something to read on the clause: more than that the target does not offer this."""
        return bool(self.deviations) and self.state is not _NOT_OFFERED

    @property
    def count(self) -> int:
        """The number of distinct deviations that are failures."""
        return sum(item.outcome not in NOT_JUDGED for item in self.deviations)


@dataclasses.dataclass(frozen=True, slots=True)
class MatrixRow:
    """One clause, with a cell for every implementation."""

    clause: str
    level: Level
    entries: tuple[Entry, ...]

    @property
    def fails_somewhere(self) -> bool:
        """True if the clause fails in an implementation, expected or not, and is not optional."""
        return any(entry.state in (_FAILS, _EXPECTED, _BROKE) for entry in self.entries)

    @property
    def shows(self) -> tuple[str, ...]:
        """The filters that show it: it *fails* somewhere, *differs* between implementations, or between *versions*."""
        found = ["fails"] if self.fails_somewhere else []
        judged: dict[str, set[str]] = {}
        for entry in self.entries:
            if entry.state not in (_ABSENT, _NOT_OFFERED, _SILENT):
                judged.setdefault(entry.implementation.title[0], set()).add(
                    "passes" if entry.passes else entry.state.key
                )
        found += ["differs"] if len(set().union(*judged.values())) > 1 else []
        return (*found, *(["versions"] if any(len(states) > 1 for states in judged.values()) else []))

    @property
    def holds_everywhere(self) -> bool:
        """True if the clause passes in every implementation."""
        return all(entry.state is _HOLDS for entry in self.entries)


@dataclasses.dataclass(frozen=True, slots=True)
class Chapter:
    """The clauses of one section (:func:`~conformance.report.summary.section_of`), the more binding ones first."""

    name: str
    rows: tuple[MatrixRow, ...]

    def totals(self) -> tuple[Cell, ...]:
        """For each implementation, the clauses of this chapter counted by standing, but for optional ones that fail."""
        columns = zip(*(row.entries for row in self.rows), strict=True)
        return tuple(sum((_cell(entry) for entry in column), Cell()) for column in columns)


def _cell(entry: Entry) -> Cell:
    standing = entry.implementation.standings.get(entry.clause)
    return Cell() if standing is None or entry.state is _OPTIONAL else cell_of(standing)


@dataclasses.dataclass(frozen=True, slots=True)
class Matrix:
    """Implementations in the given order, chapters in the order of the contract."""

    implementations: tuple[Implementation, ...]
    chapters: tuple[Chapter, ...]

    @property
    def columns(self) -> list[tuple[str, tuple[Question | None, Level]]]:
        """The columns of the counts of clauses, each with its title: the levels, for readers once for each question."""
        found = {key for item in self.implementations for key in item.counted}
        plain = not found or any(question is None for question, _ in found)
        shown = [key for key in COLUMNS if key in found or (plain and key[0] is None)]
        return [(f"{question or ''} {level.upper()}".strip(), (question, level)) for question, level in shown]

    @property
    def sorted(self) -> list[Implementation]:
        """The implementations by name and version: reports of different versions and dates judge different numbers of
        clauses, and are no ranking.
        """

        def place(item: Implementation) -> list[tuple[int, str]]:
            parts = re.split(r"(\d+)", " ".join(item.title).casefold())
            return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]

        return sorted(self.implementations, key=place)

    @property
    def rows(self) -> Iterator[MatrixRow]:
        """Every row."""
        for chapter in self.chapters:
            yield from chapter.rows


_LEVELS: Final = tuple(Level)


def build(implementations: Sequence[Implementation]) -> Matrix:
    """The matrix of ``implementations``."""
    met = dict.fromkeys(clause for item in implementations for clause in item.standings)
    order = {clause: place for place, clause in enumerate(CLAUSES)}
    clauses = sorted(met, key=lambda clause: order.get(clause, len(order)))
    chapters: dict[str, list[MatrixRow]] = {}
    for clause in clauses:
        row = MatrixRow(clause, level_of(clause), tuple(item.entry(clause) for item in implementations))
        chapters.setdefault(section_of(clause), []).append(row)
    return Matrix(
        tuple(implementations),
        tuple(
            Chapter(name, tuple(sorted(rows, key=lambda row: _LEVELS.index(row.level))))
            for name, rows in sorted(chapters.items(), key=lambda item: section_place(item[0]))
        ),
    )


def load_matrix(paths: Sequence[Path]) -> Matrix:
    """The matrix of the JSON reports at ``paths``, with the names of their files.

    Raises:
        ReportError: a file is not a report.
        MatrixError: two files have one name, or a file has the name of the page with all implementations.
    """
    slugs = [re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem) for path in paths]
    if twice := sorted({slug for slug in slugs if slugs.count(slug) > 1}):
        raise MatrixError(f"expected reports in files with different names, but two have the name {twice[0]}")
    if taken := sorted({INDEX, CLAUSE_TEXTS} & set(slugs)):
        raise MatrixError(f"expected no report with the name {taken[0]}, which is a page about all of them")
    return build([Implementation(slug, read_report(path)) for slug, path in zip(slugs, paths, strict=True)])
