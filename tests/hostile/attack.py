"""An attack: its actor, its effect on the suite, and the required outcome.

An attack is one small function in a module of this package, registered under its id by a decorator of that module.
The module is loaded on both sides: by :mod:`.measure`, which runs the suite, and inside the process that attacks it.
Therefore this module imports the standard library only.
"""

from __future__ import annotations

import dataclasses
import enum
import fnmatch
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

__all__ = ["ATTACKS", "Act", "Attack", "Expected", "Part", "attacks", "by_slug", "register", "slug"]

Act = TypeVar("Act", bound=Callable[..., Any])

MODULES: Final = (
    "servers",
    "wires",
    "rest",
    "lives",
    "announcing",
    "programs",
    "serializers",
    "readers",
    "bytes_",
    "texts",
    "processes",
    "disk",
    "small",
    "surroundings",
    "strangers",
    "folders",
    "unturned",
    "spark",
)
"""The modules of attacks, in the order of the table."""

FINE: Final = frozenset({"pass", "untestable", "dependency-failed"})
"""Outcomes that do not fail a run."""

DEADLINE: Final = 12.0
"""Seconds for one command whose target attacks one case: start, a call's deadline, restart, the next case, the end."""


PATIENT: Final = {"call": 8.0, "case": 10.0}
"""Deadlines for attacks after which nothing hangs: on a busy machine, an honest case may take seconds."""


class Part(enum.StrEnum):
    """Which part of the suite's surroundings attacks; the setup of that name makes the command."""

    SESSION = "session"
    """CreateReadSession of a gRPC server answers for the case that is named after the attack."""
    ROWS = "rows"
    """ReadRows of a gRPC server answers for that case."""
    WIRE = "wire"
    """The bytes of the gRPC connection, while that case is put to the server."""
    REST = "rest"
    """The REST side of a server, for the requests that name that case's table."""
    LIFE = "life"
    """The process of a server: how it starts, what it prints, what it leaves behind."""
    PROGRAM = "program"
    """A program's answer to the request for that case."""
    PROGRAM_LIFE = "program-life"
    """The process of a program."""
    SERIALIZER = "serializer"
    """A Python serializer, for the table of that case."""
    ADAPTER = "adapter"
    """A program that reads Arrow IPC data."""
    BYTES = "bytes"
    """A file that is given to ``conformance check``."""
    COMMAND = "command"
    """Attacks on the command itself: signals, closed streams, full disks, unusable input."""


@dataclasses.dataclass(frozen=True, slots=True)
class Expected:
    """The required outcome of an attack.

    ``outcomes`` are those of which the attacked case has at least one, and ``says`` is a regular expression that the
    case's findings and reasons match; for a command that cannot begin, and for one that judges no case, the expression
    is searched in what it prints.
    ``status`` are the exit statuses that are right, where they do not follow from the outcomes; a negative one is a
    signal.
    ``later`` says that the case after the attacked one has to pass in full.
    """

    outcomes: tuple[str, ...] = ()
    says: str = ""
    status: tuple[int, ...] = ()
    later: bool = True

    @property
    def statuses(self) -> tuple[int, ...]:
        """The exit statuses that are right."""
        fine = FINE.intersection(self.outcomes)
        return self.status or ((1,) if not fine else (0,) if len(fine) == len(self.outcomes) else (0, 1))


@dataclasses.dataclass(frozen=True, slots=True)
class Attack:
    """One attack: ``does`` states it in a sentence; ``act`` carries it out, with the arguments of its part.

    ``deadline`` is how many seconds the suite may take for the command of this attack alone. ``own`` is how many bytes
    the case's own data has, which do not count as memory lost to the attack. ``settings`` go into tables of the file,
    ``options`` to the command, ``steps`` into the case, in YAML. ``slow`` attacks need Spark.
    ``alone`` attacks share their command with no other.
    """

    id: str
    does: str
    part: Part
    act: Callable[..., Any]
    expected: Expected
    deadline: float = DEADLINE
    own: int = 0
    settings: Mapping[str, Mapping[str, object]] = dataclasses.field(default_factory=dict)
    options: tuple[str, ...] = ()
    steps: str = ""
    slow: bool = False
    alone: bool = False

    @property
    def kind(self) -> str:
        """The first part of the id."""
        return self.id.partition(".")[0]


ATTACKS: Final[dict[str, Attack]] = {}
"""Every attack of the modules that were imported, by id."""


def register(name: str, part: Part, expected: Expected, **more: Any) -> Callable[[Act], Act]:
    """Register the decorated function as the attack ``name``; its docstring is what the attack does.

    Raises:
        ValueError: the id is taken, or the function does not say what it does.
    """

    def registered(act: Act) -> Act:
        does = inspect.getdoc(act) or ""
        if not does or name in ATTACKS or slug(name) in map(slug, ATTACKS):
            raise ValueError(f"expected an id of its own and a docstring for the attack {name!r}")
        ATTACKS[name] = Attack(name, does, part, act, expected, **more)
        return act

    return registered


def attacks(globs: Iterable[str] = ()) -> Mapping[str, Attack]:
    """The attacks whose id matches one of ``globs``, all of them without one, in the order of the modules."""
    for module in MODULES:
        importlib.import_module(f"tests.hostile.{module}")
    wanted = tuple(globs) or ("*",)
    return {name: it for name, it in ATTACKS.items() if any(fnmatch.fnmatchcase(name, glob) for glob in wanted)}


def slug(name: str) -> str:
    """An attack's id as a part of names of tables and columns."""
    return re.sub(r"[^a-z0-9]+", "_", name)


def by_slug(text: str, parts: Iterable[Part]) -> Attack | None:
    """The attack of one of ``parts`` whose slug is ``text``."""
    wanted = set(parts)
    return next((it for name, it in ATTACKS.items() if it.part in wanted and slug(name) == text), None)
