"""One case at the bench: an exchange goes in, its verdicts with their evidence come out.

This is the pure half of a run. It keeps nothing between cases and may be called from several threads;
only the readers, which live in processes of their own, are shared.
What raises on the way costs what needs it: a clause its verdict, a finding its evidence, readings the clauses on them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.judge import judge, judge_view
from conformance.contract.raised import attempt, raise_or_give
from conformance.contract.view import View
from conformance.engine.events import Evidence
from conformance.engine.evidence import gather
from conformance.engine.outcomes import refine, whole_case
from conformance.readers.compare import told
from conformance.readers.held import held_tables
from conformance.records import Case, Exchange, Outcome, Reading, Verdict

__all__ = ["Assessment", "Bench", "Reader"]


class Reader(Protocol):
    """What turns an exchange into readings; :class:`conformance.readers.ReaderPool` is one."""

    def read(self, case: Case, exchange: Exchange) -> list[Reading]:
        """The readings of every whole read in ``exchange``; never raises for what a reader does."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Assessment:
    """What became of one exchange: verdicts in register order, and annotated bytes for their findings.

    ``broke`` are the tracebacks of what raised on the way.
    """

    verdicts: tuple[Verdict, ...]
    evidence: tuple[Evidence, ...]
    broke: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    """Judges exchanges under ``clauses``, with what ``reader`` makes of them where there is one."""

    clauses: Sequence[Clause]
    reader: Reader | None = None

    def assess(self, case: Case, exchange: Exchange, table: pa.Table) -> Assessment:
        """The verdicts on ``exchange`` and their evidence; raises only where the suite itself is at fault."""
        view = self.view(case, exchange, table)
        verdicts = self.verdicts(view)
        if exchange.untestable:
            return Assessment(verdicts, (), tuple(view.broke))
        gathered = gather(view, verdicts, {clause.id: clause for clause in self.clauses})
        return Assessment(verdicts, gathered.evidence, (*view.broke, *gathered.broke))

    def view(self, case: Case, exchange: Exchange, table: pa.Table) -> View:
        """The exchange as clauses see it, with what the readers make of it where there are any."""
        view = View(case, exchange, table)
        if self.reader is not None and not exchange.untestable:
            reader = self.reader
            readings = attempt(lambda: reader.read(case, exchange))
            view.compare_readings(lambda: told(raise_or_give(readings), held_tables(view)))
        return view

    def verdicts(self, view: View) -> tuple[Verdict, ...]:
        """The verdicts on a view, in register order; one on the whole case where no clause has any."""
        case, exchange = view.case, view.exchange
        if exchange.untestable:
            judged = judge(case, exchange, view.table, clauses=self.clauses)
            return tuple(judged) or (whole_case(case, Outcome.UNTESTABLE, exchange.untestable),)
        return tuple(refine(case, exchange, judge_view(view, self.clauses), view.obstacle))
