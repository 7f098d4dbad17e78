"""What a clause is, and the register of all of them.

A clause is one requirement: a row of a table where it reports what rules of the wire require
(:mod:`conformance.contract.rules`), else a function in a chapter module under :func:`clause`, whose docstring is the
text that ``conformance explain`` prints. It is asked about *subjects* (a message, a session, a read), one at a time,
and yields a :class:`Violation` for each thing that is wrong with the one it got. It never asks for a verdict:
a clause without subjects in an exchange was not observed, and :mod:`conformance.contract.judge` says so.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar

from conformance.records import Level
from conformance.wire import Rule

if TYPE_CHECKING:
    from conformance.contract.view import View

__all__ = [
    "ANY_BATCH",
    "ANY_MESSAGE",
    "CLAUSES",
    "IPC",
    "MAX_FINDINGS",
    "MESSAGES",
    "PROFILES",
    "SEQUENCES",
    "Aspect",
    "AspectSelector",
    "AtCall",
    "Clause",
    "Role",
    "Subject",
    "Violation",
    "clause",
    "load_chapters",
]

PROFILES: Final = ("bq-arrow", "ipc-message", "ipc-stream", "ipc-file", "ipc-tensor")
"""What bytes are judged as.

``bq-arrow``: what a Storage Read server sends, or a serializer for one; ``ipc-message``: bare Arrow messages, one by
one, of any writer; ``ipc-stream``, ``ipc-file``, ``ipc-tensor``: a whole IPC stream, IPC file or tensor message.
"""

MESSAGES: Final = PROFILES[:2]
"""The profiles of messages that are given one by one, each in bytes of its own."""
IPC: Final = PROFILES[2:]
"""The profiles of whole streams, files and tensors."""
SEQUENCES: Final = PROFILES[2:4]
"""The profiles of sequences of batches: a stream by itself, and the one inside a file."""
ANY_MESSAGE: Final = PROFILES
"""The rule is Arrow's own and about any message: every writer is held to it."""
ANY_BATCH: Final = PROFILES[:4]
"""The rule is Arrow's own and about schemas and batches, wherever they stand."""

MAX_FINDINGS: Final = 20
"""Findings kept per clause and case: the twenty-first repetition of one fault teaches nothing."""


class Role(enum.StrEnum):
    """Who is held to a clause."""

    BYTES = "bytes"
    """The bytes, whoever wrote them."""
    WRITER = "writer"
    """Whoever wrote them: the format lets readers meet such bytes, and asks writers for others."""
    READER = "reader"
    """Whoever reads them: what it made of the bytes is judged, not the bytes."""


class Subject(Protocol):
    """What a clause is asked about; ``call`` and ``response`` say where it stands in the exchange, if anywhere."""

    @property
    def call(self) -> int | None: ...  # noqa: D102  # see the class

    @property
    def response(self) -> int | None: ...  # noqa: D102  # see the class


@dataclasses.dataclass(frozen=True, slots=True)
class AtCall:
    """What a clause is asked about that stands at one call, and in no single response of it."""

    call: int
    response: ClassVar[int | None] = None


@dataclasses.dataclass(frozen=True, slots=True)
class Violation:
    """What a clause saw: required, observed, and where. The judge adds the clause and the subject's place.

    ``response`` (and ``call``) override the subject's own where the fault lies in one response of a longer read.
    """

    required: str
    observed: str
    field: str = ""
    start: int | None = None
    end: int | None = None
    call: int | None = None
    response: int | None = None


class Aspect(Protocol):
    """A side of an exchange that can be seen to be clean as a whole: its messages, its schemas, its values.

    A selector with a ``aspect`` finds subjects in exchanges without calls to a server, too; any other is asked only
    where there are such calls.
    """

    def state(self, view: View) -> Hashable | None:
        """What the view shows of this side if nothing is wrong with it; None if clauses have to be asked."""


class AspectSelector(Protocol):
    """A selector of one side of an exchange."""

    aspect: Aspect

    def shown_by(self, state: Any) -> bool:
        """Whether a view in this clean state of the facet has subjects of this selector."""


S = TypeVar("S", bound=Subject)
Check = Callable[[S], Iterable[Violation]]
Selector = Callable[["View"], Sequence[S]]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """One requirement: permanent id, level, explanation, source, who breaks, and the function that checks it.

    ``id`` is dotted: chapter, then what is required; it is never reused and never renamed.
    ``breaks`` names the public client that goes wrong, and how; empty where no client is known to.
    ``over`` selects the subjects from the view of an exchange; ``check`` yields the violations of one of them.
    ``role`` says who is held to it; ``rules`` are those of the wire whose faults it reports.
    """

    id: str
    level: Level
    explanation: str
    source: str
    breaks: str
    profiles: tuple[str, ...]
    over: Selector[Any]
    check: Check[Any]
    role: Role = Role.BYTES
    rules: tuple[Rule, ...] = ()

    @property
    def chapter(self) -> str:
        """The first part of the id."""
        return self.id.partition(".")[0]

    @property
    def on_messages(self) -> bool:
        """Whether messages given one by one are held to it, as all that a Storage Read server sends."""
        return any(profile in MESSAGES for profile in self.profiles)


_REGISTER: dict[str, Clause] = {}

CLAUSES: Final[Mapping[str, Clause]] = MappingProxyType(_REGISTER)
"""Every clause by id, in chapter order; complete after :func:`load_chapters`."""


def clause(
    clause_id: str,
    *,
    over: Selector[S],
    source: str,
    level: Level = Level.MUST,
    breaks: str = "",
    profiles: tuple[str, ...] = PROFILES[:1],
    role: Role = Role.BYTES,
    rules: tuple[Rule, ...] = (),
    says: str = "",
) -> Callable[[Check[S]], Check[S]]:
    """Register the decorated function as the clause ``clause_id``; its docstring becomes the explanation.

    ``says`` is the explanation where several clauses share one function. ``rules`` are those of the wire whose faults
    the function reports.

    Raises:
        ValueError: the id is taken, an unknown profile is named, or there is no explanation.
    """

    def register(check: Check[S]) -> Check[S]:
        explanation = inspect.cleandoc(says or check.__doc__ or "")
        if not explanation:
            raise ValueError(f"clause {clause_id}: expected a docstring that explains it, got none")
        if clause_id in _REGISTER:
            raise ValueError(f"clause {clause_id}: the id is taken; ids are never reused")
        if unknown := set(profiles) - set(PROFILES):
            raise ValueError(f"clause {clause_id}: expected profiles out of {PROFILES}, got {sorted(unknown)}")
        _REGISTER[clause_id] = Clause(clause_id, level, explanation, source, breaks, profiles, over, check, role, rules)
        return check

    return register


@functools.cache
def load_chapters() -> None:
    """Import every module of :mod:`conformance.contract.chapters`, by name, so that the register is complete.

    Chapters know the register, and not the reverse: one that is put into the folder is found there.
    """
    chapters = importlib.import_module("conformance.contract.chapters")
    for module in sorted(info.name for info in pkgutil.iter_modules(chapters.__path__)):
        importlib.import_module(f"{chapters.__name__}.{module}")
