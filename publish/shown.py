"""The part ``shown`` of :mod:`publish.refresh`: for each clause that few cases can show, those cases.

A case can show a clause if it is made for it, if the clause is judged there when the reference answers, or if a mutant
of the published proof fails it there. Clauses that are never judged when the reference answers without readers are not
in the file: nobody has measured which cases show them.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance._globs import matches
from conformance.engine.corpus import load_corpus
from conformance.engine.events import CaseJudged
from conformance.engine.result import NOT_JUDGED
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.engine.session import Settings, open_session
from conformance.engine.shown import FEW, FILE
from conformance.records import Case, FaultKind
from conformance.records.faultplan import PlannedFault
from conformance.records.steps import ReadRows
from conformance.targets import load_target
from publish.generated import ROOT

PROOF: Final = ROOT / "reports" / "proof.json"
SHOWN: Final = ROOT / "golden" / FILE
AMPLE: Final = 3.0
"""Seconds in which the reference sends a response on any machine; nothing is computed meanwhile."""


def render() -> dict[Path, str]:
    """The file, as the cases, the reference and the published proof make it."""
    corpus = load_corpus()
    could: dict[str, set[str]] = {}
    for clause, case in judged(corpus):
        could.setdefault(clause, set()).add(case)
    for clause, case in (*made_for(corpus), *broken(json.loads(PROOF.read_text(encoding="utf-8")))):
        if clause in could and case in corpus:
            could[clause].add(case)
    shown = {clause: sorted(cases) for clause, cases in sorted(could.items()) if len(cases) <= FEW}
    lines = ",\n  ".join(f"{json.dumps(clause)}: {json.dumps(cases)}" for clause, cases in shown.items())
    cases = ",\n  ".join(json.dumps(case) for case in sorted(corpus))
    return {SHOWN: f'{{\n "shown": {{\n  {lines}\n }},\n "cases": [\n  {cases}\n ]\n}}\n'}


def made_for(corpus: Mapping[str, Case]) -> Iterator[tuple[str, str]]:
    """Each clause with the cases made for it."""
    for clause in all_clauses():
        for case in corpus.values():
            if matches(clause, case.clauses):
                yield clause, case.id


def judged(corpus: Mapping[str, Case]) -> Iterator[tuple[str, str]]:
    """Each clause with the cases on which it is judged when the reference answers; clauses on readers are not.

    A read whose client has a deadline, or whose connection breaks, goes on from where it came, which is a matter of
    chance. Such a case is judged twice: with all responses of before, and without any of them.
    """
    yield from _judged([_broken_off(case, early=False) for case in corpus.values()])
    early = ((case, _broken_off(case, early=True)) for case in corpus.values())
    yield from _judged([changed for case, changed in early if changed != _broken_off(case, early=False)])


def _broken_off(case: Case, *, early: bool) -> Case:
    """The case with faults after which it is certain which responses came."""
    steps = [
        dataclasses.replace(step, faults=tuple(_certain(fault, early=early) for fault in step.faults))
        if isinstance(step, ReadRows)
        else step
        for step in case.steps
    ]
    return dataclasses.replace(case, steps=tuple(steps))


def _certain(fault: PlannedFault, *, early: bool) -> PlannedFault:
    """A deadline with time for the responses before it, and a status in place of a broken connection; or ``early``,
    with no response before either.
    """
    if fault.kind is FaultKind.RESET:
        return PlannedFault(FaultKind.STATUS, call=fault.call, responses=0 if early else fault.responses)
    if fault.kind is FaultKind.DEADLINE and fault.responses:
        return dataclasses.replace(fault, **({"responses": 0} if early else {"seconds": AMPLE}))
    return fault


def _judged(cases: Collection[Case]) -> Iterator[tuple[str, str]]:
    selection = Selection()
    chosen = plan([*cases], all_clauses(), selection)
    with open_session(load_target("reference"), chosen, selection, Settings(readers=False)) as session:
        for event in session.events():
            for verdict in event.verdicts if isinstance(event, CaseJudged) else ():
                if verdict.outcome not in NOT_JUDGED:
                    yield verdict.clause, verdict.case_id


def broken(proof: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each clause with the cases on which it fails on a mutant."""
    for mutant in proof["mutants"].values():
        for clause, cases in mutant["failed"].items():
            yield from ((clause, case) for case in cases)
