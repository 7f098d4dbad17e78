"""Show the messages of the Storage Write API as text: field by field, and the Arrow data of appends byte by byte."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from conformance.contain.text import many
from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.engine.transcript import arrow_lines, field_lines
from conformance.protocols.storage_write.contract.naming import answer_of, request_of
from conformance.records import Call
from conformance.wire import Schema

__all__ = ["WriteTranscript"]


class WriteTranscript:
    """The messages of one call, in the order in which they came: a batch is annotated by the schema before it."""

    def __init__(self, call: Call, most: int) -> None:
        """``most`` is the most lines of one message."""
        self._method = call.method
        self._most = most
        self._schema: Schema | None = None

    def lines(self, data: bytes, *, request: bool) -> Iterator[str]:
        """The lines of one request or response."""
        message = (request_of if request else answer_of)(self._method, data)
        if message is None:
            yield f"    not a message of this method: {data[: self._most].hex(' ')}"
            return
        found = field_lines(message, "    ")
        yield from itertools.islice(found, self._most)
        if left := sum(1 for _ in found):
            yield f"    … {many(left, 'more line')}; `conformance extract` saves the bytes"
        if request and self._method == "AppendRows":
            yield from self._arrow(message)

    def _arrow(self, message: Any) -> Iterator[str]:
        sent = message.arrow_rows
        if sent.writer_schema.serialized_schema:
            schema = SchemaBytes(0, None, sent.writer_schema.serialized_schema, "request")
            self._schema = schema.message.schema
            yield from arrow_lines(schema)
        if sent.rows.serialized_record_batch:
            yield from arrow_lines(BatchBytes(0, None, sent.rows.serialized_record_batch, self._schema))
