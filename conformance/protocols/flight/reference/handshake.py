"""Handshake of the reference: everybody may use it, unless it has a ``login``; then each call needs a token.

Sources: https://github.com/apache/arrow/blob/main/format/Flight.proto, ``BasicAuth``, and
https://arrow.apache.org/docs/format/Flight.html#authentication.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Final, Self

from grpc import StatusCode

from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.reference.base import FlightBase, Messages
from conformance.protocols.flight.reference.store import Store

__all__ = ["LOGIN", "Handshakes"]

LOGIN: Final = ("conformance", "open sesame")
"""The name and the password under which the proof logs in."""


class Handshakes(FlightBase):
    """Handshake, and the token of each call."""

    login: tuple[str, str] | None = None
    """The name and the password that a client needs; None if everybody may use the service."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._tokens: set[bytes] = set()

    def for_call(self, method: str, headers: Mapping[str, bytes], peer: str = "") -> Self:
        """The service for one call; without a token that it gave out, the call is refused."""
        one = super().for_call(method, headers, peer)
        if self.login is not None and method != "Handshake":
            one.admit(headers)
        return one

    def admit(self, headers: Mapping[str, bytes]) -> None:
        """Refuse a call without a token that was given out."""
        token = headers.get("auth-token-bin") or headers.get("authorization", b"").removeprefix(b"Bearer ")
        if not self.knows(token):
            self.refuse(StatusCode.UNAUTHENTICATED, "the call has no token of this server: see Handshake")

    def knows(self, token: bytes) -> bool:
        """True if the token was given out."""
        return token in self._tokens

    def handshake(self, requests: Iterator[bytes]) -> Messages:
        """Answer a name and a password with a token; without a login, each payload with itself."""
        basic = self.headers.get("authorization", b"")
        if self.login is not None and basic.startswith(b"Basic "):
            user, _, password = base64.b64decode(basic.removeprefix(b"Basic ")).decode().partition(":")
            self.reply.append(("authorization", b"Bearer " + self.token_for(user, password)))
        for request in requests:
            payload = bytes(self.decode("HandshakeRequest", request).data("payload"))
            if self.login is None:
                yield part(2, payload)
                continue
            said = message_of("BasicAuth", payload)
            user, password = ("", "") if said is None else (said.text("username"), said.text("password"))
            yield part(2, self.token_for(user, password))

    def token_for(self, user: str, password: str) -> bytes:
        """A token for a client that knows the password; another one is refused."""
        if not self.is_right(user, password):
            self.refuse(StatusCode.UNAUTHENTICATED, "the name or the password is wrong")
        token = self.store.token().encode()
        self._tokens.add(token)
        return token

    def is_right(self, user: str, password: str) -> bool:
        """True for the name and the password of the login."""
        return (user, password) == self.login
