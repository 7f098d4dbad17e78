"""Each mutant of the Flight reference fails the clauses that it names, and no others."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.engine.proof import Trial, try_mutant
from conformance.protocols.flight.generate.histories import HISTORY
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from publish.generated import PYARROW
from tests.contract.snapshots import finding_in_words, sections
from tests.protocols.flight.reference.direct import FIXTURE
from tests.protocols.flight.reference.judged import judged

KEPT = sections("flight")
"""The findings as they were accepted; `python -m publish.refresh flight` writes them."""
OVER_GRPC = {"flight-put.given-up-is-what-was-sent"}
"""What may also fail over a connection, and not here: gRPC may end a DoPut that is given up as after a half-close."""


@pytest.mark.parametrize("name", [name for name, mutant in FLIGHT_MUTANTS.items() if not mutant.process])
def test_a_mutant_is_killed_by_the_clauses_that_it_names(name: str) -> None:
    """Whatever else fails is declared, with the reason; what is declared happens; and findings say what they said.

    A change of a finding is a change that is seen, because people act on them.
    """
    mutant = FLIGHT_MUTANTS[name]

    found = judged(name)

    trial = Trial(name, dict.fromkeys({*found.written, *found.drawn}, ()), mutant.kills, tuple(mutant.also))
    assert (trial.survived, trial.surplus) == ((), ())
    if not name.startswith(f"{HISTORY}."):
        assert found.written.keys() == {*mutant.kills, *mutant.also.keys() - OVER_GRPC}
    if pa.__version__ == PYARROW:
        assert [finding_in_words(one) for one in found.written.values()] == KEPT[name]


def test_a_mutant_that_dies_is_found_in_a_process() -> None:
    """The process ends during a call, and another one takes its place."""
    trial = try_mutant(FIXTURE, FLIGHT_MUTANTS["flight-service.dies"])

    assert trial.survived == trial.surplus == ()


def test_every_clause_on_flight_has_a_mutant() -> None:
    """A clause that no mutant breaks has not been seen to fail."""
    made_for = {clause for mutant in FLIGHT_MUTANTS.values() for clause in mutant.kills}

    assert {clause.id for clause in FIXTURE.clauses} - made_for == set()


def test_names_begin_with_the_chapter_and_are_taken_once() -> None:
    """One command tries the mutants of both protocols by their names."""
    chapters = {clause.chapter for clause in FIXTURE.clauses if clause.protocol}

    assert {name.partition(".")[0] for name in FLIGHT_MUTANTS} <= chapters
    assert not FLIGHT_MUTANTS.keys() & MUTANTS.keys()
