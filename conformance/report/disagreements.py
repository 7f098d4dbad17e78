"""Compare a statement with its report, its log and the suite: one sentence for each disagreement.

The report is made from the log again, and from that the statement. :mod:`conformance.engine.recount` compares the log
with the suite.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import conformance
from conformance.engine.events import CaseJudged, Event
from conformance.engine.merge import MergeError, merge
from conformance.engine.recount import equal_releases, recount, unchained
from conformance.engine.result import fold
from conformance.report.document import Report, document
from conformance.report.reading import as_read
from conformance.report.statementnumbers import FileDigest, Statement, statement_on

__all__ = ["Material", "again", "disagreements", "stated"]

_OF_THE_SUITE: Final = frozenset({"summary", "clauses", "deviations", "causes", "problems", "service"})
"""Fields of a report with texts and confirmations that ship with the suite: another release may have others."""
_NAMED: Final = 3
"""Entries named in a sentence; the rest is counted."""
_LONGEST: Final = 80
"""Characters of a value that are quoted."""


@dataclasses.dataclass(frozen=True, slots=True)
class Material:
    """The files behind a statement: a report, the logs of its run or of its shards, and the digests of these files."""

    report: Report
    report_file: FileDigest
    logs: tuple[tuple[Event, ...], ...]
    log_files: tuple[FileDigest, ...]


def stated(material: Material) -> Statement:
    """The statement on ``material``.

    Raises:
        MergeError: the logs are not those of one run.
    """
    events = merge(material.logs)
    return _made(material.report, events, material.report_file, material.log_files)


def _made(report: Report, events: Sequence[Event], file: FileDigest, logs: Sequence[FileDigest]) -> Statement:
    return statement_on(
        report,
        releases=equal_releases(report.run.suite),
        report_file=file,
        logs=logs,
        cases=sum(isinstance(event, CaseJudged) and event.attempt == 1 for event in events),
    )


def disagreements(statement: Statement, material: Material) -> Iterator[str]:
    """The reasons why ``statement`` is not true of ``material`` and of this suite, one sentence each."""
    yield from _files(statement, material)
    for log in material.logs:
        yield from unchained(log)
    try:
        events = merge(material.logs)
    except MergeError as error:
        yield f"the logs are not those of one whole run: {error}"
        return
    yield from recount(events)
    true = as_read(document(fold(events)))
    due = _made(true, events, statement.report, statement.logs)
    shipped = frozenset[str]() if true.run.suite == conformance.__version__ else _OF_THE_SUITE
    fields = {field.name for field in dataclasses.fields(Report)}
    yield from _differences("the report", material.report, true, only=fields - shipped)
    yield from _releases(statement, due)
    fields = {field.name for field in dataclasses.fields(Statement)} - {"releases", "report", "logs"}
    yield from _differences("the statement", statement, due, only=fields - (shipped & {"service"}))


def _files(statement: Statement, material: Material) -> Iterator[str]:
    if statement.report.sha256 != material.report_file.sha256:
        yield (
            f"the statement is on another report: the digest of {material.report_file.name} is"
            f" {material.report_file.sha256[:12]}, and the statement names {statement.report.sha256[:12]}"
        )
    named = {file.sha256 for file in statement.logs}
    have = {file.sha256: file.name for file in material.log_files}
    for digest in sorted(have.keys() - named):
        yield f"the log {have[digest]} is not one that the statement names: its digest is {digest[:12]}"
    if missing := [file.name for file in statement.logs if file.sha256 not in have]:
        yield f"the log {', '.join(sorted(missing))}, as the statement names it by its digest, is not here"


def _releases(statement: Statement, due: Statement) -> Iterator[str]:
    """A later suite may know more releases with the same clauses than the statement names, and no fewer."""
    if surplus := [release for release in statement.releases if release not in due.releases]:
        yield (
            f"the statement names suite release {', '.join(surplus)}, whose frozen clauses and cases are not those"
            " of the run"
        )
    if not statement.releases:
        yield "the statement names no suite release for which it is valid"


def again(before: Report, after: Report) -> Iterator[str]:
    """The clauses with another standing in a second run, and what else is not as it was, one sentence each."""
    then, now = before.run, after.run
    if then.target != now.target:
        yield f"the target called itself {then.target!r}, and calls itself {now.target!r} now"
    if then.expectations != now.expectations:
        yield "the target file lists other expected failures than it did"
    if not after.complete:
        yield "the second run was cut short"
    standings = before.standings, after.standings
    for clause in dict.fromkeys((*standings[0], *standings[1])):
        first, second = (found[clause].words if clause in found else "not observed" for found in standings)
        if first != second:
            yield f"{clause}: {first} in the statement, {second} when it is run again"


def _differences(what: str, given: Any, true: Any, *, only: set[str] | None = None, path: str = "") -> Iterator[str]:
    """One sentence for each field of a record that is not what the log gives."""
    for field in dataclasses.fields(true):
        said, due = getattr(given, field.name), getattr(true, field.name)
        name = f"{path}{field.name}"
        if said == due or (only is not None and field.name not in only):
            continue
        if dataclasses.is_dataclass(due):
            yield from _differences(what, said, due, path=f"{name}.")
        elif isinstance(due, tuple):
            yield from _lists(what, name, said, due)
        else:
            yield f"{what} has {name} {_quoted(said)}, and the log gives {_quoted(due)}"


def _lists(what: str, name: str, said: Sequence[Any], due: Sequence[Any]) -> Iterator[str]:
    have, want = ({_label(item): item for item in items} for items in (said, due))
    if missing := [label for label in want if label not in have]:
        yield f"{what} leaves {_some(missing)} out of its {name}, and the log has it"
    if surplus := [label for label in have if label not in want]:
        yield f"{what} has {_some(surplus)} in its {name}, and the log does not"
    if other := [label for label in have if label in want and have[label] != want[label]]:
        yield f"{what} says otherwise than the log about {_some(other)} in its {name}"
    if twice := [label for label, count in Counter(map(_label, said)).items() if count > 1 and len(said) > len(due)]:
        yield f"{what} has {_some(twice)} twice in its {name}"
    if not (missing or surplus or other or twice):
        yield f"{what} has its {name} in another order than the log"


_KEYS: Final = (
    ("id",),
    ("key",),
    ("group", "level"),
    ("clauses", "reason"),
    ("clause", "reason"),
    ("kind", "reason"),
    ("kind", "entry"),
    ("outcome",),
    ("name",),
)
"""The fields by which an entry of a list is known; the first of these that it has."""


def _label(item: Any) -> str:
    """The words by which an entry of a list is known, without its numbers."""
    keys = next((keys for keys in _KEYS if all(hasattr(item, key) for key in keys)), ())
    values = (getattr(item, key) for key in keys)
    return " ".join(", ".join(value) if isinstance(value, tuple) else str(value) for value in values) or str(item)


def _some(labels: Sequence[str]) -> str:
    shown = ", ".join(_quoted(label) for label in labels[:_NAMED])
    return shown + (f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else "")


def _quoted(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")
