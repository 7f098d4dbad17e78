"""Mutants of logging in."""

from __future__ import annotations

from collections.abc import Mapping

from grpc import StatusCode

from conformance.protocols.flight.reference.register import mutant
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Store
from conformance.reference.statuses import Refusal

_CODE = "flight-handshake.refusal-is-unauthenticated"
_SERVED = {_CODE: "what the call asks for is looked for, and not found"}


@mutant("flight-handshake.second-login-void", kills="flight-handshake.token-is-accepted")
class SecondLoginVoid(FlightService):
    """A token is void that a client gets before it has used the one before."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._unused: set[bytes] = set()

    def token_for(self, user: str, password: str) -> bytes:
        token = super().token_for(user, password)
        if self._unused:
            self._tokens.discard(token)
        self._unused.add(token)
        return token

    def admit(self, headers: Mapping[str, bytes]) -> None:
        super().admit(headers)
        self._unused.clear()


@mutant("flight-handshake.any-password", kills="flight-handshake.wrong-password-is-refused")
class AnyPassword(FlightService):
    """The name alone decides."""

    def is_right(self, user: str, password: str) -> bool:
        return self.login is not None and user == self.login[0]


@mutant("flight-handshake.no-token-is-served", kills="flight-handshake.no-token-is-refused", also=_SERVED)
class NoTokenIsServed(FlightService):
    """A call without a token is served: a token is looked at only if there is one."""

    def admit(self, headers: Mapping[str, bytes]) -> None:
        if "auth-token-bin" in headers:
            super().admit(headers)


@mutant("flight-handshake.any-token", kills="flight-handshake.strange-token-is-refused", also=_SERVED)
class AnyToken(FlightService):
    """Any token will do."""

    def knows(self, token: bytes) -> bool:
        return bool(token)


@mutant("flight-handshake.unauthorized", kills=_CODE)
class Unauthorized(FlightService):
    """Who has not logged in is refused with PERMISSION_DENIED."""

    def admit(self, headers: Mapping[str, bytes]) -> None:
        try:
            super().admit(headers)
        except Refusal as refusal:
            raise Refusal(StatusCode.PERMISSION_DENIED, refusal.details) from None


@mutant("flight-handshake.wrong-password-is-internal", kills=_CODE)
class WrongPasswordIsInternal(FlightService):
    """A wrong password is refused with INTERNAL."""

    def token_for(self, user: str, password: str) -> bytes:
        if not self.is_right(user, password):
            raise Refusal(StatusCode.INTERNAL, "cannot log in")
        return super().token_for(user, password)
