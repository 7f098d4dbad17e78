"""Reading a target file: TOML with the content of :mod:`.spec`, and whether its parts go together.

The file is read strictly: an unknown key, a missing one or a wrong type is refused in one sentence, because a misspelt
deadline must never be read as no deadline.
"""

from __future__ import annotations

import codecs
import dataclasses
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from conformance.contain.parse import parse_toml
from conformance.contain.text import safe
from conformance.contract.offers import check_not_offered
from conformance.disk.pipes import kept
from conformance.protocol import plugin, protocol_names, takes_part
from conformance.records import RecordError, from_json
from conformance.targets import environmentspec
from conformance.targets.endpoint import check_endpoint
from conformance.targets.owntable import TablePlugin
from conformance.targets.plugin import TargetsPlugin
from conformance.targets.ranges import DAY
from conformance.targets.service import PROJECT_PATTERN, check_project_variable, check_service
from conformance.targets.shipped import find_target
from conformance.targets.spec import ExpectedFailure, TargetKind, TargetSpec, kind_of, target_kinds
from conformance.targets.targeterrors import TargetError
from conformance.targets.urls import is_url, target_at

__all__ = ["PLACEHOLDERS", "load_expected", "load_target", "parse_target"]

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
"""The names that a command or an environment value may contain in braces; some protocols have further ones."""

R = TypeVar("R")

_OF_NO_FILE: Final = {"file": "it is where the file was read from", "own": "such a table has the name of the kind"}
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
LONGEST_FILE: Final = 4 << 20
"""The largest target file in bytes: enough for 10,000 expected failures."""
LONGEST_LIST: Final = 10_000
"""The largest number of entries of a list in it."""


def load_target(path: str | Path) -> TargetSpec:
    """Read the target file at ``path``, or the one that ships with the suite under that name; a URL needs no file.

    Raises:
        TargetError: anything is unexpected; one sentence.
    """
    if is_url(path):
        return target_at(str(path))
    file = find_target(path)
    return parse_target(_text(file), file)


def parse_target(text: str, file: Path) -> TargetSpec:
    """The target that ``text`` describes, as the content of ``file``; raises :class:`TargetError` like load_target."""

    def checked(data: Mapping[str, object]) -> TargetSpec:
        spec = dataclasses.replace(_read(data), file=str(file))
        _check(spec, data)
        return spec

    return _parsed(text, file, checked)


def load_expected(file: Path) -> tuple[ExpectedFailure, ...]:
    """The ``[[expected_failures]]`` of a file without a target: those of a reader, a writer or a client.

    Raises:
        TargetError: anything is unexpected; one sentence.
    """

    def checked(data: Mapping[str, object]) -> tuple[ExpectedFailure, ...]:
        listed = from_json(_Listed, data, path="file").expected_failures
        _check_list("file.expected_failures", [(one.clause, one.case, one.reason) for one in listed])
        return listed

    return _parsed(_text(file), file, checked)


@dataclasses.dataclass(frozen=True, slots=True)
class _Listed:
    """The content of a file that has a list of expected failures and nothing else."""

    expected_failures: tuple[ExpectedFailure, ...] = ()


def _parsed(text: str, file: Path, checked: Callable[[Mapping[str, object]], R]) -> R:
    """What ``checked`` makes of TOML text; each error is one sentence with the name of the file."""
    try:
        data = parse_toml(text)
    except ValueError as error:
        raise TargetError(f"{file}: expected TOML: {safe(str(error))}") from None
    try:
        return checked(data)
    except RecordError as error:
        raise TargetError(f"{file}: {safe(str(error))}") from None
    except (OverflowError, ValueError):  # an integer in hexadecimal may have any number of digits
        raise TargetError(f"{file}: expected numbers of at most 64 bits but got a greater one") from None


def _read(data: Mapping[str, object]) -> TargetSpec:
    if "kind" not in data:
        raise RecordError("target.kind", f"what is judged: {', '.join(target_kinds())}", None)
    tables = {kind_of(name): name for name in protocol_names() if takes_part(TablePlugin, name)}
    for kind in tables:
        if kind in data and data["kind"] != kind:
            raise RecordError(f"target.{kind}", f"no such table: it is about targets of the kind {kind}", f"[{kind}]")
    spec = from_json(TargetSpec, {key: data[key] for key in data if key not in tables}, path="target")
    if spec.kind in tables and spec.kind in data:
        table = from_json(plugin(TablePlugin, spec.protocol).kind, data[spec.kind], path=f"target.{spec.kind}")
        spec = dataclasses.replace(spec, own=table)
    if spec.serves and spec.endpoint is not None:
        spec = dataclasses.replace(spec, endpoint=plugin(TargetsPlugin, spec.protocol).addressed(spec.endpoint))
    return spec


