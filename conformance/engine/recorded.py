"""Exchanges in a log, judged again: today's clauses on bytes that were recorded earlier, without any target.

No reader is asked, so clauses on readers are not observed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.contract.view import View
from conformance.engine.bench import Bench
from conformance.engine.events import CaseJudged, Event, ExchangeRecorded, RunEnded, RunStarted
from conformance.engine.log import LogError, read_log
from conformance.engine.selection import all_clauses
from conformance.generate import materialise

__all__ = ["Recorded", "read_recorded", "with_exchange"]


@dataclasses.dataclass(frozen=True, slots=True)
class Recorded:
    """The exchanges of a log, under the event that began its run."""

    path: Path
    start: RunStarted
    exchanges: tuple[ExchangeRecorded, ...]

    def views(self) -> Iterator[View]:
        """Each exchange, as clauses see it."""
        for one in self.exchanges:
            yield View(one.case, one.exchange, materialise(one.case.table))

    def judged(self) -> Iterator[Event]:
        """The events of a run that judges the exchanges under every clause of today."""
        bench = Bench(tuple(all_clauses().values()))
        yield dataclasses.replace(
            self.start,
            readers=False,
            cases=tuple(one.case.id for one in self.exchanges),
            clauses=tuple(clause.id for clause in bench.clauses),
            all_clauses=len(bench.clauses),
            left_out=(),
        )
        for one in self.exchanges:
            assessment = bench.assess(one.case, one.exchange, materialise(one.case.table))
            yield CaseJudged(
                case_id=one.case.id,
                title=one.case.title,
                replay=str(self.path),
                verdicts=assessment.verdicts,
                evidence=assessment.evidence,
                calls=len(one.exchange.calls),
                received=one.exchange.received,
            )
        yield RunEnded(0.0)


def read_recorded(path: Path) -> Recorded:
    """The exchanges of the log at ``path``.

    Raises:
        LogError: the file is no log, or none that holds an exchange.
        OSError: the file cannot be read.
    """
    events = list(read_log(path))
    exchanges = tuple(event for event in events if isinstance(event, ExchangeRecorded))
    if not exchanges or not isinstance(events[0], RunStarted):
        raise LogError(f"{path} holds no exchange; `conformance replay CASE --log FILE` writes one")
    return Recorded(path, events[0], exchanges)


def with_exchange(events: Sequence[Event], recorded: ExchangeRecorded) -> Iterator[Event]:
    """``events`` with the exchange before the verdicts on its case."""
    for event in events:
        if isinstance(event, CaseJudged) and event.case_id == recorded.case.id:
            yield recorded
        yield event
