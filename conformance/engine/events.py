"""The events of a run, in the order in which they happen; reports are made from nothing else.

A log begins with ``RunStarted``. Each attempt at a case adds one ``CaseJudged``; ``ExchangeRecorded`` and
``SuiteBroke`` may come before it, ``CounterexampleSaved`` after it (or ``SuiteBroke``, if shrinking raised).
``RunEnded`` is last. A log without ``RunEnded`` is from a run that was cut short, and reports say so.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Final, TypeAlias

from conformance.contain.text import keep_safe, safe_lines
from conformance.engine.annotated import Line
from conformance.engine.answers import Answered
from conformance.engine.provenance import UNKNOWN, Provenance
from conformance.engine.selection import LeftOut
from conformance.generate.forms import BASE, EVERY, wanted
from conformance.protocol import DEFAULT_PROTOCOL, protocol_names
from conformance.records import Case, Exchange, Finding, RecordError, Verdict
from conformance.records.times import keep_seconds
from conformance.targets.spec import ExpectedFailure

__all__ = [
    "CLIENT_PROFILE",
    "EVENTS",
    "READ_PROFILE",
    "WRITE_PROFILE",
    "CaseJudged",
    "CaseShape",
    "CounterexampleSaved",
    "Event",
    "Evidence",
    "ExchangeRecorded",
    "Line",
    "Request",
    "RunEnded",
    "RunStarted",
    "SuiteBroke",
]


READ_PROFILE: Final = "ipc-read"
"""The profile of a run that judges a reader."""
WRITE_PROFILE: Final = "ipc-write"
"""The profile of a run that judges a writer."""
CLIENT_PROFILE: Final = "client"
"""The profile of a run that judges a client."""


REFUSAL: Final = 300
"""The most characters kept of the text with which a call was refused."""


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """The bytes around one finding, annotated; ``of`` says which message they are from."""

    finding: Finding
    of: str
    lines: tuple[Line, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class RunStarted:
    """The parameters of a run, its target and the versions: enough to repeat the run exactly.

    ``target_file`` is the path as the user gave it. ``cases`` and ``clauses`` are the ids that were chosen;
    ``left_out`` lists the others with reasons. ``all_cases`` and ``all_clauses`` count everything that could be
    chosen. ``deadline_multiplier`` stretches every deadline of the run. ``shard`` is ``I/N`` if the run is one of N
    shards; ``generated`` and ``scenarios`` then count the drawn cases of all shards together. ``repeat`` is the number
    of attempts at each case. ``decided`` are the indices of ``expectations`` that a narrowed run decides
    (:mod:`conformance.engine.shown`). ``format`` is the version of the log's form,
    :data:`conformance.records.FORMAT` when it was written. ``not_offered`` are the profiles that the target says it
    does not offer. ``capability`` are the globs of ``--capability``. ``reader`` are the readers that were asked for, if
    not those that a run uses unless told otherwise. ``form`` is the form of the cases, drawn ones included
    (:mod:`conformance.generate.forms`).
    """

    TAG: ClassVar[str] = "run-started"

    suite: str
    python: str
    pyarrow: str
    platform: str
    target: str
    target_file: str
    seed: int
    generated: int
    profile: str
    select: tuple[str, ...]
    clause: tuple[str, ...]
    level: str
    readers: bool
    deadline_multiplier: float
    cases: tuple[str, ...]
    clauses: tuple[str, ...]
    all_cases: int
    all_clauses: int
    left_out: tuple[LeftOut, ...] = ()
    expectations: tuple[ExpectedFailure, ...] = ()
    shard: str = ""
    format: int = 1
    not_offered: tuple[str, ...] = ()
    repeat: int = 1
    decided: tuple[int, ...] = ()
    capability: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN
    scenarios: int = 0
    reader: tuple[str, ...] = ()
    form: str = BASE

    @property
    def protocol(self) -> str:
        """The protocol of the target, which decides what cases and clauses there are."""
        return self.profile if self.profile in set(protocol_names()) else DEFAULT_PROTOCOL

    @property
    def other_form(self) -> bool:
        """True if cases are in another form than the base, too."""
        return self.form != BASE

    @property
    def narrowed(self) -> bool:
        """True if the options of the run left cases out; a shard is a part of a run, too."""
        return bool(self.select or self.capability or self.shard) or self.form not in (BASE, EVERY)

    @property
    def drawn(self) -> int:
        """The number of generated cases and scenarios, in all their forms."""
        return (self.generated + self.scenarios) * len(wanted(self.protocol, self.form))

    def __post_init__(self) -> None:
        keep_seconds(self, "deadline_multiplier")
        names = ("reader", "target", "target_file", "profile", "select", "clause", "not_offered", "capability", "form")
        keep_safe(self, *names)


@dataclasses.dataclass(frozen=True, slots=True)
class ExchangeRecorded:
    """Every byte that was exchanged for a case, so that it can be judged again without the target."""

    TAG: ClassVar[str] = "exchange-recorded"

    case: Case
    exchange: Exchange

    def __post_init__(self) -> None:
        steps = len(self.case.steps)
        if self.exchange.case_id != self.case.id:
            raise RecordError("exchange.case_id", f"{self.case.id!r}, the case's id", self.exchange.case_id)
        if self.exchange.protocol != self.case.protocol:
            raise RecordError("exchange.protocol", f"{self.case.protocol}, as the case has it", self.exchange.protocol)
        for index, call in enumerate(self.exchange.calls if self.exchange.driven else ()):
            if not 0 <= call.step < steps:
                raise RecordError(f"exchange.calls[{index}].step", f"one of the case's {steps} steps", call.step)


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """One call of a case: the features that it asked for, and whether it was refused.

    ``call`` is the call's index, ``session`` that of the call that created its session. ``refused`` is the status with
    its text if the step does not permit this status, else empty. ``owed`` says that the step requires the status OK.
    ``restriction`` is the row_restriction of a refused request or of its session, if there is one.
    """

    call: int
    method: str
    asked: tuple[str, ...] = ()
    session: int | None = None
    refused: str = ""
    owed: bool = True
    restriction: str = ""

    def __post_init__(self) -> None:
        keep_safe(self, "asked", "refused", "restriction", limit=REFUSAL)


@dataclasses.dataclass(frozen=True, slots=True)
class CaseShape:
    """The size of a case, and in words what its table has; cases are compared by it."""

    rows: int
    columns: int
    steps: int
    has: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class CaseJudged:
    """An attempt at a case has ended: its verdicts, before expected failures are applied.

    ``replay`` is the argument for ``conformance replay``: the id of a corpus case, or the path of a saved one.
    ``calls`` and ``received`` (bytes) count what was seen; ``seconds`` is the time for driving and judging together.
    ``at`` are the seconds from the first event of the log to this one; 0 in a log of an earlier version.
    ``blocked`` are the clauses that a correct answer shows and that this answer did not show, because something failed,
    or the case could not be put to the target to its end.
    ``attempt`` counts from 1; it is above 1 only if the run puts each case to the target several times.
    ``requests`` are the calls that had to be served and those that were refused wrongly; ``shape`` describes the case.
    Both are missing if no server was asked, and in logs of earlier versions.
    ``meetings`` are the features that meet in each session of a scenario (:mod:`conformance.generate.factors`).
    ``answers`` say what each reader gave, if a clause on readers was chosen.
    ``stopped`` is the reason why the driver stopped before the end of the case (``Exchange.stopped``): that a clause
    does not fail on it says nothing about the target.
    """

    TAG: ClassVar[str] = "case-judged"

    case_id: str
    title: str
    replay: str
    verdicts: tuple[Verdict, ...]
    evidence: tuple[Evidence, ...] = ()
    calls: int = 0
    received: int = 0
    seconds: float = 0.0
    generated: bool = False
    at: float = 0.0
    blocked: tuple[str, ...] = ()
    attempt: int = 1
    requests: tuple[Request, ...] = ()
    shape: CaseShape | None = None
    meetings: tuple[tuple[str, ...], ...] = ()
    answers: tuple[Answered, ...] = ()
    stopped: str = ""

    def __post_init__(self) -> None:
        keep_seconds(self, "seconds", "at")
        keep_safe(self, "title", "replay", "stopped")


@dataclasses.dataclass(frozen=True, slots=True)
class SuiteBroke:
    """The suite raised an exception while it worked on a case: a defect of the suite, never of the target."""

    TAG: ClassVar[str] = "suite-broke"

    case_id: str
    traceback: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "traceback", safe_lines(self.traceback))


@dataclasses.dataclass(frozen=True, slots=True)
class CounterexampleSaved:
    """A smaller case was written to ``file``; it fails ``clause`` with the same reason class ``reason`` as ``case_id``
    did.

    ``tries`` counts the cases that were put to the target while shrinking.
    """

    TAG: ClassVar[str] = "counterexample-saved"

    case_id: str
    clause: str
    reason: str
    file: str
    tries: int


@dataclasses.dataclass(frozen=True, slots=True)
class CauseIsolated:
    """Cases that were drawn from ``case_id`` told which of its options the failure of ``clause`` takes: ``needed``; it
    fails without the ``others``, too. ``tries`` counts the cases; they have no verdicts.
    """

    TAG: ClassVar[str] = "cause-isolated"

    case_id: str
    clause: str
    needed: tuple[str, ...]
    others: tuple[str, ...]
    tries: int

    @property
    def sentence(self) -> str:
        """What the cases told."""
        if not self.needed:
            return f"cases drawn for it fail without {', '.join(self.others)}, too"
        if len(self.needed) == 2:
            return f"cases drawn for it: it takes {' together with '.join(self.needed)}; neither alone fails"
        without = f"; it fails without {', '.join(self.others)}, too" if self.others else ""
        return f"cases drawn for it: of the options of {self.case_id} it takes {' and '.join(self.needed)}{without}"


@dataclasses.dataclass(frozen=True, slots=True)
class RunEnded:
    """The run completed after ``seconds``; ``remarks`` concern the target as a whole and are not verdicts.

    ``digest`` is the SHA-256 digest of the lines of the log before this one. The log's writer adds it, so it does not
    count when events are compared.
    """

    TAG: ClassVar[str] = "run-ended"

    seconds: float
    remarks: tuple[str, ...] = ()
    digest: str = dataclasses.field(default="", compare=False)

    def __post_init__(self) -> None:
        keep_seconds(self, "seconds")
        keep_safe(self, "remarks")


Event: TypeAlias = (
    RunStarted | CaseJudged | ExchangeRecorded | SuiteBroke | CounterexampleSaved | CauseIsolated | RunEnded
)

EVENTS: tuple[type, ...] = (
    RunStarted,
    CaseJudged,
    ExchangeRecorded,
    SuiteBroke,
    CounterexampleSaved,
    CauseIsolated,
    RunEnded,
)
"""Every kind of event; the code that reads a log uses it."""
