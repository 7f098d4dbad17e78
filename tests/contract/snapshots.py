"""The text of every finding of every clause, on calls, tables, messages and servers that break it; and the register."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import Finding, Verdict
from tests.contract.byte_samples import broken_messages
from tests.contract.exchanges import deviations, verdicts
from tests.contract.test_byte_clauses import ON_MESSAGES, violations
from tests.contract.test_column_clauses import CASE, OWN, serialized, table
from tests.protocols.flight.reference.judged import judged

load_chapters()


def path_of(part: str) -> Path:
    """Where the findings of a part are kept."""
    return Path(__file__).parent / f"found-{part}.txt"


def render(*parts: str) -> dict[Path, str]:
    """The files of these parts."""
    return {path_of(part): found(part) for part in parts}


def found(part: str) -> str:
    """Every finding of a part, under the name of what was done."""
    return "".join(f"{line}\n" for line in PARTS[part]())


def _calls() -> Iterator[str]:
    for deviation in deviations():
        layout = {"streams": deviation.streams, "response_rows": deviation.response_rows}
        yield f"{deviation}:"
        yield from _findings(verdicts(deviation.case, deviation.spoil, **layout))


def _tables() -> Iterator[str]:
    faults = {name: mutant.serializer for name, mutant in MUTANTS.items() if mutant.serializer is not None}
    for name, serializer in (faults | OWN).items():
        yield f"{name}:"
        yield from _findings(judge(CASE, serialized(serializer), table()))


def _messages() -> Iterator[str]:
    for rule, message in broken_messages().items():
        yield f"{rule}:"
        yield from (f"  {clause.id}: {one}" for clause in ON_MESSAGES for one in violations(clause, message))


def _register() -> Iterator[str]:
    for clause in CLAUSES.values():
        sources = " ".join((clause.source, *clause.also))
        yield f"{clause.id}: {clause.level}, {', '.join(clause.profiles)}, {clause.evidence_in_words}: {sources}"


def _flight() -> Iterator[str]:
    for name, mutant in FLIGHT_MUTANTS.items():
        if not mutant.process:
            yield f"{name}:"
            yield from map(finding_in_words, judged(name).written.values())


def sections(part: str) -> dict[str, list[str]]:
    """The findings of a part that are kept, by the name of what was done."""
    kept: dict[str, list[str]] = {}
    name = ""
    for line in path_of(part).read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            kept[name].append(line)
        else:
            name = line.removesuffix(":")
            kept[name] = []
    return kept


PARTS: Mapping[str, Callable[[], Iterator[str]]] = {
    "calls": _calls,
    "tables": _tables,
    "messages": _messages,
    "flight": _flight,
    "register": _register,
}


def _findings(judged: Iterable[Verdict]) -> Iterator[str]:
    for verdict in judged:
        if verdict.reason and not verdict.findings:
            yield f"  {verdict.clause}: {verdict.outcome}: {verdict.reason}"
        yield from map(finding_in_words, verdict.findings)


def finding_in_words(one: Finding) -> str:
    """The line of a finding."""
    place = f"call {one.call}, response {one.response}, {one.field or 'no field'}, bytes {one.start} to {one.end}"
    return f"  {one.clause}: {place}: expected {one.required}; found {one.observed}"
