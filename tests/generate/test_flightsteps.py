"""Drawn cases of Arrow Flight: what turns up in them, and that servers may refuse them."""

from __future__ import annotations

import pytest

from conformance.generate import materialise
from conformance.generate.casecheck import check_case
from conformance.generate.drawing import draw_case
from conformance.records import DoExchange, DoGet, DoPut, FlightWriting, GetSchema, PollFlightInfo, ProtocolName

CASES = [draw_case(3, index, profile="flight") for index in range(400)]


def test_a_drawn_case_of_flight_is_a_valid_case() -> None:
    """It speaks Flight alone, and its table can be made."""
    for case in CASES:
        check_case(case)
        assert case.protocol is ProtocolName.FLIGHT
    for case in CASES[:50]:
        materialise(case.table)


def test_everything_turns_up() -> None:
    """Each way of writing, each form of messages, polls, schemas, reads that are repeated or given up, exchanges."""
    steps = [step for case in CASES for step in case.steps]
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
    assert 0.1 < len(exchanges) / len(CASES) < 0.3


@pytest.mark.parametrize("kind", [DoPut, DoExchange])
def test_what_a_server_may_refuse_it_may_refuse_in_any_way(kind: type) -> None:
    """No text says which tables a server has to store."""
    found = [step for case in CASES for step in case.steps if isinstance(step, kind)]

    assert all({"OK", "INVALID_ARGUMENT", "UNIMPLEMENTED"} <= set(step.expect.codes) for step in found)
