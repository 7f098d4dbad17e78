"""Judge the exchanges of a log again: today's clauses on bytes that were recorded earlier, without any target.

The log is of a run, of ``conformance replay CASE --log FILE``, or of a proxy that recorded a client and its server;
:mod:`.conversed` makes exchanges of what the proxy saw.

No reader reads the bytes, so clauses on readers are not observed.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from conformance.contract.view import View
from conformance.contract.viewing import profile_of, view_of
from conformance.engine.casestep import CaseStep
from conformance.engine.conversed import conversations, is_conversed, judgeable, without_table
from conformance.engine.events import CaseJudged, Event, ExchangeRecorded, RunStarted
from conformance.engine.log import LogError, read_log
from conformance.engine.offer import Offer
from conformance.engine.run import CaseJob, run
from conformance.engine.selection import clauses_on
from conformance.generate import materialise
from conformance.protocol import protocol_names
from conformance.records import Case, Exchange

__all__ = ["Recorded", "Stored", "judged_events", "read_recorded", "with_exchange"]


class Stored:
    """A driver that returns recorded exchanges instead of asking a target."""

    remarks: tuple[str, ...] = ()

    def __init__(self, exchanges: Mapping[str, Exchange]) -> None:
        self._exchanges = exchanges

    def drive(self, case: Case, _table: pa.Table) -> Exchange:
        """The exchange that was stored for ``case``."""
        return self._exchanges[case.id]


@dataclasses.dataclass(frozen=True, slots=True)
class Recorded:
    """The exchanges of a log, and the event that began its run."""

    path: Path
    start: RunStarted
    exchanges: tuple[ExchangeRecorded, ...]

    @property
    def conversed(self) -> bool:
        """True if a proxy recorded them, without cases."""
        return all(map(is_conversed, self.exchanges))

    def views(self) -> Iterator[View]:
        """Each exchange, in the form in which clauses see it."""
        for one in self.exchanges:
            yield view_of(one.case, one.exchange, materialise(one.case.table))

    def judged(self) -> Iterator[Event]:
        """The events of a run that judges the exchanges under every clause on their protocol."""
        exchanges = tuple(judgeable(self.exchanges))
        every, aside = clauses_on(*dict.fromkeys(one.exchange.protocol for one in exchanges))
        asked, unknown = without_table(every) if self.conversed else (every, ())
        step = CaseStep(asked, Stored({one.case.id: one.exchange for one in exchanges}))
        clauses = tuple(clause.id for clause in step.judge.clauses)
        cases = [one.case for one in exchanges]
        start = dataclasses.replace(
            self.start,
            readers=False,
            cases=tuple(case.id for case in cases),
            clauses=clauses,
            all_cases=len(cases) if self.conversed else self.start.all_cases,
            all_clauses=len(clauses) + len(unknown),
            left_out=(*(left for left in self.start.left_out if left.kind == "case"), *aside, *unknown),
            decided=(),
        )
        jobs = [CaseJob(case, str(self.path)) for case in cases]
        offer = Offer(capabilities={need for case in cases for need in case.needs}, spoken=tuple(protocol_names()))
        return run(start, jobs, step, offer=offer)


def read_recorded(path: Path) -> Recorded:
    """The exchanges of the log at ``path``.

    Raises:
        LogError: the file is not a log, contains no exchange, or several of one case.
        OSError: the file cannot be read.
    """
    events = list(read_log(path))
    exchanges = tuple(event for event in events if isinstance(event, ExchangeRecorded))
    if not exchanges or not isinstance(events[0], RunStarted):
        raise LogError(f"{path} contains no exchange; `conformance replay CASE --log FILE` writes one")
    if all(map(is_conversed, exchanges)):
        profile = profile_of(exchanges[0].exchange.protocol)  # a proxy does not know before what it will pass on
        return Recorded(path, dataclasses.replace(events[0], profile=profile), conversations(exchanges))
    counts = collections.Counter(one.case.id for one in exchanges)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise LogError(f"{path}: expected one exchange of each case, got several of {twice[0]!r}; keep one in a log")
    return Recorded(path, events[0], exchanges)


def judged_events(path: Path) -> Iterator[Event]:
    """The events of the log at ``path``; a proxy's has no verdicts, so that it is judged first.

    Raises:
        LogError: the file is not a log.
        OSError: the file cannot be read.
    """
    events = list(read_log(path))
    exchanges = [event for event in events if isinstance(event, ExchangeRecorded)]
    return read_recorded(path).judged() if exchanges and all(map(is_conversed, exchanges)) else iter(events)


def with_exchange(events: Sequence[Event], recorded: ExchangeRecorded) -> Iterator[Event]:
    """``events`` with the exchange before the verdicts on its case."""
    for event in events:
        if isinstance(event, CaseJudged) and event.case_id == recorded.case.id:
            yield recorded
        yield event
