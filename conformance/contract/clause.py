"""The definition of a clause, and the register of all clauses.

A clause is one requirement. If it reports a violation of wire rules, it is a row of a table
(:mod:`conformance.contract.rules`); else it is a function in a chapter module under :func:`clause`, whose docstring
is the text that ``conformance explain`` prints. The function receives one *subject* at a time (a message, a session,
a read) and yields a :class:`Violation` for each defect of that subject. It returns no verdict: a clause without
subjects in an exchange was not observed, and :mod:`conformance.contract.judge` reports that.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar

from conformance.contract.closed import EvidenceKind, Question
from conformance.contract.sources import Sources, evidence_of
from conformance.protocol import DEFAULT_PROTOCOL, protocol_names
from conformance.records import Level
from conformance.wire import WireRule

if TYPE_CHECKING:
    from conformance.contract.view import View

__all__ = [
    "ANY_BATCH",
    "ANY_MESSAGE",
    "ANY_SERVER",
    "CLAUSES",
    "CLIENTS",
    "CLIENT_BASIS",
    "IPC",
    "MAX_FINDINGS",
    "MESSAGES",
    "OTHER_PROTOCOLS",
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
    "evidence_for",
    "is_binding",
    "load_chapters",
]

OTHER_PROTOCOLS: Final = tuple(name for name in protocol_names() if name != DEFAULT_PROTOCOL)

PROFILES: Final = ("bq-arrow", "ipc-message", "ipc-stream", "ipc-file", "ipc-tensor", "client", *OTHER_PROTOCOLS)
"""The byte profiles: the ways in which bytes are judged. The parts of the service are in :mod:`.offers`.

