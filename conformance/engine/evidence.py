"""The bytes around a finding, annotated: a few lines that a person can check against the specification.

Arrow messages are shown field by field, as :func:`conformance.wire.dissect` names them; anything else sixteen bytes
to the line. Each distinct finding of a case is shown once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance.contract.clause import Clause
from conformance.contract.view import BatchBytes, SchemaBytes, View
from conformance.engine.events import Evidence, Line
from conformance.engine.outcomes import finding_class
from conformance.records import Exchange, Finding, Verdict
from conformance.wire import Region, Schema, dissect

__all__ = ["annotate", "gather", "hex_lines"]

CONTEXT: Final = 3
"""Lines shown before and after the first and last line at fault."""
MAX_LINES: Final = 16
MAX_BYTES: Final = 1 << 20
"""Messages beyond this size are shown as plain bytes: annotating each field of them takes longer than it helps."""
MAX_ROWS: Final = 4
"""Lines of a long region's bytes at fault."""
_HEAD: Final = 8
"""Bytes of a region in its line: one 64-bit value, or two of the 32-bit values that Arrow's metadata is made of."""
_ROW: Final = 16


def gather(view: View, verdicts: Iterable[Verdict], clauses: Mapping[str, Clause]) -> Iterator[Evidence]:
    """The evidence for the findings of ``verdicts`` that name a byte range, one per clause and reason class."""
    for verdict in verdicts:
        seen: set[str] = set()
        for finding in verdict.findings:
            reason = finding_class(verdict.outcome, finding)
            if finding.start is None or reason in seen:
                continue
            seen.add(reason)
            found = _bytes_of(view, finding, clauses.get(finding.clause))
            if found is not None:
                yield Evidence(finding, *found)


def _bytes_of(view: View, finding: Finding, clause: Clause | None) -> tuple[str, tuple[Line, ...]] | None:
    """What the finding's offsets count in, and its lines around them."""
    start = finding.start or 0
    end = max(start + 1, start if finding.end is None else finding.end)
    subjects = [] if clause is None else clause.over(view)
    messages = [item for item in subjects if isinstance(item, SchemaBytes | BatchBytes) and _here(item, finding)]
    if len(messages) > 1 and clause is not None:
        messages = [item for item in messages if _found_in(item, clause, finding)] or messages
    if messages:
        message = messages[0]
        kind, schema = ("schema", None) if isinstance(message, SchemaBytes) else ("record batch", message.schema)
        return f"{kind} message of {_place(finding)}, {len(message.data)} bytes", annotate(
            message.data, start, end, schema
        )
    data = _response(view.exchange, finding)
    if data is None:
        return None
    return f"bytes of {_place(finding)}, {len(data)} in all", hex_lines(data, start, end)


def _here(message: SchemaBytes | BatchBytes, finding: Finding) -> bool:
    return (message.call, message.response) == (finding.call, finding.response)


def _found_in(message: SchemaBytes | BatchBytes, clause: Clause, finding: Finding) -> bool:
    """Whether the clause says this of this message: a response may carry a schema and a batch."""
    return any((item.start, item.observed) == (finding.start, finding.observed) for item in clause.check(message))


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
    """The lines of an Arrow message around ``start`` to ``end``; a batch wants the schema that it has to fit."""
    if len(data) > MAX_BYTES:
        return hex_lines(data, start, end)
    lines = [line for region in dissect(data, schema).regions for line in _region_lines(region, data, start, end)]
    return window(lines, [line.marked for line in lines])


def _region_lines(region: Region, data: bytes, start: int, end: int) -> Iterator[Line]:
    """One line for a region; of a long one at fault the bytes at fault as well."""
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
    """Sixteen bytes to the line, from a little before ``start`` to a little after ``end``."""
    first = max(0, min(start, len(data) - 1) // _ROW - CONTEXT)
    rows = range(first * _ROW, len(data), _ROW)[: MAX_LINES + CONTEXT]
    lines = [Line(row, data[row : row + _ROW].hex(" "), "", _text(data[row : row + _ROW])) for row in rows]
    return window(lines, [line.offset < end and start < line.offset + _ROW for line in lines])


def _text(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)


def window(lines: Sequence[Line], marks: Sequence[bool]) -> tuple[Line, ...]:
    """The marked lines, with :data:`CONTEXT` before and after, at most :data:`MAX_LINES`."""
    marked = [index for index, mark in enumerate(marks) if mark] or [max(len(lines) - 1, 0)]
    first = max(0, marked[0] - CONTEXT)
    last = min(len(lines), marked[-1] + CONTEXT + 1, first + MAX_LINES)
    return tuple(
        dataclasses.replace(line, marked=mark) for line, mark in zip(lines[first:last], marks[first:last], strict=True)
    )
