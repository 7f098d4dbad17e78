"""The content of a target's TOML file: what the target is, how it runs, its capabilities and its known failures.

This module decides which keys exist, and which values each may have; :mod:`.specfile` reads the file.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

from conformance._hints import Members, OneOf
from conformance.protocol import DEFAULT_PROTOCOL, is_seeded, protocol_names
from conformance.records import RecordError
from conformance.targets.endpoint import Endpoint
from conformance.targets.environmentspec import EnvironmentSpec
from conformance.targets.owntable import OwnTable, own_tables
from conformance.targets.ranges import DAY, LEAST, check_range
from conformance.targets.service import Service

__all__ = [
    "Clock",
    "Deadlines",
    "Endpoint",
    "ExpectedFailure",
    "Limits",
    "Preloaded",
    "Ready",
    "Seed",
    "SeedPath",
    "SerializerSpec",
    "Start",
    "TargetKind",
    "TargetSpec",
    "extra_seconds",
    "kind_of",
    "target_kinds",
]

_REST_PATH: Final = re.compile(r"/[A-Za-z0-9._~/-]{1,200}")
PROJECT: Final = "test-project"
"""The project that the cases read from, if the file names no other."""

GREATEST_MESSAGE: Final = (1 << 31) - 1
"""The largest message limit in bytes that gRPC accepts: it stores the limit in 32 bits."""
GREATEST_LIMIT: Final = 1 << 40


class TargetKind(enum.StrEnum):
    """The ways of driving a target. A server of any other protocol is of the kind with the name of its protocol."""

    SERVER = "server"
    """A BigQueryRead server over gRPC."""
    SERIALIZER = "serializer"
    """Two Python functions in this process: schema to bytes, batch to bytes."""
    PROGRAM = "program"
    """A program in any language that speaks JSON lines on stdin and stdout."""


def target_kinds() -> tuple[str, ...]:
    """Every kind of target: the servers in the order of the protocols, and what serves nothing."""
    return (*map(kind_of, protocol_names()), *(one.value for one in TargetKind if one is not TargetKind.SERVER))


def kind_of(protocol: str) -> str:
    """The kind of a server of this protocol."""
    return TargetKind.SERVER.value if protocol == DEFAULT_PROTOCOL else protocol


class SeedPath(enum.StrEnum):
    """The ways of putting tables into a server."""

    REST = "rest"
    """``tables.insert`` and ``tabledata.insertAll``, the only path that every known emulator serves."""
    SQL = "sql"
    """``tables.insert``, and ``jobs.query`` with ``INSERT … VALUES``, for targets without insertAll."""
    LOAD = "load"
    """``tables.insert``, and load jobs that upload Parquet: for the service, and for large tables."""
    LOAD_AVRO = "load-avro"
    """The same with Avro, which carries JSON too."""
    PROGRAM = "program"
    """A program that gets each table on stdin and makes it, or the started server itself."""
    PRELOADED = "preloaded"
    """The tables that ``conformance tables`` wrote are in the server already."""


OVER_REST: Final = frozenset({SeedPath.REST, SeedPath.SQL, SeedPath.LOAD, SeedPath.LOAD_AVRO})
"""The paths that need the REST API."""


@dataclasses.dataclass(frozen=True, slots=True)
class Start:
    """The start of a target: ``command`` and ``environment`` are templates over :data:`PLACEHOLDERS`.

    ``grace`` is the number of seconds between SIGTERM and SIGKILL when the process is stopped.
    ``inherit`` are globs for further variables of the suite's environment that the process gets. Without them it gets
    ``PATH``, ``HOME``, the locale and a few others, and so none of the caller's tokens. ``["*"]`` means all.
    ``restarts`` permits the suite to stop the server in a case and to start it again, with the same ``{home}``.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    grace: float = 5.0
    inherit: tuple[str, ...] = ()
    restarts: bool = False

    def __post_init__(self) -> None:
        check_range("target.start.grace", self.grace, 0, DAY, "seconds")


