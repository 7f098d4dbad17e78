"""A run as cells, and the reason why a cell is in no gate of several runs.

A *cell* is a clause with the thing that it judges: a reader for the clauses on what one reader makes of the bytes, the
target itself for all others. A cell is in the gate if it held in each run. Every other cell has a reason, and none is
inferred: a reader is excluded by its own statement, or it is not here, or it was not judged.

A cell holds where its clause is held or held where judged. The cell :data:`~conformance.engine.outcomes.WHOLE_CASE` of
the target holds if no case failed as a whole.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from conformance.contract.disputes import DISPUTED
from conformance.engine.answers import JUDGED, Answer
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.result import NOT_JUDGED
from conformance.engine.selection import NOT_OF_PROFILE
from conformance.engine.standing import FAILING, Standing
from conformance.records import Outcome
from conformance.report.document import Report
from conformance.report.readertable import ReaderResult

__all__ = ["BY_READER", "TARGET", "CellState", "GateCell", "Judgement", "RunView", "reason_of_cell"]

TARGET: Final = "target"
"""The place of a reader's name in the cells that judge the target itself."""

_TABLES: Final = frozenset({Answer.ROWS, Answer.OTHER_ROWS})
BY_READER: Final[Mapping[str, tuple[frozenset[Answer], Answer]]] = {
    "readers.read-without-error": (JUDGED, Answer.ERROR),
    "readers.read-without-crash": (JUDGED, Answer.CRASH),
    "readers.read-without-hang": (JUDGED, Answer.HANG),
    "readers.find-the-values": (_TABLES, Answer.OTHER_ROWS),
}
"""The clauses on one reader: the answers on which a reader is judged, and the one that fails.

``readers.agree`` is about all readers of a run, so its cell is the target's.
"""
SHOWN: Final = 160
"""The most characters of a text that a reason quotes."""


class CellState(enum.StrEnum):
    """The result of a cell in a run, or in several; all but the first are reasons why it is not in a gate."""

    HELD = "held"
    MIXED = "mixed"
    """It held in one run and failed in another."""
    FAILED = "failed"
    OPTIONAL = "optional"
    """It failed, and is a MAY clause, which nothing promises."""
    CANNOT = "cannot"
    """The reader itself states that it cannot read what it was asked for."""
    NOT_HERE = "not-here"
    """The reader is not built or not installed where the run took place."""
    NOT_OFFERED = "not-offered"
    """The target states that it does not offer what the clause is about."""
    ASIDE = "set-aside"
    """The suite does not judge the clause: it is disputed, or this version of the suite does not have it."""
    NOT_JUDGED = "not-judged"


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class GateCell:
    """A clause, judged by what ``by`` gave: a reader, or :data:`TARGET`."""

    by: str
    clause: str


