"""The columns into which rows are decoded: one object for each type of the schema, with its values in order.

Values are dense: below a nullable type, only the slots that are not null have a value, so that a row costs no more
than its bytes. They are kept in typed buffers: an object for each of a million values would take fifty times the
memory of their bytes. ``minimum`` is the least number of bytes of a value, and ``free`` the number of values in it that
take no bytes and that no count in the bytes announces. ``slots`` is the number of slots that a value takes in the
arrays of Arrow, without the items of arrays in it.
"""

from __future__ import annotations

import abc

from conformance.formats.avro.cursor import Cursor
from conformance.formats.avro.types import AvroPrimitive

__all__ = ["AvroColumn", "LeafColumn"]


class AvroColumn(abc.ABC):
    """The values of one type of the schema; ``path`` is the field path of the type."""

    minimum: int = 1
    free: int = 0
    slots: int = 1

    def __init__(self, path: str) -> None:
        self.path = path

    @abc.abstractmethod
    def read(self, cursor: Cursor) -> None:
        """Read one value; raises :class:`~conformance.formats.avro.cursor.StopReading` if that is not possible."""

    @abc.abstractmethod
    def cut(self, count: int) -> None:
        """Forget all but the first ``count`` values: a row that is not complete leaves parts of it."""


class LeafColumn(AvroColumn):
    """The values of a primitive type, in order."""

    def __init__(self, path: str, type_: AvroPrimitive) -> None:
        super().__init__(path)
        self.type = type_
