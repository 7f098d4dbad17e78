"""The content of ``[flight]`` in a target file: how data comes into a server, and what its flights are called."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from conformance.protocols.flight.contract.scenarios import FLIGHT_SCENARIOS
from conformance.protocols.flight.table.dialect import SqlSpec, check_sql
from conformance.records import RecordError
from conformance.targets.endpoint import check_header
from conformance.targets.owntable import OwnTable
from conformance.targets.spec import TargetSpec

__all__ = ["HERE", "KNOWN_SUFFIXES", "FlightSeeding", "FlightSpec", "KnownFlight", "Login", "LoginForm", "check_flight"]

KNOWN_SUFFIXES: Final = (".arrow", ".arrows", ".parquet", ".json", ".jsonl")
"""The suffixes of files with the rows of known flights. CSV does not tell NULL from an empty text."""
HERE: Final = ("grpc://127.0.0.1:*",)
"""Every port of this machine, as ``locations``: for the reference, which speaks to nobody else."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


class FlightSeeding(enum.StrEnum):
    """The ways in which data comes into a Flight server."""

    NONE = "none"
    """Not at all: only cases that write nothing are put to the server, and what it must never do is judged."""
    PUT = "put"
    """DoPut stores a table under its descriptor; GetFlightInfo and DoGet give it back."""
    SQL = "sql"
    """Statements of SQL make tables and fill them."""
    KNOWN = "known"
    """Not at all: the target file names flights that exist, and files with their rows."""


@dataclasses.dataclass(frozen=True, slots=True)
class KnownFlight:
    """A flight that exists: its descriptor, or a statement whose result it is, and its rows.

    ``rows`` is a file relative to the target file: an Arrow file or stream, Parquet, or JSON with one object in
    each line; the suffix tells. ``name`` is the last part of the id of the case that is made of it.
    """

    name: str
    rows: str
    path: tuple[str, ...] = ()
    command: str = ""
    sql: str = ""


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
class FlightSpec(OwnTable):
    """What the suite may do to a Flight server.

    ``path`` is the path of a descriptor under which it stores a table; ``{name}`` is replaced by the name of the table,
    which is another one for each case. ``echo`` is the command under which DoExchange sends back each batch and all
    ``app_metadata``; empty if it does so under none. With ``login`` the suite logs in before each case, and the server
    has to refuse those who did not. With ``sql``, the server speaks Flight SQL as well. ``known`` are flights that
    exist.

    With ``scenario``, it is the server of that scenario of Arrow's integration tests, and is asked nothing else.
    ``headers`` go along with each call. ``locations`` are globs of URIs on this machine, besides the server's own
    address, to which these and a token may go; a socket is followed only there.
    """

    TAG: ClassVar[str] = "flight"

    seeding: FlightSeeding = FlightSeeding.NONE
    path: tuple[str, ...] = ("{name}",)
    echo: str = ""
    login: Login | None = None
    sql: SqlSpec | None = None
    known: tuple[KnownFlight, ...] = ()
    scenario: str | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    locations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        played = FLIGHT_SCENARIOS.get(self.scenario or "") if self.scenario is not None else None
        if played is not None:
            object.__setattr__(self, "headers", {**self.headers, **played.headers})
        if played is not None and played.login is not None:
            object.__setattr__(self, "login", Login(*played.login))
        if self.seeding is FlightSeeding.SQL and self.sql is None:
            object.__setattr__(self, "sql", SqlSpec())

    @classmethod
    def of(cls, spec: TargetSpec) -> FlightSpec:
        """The table of a target, or the defaults if its file has none."""
        return spec.own if isinstance(spec.own, FlightSpec) else cls()

    @property
    def puts(self) -> bool:
        """True if DoPut may store tables under descriptors."""
        return self.seeding is FlightSeeding.PUT

    @property
    def makes_tables(self) -> bool:
        """True if statements may make tables."""
        return self.sql is not None and self.sql.tables


def check_flight(flight: FlightSpec, here: Path) -> None:
    """Refuse a path under which all tables have one name, a login without one password, known flights without rows.

    Raises:
        RecordError: one sentence.
    """
    if flight.scenario is not None and flight.scenario not in FLIGHT_SCENARIOS:
        raise RecordError("target.flight.scenario", f"one of {', '.join(map(repr, FLIGHT_SCENARIOS))}", flight.scenario)
    for name, value in flight.headers.items():
        check_header("target.flight.headers", name, value, authorized=flight.login is not None)
    if flight.sql is not None:
        check_sql(flight.sql)
    if (flight.seeding is FlightSeeding.KNOWN) and not flight.known:
        raise RecordError("target.flight.known", "at least one flight, because seeding is known", [])
    for index, known in enumerate(flight.known):
        _check_known(f"target.flight.known[{index}]", known, flight, here)
    if len({known.name for known in flight.known}) < len(flight.known):
        raise RecordError("target.flight.known", "another name for each flight", [one.name for one in flight.known])
    if not any("{name}" in step for step in flight.path):
        raise RecordError("target.flight.path", "a path with {name} in one of its parts", list(flight.path))
    login = flight.login
    if login is not None and bool(login.password) == bool(login.password_variable):
        raise RecordError("target.flight.login", "either password or password_variable", login.user)


def _check_known(where: str, known: KnownFlight, flight: FlightSpec, here: Path) -> None:
    if not _NAME.fullmatch(known.name):
        raise RecordError(f"{where}.name", "lower-case letters, digits and '-'", known.name)
    given = [name for name in ("path", "command", "sql") if getattr(known, name)]
    if len(given) != 1:
        raise RecordError(where, "one of path, command and sql", given)
    if known.sql and flight.sql is None:
        raise RecordError("target.flight.sql", "[flight.sql], because a known flight is a statement", None)
    if Path(known.rows).suffix not in KNOWN_SUFFIXES or not (here / known.rows).is_file():
        wanted = f"an existing file, relative to the target file, of {', '.join(KNOWN_SUFFIXES)}"
        raise RecordError(f"{where}.rows", wanted, known.rows)
