"""The clock of a Flight server is set ahead by a case, and put back when it ends."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from conformance.generate import materialise
from conformance.protocols.flight.contract.view import FlightView
from conformance.protocols.flight.records import Descriptor, DoAction, DoGet, DoPut, GetFlightInfo
from conformance.protocols.flight.wire.messages import RENEW
from conformance.records import Exchange, Happening, Meanwhile, Step
from conformance.targets import Target, load_target, open_target
from conformance.targets.spec import Clock
from tests.protocols.flight.reference.direct import case_of
from tests.targets.conftest import ROOT

REFERENCE = load_target(ROOT / "targets" / "flight-reference.toml")
NAME = Descriptor(path=("f",))
RENEWED = (DoPut(NAME), GetFlightInfo(NAME), DoAction(RENEW, info="i", endpoint="0", label="r"))
"""The steps after which an endpoint has an expiration time."""
OVER = Meanwhile(Happening.EXPIRY, "r")


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """The reference, kept between the tests of this module."""
    with open_target(REFERENCE) as opened:
        yield opened


def drive(target: Target, *steps: Step) -> Exchange:
    """Put the steps to the target."""
    case = case_of(*steps)
    return target.drive(case, materialise(case.table))


def reads(exchange: Exchange) -> list[str]:
    """The status of each read."""
    return [call.status for call in exchange.calls if call.method == "DoGet"]


def test_a_renewed_endpoint_expires(target: Target) -> None:
    """After half of its time it is read, and after its time it is not."""
    exchange = drive(target, *RENEWED, Meanwhile(Happening.HALFWAY, "r"), DoGet("r"), OVER, DoGet("r"))

    assert reads(exchange) == ["OK", "NOT_FOUND"]
    assert exchange.skipped_steps == ()


def test_an_endpoint_that_is_renewed_in_time_does_not_expire(target: Target) -> None:
    """What the old time would have ended is read after it."""
    again = DoAction(RENEW, info="r", endpoint="0", label="s")
    exchange = drive(target, *RENEWED, Meanwhile(Happening.HALFWAY, "r"), again, OVER, DoGet("s"))

    assert reads(exchange) == ["OK"]


def test_the_judge_knows_how_far_the_clock_is_ahead(target: Target) -> None:
    """It works out the same as the driver, from the answers."""
    steps = (*RENEWED, Meanwhile(Happening.HALFWAY, "r"), DoGet("r"), OVER, DoGet("r"))
    case = case_of(*steps)
    table = materialise(case.table)
    view = FlightView(case, target.drive(case, table), table)

    assert [round(get.ahead, -2) for get in view.gets] == [1800, 3600]


def test_the_clock_is_put_back_after_the_case(target: Target) -> None:
    """An endpoint of the next case has its whole time."""
    late = drive(target, *RENEWED, OVER, DoGet("r"))
    next_one = drive(target, *RENEWED, DoGet("r"))

    assert (reads(late), reads(next_one)) == (["NOT_FOUND"], ["OK"])


def test_a_time_that_does_not_lie_ahead_does_not_pass(target: Target) -> None:
    """The step is skipped alone: an info without a time, and a time that has passed."""
    exchange = drive(target, *RENEWED, Meanwhile(Happening.EXPIRY, "i"), DoGet("r"), OVER, OVER, DoGet("r"))

    assert reads(exchange) == ["OK", "NOT_FOUND"]
    assert exchange.skipped_steps == (3, 6)


@pytest.mark.parametrize("clock", [None, Clock("/nowhere")])
def test_without_a_clock_nothing_comes_after(clock: Clock | None) -> None:
    """Neither where the file names none, nor where the server has none at its path."""
    with open_target(dataclasses.replace(REFERENCE, clock=clock)) as opened:
        exchange = drive(opened, *RENEWED, OVER, DoGet("r"))

    assert (len(exchange.calls), exchange.skipped_steps) == (3, (3, 4))
