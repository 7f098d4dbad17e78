"""The report on clients has what was measured in every round, and nothing of other versions or situations."""

from __future__ import annotations

import pytest

from conformance.clients.consequences import Consequence, Measured, served_digest
from conformance.clients.situations import Set, faulty
from conformance.reference.mutants import MUTANTS
from publish.clients import ROUNDS, by_chapter, report

CLIENT = "bigquery-go.messages"


@pytest.fixture
def plan() -> Set:
    """One situation."""
    return next(faulty())


def made(plan: Set, *classes: Consequence, version: str = "2", digest: str = "") -> list[Measured]:
    """A measurement of each class, one in each round."""
    served = digest or served_digest(plan)
    return [Measured(CLIENT, version, plan.id, served, number, each) for number, each in enumerate(classes)]


def test_equal_rounds_are_one_class(plan: Set) -> None:
    """The cell has it, and the client its version."""
    found = report([plan], [], made(plan, Consequence.CRASH, Consequence.CRASH), {})

    assert found["situations"][0]["cells"] == {CLIENT: {"class": "crash"}}
    assert (found["unequal"], found["clients"][0]["version"]) == (0, "2")


def test_unequal_rounds_are_an_outcome(plan: Set) -> None:
    """The cell has both classes, in their order."""
    found = report([plan], [], made(plan, Consequence.HANG, Consequence.REFUSED), {})

    assert found["situations"][0]["cells"] == {CLIENT: {"classes": ["hang", "refused"]}}
    assert found["unequal"] == 1


def test_a_cell_without_all_rounds_is_left_out(plan: Set) -> None:
    """It was interrupted."""
    assert ROUNDS == 2
    assert report([plan], [], made(plan, Consequence.CRASH), {})["situations"] == []


def test_other_versions_and_situations_are_left_out(plan: Set) -> None:
    """The last version counts, and what is served now."""
    old = made(plan, Consequence.CRASH, Consequence.CRASH, version="1")
    other = made(plan, Consequence.HANG, Consequence.HANG, digest="another")
    now = made(plan, Consequence.LOSS, Consequence.LOSS)

    found = report([plan], [], [*old, *other, *now], {})

    assert found["situations"][0]["cells"] == {CLIENT: {"class": "silent loss"}}


def test_absent_clients_are_named(plan: Set) -> None:
    """With the reason, and without cells."""
    found = report([plan], [], made(plan, Consequence.LOSS, Consequence.LOSS), {CLIENT: "not built"})

    assert (found["absent"], found["clients"], found["situations"]) == ({CLIENT: "not built"}, [], [])


def test_chapters_take_turns() -> None:
    """The first mutants are of different chapters, and all mutants are there once."""
    ordered = by_chapter(MUTANTS.values())
    chapters = {mutant.kills[0].partition(".")[0] for mutant in MUTANTS.values()}

    assert {mutant.kills[0].partition(".")[0] for mutant in ordered[: len(chapters)]} == chapters
    assert sorted(mutant.name for mutant in ordered) == sorted(MUTANTS)
