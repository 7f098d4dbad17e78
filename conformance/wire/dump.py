"""Dissections as text: offset, bytes, meaning and value, one row per region.

Rows carry their kind, so that a terminal can colour what plain text only aligns.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from conformance.wire.faults import Fault, Severity
from conformance.wire.messages import Header, Message
from conformance.wire.preview import shorten

if TYPE_CHECKING:
    from conformance.wire.dissect import Dissection, Region

__all__ = ["Row", "RowKind", "lines", "rows"]

PER_ROW: Final = 8
"""Bytes shown in one row."""
ROWS: Final = 4
"""Rows shown of one region: the rest is counted."""
_HEX: Final = 3 * PER_ROW - 1


class RowKind(enum.StrEnum):
    """What a row of the dump shows."""

    MESSAGE = "message"
    HEADING = "heading"
    BYTES = "bytes"
    MORE = "more"
    FAULT = "fault"
    NOTE = "note"


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One row: ``text`` for headings and faults, the other parts for bytes."""

    kind: RowKind
    offset: int
    hex: str = ""
    meaning: str = ""
    value: str = ""
    text: str = ""


def rows(dissection: Dissection) -> Iterator[Row]:
    """The dump, row by row."""
    messages = {message.start: message for message in dissection.messages}
    faults = sorted(dissection.faults, key=lambda fault: fault.start)
    numbered = {start: number for number, start in enumerate(messages, 1)}
    path, last = "", 0
    for region in dissection.regions:
        if region.start in messages:
            text = _message(messages[region.start], numbered[region.start])
            yield Row(RowKind.MESSAGE, region.start, text=text)
            path = ""
        if region.path and region.path != path:
            path = region.path
            yield Row(RowKind.HEADING, region.start, text=path)
        yield from _bytes(region, dissection.data)
        while last < len(faults) and faults[last].start < region.end:
            yield _fault(faults[last])
            last += 1
    for fault in faults[last:]:
        yield _fault(fault)


def lines(dissection: Dissection, *, width: int = 110) -> list[str]:
    """The dump as lines of at most ``width`` characters; findings are never cut."""
    digits = max(4, len(f"{len(dissection.data):x}"))
    indent = " " * (digits + 4)
    made = []
    for row in rows(dissection):
        match row.kind:
            case RowKind.MESSAGE:
                made += ["", f"── {row.text} ".ljust(width, "─")]
            case RowKind.HEADING:
                made.append(shorten(f"{indent}{row.text}", width))
            case RowKind.FAULT | RowKind.NOTE:
                made.append(f"{indent}{row.text}")
            case RowKind.MORE:
                made.append(f"{indent}{row.text}")
            case RowKind.BYTES:
                meaning = f"{row.meaning:<22}  {row.value}" if row.value else row.meaning
                line = f"0x{row.offset:0{digits}x}  {row.hex:<{_HEX}}  {meaning}".rstrip()
                made.append(shorten(line, width))
    return made[1:] if made[:1] == [""] else made


def _message(message: Message, number: int) -> str:
    place = f"bytes {message.start} to {message.end}"
    if message.header in (Header.END_OF_STREAM, Header.STRAY):
        return f"{number}. {message.header}, {place}"
    version = f" {message.version}" if message.version else ""
    return f"{number}. {message.header} message{version}{', legacy framing' if message.legacy else ''}, {place}"


def _bytes(region: Region, data: memoryview) -> Iterator[Row]:
    size = region.end - region.start
    shown = size if size <= PER_ROW * ROWS else PER_ROW * (ROWS - 1)
    for at in range(region.start, region.start + shown, PER_ROW):
        part = data[at : min(at + PER_ROW, region.start + shown)].hex(" ")
        if at == region.start:
            yield Row(RowKind.BYTES, at, part, region.meaning, region.value)
        else:
            yield Row(RowKind.BYTES, at, part)
    if shown < size:
        yield Row(RowKind.MORE, region.start + shown, text=f"… {size - shown} more bytes, to {region.end:#06x}")


def _fault(fault: Fault) -> Row:
    violation = fault.severity is Severity.VIOLATION
    kind, mark = (RowKind.FAULT, "!!") if violation else (RowKind.NOTE, "! ")
    where = f"{fault.path}: " if fault.path else ""
    return Row(kind, fault.start, text=f"{mark} {fault.rule}: {where}{fault.observed}; required: {fault.required}")
