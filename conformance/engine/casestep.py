"""Take one case from its table to its verdicts: make the table, drive the target, parse, read, judge.

Every kind of run uses these phases. The caller decides in which order, and in which threads, its cases go through
them.
An error of the target ends its case. An error of the suite ends its case too, with the outcome *error*, never *pass*.
An exception in the judge costs only what needs the result: one clause loses its verdict, or the clauses on readings
lose theirs.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import math
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.judge import Judge, Judged
from conformance.contract.raised import JudgingEnded, attempt, raise_or_give
from conformance.contract.view import View
from conformance.contract.viewing import view_of
from conformance.engine.outcomes import BROKE, refine, whole_case
from conformance.engine.selection import Patterns, all_clauses
from conformance.generate import materialise
from conformance.readers.agreement import reported
from conformance.readers.limits import excused
from conformance.readers.plugin import held_tables
from conformance.records import Case, Exchange, Level, Outcome, Reading, Table, Verdict
from conformance.targets import TargetError
from conformance.targets.spec import extra_seconds

__all__ = ["Agreement", "CaseStep", "CaseWork", "Driver", "Phase", "Reader", "drawn"]


ENDED: Final = "not judged: the run ended while this exchange was judged"


class Driver(Protocol):
    """A target that is ready to be asked; :func:`conformance.targets.open_target` gives one."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Observations about the target that belong to no case."""
        ...

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """Put ``case`` to the target and record everything; errors of the target are in the exchange."""
        ...


class Reader(Protocol):
    """Reads exchanges with independent decoders; :class:`conformance.readers.ReaderPool` is one."""

    def read(self, case: Case, exchange: Exchange) -> list[Reading]:
        """The readings of every read of a full stream in ``exchange``; never raises for an error of a decoder."""
        ...


class Agreement(Protocol):
    """Decides without a reader that every reader would find the rows that the bytes contain."""

    def prepare(self, view: View) -> None:
        """Compute the slow part of :meth:`agree` in advance and keep it in the view."""
        ...

    def agree(self, view: View) -> Sequence[Reading] | None:
        """The readings that all readers would give, or None if the readers have to read."""
        ...


class Phase(enum.IntEnum):
    """The last phase that a case has completed; a case that has completed none has only been drawn."""

    MADE = 1
    """Its table exists."""
    DRIVEN = 2
    """The target has answered and is no longer needed."""
    PARSED = 3
    READ = 4
    JUDGED = 5


class CaseWork:
    """A case in progress, with everything known about it so far; ``judged`` is set when it ends.

    ``error`` is the exception that ended it early, if one did; ``undrawn`` is one that was raised instead of drawing
    the case, and ends it at once. ``broke`` has the tracebacks of the suite's own errors,
    ``seconds`` the duration of each phase.
    """

    __slots__ = ("broke", "case", "error", "exchange", "judged", "phase", "seconds", "table", "view")

    def __init__(self, case: Case, undrawn: Exception | None = None) -> None:
        self.case = case
        self.table: pa.Table | None = None
        self.exchange: Exchange | None = None
        self.view: View | None = None
        self.judged: Judged | None = None
        self.error: Exception | None = None
        self.broke: list[str] = []
        self.phase = 0
        self.seconds = [0.0] * (len(Phase) + 1)
        if undrawn is not None:
            self._break(undrawn)

    def end(self, outcome: Outcome, reason: str) -> None:
        """End the case with one verdict of this outcome for the whole case, and drop what is known of its clauses."""
        self.judged = Judged((), (whole_case(self.case, outcome, reason),))

    def release(self) -> None:
        """Forget the table and what was parsed, which may be large: only verdicts and exchange are still wanted."""
        if self.view is not None:
            self.view.release()
        self.view = self.table = None

    def attempt(self, part: Callable[[CaseWork], None]) -> None:
        """Do a part of the work; an exception in it ends the case."""
        try:
            part(self)
        except TargetError as error:
            self.error = error
            self.end(Outcome.CRASH, str(error))
        except JudgingEnded as ended:
            self.end(Outcome.UNTESTABLE, str(ended))
        except Exception as error:  # noqa: BLE001  # an error of the suite on one case ends that case only
            self._break(error)

    def _break(self, error: Exception) -> None:
        """End the case with an error of the suite."""
        self.error = error
        self.broke.append("".join(traceback.format_exception(error)))
        self.end(Outcome.ERROR, f"{BROKE}: {type(error).__name__}: {error}")


def drawn(case_id: str, draw: Callable[[], Case]) -> CaseWork:
    """The work on the case that ``draw`` returns. If it raises, the work has ended, on a case of that id without
    columns and without steps.
    """
    try:
        return CaseWork(draw())
    except Exception as error:  # noqa: BLE001  # as in CaseWork.attempt: an error of the suite on one case
        return CaseWork(Case(case_id, "A case that could not be drawn", Table((), rows=()), steps=()), error)


