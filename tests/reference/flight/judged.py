"""What the suite finds in a mutant of the Flight reference, for the tests of the mutants and for the kept findings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

from conformance._globs import matches
from conformance.engine.proof import by_scenario, by_server
from conformance.generate.flighthistories import HISTORY
from conformance.records import Case, Finding, Outcome, Verdict
from conformance.records.together import groups
from conformance.reference.flight.mutants import FLIGHT_MUTANTS
from conformance.targets.spec import TargetKind
from tests.reference.flight.direct import FIXTURE

__all__ = ["Judged", "judged"]

ENDLESS: Final = "calls.stay-within-reason"
"""Each answer without an end is read up to a limit: one is enough here."""


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """The clauses that fail on a mutant: each with its first finding in a written case, and in drawn histories."""

    written: dict[str, Finding]
    drawn: frozenset[str]


def judged(name: str) -> Judged:
    """Put cases of the proof to a mutant, and drawn histories until it has failed what it is made for there.

    Cases whose calls meet need connections: such a case is put to mutants that it is made for. The proof puts every
    case and every history to every mutant.

    Raises:
        AssertionError: a clause raised an exception.
    """
    written: dict[str, Finding] = {}
    drawn: set[str] = set()
    sought = {clause for clause in FLIGHT_MUTANTS[name].kills if clause.startswith(f"{HISTORY}.")}
    for verdicts in _verdicts(name):
        for verdict in verdicts:
            assert verdict.outcome is not Outcome.ERROR, f"{verdict.clause}: {verdict.reason}"
            if verdict.outcome is Outcome.FAIL and verdict.case_id.startswith(f"{HISTORY}."):
                drawn.add(verdict.clause)
            elif verdict.outcome is Outcome.FAIL:
                written.setdefault(verdict.clause, verdict.findings[0])
        if (sought and sought <= drawn) or ENDLESS in written:
            break
    return Judged(written, frozenset(drawn))


def _verdicts(name: str) -> Iterator[list[Verdict]]:
    mutant = FLIGHT_MUTANTS[name]
    scenario = getattr(mutant.flight, "scenario", None)
    if scenario is not None:
        return by_scenario(FIXTURE, scenario, name)
    light = tuple(one for one in FIXTURE.light if not _meets(one.case) or _is_made_for(one.case, mutant.kills))
    return by_server(dataclasses.replace(FIXTURE, light=light), name, mutant.kills, TargetKind.FLIGHT)


def _meets(case: Case) -> bool:
    return any(len(group) > 1 for group in groups(case.steps))


def _is_made_for(case: Case, kills: Sequence[str]) -> bool:
    return any(matches(clause, case.clauses) for clause in kills)
