"""What the suite finds in a mutant of the Flight reference, for the tests of the mutants and for the kept findings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from conformance.engine.proof import by_scenario, by_server
from conformance.generate.flighthistories import HISTORY
from conformance.records import Finding, Outcome, Verdict
from conformance.reference.flight.mutants import FLIGHT_MUTANTS
from conformance.targets.spec import TargetKind
from tests.reference.flight.direct import FIXTURE

__all__ = ["Judged", "judged"]


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """The clauses that fail on a mutant: each with its first finding in a written case, and in drawn histories."""

    written: dict[str, Finding]
    drawn: frozenset[str]


def judged(name: str) -> Judged:
    """Put the cases of the proof to a mutant.

    Raises:
        AssertionError: a clause raised an exception.
    """
    written: dict[str, Finding] = {}
    drawn: set[str] = set()
    for verdicts in _verdicts(name):
        for verdict in verdicts:
            assert verdict.outcome is not Outcome.ERROR, f"{verdict.clause}: {verdict.reason}"
            if verdict.outcome is Outcome.FAIL and verdict.case_id.startswith(f"{HISTORY}."):
                drawn.add(verdict.clause)
            elif verdict.outcome is Outcome.FAIL:
                written.setdefault(verdict.clause, verdict.findings[0])
    return Judged(written, frozenset(drawn))


def _verdicts(name: str) -> Iterator[list[Verdict]]:
    mutant = FLIGHT_MUTANTS[name]
    scenario = getattr(mutant.flight, "scenario", None)
    if scenario is not None:
        return by_scenario(FIXTURE, scenario, name)
    return by_server(FIXTURE, name, mutant.kills, TargetKind.FLIGHT)
