"""A target as its TOML file describes it: what it is, how it runs, what it can do, what is known to be wrong with it.

This module decides which keys exist and which go together; it starts nothing.
The file is read as strictly as a case: an unknown key, a missing one or a wrong type is refused in one sentence,
because a misspelt deadline must never be read as no deadline.
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
from conformance.records import RecordError, from_json
from conformance.targets.errors import TargetError

__all__ = [
    "CopiedFile",
    "Deadlines",
    "Endpoint",
    "EnvironmentSpec",
    "ExpectedFailure",
    "Limits",
    "Ready",
    "Seed",
    "SeedPath",
    "SerializerSpec",
    "Start",
    "TargetKind",
    "TargetSpec",
    "load_target",
]

PLACEHOLDERS: Final = {
    "python": "the interpreter that runs the suite",
    "host": "the address to bind, 127.0.0.1",
    "grpc_port": "the gRPC port to bind; 0 where [ready] grpc_event names the event that tells the bound one",
    "rest_port": "the REST port to bind; 0 where [ready] rest_event names the event that tells the bound one",
    "project": "the project that the cases read from",
    "home": "a directory made for this start of the target, and removed when it ends",
    "env_bin": "the directory of executables made from [environment]",
    "here": "the directory of the TOML file",
}
"""What a command or an environment value may name in braces."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")

LONGEST_FILE: Final = 4 << 20
"""Bytes of a target file: room for 10,000 expected failures."""
LONGEST_LIST: Final = 10_000
"""Entries of any list in it."""
DAY: Final = 86_400.0
"""Seconds that anything may take at most: what is longer is a mistake, and some clocks do not count so far."""
GREATEST_MESSAGE: Final = (1 << 31) - 1
"""Bytes of a message that gRPC can be told to accept: it holds the limit in 32 bits."""
GREATEST_LIMIT: Final = 1 << 40


LEAST: Final = 0.001
"""Seconds that something may take at least: no clock of ours is finer."""


def _check_range(where: str, value: float, least: float, most: float, unit: str) -> None:
    """Refuse a number outside its range; ``nan`` is outside every range."""
    if not least <= value <= most:
        raise RecordError(where, f"{unit} from {least:g} to {most:.15g}", value)


class TargetKind(enum.StrEnum):
    """How a target is driven."""

    SERVER = "server"
    """A BigQueryRead server over gRPC, seeded over REST."""
    SERIALIZER = "serializer"
    """Two Python functions in this process: schema to bytes, batch to bytes."""
    PROGRAM = "program"
    """A program in any language that speaks JSON lines on stdin and stdout."""


class SeedPath(enum.StrEnum):
    """How rows get into a server's tables; the table itself is always made by REST ``tables.insert``."""

    REST = "rest"
    """``tabledata.insertAll``, the one path that every known emulator serves."""
    SQL = "sql"
    """``jobs.query`` with ``INSERT … VALUES`` and typed literals, for targets without insertAll."""


@dataclasses.dataclass(frozen=True, slots=True)
class Start:
    """How to start the target: ``command`` and ``environment`` are templates over :data:`PLACEHOLDERS`.

    ``grace`` is how many seconds the process has to end after SIGTERM before it is killed.
    ``inherit`` are globs for variables of the suite's own environment that the process gets as well: without any, it
    gets ``PATH``, ``HOME``, the locale and a few like them, and so no token that the caller has. ``["*"]`` is all.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    grace: float = 5.0
    inherit: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_range("target.start.grace", self.grace, 0, DAY, "seconds")


@dataclasses.dataclass(frozen=True, slots=True)
class Ready:
    """When a started server counts as ready: every probe named here has answered.

    ``grpc_event`` and ``rest_event`` name JSON lines on stdout or stderr (``{"event": NAME, "port": N}``) that tell
    the port bound; then the command is given port 0.
    ``rest_path`` is a path (a template) that answers 2xx once REST serves.
    ``grpc`` waits for a gRPC connection.
    """

    rest_path: str = ""
    grpc: bool = True
    grpc_event: str = ""
    rest_event: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that runs already, as ``host:port``; ``rest`` is a base URL."""

    grpc: str
    rest: str


@dataclasses.dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file to copy: ``source`` is relative to the environment's site-packages, ``target`` to ``{home}``."""

    source: str
    target: str


@dataclasses.dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """What a target needs to run, made by ``prepare`` in a directory of its own.

    ``python`` are pinned requirements installed into a virtual environment; ``constraints`` pin what they pull in.
    ``go`` are ``module@version`` arguments of ``go install``. ``copy`` files are put under ``{home}``.
    ``platforms`` (``linux-x86_64`` …) are where it can run at all; none named means everywhere.
    ``deadline`` bounds the making, in seconds.
    """

    python: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    go: tuple[str, ...] = ()
    copy: tuple[CopiedFile, ...] = ()
    platforms: tuple[str, ...] = ()
    deadline: float = 900.0

    def __post_init__(self) -> None:
        _check_range("target.environment.deadline", self.deadline, LEAST, DAY, "seconds")


@dataclasses.dataclass(frozen=True, slots=True)
class Seed:
    """How a case's table is put into a server: by which paths, in which dataset, and how many rows a request.

    ``paths`` are tried in order until one of them brings the rows in unchanged.
    """

    paths: tuple[SeedPath, ...] = (SeedPath.REST,)
    dataset: str = "conformance"
    rows_per_request: int = 5000

    def __post_init__(self) -> None:
        if not self.paths:
            raise RecordError("target.seed.paths", "at least one of " + ", ".join(SeedPath), [])
        _check_range("target.seed.rows_per_request", self.rows_per_request, 1, 1_000_000, "a number")