class CaseStep:
    """Takes cases to verdicts under ``clauses``. It keeps no state of a case, so several threads may call it.

    ``driver`` is the target. ``reader`` reads the target's answers, if given. ``agreement`` may make that reading
    unnecessary. ``deadline`` is the seconds that judging a case may take, to which large exchanges add; by default
    it may take as long as it does, because then equal exchanges get equal verdicts on every machine.
    """

    def __init__(
        self,
        clauses: Iterable[Clause],
        driver: Driver,
        reader: Reader | None = None,
        agreement: Agreement | None = None,
        *,
        deadline: float = math.inf,
    ) -> None:
        self.judge: Final = Judge(clauses)
        self.driver: Final = driver
        self.reader: Final = reader
        self._agreement = agreement
        self.deadline: Final = deadline
        self._given_up = threading.Event()
        self._parts: Sequence[Callable[[CaseWork], None]] = (
            self._make,
            self._drive,
            self._parse,
            self._read,
            self._judge,
        )

    def take(self, work: CaseWork, to: Phase = Phase.JUDGED) -> CaseWork:
        """Take a case up to a phase, or to its early end, and return it; never raises because of the case."""
        while work.phase < to and work.judged is None:
            began = time.monotonic()
            work.attempt(self._parts[work.phase])
            work.phase += 1
            work.seconds[work.phase] = time.monotonic() - began
        return work

    @contextlib.contextmanager
    def giving_up(self) -> Iterator[None]:
        """Let what is judged meanwhile in other threads end soon, without verdicts of use."""
        self._given_up.set()
        try:
            yield
        finally:
            self._given_up.clear()

    def verdicts(self, work: CaseWork) -> tuple[Verdict, ...]:
        """The verdicts on a case that has ended, in the order of the clauses."""
        return () if work.judged is None else tuple(self.judge.in_order(work.case, work.judged))

    # --- the phases ---------------------------------------------------------------------------------

    def _make(self, work: CaseWork) -> None:
        work.table = materialise(work.case.table)

    def _drive(self, work: CaseWork) -> None:
        work.exchange = self.driver.drive(work.case, work.table)

    def _parse(self, work: CaseWork) -> None:
        assert work.exchange is not None
        work.view = view_of(work.case, work.exchange, work.table)
        work.view.given_up = self._run_ended
        if self._agreement is not None and not work.exchange.untestable:
            self._agreement.prepare(work.view)

    def _read(self, work: CaseWork) -> None:
        """Provide the readings; they are compared when a clause asks for them."""
        view, reader = work.view, self.reader
        assert view is not None
        if reader is None or view.exchange.untestable:
            return
        agreed = None if self._agreement is None else self._agreement.agree(view)
        if agreed is not None:
            view.compare_readings(lambda: agreed)
            return
        readings = attempt(lambda: reader.read(view.case, view.exchange))
        view.compare_readings(lambda: reported(excused(raise_or_give(readings), view), held_tables(view)))

    def _judge(self, work: CaseWork) -> None:
        """The verdicts, refined by how the calls ended."""
        view = work.view
        assert view is not None
        view.given_up = self._limit(view)
        judged = self.judge(view)
        work.broke += view.broke
        if untestable := view.exchange.untestable:
            others = judged.others or (whole_case(work.case, Outcome.UNTESTABLE, untestable),)
        else:
            passed = bool(judged.passed)
            why = functools.partial(self._reason_not_judged, view)
            others = tuple(refine(work.case, view.exchange, judged.others, why, passed=passed))
        work.judged = Judged(judged.passed, others)

    def _reason_not_judged(self, view: View) -> tuple[Outcome, str]:
        """What went wrong first. A refusal that the clauses of the case only advise against is no failure of it if
        none of them is judged, as in a run of ``--level must``: the verdict on a whole case is a MUST.
        """
        outcome, reason = view.reason_not_judged()
        if outcome is not Outcome.REFUSED:
            return outcome, reason
        globs: Patterns = Patterns(view.case.clauses)
        named = [clause for clause in all_clauses().values() if view.case.clauses and globs.match(clause.id)]
        if named and all(clause.level is not Level.MUST and clause.id not in self.judge.places for clause in named):
            return Outcome.UNTESTABLE, f"{reason}; the clauses of this case are not judged at this level"
        return outcome, reason

    def _run_ended(self) -> str:
        return ENDED if self._given_up.is_set() else ""

    def _limit(self, view: View) -> Callable[[], str]:
        """What says, while a view is judged, why judging it ends here."""
        size = view.exchange.received + (0 if view.table is None else view.table.nbytes)
        seconds = self.deadline + extra_seconds(size)
        until = time.monotonic() + seconds

        def reason() -> str:
            if self._given_up.is_set():
                return ENDED
            if time.monotonic() > until:
                return f"not judged: judging this exchange took longer than {seconds:g} s, the deadline of the case"
            return ""

        return reason
