"""Annotated lines of bytes below a finding, in the columns that there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.engine.annotated import Line
from conformance.report.terminallayout import LEAST, flowed

__all__ = ["byte_lines", "byte_texts", "hex_width", "meaning_of"]

WIDEST: Final = 25
"""The columns for bytes where there is room: eight bytes, or the first eight and a sign that there are more."""
_BEFORE: Final = len("  > 0x0000  ")


def meaning_of(line: Line) -> str:
    """What the bytes of a line are: the field and its meaning."""
    return f"{f'{line.field}: ' if line.field.strip() else ''}{line.meaning}"


def hex_width(lines: Sequence[Line], width: int, beside: int = 0) -> int:
    """The columns for the bytes of ``lines``: as many as everywhere, or no more than the longest needs if a meaning
    would have no room, with ``beside`` more columns behind it.
    """
    longest = max((len(line.hex) for line in lines), default=0)
    meanings = max((len(meaning_of(line)) for line in lines), default=0)
    wide = max(WIDEST, longest)
    return wide if _BEFORE + wide + 2 + meanings + beside <= width else longest


def byte_texts(lines: Sequence[Line], width: int) -> Iterator[str]:
    """The lines of text of :func:`byte_lines`."""
    for _, parts in byte_lines(lines, width):
        yield from parts


def byte_lines(lines: Sequence[Line], width: int) -> Iterator[tuple[Line, list[str]]]:
    """Each annotated line of bytes below a finding, as lines of text; its meaning is below itself, or below the bytes
    if these are wide.
    """
    size = hex_width(lines, width)
    for line in lines:
        head = f"  {'>' if line.marked else ' '} 0x{line.offset:04x}  {line.hex:<{size}}  "
        meaning = meaning_of(line)
        if len(head) + len(meaning) <= width or len(head) + LEAST <= width:
            yield line, [one.rstrip() for one in flowed(meaning, width, head=head)]
            continue
        begin = head[: head.index("0x") + 8]
        yield line, [*flowed(line.hex, width, head=begin), *flowed(meaning, width, head=" " * len(begin))]
