"""The content of an ``adapter.toml`` or ``client.toml``, checked, and the values of its placeholders here."""

from __future__ import annotations

import dataclasses
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

from conformance.readers.ipc.adapters import Adapter, pyspark_jars

__all__ = ["AdapterSpec", "SpecError", "placeholders", "shipped"]

HERE: Final = Path(__file__).parent

_LISTS: Final = ("sources", "build", "command", "needs")
_TEXTS: Final = ("name", "title", "language")
_FILES: Final = ("adapter.toml", "client.toml", "flight.toml", "query-results.toml")
"""The kinds of program: one reads and writes Arrow IPC data, the others read with a client of BigQuery or of Flight.
The last asks for the results of queries in Arrow.
"""
_OF_READERS: Final = ("package", "paths", "tls", "patience")
"""The keys of a ``client.toml`` that say what the program can read; ``conformance.readers.programs`` checks them."""


class SpecError(Exception):
    """An ``adapter.toml`` has missing, unknown or wrong entries; the text names them."""


@dataclasses.dataclass(frozen=True, slots=True)
class AdapterSpec:
    """One adapter or client.

    ``sources`` are patterns, relative to the adapter's directory ``here``, of files that are copied side by side
    into the cache before ``build`` runs there. ``build`` and ``command`` are argument lists, in which ``{here}``,
    ``{cache}``, ``{python}`` and ``{pyspark_jars}`` are replaced. ``needs`` are ``program`` or ``program>=version``.
    """

    name: str
    title: str
    language: str
    here: Path
    sources: tuple[str, ...]
    build: tuple[str, ...]
    command: tuple[str, ...]
    needs: tuple[str, ...]

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read a ``*.toml`` of a program; raises :class:`SpecError` with the key and its expected value."""
        try:
            held = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise SpecError(f"{file}: {error}") from error
        if file.name != _FILES[0]:
            for key in _OF_READERS:
                held.pop(key, None)
        unknown = sorted(held.keys() - {*_TEXTS, *_LISTS})
        if unknown:
            raise SpecError(f"{file}: expected only {', '.join([*_TEXTS, *_LISTS])} but got {', '.join(unknown)}")
        name, title, language = (_text(file, held, key) for key in _TEXTS)
        sources, build, command, needs = (_list(file, held, key) for key in _LISTS)
        if not command:
            raise SpecError(f"{file}: expected command to name a program but got an empty list")
        return cls(name, title, language, file.parent.resolve(), sources, build, command, needs)

    @property
    def adapter(self) -> Adapter:
        """The same adapter as the suite sees it."""
        return Adapter(self.name, self.title, self.language, self.here, self.sources)

    def files(self) -> list[Path]:
        """The files that are copied into the cache; raises :class:`SpecError` if a pattern matches none."""
        found: list[Path] = []
        for pattern in self.sources:
            base, _, name = pattern.rpartition("/")
            matching = sorted((self.here / base).glob(name))
            if not matching:
                raise SpecError(f"{self.here}: no file matches {pattern}")
            found += matching
        return found


def shipped(*kinds: str) -> dict[str, AdapterSpec]:
    """The programs of this directory whose file has one of these names (any kind if none is given), by name."""
    specs = [AdapterSpec.load(file) for kind in kinds or _FILES for file in sorted(HERE.glob(f"*/{kind}"))]
    return {spec.name: spec for spec in specs}


def placeholders(spec: AdapterSpec, cache: Path) -> dict[str, str]:
    """The value of each placeholder; ``pyspark_jars`` is present only if pyspark is installed."""
    values = {"here": str(spec.here), "cache": str(cache), "python": sys.executable}
    jars = pyspark_jars()
    return values if jars is None else {**values, "pyspark_jars": jars}


def _text(file: Path, held: Mapping[str, Any], key: str) -> str:
    value = held.get(key)
    if not isinstance(value, str) or not value:
        raise SpecError(f"{file}: expected {key} to be a text but got {value!r}")
    return value


def _list(file: Path, held: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = held.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SpecError(f"{file}: expected {key} to be a list of texts but got {value!r}")
    return tuple(value)
