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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

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
    "home": "a writable directory of the target's own",
    "env_bin": "the directory of executables made from [environment]",
    "here": "the directory of the TOML file",
}
"""What a command or an environment value may name in braces."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]*")


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
    """

    command: tuple[str, ...]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    grace: float = 5.0


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
        if self.rows_per_request < 1:
            raise RecordError("target.seed.rows_per_request", "a number above 0", self.rows_per_request)


@dataclasses.dataclass(frozen=True, slots=True)
class SerializerSpec:
    """Where the serializer is: ``entry`` is ``module:object``; ``path`` directories are importable as well."""

    entry: str
    path: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds allowed for one thing each; a run's multiplier stretches all of them.

    ``start`` until ready; ``call`` for one gRPC call or one program request, to which large tables add;
    ``seed`` for one REST request; ``case`` for all calls of a case together.
    """

    start: float = 60.0
    call: float = 20.0
    seed: float = 30.0
    case: float = 120.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if getattr(self, field.name) <= 0:
                raise RecordError(f"target.deadlines.{field.name}", "seconds above 0", getattr(self, field.name))

    def stretched(self, multiplier: float) -> Deadlines:
        """These deadlines times ``multiplier``."""
        return Deadlines(*(getattr(self, field.name) * multiplier for field in dataclasses.fields(self)))


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """What a target may send at most, on top of what the case's table explains.

    ``message`` bounds one message and ``case`` everything kept of one case, in bytes; ``call`` is the margin of one
    call over its table's own size. The proto caps a response at 128 MB, so none of them meets an honest target.
    """

    message: int = 1 << 30
    call: int = 64 << 20
    case: int = 2 << 30


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
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise TargetError(f"{file}: cannot read the target file: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TargetError(
            f"{file}: expected UTF-8 text but byte {error.start} is {error.object[error.start]:#04x}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise TargetError(f"{file}: expected TOML: {error}") from None
    try:
        spec = dataclasses.replace(from_json(TargetSpec, data, path="target"), file=str(file))
        _check(spec, data)
    except RecordError as error:
        raise TargetError(f"{file}: {error}") from None
    return spec


def _check(spec: TargetSpec, data: Mapping[str, object]) -> None:
    if "file" in data:
        raise RecordError("target.file", "no such key: it is where the file was read from", data["file"])
    if not _NAME.fullmatch(spec.name):
        raise RecordError("target.name", "lower-case letters, digits, '.', '_' and '-'", spec.name)
    _check_kind(spec)
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


def _templates(spec: TargetSpec) -> Iterable[tuple[str, str]]:
    yield from ((f"target.version_command[{index}]", text) for index, text in enumerate(spec.version_command))
    yield "target.ready.rest_path", spec.ready.rest_path
    if spec.start is not None:
        yield from ((f"target.start.command[{index}]", text) for index, text in enumerate(spec.start.command))
        yield from ((f"target.start.environment.{key}", text) for key, text in spec.start.environment.items())


def _placeholders(where: str, text: str) -> list[str]:
    try:
        return [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    except ValueError:
        raise RecordError(where, "balanced braces ({{ and }} for literal ones)", text) from None
