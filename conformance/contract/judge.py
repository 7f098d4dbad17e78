"""Judging: a function from (case, exchange, table) to verdicts, without I/O and without state.

The table is the case's rows as Arrow values, made from the case alone; no expected value comes from the target.
Every clause that had a subject gets a verdict: fail with its findings, or pass. A clause that the case names
(``Case.clauses``) but that had no subject was not shown to hold. Its verdict gives the reason
(:meth:`conformance.contract.view.View.reason_not_judged`). A clause that raises, or whose subjects cannot be made,
gets the outcome *error*; the others are judged nevertheless.

The steps: a view beyond its budget is not judged. Else each aspect computes its state. A clean state shows which
clauses over the aspect have subjects; these pass without being run. All other clauses are run one by one, in order.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import traceback
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

import pyarrow as pa

from conformance._globs import matches
from conformance.contract import unjudged
from conformance.contract.clause import (
    CLAUSES,
    MAX_FINDINGS,
    PROFILES,
    Aspect,
    AspectSelector,
    Clause,
    Subject,
    Violation,
    load_chapters,
)
from conformance.contract.raised import JudgingEnded, reason_of
from conformance.contract.view import View
from conformance.contract.viewing import profile_of, view_of
from conformance.records import Case, Exchange, Finding, Outcome, Reading, Verdict

__all__ = ["Judge", "Judged", "judge", "judge_view"]


def judge(
    case: Case,
    exchange: Exchange,
    table: pa.Table,
    *,
    readings: Sequence[Reading] = (),
    clauses: Iterable[Clause] | None = None,
    profile: str = PROFILES[0],
) -> list[Verdict]:
    """Return the verdicts of ``clauses`` (all, unless given) on ``exchange``, in the order of the register.

    Only clauses of ``profile`` are judged: the requirements on writers of any Arrow message may be looser or
    stricter than those on a Storage Read server.

    ``table`` holds the case's rows with the schema of :func:`conformance.contract.mapping.arrow_schema`.
    ``readings`` are the results of independent readers on the same exchange, if any were asked.
    """
    load_chapters()
    view = view_of(case, exchange, table, readings)
    if clauses is not None:
        return judge_view(view, (one for one in clauses if profile in one.profiles))
    judging = _judge_of_all(profile, len(CLAUSES))
    return judging.in_order(case, judging(view))


def judge_view(view: View, clauses: Iterable[Clause]) -> list[Verdict]:
    """Return the verdicts of ``clauses`` on a view that the caller has made, in their order."""
    judging = _judge_of(tuple(clauses))
    return judging.in_order(view.case, judging(view))


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on a view: the ids of the clauses that ``passed``, in any order, and all ``others`` in full."""

    passed: tuple[str, ...] = ()
    others: tuple[Verdict, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The clauses over one aspect, or those without an aspect, in their order."""

    aspect: Aspect | None
    clauses: tuple[Clause, ...]


class Judge:
    """A judge of views under fixed ``clauses``; it keeps nothing of a view."""

    def __init__(self, clauses: Iterable[Clause]) -> None:
        self.clauses: Final = tuple(clauses)
        self.places: Final = {clause.id: place for place, clause in enumerate(self.clauses)}
        self._order: Final = {clause: place for place, clause in enumerate(self.clauses)}
        self._mixed: dict[str, bool] = {}
        sides: dict[Aspect | None, list[Clause]] = {}
        for clause in self.clauses:
            sides.setdefault(_aspect(clause), []).append(clause)
        self._sides = tuple(Side(aspect, tuple(over)) for aspect, over in sides.items())

    def __call__(self, view: View) -> Judged:
        """Return the verdicts of the clauses on a view; those of another protocol than the view's have none."""
        protocol = _folder_of(type(view))
        if protocol and self._is_mixed(protocol):
            return _judge_of(tuple(one for one in self.clauses if not _is_foreign(one, protocol)))(view)
        if view.exchange.untestable:
            return Judged((), tuple(unjudged.untestable(view, self.clauses)))
        if reason := view.unjudgeable():
            return Judged((), tuple(unjudged.none_of(view, self.clauses, reason)))
        return self._judged(view)

    def _judged(self, view: View) -> Judged:
        """Return the verdicts on a view whose exchange was made."""
        named = view.case.clauses
        served = unjudged.is_served(view)
        if unjudged.exceeds(view):
            beyond = unjudged.beyond(view, self.clauses, lambda clause: _verdict(view, clause, served=served))
            return Judged((), tuple(beyond))
        passed: list[str] = []
        open_: list[Clause] = []
        raised: dict[Aspect, str] = {}
        for side in self._sides:
            if side.aspect is None:
                # Without calls to a server they have no subject, and only those that the case names get a verdict.
                open_ += side.clauses if served else _named(side, named)
            elif (state := unjudged.state_of(view, side.aspect, raised)) is None:
                open_ += side.clauses
            else:
                shown, unshown = _divided(side, state, named)
                passed += shown
                open_ += unshown
        verdicts: list[Verdict] = []
        owed = _ids_named(self, named)
        for clause in sorted(open_, key=self._order.__getitem__):
            found = _ask(view, clause, served=served, owed=owed)
            if found is _PASSED:
                passed.append(clause.id)
            elif found is not None:
                verdicts.append(found)
        if raised:
            passed, verdicts = self._unhidden(view, passed, verdicts, raised)
        return Judged(tuple(passed), tuple(verdicts))

    def _is_mixed(self, protocol: str) -> bool:
        """True if some clauses are of another protocol; a recording of two protocols is judged by those of both."""
        if protocol not in self._mixed:
            self._mixed[protocol] = any(_is_foreign(clause, protocol) for clause in self.clauses)
        return self._mixed[protocol]

    def _unhidden(
        self, view: View, passed: list[str], verdicts: list[Verdict], raised: Mapping[Aspect, str]
    ) -> tuple[list[str], list[Verdict]]:
        """Return the ids that passed and all other verdicts, with an error of each aspect that raised."""
        every = unjudged.unhidden([*Verdict.passes(view.case.id, passed), *verdicts], raised, self.clauses)
        every.sort(key=lambda one: self.places[one.clause])
        shown = [one.clause for one in every if one.outcome is Outcome.PASS]
        return shown, [one for one in every if one.outcome is not Outcome.PASS]

    def in_order(self, case: Case, judged: Judged) -> list[Verdict]:
        """Return all verdicts in the order of the clauses; verdicts on the case as a whole come last."""
        others = {verdict.clause: verdict for verdict in judged.others}
        ordered = _in_order(self, judged.passed, tuple(others))
        verdicts = Verdict.passes(case.id, ordered)
        if others:
            for place, clause_id in enumerate(ordered):
                if clause_id in others:
                    verdicts[place] = others[clause_id]
        return verdicts


_FOLDERS: Final = "conformance.protocols."


def _folder_of(thing: object) -> str:
    """The folder of the protocol in whose code a view's class or a selector is; empty if it is of no protocol."""
    module: str = getattr(thing, "__module__", "")
    return module.removeprefix(_FOLDERS).partition(".")[0] if module.startswith(_FOLDERS) else ""


def _is_foreign(clause: Clause, protocol: str) -> bool:
    """True if the subjects of a clause are found by the code of another protocol, which does not know the view.

    A clause of both protocols knows the views of both.
    """
    if _folder_of(clause.over) in ("", protocol):
        return False
    return profile_of(protocol.replace("_", "-")) not in clause.profiles


@functools.lru_cache(maxsize=16)
def _judge_of(clauses: tuple[Clause, ...]) -> Judge:
    return Judge(clauses)


@functools.lru_cache(maxsize=16)
def _judge_of_all(profile: str, count: int) -> Judge:
    """Return the judge of a profile's clauses; the register only grows, so its size identifies its content."""
    del count
    return Judge(clause for clause in CLAUSES.values() if profile in clause.profiles)


@functools.lru_cache(maxsize=256)
def _in_order(judge: Judge, passed: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ids of the verdicts in the order of the judge's clauses; ids of no clause of it come last.

    Most exchanges of a target pass the same clauses, so the order is computed once for each set of them.
    """
    places = judge.places
    return tuple(sorted((*passed, *others), key=lambda clause_id: places.get(clause_id, len(places))))


def _aspect(clause: Clause) -> Aspect | None:
    return getattr(clause.over, "aspect", None)


@functools.lru_cache(maxsize=4096)
def _divided(side: Side, state: Hashable, named: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[Clause, ...]]:
    """Return the ids of the clauses that pass in a clean state of their aspect, and the clauses that have to be run.

    A clause without subjects has to be run if the case names it: its verdict then gives the reason.
    """
    shown = [clause for clause in side.clauses if cast(AspectSelector, clause.over).shown_by(state)]
    hidden = [clause for clause in _named(side, named) if clause not in shown]
    return tuple([clause.id for clause in shown]), tuple(hidden)


@functools.lru_cache(maxsize=1024)
def _ids_named(judge: Judge, named: tuple[str, ...]) -> frozenset[str]:
    """Return the ids of a judge's clauses that the case names."""
    return frozenset([clause.id for clause in judge.clauses if matches(clause.id, named)])


@functools.lru_cache(maxsize=4096)
def _named(side: Side, named: tuple[str, ...]) -> tuple[Clause, ...]:
    """Return the clauses of a side that the case names."""
    return tuple([clause for clause in side.clauses if matches(clause.id, named)])


_PASSED: Final = Verdict("", "", Outcome.PASS)
"""The verdict of every clause that passed: an exchange has hundreds, and only their ids are kept."""


def _verdict(view: View, clause: Clause, *, served: bool) -> Verdict | None:
    """Return the verdict of a clause, None if it has no subject and the case does not name it."""
    owed = frozenset({clause.id}) if matches(clause.id, view.case.clauses) else frozenset[str]()
    found = _ask(view, clause, served=served, owed=owed)
    return Verdict(view.case.id, clause.id, Outcome.PASS) if found is _PASSED else found


def _ask(  # noqa: PLR0911  # each return is one way in which a clause comes to its verdict
    view: View, clause: Clause, *, served: bool, owed: frozenset[str]
) -> Verdict | None:
    """As :func:`_verdict`, with :data:`_PASSED` for a pass; ``owed`` are the ids of the clauses that the case names."""
    if reason := unjudged.USED_UP if view.work > view.budget.work else view.given_up():
        return Verdict(view.case.id, clause.id, Outcome.UNTESTABLE, reason=reason)
    try:
        subjects = clause.over(view) if served or _aspect(clause) is not None else ()
        if subjects:
            view.work += len(subjects)
            wanted = itertools.takewhile(lambda _: not view.given_up(), subjects)
            if findings := tuple(_kept(clause, wanted)):
                return Verdict(view.case.id, clause.id, Outcome.FAIL, findings)
        if reason := view.given_up():
            return Verdict(view.case.id, clause.id, Outcome.UNTESTABLE, reason=reason)
        if subjects:
            return _PASSED
        return unjudged.unobserved(view, clause) if clause.id in owed else None
    except JudgingEnded as ended:
        return Verdict(view.case.id, clause.id, Outcome.UNTESTABLE, reason=str(ended))
    except Exception as error:  # noqa: BLE001  # any exception becomes a verdict, and the case goes on
        view.broke["".join(traceback.format_exception(error))] = None
        return Verdict(view.case.id, clause.id, Outcome.ERROR, reason=reason_of(error))


def _kept(clause: Clause, subjects: Iterable[Subject]) -> Iterator[Finding]:
    """Yield the first findings, and then the first of each call that has none yet.

    A call that has a finding is not looked at again, so that a fault in each of a million messages costs little.
    """
    calls: set[int | None] = set()
    count = 0
    check = clause.check
    for subject in subjects:
        if count >= MAX_FINDINGS and subject.call in calls:
            continue
        for violation in check(subject):
            finding = _finding(clause, subject, violation)
            if count >= MAX_FINDINGS and finding.call in calls:
                break
            calls.add(finding.call)
            count += 1
            yield finding


def _finding(clause: Clause, subject: Subject, violation: Violation) -> Finding:
    return Finding(
        clause=clause.id,
        required=violation.required,
        observed=violation.observed,
        call=subject.call if violation.call is None else violation.call,
        response=subject.response if violation.response is None else violation.response,
        field=violation.field,
        start=violation.start,
        end=violation.end,
    )
