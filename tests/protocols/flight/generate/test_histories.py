"""Drawn histories of Flight are cases like any other: they are found by their ids, cover all pairs, and shrink."""

from __future__ import annotations

import itertools

import pytest

from conformance.engine.corpus import resolve_case
from conformance.generate import draw_scenario, shrink
from conformance.generate.casecheck import check_case
from conformance.generate.factors import wanted_of
from conformance.generate.scenariokinds import parse_scenario_id, scenario_id
from conformance.protocols.flight.generate.histories import (
    CLOCK,
    ECHO,
    FACTORS,
    HISTORY,
    draw_history,
    features,
    history_block,
)
from conformance.protocols.flight.records import DoExchange, DoGet, DoPut
from conformance.records import CallStep, Case, Meanwhile, from_json, to_json
from conformance.records.together import groups


@pytest.mark.parametrize("index", range(30))
def test_a_history_is_a_case(index: int) -> None:
    """Its steps fit each other, and it is the same when it is read from its JSON form or drawn by its id."""
    case = draw_scenario(7, index, profile="flight")

    check_case(case)
    assert case.protocol == "flight"
    assert from_json(Case, to_json(case)) == case
    assert resolve_case(case.id) == case
    assert case.id == scenario_id(7, index, profile="flight")


def test_each_put_has_rows_of_its_own() -> None:
    """No row is sent twice, so that each row that comes says where it is from."""
    case = draw_history(0, 0)
    sent = [range(one.first, one.first + (one.count or 0)) for one in case.steps if isinstance(one, DoPut)]

    assert not any(set(one) & set(other) for one, other in itertools.combinations(sent, 2))


def test_a_block_has_every_pair_of_features() -> None:
    """Of each seed, and in later blocks."""
    wanted = [wanted_of(3, index, FACTORS, HISTORY) for index in range(history_block(), 2 * history_block())]
    for (one, values), (other, others) in itertools.combinations(FACTORS.items(), 2):
        met = {(each[one], each[other]) for each in wanted}
        assert met == set(itertools.product(values, others))


def test_two_clients_do_things_at_the_same_time() -> None:
    """In each block, some upload is beside another, beside a read, and some exchange is beside another."""
    pairs = set()
    for index in range(history_block()):
        steps = draw_history(0, index).steps
        for group in groups(steps):
            if len(group) > 1:
                assert len({getattr(steps[one], "client", "") for one in group}) == 2
                pairs.add(tuple(type(steps[one]) for one in group))
    assert pairs == {(DoPut, DoPut), (DoPut, DoGet), (DoExchange, DoExchange)}


def test_a_server_without_an_echo_gets_no_exchange() -> None:
    """The other steps stay."""
    cases = [draw_history(0, index, not_offered=(ECHO,)) for index in range(history_block())]

    assert not any(isinstance(step, DoExchange) for case in cases for step in case.steps)


def test_time_passes_where_somebody_sets_the_clock() -> None:
    """In three histories of four; a server without a clock is asked the same in other histories."""
    drawn = [draw_history(0, index) for index in range(history_block())]
    timeless = [draw_history(0, index, not_offered=(CLOCK,)) for index in range(history_block())]

    assert {features(case)[5] for case in drawn} == {f"time={value}" for value in FACTORS["time"]}
    assert not any(isinstance(step, Meanwhile) for case in timeless for step in case.steps)
    assert [case for case in drawn if "time=none" in features(case)] == [
        case for case, timed in zip(timeless, drawn, strict=True) if "time=none" in features(timed)
    ]


def test_a_call_after_time_has_passed_may_end_in_any_way() -> None:
    """Logins, sessions and flights may have ended as well."""
    for index in range(history_block()):
        steps = draw_history(0, index).steps
        late = itertools.dropwhile(lambda step: not isinstance(step, Meanwhile), steps)
        assert all("UNAUTHENTICATED" in step.expect.codes for step in late if isinstance(step, CallStep))


@pytest.mark.parametrize("name", ["flight-history.s1", "flight-history.sx.i2", "flight-scenario.ordered"])
def test_other_names_are_no_ids(name: str) -> None:
    """An id holds a seed and an index."""
    assert parse_scenario_id(name) is None


def test_a_failure_of_two_uploads_at_once_shrinks_to_them() -> None:
    """Every simpler case is one that can be carried out."""

    def fails(case: Case) -> bool:
        check_case(case)
        pairs = [[case.steps[one] for one in group] for group in groups(case.steps)]
        return any(
            isinstance(step, DoPut) and step.alongside and step.count and step.client
            for pair in pairs
            for step in pair[1:]
        )

    case = next(case for index in range(50) if fails(case := draw_history(2, index)))
    small = shrink(case, fails, budget=300)

    assert [type(step) for step in small.steps] == [DoPut, DoPut]
    assert [step.count for step in small.steps if isinstance(step, DoPut)] == [0, 1]
