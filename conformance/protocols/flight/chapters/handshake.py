"""Logging in by Handshake, for a target file that names a user and a password: who is served, and who is not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO
from conformance.protocols.flight.contract.subjects import about
from conformance.protocols.flight.contract.view import FlightCall, FlightView
from conformance.protocols.flight.records import FlightLogin, FlightToken, GetFlightInfo, Handshake, ListFlights
from conformance.records import Level

_clause = functools.partial(clause, source=(FLIGHT_PAGE, FLIGHT_PROTO), profiles=FLIGHT, role=Role.APPLICATION)

_CODES: Final = ("UNAUTHENTICATED", "UNIMPLEMENTED")


def _logins(which: FlightLogin) -> Callable[[FlightView], list[FlightCall]]:
    def select(view: FlightView) -> list[FlightCall]:
        calls = (call for call in view.flight_calls if call.answered and isinstance(call.step, Handshake))
        return [call for call in calls if isinstance(call.step, Handshake) and call.step.login is which]

    return select


def _without(*tokens: FlightToken) -> Callable[[FlightView], list[FlightCall]]:
    """Return a selector of the answered calls with a token that is not the client's own."""

    def select(view: FlightView) -> list[FlightCall]:
        return [call for call in view.flight_calls if call.answered and _token(call) in tokens]

    return select


def _token(call: FlightCall) -> FlightToken:
    step = call.step
    return step.token if isinstance(step, ListFlights | GetFlightInfo) else FlightToken.OWN


@about
def _after_login(view: FlightView) -> list[FlightCall]:
    """Return the calls with the token of a Handshake that ended in OK before."""
    logins = [call.index for call in _logins(FlightLogin.RIGHT)(view) if call.ok]
    later = [call for call in view.flight_calls if call.answered and logins and call.index > logins[0]]
    return [call for call in later if _token(call) is FlightToken.OWN and not isinstance(call.step, Handshake)]


_ON_TOKENS: Final = (
    'The page: "The handler then provides a binary token. The Flight client will then include this token in the headers'
    ' of all future calls, which is validated by the server authentication handler."'
)


@_clause(
    "flight-handshake.token-is-accepted",
    over=_after_login,
    breaks="every client: it has logged in and is refused",
    says=f"A call with the token of a Handshake that ended in OK is not UNAUTHENTICATED.\n\n{_ON_TOKENS}",
)
def _token_is_accepted(call: FlightCall) -> Iterator[Violation]:
    if call.raw.status == "UNAUTHENTICATED":
        yield Violation("another status than UNAUTHENTICATED for a client that has just logged in", call.raw.details)


@_clause(
    "flight-handshake.wrong-password-is-refused",
    over=about(_logins(FlightLogin.WRONG)),
    level=Level.SHOULD,
    breaks="the owners of the data",
)
def wrong_password_is_refused(call: FlightCall) -> Iterator[Violation]:
    """A Handshake with the name of the target file and another password does not end in OK.

    The page, UNAUTHENTICATED: "The client is not authenticated."
    """
    if call.ok:
        yield Violation(
            "a status other than OK for a wrong password", f"OK, {many(len(call.raw.responses), 'message')}"
        )


_NOBODY: Final = (
    "The target file says that the server needs a login. The call goes over a connection of its own, because the page"
    ' permits "treating the connection as stateful".'
)


@_clause(
    "flight-handshake.no-token-is-refused",
    over=about(_without(FlightToken.NONE)),
    level=Level.SHOULD,
    breaks="the owners of the data",
    says=f"A call without a token is refused.\n\n{_ON_TOKENS}\n\n{_NOBODY}",
)
def _no_token_is_refused(call: FlightCall) -> Iterator[Violation]:
    if call.ok:
        yield Violation("a status other than OK without a token", f"OK, {many(len(call.raw.responses), 'message')}")


@_clause(
    "flight-handshake.strange-token-is-refused",
    over=about(_without(FlightToken.WRONG)),
    level=Level.SHOULD,
    breaks="the owners of the data",
    says=f"A call with a token that the server did not give out is refused.\n\n{_ON_TOKENS}\n\n{_NOBODY}",
)
def _strange_token_is_refused(call: FlightCall) -> Iterator[Violation]:
    if call.ok:
        yield Violation("a status other than OK for this token", f"OK, {many(len(call.raw.responses), 'message')}")


@_clause(
    "flight-handshake.refusal-is-unauthenticated",
    over=about(
        lambda view: [
            call
            for call in (*_logins(FlightLogin.WRONG)(view), *_without(FlightToken.NONE, FlightToken.WRONG)(view))
            if not call.ok
        ]
    ),
    level=Level.SHOULD,
    breaks="clients that log in again after UNAUTHENTICATED alone",
)
def refusal_is_unauthenticated(call: FlightCall) -> Iterator[Violation]:
    """A client that has not logged in is refused with UNAUTHENTICATED.

    The page: "The client is not authenticated." UNAUTHORIZED is for one that is. UNIMPLEMENTED is permitted here as
    well: a server may refuse a method that it does not have before it looks at the client.
    """
    if call.raw.status not in _CODES:
        yield Violation(" or ".join(_CODES), f"{call.raw.status}: {call.raw.details}")
