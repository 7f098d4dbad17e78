"""The content of a ``client.toml``: the paths by which one client reads, each with the facts about it as a reader.

The file of a client of another protocol than the default one has the name of the protocol, and the same keys; so has
``query-results.toml``, the file of a client that asks for the results of queries in Arrow.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from conformance.contain.parse import parse_toml
from conformance.disk.files import read_text
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.readers.info import LossKind, ReaderInfo, ReaderLoss, Takes
from conformance.readers.ipc.adapters import (
    NAME,
    QUERY_RESULTS,
    Adapter,
    AdapterError,
    adapters_directory,
    client_file,
    load_adapter,
    ready_command,
    ready_version,
)
from conformance.records import BqType

__all__ = ["ClientProgram", "load_program", "shipped_programs"]

_KEYS: Final = frozenset({"title", "cannot", "losses", "schemaless_when_empty", "codecs", "one_stream", "asks", "gaps"})
_LOSS_KEYS: Final = frozenset({"type", "change", "source"})


@dataclasses.dataclass(frozen=True, slots=True)
class ClientProgram:
    """A program and the readers that it is, by the name of the path in its requests.

    ``tls`` is true for a client that has no option to read in plain text: it needs the proxy or the TLS port of a
    replay server. ``patience`` multiplies the deadline of an answer, for a client that computes much beside reading.
    """

    adapter: Adapter
    package: str
    paths: Mapping[str, ReaderInfo]
    direct: tuple[str, ...] = ()
    tls: bool = False
    patience: int = 1

    def command(self) -> list[str]:
        """The command that starts it.

        Raises :class:`~conformance.readers.ipc.implementation.Unavailable` if it is not built;
        ``direct`` is the command of a program that needs no build.
        """
        return list(self.direct) or ready_command(self.adapter)


def shipped_programs(protocol: str = DEFAULT_PROTOCOL) -> dict[str, ClientProgram]:
    """The clients of a protocol that ship with the suite, by name."""
    found = [load_program(each) for each in sorted(adapters_directory().glob(f"*/{client_file(protocol)}"))]
    return {program.adapter.name: program for program in found}


def load_program(file: Path) -> ClientProgram:
    """Read a ``client.toml``; raises :class:`~conformance.readers.ipc.adapters.AdapterError` if it is wrong."""
    adapter = load_adapter(file)
    reported = parse_toml(read_text(file))
    package, paths = reported.get("package"), reported.get("paths")
    if not isinstance(package, str) or not package:
        raise AdapterError(f"{file}: expected package to be a text but got {package!r}")
    if not isinstance(paths, dict) or not paths:
        raise AdapterError(f"{file}: expected at least one table [paths.NAME] but got {paths!r}")
    version = ready_version(adapter)
    takes = Takes.QUERY if file.name == client_file(QUERY_RESULTS) else Takes.SERVER
    infos = {
        path: dataclasses.replace(
            _info(f"{file}: paths.{path}", adapter, package, path, given), version=version, takes=takes
        )
        for path, given in paths.items()
    }
    tls = reported.get("tls", False)
    if not isinstance(tls, bool):
        raise AdapterError(f"{file}: expected tls to be true or false but got {tls!r}")
    patience = reported.get("patience", 1)
    if type(patience) is not int or patience < 1:
        raise AdapterError(f"{file}: expected patience to be a whole number from 1 but got {patience!r}")
    return ClientProgram(adapter, package, types.MappingProxyType(infos), _direct(file, reported), tls, patience)


def _direct(file: Path, reported: Mapping[str, Any]) -> tuple[str, ...]:
    """The command of a program that needs no build: it has no ``build``, and does not run in ``{cache}``."""
    command = reported.get("command")
    if not isinstance(command, list) or not command or not all(isinstance(one, str) for one in command):
        raise AdapterError(f"{file}: expected command to be a list of texts but got {command!r}")
    if reported.get("build") or any("{cache}" in one for one in command):
        return ()
    values = {"{here}": str(file.parent.resolve()), "{python}": sys.executable}
    return tuple(functools.reduce(lambda text, one: text.replace(*one), values.items(), part) for part in command)


def _info(where: str, adapter: Adapter, package: str, path: str, given: Any) -> ReaderInfo:
    if not NAME.fullmatch(path):
        raise AdapterError(f"{where}: expected a name of letters, digits, '.', '_' and '-' but got {path!r}")
    if not isinstance(given, dict) or not isinstance(given.get("title"), str):
        raise AdapterError(f"{where}: expected a table with a title but got {given!r}")
    if unknown := sorted(given.keys() - _KEYS):
        raise AdapterError(f"{where}: expected only {', '.join(sorted(_KEYS))} but got {', '.join(unknown)}")
    cannot, losses = given.get("cannot", {}), given.get("losses", [])
    try:
        return ReaderInfo(
            name=f"{adapter.name}.{path}",
            title=given["title"],
            package=package,
            takes=Takes.SERVER,
            cannot=types.MappingProxyType({BqType(kind): str(reason) for kind, reason in cannot.items()}),
            losses=tuple(_loss(one) for one in losses),
            schemaless_when_empty=bool(given.get("schemaless_when_empty", False)),
            codecs=bool(given.get("codecs", True)),
            one_stream=bool(given.get("one_stream", False)),
            program=adapter.name,
            asks=str(given.get("asks", "")),
            gaps=types.MappingProxyType({str(kind): str(source) for kind, source in given.get("gaps", {}).items()}),
        )
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise AdapterError(f"{where}: {error}") from None


def _loss(given: Mapping[str, Any]) -> ReaderLoss:
    if given.keys() != _LOSS_KEYS:
        raise ValueError(f"expected a loss with {', '.join(sorted(_LOSS_KEYS))} but got {dict(given)!r}")
    return ReaderLoss(BqType(given["type"]), LossKind(given["change"]), str(given["source"]))
