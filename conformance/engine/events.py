"""The events of a run, in the order in which they happen; every report is made from them and from nothing else.

A log is ``RunStarted``, then per case ``CaseJudged`` (perhaps between ``SuiteBroke`` and ``CounterexampleSaved``, and
behind ``ExchangeRecorded``), then ``RunEnded``. A log without its end is a run that was cut short, and reports say so.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Final, TypeAlias

from conformance.contain.text import keep_safe, safe_lines
from conformance.engine.selection import LeftOut
from conformance.records import Case, Exchange, Finding, RecordError, Verdict
from conformance.targets.spec import ExpectedFailure

__all__ = [
    "EVENTS",
    "READ_PROFILE",
    "WRITE_PROFILE",
    "CaseJudged",
    "CounterexampleSaved",
    "Event",
    "Evidence",
    "ExchangeRecorded",
    "Line",
    "RunEnded",
    "RunStarted",
    "SuiteBroke",
]


READ_PROFILE: Final = "ipc-read"
"""A run in which a reader was judged."""
WRITE_PROFILE: Final = "ipc-write"
"""A run in which a writer was judged."""


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One annotated line of a message: where, which bytes, which field, what they mean; ``marked`` ones err."""

    offset: int
    hex: str
    field: str
    meaning: str
    marked: bool = False

    def __post_init__(self) -> None:
        keep_safe(self, "field", "meaning")

    def __str__(self) -> str:
        field = f"{self.field}: " if self.field.strip() else ""
        return f"{'>' if self.marked else ' '} 0x{self.offset:04x}  {self.hex:<25}  {field}{self.meaning}".rstrip()


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """The bytes around one finding, annotated; ``of`` says which message they are from."""

    finding: Finding
    of: str
    lines: tuple[Line, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class RunStarted:
    """What was asked for, of whom, with which versions: enough to repeat the run to the letter.

    ``target_file`` is the path as the user gave it. ``cases`` and ``clauses`` are the ids that were chosen;
    ``left_out`` says what was not, and why. ``all_cases`` and ``all_clauses`` count what there was to choose from.
    ``deadline_multiplier`` stretches every deadline of the run. ``shard`` is ``I/N`` where the run is a part of one;
    ``generated`` then counts what all the parts generate together.
    ``format`` is the version of the form of the log, :data:`conformance.records.FORMAT` at the time.
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

    def __post_init__(self) -> None:
        keep_safe(self, "target", "target_file", "profile", "select", "clause")


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
        if self.exchange.protocol is not self.case.protocol:
            raise RecordError("exchange.protocol", f"{self.case.protocol}, as the case has it", self.exchange.protocol)
        for index, call in enumerate(self.exchange.calls if self.exchange.driven else ()):
            if not 0 <= call.step < steps:
                raise RecordError(f"exchange.calls[{index}].step", f"one of the case's {steps} steps", call.step)


@dataclasses.dataclass(frozen=True, slots=True)
class CaseJudged:
    """One case is done: its verdicts, before expected failures are taken into account.

    ``replay`` is what ``conformance replay`` takes: the id of a corpus case, the path of a saved one.
    ``calls`` and ``received`` (bytes) say how much was seen; ``seconds`` is driving and judging together.
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

    def __post_init__(self) -> None:
        keep_safe(self, "title", "replay")


@dataclasses.dataclass(frozen=True, slots=True)
class SuiteBroke:
    """The suite raised while it worked on a case: its own defect, never the target's."""

    TAG: ClassVar[str] = "suite-broke"

    case_id: str
    traceback: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "traceback", safe_lines(self.traceback))


@dataclasses.dataclass(frozen=True, slots=True)
class CounterexampleSaved:
    """A smaller case that fails ``clause`` for the same ``reason`` class as ``case_id`` did was written to ``file``.

    ``tries`` counts the cases that were put to the target on the way.
    """

    TAG: ClassVar[str] = "counterexample-saved"

    case_id: str
    clause: str
    reason: str
    file: str
    tries: int


@dataclasses.dataclass(frozen=True, slots=True)
class RunEnded:
    """The run reached its end after ``seconds``; ``remarks`` are about the target as a whole, and no verdicts."""

    TAG: ClassVar[str] = "run-ended"

    seconds: float
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keep_safe(self, "remarks")


Event: TypeAlias = RunStarted | CaseJudged | ExchangeRecorded | SuiteBroke | CounterexampleSaved | RunEnded

EVENTS: tuple[type, ...] = (RunStarted, CaseJudged, ExchangeRecorded, SuiteBroke, CounterexampleSaved, RunEnded)
"""Every kind of event, for readers of a log."""
