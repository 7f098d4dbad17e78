"""The annotated bytes around a finding: a few lines that a person can check against the specification.

Arrow messages are shown field by field, as :func:`conformance.wire.dissect` names them; other bytes are shown sixteen
to a line. Each distinct finding of a case is shown once.
"""

from __future__ import annotations

import dataclasses
import itertools
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from conformance.contain.text import safe
from conformance.contract.clause import Clause
from conformance.contract.view import BatchBytes, SchemaBytes, View
from conformance.engine.events import Evidence, Line
from conformance.engine.outcomes import finding_class
from conformance.records import Exchange, Finding, Verdict
from conformance.wire import Region, Schema, dissect

__all__ = ["Gathered", "annotate", "gather", "hex_lines"]

Message: TypeAlias = SchemaBytes | BatchBytes
Place: TypeAlias = tuple[int | None, int | None]

CONTEXT: Final = 3
"""Lines shown before and after the first and last line at fault."""
MAX_LINES: Final = 16
MAX_BYTES: Final = 1 << 20
"""Messages longer than this are shown as plain bytes: annotating each of their fields takes longer than it helps."""
MAX_ROWS: Final = 4
"""Lines shown for the bytes at fault of a long region."""
_HEAD: Final = 8
"""Bytes of a region shown in its line: one 64-bit value, or two of the 32-bit values that Arrow's metadata is made of.
"""
_ROW: Final = 16


