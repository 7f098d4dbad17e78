"""Runs with readers, for the tests of their table and of gates."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from conformance.engine.answers import Answer, Answered
from conformance.engine.events import CaseJudged, RunEnded
from conformance.engine.provenance import Identity, Provenance, ReaderVersion
from conformance.engine.result import fold
from conformance.engine.selection import LeftOut
from conformance.records import Verdict
from conformance.report.document import Report, document
from tests.engine.samples import judged, started

FIND = "readers.find-the-values"
ERROR = "readers.read-without-error"
CLAUSES = ("rows.x", "types.x", ERROR, FIND, "readers.agree")


def case(case_id: str, *verdicts: Verdict, **answers: tuple[Answer, str]) -> CaseJudged:
    """A judged case; ``answers`` are those of each reader."""
    gave = tuple(Answered(answer, (reader,), text) for reader, (answer, text) in answers.items())
    return dataclasses.replace(judged(case_id, *verdicts), answers=gave)


def report_on(  # each is a fact of a run that a gate depends on
    *cases: CaseJudged,
    clauses: Iterable[str] = CLAUSES,
    readers: Mapping[str, str] | None = None,
    left_out: Iterable[LeftOut] = (),
    target: str = "mine",
    version: str = "1",
    began: str = "2026-01-01T00:00:00Z",
    shard: str = "",
    complete: bool = True,
) -> Report:
    """The report of a run of ``target`` with these cases."""
    known = {"a": "1.0", "b": "2.0"} if readers is None else readers
    origin = Provenance(
        began=began,
        target=Identity(target, version),
        readers=tuple(ReaderVersion(name, f"lib{name}", text, client=True) for name, text in known.items()),
    )
    start = dataclasses.replace(
        started(*clauses, cases=[one.case_id for one in cases]),
        provenance=origin,
        target=f"{target} {version}",
        left_out=tuple(left_out),
        shard=shard,
    )
    return document(fold([start, *cases, *([RunEnded(2.0)] if complete else [])]))
