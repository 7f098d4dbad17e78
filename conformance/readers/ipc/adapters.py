"""Find the adapters, which are programs that drive a library of another language, and the commands that start them.

A directory of ``adapters/`` with an ``adapter.toml`` that has ``name``, ``title`` and ``language`` is an adapter.
``python -m adapters`` builds adapters and writes, next to each program, a record with the command that starts it;
this module only reads both. Builds are in a cache of the user, in a directory for each content of the sources:
checkouts with the same sources share a build, and an outdated one is not found.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any, Final

import conformance
from conformance.contain.parse import parse_toml
from conformance.disk.cache import cache_directory
from conformance.disk.files import read_text
from conformance.protocol import DEFAULT_PROTOCOL, protocol_names
from conformance.readers.ipc.implementation import Unavailable

__all__ = [
    "NAME",
    "QUERY_RESULTS",
    "RECORD",
    "VARIABLE",
    "Adapter",
    "AdapterError",
    "adapters_directory",
    "build_directory",
    "builds",
    "client_file",
    "load_adapter",
    "pyspark_jars",
    "ready_command",
    "ready_version",
    "shipped",
]

VARIABLE: Final = "CONFORMANCE_ADAPTERS"
"""The variable that names the directory of all builds, if it is not that of the user's cache."""
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""The name of an adapter, and of a path of a client."""
RECORD: Final = "built.json"
QUERY_RESULTS: Final = "query-results"
"""In place of a protocol, for clients that ask for the results of queries in Arrow: they read no session."""

_PACKAGE: Final = Path(conformance.__file__).parent


class AdapterError(ValueError):
    """An ``adapter.toml`` is wrong; the text says where, what was expected and what was found."""


@dataclasses.dataclass(frozen=True, slots=True)
class Adapter:
    """A program as its ``adapter.toml`` describes it; ``here`` is the file's directory.

    ``sources`` are patterns, relative to ``here``, of further source files; several adapters may share some.
    """

    name: str
    title: str
    language: str
    here: Path
    sources: tuple[str, ...] = ()

    @property
    def files(self) -> list[Path]:
        """Every source file; if one changes, an earlier build is out of date."""
        parts = (pattern.rpartition("/") for pattern in self.sources)
        named = [file for base, _, name in parts for file in (self.here / base).glob(name)]
        return sorted({file.resolve() for file in (*self.here.iterdir(), *named) if file.is_file()})


def client_file(protocol: str) -> str:
    """The name of the file that describes a client of a protocol or of query results: its keys are the same for all."""
    return "client.toml" if protocol == DEFAULT_PROTOCOL else f"{protocol}.toml"


def adapters_directory() -> Path:
    """The directory of the adapters: inside an installed package, next to the package in a working copy."""
    installed = _PACKAGE / "_data" / "adapters"
    return installed if installed.exists() else _PACKAGE.parent / "adapters"


def shipped() -> dict[str, Adapter]:
    """The adapters that ship with the suite, by name."""
    found = [load_adapter(file) for file in sorted(adapters_directory().glob("*/adapter.toml"))]
    return {adapter.name: adapter for adapter in found}


def load_adapter(file: Path) -> Adapter:
    """Read an ``adapter.toml``. Raises :class:`AdapterError`."""
    try:
        reported = parse_toml(read_text(file))
    except OSError as error:
        raise AdapterError(f"{file}: {error.strerror or error}") from None
    except ValueError as error:
        raise AdapterError(f"{file}: {error}") from None
    for key in ("name", "title", "language"):
        if not isinstance(reported.get(key), str) or not reported[key]:
            raise AdapterError(f"{file}: expected {key} to be a text but got {reported.get(key)!r}")
    if not NAME.fullmatch(reported["name"]):  # files are named after it
        raise AdapterError(f"{file}: expected a name of letters, digits, '.', '_' and '-' but got {reported['name']!r}")
    sources = reported.get("sources", [])
    if not isinstance(sources, list) or not all(isinstance(pattern, str) for pattern in sources):
        raise AdapterError(f"{file}: expected sources to be a list of texts but got {sources!r}")
    return Adapter(reported["name"], reported["title"], reported["language"], file.parent, tuple(sources))


def builds() -> Path:
    """The directory of all builds: the one that ``CONFORMANCE_ADAPTERS`` names, or one in the user's cache."""
    return cache_directory("adapters", VARIABLE)


def build_directory(adapter: Adapter, root: Path | None = None) -> Path:
    """The directory of an adapter's build: its name, and a digest of its files and of the places that it is bound to.

    A program that is built or started with this interpreter, with the jars of pyspark, or in its source directory,
    works with these alone.
    """
    made = hashlib.sha256()
    for file in adapter.files:
        made.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    for file in (
        adapter.here / name for name in ("adapter.toml", *map(client_file, (*protocol_names(), QUERY_RESULTS)))
    ):
        if file.is_file():
            made.update(json.dumps(_places(parse_toml(read_text(file)), adapter)).encode())
    return (root or builds()).absolute() / f"{adapter.name}-{made.hexdigest()[:12]}"


def pyspark_jars() -> str | None:
    """The directory of the jars of pyspark, if it is installed."""
    found = importlib.util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        return None
    return str(Path(found.submodule_search_locations[0]) / "jars")


def _places(reported: dict[str, Any], adapter: Adapter) -> list[str | None]:
    """The places of this machine that the build or the command contains; the build reads ``{here}``, and leaves it."""
    command, both = str(reported.get("command")), str([reported.get("command"), reported.get("build")])
    here = str(adapter.here.resolve()) if "{here}" in command else None
    # An environment has several names of its interpreter, and a script may be started by another one than `-m`.
    python = str(Path(sys.executable).parent) if "{python}" in both else None
    return [here, python, pyspark_jars() if "{pyspark_jars}" in both else None]


def ready_command(adapter: Adapter) -> list[str]:
    """The command that starts the adapter.

    Raises:
        Unavailable: It has not been built here, or one of its files changed after the build.
    """
    record = build_directory(adapter) / RECORD
    try:
        return [str(part) for part in json.loads(record.read_text(encoding="utf-8"))["command"]]
    except (OSError, ValueError, KeyError, TypeError):
        hint = f"run {_builder(adapter)}, which says what is missing"
        raise Unavailable(f"not built in {record.parent.parent}: {hint}") from None


def ready_version(adapter: Adapter) -> str:
    """The version of the library behind a built adapter; empty if it is not built here."""
    try:
        record = (build_directory(adapter) / RECORD).read_text(encoding="utf-8")
        return str(json.loads(record)["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _builder(adapter: Adapter) -> str:
    """The command that builds the adapter; for an installed package it has to name the package's directory."""
    command = f"python -m adapters {adapter.name}"
    if _PACKAGE not in adapter.here.parents:
        return command
    return f"PYTHONPATH={shlex.quote(str(adapter.here.parents[1]))} {command}"
