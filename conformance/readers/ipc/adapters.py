"""Programs that drive a library of another language: which there are, and how one that was built is started.

A directory of ``adapters/`` that holds an ``adapter.toml`` with ``name``, ``title`` and ``language`` is an adapter.
``python -m adapters`` builds them, and leaves a record beside each program that it built, with the command that
starts it; this module only reads both.
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

__all__ = ["Adapter", "AdapterError", "adapters_directory", "load_adapter", "ready_command", "shipped"]

CACHE: Final = Path(".conformance") / "adapters"
"""Where adapters are built, below the current directory, unless ``CONFORMANCE_ADAPTERS`` names another place."""
RECORD: Final = "built.json"

_PACKAGE: Final = Path(conformance.__file__).parent


class AdapterError(ValueError):
    """An ``adapter.toml`` is wrong: the text says where, what was expected and what stood there."""


@dataclasses.dataclass(frozen=True, slots=True)
class Adapter:
    """A program as its ``adapter.toml`` names it; ``here`` is the file's directory.

    ``sources`` are patterns, relative to ``here``, of further files that it is built from; adapters may share some.
    """

    name: str
    title: str
    language: str
    here: Path
    sources: tuple[str, ...] = ()

    @property
    def files(self) -> list[Path]:
        """Every file that a change of makes an earlier build another program than this."""
        parts = (pattern.rpartition("/") for pattern in self.sources)
        named = [file for base, _, name in parts for file in (self.here / base).glob(name)]
        return sorted({file.resolve() for file in (*self.here.iterdir(), *named) if file.is_file()})


def adapters_directory() -> Path:
    """The directory of the adapters: inside an installed package, beside it in a working copy."""
    installed = _PACKAGE / "_data" / "adapters"
    return installed if installed.exists() else _PACKAGE.parent / "adapters"


def shipped() -> dict[str, Adapter]:
    """The adapters that ship with the suite, by name."""
    found = [load_adapter(file) for file in sorted(adapters_directory().glob("*/adapter.toml"))]
    return {adapter.name: adapter for adapter in found}


def load_adapter(file: Path) -> Adapter:
    """Read the names in an ``adapter.toml``. Raises :class:`AdapterError`."""
    try:
        reported: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
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
        Unavailable: It has not been built here, or was built before a file of it changed.
    """
    record = Path(os.environ.get("CONFORMANCE_ADAPTERS", CACHE)).absolute() / adapter.name / RECORD
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


def _builder(adapter: Adapter) -> str:
    """The command that builds the adapter: inside an installed package, its directory has to be named."""
    command = f"python -m adapters {adapter.name}"
    if _PACKAGE not in adapter.here.parents:
        return command
    return f"PYTHONPATH={shlex.quote(str(adapter.here.parents[1]))} {command}"
