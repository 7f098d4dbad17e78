"""Tokens come from their source, are asked for again in time, and a source without a token is one sentence."""

from __future__ import annotations

import datetime as dt
import sys
import types
from pathlib import Path

import pytest

from conformance.contain.secrets import masked
from conformance.targets import TargetError, TargetUnavailable
from conformance.targets.credentials import NO_GOOGLE, Credentials
from conformance.targets.endpoint import Endpoint, Token

HERE = Path()


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def credentials(
    token: Token | None = None, here: Path = HERE, clock: Clock | None = None, **more: object
) -> Credentials:
    """The credentials of an endpoint with this token."""
    return Credentials(Endpoint("a:1", token=token, **more), here, clock=clock or Clock())  # type: ignore[arg-type]  # as given


def test_headers_are_fixed_and_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those from variables, and those that are named like secrets, are masked; others are not."""
    monkeypatch.setenv("KEY", "from-the-environment")

    made = credentials(
        headers={"x-project": "a-long-project-name", "authorization": "Basic written-into-the-file"},
        header_variables={"x-of-mine": "KEY"},
    )

    assert made.headers() == {
        "x-project": "a-long-project-name",
        "authorization": "Basic written-into-the-file",
        "x-of-mine": "from-the-environment",
    }
    shown = masked("a-long-project-name from-the-environment written-into-the-file")
    assert shown == "a-long-project-name *** ***"
    assert not made.renewable


def test_a_token_from_a_command_is_renewed_before_it_expires() -> None:
    """Within its lifetime the command runs once; ``renew`` asks again at once."""
    clock = Clock()
    program = "import time; print(f'a-token-{time.perf_counter_ns()}')"
    made = credentials(Token((sys.executable, "-c", program), lifetime=100), clock=clock)

    first = made.headers()
    clock.now = 79
    second = made.headers()
    clock.now = 81
    third = made.headers()
    made.renew()
    fourth = made.headers()

    assert first == second
    assert len({one["authorization"] for one in (first, third, fourth)}) == 3
    assert masked(first["authorization"]) == "Bearer ***"


def test_a_token_from_a_file_and_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line end after it is not a part of it."""
    (tmp_path / "token").write_text("in-the-file\n")
    monkeypatch.setenv("HELD", "in-the-variable")

    assert credentials(Token(file="token"), tmp_path).headers() == {"authorization": "Bearer in-the-file"}
    assert credentials(Token(variable="HELD")).headers() == {"authorization": "Bearer in-the-variable"}


FAILING = "import sys; print('secret-but-useless'); sys.exit('not logged in with secret-but-useless')"


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        (Token(("no-such-program-anywhere",)), "[endpoint.token]: command: "),
        (Token((sys.executable, "-c", "")), "the command ended with 0 and no token: nothing on standard error"),
        (Token((sys.executable, "-c", FAILING)), "ended with 1 and no token: not logged in with ***"),
        (Token((sys.executable, "-c", "exit('refused ya29.A0b1C2d3')")), "ended with 1 and no token: refused ***"),
        (Token((sys.executable, "-c", "print('two words here')")), "expected the token to have 8 to 16384 printable"),
        (Token(file="gone"), "[endpoint.token]: cannot read gone: No such file or directory"),
        (Token(variable="NOT_SET"), "expected a secret in the environment variable NOT_SET, which is not set"),
    ],
)
def test_a_source_without_a_token_is_one_sentence(token: Token, sentence: str) -> None:
    """Nothing of what was printed for a token is in it."""
    with pytest.raises(TargetUnavailable) as raised:
        credentials(token).headers()

    assert sentence in str(raised.value)
    assert "two words" not in str(raised.value)


class FakeGoogle:
    """The part of google-auth that is used: credentials that count how often they were refreshed."""

    class Error(Exception):
        """GoogleAuthError."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.refreshed = 0
        self.token = ""
        self.expiry = dt.datetime.now(dt.UTC).replace(tzinfo=None) + dt.timedelta(seconds=1000)
        self.failure = ""
        auth = types.ModuleType("google.auth")
        auth.default = self.default  # type: ignore[attr-defined]  # a stand-in
        auth.exceptions = types.SimpleNamespace(GoogleAuthError=self.Error)  # type: ignore[attr-defined]  # a stand-in
        requests = types.ModuleType("google.auth.transport.requests")
        requests.Request = object  # type: ignore[attr-defined]  # a stand-in
        transport = types.ModuleType("google.auth.transport")
        transport.requests = requests  # type: ignore[attr-defined]  # a stand-in
        auth.transport = transport  # type: ignore[attr-defined]  # a stand-in
        package = types.ModuleType("google")
        package.auth = auth  # type: ignore[attr-defined]  # a stand-in
        for name, module in {
            "google": package,
            "google.auth": auth,
            "google.auth.exceptions": auth.exceptions,
            "google.auth.transport": transport,
            "google.auth.transport.requests": requests,
        }.items():
            monkeypatch.setitem(sys.modules, name, module)  # type: ignore[arg-type]  # a namespace serves as a module

    def default(self, *, scopes: list[str]) -> tuple[FakeGoogle, str]:
        """The credentials found, and the project."""
        assert scopes == ["https://www.googleapis.com/auth/bigquery"]
        if self.failure:
            raise self.Error(self.failure)
        return self, "a-project"

    def refresh(self, _request: object) -> None:
        """Make a new token."""
        self.refreshed += 1
        self.token = f"ya29.refreshed-{self.refreshed}"


def test_application_default_credentials_are_refreshed_before_their_expiry(monkeypatch: pytest.MonkeyPatch) -> None:
    """google-auth is imported only then, and says itself how long a token lasts."""
    google, clock = FakeGoogle(monkeypatch), Clock()
    made = credentials(Token(google=True), clock=clock)

    first = made.headers()["authorization"]
    clock.now = 700
    second = made.headers()["authorization"]
    clock.now = 900
    third = made.headers()["authorization"]

    assert (first, second, third) == ("Bearer ya29.refreshed-1", "Bearer ya29.refreshed-1", "Bearer ya29.refreshed-2")
    google.failure = "no\ncredentials"
    with pytest.raises(TargetUnavailable, match=r"no application default credentials: no credentials"):
        credentials(Token(google=True)).headers()


def test_without_google_auth_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, before anything is asked."""
    monkeypatch.setitem(sys.modules, "google.auth", None)

    with pytest.raises(TargetError) as raised:
        credentials(Token(google=True))
    assert str(raised.value) == NO_GOOGLE