@dataclasses.dataclass(frozen=True, slots=True)
class Ready:
    """The conditions under which a started server counts as ready: every probe given here has answered.

    ``grpc_event`` and ``rest_event`` name JSON lines on stdout or stderr (``{"event": NAME, "port": N}``) that report
    the bound port; the command is then given port 0.
    ``rest_path`` is a path (a template) that answers 2xx once REST serves.
    ``grpc`` waits for a gRPC connection.
    """

    rest_path: str = ""
    grpc: bool = True
    grpc_event: str = ""
    rest_event: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Clock:
    """How the clock of a server is set: a POST of ``{"ahead": SECONDS}`` to ``rest_path`` puts it so many seconds ahead
    of this machine's, and 0 puts it back. Nobody else may use the server meanwhile.
    """

    rest_path: str

    def __post_init__(self) -> None:
        if not _REST_PATH.fullmatch(self.rest_path):
            raise RecordError(
                "target.clock.rest_path", "a path from the root of the REST API, as /clock", self.rest_path
            )


@dataclasses.dataclass(frozen=True, slots=True)
class Preloaded:
    """Tables that are in the server already: ``tables`` is the directory that ``conformance tables`` wrote, relative to
    the TOML file, and ``table`` the name that each has in the dataset, where ``{table}`` is its name in the index.
    """

    tables: str
    table: str = "{table}"


@dataclasses.dataclass(frozen=True, slots=True)
class Seed:
    """The seeding of a server with a case's table: the paths, the dataset, and the number of rows per request.

    ``paths`` are tried in order until one of them inserts the rows unchanged. ``program`` starts the program of that
    path; without it, the started server itself reads the tables.
    """

    paths: tuple[SeedPath, ...] = (SeedPath.REST,)
    dataset: str = "conformance"
    rows_per_request: int = 5000
    program: Start | None = None
    preloaded: Preloaded | None = None

    def __post_init__(self) -> None:
        if not self.paths:
            raise RecordError("target.seed.paths", "at least one of " + ", ".join(SeedPath), [])
        check_range("target.seed.rows_per_request", self.rows_per_request, 1, 1_000_000, "a number")
        for name in (SeedPath.PROGRAM, SeedPath.PRELOADED):
            if getattr(self, name) is not None and name not in self.paths:
                raise RecordError("target.seed.paths", f'"{name}", because there is a [seed.{name}]', list(self.paths))
        if self.preloaded is None and SeedPath.PRELOADED in self.paths:
            raise RecordError("target.seed", "[seed.preloaded] with the directory of the tables", list(self.paths))
        if self.preloaded is not None and "{table}" not in self.preloaded.table:
            raise RecordError("target.seed.preloaded.table", "a name with {table} in it", self.preloaded.table)
        if self.program is not None and not self.program.command:
            raise RecordError("target.seed.program.command", "a program and its arguments", [])

    @property
    def over_rest(self) -> bool:
        """True if one of the paths needs the REST API."""
        return not OVER_REST.isdisjoint(self.paths)

    @property
    def by_server(self) -> bool:
        """True if the started server itself reads the tables on its standard input."""
        return SeedPath.PROGRAM in self.paths and self.program is None


@dataclasses.dataclass(frozen=True, slots=True)
class SerializerSpec:
    """The position of a serializer: ``entry`` is ``module:object``; modules in ``path`` can be imported, too."""

    entry: str
    path: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Deadlines:
    """Time limits in seconds; a run's multiplier stretches all of them.

    ``start`` is the time until the target is ready, ``call`` that of one gRPC call or program request, in a stream that
    between two responses, ``seed`` that of one REST request, and ``case`` that of seeding a case, again that of all its
    calls, and again that of judging them. Large tables add to ``call`` and ``case``.
    """

    start: float = 60.0
    call: float = 20.0
    seed: float = 30.0
    case: float = 120.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check_range(f"target.deadlines.{field.name}", getattr(self, field.name), LEAST, DAY, "seconds")

    def stretched(self, multiplier: float) -> Deadlines:
        """These deadlines times ``multiplier``, each at most a day."""
        stretched = (getattr(self, field.name) * multiplier for field in dataclasses.fields(self))
        return Deadlines(*(min(max(seconds, LEAST), DAY) for seconds in stretched))