@dataclasses.dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence of an exchange, and the tracebacks of exceptions that prevented more evidence."""

    evidence: tuple[Evidence, ...]
    broke: tuple[str, ...] = ()


def gather(view: View, verdicts: Iterable[Verdict], clauses: Mapping[str, Clause]) -> Gathered:
    """The evidence for the findings of ``verdicts`` that name a byte range, one per clause and reason class.

    If gathering evidence for a finding raises, only that finding goes without evidence.
    """
    evidence, broke, shown = [], [], _Shown(view, clauses)
    for finding in _distinct(verdicts):
        try:
            found = shown.around(finding)
        except Exception as error:  # noqa: BLE001  # the finding is reported without evidence
            broke.append("".join(traceback.format_exception(error)))
            continue
        if found is not None:
            evidence.append(Evidence(finding, *found))
    return Gathered(tuple(evidence), tuple(broke))


def _distinct(verdicts: Iterable[Verdict]) -> Iterator[Finding]:
    for verdict in verdicts:
        seen: set[str] = set()
        for finding in verdict.findings:
            reason = finding_class(verdict.outcome, finding)
            if finding.start is None or reason in seen:
                continue
            seen.add(reason)
            yield finding


class _Shown:
    """The annotated bytes of one view; the messages of a clause and the dissection of a message are cached."""

    def __init__(self, view: View, clauses: Mapping[str, Clause]) -> None:
        self._view = view
        self._clauses = clauses
        self._subjects: tuple[str, dict[Place, list[Message]]] = ("", {})
        self._regions: tuple[Message | None, Sequence[Region]] = (None, ())

    def around(self, finding: Finding) -> tuple[str, tuple[Line, ...]] | None:
        """A description of the data into which the finding's offsets point, and the lines around them; None without
        data.
        """
        start = finding.start or 0
        end = max(start + 1, start if finding.end is None else finding.end)
        clause = self._clauses.get(finding.clause)
        messages = [] if clause is None else self._messages(clause).get((finding.call, finding.response), [])
        if len(messages) > 1 and clause is not None:
            messages = [item for item in messages if _found_in(item, clause, finding)] or messages
        if messages:
            message = messages[0]
            kind = "schema" if isinstance(message, SchemaBytes) else "record batch"
            lines = _around(message.data, self._dissected(message), start, end)
            return f"{kind} message of {_place(finding)}, {len(message.data)} bytes", lines
        data = _response(self._view.exchange, finding)
        if data is None:
            return None
        return f"bytes of {_place(finding)}, {len(data)} in all", hex_lines(data, start, end)

    def _messages(self, clause: Clause) -> Mapping[Place, list[Message]]:
        """The messages that a clause judges, by call and response; only the latest clause is cached, for findings come
        clause by clause.
        """
        if self._subjects[0] != clause.id:
            places: dict[Place, list[Message]] = {}
            for item in clause.over(self._view):
                if isinstance(item, SchemaBytes | BatchBytes):
                    places.setdefault((item.call, item.response), []).append(item)
            self._subjects = clause.id, places
        return self._subjects[1]

    def _dissected(self, message: Message) -> Sequence[Region]:
        if self._regions[0] is not message:
            schema = None if isinstance(message, SchemaBytes) else message.schema
            self._regions = message, _regions(message.data, schema)
        return self._regions[1]


def _found_in(message: SchemaBytes | BatchBytes, clause: Clause, finding: Finding) -> bool:
    """True if the clause has this finding for this message: a response may carry a schema and a batch."""
    return any((item.start, safe(item.observed)) == (finding.start, finding.observed) for item in clause.check(message))


def _place(finding: Finding) -> str:
    call = "the exchange" if finding.call is None else f"call {finding.call}"
    return call if finding.response is None else f"{call}, response {finding.response}"


def _response(exchange: Exchange, finding: Finding) -> bytes | None:
    if finding.call is None or finding.call >= len(exchange.calls):
        return None
    responses = exchange.calls[finding.call].responses
    index = finding.response or 0
    return responses[index] if index < len(responses) else None


def annotate(data: bytes, start: int, end: int, schema: Schema | None = None) -> tuple[Line, ...]:
    """The lines of an Arrow message around ``start`` to ``end``; a record batch needs the schema that it belongs to."""
    return _around(data, _regions(data, schema), start, end)


def _regions(data: bytes, schema: Schema | None) -> Sequence[Region]:
    """The regions of a message; none if the message is too large to be dissected."""
    return () if len(data) > MAX_BYTES else dissect(data, schema).regions


def _around(data: bytes, regions: Sequence[Region], start: int, end: int) -> tuple[Line, ...]:
    if len(data) > MAX_BYTES:
        return hex_lines(data, start, end)
    marked = [index for index, region in enumerate(regions) if region.start < end and start < region.end]
    first, last = (marked[0], marked[-1]) if marked else (len(regions) - 1, len(regions) - 1)
    near = regions[max(0, first - CONTEXT) : last + CONTEXT + 1]
    made = (line for region in near for line in _region_lines(region, data, start, end))
    lines = list(itertools.islice(made, MAX_LINES + CONTEXT))
    return window(lines, [line.marked for line in lines])


def _region_lines(region: Region, data: bytes, start: int, end: int) -> Iterator[Line]:
    """One line for a region; for a long region at fault, lines with the bytes at fault follow."""
    size = region.end - region.start
    marked = region.start < end and start < region.end
    head = data[region.start : region.start + min(size, _HEAD)].hex(" ") + (" …" if size > _HEAD else "")
    meaning = (
        region.meaning + (f" = {region.value}" if region.value else "") + (f", {size} bytes" if size > _HEAD else "")
    )
    yield Line(region.start, head, region.path, meaning, marked=marked)
    if marked and size > _HEAD:
        first = max(start, region.start)
        last = min(end, region.end, first + MAX_ROWS * _HEAD)
        for row in range(first, last, _HEAD):
            yield Line(row, data[row : min(row + _HEAD, last)].hex(" "), region.path, "at fault", marked=True)


def hex_lines(data: bytes, start: int, end: int) -> tuple[Line, ...]:
    """Sixteen bytes to a line, from a little before ``start`` to a little after ``end``."""
    first = max(0, min(start, len(data) - 1) // _ROW - CONTEXT)
    rows = range(first * _ROW, len(data), _ROW)[: MAX_LINES + CONTEXT]
    lines = [Line(row, data[row : row + _ROW].hex(" "), "", _text(data[row : row + _ROW])) for row in rows]
    return window(lines, [line.offset < end and start < line.offset + _ROW for line in lines])


def _text(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)


def window(lines: Sequence[Line], marks: Sequence[bool]) -> tuple[Line, ...]:
    """The marked lines, with :data:`CONTEXT` lines before and after, at most :data:`MAX_LINES` in all."""
    marked = [index for index, mark in enumerate(marks) if mark] or [max(len(lines) - 1, 0)]
    first = max(0, marked[0] - CONTEXT)
    last = min(len(lines), marked[-1] + CONTEXT + 1, first + MAX_LINES)
    return tuple(
        dataclasses.replace(line, marked=mark) for line, mark in zip(lines[first:last], marks[first:last], strict=True)
    )
