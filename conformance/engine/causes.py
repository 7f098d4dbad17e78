"""Group the deviations of a run by cause, and put first what to fix first.

Deviations belong together only by *known* dependence: calls refused with one status and text, or for lack of one
feature (:mod:`conformance.engine.refusals`), and findings that follow from another one of the same case
(:mod:`conformance.engine.dependence`). That two deviations occur in the same cases is no reason.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from conformance._globs import matches
from conformance.contract.clause import CLAUSES
from conformance.contract.closed import Question
from conformance.contract.offers import profile_of
from conformance.contract.profilerow import CORE
from conformance.engine.blocking import blocked, call_in
from conformance.engine.contrast import contrast
from conformance.engine.dependence import Symptom, causes_within
from conformance.engine.events import CaseJudged
from conformance.engine.outcomes import WHOLE_CASE, finding_class, first_line, reason_classes, shape
from conformance.engine.refusals import RefusedCalls, declaring, refusals
from conformance.engine.result import NOT_JUDGED, RANK, Deviation, Result
from conformance.engine.sharing import OPERANDS
from conformance.engine.widespread import DRAWN, explained
from conformance.records import Finding, Level, Outcome, Verdict

__all__ = ["Cause", "causes"]

SERVED: Final = "status OK"
"""How the requirement of a clause begins that judges whether a request is served."""

PERMITTED: Final = "a status other than OK"
"""How the requirement of a clause begins that judges whether a bad request is refused."""

PLAIN: Final = ("values.*", "types.*", "restriction.*", "combination.*", "history.*", "buffers.size", "*-is-refused",
                "offsets.inside-*", "offsets.between-*", "offsets.last-row", "offsets.end-yields-*",
                "body.offsets-*")  # fmt: skip
"""The clauses whose findings are mended together, whatever the data is that each of them shows."""

UNDESCRIBED: Final = "no metadata"
"""What a finding says of a field without the metadata of its type: one cause, whatever the type is."""

READERS: Final = ("readers.*",)
"""The clauses on what several readers make of one answer."""

BOTH: Final[Mapping[str, tuple[str, ...]]] = {"projection.filter-may-use-other-columns": ("restriction.*",)}
"""Clauses on requests with two options, each with the clauses on one of them, which say more plainly what is wrong."""

CODES: Final = ("*-has-its-code",)
"""The clauses on the status of a refusal, whose findings end with it."""

_STATUS: Final = re.compile(r"\b[A-Z_]{5,}$")
_VALUE: Final = re.compile(r"row #(?:\[#\])*: expected .*")


@dataclasses.dataclass(frozen=True, slots=True)
class Cause:
    """One thing to fix: the deviations that it is, and what follows from it.

    ``key`` is the same in every run of a target. ``level`` is the strongest of the clauses of the cause and of those
    that fail because of it, since its repair repairs both. ``own`` are the deviations on the cases of this cause,
    ``echoes`` those of other clauses that follow from it. ``blocks`` are the clauses that no case judged because of it,
    or whose passes show nothing because of it (:data:`conformance.engine.standing.SHOWN_WITH`).
    ``cases`` are those with one of ``own``, ``failing`` has those of ``echoes``, too.
    ``smallest`` is the case with the fewest rows, columns and steps of those that show the first of ``own``, ``replay``
    its argument, and ``call`` the call of it that shows that. ``contrast`` says what sets the findings apart from what
    is right in the same run.
    """

    key: str
    title: str
    outcome: Outcome
    level: Level
    own: tuple[Deviation, ...]
    cases: tuple[str, ...]
    smallest: str
    replay: str
    call: int | None = None
    echoes: tuple[Deviation, ...] = ()
    blocks: tuple[str, ...] = ()
    contrast: tuple[str, ...] = ()

    @property
    def clause(self) -> str:
        """The first clause of the cause; the case as a whole only if no clause reports it."""
        return _clause(self.own)

    @property
    def failing(self) -> frozenset[str]:
        """The cases that fail because of it: its own, and those of its echoes."""
        return frozenset(case_id for part in (*self.own, *self.echoes) for case_id in part.cases)

    @property
    def by_echo(self) -> bool:
        """True if its level is that of clauses which fail because of it, and its own clauses have a weaker one."""
        return _strongest(self.own) is not self.level


BLOCKED: Final = 10
"""The cases as which a clause counts that a cause keeps from being judged: a cause that blocks one clause on one case
stays behind a fault in three hundred cases, and a refusal that blocks ninety clauses stays before it.
"""


@dataclasses.dataclass(slots=True)
class _Group:
    """A cause in the making: its symptoms and those that follow from them, and the refusal that it is, if it is one.

    ``blocks`` has the cases on which it kept each clause from being judged.
    """

    basis: str
    refusal: RefusedCalls | None = None
    own: list[Symptom] = dataclasses.field(default_factory=list)
    echoes: list[Symptom] = dataclasses.field(default_factory=list)
    blocks: dict[str, set[str]] = dataclasses.field(default_factory=dict)


def causes(result: Result) -> tuple[Cause, ...]:
    """The causes of a result's failures, those to fix first at the beginning.

    MUST comes before SHOULD before MAY, by the gravest of what a cause is and what follows from it. Of one level, a bad
    request that is not refused comes last: it hurts clients with a defect of their own, and wrong or missing data hurts
    every client. Then the causes
    come by what their repair gains: the cases that fail because of them, and the clauses that they keep from being
    judged, each of which counts as ten cases. What drawn histories of calls show counts half, because another clause
    names a fault more plainly than one that judges everything again. A clause of :data:`BOTH` comes after those on one
    option. Of a reader, those against conformance come first.
    """
    found = _Grouping(result)
    made = [found.cause(group) for group in found.groups.values() if group.own]
    failing = {one.clause for one in made}
    levels = list(Level)
    questions = [None, *Question]  # of a reader, conformance comes before robustness

    def order(one: Cause) -> tuple[float, ...]:
        asked = CLAUSES[one.clause].question if one.clause in CLAUSES else None
        gain = (len(one.failing) + BLOCKED * len(one.blocks)) / (2 if matches(one.clause, DRAWN) else 1)
        if any(matches(clause, BOTH.get(one.clause, ())) for clause in failing):
            gain = 0
        return questions.index(asked), levels.index(one.level), _lets_pass(one), -gain

    return tuple(sorted(made, key=order))


class _Grouping:
    def __init__(self, result: Result) -> None:
        self._result = result
        self._cases = {case.case_id: case for case in result.cases}
        self._order = {case.case_id: place for place, case in enumerate(result.cases)}
        self._deviations = _by_place(result)
        self._refusals: dict[tuple[str, int | None], RefusedCalls] = {
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
        self._roots: dict[Symptom, Symptom] = {}
        symptoms = {case.case_id: list(self._symptoms(case)) for case in result.cases}
        for members in symptoms.values():
            self._add(members)
        for clause, symptom in blocked(result.cases, symptoms, self._ends):
            self._group(self._roots[symptom]).blocks.setdefault(clause, set()).add(symptom.case_id)
        self._absorb()

    # --- which cause ----------------------------------------------------------------------------------

    def _add(self, symptoms: Sequence[Symptom]) -> None:
        """Add the symptoms of one case."""
        for symptom, root in causes_within(symptoms).items():
            first = self._roots[symptom] = symptom if self._refusal(symptom) is not None else root
            group = self._group(first)
            (group.own if symptom is first else group.echoes).append(symptom)

    def _ends(self, symptom: Symptom) -> bool:
        """True if a symptom is the end of its call, or of its case."""
        return symptom.finding is None or self._refusal(symptom) is not None

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
                call = finding.call if finding is not None else call_in(verdict.reason)
                session = None if call is None else sessions.get(call, call)
                yield Symptom(case.case_id, verdict.clause, place, finding, call, session)

    def _refusal(self, symptom: Symptom) -> RefusedCalls | None:
        return self._refusals.get((symptom.case_id, symptom.call))

    def _group(self, root: Symptom) -> _Group:
        """The group of a symptom that follows from no other.

        A clause that fails because of one status is one cause, whatever the texts and the permitted statuses are;
        several readers with one error are one, and so is a clause of :data:`PLAIN`.
        """
        refusal = self._refusal(root)
        if refusal is not None:
            key = refusal.key
        elif status := self._status(root):
            key = f"{root.clause}: {status}"
        elif root.finding is not None and matches(root.clause, PLAIN):
            key = root.clause
        else:
            key = self._kind(root)
        return self.groups.setdefault(key, _Group(key, refusal))

    def _status(self, root: Symptom) -> str:
        """The wrong status that a finding is about, whether or not the step permits it; empty if it is about none."""
        if root.finding is None:
            return ""
        said = _STATUS.search(root.finding.observed) if matches(root.clause, CODES) else None
        return said[0] if said is not None else self._statuses.get((root.case_id, root.call), "")

    def _kind(self, root: Symptom) -> str:
        """The clause and the class of a symptom, without the name of the reader and without the values of rows.

        A finding is the same whether its case failed or ended in a hang or a crash, for which that is no reason.
        """
        whole, finding = self._result.deviations[root.deviation], root.finding
        if finding is None:
            return f": {whole.outcome}: {whole.reason}"
        reason = whole.reason.removeprefix(f"{whole.outcome}: ")
        if finding.observed.endswith(UNDESCRIBED) and root.clause.startswith("schema.metadata-"):
            return f"schema.metadata: {Outcome.FAIL}: {UNDESCRIBED}"
        if matches(root.clause, READERS) and finding.field:
            said = finding.observed.removeprefix(finding.field).removeprefix(":").strip()
            if ": expected " in said:  # what it does wrong, and not in which columns
                said = said.partition(":")[0]
            return f"{root.clause}: {Outcome.FAIL}: {shape(said)}"
        return f"{root.clause}: {Outcome.FAIL}: {Outcome.FAIL}: {_VALUE.sub('row #: other values', reason)}"

    def _absorb(self) -> None:
        """Move what follows from a widespread fault below the group that leads there."""
        own = {key: group.own for key, group in self.groups.items() if group.refusal is None and group.own}
        for key, lead in explained(self._result, own).items():
            group, above = self.groups.pop(key), self.groups[lead]
            above.echoes += group.own + group.echoes
            for clause, on in group.blocks.items():
                above.blocks.setdefault(clause, set()).update(on)

    # --- what it is -----------------------------------------------------------------------------------

    def cause(self, group: _Group) -> Cause:
        """The cause that a group is."""
        own, echoes = self._parts(group.own), self._parts(group.echoes)
        if group.refusal is not None:
            own = tuple(sorted(own, key=_plainness))
        cases = tuple(sorted({one.case_id for one in group.own}, key=self._order.__getitem__))
        smallest = min(own[0].cases, key=self._size)
        shown = self._symptom_in(own[0], smallest, group.own)
        if shown is not None and own[0].cases[0] != smallest:
            # What a report says of the cause is what the case shows that it names.
            rest = (one for one in own[0].cases if one != smallest)
            own = (self._as_shown_by(own[0], shown, (smallest, *rest)), *own[1:])
        clause = _clause(own)
        replays = {part.cases[0]: part.replay for part in own}
        return Cause(
            key=f"{clause}~{hashlib.sha256(group.basis.encode()).hexdigest()[:4]}",
            title=_title_of(group.refusal, own[0]) if group.refusal is not None else _title(own[0]) + _also(own),
            outcome=min((part.outcome for part in own), key=RANK.index),
            level=_strongest((*own, *echoes)),
            own=own,
            cases=cases,
            smallest=smallest,
            replay=replays.get(smallest, self._cases[smallest].replay),
            call=None if shown is None else shown.call,
            echoes=echoes,
            blocks=tuple(sorted(self._kept_from_judgement(group))),
            contrast=contrast(self._result, group.own) if group.refusal is None else self._facts(group, clause),
        )

    def _symptom_in(self, part: Deviation, case_id: str, symptoms: Iterable[Symptom]) -> Symptom | None:
        """The symptom with a finding that shows a deviation in a case; None if it has no finding."""
        if part.finding is None:
            return None
        shown = ((one, self._result.deviations[one.deviation]) for one in symptoms if one.case_id == case_id)
        named = part.clauses[0], part.reason
        return next((one for one, whole in shown if one.finding and named == (one.clause, whole.reason)), None)

    def _facts(self, group: _Group, clause: str) -> tuple[str, ...]:
        """What sets refused requests apart, how to declare what is absent, and what cases told that were drawn for
        them.
        """
        assert group.refusal is not None
        profile = profile_of(clause)
        absent = group.refusal.is_absent and not group.refusal.hint and profile != CORE
        places = {(one.case_id, one.clause) for one in group.own}
        told = (one.sentence for one in self._result.isolated if (one.case_id, one.clause) in places)
        return (*group.refusal.facts, *([declaring(profile)] if absent else []), *told)

    def _kept_from_judgement(self, group: _Group) -> Iterator[str]:
        """The clauses that no case judged and that the group blocks on as many cases as any other group does, and those
        whose passes do not count because of a clause that the group keeps from passing on more cases than any other.

        A refused type that is behind another fault in one case of twenty is not there after the repair of that fault.
        """
        yield from (
            clause
            for clause, on in group.blocks.items()
            if self._unjudged(clause) and len(on) == self._most_blocked[clause]
        )
        most = {
            twin for twin in self._shown_with if group is max(self.groups.values(), key=lambda one: _kept(one, twin))
        }
        yield from (clause for twin in most for clause in self._shown_with[twin])

    @cached_property
    def _most_blocked(self) -> Mapping[str, int]:
        """For each blocked clause the most cases on which one group blocks it."""
        found: dict[str, int] = {}
        for group in self.groups.values():
            for clause, on in group.blocks.items():
                found[clause] = max(found.get(clause, 0), len(on))
        return found

    def _unjudged(self, clause: str) -> bool:
        outcomes = self._result.by_clause.get(clause, ())
        return all(outcome in NOT_JUDGED or outcome is Outcome.REFUSED for outcome in outcomes)

    @cached_property
    def _shown_with(self) -> Mapping[str, Sequence[str]]:
        """The clauses that have passes which do not count, by the clause without which they show nothing."""
        found: dict[str, list[str]] = {}
        for clause, standing in self._result.standings.items():
            if standing.shown_with and not self._unjudged(clause):
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
        clauses = whole.clauses if members[0].finding else tuple(dict.fromkeys(one.clause for one in members))
        whole = dataclasses.replace(whole, clauses=clauses, count=len(members))
        return self._as_shown_by(whole, members[0], cases)

    def _as_shown_by(self, part: Deviation, symptom: Symptom, cases: tuple[str, ...]) -> Deviation:
        """The deviation on these cases, with what it is in the first of them, of which the symptom is."""
        finding, case = symptom.finding, self._cases[cases[0]]
        shown = next((item for item in case.evidence if item.finding == finding), None)
        text = finding.observed if finding is not None else _reason(case, symptom.clause)
        return dataclasses.replace(part, text=text, cases=cases, replay=case.replay, finding=finding, evidence=shown)


def _lets_pass(cause: Cause) -> bool:
    """True if all of a cause and of its echoes is that bad requests are served.

    What a finding requires says so of the clauses of every protocol; with an echo that is more, the fault reaches data.
    """
    parts = (*cause.own, *cause.echoes)
    return all(one.finding is not None and one.finding.required.startswith(PERMITTED) for one in parts)


def _plainness(part: Deviation) -> tuple[bool, bool, int, bool]:
    """Of a refusal, what says that the request has to be served comes first, of one option rather than of two, and what
    shows it in the most cases; of as many a clause on an operand, which says more than one on an operator.
    """
    other = part.finding is None or not part.finding.required.startswith(SERVED)
    return other, part.clause in BOTH, -len(part.cases), part.clause not in OPERANDS


def _kept(group: _Group, clause: str) -> int:
    """The number of cases on which a group keeps a clause from passing."""
    failed = {one.case_id for one in (*group.own, *group.echoes) if one.clause == clause}
    return len(failed | group.blocks.get(clause, set()))


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


def _reason(case: CaseJudged, clause: str) -> str:
    return next(one.reason for one in case.verdicts if one.clause == clause)


def _clause(own: Sequence[Deviation]) -> str:
    named = [clause for one in own for clause in one.clauses]
    return next((clause for clause in named if clause != WHOLE_CASE), WHOLE_CASE)


def _level(clause: str) -> Level:
    return CLAUSES[clause].level if clause in CLAUSES else Level.MUST


def _strongest(parts: Iterable[Deviation]) -> Level:
    return min((_level(part.clause) for part in parts), key=list(Level).index)


def _also(own: Sequence[Deviation]) -> str:
    """What a title adds of the other clauses that a cause is: each may need a repair of its own."""
    others = dict.fromkeys(clause for one in own for clause in one.clauses)
    others.pop(own[0].clause, None)
    return f"; also {', '.join(others)}" if others and own[0].finding is not None else ""


def _title_of(refusal: RefusedCalls, shown: Deviation) -> str:
    """The title of a refusal with the text of the case that a report shows of it, if its clause is on that."""
    if shown.finding is None or not shown.finding.required.startswith(SERVED):
        return refusal.title
    return dataclasses.replace(refusal, text=first_line(shown.text)).title


def _title(deviation: Deviation) -> str:
    text, finding = first_line(deviation.text), deviation.finding
    if finding is None:
        return text
    named = not finding.field or text.startswith(f"{finding.field} ")
    return f"{'' if named else f'{finding.field}: '}{text}; required: {finding.required}"
