"""Drawn histories of writes are legal from the first step to the last, simpler ones too, and deep enough for faults."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Final

import pytest

from conformance.contract.judge import judge
from conformance.engine.selection import clauses_on
from conformance.generate import materialise
from conformance.generate.choices import Seeded
from conformance.generate.drawing import draw_case
from conformance.generate.simplify import simpler_shape
from conformance.protocol import plugin
from conformance.protocols.storage_write.records import (
    CommitStreams,
    CreateWriteStream,
    FinalizeStream,
    FlushStream,
    GetWriteStream,
    ReadWritten,
    WriteRows,
)
from conformance.records import Case, Outcome
from conformance.reference.plugin import ReferencePlugin

REFERENCE: Final = plugin(ReferencePlugin, "storage-write")
CLAUSES: Final = clauses_on("storage-write")[0]
CASES: Final = [draw_case(2026, index, profile="storage-write") for index in range(40)]


def failed(deviation: str | None, cases: Sequence[Case]) -> set[str]:
    """The clauses that the reference, or a deviation of it, does not pass on some of the cases."""
    found = set()
    with closing(REFERENCE.target(deviation)) as target:
        for case in cases:
            table = materialise(case.table)
            exchange = target.drive(case, table)
            assert not exchange.untestable
            verdicts = judge(case, exchange, table, clauses=CLAUSES, profile="storage-write")
            found |= {one.clause for one in verdicts if one.outcome in (Outcome.FAIL, Outcome.ERROR)}
    return found


@pytest.mark.parametrize("variation", [None, *REFERENCE.variations()])
def test_what_a_server_may_choose_fails_nothing(variation: str | None) -> None:
    """The reference, and each legal variation."""
    assert failed(variation, CASES[:12]) == set()


def test_simpler_histories_are_legal() -> None:
    """A step never goes without those that rest on it."""
    simpler = [simpler_shape(Seeded(1, index, "simpler"), case) for index, case in enumerate(CASES)]

    assert sum(len(one.steps) for one in simpler) < sum(len(one.steps) for one in CASES)
    assert failed(None, simpler) == set()


@pytest.mark.parametrize(
    ("mutant", "clause"),
    [
        ("offset-behind-the-rows", "storage-write-offset.is-that-of-the-first-row"),
        ("flush-inserts-again", "storage-write-visible.each-row-once"),
        ("flush-shows-all", "storage-write-visible.flush-shows-no-more"),
        ("finalize-flushes", "storage-write-visible.finalize-does-not-flush"),
    ],
)
def test_a_fault_of_a_stream_is_found(mutant: str, clause: str) -> None:
    """Without a written case."""
    assert clause in failed(f"storage-write.{mutant}", CASES)


def test_every_step_is_drawn() -> None:
    """Appends in place, behind the end and beyond it, on streams of each type and on the default stream."""
    steps = [step for case in CASES for step in case.steps]
    kinds = {CreateWriteStream, GetWriteStream, WriteRows, FinalizeStream, CommitStreams, FlushStream, ReadWritten}

    assert {type(step) for step in steps} == kinds
    assert {step.type.value for step in steps if isinstance(step, CreateWriteStream)} == {
        "COMMITTED",
        "PENDING",
        "BUFFERED",
    }
    written = [step for step in steps if isinstance(step, WriteRows)]
    assert {one.stream for one in written} >= {"default", "s0", "s1", "s2"}
    assert {len({append.first for append in one.appends}) == len(one.appends) for one in written} == {True, False}
    assert any((append.offset or 0) > 100 for one in written for append in one.appends)
    assert {one.ahead for one in written} == {one.names for one in written} == {one.schemas for one in written}
