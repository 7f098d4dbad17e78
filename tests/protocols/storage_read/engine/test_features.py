"""The features of requests that follow from what came before them."""

from __future__ import annotations

import pytest

from conformance.contract.viewing import view_of
from conformance.engine.requests import requests_of
from conformance.records import CreateSession, ReadRows, SplitStream, Step
from tests.contract.exchanges import Obedient, case_of
from tests.contract.test_linear import FEW, is_linear, steps

LATER = "a stream after the first"


def later_reads(*steps: Step, streams: int = 1) -> list[bool]:
    """For each read whether it is one of a stream with rows of the session before it."""
    case = case_of(CreateSession(), *steps)
    server = Obedient(case, streams=streams, response_rows=4)
    view = view_of(case, server.freeze(server.run()), server.table)
    return [LATER in one.asked for one in requests_of(view) if one.method == "ReadRows"]


def test_the_second_stream_of_a_session_is_a_later_one() -> None:
    """A server may count its rows from the first of the session."""
    assert later_reads(ReadRows(), streams=2) == [False, True]


@pytest.mark.parametrize(
    ("split", "child", "later"),
    [("x", "x.primary", False), ("x", "x.remainder", True), ("y", "y.primary", False), ("y", "y.remainder", True)],
)
def test_the_second_part_of_a_split_stream_is_a_later_one(split: str, child: str, *, later: bool) -> None:
    """Also of a part that was split again."""
    again = [SplitStream(label="y", stream="x.primary")] if split == "y" else []

    assert later_reads(SplitStream(), *again, ReadRows(stream=child)) == [later]


def test_the_first_part_of_a_later_stream_is_a_later_one() -> None:
    """There are rows before it."""
    steps = (SplitStream(), SplitStream(label="y", stream="x.remainder"), ReadRows(stream="y.primary"))

    assert later_reads(*steps) == [True]


def test_the_features_of_many_reads_cost_in_proportion() -> None:
    """No read looks through the splits before it."""

    def cost(count: int) -> int:
        made = [(SplitStream(label=f"x{at}"), ReadRows(stream=f"x{at}.primary")) for at in range(count)]
        case = case_of(CreateSession(), *(step for pair in made for step in pair))
        server = Obedient(case, streams=1, response_rows=4)
        view = view_of(case, server.freeze(server.run()), server.table)
        return steps(lambda: list(requests_of(view)))

    assert is_linear(cost, FEW)
