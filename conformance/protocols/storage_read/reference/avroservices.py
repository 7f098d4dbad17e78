"""Services that write values of Avro in another way than the reference does, for mutants and for legal variations."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from conformance.protocols.storage_read.reference.service import Service
from conformance.records import Column

if TYPE_CHECKING:
    from conformance.protocols.storage_read.reference.avro import AvroWriter

__all__ = ["WritesCells"]


class WritesCells(Service, abc.ABC):
    """A service with other bytes for the values of some columns of the table."""

    def avro_writer(self, columns: Sequence[Column], *, display_names: bool) -> AvroWriter:
        """What writes each value as :meth:`cell` says."""
        from conformance.protocols.storage_read.reference.avrowriters import FieldWriter  # noqa: PLC0415  # fastavro

        return FieldWriter(columns, display_names=display_names, cell=self.cell)

    @abc.abstractmethod
    def cell(self, column: Column, value: Any, right: bytes) -> bytes:
        """The bytes of a value of a column, which may be NULL or a list."""