``bq-arrow``: the messages of a Storage Read server, or of a serializer for one; ``ipc-message``: bare Arrow
messages, one by one, of any writer; ``ipc-stream``, ``ipc-file``, ``ipc-tensor``: a whole IPC stream, IPC file or
tensor message; ``client``: no bytes, but what a client makes of a server. The profile of the servers of each other
protocol has the name of the protocol.
"""

MESSAGES: Final = PROFILES[:2]
"""The profiles of messages that are judged one by one, each in bytes of its own."""
IPC: Final = PROFILES[2:5]
"""The profiles of whole streams, files and tensors."""
SEQUENCES: Final = PROFILES[2:4]
"""The profiles of sequences of batches: a bare stream, and the stream inside a file."""
CLIENTS: Final = PROFILES[5:6]
"""The profile of clauses on clients."""
ANY_SERVER: Final = PROFILES[:1] + OTHER_PROTOCOLS
"""The profiles of clauses on every call, whatever its protocol."""
ANY_MESSAGE: Final = PROFILES[:5]
"""The profiles of rules of the Arrow format about any message: they bind every writer."""
ANY_BATCH: Final = PROFILES[:4]
"""The profiles of rules of the Arrow format about schemas and batches, wherever these occur."""

MAX_FINDINGS: Final = 20
"""The most findings kept per clause and case: more repetitions of one fault would add nothing. Beyond them, the first
finding of each further call is kept, because it may explain what another clause says of that call.
"""


class Role(enum.StrEnum):
    """The party that a clause binds."""

    BYTES = "bytes"
    """The bytes, whichever program wrote them."""
    WRITER = "writer"
    """The writer: readers have to accept such bytes, but the format asks writers for others."""
    READER = "reader"
    """The reader: its result is judged, not the bytes."""
    CLIENT = "client"
    """The client: what it makes of a server is judged."""
    LIBRARY = "library"
    """The library of a server: each application on top of it inherits the fault."""
    APPLICATION = "application"
    """The application on top of such a library, which decides what is stored, and what is answered to whom."""


class Subject(Protocol):
    """The input of a clause; ``call`` and ``response`` give its place in the exchange, if it has one."""

    @property
    def call(self) -> int | None: ...  # noqa: D102  # see the class

    @property
    def response(self) -> int | None: ...  # noqa: D102  # see the class


@dataclasses.dataclass(frozen=True, slots=True)
class AtCall:
    """The base of a subject that belongs to one call and to no single response of it."""

    call: int
    response: ClassVar[int | None] = None


@dataclasses.dataclass(frozen=True, slots=True)
class Violation:
    """A defect that a clause found: the requirement, the observation and the place.

    The judge adds the clause and the subject's place. ``call`` and ``response`` override those of the subject if the
    fault is in one response of a longer read.
    """

    required: str
    observed: str
    field: str = ""
    start: int | None = None
    end: int | None = None
    call: int | None = None
    response: int | None = None


class Aspect(Protocol):
    """A part of an exchange that can be found clean as a whole: its messages, its schemas, its values.

    A selector with an ``aspect`` has subjects in exchanges without server calls too. Any other selector is used only
    if the exchange has server calls.
    """

    def state(self, view: View) -> Hashable | None:
        """Return the contents of the view in this aspect if it is clean; None if the clauses have to check it."""


class AspectSelector(Protocol):
    """A selector of subjects of one aspect."""

    aspect: Aspect

    def shown_by(self, state: Any) -> bool:
        """True if a view with this clean state of the aspect has subjects of this selector."""


S = TypeVar("S", bound=Subject)
Check = Callable[[S], Iterable[Violation]]
Selector = Callable[[Any], Sequence[S]]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """One requirement: permanent id, level, explanation, source, affected software, and the function that checks it.

    ``id`` is dotted: chapter, then the requirement; it is never reused and never renamed.
    ``source`` is the address that states it, ``also`` are addresses of further evidence, and ``evidence`` are the
    kinds of evidence of all of them and of ``breaks``, strongest first.
    ``breaks`` names the public client that fails and how; empty if no such client is known.
    ``over`` selects the subjects from the view of an exchange; ``check`` yields the violations of one subject.
    ``role`` is the party that the clause binds; ``rules`` are the wire rules whose faults the clause reports.
    ``question`` is the question about a reader that the clause answers; None for clauses on anything else.
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
    rules: tuple[WireRule, ...] = ()
    also: tuple[str, ...] = ()
    evidence: tuple[EvidenceKind, ...] = ()
    question: Question | None = None

    @property
    def chapter(self) -> str:
        """The first part of the id."""
        return self.id.partition(".")[0]

    @property
    def evidence_in_words(self) -> str:
        """The kinds of evidence, as reports name them."""
        return ", ".join(kind.words for kind in self.evidence)

    @property
    def fault_of(self) -> str:
        """Whose fault a failure is, for a server that is an application on top of a library; empty for all others."""
        if self.role not in (Role.LIBRARY, Role.APPLICATION):
            return ""
        return f"the {self.role} of the {self.protocol_word} server"

    @property
    def on_bytes(self) -> bool:
        """True if the clause judges messages whichever way they came; else it judges the calls to a server."""
        return getattr(self.over, "aspect", None) is not None

    @property
    def on_messages(self) -> bool:
        """True if the clause binds messages that are judged one by one, such as all those of a Storage Read server."""
        return any(profile in MESSAGES for profile in self.profiles)

    @property
    def protocol_word(self) -> str:
        """The protocol as a word of a sentence."""
        return self.protocol.replace("-", " ").title()

    @property
    def clients_of(self) -> str:
        """The protocol whose clients the clause judges; empty if it judges no clients."""
        return clients_of(self.id) if self.role is Role.CLIENT else ""

    @property
    def protocol(self) -> str:
        """The protocol, if the clause judges servers of one other than Storage Read alone; else empty."""
        return self.profiles[0] if len(self.profiles) == 1 and self.profiles[0] in OTHER_PROTOCOLS else ""


def clients_of(clause: str) -> str:
    """The protocol whose clients the clause of that id judges; the default one for a clause on anything else.

    The chapter on the clients of a protocol is the module ``client`` of its chapters.
    """
    return next((name for name in OTHER_PROTOCOLS if clause.startswith(f"{name}-client.")), DEFAULT_PROTOCOL)