BYTES_PER_SECOND: Final = 2 << 20
"""The slowest accepted work on a table."""
EXPANSION: Final = 16
"""The largest accepted ratio of a table's size in answers to its size in memory.

Booleans as Avro or base64, or one row per message, come near it.
"""


def extra_seconds(size: int) -> float:
    """The seconds that a table of ``size`` bytes in memory adds to each deadline."""
    return size / BYTES_PER_SECOND


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """The largest amounts that a target may send, in addition to the size of the case's table.

    ``message`` limits one message, and ``case`` everything kept of one case, in bytes; ``call`` is the margin of one
    call over its table's own size. The proto limits a response to 128 MB, so that no limit affects a target that obeys
    it. grpcio has a message in memory three times while it arrives.
    """

    message: int = 160 << 20
    call: int = 64 << 20
    case: int = 2 << 30

    def of_call(self, size: int) -> int:
        """The bytes of one call about a table that has ``size`` bytes in memory."""
        return self.call + EXPANSION * size

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            most = GREATEST_MESSAGE if field.name == "message" else GREATEST_LIMIT
            check_range(f"target.limits.{field.name}", getattr(self, field.name), 1, most, "a number of bytes")


@dataclasses.dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """A failure that is known to the target's owner: clause and case globs, the reason class, and a note.

    With ``sometimes``, neither the failure nor a pass is unexpected.
    """

    clause: str
    reason: str
    case: str = "*"
    note: str = ""
    issue: str = ""
    sometimes: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class TargetSpec:
    """One target file. ``file`` is its path; the classes of the other fields describe the file's tables.

    Of a target without a file, ``file`` is its URL (:mod:`conformance.targets.urls`).
    ``version`` is shown in reports; ``version_command`` prints it if the file does not fix it. The tables of the cases
    are made in ``project``, which is also the parent of every session; if the user has to name it, ``project_variable``
    is the environment variable that may hold it. ``not_offered`` are the profiles that a server leaves out
    (:mod:`conformance.contract.offers`). ``own`` is the table that has the name of the kind: what
    only servers of that protocol have.
    """

    name: str
    kind: Annotated[str, OneOf(target_kinds)]
    title: str = ""
    homepage: str = ""
    version: str = ""
    version_command: tuple[str, ...] = ()
    project: str = PROJECT
    project_variable: str = ""
    capabilities: tuple[str, ...] = ()
    not_offered: tuple[str, ...] = ()
    start: Start | None = None
    ready: Ready = Ready()
    clock: Clock | None = None
    endpoint: Endpoint | None = None
    environment: EnvironmentSpec | None = None
    seed: Seed = Seed()
    own: Annotated[OwnTable, Members(own_tables)] | None = None
    serializer: SerializerSpec | None = None
    deadlines: Deadlines = Deadlines()
    limits: Limits = Limits()
    service: Service | None = None
    expected_failures: tuple[ExpectedFailure, ...] = ()
    file: str = ""

    @property
    def protocol(self) -> str:
        """The protocol in which the target is asked. The messages of a serializer count as answers of Storage Read."""
        return self.kind if self.kind in protocol_names() else DEFAULT_PROTOCOL

    @property
    def serves(self) -> bool:
        """True for a server, of whichever protocol."""
        return self.kind == TargetKind.SERVER or self.kind in protocol_names()

    @property
    def over_rest(self) -> bool:
        """True if tables come into the target through the REST API."""
        return self.is_seeded and self.seed.over_rest

    @property
    def is_seeded(self) -> bool:
        """True if the suite makes the tables of cases in the target, as ``[seed]`` says."""
        return self.serves and is_seeded(self.protocol)

    @property
    def by_url(self) -> bool:
        """True if ``file`` is the URL of a running server, and there is no file."""
        return "://" in self.file

    def anywhere(self) -> TargetSpec:
        """This target for a process that works in another directory."""
        return self if self.by_url else dataclasses.replace(self, file=str(Path(self.file).resolve()))

    @property
    def here(self) -> Path:
        """The directory of the TOML file; of a URL, the current one."""
        return Path.cwd() if self.by_url else Path(self.file).resolve().parent
