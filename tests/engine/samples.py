"""Small nouns for the engine's tests: cases, clauses, exchanges, verdicts and a target without a process."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa

from conformance.contract.clause import Clause, Violation
from conformance.contract.view import View
from conformance.engine.events import CaseJudged, RunEnded, RunStarted
from conformance.engine.result import Result, fold
from conformance.records import (
    BqType,
    Call,
    CallEnd,
    Case,
    Column,
    Exchange,
    Finding,
    Level,
    Outcome,
    Recipe,
    Table,
    Verdict,
)
from conformance.targets import ExpectedFailure

TABLE = Table((Column("a", BqType.INT64),), recipe=Recipe(rows=2))


def sample_case(case_id: str, *, clauses: Iterable[str] = (), needs: Iterable[str] = ()) -> Case:
    """A case over one INT64 column."""
    return Case(case_id, f"Case {case_id}", TABLE, clauses=tuple(clauses), needs=tuple(needs))


@dataclasses.dataclass(frozen=True, slots=True)
class CallSubject:
    """A call as a subject."""

    call: int | None
    response: int | None
    raw: Call


def _calls(view: View) -> list[CallSubject]:
    return [CallSubject(index, None, call) for index, call in enumerate(view.exchange.calls)]


def _status_is_ok(subject: CallSubject) -> Iterable[Violation]:
    if subject.raw.status != "OK":
        yield Violation("the status OK", f"the status {subject.raw.status}")


def sample_clause(
    clause_id: str,
    *,
    level: Level = Level.MUST,
    over: Callable[[View], Any] = _calls,
    check: Callable[[Any], Iterable[Violation]] = _status_is_ok,
) -> Clause:
    """A clause that requires every call to end in OK, unless ``check`` is given."""
    return Clause(clause_id, level, f"Text of {clause_id}.", "https://example.org/spec", "", ("bq-arrow",), over, check)


def sample_call(
    *,
    status: str = "OK",
    end: CallEnd = CallEnd.COMPLETE,
    label: str = "s",
    responses: tuple[bytes, ...] = (),
) -> Call:
    """A CreateReadSession call without an answer of note."""
    return Call(0, label, "CreateReadSession", b"", responses, status=status, end=end)


def sample_exchange(case_id: str, *calls: Call, untestable: str = "") -> Exchange:
    """An exchange of ``calls``."""
    return Exchange(case_id, "fake", calls, untestable=untestable)


def failing(case_id: str, clause: str, *observed: str, outcome: Outcome = Outcome.FAIL) -> Verdict:
    """A verdict with one finding per ``observed``."""
    findings = tuple(Finding(clause, "one message", text, call=0) for text in observed)
    return Verdict(case_id, clause, outcome, findings)


def passing(case_id: str, clause: str) -> Verdict:
    """A verdict without a finding."""
    return Verdict(case_id, clause, Outcome.PASS)


def started(*clauses: str, cases: Iterable[str] = (), expectations: Iterable[ExpectedFailure] = ()) -> RunStarted:
    """The first event of a run of ``clauses``."""
    return RunStarted(
        suite="0.1.0",
        python="3.11.7",
        pyarrow="26.0.1",
        platform="Linux x86_64",
        target="fake 1.0",
        target_file="fake.toml",
        seed=7,
        generated=0,
        profile="server",
        select=(),
        clause=(),
        level="may",
        readers=False,
        deadline_multiplier=1.0,
        cases=tuple(cases),
        clauses=clauses,
        all_cases=3,
        all_clauses=len(clauses),
        expectations=tuple(expectations),
    )


def judged(case_id: str, *verdicts: Verdict) -> CaseJudged:
    """The event of one case with ``verdicts``."""
    return CaseJudged(case_id, f"Case {case_id}", case_id, verdicts, seconds=0.5)


def served_nothing() -> Result:
    """A run on a Flight server that refused all calls, of which one clause passed and one saw nothing."""
    start = dataclasses.replace(started("framing.x", "rows.once"), profile="flight", not_offered=("put",))
    refused = dataclasses.replace(judged("a", passing("a", "framing.x")), calls=3)
    owed = judged("b", Verdict("b", "rows.once", Outcome.UNTESTABLE, reason="nothing in the exchange shows it"))
    owed = dataclasses.replace(owed, calls=1)
    return fold([start, refused, owed, RunEnded(2.0)])


class FakeTarget:
    """A target that answers each case with a prepared exchange (or raises what was prepared)."""

    def __init__(self, answers: Mapping[str, Exchange | Exception]) -> None:
        self.answers = answers
        self.driven: list[str] = []
        self.remarks: tuple[str, ...] = ("it says nothing of itself",)

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """The prepared answer; an OK call where none was prepared."""
        assert table.num_rows == 2
        self.driven.append(case.id)
        answer = self.answers.get(case.id, sample_exchange(case.id, sample_call()))
        if isinstance(answer, Exception):
            raise answer
        return answer
