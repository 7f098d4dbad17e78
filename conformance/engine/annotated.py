"""The annotated bytes around a finding: a few lines that a person can check against the specification.

Arrow messages are shown field by field, as :func:`conformance.wire.dissect` names them; other bytes are shown sixteen
to a line. This module needs no extra, because ``conformance check`` shows its findings with it.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.contain.text import keep_safe
from conformance.wire import Region, Schema, dissect
from conformance.wire.messages import Bytes

__all__ = ["Line", "annotate", "around", "hex_lines", "regions_of"]

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
class Line:
    """One annotated line of a message: its offset, its bytes, the field and the meaning; ``marked`` lines are at
    fault.
    """

    offset: int
    hex: str
    field: str
    meaning: str
    marked: bool = False

    def __post_init__(self) -> None:
        keep_safe(self, "field", "meaning")

    def __str__(self) -> str:
        field = f"{self.field}: " if self.field.strip() else ""
        return f"{'>' if self.marked else ' '} 0x{self.offset:04x}  {self.hex:<25}  {field}{self.meaning}".rstrip()


def annotate(data: Bytes, start: int, end: int, schema: Schema | None = None) -> tuple[Line, ...]:
    """The lines of an Arrow message around ``start`` to ``end``; a record batch needs the schema that it belongs to."""
    return around(data, regions_of(data, schema), start, end)


def regions_of(data: Bytes, schema: Schema | None) -> Sequence[Region]:
    """The regions of a message; none if the message is too large to be dissected."""
    return () if len(data) > MAX_BYTES else dissect(data, schema).regions


def around(data: Bytes, regions: Sequence[Region], start: int, end: int) -> tuple[Line, ...]:
    """The lines around ``start`` to ``end`` of bytes with these regions."""
    if len(data) > MAX_BYTES:
        return hex_lines(data, start, end)
    marked = [index for index, region in enumerate(regions) if region.start < end and start < region.end]
    first, last = (marked[0], marked[-1]) if marked else (len(regions) - 1, len(regions) - 1)
    near = regions[max(0, first - CONTEXT) : last + CONTEXT + 1]
    made = (line for region in near for line in _region_lines(region, data, start, end))
    lines = list(itertools.islice(made, MAX_LINES + CONTEXT))
    return window(lines, [line.marked for line in lines])


def _region_lines(region: Region, data: Bytes, start: int, end: int) -> Iterator[Line]:
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


def hex_lines(data: Bytes, start: int, end: int) -> tuple[Line, ...]:
    """Sixteen bytes to a line, from a little before ``start`` to a little after ``end``."""
    first = max(0, min(start, len(data) - 1) // _ROW - CONTEXT)
    rows = range(first * _ROW, len(data), _ROW)[: MAX_LINES + CONTEXT]
    lines = [Line(row, data[row : row + _ROW].hex(" "), "", _text(data[row : row + _ROW])) for row in rows]
    return window(lines, [line.offset < end and start < line.offset + _ROW for line in lines])


def _text(data: Bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)


def window(lines: Sequence[Line], marks: Sequence[bool]) -> tuple[Line, ...]:
    """The marked lines, with :data:`CONTEXT` lines before and after, at most :data:`MAX_LINES` in all."""
    marked = [index for index, mark in enumerate(marks) if mark] or [max(len(lines) - 1, 0)]
    first = max(0, marked[0] - CONTEXT)
    last = min(len(lines), marked[-1] + CONTEXT + 1, first + MAX_LINES)
    return tuple(
        dataclasses.replace(line, marked=mark) for line, mark in zip(lines[first:last], marks[first:last], strict=True)
    )
