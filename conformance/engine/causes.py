"""Group the deviations of a run by cause, and put first what to fix first.

Deviations belong together only by *known* dependence: calls refused with one status and text, or for lack of one
feature (:mod:`conformance.engine.refusals`), and findings that follow from another one of the same case
(:mod:`conformance.engine.dependence`). That two deviations occur in the same cases is no reason.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from conformance._globs import matches
from conformance.contract.clause import CLAUSES
from conformance.contract.closed import Question
from conformance.engine.contrast import contrast
from conformance.engine.dependence import BYTES, ROWS, Symptom, causes_within
from conformance.engine.events import CaseJudged
from conformance.engine.outcomes import WHOLE_CASE, finding_class, reason_classes
from conformance.engine.refusals import Refusal, refusals
from conformance.engine.result import NOT_JUDGED, RANK, Deviation, Result
from conformance.records import Finding, Level, Outcome, Verdict

__all__ = ["Cause", "causes"]

SERVED: Final = "status OK"
"""How the requirement of a clause begins that judges whether a request is served."""

VALUES: Final = ("values.*",)
"""The clauses on the values of one type each."""

CONTENT: Final = (*ROWS, *VALUES)
"""Clauses that are judged only where rows were decoded."""

MOSTLY: Final = 0.75
"""The part of the plain reads that lose rows, from which on losing rows is no matter of a request's options."""

_MISSING: Final = re.compile(r"\bmissing, such as ")
_CALL: Final = re.compile(r"call (\d+)\b")


@dataclasses.dataclass(frozen=True, slots=True)
class Cause:
    """One thing to fix: the deviations that it is, and what follows from it.

    ``key`` is the same in every run of a target. ``own`` are the deviations on the cases of this cause, ``echoes``
    those of other clauses that follow from it. ``blocks`` are the clauses that no case judged because of it, or whose
    passes show nothing because of it (:data:`conformance.engine.standing.SHOWN_WITH`).
    ``smallest`` is the case with the fewest rows, columns and steps, and ``replay`` its argument. ``contrast`` says
    what sets the findings apart from what is right in the same run.
    """

    key: str
    title: str
    outcome: Outcome
    level: Level
    own: tuple[Deviation, ...]
    cases: tuple[str, ...]
    smallest: str
    replay: str
    echoes: tuple[Deviation, ...] = ()
    blocks: tuple[str, ...] = ()
    contrast: tuple[str, ...] = ()

    @property
    def clause(self) -> str:
        """The first clause of the cause; the case as a whole only if no clause reports it."""
        return _clause(self.own)


@dataclasses.dataclass(slots=True)
class _Group:
    """A cause in the making: its symptoms and those that follow from them, and the refusal that it is, if it is one.

    ``blocks`` has the cases on which it kept each clause from being judged.
    """

    basis: str
    refusal: Refusal | None = None
    own: list[Symptom] = dataclasses.field(default_factory=list)
    echoes: list[Symptom] = dataclasses.field(default_factory=list)
    blocks: dict[str, set[str]] = dataclasses.field(default_factory=dict)


def causes(result: Result) -> tuple[Cause, ...]:
    """The causes of a result's failures, those to fix first at the beginning.

    Causes that keep clauses from being judged come first, by the number of these clauses; then MUST before SHOULD
    before MAY, then by the number of cases. Of a reader, those against conformance come first.
    """
    found = _Grouping(result)
    made = [found.cause(group) for group in found.groups.values() if group.own]
    levels = list(Level)
    questions = [None, *Question]  # of a reader, conformance comes before robustness

    def order(one: Cause) -> tuple[int, ...]:
        asked = CLAUSES[one.clause].question if one.clause in CLAUSES else None
        return questions.index(asked), -len(one.blocks), levels.index(one.level), -len(one.cases)

    return tuple(sorted(made, key=order))


