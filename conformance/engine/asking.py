"""Puts cases to servers of the proof, and does not ask where the answer of the reference is known to be the same.

By a clock that stands still, no calls meet. So a case whose calls meet is put to a server in this process by the clock
of the machine, each of these calls in a thread.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.engine.reuse import Answered, Reuse
from conformance.generate import materialise
from conformance.generate.plugin import GeneratePlugin
from conformance.generate.scenariokinds import parse_scenario_id
from conformance.protocol import plugin
from conformance.records import Case, Exchange, Verdict
from conformance.records.together import groups
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.reached import Recorder, differences
from conformance.targets import Target

__all__ = ["Tried", "asked", "drawn", "has_races"]


@dataclasses.dataclass(frozen=True, slots=True)
class Tried:
    """One case with its rows, made once for all mutants."""

    case: Case
    table: pa.Table


@functools.cache
def drawn(protocol: str) -> tuple[Tried, ...]:
    """The scenarios of a protocol on which its mutants have to die."""
    spoken = plugin(GeneratePlugin, protocol)
    cases = [spoken.draw_scenario(0, index) for index in range(spoken.proven_scenarios)]
    return tuple(Tried(case, materialise(case.table)) for case in cases)


def asked(
    target: Target,
    clauses: tuple[Clause, ...],
    cases: Iterable[Tried],
    *,
    service: type | None = None,
    refined: bool = False,
    racing: Callable[[], Target] | None = None,
) -> Iterator[list[Verdict]]:
    """The verdicts, case by case, on the answers of a target, which has this ``service`` if it is in this process.
    Those that are no passes, ``refined`` as in a run or not.

    ``racing`` gives the target of the cases whose calls meet.
    """
    for tried in cases:
        case, races = tried.case, has_races(tried.case)
        reference, own = (None, None) if service is None else _reference_of(service, case.protocol)
        judging = _judging(case.protocol, clauses, reference)
        # Where calls meet, the reference itself is asked: how they meet is a matter of chance.
        verdicts = None if own is None or (races and not own) else judging.untouched(case, tried.table, own)
        if verdicts is None:
            answering = racing() if races and racing is not None else target
            verdicts = judging.judge(case, answering.drive(case, tried.table), tried.table)
        yield verdicts.refined if refined else verdicts.plain


def has_races(case: Case) -> bool:
    """True if calls of a case are made at the same time, over several connections, or are broken off by them."""
    if any(len(group) > 1 for group in groups(case.steps)):
        return True
    return any(getattr(step, name, False) for step in case.steps for name in ("together", "faults", "handed"))


@functools.lru_cache(maxsize=8)
def _reference_of(service: type, protocol: str) -> tuple[type, frozenset[str] | None]:
    """The reference from which a service deviates, and the attributes in which it does, if these are all."""
    reference = next(one for one in plugin(ReferencePlugin, protocol).bases if issubclass(service, one))
    return reference, differences(service, reference)


@functools.lru_cache(maxsize=8)
def _judging(protocol: str, clauses: tuple[Clause, ...], reference: type | None) -> Reuse:
    """What judges the exchanges of a protocol in this process; without a reference, each of them."""
    if reference is None:
        return Reuse(clauses)
    spoken = plugin(ReferencePlugin, protocol)
    recorder = Recorder(spoken.entries)
    target = spoken.served(recorder.recording(reference))

    def driven(case: Case, table: pa.Table) -> tuple[Exchange, frozenset[str]]:
        with recorder.afresh() as used:
            exchange = target.drive(case, table)
            return exchange, frozenset(used)

    @functools.cache
    def met() -> dict[str, tuple[Exchange, frozenset[str]]]:
        """What came of the scenarios whose calls meet, by their ids, and what was used."""
        return {one.case.id: driven(one.case, one.table) for one in drawn(protocol) if has_races(one.case)}

    def answered(case: Case, table: pa.Table) -> Answered:
        if not has_races(case):
            return driven(case, table)
        if parse_scenario_id(case.id) is None:
            return driven(case, table)[0], None
        exchange, used = met().get(case.id) or driven(case, table)
        # Which of what all of them use a single one uses is a matter of chance.
        return exchange, used.union(*(more for _, more in met().values()))

    return Reuse(clauses, answered)
