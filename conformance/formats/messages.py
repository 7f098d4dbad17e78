"""Where the messages of Storage Read have the schema and the rows of each data format.

Source: ``DataFormat`` and ``ReadSession.schema`` in
https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/stream.proto, and
``ReadRowsResponse`` in storage.proto beside it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

__all__ = ["ARROW", "AVRO", "FORMATS", "DataFormat", "format_of_rows", "format_of_schema"]


@dataclasses.dataclass(frozen=True, slots=True)
class DataFormat:
    """A form of rows: its name and number in the enum, and the fields of schema and rows, outer and inner."""

    name: str
    number: int
    schema_field: str
    schema_text: str
    rows_field: str
    rows_bytes: str

    def schema_in(self, message: Any) -> bytes | None:
        """The schema in a ReadSession or ReadRowsResponse; None if it has none in this form."""
        if message is None or message.WhichOneof("schema") != self.schema_field:
            return None
        value: bytes | str = getattr(getattr(message, self.schema_field), self.schema_text)
        return value.encode() if isinstance(value, str) else value

    def rows_in(self, message: Any) -> bytes | None:
        """The rows in a ReadRowsResponse as they were sent, compressed or not; None if it has none in this form."""
        if message is None or message.WhichOneof("rows") != self.rows_field:
            return None
        value: bytes = getattr(getattr(message, self.rows_field), self.rows_bytes)
        return value

    def without_rows(self, message: Any) -> Any:
        """A copy of a ReadRowsResponse that has rows in this form, without their bytes.

        The memory of a message is freed as a whole, so that to clear a field of it frees nothing.
        """
        setattr(getattr(message, self.rows_field), self.rows_bytes, b"")
        copy = type(message)()
        copy.CopyFrom(message)
        return copy

    def put_schema(self, message: Any, data: bytes) -> None:
        """Set the schema of a ReadSession or ReadRowsResponse.

        Raises:
            UnicodeDecodeError: the field of this form is a text, and the bytes are none.
        """
        field = getattr(message, self.schema_field)
        is_text = isinstance(getattr(field, self.schema_text), str)
        setattr(field, self.schema_text, data.decode() if is_text else data)

    def put_rows(self, message: Any, data: bytes, deprecated_count: int = 0) -> None:
        """Set the rows of a ReadRowsResponse, and their deprecated count beside them."""
        field = getattr(message, self.rows_field)
        setattr(field, self.rows_bytes, data)
        field.row_count = deprecated_count


ARROW: Final = DataFormat(
    "ARROW", 2, "arrow_schema", "serialized_schema", "arrow_record_batch", "serialized_record_batch"
)
AVRO: Final = DataFormat("AVRO", 1, "avro_schema", "schema", "avro_rows", "serialized_binary_rows")

FORMATS: Final[Mapping[int, DataFormat]] = MappingProxyType({one.number: one for one in (ARROW, AVRO)})
"""The forms by their numbers in the enum; a request for another number asks for none of them."""

_BY_SCHEMA: Final = {one.schema_field: one for one in FORMATS.values()}
_BY_ROWS: Final = {one.rows_field: one for one in FORMATS.values()}


def format_of_schema(message: Any) -> DataFormat | None:
    """The form of the schema in a ReadSession or ReadRowsResponse; None if there is none."""
    return None if message is None else _BY_SCHEMA.get(message.WhichOneof("schema"))


def format_of_rows(message: Any) -> DataFormat | None:
    """The form of the rows in a ReadRowsResponse; None if there are none."""
    return None if message is None else _BY_ROWS.get(message.WhichOneof("rows"))
