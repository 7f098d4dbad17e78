"""Services that write values of Avro in another way than the reference does, for mutants and for legal variations."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.zigzag import zigzag
from conformance.records import Column, Mode

if TYPE_CHECKING:
    from conformance.protocols.storage_read.reference.avro import AvroWriter

__all__ = ["WritesCells", "sized_block"]


class WritesCells(ReadService, abc.ABC):
    """A service with other bytes for the values of some columns of the table."""

    def avro_writer(self, columns: Sequence[Column], *, display_names: bool) -> AvroWriter:
        """What writes each value as :meth:`cell` says."""
        from conformance.protocols.storage_read.reference.avrowriters import FieldWriter  # noqa: PLC0415  # fastavro

        return FieldWriter(columns, display_names=display_names, cell=self.cell)

    @abc.abstractmethod
    def cell(self, column: Column, value: Any, right: bytes) -> bytes:
        """The bytes of a value of a column, which may be NULL or a list."""


def sized_block(column: Column, value: Any, right: bytes, *, more: int = 0) -> bytes:
    """The bytes of an array as a block with its size, which declares so many bytes ``more``; others as they are."""
    if column.mode is not Mode.REPEATED or not value:
        return right
    items = right[len(zigzag(len(value))) : -1]
    return zigzag(-len(value)) + zigzag(len(items) + more) + items + right[-1:]
