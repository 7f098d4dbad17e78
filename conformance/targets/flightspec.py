"""The content of ``[flight]`` in a target file: how data comes into a server, and what its flights are called."""

from __future__ import annotations

import dataclasses
import enum

from conformance.records import RecordError

__all__ = ["FlightSeeding", "FlightSpec", "Login", "LoginForm", "check_flight"]


class FlightSeeding(enum.StrEnum):
    """The ways in which data comes into a Flight server."""

    NONE = "none"
    """Not at all: only cases that write nothing are put to the server, and what it must never do is judged."""
    PUT = "put"
    """DoPut stores a table under its descriptor; GetFlightInfo and DoGet give it back."""


class LoginForm(enum.StrEnum):
    """The ways in which a client logs in by Handshake."""

    PAYLOAD = "payload"
    """A BasicAuth message in the payload; the payload of the last answer is the token, sent as ``auth-token-bin``."""
    HEADER = "header"
    """The header ``authorization: Basic …``; the token is the bearer token in ``authorization`` of the answer."""


@dataclasses.dataclass(frozen=True, slots=True)
class Login:
    """The name and the password that a server asks for; ``password_variable`` is the name of the environment variable
    that holds the password, if it does not stand here.
    """

    user: str
    password: str = ""
    password_variable: str = ""
    form: LoginForm = LoginForm.PAYLOAD


@dataclasses.dataclass(frozen=True, slots=True)
class FlightSpec:
    """What the suite may do to a Flight server.

    ``path`` is the path of a descriptor under which it stores a table; ``{name}`` is replaced by the name of the table,
    which is another one for each case. ``echo`` is the command under which DoExchange sends back each batch and all
    ``app_metadata``; empty if it does so under none. With ``login`` the suite logs in before each case, and the server
    has to refuse those who did not.
    """

    seeding: FlightSeeding = FlightSeeding.NONE
    path: tuple[str, ...] = ("{name}",)
    echo: str = ""
    login: Login | None = None


def check_flight(flight: FlightSpec) -> None:
    """Refuse a path under which all tables would have one name, and a login without one password.

    Raises:
        RecordError: one sentence.
    """
    if not any("{name}" in step for step in flight.path):
        raise RecordError("target.flight.path", "a path with {name} in one of its parts", list(flight.path))
    login = flight.login
    if login is not None and bool(login.password) == bool(login.password_variable):
        raise RecordError("target.flight.login", "either password or password_variable", login.user)
