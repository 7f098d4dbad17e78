"""The checks of an older report that a newer one did not make, whatever the outcomes."""

from __future__ import annotations

import dataclasses

from conformance.report.checks import judged_on
from conformance.report.document import Report

__all__ = ["ClauseNotRun", "NotRun", "no_longer_run"]


@dataclasses.dataclass(frozen=True, slots=True)
class ClauseNotRun:
    """A clause, and the cases on which it was judged before and is not judged now."""

    clause: str
    cases: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class NotRun:
    """The checks of an older report that a newer one lacks.

    ``cases`` are those on which nothing was judged any more; ``clauses`` are lost on other cases. ``unknown`` names the
    reports that do not say which checks ran; then nothing is compared.
    """

    cases: tuple[str, ...] = ()
    clauses: tuple[ClauseNotRun, ...] = ()
    unknown: tuple[str, ...] = ()


def no_longer_run(old: Report, new: Report) -> NotRun:
    """The checks that ``old`` has and ``new`` lacks, in the order of ``old``."""
    if unknown := tuple(name for name, report in (("old", old), ("new", new)) if not report.checks):
        return NotRun(unknown=unknown)
    before, after = (judged_on(report.checks, report.run.cases) for report in (old, new))
    still = {case for cases in after.values() for case in cases}
    gone = [case for case in old.run.cases if case not in still and any(case in some for some in before.values())]
    lost = (
        ClauseNotRun(clause, tuple(case for case in cases if case in still and case not in after.get(clause, {})))
        for clause, cases in before.items()
    )
    return NotRun(tuple(gone), tuple(item for item in lost if item.cases))
