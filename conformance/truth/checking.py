"""Check a truth pack: its parts agree with one another, its recordings agree, and nothing private is in it.

The digests show damage, not forgery: who edits a pack can make them again. What shows an edit is that every fact of a
pack stands in two places that have to agree, or is computed again: two recordings have the same exchanges, the
confirmations repeat the facts of the recordings, and the verdicts follow from both.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from typing import Final

import conformance
from conformance.contain.text import many
from conformance.records import Case, RecordError, to_json
from conformance.truth.making import FEWEST, answers_of, difference
from conformance.truth.pack import Pack, Taken, digest
from conformance.truth.packjudging import findings_of
from conformance.truth.references import UnresolvedError, kept, undefined
from conformance.truth.scanning import leaks

__all__ = ["aged", "before", "changed_cases", "period", "problems"]

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_PERIOD: Final = re.compile(r"([1-9]\d{0,4})d")


def problems(pack: Pack) -> Iterator[str]:
    """A sentence for each thing that is wrong with ``pack``; the cheap checks come first."""
    found = [*_confirmed(pack), *_entries(pack)]
    yield from found
    if found:  # what is computed from a pack that is broken says nothing
        return
    found = list(_agreement(pack))
    yield from found
    yield from leaks(pack)
    if not found:
        yield from _verdicts(pack)


def _confirmed(pack: Pack) -> Iterator[str]:
    """Each recording has its own confirmation, which repeats its facts; they are of different runs."""
    if len(pack.recordings) < FEWEST:
        yield f"recordings: expected at least {FEWEST}, got {len(pack.recordings)}: one recording confirms nothing"
    named = [one.recording for one in pack.confirmations.confirmations]
    if named != sorted(pack.recordings):
        wanted, got = (", ".join(names) or "none" for names in (sorted(pack.recordings), named))
        yield f"confirmations.json: expected one for each of the recordings {wanted}, in this order, got {got}"
        return
    if len({taken.facts.began for taken in pack.recordings.values()}) < len(pack.recordings):
        yield "recordings: two began at the same instant: they are one run, which confirms nothing twice"
    for index, one in enumerate(pack.confirmations.confirmations):
        taken = pack.recordings[one.recording]
        where = f"confirmations.json, confirmations[{index}]"
        if place := difference(to_json(one.facts), to_json(taken.facts), f"{where}.facts"):
            yield f"{place}: not what recordings/{one.recording}.jsonl says in its first line"
        if not _INSTANT.fullmatch(one.facts.began):
            yield f"{where}.facts.began: expected an instant in UTC, got {one.facts.began!r}"
        elif one.sha256 != digest(taken):
            yield f"{where}.sha256: not the digest of recordings/{one.recording}.jsonl"


def _entries(pack: Pack) -> Iterator[str]:
    """Each recording has each case once, in order, and its references are defined before they are used."""
    for name, taken in pack.recordings.items():
        ids = [entry.case_id for entry in taken.entries]
        if ids != sorted(set(ids)):
            yield f"recordings/{name}.jsonl: expected each case once, in the order of the ids"
        for number, entry in enumerate(taken.entries, 2):
            if entry.exchange is None:
                continue
            place = f"recordings/{name}.jsonl, line {number} ({entry.case_id})"
            steps = len(entry.exchange.case.steps)
            outside = [call.step for call in entry.exchange.calls if not 0 <= call.step < steps]
            if outside:
                yield f"{place}: expected calls of the case's {many(steps, 'step')}, got one of step {outside[0]}"
                continue
            yield from (f"{place}: {sentence}" for sentence in undefined(entry.exchange))


def _agreement(pack: Pack) -> Iterator[str]:
    """Every exchange is one on which two recordings of a region agree."""
    for case_id in sorted({entry.case_id for taken in pack.recordings.values() for entry in taken.entries}):
        yield from _alone(case_id, pack.recordings)


def _alone(case_id: str, recordings: Mapping[str, Taken]) -> Iterator[str]:
    entries = {name: taken.by_case().get(case_id) for name, taken in recordings.items()}
    alone = {name: Taken(recordings[name].facts, (entry,)) for name, entry in entries.items() if entry is not None}
    exchanges = {name: entry.exchange for name, entry in entries.items() if entry is not None and entry.exchange}
    for one in answers_of(alone):
        for region in one.regions:
            names = [name for name in one.recordings if recordings[name].facts.region == region]
            if len(names) >= FEWEST:
                continue
            others = [name for name in exchanges if name != names[0] and recordings[name].facts.region == region]
            if not others:
                yield f"{case_id}: only recording {names[0]} of {region} has an exchange; an answer needs {FEWEST}"
                continue
            place = difference(kept(exchanges[names[0]]), kept(exchanges[others[0]]))
            yield f"{case_id}: recordings {names[0]} and {others[0]} differ at {place}"


def _verdicts(pack: Pack) -> Iterator[str]:
    """``verdicts.json`` is what this version computes from the recordings."""
    try:
        made = findings_of(pack.recordings, answers_of(pack.recordings))
    except (UnresolvedError, RecordError, ValueError) as error:
        yield f"recordings: an exchange cannot be judged: {error}"
        return
    if place := difference(to_json(pack.findings), to_json(made), "verdicts"):
        older = pack.findings.suite != conformance.__version__
        by = f"; it is of suite {pack.findings.suite}" if older else ""
        yield (
            f"verdicts.json, {place}: not what the recordings give under suite {conformance.__version__}{by};"
            " `conformance truth judge PACK --write` makes it again"
        )


def changed_cases(pack: Pack, corpus: Mapping[str, Case]) -> tuple[str, ...]:
    """The ids of cases that are not in ``corpus`` as they were recorded: their answers are about another case.

    The JSON forms are compared: a case with a fraction that is no number does not equal itself.
    """
    found = {
        entry.case_id: entry.exchange.case
        for taken in pack.recordings.values()
        for entry in taken.entries
        if entry.exchange is not None
    }
    return tuple(one for one, case in found.items() if one not in corpus or to_json(corpus[one]) != to_json(case))


def period(text: str) -> dt.timedelta:
    """A number of days such as *90d*; raises ValueError for anything else."""
    match = _PERIOD.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a number of days such as 90d, got {text!r}")
    return dt.timedelta(days=int(match[1]))


def before(day: dt.date, age: dt.timedelta) -> dt.date:
    """The day that is ``age`` before ``day``; the first one of the calendar if there is none."""
    return day - age if age < day - dt.date.min else dt.date.min


def aged(pack: Pack, earliest: dt.date) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Each case whose answer was last confirmed before a day: the case, the day, the regions. Replaced ones do not
    count.
    """
    for one in sorted(pack.findings.answers, key=lambda one: (one.last, one.case_id)):
        if not one.replaced and dt.date.fromisoformat(one.last) < earliest:
            yield one.case_id, one.last, one.regions
