"""Repairing a defect raises the count of held clauses, and ``diff`` never calls it a regression.

A sample; ``tox -e stacks`` draws a thousand stacks.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from conformance.engine.causes import causes
from conformance.generate import draw_case
from conformance.readers import ReaderPool
from tests.engine.stacks import Bench, drawn
from tests.studies import sample

SEED = 20261129
"""Of no stack of this seed two mutants cancel each other out, as two do that swap the same columns back and forth."""


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """The reference, which is given mutants."""
    with Bench() as made:
        yield made


@pytest.mark.parametrize("number", sample(range(4), ("1", "3"), env="thorough"))
def test_the_score_rises_with_every_repair(bench: Bench, number: int) -> None:
    """Whatever the order in which the mutants of a stack are repaired."""
    chosen = random.Random(f"{SEED}/{number}")  # a sample that is the same every time

    repairs = list(bench.repairs(drawn(chosen), chosen))

    assert repairs
    assert [repair for repair in repairs if repair.falls or repair.regressions] == []
    assert len(repairs[-1].after) > len(repairs[0].before)


def test_repairing_top_down_takes_no_more_runs_than_there_are_causes(bench: Bench) -> None:
    """The cause that stands first is a defect of the server, and repairing it leaves one fewer."""
    chosen = random.Random(f"{SEED}/top-down")
    stack = drawn(chosen, least=3)

    assert 0 < bench.top_down(stack, chosen) <= len(stack)


@pytest.mark.parametrize("count", sample((1, 2), ("1",), env="thorough"))
def test_each_defect_of_a_stack_is_about_one_cause(bench: Bench, count: int) -> None:
    """With drawn cases and scenarios, which show one defect in many ways."""
    assert sum(bench.spread(SEED, number) for number in range(count)) <= count * 1.5


@pytest.mark.parametrize("number", sample(range(48), ("1", "4"), env="thorough"))
def test_what_a_cause_blocks_is_judged_once_it_is_mended(bench: Bench, number: int) -> None:
    """Measured: the mutants behind a cause are repaired, and some case judges each clause that it was said to block.

    Of 112 stacks, three say it of a clause that a second defect hides too (``responses.whole-table`` has one response,
    so that no progress follows another): they come behind these.
    """
    chosen = random.Random(f"blocks/{number}")

    assert bench.wrongly_blocked(drawn(chosen), chosen) == []


HIDING = (
    "batch.length-long", "columns.missing", "encoding.name-not-utf8", "errors.all-unknown",
    "flatbuffers.slot-outside-table", "flatbuffers.string-not-utf8", "node.order-reversed",
    "restriction.refused-ignored", "rows.last-response-missing", "rows.not-a-message",
    "rows.only-first-stream", "rows.progress-falls",
    "rows.schema-never", "sample.percentage-clamped", "schema.big-endian", "session.avro-schema",
    "session.name-not-a-resource", "session.no-expire-time", "session.no-streams", "session.not-a-message",
    "session.without-schema", "type.timestamp-naive", "validity.absent",
)  # fmt: skip
"""Mutants that keep clauses from being judged, of each row of the table of what failures hide."""


@pytest.mark.parametrize("name", sample(HIDING, ("session.no-streams", "session.not-a-message"), env="thorough"))
def test_what_a_mutant_hides_is_said(bench: Bench, name: str) -> None:
    """Measured: the clauses that the same cases judge when the reference answers them without the mutant."""
    assert bench.unsaid(name) == set()


def test_readers_that_cannot_read_faulty_bytes_are_no_cause_of_their_own(bench: Bench) -> None:
    """One fault in the bytes of each of many sessions, on which readers end in errors and disagree."""
    case = draw_case(0, 131, profile="server")

    with ReaderPool(1, readers=("polars.stream", "pyarrow.slots", "pyarrow.stream")) as readers:
        (cause,) = causes(bench.result(["schema.with-body"], [case], readers))

    assert cause.clause == "framing.schema-without-body"
    assert {"readers.read-without-error", "readers.agree"} <= {echo.clause for echo in cause.echoes}
