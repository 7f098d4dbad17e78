"""The rows of a session in Avro: its schema and its payloads from the recorded responses, and rows as a table.

A library of Avro gives each row as a dictionary. Its values are put into Arrow arrays of the types in which the Storage
Read API sends the same columns, so that they can be compared with the rows that the suite decodes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Context
from typing import Any, Final

import pyarrow as pa

from conformance.contract import proto
from conformance.formats.avro import (
    AvroArray,
    AvroPrimitive,
    AvroSchema,
    AvroType,
    AvroUnion,
    avro_arrow_schema,
    read_avro_schema,
)
from conformance.formats.avro.mapped import is_interval
from conformance.formats.messages import AVRO
from conformance.readers.fullread import FullRead
from conformance.readers.messages import inflated

__all__ = ["NoAvroRows", "RecordedAvro", "avro_messages", "avro_table"]

_EXACT: Final = Context(prec=100)
"""More digits than any decimal has."""


class NoAvroRows(Exception):  # noqa: N818  # its name becomes a reading's error class
    """The recorded responses have no schema or no rows in Avro where they are needed."""


@dataclass(frozen=True, slots=True)
class RecordedAvro:
    """The schema in its JSON, and the rows of each response of every stream in the session's order."""

    schema: bytes
    payloads: tuple[bytes, ...]


@functools.lru_cache(maxsize=1)  # each reader of a worker calls it again
def avro_messages(read: FullRead) -> RecordedAvro:
    """Extract schema and rows of a full read in Avro; the schema is the session's, else the first in a response.

    Raises:
        NoAvroRows: There is no schema in Avro at all, or a response carries no rows.
        google.protobuf.message.DecodeError: A response is not a ReadRowsResponse.
    """
    schema = AVRO.schema_in(proto.ReadSession.FromString(read.session))
    payloads = []
    for stream in read.streams:
        for index, data in enumerate(stream.responses):
            response = proto.ReadRowsResponse.FromString(data)
            schema = schema or AVRO.schema_in(response)
            stored = AVRO.rows_in(response)
            if stored is None:
                raise NoAvroRows(f"expected rows in Avro in response {index} of {stream.name}, got none")
            payloads.append(inflated(response, stored) if read.asks_response_compression else stored)
    if not schema:
        raise NoAvroRows("expected an Avro schema in the session or in a response, got none")
    return RecordedAvro(schema, tuple(payloads))


def avro_table(rows: Iterable[Mapping[str, Any]], schema: bytes) -> pa.Table:
    """The rows that a library of Avro gave, in the columns of a schema.

    Raises:
        NoAvroRows: The suite cannot read the schema, so that it does not know the types of the columns.
    """
    read = read_avro_schema(schema).schema
    if read is None:
        raise NoAvroRows("the suite cannot read the Avro schema")
    into = avro_arrow_schema(read)
    given = list(rows)
    columns = (
        _array([row[field.name] for row in given], field.type, made.type, read)
        for field, made in zip(read.root.fields, into, strict=True)
    )
    return pa.Table.from_arrays(list(columns), schema=into)


def _array(values: Sequence[Any], of: AvroType, made: pa.DataType, schema: AvroSchema) -> pa.Array:
    """An array of the type ``made`` with the values of the Avro type ``of``; None is NULL."""
    if isinstance(of, AvroUnion):
        return _array(values, of.value, made, schema)
    if isinstance(of, AvroArray):
        lists = [value or () for value in values]
        offsets = pa.array(itertools.accumulate(map(len, lists), initial=0), pa.int32())
        items = _array([item for each in lists for item in each], of.items, made.value_type, schema)
        return pa.ListArray.from_arrays(offsets, items, type=made, mask=_absent(values))
    if isinstance(of, AvroPrimitive):
        return _leaf(values, of, made)
    record = schema.record(of)
    if is_interval(record):
        return pa.array([None if value is None else _interval(value) for value in values], made)
    fields = [made.field(place) for place in range(made.num_fields)]
    children = [
        _array([None if value is None else value[part.name] for value in values], part.type, field.type, schema)
        for part, field in zip(record.fields, fields, strict=True)
    ]
    return pa.StructArray.from_arrays(children, fields=fields, mask=_absent(values))


def _leaf(values: Sequence[Any], of: AvroPrimitive, made: pa.DataType) -> pa.Array:
    if pa.types.is_decimal(made):
        return _decimals(values, made)
    if of.logical == "datetime":  # libraries leave a DATETIME as the text that it is
        values = [datetime.fromisoformat(value) if isinstance(value, str) else value for value in values]
    return pa.array(values, made)


def _decimals(values: Sequence[Any], made: pa.DataType) -> pa.Array:
    """Decimals by their digits: pyarrow takes no Decimal of 77 digits, which a BIGNUMERIC may have."""
    width = made.bit_width // 8
    digits = (0 if value is None else int(value.scaleb(made.scale, _EXACT)) for value in values)
    data = b"".join(number.to_bytes(width, "little", signed=True) for number in digits)
    valid = pa.array([value is not None for value in values], pa.bool_())
    return pa.Array.from_buffers(made, len(values), [valid.buffers()[1], pa.py_buffer(data)])


def _absent(values: Sequence[Any]) -> pa.Array:
    return pa.array([value is None for value in values], pa.bool_())


def _interval(value: Mapping[str, int]) -> pa.MonthDayNano:
    return pa.MonthDayNano([value["months"], value["days"], value["microseconds"] * 1000])
