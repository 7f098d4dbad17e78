"""Check the events of a run against the suite: its releases, its clauses, its cases, and what a run must contain.

Nothing here proves that a target sent what the log says; only another run does. It proves that the log is the whole log
of the run that it claims to be, under the clauses and cases of this suite.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

import conformance
from conformance.contain.text import many
from conformance.contract.viewing import profile_of
from conformance.engine.corpus import load_corpus
from conformance.engine.events import CaseJudged, Event, RunEnded, RunStarted
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.provenance import UNREAD, Digests, remarks
from conformance.engine.requirements import frozen_releases, release_of
from conformance.engine.result import cases_of
from conformance.engine.selection import Plan, Selection, all_clauses, plan
from conformance.engine.started import digests_of
from conformance.records import Case, Level, Outcome, Table, described

__all__ = ["equal_releases", "recorded_selection", "recount", "replanned", "unchained"]

T = TypeVar("T", bound=Hashable)
_NAMED: Final = 3
"""Ids named in a sentence; the rest is counted."""


def equal_releases(suite: str) -> tuple[str, ...]:
    """The releases whose frozen clauses and cases are those of the version ``suite``, the oldest first; empty if this
    suite does not know that version.
    """
    frozen = frozen_releases()
    wanted = frozen.get(release_of(suite))
    if wanted is None:
        return ()
    parts = {
        release: {(item.id, item.level, item.profiles) for item in requirements.clauses}
        for release, requirements in frozen.items()
    }
    return tuple(
        release
        for release, requirements in frozen.items()
        if parts[release] == parts[wanted.version] and requirements.corpus == wanted.corpus
    )


def recorded_selection(start: RunStarted) -> Selection:
    """The selection of a run.

    Raises:
        ValueError: it records a level that does not exist.
    """
    return Selection(start.select, start.clause, Level(start.level), start.capability, form=start.form)


def replanned(start: RunStarted, described: Iterable[Case] = ()) -> Plan:
    """The cases and clauses that this suite selects for the selection of ``start``, on the day of that run: a dispute
    that has expired since put its clause aside then. ``described`` are the cases that the target file describes.

    Raises:
        ValueError: the selection is impossible, or the log has no date.
    """
    day = dt.date.fromisoformat(start.provenance.began.partition("T")[0])
    cases = [*load_corpus(protocol=start.protocol).values(), *described]
    return plan(cases, all_clauses(), recorded_selection(start), day, profile=profile_of(start.protocol))


def _described(start: RunStarted) -> Iterator[Case]:
    """A case for each that the target file described. The log has its id; only another run can check its rows."""
    left = (one.id for one in start.left_out if one.kind == "case")
    for name in (*start.cases, *left):
        if name.startswith(described()):
            yield Case(name, "a case that the target file describes", Table((), rows=()), protocol=start.protocol)


def unchained(log: Sequence[Event]) -> Iterator[str]:
    """A sentence if a complete log does not hold the digest of its lines, so that nobody can see changes in it."""
    if any(isinstance(event, RunEnded) and not event.digest for event in log):
        yield "the log ends without the digest of its lines, which every run writes there"


def recount(events: Sequence[Event]) -> Iterator[str]:
    """The reasons why ``events`` are not those of a run of this suite as it says, one sentence each.

    The events of shards are merged before.
    """
    start = events[0]
    assert isinstance(start, RunStarted), "a log begins with this event"
    if releases := list(_releases(start)):
        yield from releases
        return
    yield from _listed(start)
    try:
        planned = replanned(start, _described(start))
    except ValueError as error:
        yield f"the log records a selection that this suite cannot make: {error}"
        return
    yield from _digests(start, planned.corpus)
    yield from _selected(start, planned)
    yield from _judged(start, events)
    yield from _verdicts(start, events)
    yield from _contradicted(events)
    yield from _clients(start, events)


def _releases(start: RunStarted) -> Iterator[str]:
    equal, own = equal_releases(start.suite), release_of(conformance.__version__)
    if not equal:
        yield f"the run is of suite {start.suite}, a version that this suite, {conformance.__version__}, does not know"
    elif own not in equal:
        yield (
            f"the run judged the clauses and cases of suite {start.suite}, and those of this suite,"
            f" {conformance.__version__}, are others: the statement is valid for {', '.join(equal)} alone;"
            " verify it with that release"
        )


def _digests(start: RunStarted, corpus: str) -> Iterator[str]:
    recorded = start.provenance.digests
    present = digests_of(corpus)
    # Another patch release may have corrected a text. The frozen list says that it requires the same.
    exact = start.suite == conformance.__version__
    for name in ("clauses", "cases", "golden") if exact else ("cases",):
        if getattr(recorded, name) != getattr(present, name):
            yield (
                f"the digest of the {_WORDS[name]} is {_short(recorded, name)} in the log and"
                f" {_short(present, name)} in this suite: they are not the same {_WORDS[name]}"
            )


_WORDS: Final = {"clauses": "clauses", "cases": "cases", "golden": "golden files"}


def _short(digests: Digests, name: str) -> str:
    return str(getattr(digests, name))[:12] or "unknown"


def _listed(start: RunStarted) -> Iterator[str]:
    """Compare all clauses of the log, judged and left out, with the frozen list of its release."""
    release = release_of(start.suite)
    frozen = {item.id for item in frozen_releases()[release].clauses}
    said = Counter((*start.clauses, *(left.id for left in start.left_out if left.kind == "clause")))
    if missing := sorted(frozen - set(said)):
        yield (
            f"the log does not mention {_names(missing, 'clause')} of the frozen list of suite {release}, which has"
            f" {len(frozen)}"
        )
    if surplus := sorted(set(said) - frozen):
        yield f"the log mentions {_names(surplus, 'clause')} that the frozen list of suite {release} does not have"
    if twice := sorted(name for name, count in said.items() if count > 1):
        yield f"the log mentions {_names(twice, 'clause')} twice"


def _selected(start: RunStarted, planned: Plan) -> Iterator[str]:
    """Compare the cases, clauses and what was left out with the selection that the log records."""
    yield from _same(start.clauses, [clause.id for clause in planned.clauses], "clause")
    yield from _same(start.cases, [case.id for case in planned.cases], "case")
    said, due = ({(left.kind, left.id): left.reason for left in lists} for lists in (start.left_out, planned.left_out))
    for kind in ("case", "clause"):
        silent = sorted(name for of, name in due.keys() - said.keys() if of == kind)
        if silent:
            yield f"the log does not say that it left out {_names(silent, kind)}"
    other = sorted(name for (kind, name), reason in said.items() if due.get((kind, name), reason) != reason)
    if other:
        yield f"the log gives another reason than its selection for leaving out {_names(other, 'id')}"
    counted = (start.all_cases, start.all_clauses)
    whole = (len(planned.cases) + sum(left.kind == "case" for left in planned.left_out), len(all_clauses()))
    if counted != whole:
        yield (
            f"the log counts {counted[0]} cases and {counted[1]} clauses in all, and the suite has {whole[0]} and"
            f" {whole[1]}"
        )


def _same(said: Sequence[str], due: Sequence[str], kind: str) -> Iterator[str]:
    if missing := sorted(set(due) - set(said)):
        yield f"the log does not list {_names(missing, kind)} that its selection includes"
    if surplus := sorted(set(said) - set(due)):
        yield f"the log lists {_names(surplus, kind)} that its selection does not include"
    if len(said) != len(set(said)):
        yield f"the log lists {_names(_twice(said), kind)} twice"
    elif not missing and not surplus and list(said) != list(due):
        yield f"the log lists its {kind}s in another order than the suite"


def _judged(start: RunStarted, events: Sequence[Event]) -> Iterator[str]:
    """Compare the cases that have verdicts with those that the run chose and generated, in each attempt."""
    attempts = [(event.case_id, event.attempt) for event in events if isinstance(event, CaseJudged)]
    judged = [name for name, attempt in attempts if attempt == 1]
    due = cases_of(start)
    if twice := _unique(name for name, _ in _twice(attempts)):
        yield f"the log judges {_names(twice, 'case')} twice"
    if surplus := sorted(set(judged) - set(due)):
        yield (
            f"the log judges {_names(surplus, 'case')} that the run, with seed {start.seed}, {start.generated}"
            f" generated cases and {start.scenarios} scenarios, does not have"
        )
    complete = any(isinstance(event, RunEnded) for event in events)
    if complete and (missing := sorted(set(due) - set(judged))):
        yield f"the log says that the run is complete, and does not judge {_names(missing, 'case')}"
    if not twice and not surplus and judged != [name for name in due if name in set(judged)]:
        yield "the log judges its cases in another order than the run"
    repeated = [(name, attempt) for name in judged for attempt in range(1, start.repeat + 1)]
    if not twice and (attempts != repeated if complete else attempts != repeated[: len(attempts)]):
        yield f"the log does not have {many(start.repeat, 'attempt')} at each case, in their order"


def _verdicts(start: RunStarted, events: Sequence[Event]) -> Iterator[str]:
    chosen = {*start.clauses, WHOLE_CASE}
    for event in events:
        if isinstance(event, CaseJudged):
            clauses = [verdict.clause for verdict in event.verdicts]
            if twice := _twice(clauses):
                yield f"the log has two verdicts on {event.case_id} by {_names(twice, 'clause')}"
            if surplus := sorted(set(clauses) - chosen):
                yield (
                    f"the log has verdicts on {event.case_id} by {_names(surplus, 'clause')}, which the run did not"
                    " choose"
                )


def _contradicted(events: Sequence[Event]) -> Iterator[str]:
    """Find passes that have findings, and bytes of findings that no verdict has."""
    for event in events:
        if isinstance(event, CaseJudged):
            passes = [one.clause for one in event.verdicts if one.outcome is Outcome.PASS and one.findings]
            if passes:
                yield f"the log has a pass with findings on {event.case_id} by {_names(passes, 'clause')}"
            found = {finding for verdict in event.verdicts for finding in verdict.findings}
            if lost := _unique(item.finding.clause for item in event.evidence if item.finding not in found):
                yield (
                    f"the log has the bytes of a finding on {event.case_id} by {_names(lost, 'clause')}, and no verdict"
                    " with that finding"
                )


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _clients(start: RunStarted, events: Sequence[Event]) -> Iterator[str]:
    """Compare the readers that the log names with what its last event says of them."""
    known = start.provenance
    if bool(known.readers) != start.readers:
        yield f"the log says that readers were {'on' if start.readers else 'off'}, and names {len(known.readers)}"
    for event in events:
        if isinstance(event, RunEnded):
            due = remarks(known)
            if due and UNREAD not in event.remarks:
                yield "the log names no real client, and its last event does not remark that none read the data"
            if UNREAD in event.remarks and not due:
                yield "the log names real clients, and its last event remarks that none read the data"


def _twice(names: Sequence[T]) -> list[T]:
    return [name for name, count in Counter(names).items() if count > 1]


def _names(names: Collection[str], noun: str) -> str:
    """Some names with their noun, and the number of the others."""
    shown = ", ".join(list(names)[:_NAMED])
    more = len(names) - _NAMED
    return f"the {noun}{'s'[: len(names) > 1]} {shown}{f' and {more} more' if more > 0 else ''}"
