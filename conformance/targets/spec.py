"""The content of a target's TOML file: what the target is, how it runs, its capabilities and its known failures.

This module decides which keys exist and which go together; it starts nothing.
The file is read strictly: an unknown key, a missing one or a wrong type is refused in one sentence, because a misspelt
deadline must never be read as no deadline. It is long because it describes every key of the file, in one place.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import string
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.contain.text import safe
from conformance.contract.offers import check_not_offered
from conformance.records import RecordError, from_json
from conformance.targets import environmentspec
from conformance.targets.endpoint import Endpoint, check_endpoint
from conformance.targets.environmentspec import EnvironmentSpec
from conformance.targets.errors import TargetError
from conformance.targets.flightspec import FlightSpec, check_flight
from conformance.targets.ranges import DAY, LEAST, check_range
from conformance.targets.service import PROJECT_PATTERN, Service, check_project_variable, check_service
from conformance.targets.shipped import find_target

__all__ = [
    "Clock",
    "Deadlines",
    "Endpoint",
    "ExpectedFailure",
    "FlightSpec",
    "Limits",
    "Preloaded",
    "Ready",
    "Seed",
    "SeedPath",
    "SerializerSpec",
    "Start",
    "TargetKind",
    "TargetSpec",
    "load_target",
    "parse_target",
]

PLACEHOLDERS: Final = {
    "python": "the interpreter that runs the suite",
    "host": "the address to bind, 127.0.0.1",
    "grpc_port": "the gRPC port to bind; 0 if [ready] grpc_event names the event that reports the bound one",
    "rest_port": "the REST port to bind; 0 if [ready] rest_event names the event that reports the bound one",
    "project": "the project that the cases read from",
    "home": "a directory made for this start of the target, and removed when it ends",
    "here": "the directory of the TOML file",
    **environmentspec.PLACEHOLDERS,
}
"""The names that a command or an environment value may contain in braces."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_REST_PATH: Final = re.compile(r"/[A-Za-z0-9._~/-]{1,200}")
PROJECT: Final = "test-project"
"""The project that the cases read from, if the file names no other."""

LONGEST_FILE: Final = 4 << 20
"""The largest target file in bytes: enough for 10,000 expected failures."""
LONGEST_LIST: Final = 10_000
"""The largest number of entries of a list in it."""
GREATEST_MESSAGE: Final = (1 << 31) - 1
"""The largest message limit in bytes that gRPC accepts: it stores the limit in 32 bits."""
GREATEST_LIMIT: Final = 1 << 40


