"""One case, from its table to its verdicts: materialise, drive, read, judge, refine; what every run does with a case.

Whoever works on many cases decides in which order, and in which threads, they go through these phases.
A fault of the target costs its case. A fault of the suite costs its case too, and is an *error*, never a pass.
What raises in the judge costs what needs it: a clause its verdict, readings the clauses on them.
"""

from __future__ import annotations

import enum
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.judge import Judge, Judged
from conformance.contract.raised import attempt, raise_or_give
from conformance.contract.view import View
from conformance.engine.outcomes import BROKE, refine, whole_case
from conformance.generate import materialise
from conformance.readers.compare import reported
from conformance.readers.held import held_tables
from conformance.records import Case, Exchange, Outcome, Reading, Verdict
from conformance.targets import TargetError

__all__ = ["Agreement", "CaseStep", "CaseWork", "Driver", "Phase", "Reader"]


class Driver(Protocol):
    """A target that is ready to be asked; :func:`conformance.targets.open_target` gives one."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed about the target beside its cases."""
        ...

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the target and record everything; what the target does wrong is in the exchange."""
        ...


class Reader(Protocol):
    """Reads exchanges with independent decoders; :class:`conformance.readers.ReaderPool` is one."""

    def read(self, case: Case, exchange: Exchange) -> list[Reading]:
        """The readings of every whole read in ``exchange``; never raises for what a decoder does."""
        ...


class Agreement(Protocol):
    """What sees without a reader that all readings are the rows that the bytes hold."""

    def prepare(self, view: View) -> None:
        """Do beforehand what :meth:`agree` needs of a view, which takes it most of its time."""
        ...

    def agree(self, view: View) -> Sequence[Reading] | None:
        """Those readings, or None where the readers have to read."""
        ...


class Phase(enum.IntEnum):
    """How far a case has come; before the first of them it is only drawn."""

    MADE = 1
    """Its table is there."""
    DRIVEN = 2
    """The target has answered, and is not needed any more."""
    PARSED = 3
    READ = 4
    JUDGED = 5


class CaseWork:
    """A case that is being worked on, and what there is of it so far; ``judged`` ends it.

    ``error`` is what was raised where that was its end. ``broke`` are the tracebacks of what the suite did wrong,
    ``seconds`` what it took to come to each phase.
    """

    __slots__ = ("broke", "case", "error", "exchange", "judged", "phase", "seconds", "table", "view")

    def __init__(self, case: Case) -> None:
        self.case = case
        self.table: pa.Table | None = None
        self.exchange: Exchange | None = None
        self.view: View | None = None
        self.judged: Judged | None = None
        self.error: Exception | None = None
        self.broke: list[str] = []
        self.phase = 0
        self.seconds = [0.0] * (len(Phase) + 1)

    def end(self, outcome: Outcome, reason: str) -> None:
        """Give the case as a whole this outcome, whatever else is known of it."""
        self.judged = Judged((), (whole_case(self.case, outcome, reason),))

    def attempt(self, part: Callable[[CaseWork], None]) -> None:
        """Do a part of the work; what it raises ends the case."""
        try:
            part(self)
        except TargetError as error:
            self.error = error
            self.end(Outcome.CRASH, str(error))
        except Exception as error:  # noqa: BLE001  # whatever the suite does wrong on one case costs that case only
            self.error = error
            self.broke.append("".join(traceback.format_exception(error)))
            self.end(Outcome.ERROR, f"{BROKE}: {type(error).__name__}: {error}")


class CaseStep:
    """Takes cases to verdicts under ``clauses``; keeps nothing of a case, and may be called from several threads.

    ``driver`` is the target, ``reader`` reads what it answers, where there is one. ``agreement`` may spare the reader
    the decoding.
    """

    def __init__(
        self,
        clauses: Iterable[Clause],
        driver: Driver,
        reader: Reader | None = None,
        agreement: Agreement | None = None,
    ) -> None:
        self.judge: Final = Judge(clauses)
        self.driver: Final = driver
        self.reader: Final = reader
        self._agreement = agreement
        self._parts: Sequence[Callable[[CaseWork], None]] = (
            self._make,
            self._drive,
            self._parse,
            self._read,
            self._judge,
        )

    def take(self, work: CaseWork, to: Phase = Phase.JUDGED) -> CaseWork:
        """Take a case up to a phase, or to its early end, and give it back; never raises for what the case is."""
        while work.phase < to and work.judged is None:
            began = time.monotonic()
            work.attempt(self._parts[work.phase])
            work.phase += 1
            work.seconds[work.phase] = time.monotonic() - began
        return work

    def verdicts(self, work: CaseWork) -> tuple[Verdict, ...]:
        """The verdicts on a case that has come to its end, in the order of the clauses."""
        return () if work.judged is None else tuple(self.judge.in_order(work.case, work.judged))

    # --- the phases ---------------------------------------------------------------------------------

    def _make(self, work: CaseWork) -> None:
        work.table = materialise(work.case.table)

    def _drive(self, work: CaseWork) -> None:
        work.exchange = self.driver.drive(work.case, work.table)

    def _parse(self, work: CaseWork) -> None:
        assert work.exchange is not None
        work.view = View(work.case, work.exchange, work.table)
        if self._agreement is not None and not work.exchange.untestable:
            self._agreement.prepare(work.view)

    def _read(self, work: CaseWork) -> None:
        """The readings, which are compared when a clause asks for them."""
        view, reader = work.view, self.reader
        assert view is not None
        if reader is None or view.exchange.untestable:
            return
        agreed = None if self._agreement is None else self._agreement.agree(view)
        if agreed is not None:
            view.compare_readings(lambda: agreed)
            return
        readings = attempt(lambda: reader.read(view.case, view.exchange))
        view.compare_readings(lambda: reported(raise_or_give(readings), held_tables(view)))

    def _judge(self, work: CaseWork) -> None:
        """The verdicts, with what is known of how the calls ended."""
        view = work.view
        assert view is not None
        judged = self.judge(view)
        work.broke += view.broke
        if untestable := view.exchange.untestable:
            others = judged.others or (whole_case(work.case, Outcome.UNTESTABLE, untestable),)
        else:
            passed = bool(judged.passed)
            others = tuple(refine(work.case, view.exchange, judged.others, view.reason_not_judged, passed=passed))
        work.judged = Judged(judged.passed, others)