_REGISTER: dict[str, Clause] = {}

CLAUSES: Final[Mapping[str, Clause]] = MappingProxyType(_REGISTER)
"""Every clause by id, in chapter order; complete after :func:`load_chapters`."""


CLIENT_BASIS: Final = re.compile(r"\b[0-9]+\.[0-9]+|from (?:its|their) source|https://")
"""What says how it is known that a client breaks: the version that was run, its source, or a public report."""


def evidence_for(sources: tuple[str, ...], breaks: str) -> tuple[EvidenceKind, ...]:
    """Return the kinds of evidence of a requirement, strongest first.

    Raises:
        ValueError: a source is of no known kind.
    """
    found = {evidence_of(address) for address in sources}
    if CLIENT_BASIS.search(breaks):
        found.add(EvidenceKind.CLIENT)
    return tuple(kind for kind in EvidenceKind if kind in found)


def is_binding(clause_id: str) -> bool:
    """False for a MAY clause: nothing promises what it asks for, so its failure alone fails no run (RFC 2119)."""
    return clause_id not in CLAUSES or CLAUSES[clause_id].level is not Level.MAY


def clause(
    clause_id: str,
    *,
    over: Selector[S],
    source: Sources,
    level: Level = Level.MUST,
    breaks: str = "",
    profiles: tuple[str, ...] = PROFILES[:1],
    role: Role = Role.BYTES,
    rules: tuple[WireRule, ...] = (),
    says: str = "",
    question: Question | None = None,
) -> Callable[[Check[S]], Check[S]]:
    """Register the decorated function as the clause ``clause_id``; its docstring becomes the explanation.

    ``source`` is one address or several: that of the requirement, and those of further evidence. ``says`` is the
    explanation if several clauses share one function. ``rules`` are the wire rules whose faults the function reports.

    Raises:
        ValueError: the id is taken, a profile is unknown, the explanation is missing, or a source is of no known kind.
    """

    def register(check: Check[S]) -> Check[S]:
        explanation = inspect.cleandoc(says or check.__doc__ or "")
        if not explanation:
            raise ValueError(f"clause {clause_id}: expected a docstring that explains it, got none")
        if clause_id in _REGISTER:
            raise ValueError(f"clause {clause_id}: the id is taken; ids are never reused")
        if unknown := set(profiles) - set(PROFILES):
            raise ValueError(f"clause {clause_id}: expected profiles out of {PROFILES}, got {sorted(unknown)}")
        first, *also = sources = (source,) if isinstance(source, str) else source
        _REGISTER[clause_id] = Clause(
            clause_id, level, explanation, str(first), breaks, profiles, over, check, role, rules,
            also=tuple(map(str, also)), evidence=evidence_for(sources, breaks), question=question,
        )  # fmt: skip
        return check

    return register


@functools.cache
def load_chapters() -> None:
    """Import all chapters, so that the register is complete.

    They are the modules of :mod:`conformance.contract.chapters`, and those of the package ``chapters`` in the folder of
    each protocol that has one: there, the module ``NAME`` is the chapter ``PROTOCOL-NAME``, but for the default
    protocol, whose ids are older than the second one. Chapters import the register, and not the reverse. A new chapter
    only has to be put into the folder.
    """
    folders = {name: name.replace("-", "_") for name in protocol_names()}
    words = {"conformance.contract": ""} | {
        f"conformance.protocols.{folder}": "" if name == DEFAULT_PROTOCOL else f"{folder}_"
        for name, folder in folders.items()
    }
    found: list[tuple[str, str]] = []
    for package, word in words.items():
        if importlib.util.find_spec(f"{package}.chapters") is not None:
            place = importlib.import_module(f"{package}.chapters").__path__
            found += ((f"{word}{one.name}", f"{package}.chapters.{one.name}") for one in pkgutil.iter_modules(place))
    for _, module in sorted(found):
        importlib.import_module(module)
