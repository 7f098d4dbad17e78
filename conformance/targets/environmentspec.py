"""The content of ``[environment]`` in a target file: what ``conformance prepare`` installs for the target.

This module decides which keys exist and which values they take; :mod:`.installing` installs.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance.records import RecordError
from conformance.targets.ranges import DAY, LEAST, check_range

__all__ = ["PLACEHOLDERS", "CopiedFile", "EnvironmentSpec", "check_placeholder", "is_path", "listed", "summary"]

PLACEHOLDERS: Final = {
    "env_bin": "the directory of executables made from [environment]",
    "node_modules": "the directory of the packages of [environment] npm",
    "jars": "the directory of the jars of [environment] maven",
    "classpath": "the class path of [environment] maven and java",
}
"""The names in braces that need an ``[environment]``."""

_MADE_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "node_modules": ("npm",),
    "jars": ("maven",),
    "classpath": ("maven", "java"),
}
"""The keys of which one has to be there for a placeholder; ``env_bin`` is there with each."""

_PATH: Final = r"(?:\.{1,2}|(?:\.{1,2})?/[^\0]*)"
_ENTRIES: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    name: (re.compile(pattern), wanted)
    for name, pattern, wanted in (
        ("interpreter", r"|3\.\d{1,2}(?:\.\d{1,2})?", 'a version of Python such as "3.13"'),
        ("python", r"[^-\0][^\0\n]*", 'requirements such as "duckdb==1.4.0", or paths such as "./server"'),
        ("constraints", r"[^-\0][^\0\n]*", 'requirements such as "duckdb==1.4.0"'),
        (
            "npm",
            rf"{_PATH}|(?:@[\w.-]+/)?[\w.][\w.-]*@[^\s\0]+",
            'packages as "name@version", or paths like "./server"',
        ),
        ("go", rf"{_PATH}|[^-\s\0][^\s\0]*@[^\s\0]+", '"module@version", or paths such as "./server"'),
        ("maven", r"[\w.][\w.-]*:[\w.-]+:[\w.+-]+(?::[\w.-]+)?", '"group:artifact:version" or with ":classifier"'),
        ("java", _PATH, 'paths of folders such as "./src"'),
        ("crate", rf"{_PATH}|[\w][\w-]*@[^\s\0]+", '"name@version", or paths such as "./server"'),
    )
}
"""What an entry of each key looks like: none may be an option of the program that installs it."""


@dataclasses.dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file to copy: ``source`` is relative to the environment's site-packages, ``target`` to ``{home}``."""

    source: str
    target: str


@dataclasses.dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """The environment of a target, which ``prepare`` creates in a directory of its own.

    ``python`` are pinned requirements for a virtual environment; ``constraints`` pin their dependencies, and
    ``interpreter`` is the version of its Python, by default that of the suite.
    ``npm`` are ``name@version`` of packages; their scripts run only with ``npm_scripts``.
    ``go`` are ``module@version`` of commands, ``crate`` ``name@version`` of crates with executables.
    ``maven`` are ``group:artifact:version`` of jars, which come with what they need. ``java`` are folders of sources.
    Each entry of ``python``, ``npm``, ``go`` and ``crate`` may be a path too: a folder, relative to the TOML file.
    ``copy`` files are put under ``{home}``. ``platforms`` (``linux-x86_64`` …) are those on which it can run; none
    means all. ``deadline`` limits the installation, in seconds.
    """

    interpreter: str = ""
    python: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    npm_scripts: bool = False
    go: tuple[str, ...] = ()
    maven: tuple[str, ...] = ()
    java: tuple[str, ...] = ()
    crate: tuple[str, ...] = ()
    copy: tuple[CopiedFile, ...] = ()
    platforms: tuple[str, ...] = ()
    deadline: float = 900.0

    def __post_init__(self) -> None:
        check_range("target.environment.deadline", self.deadline, LEAST, DAY, "seconds")
        for name, (pattern, wanted) in _ENTRIES.items():
            value = getattr(self, name)
            for entry in (value,) if isinstance(value, str) else value:
                if not pattern.fullmatch(entry):
                    raise RecordError(f"target.environment.{name}", wanted, entry)


def is_path(entry: str) -> bool:
    """True if an entry is a path of a folder: it begins with ``./``, ``../`` or ``/``, or is ``.`` or ``..``."""
    return entry in {".", ".."} or entry.startswith(("./", "../", "/"))


def check_placeholder(where: str, name: str, wanted: EnvironmentSpec | None) -> None:
    """Raise :class:`RecordError` where ``{name}`` is used and nothing in ``[environment]`` makes it."""
    if name not in PLACEHOLDERS:
        return
    makers = _MADE_BY.get(name, ())
    if wanted is None or (makers and not any(getattr(wanted, maker) for maker in makers)):
        needs = f" with {' or '.join(makers)}" if makers else ""
        raise RecordError(where, f"an [environment]{needs} where {{{name}}} is used", "none")


def listed(wanted: EnvironmentSpec) -> Iterable[tuple[str, Sequence[object]]]:
    """The lists of ``[environment]``, in which each entry may occur only once."""
    yield "target.environment.copy", [copied.target for copied in wanted.copy]
    for field in dataclasses.fields(wanted):
        value = getattr(wanted, field.name)
        if isinstance(value, tuple) and field.name != "copy":
            yield f"target.environment.{field.name}", value


def summary(wanted: EnvironmentSpec) -> str:
    """What would be installed, in one line: ``Python 3.13, 2 Python packages, 1 Go command``."""
    return ", ".join(_parts(wanted)) or "nothing"


def _parts(wanted: EnvironmentSpec) -> Iterator[str]:
    if wanted.interpreter:
        yield f"Python {wanted.interpreter}"
    for name, noun in (
        ("python", "Python package"),
        ("npm", "npm package"),
        ("go", "Go command"),
        ("maven", "Maven package"),
        ("java", "folder of Java sources"),
        ("crate", "crate"),
    ):
        if entries := getattr(wanted, name):
            yield f"{len(entries)} {noun if len(entries) == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    first, of, rest = noun.partition(" of ")
    return f"{first}s{of}{rest}"
