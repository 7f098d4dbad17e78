"""The records of a truth pack: exchanges with references, facts of runs, confirmations, and what follows from them.

Each has a JSON form (:mod:`conformance._codec`). ``docs/truth.md`` shows the files.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Final

from conformance._codec import Json, RecordError
from conformance.contain.text import keep_safe
from conformance.records import CallEnd, Case, Level
from conformance.records.base import record
from conformance.records.times import keep_seconds

__all__ = [
    "FORMAT",
    "Aside",
    "AsideKind",
    "ClauseAnswer",
    "ClauseTruth",
    "Confirmation",
    "Confirmations",
    "Facts",
    "ServiceAnswer",
    "TruthCall",
    "TruthEntry",
    "TruthExchange",
    "TruthFindings",
    "TruthStanding",
]

FORMAT: Final = 1
"""The version of the form of a pack; a pack of a later version is refused."""


@record
class TruthCall:
    """A call whose messages are plain values with references; see :class:`conformance.records.Call` for the rest.

    Metadata and times of the call are left out: no clause reads them, and they differ from run to run.
    """

    step: int
    label: str
    method: str
    request: Json
    responses: tuple[Json, ...] = ()
    status: str = "OK"
    details: str = ""
    end: CallEnd = CallEnd.COMPLETE


@record
class TruthExchange:
    """An exchange with references in place of everything that differs from run to run.

    ``project``, ``dataset`` and ``table`` are references too. ``times`` gives each reference to an instant in minutes
    from the beginning of the exchange: ``{"<time:1>": "+360 min"}``.
    """

    case: Case
    calls: tuple[TruthCall, ...]
    project: str = ""
    dataset: str = ""
    table: str = ""
    skipped_steps: tuple[int, ...] = ()
    times: Mapping[str, str] = dataclasses.field(default_factory=dict)


class AsideKind(enum.StrEnum):
    """Why a recording has no exchange of a case."""

    UNSETTLED = "unsettled"
    """No other recording agrees with it."""
    INDETERMINATE = "indeterminate"
    """The recording does not show what the service does: a timeout, throttling, a transport fault,
    a case that was not asked to its end."""


@record
class Aside:
    """A case that is put aside, and why."""

    kind: AsideKind
    reason: str

    def __post_init__(self) -> None:
        keep_safe(self, "reason")


@record
class TruthEntry:
    """One case of a recording: its exchange, or why it is put aside. A line of the file."""

    case_id: str
    exchange: TruthExchange | None = None
    aside: Aside | None = None

    def __post_init__(self) -> None:
        if (self.exchange is None) == (self.aside is None):
            raise RecordError("entry", "an exchange, or why there is none", self.case_id)
        if self.exchange is not None and self.exchange.case.id != self.case_id:
            raise RecordError("entry.case_id", repr(self.exchange.case.id), self.case_id)


@record
class Facts:
    """The facts of a recorded run.

    ``began`` is in UTC, ``received`` counts bytes of responses, ``cost`` is what the maker of the pack says that the
    run cost. ``service`` is true if the endpoint of the run was that of the service itself.
    """

    began: str
    region: str
    suite: str
    commit: str
    target: str
    service: bool
    seconds: float
    received: int
    cost: str = ""
    modified: bool = False

    def __post_init__(self) -> None:
        keep_seconds(self, "seconds")
        keep_safe(self, "began", "region", "suite", "commit", "target", "cost")

    @property
    def date(self) -> str:
        """The day of the run."""
        return self.began[:10]


@record
class Confirmation:
    """A recorded run that confirms answers: the name of its recording, its facts, and the digest of what it shows."""

    recording: str
    facts: Facts
    sha256: str


@record
class Confirmations:
    """``confirmations.json``: one confirmation for each recording."""

    format: int
    confirmations: tuple[Confirmation, ...]


@record
class ServiceAnswer:
    """What the service did for a case: in which regions, from the first to the last day, in which recordings.

    ``replaced`` is the first day of a later answer of the same regions, if there is one: the service has changed.
    """

    case_id: str
    regions: tuple[str, ...]
    first: str
    last: str
    recordings: tuple[str, ...]
    replaced: str = ""


class TruthStanding(enum.StrEnum):
    """What a pack says of a clause, those first that need work first."""

    CONTRADICTED = "contradicted"
    """The service does otherwise: the clause is wrong, or the service has a defect."""
    FAILED = "failed"
    """The recorded target, which is not the service, breaks the clause."""
    NOT_SHOWN = "not shown"
    """No settled case shows it in full."""
    HELD = "held"


@record
class ClauseAnswer:
    """The standing of a clause over the answers of one region; ``replaced`` as in :class:`ServiceAnswer`.

    ``date`` is the last day on which the region showed this, and ``cases`` are those that break the clause.
    """

    region: str
    standing: TruthStanding
    date: str
    cases: tuple[str, ...] = ()
    replaced: str = ""


@record
class ClauseTruth:
    """A clause with every answer of the service; several answers differ by region or by date, and all are permitted.

    ``standing`` is the worst of those that were not replaced.
    """

    id: str
    level: Level
    standing: TruthStanding
    answers: tuple[ClauseAnswer, ...]

    @property
    def date(self) -> str:
        """The oldest day on which a region showed what the clause rests on now."""
        return min((one.date for one in self.answers if not one.replaced), default="")


@record
class TruthFindings:
    """``verdicts.json``: what follows from the recordings; ``conformance truth check`` computes it again.

    ``suite`` is the version that judged. ``unsettled`` and ``indeterminate`` say for each recording which cases are
    put aside, as *recording case: reason*.
    """

    format: int
    suite: str
    service: bool
    answers: tuple[ServiceAnswer, ...]
    clauses: tuple[ClauseTruth, ...]
    unsettled: tuple[str, ...] = ()
    indeterminate: tuple[str, ...] = ()
