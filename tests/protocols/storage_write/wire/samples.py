"""Requests of AppendRows with given Arrow messages."""

from __future__ import annotations

from conformance.protocols.storage_write.contract.classes import REQUESTS

__all__ = ["append"]


def append(schema: bytes = b"", rows: bytes = b"") -> bytes:
    """A request of AppendRows with these Arrow messages, which has its other fields around them."""
    request = REQUESTS["AppendRows"](write_stream="projects/p/datasets/d/tables/t/_default", trace_id="x")
    request.arrow_rows.writer_schema.serialized_schema = schema
    request.arrow_rows.rows.serialized_record_batch = rows
    made: bytes = request.SerializeToString()
    return made
