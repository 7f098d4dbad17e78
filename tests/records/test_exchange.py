"""A call holds every message in both directions in their order, and an exchange says who asked."""

from __future__ import annotations

import math
from typing import Any

import pytest

from conformance.records import Asker, AskerKind, Call, Exchange, RecordError, Turn, to_json
from tests.protocols.flight.records.steps import BY_A_CLIENT, FLIGHT_EXCHANGE, PING_PONG


def test_a_call_without_an_order_asks_once_and_then_listens() -> None:
    """As unary and server-streaming calls do, which need not say so."""
    call = Call(0, "s", "ReadRows", b"ask", (b"a", b"b"))

    assert call.requests == (b"ask",)
    assert list(call.turns) == [
        (Turn.REQUEST, 0),
        (Turn.HALF_CLOSE, 0),
        (Turn.RESPONSE, 0),
        (Turn.RESPONSE, 1),
    ]


def test_requests_and_responses_interleave() -> None:
    """Each message with its place among those of its direction."""
    assert PING_PONG.requests == (b"descriptor", b"schema", b"batch")
    assert list(PING_PONG.turns) == [
        (Turn.REQUEST, 0),
        (Turn.REQUEST, 1),
        (Turn.RESPONSE, 0),
        (Turn.REQUEST, 2),
        (Turn.HALF_CLOSE, 0),
        (Turn.RESPONSE, 1),
    ]


def test_a_client_may_say_nothing() -> None:
    """No request is something else than one empty request."""
    assert FLIGHT_EXCHANGE.calls[0].requests == ()
    assert Call(0, "", "Handshake", b"", order=">|").requests == (b"",)


def test_one_meaning_has_one_form() -> None:
    """The order of a plain call need not be there, and is not."""
    assert Call(0, "s", "ReadRows", b"ask", (b"a",), order=">|<") == Call(0, "s", "ReadRows", b"ask", (b"a",))


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ({"order": ">|>"}, "behind which there is no '>'"),
        ({"order": ">||"}, "at most one '|'"),
        ({"order": ">x"}, "'>', '<' and at most one '|'"),
        ({"order": ">>|"}, "1 requests and 0 responses"),
        ({"order": "|"}, "1 requests and 0 responses"),
        ({"order": ">|<"}, "1 requests and 0 responses"),
        ({"order": ">|", "responses": (b"a",)}, "1 requests and 1 responses"),
        ({"more_requests": (b"b",)}, "2 requests and 0 responses"),
    ],
)
def test_an_order_that_does_not_fit_the_messages_is_refused(parts: dict[str, Any], complaint: str) -> None:
    """Each message is there once, and nothing is asked after the half-close."""
    with pytest.raises(RecordError) as error:
        Call(0, "", "DoExchange", b"a", **parts)

    assert complaint in str(error.value)


def test_a_plain_call_is_stored_as_before() -> None:
    """A call that does not use the new fields costs nothing more."""
    call = Call(0, "s", "ReadRows", b"", (b"x",))

    assert set(to_json(call)) == {"step", "label", "method", "request", "responses"}
    assert set(to_json(Exchange("a", "t", (call,)))) == {"case_id", "target", "calls"}


def test_the_driver_asks_unless_a_client_is_named() -> None:
    """A client comes through something, and has a name."""
    assert Exchange("a", "t").driven
    assert not BY_A_CLIENT.driven
    assert str(Asker()) == "the suite's driver"
    assert str(BY_A_CLIENT.asked_by) == "arrow-go 18.8.0 through a proxy"
    assert str(Asker(AskerKind.REPLAY_SERVER, "node")) == "node through a replay server"


@pytest.mark.parametrize("parts", [(AskerKind.PROXY,), (AskerKind.DRIVER, "arrow-go")])
def test_an_asker_without_a_name_is_the_driver(parts: tuple[Any, ...]) -> None:
    """Nobody else asks without one."""
    with pytest.raises(RecordError, match="the name of a client where one asked, and only there"):
        Asker(*parts)


def test_the_name_of_a_client_is_made_safe() -> None:
    """It chose it."""
    assert Asker(AskerKind.PROXY, "a\nb", "\x1b[2J").client == "a\\nb"


@pytest.mark.parametrize("name", ["started", "seconds"])
@pytest.mark.parametrize("value", [-1e308, 1e308, math.inf, math.nan])
def test_a_time_of_a_call_is_a_number_of_seconds(name: str, value: float) -> None:
    """A recording or a log may be anybody's, and its times are printed."""
    with pytest.raises(RecordError, match=f"{name}: expected seconds from 0 to 1e"):
        Call(0, "", "ReadRows", b"", **{name: value})  # type: ignore[arg-type]
