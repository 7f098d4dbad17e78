"""Drawn cases of Arrow Flight: what turns up in them, and that servers may refuse them."""

from __future__ import annotations

import functools

import pytest

from conformance.engine.corpus import load_corpus
from conformance.generate import materialise, shrink
from conformance.generate.casecheck import check_case
from conformance.generate.drawing import draw_case
from conformance.generate.sentrows import kept_rows
from conformance.protocols.flight.generate.histories import draw_history
from conformance.protocols.flight.records import (
    Descriptor,
    DoExchange,
    DoGet,
    DoPut,
    FlightWriting,
    GetSchema,
    PollFlightInfo,
)
from conformance.records import Case


@functools.cache
def cases() -> list[Case]:
    """Drawn cases of Flight, when a test first asks for them."""
    return [draw_case(3, index, profile="flight") for index in range(400)]


def test_a_drawn_case_of_flight_is_a_valid_case() -> None:
    """It speaks Flight alone, and its table can be made."""
    for case in cases():
        check_case(case)
        assert case.protocol == "flight"
    for case in cases()[:50]:
        materialise(case.table)


def test_everything_turns_up() -> None:
    """Each way of writing, each form of messages, polls, schemas, reads that are repeated or given up, exchanges."""
    steps = [step for case in cases() for step in case.steps]
    puts = [step for step in steps if isinstance(step, DoPut)]
    exchanges = [step for step in steps if isinstance(step, DoExchange)]

    assert {put.written for put in puts} == set(FlightWriting)
    assert {put.spelled.value for put in puts} == {"plain", "reversed", "unknown-fields"}
    assert {put.named.value for put in puts} == {"first", "every"}
    assert {(put.ahead, put.metadata) for put in puts} == {(one, other) for one in (0, 1) for other in (0, 1)}
    assert any(isinstance(step, PollFlightInfo) for step in steps)
    assert any(isinstance(step, GetSchema) for step in steps)
    assert any(isinstance(step, DoGet) and step.take for step in steps)
    assert {(one.alone, one.metadata) for one in exchanges} == {(n, bool(m)) for n in (0, 1, 3) for m in (0, 1)}
    assert 0.1 < len(exchanges) / len(cases()) < 0.3


@pytest.mark.parametrize("kind", [DoPut, DoExchange])
def test_what_a_server_may_refuse_it_may_refuse_in_any_way(kind: type) -> None:
    """No text says which tables a server has to store."""
    found = [step for case in cases() for step in case.steps if isinstance(step, kind)]

    assert all({"OK", "INVALID_ARGUMENT", "UNIMPLEMENTED"} <= set(step.expect.codes) for step in found)


class TestShrinking:
    """The table of a failing case shrinks together with its steps."""

    def test_columns_and_rows_that_do_not_matter_go(self) -> None:
        """Of a drawn case that fails as soon as it puts a row, one column and one row are left."""
        case = next(
            one for one in cases() if one.table.recipe and one.table.recipe.rows > 9 and len(one.table.columns) > 3
        )

        small = shrink(case, lambda one: materialise(one.table).num_rows > 0, budget=300)

        assert len(small.table.columns) == 1
        assert materialise(small.table).num_rows == 1

    def test_rows_between_those_that_are_sent_go(self) -> None:
        """Of a history that fails if the second client puts two rows, these two are left."""
        case = draw_history(0, 4)

        def fails(one: Case) -> bool:
            table, puts = materialise(one.table), [step for step in one.steps if isinstance(step, DoPut)]
            return any(step.client and table.slice(step.first, step.count).num_rows > 1 for step in puts)

        small = shrink(case, fails, budget=600)

        assert fails(small)
        assert [(type(step), step.first, step.count) for step in small.steps if isinstance(step, DoPut)] == [
            (DoPut, 0, 2)
        ]
        assert materialise(small.table).num_rows == 2
        assert len(small.table.columns) == 1

    def test_a_row_that_is_left_out_is_sent_by_no_step(self) -> None:
        """The others keep their places: each step sends those of its rows that stay."""
        steps = [DoPut(Descriptor(path=("f",)), first=first, count=3) for first in (0, 3, 6)]

        left = [kept_rows(step, [1, 2, 7]) for step in steps]

        assert [(step.first, step.count) for step in left if isinstance(step, DoPut)] == [(0, 2), (2, 0), (2, 1)]

    def test_statements_keep_their_columns(self) -> None:
        """They name them."""
        case = load_corpus(protocol="flight")["flight-sql.statements"]

        small = shrink(case, lambda one: bool(one.steps), budget=50)

        assert small.table == case.table
