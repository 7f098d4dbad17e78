"""Judge the answers of a pack offline, and say of each clause whether the service holds it."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import conformance
from conformance.contract.clause import CLAUSES, PROFILES
from conformance.engine.events import CaseJudged, ExchangeRecorded, RunStarted
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.recorded import Recorded
from conformance.engine.result import Result, fold
from conformance.engine.standing import FAILING, PASSED, Standing
from conformance.records import Level, Outcome
from conformance.truth.pack import Taken
from conformance.truth.records import (
    FORMAT,
    AsideKind,
    ClauseAnswer,
    ClauseTruth,
    Facts,
    ServiceAnswer,
    TruthFindings,
    TruthStanding,
)
from conformance.truth.references import resolved

__all__ = ["findings_of"]

_BROKEN: Final = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED, Outcome.ERROR})
_ORDER: Final = {standing: place for place, standing in enumerate(TruthStanding)}


def findings_of(recordings: Mapping[str, Taken], answers: Sequence[ServiceAnswer]) -> TruthFindings:
    """What follows from the recordings under the clauses of this version.

    Raises:
        UnresolvedError: an exchange cannot be resolved.
    """
    service = all(taken.facts.service for taken in recordings.values())
    shown: defaultdict[str, list[ClauseAnswer]] = defaultdict(list)
    for region, replaced in sorted({(region, one.replaced) for one in answers for region in one.regions}):
        chosen = [one for one in answers if region in one.regions and one.replaced == replaced]
        for clause, found in _judged(recordings, chosen, service=service):
            shown[clause].append(dataclasses.replace(found, region=region, replaced=replaced))
    put_aside = {
        kind: tuple(
            f"{name} {entry.case_id}: {entry.aside.reason}"
            for name, taken in sorted(recordings.items())
            for entry in taken.entries
            if entry.aside is not None and entry.aside.kind is kind
        )
        for kind in AsideKind
    }
    return TruthFindings(
        format=FORMAT,
        suite=conformance.__version__,
        service=service,
        answers=tuple(answers),
        clauses=tuple(sorted((_clause(*item) for item in shown.items()), key=lambda one: _ORDER[one.standing])),
        unsettled=put_aside[AsideKind.UNSETTLED],
        indeterminate=put_aside[AsideKind.INDETERMINATE],
    )


def _clause(clause: str, answers: list[ClauseAnswer]) -> ClauseTruth:
    now = [one.standing for one in answers if not one.replaced] or [TruthStanding.NOT_SHOWN]
    level = CLAUSES[clause].level if clause in CLAUSES else Level.MUST
    return ClauseTruth(clause, level, min(now, key=_ORDER.__getitem__), tuple(answers))


def _judged(
    recordings: Mapping[str, Taken], answers: Sequence[ServiceAnswer], *, service: bool
) -> Iterator[tuple[str, ClauseAnswer]]:
    """Each clause with its standing over ``answers``, one for each case."""
    dates = {one.case_id: one.last for one in answers}
    exchanges = []
    for one in answers:
        exchange = recordings[one.recordings[0]].by_case()[one.case_id].exchange
        assert exchange is not None
        exchanges.append(ExchangeRecorded(exchange.case, resolved(exchange)))
    start = _start(recordings[answers[0].recordings[0]].facts)
    events = list(Recorded(Path("truth"), start, tuple(exchanges)).judged())
    result: Result = fold(iter(events))
    passed: defaultdict[str, list[str]] = defaultdict(list)
    broken: defaultdict[str, list[str]] = defaultdict(list)
    for verdict in [one for event in events if isinstance(event, CaseJudged) for one in event.verdicts]:
        if verdict.outcome in PASSED:
            passed[verdict.clause].append(verdict.case_id)
        elif verdict.outcome in _BROKEN:
            broken[verdict.clause].append(verdict.case_id)
    for clause, found in result.standings.items():
        shown = broken[clause] or passed[clause]
        if not shown or (clause != WHOLE_CASE and PROFILES[0] not in CLAUSES[clause].profiles):
            continue  # not shown, or about bytes of other writers
        standing = TruthStanding.HELD if found.standing is Standing.HELD else TruthStanding.NOT_SHOWN
        if found.standing in FAILING:
            standing = TruthStanding.CONTRADICTED if service else TruthStanding.FAILED
        date = max(dates[case] for case in shown)
        yield clause, ClauseAnswer("", standing, date, tuple(broken[clause]))


def _start(facts: Facts) -> RunStarted:
    """The first event of judging a recording again."""
    return RunStarted(
        suite=facts.suite,
        python="",
        pyarrow="",
        platform="",
        target=facts.target,
        target_file="",
        seed=0,
        generated=0,
        profile="server",
        select=(),
        clause=(),
        level=Level.MAY,
        readers=False,
        deadline_multiplier=1.0,
        cases=(),
        clauses=(),
        all_cases=0,
        all_clauses=0,
    )
