"""Runs whose cases fail as tests of causes want it, and the causes of such a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from conformance.engine.causes import Cause, causes
from conformance.engine.events import CaseJudged, CaseShape, Request, RunEnded
from conformance.engine.result import Result, fold
from conformance.records import Finding, Outcome, Verdict
from tests.engine.samples import judged, started

LZ4 = "buffer_compression LZ4_FRAME"
REFUSED = "UNIMPLEMENTED: no LZ4 here"


def result_of(*cases: CaseJudged) -> Result:
    """The result of a run of these cases."""
    clauses = dict.fromkeys(verdict.clause for case in cases for verdict in case.verdicts)
    return fold([started(*clauses, cases=[case.case_id for case in cases]), *cases, RunEnded(1.0)])


def found(*cases: CaseJudged) -> tuple[Cause, ...]:
    """The causes of a run of these cases."""
    return causes(result_of(*cases))


def fails(case_id: str, clause: str, observed: str = "3", *, required: str = "1", **place: int | str) -> Verdict:
    """A verdict with one finding."""
    finding = Finding(clause, required, observed, **{"call": 0, **place})  # type: ignore[arg-type]  # fields by name
    return Verdict(case_id, clause, Outcome.FAIL, (finding,))


def served(case: CaseJudged, *asked: str, has: Iterable[str] = ()) -> CaseJudged:
    """The case with one CreateReadSession that was served."""
    return with_requests(case, Request(0, "CreateReadSession", asked), has=has)


def with_requests(case: CaseJudged, *requests: Request, has: Iterable[str] = ()) -> CaseJudged:
    """The case with these requests."""
    return dataclasses.replace(case, requests=requests, shape=CaseShape(8, 2, 2, tuple(has)))


def refusal(case_id: str, *asked: str, said: str = REFUSED, clause: str = "rows.read-is-served") -> CaseJudged:
    """A case whose only request was refused."""
    verdict = fails(case_id, clause, said, required="status OK for a session")
    return with_requests(judged(case_id, verdict), Request(0, "CreateReadSession", asked, refused=said))


def names(items: Iterable[Cause]) -> list[list[str]]:
    """The clauses of each cause."""
    return [[part.clause for part in cause.own] for cause in items]


def filtered(case_id: str, restriction: str) -> CaseJudged:
    """A case whose only request was refused, and had this filter."""
    case = refusal(case_id, LZ4)
    (request,) = case.requests
    return dataclasses.replace(case, requests=(dataclasses.replace(request, restriction=restriction),))
