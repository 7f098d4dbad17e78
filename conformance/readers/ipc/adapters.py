"""Find the adapters, which are programs that drive a library of another language, and the commands that start them.

A directory of ``adapters/`` with an ``adapter.toml`` that has ``name``, ``title`` and ``language`` is an adapter.
``python -m adapters`` builds adapters and writes, next to each program, a record with the command that starts it;
this module only reads both.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import tomllib
from pathlib import Path
from typing import Any, Final

import conformance
from conformance.readers.ipc.info import Unavailable

__all__ = ["Adapter", "AdapterError", "adapters_directory", "load_adapter", "ready_command", "ready_version", "shipped"]

CACHE: Final = Path(".conformance") / "adapters"
"""The directory, below the current one, in which adapters are built; ``CONFORMANCE_ADAPTERS`` may name another."""
RECORD: Final = "built.json"

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
        reported: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise AdapterError(f"{file}: {error}") from None
    for key in ("name", "title", "language"):
        if not isinstance(reported.get(key), str) or not reported[key]:
            raise AdapterError(f"{file}: expected {key} to be a text but got {reported.get(key)!r}")
    sources = reported.get("sources", [])
    if not isinstance(sources, list) or not all(isinstance(pattern, str) for pattern in sources):
        raise AdapterError(f"{file}: expected sources to be a list of texts but got {sources!r}")
    return Adapter(reported["name"], reported["title"], reported["language"], file.parent, tuple(sources))


def ready_command(adapter: Adapter) -> list[str]:
    """The command that starts the adapter.

    Raises:
        Unavailable: It has not been built here, or one of its files changed after the build.
    """
    record = _record(adapter)
    try:
        command = json.loads(record.read_text(encoding="utf-8"))["command"]
        built = record.stat().st_mtime
    except (OSError, ValueError, KeyError, TypeError):
        hint = f"run {_builder(adapter)}, which says what is missing"
        raise Unavailable(f"not built in {record.parent}: {hint}") from None
    newer = [file.name for file in adapter.files if file.stat().st_mtime > built]
    if newer:
        raise Unavailable(f"built before {newer[0]} changed: run {_builder(adapter)}")
    return [str(part) for part in command]


def ready_version(adapter: Adapter) -> str:
    """The version of the library behind a built adapter; empty if it is not built here."""
    try:
        return str(json.loads(_record(adapter).read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _record(adapter: Adapter) -> Path:
    """The record that the builder writes last."""
    return Path(os.environ.get("CONFORMANCE_ADAPTERS", CACHE)).absolute() / adapter.name / RECORD


def _builder(adapter: Adapter) -> str:
    """The command that builds the adapter; for an installed package it has to name the package's directory."""
    command = f"python -m adapters {adapter.name}"
    if _PACKAGE not in adapter.here.parents:
        return command
    return f"PYTHONPATH={shlex.quote(str(adapter.here.parents[1]))} {command}"
