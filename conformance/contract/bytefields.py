"""The two byte fields, parsed once: a schema message, and a batch message under its schema."""

from __future__ import annotations

import functools
import types
from typing import ClassVar, Final

import pyarrow as pa

from conformance import wire
from conformance.wire.arrow import DecodingError
from conformance.wire.compression import DecompressionBudget
from conformance.wire.messages import Bytes

__all__ = ["NO_MESSAGE", "BatchBytes", "SchemaBytes", "without_extremes"]

FEW: Final = 1000
"""A row count that is no excess for any table; up to it the columns' lengths are not looked at."""

_BIGNUMERIC: Final = wire.Type(wire.TypeKind.DECIMAL, bit_width=256, precision=76, scale=38)

_NO_FIELDS: Final = wire.Schema(())
_WITHOUT_SCHEMA: Final = frozenset({"prefix", "metadata", "flatbuf", "message", "key-value"})
"""Groups of rules on a batch that can be judged without a schema."""


NO_MESSAGE: Final = frozenset({wire.Header.UNKNOWN, wire.Header.STRAY, wire.Header.END_OF_STREAM})
"""The headers of bytes without a continuation word that begin no legacy message: four zero bytes are none either."""


def _worth_reporting(faults: list[wire.Fault], first: wire.Message | None) -> list[wire.Fault]:
    """The faults to report. Bytes that begin no message, not even a legacy one, have one fault: the missing
    continuation.
    """
    if faults and first is not None and first.legacy and first.header in NO_MESSAGE:
        return [fault for fault in faults if fault.rule is wire.Rule.PREFIX_CONTINUATION_MISSING]
    return faults


def without_extremes(faults: list[wire.Fault], schema: wire.Schema | None) -> list[wire.Fault]:
    """Return the faults of a batch without those for decimals of 77 digits in decimal256(76, 38), which are legal here.

    BIGNUMERIC reaches from -2**255 to 2**255 - 1 units of its scale, just beyond 76 digits. The service sends these
    extremes in decimal256(76, 38), because no larger precision exists
    (https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#bignumeric_type).
    """
    if schema is None or all(fault.rule is not wire.Rule.DECIMAL_PRECISION for fault in faults):
        return faults
    wide = {f"{path} data" for path, field in schema.walk() if field.type == _BIGNUMERIC}
    return [fault for fault in faults if fault.rule is not wire.Rule.DECIMAL_PRECISION or fault.path not in wide]


@functools.lru_cache(maxsize=64)
def _schema_message(data: bytes) -> wire.SchemaMessage:
    """Parse a schema once per distinct bytes: the schema of one session precedes thousands of batches."""
    return wire.read_schema(data)


class SchemaBytes:
    """One ``serialized_schema``: of a session, of a response, or of a serializer.

    ``where`` is ``"session"``, ``"response"`` or ``"serializer"``; ``response`` is None for a session.
    """

    __slots__ = ("call", "data", "faults", "message", "response", "where")

    in_legacy: ClassVar = False
    """False: a schema is the first message or the only one, so it is never inside a stream of legacy framing."""

    def __init__(self, call: int, response: int | None, data: bytes, where: str) -> None:
        self.call = call
        self.response = response
        self.data = data
        self.where = where
        self.message = _schema_message(data)
        self.faults = _worth_reporting(self.message.faults, self.message.message)

    @property
    def first(self) -> wire.Message | None:
        """The place and header of the first message, None if the bytes contain no message."""
        return self.message.message


class BatchBytes:
    """One ``serialized_record_batch`` with the schema that it has to fit (None if no schema could be read).

    ``data`` is the payload after whole-response decompression. ``message`` is None without a readable schema;
    ``faults`` are then those of the framing and the metadata, which need no schema. ``budget`` bounds the total size
    to which the batches that share it decompress.
    """

    __slots__ = ("_arrow", "call", "data", "faults", "first", "message", "response", "schema")

    in_legacy: bool = False
    """True in a stream of legacy framing, where any bytes after a length count as a message, however broken."""
    headers: ClassVar = frozenset({wire.Header.RECORD_BATCH})
    """The message headers whose body is judged by the schema."""

    def __init__(
        self,
        call: int,
        response: int | None,
        data: Bytes,
        schema: wire.Schema | None,
        budget: DecompressionBudget | None = None,
    ) -> None:
        self._arrow: pa.RecordBatch | types.EllipsisType | None = ...
        self.call = call
        self.response = response
        self.data = data
        self.schema = schema
        message = wire.read_batch(data, _NO_FIELDS if schema is None else schema, budget)
        self.first = message.message
        if schema is None:
            self.message = None
            self.faults = [fault for fault in message.faults if fault.rule.partition(".")[0] in _WITHOUT_SCHEMA]
        else:
            self.message = message
            self.faults = _worth_reporting(without_extremes(message.faults, schema), message.message)

    @property
    def rows(self) -> int:
        """The number of rows that decoding would give; 0 if the structure does not permit decoding.

        A batch length above the length of every column is not believed here; a clause of its own reports it.
        """
        if self.message is None or self.message.body is None or not self.message.decodable:
            return 0
        body, length = self.message.body, self.message.length or 0
        if length <= FEW:
            return length
        return min(length, max((body.nodes[2 * op.index] for op in body.plan.ops if op.parent is None), default=length))

    def arrow(self) -> pa.RecordBatch | None:
        """The rows as the suite decodes them, decoded once; None if the structure does not permit decoding."""
        if self._arrow is ...:
            self._arrow = self._decode()
        return self._arrow

    def settle(self, rows: pa.RecordBatch) -> None:
        """Set ``rows`` as the decoded batch; the caller has compared their buffers with the body byte by byte."""
        self._arrow = rows

    def _decode(self) -> pa.RecordBatch | None:
        try:
            return None if self.message is None else wire.batch_to_arrow(self.message)
        except DecodingError:
            return None