class TargetKind(enum.StrEnum):
    """The ways of driving a target."""

    SERVER = "server"
    """A BigQueryRead server over gRPC."""
    FLIGHT = "flight"
    """An Arrow Flight server over gRPC."""
    SERIALIZER = "serializer"
    """Two Python functions in this process: schema to bytes, batch to bytes."""
    PROGRAM = "program"
    """A program in any language that speaks JSON lines on stdin and stdout."""


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
    ``PATH``, ``HOME``, the locale and a few others, and so none of the caller's tokens. ``["*"]`` stands for all.
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

    ``start`` is the time until the target is ready, ``call`` that of one gRPC call or program request, ``seed`` that of
    one REST request, and ``case`` that of seeding a case and again that of all its calls. Large tables add to ``call``
    and ``case``.
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


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """The largest amounts that a target may send, in addition to the size of the case's table.

    ``message`` limits one message, and ``case`` everything kept of one case, in bytes; ``call`` is the margin of one
    call over its table's own size. The proto limits a response to 128 MB, so that no limit affects a target that obeys
    it. A message is in memory twice while it arrives.
    """

    message: int = 160 << 20
    call: int = 64 << 20
    case: int = 2 << 30

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

    ``version`` is shown in reports; ``version_command`` prints it if the file does not fix it. The tables of the cases
    are made in ``project``, which is also the parent of every session; if the user has to name it, ``project_variable``
    is the environment variable that may hold it. ``not_offered`` are the profiles that a server leaves out
    (:mod:`conformance.contract.offers`).
    """

    name: str
    kind: TargetKind
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
    flight: FlightSpec | None = None
    serializer: SerializerSpec | None = None
    deadlines: Deadlines = Deadlines()
    limits: Limits = Limits()
    service: Service | None = None
    expected_failures: tuple[ExpectedFailure, ...] = ()
    file: str = ""

    @property
    def over_rest(self) -> bool:
        """True if tables come into the target through the REST API."""
        return self.kind is TargetKind.SERVER and self.seed.over_rest

    @property
    def here(self) -> Path:
        """The directory of the TOML file."""
        return Path(self.file).resolve().parent


def load_target(path: str | Path) -> TargetSpec:
    """Read the target file at ``path``, or the one that ships with the suite under that name.

    Raises:
        TargetError: anything is unexpected; one sentence.
    """
    file = find_target(path)
    try:
        text = _text(file)
    except OSError as error:
        raise TargetError(f"{file}: cannot read the target file: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TargetError(
            f"{file}: expected UTF-8 text but byte {error.start} is {error.object[error.start]:#04x}"
        ) from None
    return parse_target(text, file)


def parse_target(text: str, file: Path) -> TargetSpec:
    """The target that ``text`` describes, as the content of ``file``; raises :class:`TargetError` like load_target."""
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise TargetError(f"{file}: expected TOML: it nests deeper than any target file") from None
    except ValueError as error:  # from the parser, or from an integer with more digits than Python reads
        raise TargetError(f"{file}: expected TOML: {safe(str(error))}") from None
    try:
        spec = dataclasses.replace(_read(data), file=str(file))
        _check(spec, data)
    except RecordError as error:
        raise TargetError(f"{file}: {safe(str(error))}") from None
    except (OverflowError, ValueError):  # an integer in hexadecimal may have any number of digits
        raise TargetError(f"{file}: expected numbers of at most 64 bits but got a greater one") from None
    return spec


def _read(data: Mapping[str, object]) -> TargetSpec:
    if "kind" not in data:
        raise RecordError("target.kind", f"what is judged: {', '.join(TargetKind)}", None)
    return from_json(TargetSpec, data, path="target")


def _text(file: Path) -> str:
    """The text of the file; raises :class:`TargetError` for a large file, even an endless one such as a device."""
    with file.open("rb") as opened:
        content = opened.read(LONGEST_FILE + 1)
    if len(content) > LONGEST_FILE:
        raise TargetError(f"{file}: expected a target file of at most {LONGEST_FILE >> 20} MiB but got more")
    return content.decode("utf-8")


def _check(spec: TargetSpec, data: Mapping[str, object]) -> None:
    if "file" in data:
        raise RecordError("target.file", "no such key: it is where the file was read from", data["file"])
    if not _NAME.fullmatch(spec.name):
        raise RecordError("target.name", "lower-case letters, digits, '.', '_' and '-'", spec.name)
    if not PROJECT_PATTERN.fullmatch(spec.project):
        raise RecordError("target.project", "letters, digits, '.', '_', ':' and '-'", spec.project)
    _check_kind(spec)
    for where, entries in _lists(spec):
        _check_list(where, entries)
    for where, text in _templates(spec):
        for name in _placeholders(where, text):
            if name not in PLACEHOLDERS:
                raise RecordError(where, "placeholders among " + ", ".join(PLACEHOLDERS), "{" + name + "}")
            if name == "home" and where.startswith("target.seed."):
                raise RecordError(where, "no {home}: it belongs to the server", text)
            environmentspec.check_placeholder(where, name, spec.environment)
    _check_ports(spec)
    _check_endpoint(spec)
    rest = "" if spec.endpoint is None else spec.endpoint.rest
    seed = spec.seed
    check_project_variable(spec.project_variable)
    check_service(spec.service, rest=rest, over_rest=seed.over_rest, dataset=seed.dataset, longest=DAY)


def _check_endpoint(spec: TargetSpec) -> None:
    """Refuse what cannot go together with a server that runs already."""
    if spec.endpoint is None:
        return
    check_endpoint(spec.endpoint, spec.here, longest=DAY)
    if (path := spec.ready.rest_path) and not spec.endpoint.rest:
        raise RecordError("target.ready.rest_path", "no path where [endpoint] has no rest", path)


def _check_kind(spec: TargetSpec) -> None:
    """Refuse tables that belong to another kind, because nothing would read them."""
    has = {"start": spec.start, "endpoint": spec.endpoint, "serializer": spec.serializer}
    given = {name for name, table in has.items() if table is not None}
    allowed = {
        TargetKind.SERVER: ({"start"}, {"endpoint"}),
        TargetKind.FLIGHT: ({"start"}, {"endpoint"}),
        TargetKind.PROGRAM: ({"start"},),
        TargetKind.SERIALIZER: ({"serializer"},),
    }[spec.kind]
    if given not in allowed:
        wanted = " or ".join(f"[{next(iter(tables))}]" for tables in allowed)
        raise RecordError("target", f"{wanted}, and no other of these tables, for the kind {spec.kind}", sorted(given))
    if spec.start is not None and not spec.start.command:
        raise RecordError("target.start.command", "a program and its arguments", [])
    if spec.kind is TargetKind.PROGRAM and spec.capabilities:
        raise RecordError(
            "target.capabilities", "no list: a program says in its hello what it can do", spec.capabilities
        )
    if spec.kind is not TargetKind.SERVER and spec.clock is not None:
        raise RecordError("target.clock", f"no such table: a {spec.kind} has no sessions that expire", "[clock]")
    if spec.kind is not TargetKind.SERVER and spec.start is not None and spec.start.restarts:
        raise RecordError("target.start.restarts", f"no such key: a {spec.kind} has no sessions", "true")
    if spec.kind is not TargetKind.SERVER and spec.not_offered:
        raise RecordError("target.not_offered", f"no list: a {spec.kind} serves no requests", spec.not_offered)
    check_not_offered("target.not_offered", spec.not_offered)
    _check_flight(spec)
    if spec.endpoint is not None and spec.seed.by_server:
        raise RecordError("target.seed", "[seed.program] with the command of the program", list(spec.seed.paths))


def _check_flight(spec: TargetSpec) -> None:
    """Refuse ``[flight]`` elsewhere, and in a file of a Flight server the tables that are about BigQuery."""
    if spec.kind is not TargetKind.FLIGHT:
        if spec.flight is not None:
            raise RecordError("target.flight", f"no such table: a {spec.kind} serves no flights", "[flight]")
        return
    check_flight(spec.flight or FlightSpec())
    for name, given in (("seed", spec.seed != Seed()), ("service", spec.service is not None)):
        if given:
            raise RecordError(f"target.{name}", "no such table: [flight] says how data comes in", f"[{name}]")
    rest = spec.ready.rest_path or spec.ready.rest_event or (spec.endpoint.rest if spec.endpoint is not None else "")
    if rest:
        raise RecordError("target", "no address of REST: a flight server has none", rest)


def _check_ports(spec: TargetSpec) -> None:
    """Refuse a server of which nobody could know a port: the suite would wait for it until the deadline."""
    if spec.kind not in (TargetKind.SERVER, TargetKind.FLIGHT) or spec.start is None:
        return
    texts = (*spec.start.command, *spec.start.environment.values())
    for side, event in (("grpc", spec.ready.grpc_event), ("rest", spec.ready.rest_event)):
        if side == "rest" and not spec.over_rest:
            continue
        if not event and not any(f"{{{side}_port}}" in text for text in texts):
            wanted = (
                f"{{{side}_port}} in the command or its environment, or [ready] {side}_event, so that the port is known"
            )
            raise RecordError("target.start.command", wanted, " ".join(spec.start.command))


def _lists(spec: TargetSpec) -> Iterable[tuple[str, Sequence[object]]]:
    """The lists of a file in which each entry may occur only once."""
    yield "target.capabilities", spec.capabilities
    yield "target.not_offered", spec.not_offered
    yield "target.seed.paths", spec.seed.paths
    failures = [(entry.clause, entry.case, entry.reason) for entry in spec.expected_failures]
    yield "target.expected_failures", failures
    if spec.environment is not None:
        yield from environmentspec.listed(spec.environment)


def _check_list(where: str, entries: Sequence[object]) -> None:
    if len(entries) > LONGEST_LIST:
        raise RecordError(where, f"at most {LONGEST_LIST} entries", len(entries))
    seen: set[object] = set()
    for entry in entries:
        if entry in seen:
            raise RecordError(where, "each entry once", entry)
        seen.add(entry)


def _templates(spec: TargetSpec) -> Iterable[tuple[str, str]]:
    yield from ((f"target.version_command[{index}]", text) for index, text in enumerate(spec.version_command))
    yield "target.ready.rest_path", spec.ready.rest_path
    for where, start in (("start", spec.start), ("seed.program", spec.seed.program)):
        if start is None:
            continue
        yield from ((f"target.{where}.command[{index}]", text) for index, text in enumerate(start.command))
        for key, text in start.environment.items():
            if not key or "=" in key or "\0" in key:
                raise RecordError(f"target.{where}.environment", "names of variables without '=' and NUL", key)
            yield f"target.{where}.environment.{key}", text


def _placeholders(where: str, text: str) -> list[str]:
    """The names in a template, each alone in its braces; a format or conversion would be code of the file's author."""
    if "\0" in text:
        raise RecordError(where, "text without NUL, which no command line can hold", text)
    try:
        fields = [field for _, *field in string.Formatter().parse(text) if field[0] is not None]
    except ValueError:
        raise RecordError(where, "balanced braces ({{ and }} for literal ones)", text) from None
    for name, width, conversion in fields:
        if width or conversion:
            raise RecordError(where, f"the placeholder {{{name}}} without a format", text)
    return [str(name) for name, _, _ in fields]
