"""The headers that show a running server who asks: fixed ones, and a bearer token that is renewed before it expires.

Every secret is masked (:mod:`conformance.contain.secrets`) before it is used for the first time.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from conformance.contain.command import run_command
from conformance.contain.errors import CannotStart
from conformance.contain.secrets import SHORTEST, hide, masked_unknown
from conformance.contain.text import safe
from conformance.targets.endpoint import Endpoint, Token, is_secret_name
from conformance.targets.targeterrors import TargetError, TargetUnavailable

__all__ = ["Credentials", "hide_header"]

COMMAND_SECONDS: Final = 30.0
"""Seconds for a token command, which may ask a server itself."""
LONGEST: Final = 16 << 10
"""The longest token in bytes: servers accept about as many bytes of headers."""
EARLY: Final = 0.2
"""The part of a token's lifetime that is left when it is renewed."""
SCOPE: Final = "https://www.googleapis.com/auth/bigquery"
NO_GOOGLE: Final = (
    "[endpoint.token]: google = true needs google-auth, which is not installed: pip install 'arrow-conformance[google]'"
)

Fetch = Callable[[], tuple[str, float]]
"""Asks for a token; returns it with the number of seconds for which it can be used."""


class Credentials:
    """The headers of one endpoint; several threads may ask for them.

    ``here`` is the directory of the target file, ``clock`` the clock by which a token expires.

    Raises:
        TargetError: an environment variable is missing, or google-auth is.
    """

    def __init__(self, endpoint: Endpoint, here: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._fixed = {**endpoint.headers, **{name: _variable(of) for name, of in endpoint.header_variables.items()}}
        for name, value in self._fixed.items():
            if name in endpoint.header_variables:
                _hide(value, f"the header {name}")
            else:
                hide_header(name, value)
        self._fetch = None if endpoint.token is None else _fetcher(endpoint.token, here)
        self._clock = clock
        self._lock = threading.Lock()
        self._token, self._renewal = "", -math.inf

    @property
    def renewable(self) -> bool:
        """True if there is a token that can be asked for again."""
        return self._fetch is not None

    def headers(self) -> Mapping[str, str]:
        """The headers of the next request.

        Raises:
            TargetUnavailable: there is no token to be had.
        """
        if self._fetch is None:
            return self._fixed
        with self._lock:
            if self._clock() >= self._renewal:
                token, seconds = self._fetch()
                _hide(token, "the token")
                self._token, self._renewal = token, self._clock() + seconds * (1 - EARLY)
            return {**self._fixed, "authorization": f"Bearer {self._token}"}

    def renew(self) -> None:
        """Ask for a new token before the next request."""
        with self._lock:
            self._renewal = -math.inf


def hide_header(name: str, value: str) -> None:
    """Mask the value of a header in the target file if its name is that of a secret."""
    if is_secret_name(name):
        hide(value)
        hide(value.rpartition(" ")[2])  # the part behind the scheme


def _hide(secret: str, what: str) -> None:
    """Mask a secret; raises :class:`TargetUnavailable` for a text that cannot be one. The message does not quote it."""
    if not SHORTEST <= len(secret) <= LONGEST or not secret.isascii() or not secret.isprintable() or " " in secret:
        hide(secret)
        wanted = f"{SHORTEST} to {LONGEST} printable ASCII characters without blanks"
        raise TargetUnavailable(f"[endpoint]: expected {what} to have {wanted}, got {len(secret)} characters")
    hide(secret)


def _variable(name: str) -> str:
    if not (value := os.environ.get(name, "").strip()):
        raise TargetUnavailable(f"[endpoint]: expected a secret in the environment variable {name}, which is not set")
    return value


def _fetcher(token: Token, here: Path) -> Fetch:
    if token.google:
        return _google()
    if token.command:
        return lambda: (_printed(token.command), token.lifetime)
    if token.file:
        return lambda: (_read(here / token.file), token.lifetime)
    return lambda: (_variable(token.variable), token.lifetime)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as opened:
            return opened.read(LONGEST + 2).decode("ascii", "replace").strip()
    except OSError as error:
        raise TargetUnavailable(f"[endpoint.token]: cannot read {path}: {error.strerror}") from None


def _printed(command: tuple[str, ...]) -> str:
    """The token that a command prints. It gets the whole environment of the suite, because it is the user's own."""
    try:
        done = run_command(command, environment=os.environ, seconds=COMMAND_SECONDS)
    except CannotStart as error:
        raise TargetUnavailable(f"[endpoint.token]: command: {error}") from None
    token = done.stdout.strip()
    hide(token)
    if done.code is None:
        raise TargetUnavailable(f"[endpoint.token]: the command did not end within {COMMAND_SECONDS:g} s")
    if done.code != 0 or not token:
        said = safe(masked_unknown(" ".join(done.stderr.split()))[-300:]) or "nothing on standard error"
        raise TargetUnavailable(f"[endpoint.token]: the command ended with {done.code} and no token: {said}")
    return token


def _google() -> Fetch:
    """Application default credentials; google-auth is loaded only here.

    Source: https://google-auth.readthedocs.io/en/master/reference/google.auth.html
    """
    try:
        import google.auth  # noqa: PLC0415  # an extra that few need
        import google.auth.exceptions  # noqa: PLC0415
        import google.auth.transport.requests as transport  # noqa: PLC0415
    except ImportError:
        raise TargetError(NO_GOOGLE) from None
    found: list[Any] = []

    def fetch() -> tuple[str, float]:
        try:
            if not found:
                found.append(google.auth.default(scopes=[SCOPE])[0])
            found[0].refresh(transport.Request())
        except google.auth.exceptions.GoogleAuthError as error:
            said = safe(masked_unknown(" ".join(str(error).split())), 300)
            raise TargetUnavailable(f"[endpoint.token]: no application default credentials: {said}") from None
        expiry = found[0].expiry  # in UTC without a zone; None if the token does not expire
        seconds = math.inf if expiry is None else expiry.replace(tzinfo=dt.UTC).timestamp() - time.time()
        return found[0].token, seconds

    return fetch