def _text(file: Path) -> str:
    """The text of the file; raises :class:`TargetError` for a large file, even an endless one such as a device."""
    try:
        with kept(file).open("rb") as opened:
            content = opened.read(LONGEST_FILE + 1)
    except OSError as error:
        raise TargetError(f"{file}: cannot read the target file: {error.strerror}") from None
    if len(content) > LONGEST_FILE:
        raise TargetError(f"{file}: expected a target file of at most {LONGEST_FILE >> 20} MiB but got more")
    if content.startswith(codecs.BOM_UTF8):
        raise TargetError(f"{file}: expected UTF-8 text without a byte order mark, which TOML does not permit")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TargetError(
            f"{file}: expected UTF-8 text but byte {error.start} is {error.object[error.start]:#04x}"
        ) from None


def _check(spec: TargetSpec, data: Mapping[str, object]) -> None:
    for key, why in _OF_NO_FILE.items():
        if key in data:
            raise RecordError(f"target.{key}", f"no such key: {why}", data[key])
    if not _NAME.fullmatch(spec.name):
        raise RecordError("target.name", "lower-case letters, digits, '.', '_' and '-'", spec.name)
    if not PROJECT_PATTERN.fullmatch(spec.project):
        raise RecordError("target.project", "letters, digits, '.', '_', ':' and '-'", spec.project)
    _check_kind(spec)
    for where, entries in _lists(spec):
        _check_list(where, entries)
    known = (*PLACEHOLDERS, *plugin(TargetsPlugin, spec.protocol).placeholders)
    for where, text in _templates(spec):
        for name in _placeholders(where, text):
            if name not in known:
                raise RecordError(where, "placeholders among " + ", ".join(known), "{" + name + "}")
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
    if spec.clock is not None and not spec.endpoint.rest:
        raise RecordError("target.clock", "[endpoint] with rest, where the clock is set", spec.clock.rest_path)


def _check_kind(spec: TargetSpec) -> None:
    """Refuse tables that belong to another kind, because nothing would read them."""
    has = {"start": spec.start, "endpoint": spec.endpoint, "serializer": spec.serializer}
    given = {name for name, table in has.items() if table is not None}
    own: dict[str, tuple[set[str], ...]] = {
        TargetKind.PROGRAM: ({"start"},),
        TargetKind.SERIALIZER: ({"serializer"},),
    }
    allowed = own.get(spec.kind, ({"start"}, {"endpoint"}))
    if given not in allowed:
        wanted = " or ".join(f"[{next(iter(tables))}]" for tables in allowed)
        raise RecordError("target", f"{wanted}, and no other of these tables, for the kind {spec.kind}", sorted(given))
    if spec.start is not None and not spec.start.command:
        raise RecordError("target.start.command", "a program and its arguments", [])
    if spec.kind == TargetKind.PROGRAM and spec.capabilities:
        raise RecordError(
            "target.capabilities", "no list: a program says in its hello what it can do", spec.capabilities
        )
    if not spec.serves and spec.clock is not None:
        raise RecordError("target.clock", f"no such table: a {spec.kind} has no sessions that expire", "[clock]")
    if spec.kind != TargetKind.SERVER and spec.start is not None and spec.start.restarts:
        raise RecordError("target.start.restarts", f"no such key: a {spec.kind} has no sessions", "true")
    if not spec.serves and spec.not_offered:
        raise RecordError("target.not_offered", f"no list: a {spec.kind} serves no requests", spec.not_offered)
    check_not_offered("target.not_offered", spec.not_offered, spec.protocol)
    plugin(TargetsPlugin, spec.protocol).check(spec)
    if spec.endpoint is not None and spec.seed.by_server:
        raise RecordError("target.seed", "[seed.program] with the command of the program", list(spec.seed.paths))


def _check_ports(spec: TargetSpec) -> None:
    """Refuse a server of which nobody could know a port: the suite would wait for it until the deadline."""
    if not spec.serves or spec.start is None:
        return
    texts = (*spec.start.command, *spec.start.environment.values())
    for side, event in (("grpc", spec.ready.grpc_event), ("rest", spec.ready.rest_event)):
        if side == "rest" and not spec.over_rest and spec.clock is None:
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
