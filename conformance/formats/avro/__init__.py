"""A strict reader of what the Storage Read API sends in Avro: a schema in JSON, and datums of consecutive rows.

The encoding is that of the Avro specification (https://avro.apache.org/docs/1.12.0/specification/). Around the rows
there is nothing: no header, no count, no marker
(https://cloud.google.com/bigquery/docs/reference/storage#avro_schema_details). The reader shares no code with any
writer of Avro, and needs no Avro library. Broken bytes never raise; they become faults of :class:`AvroRule`.

>>> text = '{"type":"record","name":"__root__","fields":[{"name":"x","type":["null","long"]}]}'
>>> schema = read_avro_schema(text).schema
>>> reading = read_avro_rows(bytes.fromhex("02 54 00"), schema, row_count=2)
>>> reading.rows, reading.faults
(2, ())
>>> avro_to_arrow(reading).to_pylist()
[{'x': 42}, {'x': None}]
>>> print(*read_avro_rows(bytes.fromhex("04"), schema).faults)
avro-rows.union-branch: row 0, x, bytes 0 to 1: expected the number before a union's value is the position of one of \
its branches; found branch 2 of a union with 2 branches
"""

from __future__ import annotations

from conformance.formats.avro.cursor import ReadingLimit
from conformance.formats.avro.datum import AvroRowsReading, read_avro_rows
from conformance.formats.avro.dissect import dissect_avro
from conformance.formats.avro.mapped import avro_arrow_schema, avro_arrow_type
from conformance.formats.avro.rows import avro_to_arrow, slots_of
from conformance.formats.avro.rules import AvroRule
from conformance.formats.avro.schema import AvroSchemaReading, read_avro_schema
from conformance.formats.avro.types import (
    AvroArray,
    AvroField,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    PrimitiveKind,
)

__all__ = [
    "AvroArray",
    "AvroField",
    "AvroPrimitive",
    "AvroRecord",
    "AvroReference",
    "AvroRowsReading",
    "AvroRule",
    "AvroSchema",
    "AvroSchemaReading",
    "AvroType",
    "AvroUnion",
    "PrimitiveKind",
    "ReadingLimit",
    "avro_arrow_schema",
    "avro_arrow_type",
    "avro_to_arrow",
    "dissect_avro",
    "read_avro_rows",
    "read_avro_schema",
    "slots_of",
]
