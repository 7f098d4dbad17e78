"""Annotated lines of bytes below a finding, in the columns that there are."""

from __future__ import annotations

from conformance.engine.annotated import Line
from conformance.report.terminallayout import LEAST, flowed

__all__ = ["byte_lines"]


def byte_lines(line: Line, width: int) -> list[str]:
    """An annotated line of bytes below a finding; its meaning is below itself, or below the bytes if these are wide."""
    whole = f"  {line}"
    if len(whole) <= width:
        return [whole]
    head = f"  {'>' if line.marked else ' '} 0x{line.offset:04x}  {line.hex:<25}  "
    meaning = f"{f'{line.field}: ' if line.field.strip() else ''}{line.meaning}"
    if len(head) + LEAST <= width:
        return flowed(meaning, width, head=head)
    begin = head[: head.index("0x") + 8]
    return [*flowed(line.hex, width, head=begin), *flowed(meaning, width, head=" " * len(begin))]
