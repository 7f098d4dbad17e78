"""The position in the bytes of rows: reads the numbers, lengths and bytes of which Avro's binary encoding is made.

Each read advances, and reports a broken rule with its place. Where nobody knows how the bytes go on, it raises
:class:`StopReading`, which :mod:`conformance.formats.avro.datum` catches. If ``regions`` is a list, each part that was
read is added to it, for the annotated dump.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from conformance.contain.text import many
from conformance.formats.avro.rules import AvroRule
from conformance.wire.closed import RegionKind
from conformance.wire.faults import Fault, report
from conformance.wire.regions import MAX_REGIONS, Region

__all__ = ["MAX_FREE", "PACE", "Cursor", "ReadingLimit", "StopReading"]

MAX_FREE: Final = 1 << 20
"""Values without bytes (null, a record without fields) in all rows: declaring many of them costs a server nothing."""
PACE: Final = 1 << 16
"""Slots that are read before anybody is asked again whether reading may go on."""
_MAGICS: Final = {
    b"Obj\x01": "an Avro file does; rows have no header",
    b"\xc3\x01": "an Avro message with a fingerprint of its schema does; rows have no header",
}


class StopReading(Exception):  # noqa: N818  # it ends the reading, and a fault says why
    """The bytes cannot be followed any further, for the reason in the last fault; or a limit is reached."""


def _go_on() -> None:
    """Nothing speaks against reading on."""


@dataclasses.dataclass(slots=True)
class ReadingLimit:
    """The slots of Arrow's arrays that are left to all rows that share this limit; negative if they took more.

    ``ask`` is called after each :data:`PACE` slots; what it raises ends the reading.
    """

    left: int
    ask: Callable[[], None] = _go_on

    @property
    def exceeded(self) -> bool:
        """True if a reading ended early because rows had more slots than were left."""
        return self.left < 0


class Cursor:
    """A position in ``data``; ``row`` is the number of the row there.

    If ``keeps`` is false, the columns may forget what was read: only the faults of the rows are wanted.
    ``unreadable`` counts the values that no Arrow type can have: no UTF-8, no DATETIME, no int of 32 bits.
    """

    def __init__(
        self,
        data: bytes,
        regions: list[Region] | None = None,
        *,
        limit: ReadingLimit | None = None,
        keeps: bool = True,
    ) -> None:
        self.data = data
        self.size = len(data)
        self.at = 0
        self.row = 0
        self.free = MAX_FREE
        self.unreadable = 0
        self.faults: list[Fault] = []
        self.regions = regions
        self.limit = limit
        self.keeps = keeps
        self.since = 0

    def report(self, rule: AvroRule, start: int, path: str, observed: str, *, end: int | None = None) -> None:
        """Report a fault of the bytes from ``start`` to the position, or to ``end``."""
        where = f"row {self.row}, {path}" if path else f"row {self.row}"
        report(self.faults, rule, (start, self.at if end is None else end), where, observed)

    def stop(self, rule: AvroRule, start: int, path: str, observed: str, *, end: int | None = None) -> StopReading:
        """Report a fault after which the bytes cannot be followed; returns what the caller has to raise."""
        begin = next((text for magic, text in _MAGICS.items() if self.data.startswith(magic)), "")
        self.report(rule, start, path, f"{observed}; the bytes begin as {begin}" if begin else observed, end=end)
        return StopReading(rule)

    def show(self, start: int, path: str, meaning: str, value: str, kind: RegionKind = RegionKind.FIELD) -> None:
        """Add the bytes from ``start`` to the position to the regions, if there are any."""
        if self.regions is not None and len(self.regions) < MAX_REGIONS:
            self.regions.append(Region(start, self.at, kind, f"row {self.row}, {path}", meaning, value))

    def spend(self, count: int, path: str) -> None:
        """Count values that take no bytes; raises :class:`StopReading` if there are too many."""
        self.free -= count
        if self.free < 0:
            observed = f"more than {many(MAX_FREE, 'value')} without bytes"
            raise self.stop(AvroRule.ITEMS_LIMIT, self.at, path, observed)

    def pace(self, slots: int) -> bool:
        """Count slots before they are read; true after each :data:`PACE` of them.

        Raises:
            StopReading: the limit has fewer slots left. No fault is reported, as the bytes have none.
        """
        limit = self.limit
        if limit is not None:
            limit.left -= slots
            if limit.left < 0:
                raise StopReading(limit)
        self.since += slots
        if self.since < PACE:
            return False
        self.since = 0
        if limit is not None:
            limit.ask()
        return True

    def long(self, path: str, part: str) -> int:
        """A variable-length number, zig-zag decoded."""
        data, start = self.data, self.at
        at = start
        if at >= self.size:
            raise self.stop(AvroRule.ROW_TRUNCATED, at, path, f"the end of the bytes in place of the {part}")
        byte = data[at]
        at += 1
        if byte < 0x80:
            self.at = at
            return (byte >> 1) ^ -(byte & 1)
        value, shift = byte & 0x7F, 7
        while byte >= 0x80:
            if at >= self.size:
                shown = data[start:at].hex(" ")
                raise self.stop(AvroRule.VARINT_TRUNCATED, start, path, f"{part} {shown}, and the end", end=at)
            if at - start == 10:
                shown = data[start:at].hex(" ")
                raise self.stop(AvroRule.VARINT_TOO_LONG, start, path, f"{part} {shown} and more", end=at)
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
        self.at = at
        if value >> 64:
            raise self.stop(AvroRule.VARINT_OVERFLOW, start, path, f"{part} {data[start:at].hex(' ')}")
        if not byte:
            self.report(AvroRule.VARINT_NOT_MINIMAL, start, path, f"{part} {data[start:at].hex(' ')}")
        return (value >> 1) ^ -(value & 1)

    def byte(self, path: str, part: str) -> int:
        """One byte."""
        if self.at >= self.size:
            raise self.stop(AvroRule.ROW_TRUNCATED, self.at, path, f"the end of the bytes in place of the {part}")
        self.at += 1
        return self.data[self.at - 1]

    def fixed(self, width: int, path: str, part: str) -> bytes:
        """A value of a fixed width."""
        start, end = self.at, self.at + width
        if end > self.size:
            if start == self.size:
                raise self.stop(AvroRule.ROW_TRUNCATED, start, path, f"the end of the bytes in place of the {part}")
            observed = f"{many(self.size - start, 'byte')} of a {part}"
            raise self.stop(AvroRule.FIXED_TRUNCATED, start, path, observed, end=self.size)
        self.at = end
        return self.data[start:end]

    def sized(self, path: str, part: str) -> bytes:
        """A length and as many bytes."""
        start = self.at
        length = self.long(path, "length")
        begin, end = self.at, self.at + length
        if self.regions is not None:
            self.show(start, path, f"length of the {part}", many(length, "byte"))
        if length < 0:
            raise self.stop(AvroRule.LENGTH_NEGATIVE, start, path, f"a length of {length}")
        if end > self.size:
            observed = f"a length of {length}, and {many(self.size - begin, 'byte')} after it"
            raise self.stop(AvroRule.LENGTH_BEYOND, start, path, observed)
        self.at = end
        return self.data[begin:end]
