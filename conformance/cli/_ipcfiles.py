"""Streams, files and tensors for ``conformance check``: judge each file by itself, and format the result."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from conformance.cli._carrier import carried
from conformance.cli._group import Unusable
from conformance.cli._reading import read_named
from conformance.contain.text import many, safe
from conformance.contract.disputes import dispute_of
from conformance.contract.files import judge_bytes
from conformance.contract.ipc.judging import PROFILE_OF, judge_ipc
from conformance.engine.annotated import around, regions_of
from conformance.engine.selection import all_clauses, binds, today
from conformance.records import Finding, Level, Outcome, Verdict
from conformance.report.bytelines import byte_texts
from conformance.report.terminallayout import columns, flowed, paint
from conformance.wire import Header, Kind, read_file, read_messages, recognise, sniff

__all__ = [
    "Checked",
    "Refused",
    "check_file",
    "counted",
    "counting",
    "has_message",
    "no_message",
    "refuse_foreign",
    "show",
    "unjudged",
    "values_of",
]

_CONTINUATION: Final = b"\xff\xff\xff\xff"
_HEAD: Final = 8
"""The bytes of a file before its first message."""
_NO_MESSAGE: Final = frozenset({Header.STRAY, Header.UNKNOWN})


@dataclasses.dataclass(frozen=True, slots=True)
class Checked:
    """One file with its verdicts; ``profile`` is the profile by which it was judged."""

    path: Path
    data: bytes
    kind: Kind
    profile: str
    verdicts: tuple[Verdict, ...]

    @property
    def name(self) -> str:
        """The file's name, made safe for display: the author of the file may have chosen it."""
        return safe(str(self.path))

    @property
    def findings(self) -> Iterator[Finding]:
        """Every finding, in the order of the clauses."""
        return (finding for verdict in self.verdicts for finding in verdict.findings)

    @property
    def passed(self) -> int:
        """The number of clauses that were observed and pass."""
        return sum(verdict.outcome is Outcome.PASS for verdict in self.verdicts)

    @property
    def failed(self) -> int:
        """The number of clauses that fail."""
        return sum(verdict.outcome is Outcome.FAIL for verdict in self.verdicts)

    @property
    def clean(self) -> bool:
        """True if every clause that was observed passes, and none was left unjudged."""
        return self.passed == len(self.verdicts)

    def to_json(self) -> dict[str, Any]:
        """The result for the file as plain values."""
        return {
            "file": self.name,
            "kind": self.kind.value,
            "profile": self.profile,
            "passed": self.passed,
            "failed": self.failed,
            "findings": [{"file": self.name, **values_of(finding)} for finding in self.findings],
            "not_judged": {one.clause: one.reason for one in self.verdicts if one.reason},
        }

    def lines(self) -> Iterator[str]:
        """The result for the file as text for people: each finding with the bytes around it."""
        clauses = all_clauses()
        regions = functools.cache(lambda: regions_of(self.data, None))
        for finding in self.findings:
            clause = clauses[finding.clause]
            yield f"{clause.id}  [{clause.level.upper()}]"
            yield f"  where     {self.name}" + (f", {finding.field}" if finding.field else "")
            yield f"  required  {finding.required}"
            yield f"  observed  {finding.observed}"
            if finding.start is not None:
                end = max(finding.end or 0, finding.start + 1)
                yield from byte_texts(around(self.data, regions(), finding.start, end), columns())
            yield f"  source    {clause.source}"
            yield f"  evidence  {clause.evidence_in_words}"
            if clause.breaks:
                yield f"  breaks    {clause.breaks}"
            yield ""
        yield from unjudged(self.verdicts)
        yield f"{self.name}: {counted(self.failed, self.passed)} ({self.kind}, {self.profile})"


@dataclasses.dataclass(frozen=True, slots=True)
class Refused:
    """One of several files that cannot be judged; ``sentence`` names the file and says why."""

    path: Path
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """The refusal as plain values."""
        return {"file": safe(str(self.path)), "unusable": safe(self.sentence)}

    def lines(self) -> Iterator[str]:
        """The refusal as text for people."""
        yield safe(self.sentence)


def values_of(finding: Finding) -> dict[str, Any]:
    """A finding as plain values, with the level and the source of its clause."""
    clause = all_clauses()[finding.clause]
    return {
        "clause": clause.id,
        "level": clause.level.value,
        "field": finding.field,
        "start": finding.start,
        "end": finding.end,
        "required": finding.required,
        "observed": finding.observed,
        "source": clause.source,
    }


def counted(failed: int, passed: int) -> str:
    """How many clauses fail and pass, in words."""
    return f"{many(failed, 'clause fails', 'clauses fail')}, {many(passed, 'passes', 'pass')}"


