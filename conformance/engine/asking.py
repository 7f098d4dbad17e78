"""Puts cases to servers of the proof, and does not ask where the answer of the reference is known to be the same.

Calls to a server in this process end one after the other. So a case whose calls meet is put to one that listens and
outlives the cases, over connections and by the clock of the machine.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.engine.reuse import Answered, Reuse
from conformance.generate import draw_scenario, materialise
from conformance.generate.flighthistories import HISTORY
from conformance.records import Case, Exchange, ProtocolName, Verdict
from conformance.records.together import groups
from conformance.reference.flight.service import FlightService
from conformance.reference.flight.sql.service import SqlFlightService
from conformance.reference.hosted import flight_target, storage_target
from conformance.reference.reached import Recorder, differences
from conformance.reference.service import Service
from conformance.targets import Target

__all__ = ["FLIGHT_ENTRIES", "Tried", "asked", "drawn", "has_races"]

SCENARIOS: Final = 50
"""The number of scenarios on which mutants of combinations have to die: those of a default run."""

HISTORIES: Final = 23
"""The number of histories of Flight on which mutants of histories have to die: they have every pair of features."""

ENTRIES: Final = frozenset({"create_read_session", "read_rows", "split_read_stream"})
"""The methods of the reference of Storage Read to which calls are given."""

FLIGHT_ENTRIES: Final = frozenset(
    {
        *("handshake", "list_flights", "get_flight_info", "poll_flight_info", "get_schema"),
        *("do_get", "do_put", "do_exchange", "do_action", "list_actions"),
    }
)
"""Those of the reference of Flight."""

REFERENCES: Final[tuple[type, ...]] = (Service, SqlFlightService, FlightService)
"""The services from which all others deviate, the special ones first."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tried:
    """One case with its rows, made once for all mutants."""

    case: Case
    table: pa.Table


@functools.cache
def drawn(protocol: ProtocolName) -> tuple[Tried, ...]:
    """The drawn cases of a protocol that a default run has."""
    flies = protocol is ProtocolName.FLIGHT
    profile, count = ("flight", HISTORIES) if flies else ("server", SCENARIOS)
    cases = [draw_scenario(0, index, profile=profile) for index in range(count)]
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

    ``racing`` gives the target of the cases whose calls meet.
    """
    reference, own = (None, None) if service is None else _reference_of(service)
    for tried in cases:
        case, races = tried.case, has_races(tried.case)
        judging = _judging(case.protocol, clauses, reference, refined=refined)
        # Where calls meet, the reference itself is asked: for without connections they do not.
        verdicts = None if own is None or (races and not own) else judging.untouched(case, tried.table, own)
        if verdicts is None:
            answering = racing() if races and racing is not None else target
            verdicts = judging.judge(case, answering.drive(case, tried.table), tried.table)
        yield verdicts


def has_races(case: Case) -> bool:
    """True if calls of a case are made at the same time, over several connections, or are broken off by them."""
    if any(len(group) > 1 for group in groups(case.steps)):
        return True
    return any(getattr(step, name, False) for step in case.steps for name in ("together", "faults", "handed"))


@functools.lru_cache(maxsize=8)
def _reference_of(service: type) -> tuple[type, frozenset[str] | None]:
    """The reference from which a service deviates, and the attributes in which it does, if these are all."""
    reference = next(one for one in REFERENCES if issubclass(service, one))
    return reference, differences(service, reference)


@functools.lru_cache(maxsize=8)
def _judging(protocol: ProtocolName, clauses: tuple[Clause, ...], reference: type | None, *, refined: bool) -> Reuse:
    """What judges the exchanges of a protocol in this process; without a reference, each of them."""
    if reference is None:
        return Reuse(clauses, None, refined=refined)
    recorder = Recorder(FLIGHT_ENTRIES if protocol is ProtocolName.FLIGHT else ENTRIES)
    service: Any = recorder.recording(reference)
    target = flight_target(service=service) if protocol is ProtocolName.FLIGHT else storage_target(make=service)

    def driven(case: Case, table: pa.Table) -> tuple[Exchange, frozenset[str]]:
        with recorder.afresh() as used:
            exchange = target.drive(case, table)
            return exchange, frozenset(used)

    @functools.cache
    def met() -> frozenset[str]:
        """What the histories use whose calls meet: which of it a single one uses is a matter of chance."""
        meeting = (one for one in drawn(ProtocolName.FLIGHT) if has_races(one.case))
        return frozenset().union(*(driven(one.case, one.table)[1] for one in meeting))

    def answered(case: Case, table: pa.Table) -> Answered:
        exchange, used = driven(case, table)
        if not has_races(case):
            return exchange, used
        return exchange, used | met() if case.id.startswith(HISTORY) else None

    return Reuse(clauses, answered, refined=refined)
