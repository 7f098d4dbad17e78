"""The report on clients has what was measured in every round, and grows from the one that is there."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.clients.consequences import UNKNOWN, Consequence, Measured, Suite
from conformance.protocols.flight.clients.situations import unusual
from conformance.protocols.storage_read.clients.mutated import served_digest
from conformance.protocols.storage_read.clients.situations import Set, faulty
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from publish.clients import ROUNDS, by_chapter, published, report, row_of
from publish.flightclients import row_of as flight_row_of
from publish.tables.consequences import matrix

CLIENT = "bigquery-go.messages"
OTHER = "bigquery-python.rows"
NOTHING: dict[str, Any] = {"suites": [], "absent": {}}
SUITE = Suite("0.2.0", "abc", date="2026-11-25")


@pytest.fixture
def plan() -> Set:
    """One situation."""
    return next(faulty())


def made(
    plan: Set, *classes: Consequence, client: str = CLIENT, version: str = "2", digest: str = "", suite: Suite = UNKNOWN
) -> list[Measured]:
    """A measurement of each class, one in each round."""
    served = digest or served_digest(plan)
    return [
        Measured(client, version, plan.id, served, number, each, suite=suite) for number, each in enumerate(classes)
    ]


def cells(found: dict[str, Any]) -> dict[str, Any]:
    """The cells of the only row."""
    (row,) = found["situations"]
    return dict(row["cells"])


def test_equal_rounds_are_one_class(plan: Set) -> None:
    """The cell has it, and the client its version."""
    found = report([row_of(plan)], made(plan, Consequence.CRASH, Consequence.CRASH), {})

    assert cells(found) == {CLIENT: {"class": "crash", "suite": 0}}
    assert (found["unequal"], found["cells"], found["clients"][0]["version"]) == (0, 1, "2")


def test_a_row_says_how_often_a_client_may_be_asked() -> None:
    """Where chance decides between an error and rows, the row of the matrix and the page have the number of tries."""
    rows = [flight_row_of(one) for one in unusual()]

    assert {row["id"].rpartition(".")[0]: row["tries"] for row in rows if "tries" in row} == {"do-get.schema-again": 8}
    shown = "".join(matrix({"situations": [{**row, "cells": {}} for row in rows], "clients": [], **NOTHING}))
    assert shown.count("a client that gives an error is asked up to 8 times") == 3


def test_unequal_rounds_are_an_outcome(plan: Set) -> None:
    """The cell has both classes, in their order."""
    found = report([row_of(plan)], made(plan, Consequence.HANG, Consequence.REFUSED), {})

    assert cells(found) == {CLIENT: {"classes": ["hang", "refused"], "suite": 0}}
    assert found["unequal"] == 1


def test_a_cell_without_all_rounds_is_left_out(plan: Set) -> None:
    """It was interrupted."""
    assert ROUNDS == 2
    assert report([row_of(plan)], made(plan, Consequence.CRASH), {})["situations"] == []


def test_other_versions_and_situations_are_left_out(plan: Set) -> None:
    """The last version counts, and what is served now."""
    old = made(plan, Consequence.CRASH, Consequence.CRASH, version="1")
    other = made(plan, Consequence.HANG, Consequence.HANG, digest="another")
    now = made(plan, Consequence.LOSS, Consequence.LOSS)

    found = report([row_of(plan)], [*old, *other, *now], {})

    assert cells(found) == {CLIENT: {"class": "silent loss", "suite": 0}}


def test_absent_clients_are_named(plan: Set) -> None:
    """With the reason, unless they have cells of a time when they were there."""
    there = made(plan, Consequence.LOSS, Consequence.LOSS)

    assert report([row_of(plan)], [], {CLIENT: "not built"})["absent"] == {CLIENT: "not built"}
    assert report([row_of(plan)], there, {CLIENT: "not built"})["absent"] == {}


def test_a_path_is_added_to_the_report_that_is_there(plan: Set) -> None:
    """The others stay as they were, and each cell has the suite that measured it."""
    first = made(plan, Consequence.HANG, Consequence.REFUSED, suite=SUITE)
    before = report([row_of(plan)], first, {})
    later = Suite("0.3.0", "def", modified=True, date="2026-11-26")
    second = made(plan, Consequence.CRASH, Consequence.CRASH, client=OTHER, suite=later)

    found = report(before["situations"], [*published(before), *second], {})

    assert cells(found) == {
        CLIENT: {"classes": ["hang", "refused"], "suite": 0},
        OTHER: {"class": "crash", "suite": 1},
    }
    assert found["suites"] == [
        {"version": "0.2.0", "commit": "abc", "date": "2026-11-25"},
        {"version": "0.3.0", "commit": "def", "modified": True, "date": "2026-11-26"},
    ]


def test_a_report_is_what_its_measurements_make(plan: Set) -> None:
    """Read and made again, it is the same."""
    before = report([row_of(plan)], made(plan, Consequence.HANG, Consequence.REFUSED, suite=SUITE), {})

    assert report(before["situations"], published(before), {}) == before


def test_what_is_served_otherwise_now_is_not_measured(plan: Set) -> None:
    """A published cell counts for the digest with which it was measured alone."""
    before = report([row_of(plan)], made(plan, Consequence.LOSS, Consequence.LOSS), {})
    other = made(plan, Consequence.CRASH, Consequence.CRASH, client=OTHER, digest="another")

    found = report([{**row_of(plan), "digest": "another"}], [*published(before), *other], {})

    assert cells(found) == {OTHER: {"class": "crash", "suite": 0}}


def test_chapters_take_turns() -> None:
    """The first mutants are of different chapters, and all mutants are there once."""
    ordered = by_chapter(MUTANTS.values())
    chapters = {mutant.kills[0].partition(".")[0] for mutant in MUTANTS.values()}

    assert {mutant.kills[0].partition(".")[0] for mutant in ordered[: len(chapters)]} == chapters
    assert sorted(mutant.name for mutant in ordered) == sorted(MUTANTS)