def show(line: str) -> None:
    """Print a line about a finding, in the terminal's width and colours; it may begin with a label."""
    style, head = _style(line), ""
    if labelled := _LABELLED.match(line):
        head = labelled[0]
    for place, part in enumerate(flowed(line[len(head) :], columns(), head=head)):
        size = len(head) if labelled and not place else 0
        click.echo((paint(part[:size], bold=True) if size else "") + paint(part[size:], **style))


_LABELLED: Final = re.compile(r"  [a-z]+(?: [a-z]+)?  +(?=\S)")


def _style(line: str) -> dict[str, Any]:
    """The style of a line: red for bytes at fault and what was observed, bold for a clause; the last by its verdict."""
    if line.startswith(("  > ", "  observed ")):
        return {"fg": "red"}
    if line.endswith("]") and not line.startswith(" "):
        return {"fg": "red", "bold": True}
    if found := re.search(r"\b(\d+) clauses? fails?, ", line):
        return {"fg": "green" if found[1] == "0" else "red"}
    return {}


def unjudged(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """The clauses that were not judged, as text for people: those that raised, and all if there is too much to read."""
    reasons: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.reason:
            reasons.setdefault(verdict.reason, []).append(verdict.clause)
    for reason, clauses in reasons.items():
        more = f" and {len(clauses) - 1} more" if len(clauses) > 1 else ""
        yield f"{clauses[0]}{more}"
        yield f"  not judged  {reason}"
        yield ""


def check_file(path: Path, kind: Kind | None, profile: str, level: Level, *, writer: bool) -> Checked:
    """Judge one file, as the kind detected from its bytes unless one is given; ``profile`` is empty or one of that
    kind.

    Raises:
        Unusable: the file is empty, contains no message, or is a batch without its schema.
    """
    data = read_named(path)
    if not data:
        raise Unusable(f"{path}: expected Arrow data, got an empty file")
    seems = sniff(data) if kind is None else kind
    _USABLE[seems](path, data)
    profile = profile or PROFILE_OF[seems]
    if seems is Kind.MESSAGE:
        verdicts = judge_bytes(data, [], profile=profile)
    else:
        verdicts = judge_ipc(data, seems, writer=writer)
    return Checked(path, data, seems, profile, tuple(counting(verdicts, level)))


def counting(verdicts: Iterable[Verdict], level: Level = Level.MAY) -> list[Verdict]:
    """The verdicts on clauses of this level and more binding ones, without those on disputed clauses."""
    day = today()
    return [one for one in verdicts if binds(all_clauses()[one.clause], level) and dispute_of(one.clause, day) is None]


def refuse_foreign(path: Path, data: bytes) -> None:
    """Refuse bytes without any message, and name their format if it is a known one.

    Bytes that begin as a message does, with the continuation word, are judged even if they cannot be followed.

    Raises:
        Unusable: the bytes contain no message.
    """
    if not has_message(data):
        raise Unusable(no_message(path, data))


def has_message(data: bytes) -> bool:
    """True if the bytes contain a message, or begin as one does."""
    return data.startswith(_CONTINUATION) or any(one.header not in _NO_MESSAGE for one in read_messages(data))


def no_message(path: Path, data: bytes) -> str:
    """The sentence about bytes without any message."""
    if found := recognise(data):
        got = f"{found.name}; {found.advice}"
    else:
        got = carried(data, judged=True) or f"{many(len(data), 'byte')} without a message"
    return f"{path}: expected Arrow data, got {got}"


def _refuse_other(path: Path, data: bytes) -> None:
    refuse_foreign(path, data)
    first = read_messages(data, limit=2)[0]
    if first.header not in (Header.SCHEMA, *_NO_MESSAGE):
        raise Unusable(
            f"{path}: expected a stream, a file, a tensor or a schema message, got a {first.header} alone;"
            f" use --batch for it, together with --schema"
        )


def _refuse_empty_shell(path: Path, data: bytes) -> None:
    if data.startswith(_CONTINUATION, _HEAD):
        return
    reading = read_file(data)
    messages = [] if reading.stream is None else reading.stream.messages
    if reading.footer is None and all(message.header in _NO_MESSAGE for message in messages):
        raise Unusable(
            f"{path}: expected an Arrow file, got {many(len(data), 'byte')} with neither a message nor a footer"
        )


_USABLE: Final[dict[Kind, Callable[[Path, bytes], None]]] = {
    Kind.MESSAGE: _refuse_other,
    Kind.STREAM: refuse_foreign,
    Kind.TENSOR: refuse_foreign,
    Kind.FILE: _refuse_empty_shell,
}