@dataclasses.dataclass(frozen=True, slots=True)
class SerializerSpec:
    """Where the serializer is: ``entry`` is ``module:object``; ``path`` directories are importable as well."""

    entry: str
    path: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds allowed for one thing each; a run's multiplier stretches all of them.

    ``start`` until ready; ``call`` for one gRPC call or one program request, to which large tables add;
    ``seed`` for one REST request; ``case`` for seeding a case, and again for all its calls; large tables add to it.
    """

    start: float = 60.0
    call: float = 20.0
    seed: float = 30.0
    case: float = 120.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check_range(f"target.deadlines.{field.name}", getattr(self, field.name), LEAST, DAY, "seconds")

    def stretched(self, multiplier: float) -> Deadlines:
        """These deadlines times ``multiplier``, each a day at most."""
        stretched = (getattr(self, field.name) * multiplier for field in dataclasses.fields(self))
        return Deadlines(*(min(max(seconds, LEAST), DAY) for seconds in stretched))


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """What a target may send at most, on top of what the case's table explains.

    ``message`` bounds one message and ``case`` everything kept of one case, in bytes; ``call`` is the margin of one
    call over its table's own size. The proto caps a response at 128 MB, so none of them meets a target that obeys; a
    message is in memory twice while it arrives.
    """

    message: int = 160 << 20
    call: int = 64 << 20
    case: int = 2 << 30

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            most = GREATEST_MESSAGE if field.name == "message" else GREATEST_LIMIT
            _check_range(f"target.limits.{field.name}", getattr(self, field.name), 1, most, "a number of bytes")


@dataclasses.dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """A failure that the target's owner knows of: clause and case globs, the reason class, and why it is tolerated."""

    clause: str
    reason: str
    case: str = "*"
    note: str = ""
    issue: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class TargetSpec:
    """One target file. ``file`` is where it was read from; the tables below are described by their classes.

    ``version`` is what the reports say; ``version_command`` prints it where it is not fixed by the file.
    """

    name: str
    kind: TargetKind
    title: str = ""
    homepage: str = ""
    version: str = ""
    version_command: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    start: Start | None = None
    ready: Ready = Ready()
    endpoint: Endpoint | None = None
    environment: EnvironmentSpec | None = None
    seed: Seed = Seed()
    serializer: SerializerSpec | None = None
    deadlines: Deadlines = Deadlines()
    limits: Limits = Limits()
    expected_failures: tuple[ExpectedFailure, ...] = ()
    file: str = ""

    @property
    def here(self) -> Path:
        """The directory of the TOML file."""
        return Path(self.file).resolve().parent


def load_target(path: str | Path) -> TargetSpec:
    """Read the target file at ``path``; raises :class:`TargetError` with one sentence on anything unexpected."""
    file = Path(path)
    try:
        data = tomllib.loads(_text(file))
    except RecursionError:
        raise TargetError(f"{file}: expected TOML: it nests deeper than any target file") from None
    except OSError as error:
        raise TargetError(f"{file}: cannot read the target file: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TargetError(
            f"{file}: expected UTF-8 text but byte {error.start} is {error.object[error.start]:#04x}"
        ) from None
    except ValueError as error:  # of the parser, or of an integer that has more digits than Python reads
        raise TargetError(f"{file}: expected TOML: {safe(str(error))}") from None
    try:
        spec = dataclasses.replace(from_json(TargetSpec, data, path="target"), file=str(file))
        _check(spec, data)
    except RecordError as error:
        raise TargetError(f"{file}: {safe(str(error))}") from None
    except (OverflowError, ValueError):  # a number in hexadecimal has no greatest one
        raise TargetError(f"{file}: expected numbers of at most 64 bits but got a greater one") from None
    return spec


def _text(file: Path) -> str:
    """What is in the file, which may be one that never ends."""
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
    _check_kind(spec)
    for where, entries in _lists(spec):
        _check_list(where, entries)
    for where, text in _templates(spec):
        for name in _placeholders(where, text):
            if name not in PLACEHOLDERS:
                raise RecordError(where, "placeholders among " + ", ".join(PLACEHOLDERS), "{" + name + "}")
            if name == "env_bin" and spec.environment is None:
                raise RecordError(where, "an [environment] where {env_bin} is used", text)


def _check_kind(spec: TargetSpec) -> None:
    """Tables that belong to another kind are refused: they would be read by nobody."""
    has = {"start": spec.start, "endpoint": spec.endpoint, "serializer": spec.serializer}
    given = {name for name, table in has.items() if table is not None}
    allowed = {
        TargetKind.SERVER: ({"start"}, {"endpoint"}),
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


def _lists(spec: TargetSpec) -> Iterable[tuple[str, Sequence[object]]]:
    """The lists of a file whose entries are each there once."""
    yield "target.capabilities", spec.capabilities
    yield "target.seed.paths", spec.seed.paths
    failures = [(entry.clause, entry.case, entry.reason) for entry in spec.expected_failures]
    yield "target.expected_failures", failures
    if (made := spec.environment) is not None:
        yield "target.environment.copy", [copied.target for copied in made.copy]
        for name in ("python", "constraints", "go", "platforms"):
            yield f"target.environment.{name}", getattr(made, name)


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
    if spec.start is not None:
        yield from ((f"target.start.command[{index}]", text) for index, text in enumerate(spec.start.command))
        for key, text in spec.start.environment.items():
            if not key or "=" in key or "\0" in key:
                raise RecordError("target.start.environment", "names of variables without '=' and NUL", key)
            yield f"target.start.environment.{key}", text


def _placeholders(where: str, text: str) -> list[str]:
    """The names in a template, each of them alone in its braces: a width or an attribute is code of the file's."""
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