@dataclasses.dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a cell in one run; ``why`` is empty if it held."""

    kind: CellState
    why: str = ""


class RunView:
    """A run as cells."""

    def __init__(self, report: Report) -> None:
        self.report: Final = report
        self._readers: Final = {reader.name: reader for reader in report.readers}
        self._asked: Final = {reader.name for reader in report.run.provenance.readers} | self._readers.keys()

    def cells(self) -> Iterator[GateCell]:
        """Every cell of the run, those of clauses that were not chosen included."""
        yield GateCell(TARGET, WHOLE_CASE)
        for clause in (*self.report.run.clauses, *self._left_out):
            if clause not in BY_READER:
                yield GateCell(TARGET, clause)
            else:
                yield from (GateCell(reader, clause) for reader in self._asked)

    @cached_property
    def _left_out(self) -> Mapping[str, str]:
        """The clauses about such a target that were not chosen, with the reasons."""
        left = self.report.run.left_out
        return {one.id: one.reason for one in left if one.kind == "clause" and one.reason != NOT_OF_PROFILE}

    @cached_property
    def _chosen(self) -> frozenset[str]:
        return frozenset(self.report.run.clauses)

    def judge(self, cell: GateCell) -> Judgement:
        """The result of a cell, which need not be one of the run's own."""
        if cell.clause == WHOLE_CASE:
            return self._whole()
        if cell.clause not in self._chosen:
            why = self._left_out.get(cell.clause)
            if why is None:
                return Judgement(CellState.ASIDE, "this version of the suite does not judge the clause")
            return Judgement(
                CellState.ASIDE if why.startswith(DISPUTED) else CellState.NOT_JUDGED, f"not chosen: {why}"
            )
        return self._of_target(cell.clause) if cell.by == TARGET else self._of_reader(cell)

    def _whole(self) -> Judgement:
        """Whether no case failed as a whole, such as by a crash that no clause names."""
        worst = self.report.worst.get(WHOLE_CASE)
        if worst is Outcome.ERROR or self.report.broke:
            return Judgement(CellState.NOT_JUDGED, "the suite itself broke on a case")
        if worst is not None and worst not in NOT_JUDGED:
            return Judgement(CellState.FAILED, self._observed(WHOLE_CASE))
        judged = any(outcome not in NOT_JUDGED for outcome in self.report.worst.values())
        return Judgement(CellState.HELD) if judged else Judgement(CellState.NOT_JUDGED, "nothing was judged")

    def _of_target(self, clause: str) -> Judgement:
        item = self.report.standings[clause]
        if item.standing in (Standing.HELD, Standing.HELD_WHERE_JUDGED):
            return Judgement(CellState.HELD)
        if item.standing in FAILING:
            return Judgement(self._failed(clause), self._observed(clause))
        if item.standing is Standing.NOT_OFFERED:
            return Judgement(CellState.NOT_OFFERED, "the target does not offer what it is about")
        return Judgement(CellState.NOT_JUDGED, item.reason or self._observed(clause) or "no case showed it")

    def _failed(self, clause: str) -> CellState:
        """How a clause failed."""
        failures = [
            item for item in self.report.deviations if clause in item.clauses and item.outcome not in NOT_JUDGED
        ]
        return CellState.OPTIONAL if failures and all(item.optional for item in failures) else CellState.FAILED

    def _observed(self, clause: str) -> str:
        """The first deviation of a clause, failures before reasons why it was not judged, with its first case."""
        found = sorted(
            (item for item in self.report.deviations if clause in item.clauses),
            key=lambda item: item.outcome in NOT_JUDGED,
        )
        return f"{_short(found[0].text)} ({found[0].cases[0]})" if found else ""

    def _of_reader(self, cell: GateCell) -> Judgement:
        if cell.by not in self._asked:
            return Judgement(CellState.NOT_JUDGED, f"this run did not ask it; --reader {cell.by} does")
        reader = self._readers.get(cell.by, ReaderResult(cell.by))
        if reader.absent:
            return Judgement(CellState.NOT_HERE, _short(reader.absent))
        judged, fails = BY_READER[cell.clause]
        if failures := reader.of(fails):
            first = failures[0]
            return Judgement(CellState.FAILED, f"{_short(first.text) or fails} ({first.first})")
        if reader.of(*judged):
            return Judgement(CellState.HELD)
        stated = reader.of(Answer.CANNOT)
        if stated and len(stated) == len(reader.answers):
            return Judgement(CellState.CANNOT, _short(stated[0].text))
        return Judgement(CellState.NOT_JUDGED, "no case showed it")

    def statements(self) -> Iterator[tuple[str, str]]:
        """The readers that state that they cannot read something, with the statements."""
        for reader in self.report.readers:
            yield from ((reader.name, _short(item.text)) for item in reader.of(Answer.CANNOT))


def reason_of_cell(said: Sequence[Judgement]) -> tuple[CellState, str]:
    """Why a cell is not in the gate of the runs that said this of it, in their order; ``HELD`` if it is in it."""
    kinds = dict.fromkeys(one.kind for one in said)
    others = [kind for kind in kinds if kind is not CellState.HELD]
    if not others:
        return CellState.HELD, ""
    parts = []
    for kind in CellState:
        runs = [number for number, one in enumerate(said, 1) if one.kind is kind]
        if runs:
            why = next((one.why for one in said if one.kind is kind and one.why), "")
            parts.append(f"{_IN_WORDS[kind]} in {_runs(runs)}" + (f": {why}" if why else ""))
    if CellState.FAILED in kinds:
        kind = CellState.MIXED if CellState.HELD in kinds else CellState.FAILED
    else:
        kind = others[0] if len(others) == 1 else CellState.NOT_JUDGED
    return kind, "; ".join(parts)


_IN_WORDS: Final = {kind: kind.replace("-", " ") for kind in CellState} | {
    CellState.OPTIONAL: "failed, which a MAY clause may,",
    CellState.CANNOT: "not judged, by its own statement,",
}


def _runs(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"run {numbers[0]}"
    return f"runs {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= SHOWN else flat[: SHOWN - 1] + "…"
