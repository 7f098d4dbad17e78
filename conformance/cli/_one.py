"""Put one case to one target, for the commands that show a single exchange."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pyarrow as pa

from conformance.cli._common import find_case
from conformance.cli._group import Unusable
from conformance.cli._progress import progress
from conformance.contract.view import View
from conformance.contract.viewing import view_of
from conformance.engine.casestep import CaseStep, Driver
from conformance.engine.corpus import drawn_again, load_corpus
from conformance.engine.events import CaseJudged, Event
from conformance.engine.plugin import EnginePlugin
from conformance.engine.result import Result, fold
from conformance.engine.run import CaseJob, run
from conformance.engine.selection import LeftOut, Plan, Selection, clauses_on
from conformance.engine.session import Settings, open_session
from conformance.generate import materialise
from conformance.generate.forms import in_form, parted
from conformance.protocol import plugin
from conformance.records import Case, Exchange
from conformance.targets import load_target

__all__ = ["OneCase", "put"]


@dataclasses.dataclass(frozen=True, slots=True)
class OneCase:
    """A case, the exchange with the target, and the result of judging it."""

    case: Case
    exchange: Exchange
    view: View
    result: Result
    events: tuple[Event, ...]


class _Remembering:
    """A driver that stores the exchange that it made."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.exchange: Exchange | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of the real target."""
        return self._driver.remarks

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Drive the real target and store the exchange."""
        self.exchange = self._driver.drive(case, table)
        return self.exchange


def put(name: str, *, target: str, corpus: Path, settings: Settings) -> OneCase:
    """Put the case ``name`` to ``target`` and judge it under every clause on its protocol.

    Raises:
        Unusable: the case is unknown, or the target does not offer something that it needs.
    """
    spec = load_target(target)
    spoken = plugin(EnginePlugin, spec.protocol)
    spec = spoken.playing(spec, [name])
    base, form = parted(name)
    known = {one.id: one for one in spoken.described(spec)}
    again = drawn_again(base, types=spec.not_offered, not_offered=spoken.not_drawn(spec)) or known.get(base)
    case = (None if again is None else in_form(again, form)) or find_case(name, corpus)
    reason = f"only {case.id} is replayed"
    others = (LeftOut("case", other, reason) for other in load_corpus(corpus, case.protocol) if other != case.id)
    clauses, aside = clauses_on(case.protocol)
    plan = Plan((case,), clauses, (*others, *aside))
    with progress(f"running {name}"), open_session(spec, plan, Selection(cases=(name,)), settings) as session:
        remembering = _Remembering(session.driver)
        step = CaseStep(plan.clauses, remembering, session.step.reader, deadline=session.step.deadline)
        events = list(run(session.started(), [CaseJob(case, name)], step, offer=session.offer))
    if remembering.exchange is None:
        reasons = [verdict.reason for event in events if isinstance(event, CaseJudged) for verdict in event.verdicts]
        raise Unusable(f"{case.id} was not put to {target}: {reasons[0] if reasons else 'no reason given'}")
    view = view_of(case, remembering.exchange, materialise(case.table))
    return OneCase(case, remembering.exchange, view, fold(events), tuple(events))
