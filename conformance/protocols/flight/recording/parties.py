"""Numbers logins and sessions of Arrow Flight while calls pass, so that a log can name them without a secret.

A login is a Handshake that ended in OK, and the calls with the token that it gave, in one of the two forms in use: the
payload of the answer, which comes back as ``auth-token-bin``, or a bearer token in ``authorization``. A session is the
cookie ``arrow_flight_session_id`` of Arrow's own libraries. Only digests are kept, and only while the proxy runs.
"""

from __future__ import annotations

import hashlib
import http.cookies
from collections.abc import Iterator
from typing import Final

from conformance.engine.parties import Party, party_label
from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.records import FlightMethod
from conformance.recording.plugin import KeptCall, Metadata

__all__ = ["Parties"]

SESSION: Final = "arrow_flight_session_id"
_BEARER: Final = b"Bearer "


class Parties:
    """The logins and sessions of a recording so far; calls have to come in the order in which they ended."""

    def __init__(self) -> None:
        self._logins: dict[bytes, int] = {}
        self._sessions: dict[bytes, int] = {}
        self._handshakes = 0

    def label(self, kept: KeptCall, answered: Metadata, *, served: bool) -> str:
        """The label of a call that has ended; ``answered`` is the metadata of the answer, ``served`` its status OK."""
        return party_label(Party(self._login(kept, answered, served=served), self._session(kept, answered)))

    def _login(self, kept: KeptCall, answered: Metadata, *, served: bool) -> int:
        if kept.method != FlightMethod.HANDSHAKE:
            return next((self._logins[one] for one in map(_digest, _bearer(kept.sent)) if one in self._logins), 0)
        tokens = [*_bearer(answered), *_payload(kept)] if served and not kept.full else []
        if not tokens:
            return 0
        self._handshakes += 1
        self._logins.update((_digest(token), self._handshakes) for token in tokens)
        return self._handshakes

    def _session(self, kept: KeptCall, answered: Metadata) -> int:
        """The session of a call: that of the answer, if it begins one, or else that of the request."""
        cookie = _cookie(answered, "set-cookie") or _cookie(kept.sent, "cookie")
        return self._sessions.setdefault(_digest(cookie), len(self._sessions) + 1) if cookie else 0


def _bearer(metadata: Metadata) -> Iterator[bytes]:
    """The tokens in metadata."""
    for key, value in metadata:
        data = value.encode() if isinstance(value, str) else value
        if key == "auth-token-bin" and data:
            yield data
        elif key == "authorization" and data.startswith(_BEARER):
            yield data.removeprefix(_BEARER)


def _payload(kept: KeptCall) -> Iterator[bytes]:
    """The payload of the last answer of a Handshake."""
    for data in kept.responses[-1:]:
        answer = message_of("HandshakeResponse", data)
        if answer is not None and answer.data("payload"):
            yield bytes(answer.data("payload"))


def _cookie(metadata: Metadata, key: str) -> bytes:
    """The id in the last cookie of a session; empty without one."""
    found = b""
    for name, value in metadata:
        if name != key:
            continue
        try:
            said = http.cookies.SimpleCookie(value if isinstance(value, str) else value.decode("latin-1"))
        except http.cookies.CookieError:
            continue
        if SESSION in said and said[SESSION]["max-age"] != "0":
            found = said[SESSION].coded_value.encode()
    return found


def _digest(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()
