"""Dissections as text: offset, bytes, meaning and value, in one row or more per region.

Each row has a kind, so that a terminal can colour it; plain text only aligns the columns.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable, Collection, Iterator
from typing import Final

from conformance.contain.text import many, safe
from conformance.wire.closed import RowKind, SectionKind
from conformance.wire.dissect import Dissection, Region
from conformance.wire.faults import Fault, Severity
from conformance.wire.preview import shorten

__all__ = ["Row", "lines", "rows"]

PER_ROW: Final = 8
"""The number of bytes in one row."""
ROWS: Final = 4
"""The number of rows shown of one region; the other bytes are only counted."""
_HEX: Final = 3 * PER_ROW - 1
_WIDE = 110
"""The columns from which on the value of a field is always behind its meaning."""


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One row: ``text`` is for headings and faults, the other parts are for bytes."""

    kind: RowKind
    offset: int
    hex: str = ""
    meaning: str = ""
    value: str = ""
    text: str = ""


def _is_violation(fault: Fault) -> bool:
    return fault.severity is Severity.VIOLATION


def rows(
    dissection: Dissection,
    *,
    only: Collection[SectionKind] = (),
    breaks: Callable[[Fault], bool] = _is_violation,
) -> Iterator[Row]:
    """The rows of the dump; if ``only`` names kinds of sections, the rows of these sections.

    Faults that ``breaks`` selects are marked as faults, all others as notes.
    """
    sections = {section.start: section for section in dissection.chosen(only)}
    faults = _reported(dissection, only)
    path, last = "", 0
    for region in dissection.within(only):
        if region.start in sections:
            yield Row(RowKind.MESSAGE, region.start, text=sections[region.start].title)
            path = ""
        if region.path and region.path != path:
            path = region.path
            yield Row(RowKind.HEADING, region.start, text=path)
        yield from _bytes(region, dissection.data)
        while last < len(faults) and faults[last].start < region.end:
            yield _fault(faults[last], marked=breaks(faults[last]))
            last += 1
    for fault in faults[last:]:
        yield _fault(fault, marked=breaks(fault))
    for kind in only:
        if not any(section.kind is kind for section in sections.values()):
            yield Row(RowKind.HEADING, 0, text=f"no {kind}")
    if len(faults) < len(dissection.faults):
        observed = f"… {many(len(dissection.faults) - len(faults), 'more fault')} in what is not shown"
        yield Row(RowKind.MORE, len(dissection.data), text=observed)


def _reported(dissection: Dissection, only: Collection[SectionKind]) -> list[Fault]:
    """The faults to show, ordered by position: those inside the shown sections, or directly after one."""
    faults = sorted(dissection.faults, key=lambda fault: fault.start)
    if not only:
        return faults
    sections = dissection.chosen(only)
    starts = [section.start for section in sections]
    found = [bisect.bisect_right(starts, fault.start) - 1 for fault in faults]
    return [fault for fault, at in zip(faults, found, strict=True) if at >= 0 and fault.start <= sections[at].end]


def lines(
    dissection: Dissection,
    *,
    width: int = 110,
    only: Collection[SectionKind] = (),
    breaks: Callable[[Fault], bool] = _is_violation,
) -> list[str]:
    """The dump as lines of at most ``width`` characters; lines with faults or escaped characters may be longer.

    ``breaks`` is as for :func:`rows`.
    """
    digits = max(4, len(f"{len(dissection.data):x}"))
    indent = " " * (digits + 4)
    made = []
    for row in rows(dissection, only=only, breaks=breaks):
        match row.kind:
            case RowKind.MESSAGE:
                made += ["", shorten(f"── {row.text} ".ljust(width, "─"), width)]
            case RowKind.HEADING:
                made.append(shorten(f"{indent}{row.text}", width))
            case RowKind.FAULT | RowKind.NOTE:
                made.append(f"{indent}{row.text}")
            case RowKind.MORE:
                made.append(f"{indent}{row.text}")
            case RowKind.BYTES:
                meaning = f"{row.meaning:<22}  {row.value}" if row.value else row.meaning
                line = f"0x{row.offset:0{digits}x}  {row.hex:<{_HEX}}  {meaning}".rstrip()
                if row.value and len(line) > width < _WIDE:  # what it is, and below it its value
                    head = f"0x{row.offset:0{digits}x}  {row.hex:<{_HEX}}  "
                    made += [f"{head}{row.meaning}", _cut(f"{' ' * len(head)}{row.value}", width)]
                else:
                    made.append(shorten(line, width))
    return [safe(line) for line in (made[1:] if made[:1] == [""] else made)]


def _cut(line: str, width: int) -> str:
    """A line that ends after a word, if it has to be cut."""
    kept, space, _ = line[: width - 1].rpartition(" ")
    return line if len(line) <= width else f"{kept}…" if space and kept.strip() else shorten(line, width)


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
        yield Row(RowKind.MORE, region.start + shown, text=f"… {many(size - shown, 'more byte')}, to {region.end:#06x}")


def _fault(fault: Fault, *, marked: bool) -> Row:
    kind, mark = (RowKind.FAULT, "!!") if marked else (RowKind.NOTE, "! ")
    where = f"{fault.path}: " if fault.path else ""
    return Row(kind, fault.start, text=f"{mark} {fault.rule}: {where}{fault.observed}; required: {fault.required}")