class _Grouping:
    def __init__(self, result: Result) -> None:
        self._result = result
        self._cases = {case.case_id: case for case in result.cases}
        self._order = {case.case_id: place for place, case in enumerate(result.cases)}
        self._deviations = _by_place(result)
        self._refusals: dict[tuple[str, int | None], Refusal] = {
            place: one for one in refusals(result.cases) for place in one.places
        }
        # The statuses of the calls that were refused rightly, but in another status than their step permits.
        self._statuses: dict[tuple[str, int | None], str] = {
            (case.case_id, one.call): one.refused.partition(":")[0]
            for case in result.cases
            for one in case.requests
            if one.refused and not one.owed
        }
        self.groups: dict[str, _Group] = {}
        for case in result.cases:
            self._add(case)
        self._absorb_lost_rows()

    # --- which cause ----------------------------------------------------------------------------------

    def _add(self, case: CaseJudged) -> None:
        symptoms = list(self._symptoms(case))
        if not symptoms:
            return
        rooted = {one: one if self._refusal(one) is not None else root for one, root in causes_within(symptoms).items()}
        for symptom, root in rooted.items():
            group = self._group(root)
            (group.own if symptom is root else group.echoes).append(symptom)
        for clause, symptom in _blocked(case, symptoms, self._refusal):
            self._group(rooted[symptom]).blocks.setdefault(clause, set()).add(case.case_id)

    def _symptoms(self, case: CaseJudged) -> Iterator[Symptom]:
        sessions = {one.call: one.call if one.method == "CreateReadSession" else one.session for one in case.requests}
        for verdict in case.verdicts:
            if not verdict.outcome.fails_run:
                continue
            for reason, finding in _reasons(verdict):
                owner = verdict.clause if finding is not None else ""
                place = self._deviations.get((owner, reason, case.case_id))
                if place is None:
                    continue
                call = finding.call if finding is not None else _call_in(verdict.reason)
                session = None if call is None else sessions.get(call, call)
                yield Symptom(case.case_id, verdict.clause, place, finding, call, session)

    def _refusal(self, symptom: Symptom) -> Refusal | None:
        return self._refusals.get((symptom.case_id, symptom.call))

    def _group(self, root: Symptom) -> _Group:
        """The group of a symptom that follows from no other.

        A clause that fails because of one status is one cause, whatever the texts and the permitted statuses are; a
        clause on the values of a type is one, whatever the values are.
        """
        refusal = self._refusal(root)
        if refusal is not None:
            key = refusal.key
        elif root.finding is not None and (status := self._statuses.get((root.case_id, root.call))):
            key = f"{root.clause}: {status}"
        elif matches(root.clause, VALUES):
            key = root.clause
        else:
            whole = self._result.deviations[root.deviation]
            key = f"{root.clause if root.finding is not None else ''}: {whole.outcome}: {whole.reason}"
        return self.groups.setdefault(key, _Group(key, refusal))

    def _absorb_lost_rows(self) -> None:
        """Where nearly all plain reads lose rows, a request with options that misses rows shows nothing of its own."""
        plain = [group for group in self.groups.values() if any(one.clause == ROWS[0] for one in group.own)]
        failing = {one.case_id for group in plain for one in group.own if one.clause == ROWS[0]}
        if not failing or len(failing) < MOSTLY * self._result.by_clause[ROWS[0]].total():
            return
        for key, group in list(self.groups.items()):
            if group not in plain and all(_misses_rows(one) for one in group.own):
                plain[0].echoes += group.own + group.echoes
                for clause, on in group.blocks.items():
                    plain[0].blocks.setdefault(clause, set()).update(on)
                del self.groups[key]

    # --- what it is -----------------------------------------------------------------------------------

    def cause(self, group: _Group) -> Cause:
        """The cause that a group is."""
        own, echoes = self._parts(group.own), self._parts(group.echoes)
        if group.refusal is not None:
            own = tuple(
                sorted(own, key=lambda part: part.finding is None or not part.finding.required.startswith(SERVED))
            )
        cases = tuple(sorted({one.case_id for one in group.own}, key=self._order.__getitem__))
        smallest = min(cases, key=self._size)
        clause = _clause(own)
        replays = {part.cases[0]: part.replay for part in own}
        return Cause(
            key=f"{clause}~{hashlib.sha256(group.basis.encode()).hexdigest()[:4]}",
            title=group.refusal.title if group.refusal is not None else _title(own[0]),
            outcome=min((part.outcome for part in own), key=RANK.index),
            level=min((_level(part.clause) for part in own), key=list(Level).index),
            own=own,
            cases=cases,
            smallest=smallest,
            replay=replays.get(smallest, self._cases[smallest].replay),
            echoes=echoes,
            blocks=tuple(sorted(self._kept_from_judgement(group))),
            contrast=contrast(self._result, group.own) if group.refusal is None else (group.refusal.contrast,),
        )

    def _kept_from_judgement(self, group: _Group) -> Iterator[str]:
        """The clauses that the group blocks on a case and that no case judged, and those whose passes do not count
        because of a clause that the group keeps from passing on more cases than any other group does.
        """
        yield from (clause for clause in group.blocks if self._unjudged(clause))
        most = {
            twin for twin in self._shown_with if group is max(self.groups.values(), key=lambda one: _kept(one, twin))
        }
        yield from (clause for twin in most for clause in self._shown_with[twin])

    def _unjudged(self, clause: str) -> bool:
        outcomes = self._result.by_clause.get(clause, ())
        return all(outcome in NOT_JUDGED or outcome is Outcome.REFUSED for outcome in outcomes)

    @cached_property
    def _shown_with(self) -> Mapping[str, Sequence[str]]:
        """The clauses that have passes which do not count, by the clause without which they show nothing."""
        found: dict[str, list[str]] = {}
        for clause, standing in self._result.standings.items():
            if standing.reason and not self._unjudged(clause):
                found.setdefault(standing.shown_with, []).append(clause)
        return found

    def _size(self, case_id: str) -> tuple[int, ...]:
        shape = self._cases[case_id].shape
        size = (0, 0, 0) if shape is None else (shape.rows, shape.columns, shape.steps)
        return (*size, self._order[case_id])

    def _parts(self, symptoms: Iterable[Symptom]) -> tuple[Deviation, ...]:
        """The deviations of symptoms, each narrowed to the symptoms' cases."""
        members: dict[int, list[Symptom]] = {}
        for one in symptoms:
            members.setdefault(one.deviation, []).append(one)
        return tuple(self._narrowed(self._result.deviations[place], members[place]) for place in sorted(members))

    def _narrowed(self, whole: Deviation, members: Sequence[Symptom]) -> Deviation:
        cases = tuple(dict.fromkeys(one.case_id for one in members))
        if len(cases) == len(whole.cases):
            return whole
        finding, case = members[0].finding, self._cases[cases[0]]
        shown = next((item for item in case.evidence if item.finding == finding), None)
        clauses = whole.clauses if finding is not None else tuple(dict.fromkeys(one.clause for one in members))
        text = finding.observed if finding is not None else _reason(case, members[0].clause)
        return dataclasses.replace(
            whole, clauses=clauses, text=text, cases=cases, count=len(members), replay=case.replay,
            finding=finding, evidence=shown,
        )  # fmt: skip


