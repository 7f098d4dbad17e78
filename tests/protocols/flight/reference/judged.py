"""What the suite finds in a mutant of the Flight reference, for the tests of the mutants and for the kept findings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from conformance._globs import matches
from conformance.engine.proof import by_scenario, by_server
from conformance.protocols.flight.generate.histories import HISTORY
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.records import Case, Finding, Outcome, Verdict
from conformance.records.together import groups
from conformance.reference.register import Mutant
from tests.protocols.flight.reference.direct import FIXTURE, in_part

__all__ = ["Judged", "judged"]

ENDLESS: Final = "calls.stay-within-reason"
"""Each answer without an end is read up to a limit: one is enough here."""

PARTS: Final = 36
"""One case of so many that are not made for a mutant is put to it: each of them meets eight mutants here."""


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """The clauses that fail on a mutant: each with its first finding in a written case, and in drawn histories."""

    written: dict[str, Finding]
    drawn: frozenset[str]


def judged(name: str) -> Judged:
    """Put cases of the proof to a mutant, and drawn histories until it has failed what it is made for there.

    The cases are those that are made for what it fails, and a part of the others, another one for each mutant; all
    others follow until it has failed everything that it declares. Cases whose calls meet need connections, and are not
    among the others. The proof puts every case and every history to every mutant.

    Raises:
        AssertionError: a clause raised an exception.
    """
    mutant = FLIGHT_MUTANTS[name]
    written: dict[str, Finding] = {}
    drawn: set[str] = set()
    sought = {clause for clause in mutant.kills if clause.startswith(f"{HISTORY}.")}
    declared = {*mutant.kills, *mutant.also} - sought
    for first, verdicts in _verdicts(name, mutant, until=lambda: declared <= written.keys()):
        for verdict in verdicts:
            assert verdict.outcome is not Outcome.ERROR, f"{verdict.clause}: {verdict.reason}"
            if verdict.outcome is Outcome.FAIL and verdict.case_id.startswith(f"{HISTORY}."):
                drawn.add(verdict.clause)
            elif verdict.outcome is Outcome.FAIL:
                written.setdefault(verdict.clause, verdict.findings[0])
        if (sought and sought <= drawn) or ENDLESS in written or (not first and declared <= written.keys()):
            break
    return Judged(written, frozenset(drawn))


def _verdicts(name: str, mutant: Mutant, until: Callable[[], bool]) -> Iterator[tuple[bool, list[Verdict]]]:
    """The verdicts on each case, and True for those that are always put to the mutant; the others only ``until``."""
    scenario = getattr(mutant.service, "scenario", None)
    if scenario is not None:
        yield from ((True, verdicts) for verdicts in by_scenario(FIXTURE, scenario, "flight", name))
        return
    known = (*mutant.kills, *mutant.also)
    made = [one for one in FIXTURE.light if _is_made_for(one.case, known)]
    others = [one for one in FIXTURE.light if one not in made and not _meets(one.case)]
    chosen = [one for one in others if in_part(name, one.case, PARTS)]
    left = [one for one in others if one not in chosen]
    for light, kills in ((made + chosen, mutant.kills), (left, ())):
        if light is left and until():
            return
        fixture = dataclasses.replace(FIXTURE, light=tuple(light))
        yield from ((light is not left, verdicts) for verdicts in by_server(fixture, name, kills, "flight"))


def _meets(case: Case) -> bool:
    return any(len(group) > 1 for group in groups(case.steps))


def _is_made_for(case: Case, clauses: Sequence[str]) -> bool:
    return any(matches(clause, case.clauses) for clause in clauses)
