"""Shrink a failing generated case to a small one that fails the same clause for the same reason, and save it.

Each distinct failure is shrunk once per run: a hundredth case with the same failure costs as much as the first and
teaches less. Expected failures are not shrunk.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from conformance.disk.files import DiskError, inside
from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.events import CounterexampleSaved
from conformance.engine.expectations import excuses
from conformance.engine.outcomes import WHOLE_CASE, reason_classes
from conformance.generate import save_case, shrink
from conformance.records import Case, Outcome, Verdict, to_json
from conformance.targets.spec import ExpectedFailure

__all__ = ["Shrinker"]

MAX_TRIES: Final = 600
"""The most cases put to the target for shrinking in one run, for all failures together."""
SHARE: Final = 0.5
"""Cases that shrinking may put to the target for each case that the run has put to it.

Making the table is most of the work of a case, so a try costs about as much as any other case: with shrinking a run
takes at most about half as long again, however slow the server. 600 tries took 14 minutes on one that needs 1.4 s each.
"""
TRIES_PER_FAILURE: Final = 60
"""The most tries for one failure. A run of a few cases may do as many in all: its first failure is shrunk in full."""

_SHRUNK: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.REFUSED})
"""Outcomes that are shrunk. A hang is not: each try would cost its deadline."""


class Shrinker:
    """Shrinks failing cases and saves them below ``directory``; with ``shrinking`` off it saves the cases as they were
    drawn.
    """

    def __init__(
        self,
        step: CaseStep,
        directory: Path,
        *,
        expectations: Sequence[ExpectedFailure] = (),
        shrinking: bool = True,
    ) -> None:
        self._step = step
        self._directory = directory
        self._expectations = expectations
        self._shrinking = shrinking
        self._cases = self._tries = 0
        self._seen: set[tuple[str, str]] = set()
        self.remarks: list[str] = []
        """Sentences about counterexamples that could not be saved."""

    def count(self, cases: int = 1) -> None:
        """Note that the run has put further cases to the target, which raises what shrinking may cost."""
        self._cases += cases

    @property
    def left(self) -> int:
        """The number of cases that may still be put to the target for shrinking."""
        if not self._shrinking:
            return 0
        return min(MAX_TRIES, max(TRIES_PER_FAILURE, int(self._cases * SHARE))) - self._tries

    def pursue(self, case: Case, verdicts: Sequence[Verdict]) -> Iterator[CounterexampleSaved]:
        """Save one counterexample for each failure among ``verdicts`` that this run has not met before."""
        for verdict in verdicts:
            if verdict.outcome not in _SHRUNK:
                continue
            for reason in reason_classes(verdict):
                key = (verdict.clause, reason)
                if key in self._seen or excuses(self._expectations, verdict, reason):
                    continue
                self._seen.add(key)
                yield from self._save(case, verdict.clause, reason)

    def _save(self, case: Case, clause: str, reason: str) -> Iterator[CounterexampleSaved]:
        tries = 0

        def still_fails(candidate: Case) -> bool:
            nonlocal tries
            tries += 1
            return self._fails(candidate, clause, reason)

        budget = min(self.left, TRIES_PER_FAILURE)
        small = shrink(case, still_fails, budget=budget) if budget else case
        self._tries += tries
        # Named by content, so that parallel and earlier runs never put another case into one of our files.
        digest = hashlib.sha256(json.dumps(to_json(small), sort_keys=True).encode()).hexdigest()[:8]
        path = self._directory / f"{clause}-{digest}.json"
        around = self._directory.parent.parent  # the folder of counterexamples is in the suite's own: neither is a link
        try:
            save_case(small, inside(around, str(path.relative_to(around))))
        except DiskError as error:
            self.remarks.append(f"no counterexample of {clause} is kept: {error}")
            return
        yield CounterexampleSaved(case.id, clause, reason, str(path), tries)

    def _fails(self, candidate: Case, clause: str, reason: str) -> bool:
        work = self._step.take(CaseWork(candidate))
        work.release()
        if work.error is not None:
            raise work.error
        verdicts = self._step.verdicts(work)
        return any(reason in reason_classes(verdict) for verdict in verdicts if clause in (verdict.clause, WHOLE_CASE))
