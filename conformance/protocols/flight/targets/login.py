"""The client's side of a login: the Handshake of a target file, and what a client remembers between its calls.

Flight leaves both to the application. Two forms are usual: a ``BasicAuth`` message in the payload, answered by a token
that goes along as ``auth-token-bin`` (https://github.com/apache/arrow/blob/main/format/Flight.proto), and HTTP's basic
authentication, answered by a bearer token. A session is a cookie.
"""

from __future__ import annotations

import base64
import dataclasses
import http.cookies
import os
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.contain.secrets import SHORTEST, forms_of, hide, longest_first, masked, masked_bytes
from conformance.protocols.flight.contract.decoding import message_of
from conformance.protocols.flight.contract.encoding import part, text
from conformance.protocols.flight.records import FlightLogin, FlightToken
from conformance.protocols.flight.table.spec import Login, LoginForm
from conformance.records import Call, MetadataEntry
from conformance.targets.credentials import hide_header
from conformance.targets.recordedcall import CallBudget, Caller
from conformance.targets.targeterrors import TargetUnavailable

__all__ = ["Headers", "Memory"]

_WRONG: Final = "no-such-password-5f0c2a91"
_STRANGE: Final = "no-such-token-5f0c2a91"
_SHORTEST: Final = 12
"""The fewest characters of a token that is masked in every answer: a shorter one may be a word or a number of a row."""
_FEW: Final = 5
"""The most different characters of a token that is masked nowhere but in the answer to its Handshake."""

Headers = Mapping[str, str | bytes]


class Memory:
    """What the client of one case remembers: its token and its cookies; ``login`` is that of the target file.

    ``fixed`` are headers that go along with each call.

    Raises:
        TargetUnavailable: the variable with the password is not set, or is too short to be masked.
    """

    def __init__(self, login: Login | None = None, fixed: Mapping[str, str] | None = None) -> None:
        self.login = login
        self._fixed = dict(fixed or {})
        for name, value in self._fixed.items():
            hide_header(name, value)
        self._token: str | bytes = b""
        self._forms: tuple[str, ...] = ()
        self._cookies: dict[str, str] = {}
        self._password = "" if login is None else _password(login)

    def fresh(self) -> Memory:
        """What another client of the same target knows at first."""
        return Memory(self.login, self._fixed)

    def headers(self) -> Headers:
        """The metadata of a call."""
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return {**self._fixed, **self.token(FlightToken.OWN), **({"cookie": cookies} if cookies else {})}

    def token(self, which: FlightToken) -> Headers:
        """The metadata of a token: the client's own, none, or one that nobody gave out."""
        own = self._token if which is FlightToken.OWN else _STRANGE
        if self.login is None or which is FlightToken.NONE or not own:
            return {}
        if self.login.form is LoginForm.HEADER:
            return {"authorization": f"Bearer {own if isinstance(own, str) else own.decode('latin-1')}"}
        return {"auth-token-bin": own if isinstance(own, bytes) else own.encode()}

    def opening(self, which: FlightLogin) -> tuple[Headers, list[bytes]]:
        """The metadata and the messages of a Handshake with the right or a wrong password."""
        assert self.login is not None, "a step without a login is skipped"
        password = self._password if which is FlightLogin.RIGHT else _WRONG
        if self.login.form is LoginForm.HEADER:
            pair = base64.b64encode(f"{self.login.user}:{password}".encode()).decode()
            return {"authorization": f"Basic {pair}"}, []
        return {}, [part(2, text(2, self.login.user) + text(3, password))]

    def log_in(self, caller: Caller, budget: CallBudget) -> None:
        """Call Handshake, unrecorded, and remember the token.

        Raises:
            TargetUnavailable: the server does not accept the name and the password, or gives no token.
        """
        headers, messages = self.opening(FlightLogin.RIGHT)
        call = caller.with_credentials(lambda: headers).converse(Call(0, "", "Handshake", b""), messages, budget=budget)
        self.learn(call, logged_in=True)
        if call.status != "OK" or not self._token:
            said = f"{call.status} {call.details}".strip() or str(call.end)
            raise TargetUnavailable(f"set-up: the Handshake of [flight.login] gave no token: {said}")

    def learn(self, call: Call, *, logged_in: bool = False) -> Call:
        """Remember the cookies of an answer, and the token of a login; the call without that token."""
        for entry in (*call.initial_metadata, *call.trailers):
            if entry.key == "set-cookie":
                self._take(entry.value.decode("utf-8", "replace"))
        if not logged_in or call.status != "OK":
            return call
        token = self._told(call)
        if not token:
            return call
        self._token = token
        known = token if isinstance(token, str) else token.decode(errors="surrogateescape")
        # A name that serves as a token is no secret, and a word or a number may be in any row.
        if self.login is not None and known != self.login.user and len(known) >= _SHORTEST and len(set(known)) > _FEW:
            self._forms = longest_first({*self._forms, *forms_of(known)})
        return _without(call, [known])

    def without_tokens(self, call: Call) -> Call:
        """The call as it is recorded: a server may repeat the token in any answer, and in any form.

        It is masked there and not where it is received, for each login may be given the same one.
        """
        return _without(call, self._forms) if self._forms else call

    def _told(self, call: Call) -> str | bytes:
        """The token of a login that ended in OK."""
        if self.login is not None and self.login.form is LoginForm.HEADER:
            found = (one.value for one in (*call.initial_metadata, *call.trailers) if one.key == "authorization")
            return next(
                (one.decode("latin-1").removeprefix("Bearer ") for one in found if one.startswith(b"Bearer ")), ""
            )
        answers = [message_of("HandshakeResponse", one) for one in call.responses]
        return next((bytes(one.data("payload")) for one in reversed(answers) if one is not None), b"")

    def _take(self, said: str) -> None:
        try:
            found = http.cookies.SimpleCookie(said)
        except http.cookies.CookieError:
            return
        for name, morsel in found.items():
            if morsel["max-age"] == "0" or not morsel.value:
                self._cookies.pop(name, None)
            else:
                self._cookies[name] = morsel.coded_value


def _without(call: Call, secrets: Sequence[str]) -> Call:
    """The call with asterisks in place of ``secrets``; in messages the lengths stay."""

    def entries(made: tuple[MetadataEntry, ...]) -> tuple[MetadataEntry, ...]:
        return tuple(MetadataEntry(masked(one.key, secrets), masked_bytes(one.value, secrets)) for one in made)

    return dataclasses.replace(
        call,
        request=masked_bytes(call.request, secrets),
        more_requests=tuple(masked_bytes(one, secrets) for one in call.more_requests),
        responses=tuple(masked_bytes(one, secrets) for one in call.responses),
        details=masked(call.details, secrets),
        initial_metadata=entries(call.initial_metadata),
        trailers=entries(call.trailers),
    )


def _password(login: Login) -> str:
    found = os.environ.get(login.password_variable, "") if login.password_variable else login.password
    if not found:
        raise TargetUnavailable(f"set-up: the variable {login.password_variable} has no password")
    if login.password_variable and len(found) < SHORTEST:
        wanted = f"a password of at least {SHORTEST} characters, because a shorter one cannot be masked"
        raise TargetUnavailable(f"set-up: the variable {login.password_variable}: expected {wanted}, got {len(found)}")
    hide(found)
    return found
