"""Make a truth pack from the logs of runs: references, what is indeterminate, and what two recordings agree on."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conformance.contain.text import many
from conformance.engine.events import RunEnded
from conformance.engine.log import LogError, read_log
from conformance.engine.recorded import Recorded, read_recorded
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import CallEnd, CallStep, Case, Exchange
from conformance.truth.pack import Pack, PackError, Taken, digest, entry_form
from conformance.truth.packjudging import findings_of
from conformance.truth.records import (
    FORMAT,
    Aside,
    AsideKind,
    Confirmation,
    Confirmations,
    Facts,
    ServiceAnswer,
    TruthEntry,
    TruthExchange,
)
from conformance.truth.references import UnresolvedError, kept, normalised

__all__ = ["FEWEST", "answers_of", "difference", "indeterminate", "make_pack"]

FEWEST: Final = 2
"""The fewest recordings that have to agree on an answer."""

_ENDS: Final = {CallEnd.DEADLINE: "timeout", CallEnd.CRASH: "transport fault"}
_STATUSES: Final = {
    "DEADLINE_EXCEEDED": "timeout",
    "RESOURCE_EXHAUSTED": "throttled",
    "UNAVAILABLE": "transport fault",
}
"""Statuses that say how a call went and not what the service does, unless the case asks for them."""
_SERVICE: Final = re.compile(r"(?:^|[./:-])bigquerystorage(?:[.-][a-z0-9.-]+)?\.googleapis\.com(?::\d+)?$")
_LOCATION: Final = re.compile(r"projects/[^/]+/locations/([^/]+)/sessions/")


def indeterminate(case: Case, exchange: Exchange) -> str:
    """Why the exchange does not show what the service does; empty if it does."""
    if exchange.untestable:
        return f"not asked: {exchange.untestable.partition(':')[0]}"
    if exchange.stopped:
        return f"not asked to its end: {exchange.stopped.partition(';')[0]}"
    for index, call in enumerate(exchange.calls):
        if not 0 <= call.step < len(case.steps):
            return f"not asked: call {index}, {call.method}, belongs to no step of a case"
        step = case.steps[call.step]
        permitted = step.expect.codes if isinstance(step, CallStep) else ()
        word = _ENDS.get(call.end) or ("" if call.status in permitted else _STATUSES.get(call.status, ""))
        if word and call.end is not CallEnd.CANCELLED:
            return f"{word}: call {index}, {call.method}{f', {call.status}' if call.end is CallEnd.COMPLETE else ''}"
    return ""


def make_pack(logs: Sequence[Path], *, regions: Sequence[str] = (), costs: Sequence[str] = ()) -> Pack:
    """The pack of two or more logs; ``regions`` and ``costs`` are those of each log, where the logs do not say them.

    Raises:
        PackError: there are fewer than two logs, one run twice, or a log says nothing of its origin.
        LogError: a file is not a log, or holds no exchange.
        OSError: a log cannot be read.
    """
    if len(logs) < FEWEST:
        raise PackError(f"expected at least {FEWEST} logs, got {len(logs)}: one recording confirms nothing")
    drafts: dict[str, Taken] = {}
    for number, path in enumerate(logs, 1):
        recorded = _read(path)
        facts = _facts(recorded, path, _at(regions, number, ""), _at(costs, number, ""))
        drafts[str(number)] = Taken(facts, tuple(_entry(one.case, one.exchange) for one in recorded.exchanges))
    if (twice := _twice(drafts)) is not None:
        raise PackError(
            f"{logs[twice]}: expected another run, got one that began at the same instant as an earlier log"
        )
    settled = {name: _settled(name, drafts) for name in drafts}
    confirmations = [Confirmation(name, taken.facts, digest(taken)) for name, taken in sorted(settled.items())]
    return Pack(settled, Confirmations(FORMAT, tuple(confirmations)), findings_of(settled, answers_of(settled)))


def _at(values: Sequence[str], number: int, default: str) -> str:
    """The value for log ``number``; a single value is for all of them."""
    return values[min(number, len(values)) - 1] if values else default


def _read(path: Path) -> Recorded:
    try:
        return read_recorded(path)
    except LogError as error:
        if "contains no exchange" in str(error):
            raise LogError(f"{path} contains no exchange; `conformance run --exchanges` writes them") from None
        raise


def _twice(drafts: Mapping[str, Taken]) -> int | None:
    began: list[str] = []
    for place, taken in enumerate(drafts.values()):
        if taken.facts.began in began:
            return place
        began.append(taken.facts.began)
    return None


def _facts(recorded: Recorded, path: Path, region: str, cost: str) -> Facts:
    known, start = recorded.start.provenance, recorded.start
    if not known.began:
        raise PackError(f"{path}: expected a log that says when the run began; it is of an older suite")
    seen = Counter(
        found
        for one in recorded.exchanges
        for call in one.exchange.calls
        if call.method == "CreateReadSession"
        for data in call.responses
        for found in _LOCATION.findall(data.decode("latin-1"))
    )
    if not region and len(seen) > 1:
        raise PackError(
            f"{path}: expected sessions in one region, got {', '.join(sorted(seen))}; give it with --region"
        )
    seconds = next((event.seconds for event in read_log(path) if isinstance(event, RunEnded)), 0.0)
    return Facts(
        began=known.began,
        region=region or next(iter(seen), "unknown"),
        suite=start.suite,
        commit=known.commit,
        target=start.target,
        service=any(_SERVICE.search(word) for word in known.target.command),
        seconds=round(seconds, 1),
        received=sum(one.exchange.received for one in recorded.exchanges),
        cost=cost,
        modified=known.modified,
    )


def _entry(case: Case, exchange: Exchange) -> TruthEntry:
    reason = indeterminate(case, exchange)
    if not reason and (case.protocol != DEFAULT_PROTOCOL or not exchange.driven):
        reason = "not a case that the driver puts to the Storage Read API"
    if not reason:
        try:
            return TruthEntry(case.id, normalised(case, exchange))
        except UnresolvedError as error:
            reason = f"no references: {error}"
    return TruthEntry(case.id, aside=Aside(AsideKind.INDETERMINATE, reason))


# --- agreement ------------------------------------------------------------------------------------


def _settled(name: str, drafts: Mapping[str, Taken]) -> Taken:
    """Recording ``name`` with each case put aside on which no other recording of its region agrees."""
    entries = []
    for entry in sorted(drafts[name].entries, key=lambda one: one.case_id):
        if entry.exchange is not None:
            run = next(run for run in _runs(entry.case_id, drafts, drafts[name].facts.region) if name in run)
            if len(run) < FEWEST:
                entries.append(TruthEntry(entry.case_id, aside=Aside(AsideKind.UNSETTLED, _why(name, entry, drafts))))
                continue
        entries.append(entry)
    return Taken(drafts[name].facts, tuple(entries))


def _runs(case_id: str, recordings: Mapping[str, Taken], region: str) -> Iterator[tuple[str, ...]]:
    """The recordings of a region that have an exchange of the case, in order of their dates, grouped where those next
    to each other agree.
    """
    found = [
        (taken.facts.began, name, entry)
        for name, taken in recordings.items()
        if taken.facts.region == region and (entry := _find(taken, case_id)) is not None and entry.exchange is not None
    ]
    found.sort(key=lambda item: item[:2])
    for _, group in itertools.groupby(found, key=lambda item: _shown(item[2])):
        yield tuple(name for _, name, _ in group)


def _find(taken: Taken, case_id: str) -> TruthEntry | None:
    return next((entry for entry in taken.entries if entry.case_id == case_id), None)


def _shown(entry: TruthEntry) -> str:
    return repr(entry_form(entry))


def _why(name: str, entry: TruthEntry, drafts: Mapping[str, Taken]) -> str:
    region = drafts[name].facts.region
    for other, taken in drafts.items():
        found = _find(taken, entry.case_id)
        if other != name and taken.facts.region == region and found is not None and found.exchange is not None:
            pair = [_plain(one.exchange) for one in (entry, found)]
            return f"recordings {' and '.join(sorted((name, other)))} differ at {difference(*pair)}"
    return f"recording {name} is the only one of {region} that shows the case"


def _plain(exchange: TruthExchange | None) -> Any:
    return None if exchange is None else kept(exchange)


def difference(one: Any, other: Any, place: str = "") -> str:
    """The first place at which two JSON values differ; empty if they do not."""
    if type(one) is not type(other):
        return place or "the whole"
    if isinstance(one, dict):
        if list(one) != list(other):
            return f"{place}, its keys"
        found = (difference(one[key], other[key], f"{place}.{key}".lstrip(".")) for key in one)
        return next(filter(None, found), "")
    if isinstance(one, list):
        if len(one) != len(other):
            return f"{place}: {many(len(one), 'item')} and {len(other)}"
        found = (difference(item, other[index], f"{place}[{index}]") for index, item in enumerate(one))
        return next(filter(None, found), "")
    return "" if one == other else place


def answers_of(recordings: Mapping[str, Taken]) -> tuple[ServiceAnswer, ...]:
    """The answers on which recordings agree, by case; equal answers of several regions are one."""
    return tuple(itertools.chain.from_iterable(_answers(case, recordings) for case in _cases(recordings.values())))


def _cases(recordings: Iterable[Taken]) -> list[str]:
    return sorted({entry.case_id for taken in recordings for entry in taken.entries if entry.exchange is not None})


def _answers(case_id: str, recordings: Mapping[str, Taken]) -> Iterator[ServiceAnswer]:
    found: defaultdict[tuple[str, str], list[ServiceAnswer]] = defaultdict(list)
    for region in sorted({taken.facts.region for taken in recordings.values()}):
        runs = list(_runs(case_id, recordings, region))
        for run, later in itertools.zip_longest(runs, runs[1:]):
            dates = [recordings[name].facts.date for name in run]
            entry = _find(recordings[run[0]], case_id)
            assert entry is not None
            replaced = min(recordings[name].facts.date for name in later) if later else ""
            answer = ServiceAnswer(case_id, (region,), min(dates), max(dates), run, replaced)
            found[_shown(entry), replaced].append(answer)
    for same in found.values():
        yield ServiceAnswer(
            case_id,
            tuple(region for one in same for region in one.regions),
            min(one.first for one in same),
            max(one.last for one in same),
            tuple(sorted(name for one in same for name in one.recordings)),
            same[0].replaced,
        )