def _kept(group: _Group, clause: str) -> int:
    """The number of cases on which a group keeps a clause from passing."""
    failed = {one.case_id for one in (*group.own, *group.echoes) if one.clause == clause}
    return len(failed | group.blocks.get(clause, set()))


def _misses_rows(symptom: Symptom) -> bool:
    return symptom.finding is not None and _MISSING.search(symptom.finding.observed) is not None


def _by_place(result: Result) -> dict[tuple[str, str, str], int]:
    """For each clause (empty without a finding), reason class and case the deviation that fails the run.

    An error of the suite is no cause for the target's developers to fix.
    """
    failed = {id(one) for one in result.failed if one.outcome is not Outcome.ERROR}
    return {
        (one.clause if one.finding is not None else "", one.reason, case_id): place
        for place, one in enumerate(result.deviations)
        if id(one) in failed
        for case_id in one.cases
    }


def _reasons(verdict: Verdict) -> Iterator[tuple[str, Finding | None]]:
    if verdict.findings:
        yield from ((finding_class(verdict.outcome, finding), finding) for finding in verdict.findings)
    else:
        yield reason_classes(verdict)[0], None


def _call_in(reason: str) -> int | None:
    """The call that the reason of a verdict begins with."""
    found = _CALL.match(reason)
    return int(found[1]) if found else None


def _reason(case: CaseJudged, clause: str) -> str:
    return next(one.reason for one in case.verdicts if one.clause == clause)


def _blocked(
    case: CaseJudged, symptoms: Sequence[Symptom], refusal: Callable[[Symptom], Refusal | None]
) -> Iterator[tuple[str, Symptom]]:
    """The clauses that a case did not judge, each with the symptoms that kept it from it.

    A reason that names a call means the symptoms on this call. Any other means those that end a case: a refusal or the
    death of the target, else findings on bytes; all symptoms if there are none of these. A clause that the case owed
    and that no verdict is about waits for what ended the case, else for the symptoms of its chapter. Findings on bytes
    hide it only if nothing was decoded: else the server's answer had another shape than the reference's, as it may.
    """
    ended = [one for one in symptoms if one.finding is None or refusal(one) is not None]
    ending = ended or [one for one in symptoms if matches(one.clause, BYTES)] or list(symptoms)
    for verdict in case.verdicts:
        if verdict.clause != WHOLE_CASE and verdict.outcome in (Outcome.DEPENDENCY_FAILED, Outcome.REFUSED):
            call = _call_in(verdict.reason)
            there = [one for one in symptoms if call is not None and one.call == call]
            yield from ((verdict.clause, one) for one in there or ending)
    decoded = any(matches(verdict.clause, CONTENT) for verdict in case.verdicts if verdict.outcome not in NOT_JUDGED)
    for clause in case.blocked:
        chapter = [one for one in symptoms if one.clause.partition(".")[0] == clause.partition(".")[0]]
        yield from ((clause, one) for one in ended or chapter or ([] if decoded else ending))


def _clause(own: Sequence[Deviation]) -> str:
    named = [clause for one in own for clause in one.clauses]
    return next((clause for clause in named if clause != WHOLE_CASE), WHOLE_CASE)


def _level(clause: str) -> Level:
    return CLAUSES[clause].level if clause in CLAUSES else Level.MUST


def _title(deviation: Deviation) -> str:
    if deviation.finding is None:
        return deviation.text
    field = deviation.finding.field
    named = not field or deviation.text.startswith(f"{field} ")
    return f"{'' if named else f'{field}: '}{deviation.text}; required: {deviation.finding.required}"
