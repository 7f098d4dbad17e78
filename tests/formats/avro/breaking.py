"""For every rule the smallest schema, or rows, that break it and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from conformance.formats.avro import AvroRule, AvroSchema, read_avro_schema


def record(*types: Any, name: str = "r", **attributes: Any) -> dict[str, Any]:
    """A record with a field ``a``, ``b``, … for each type."""
    fields = [{"name": "abcdef"[place], "type": one} for place, one in enumerate(types)]
    return {"type": "record", "name": name, "fields": fields, **attributes}


def text_of(*types: Any) -> str:
    """The text of a schema with a column for each type."""
    return json.dumps(record(*types))


def schema_of(*types: Any) -> AvroSchema:
    """A schema with a column for each type."""
    made = read_avro_schema(text_of(*types)).schema
    assert made is not None
    return made


def array(items: Any) -> dict[str, Any]:
    """An array."""
    return {"type": "array", "items": items}


def logical(base: str, name: str, **attributes: Any) -> dict[str, Any]:
    """A type with a logical type."""
    return {"type": base, "logicalType": name, **attributes}


def decimal(precision: Any, scale: Any = 0) -> dict[str, Any]:
    """A decimal."""
    return logical("bytes", "decimal", precision=precision, scale=scale)


def zigzag(value: int) -> bytes:
    """A number as Avro writes it."""
    left = (value << 1) ^ (value >> 63)
    made = bytearray()
    while left > 0x7F:
        made.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*made, left])


def _deep(levels: int) -> Any:
    made: Any = "long"
    for _ in range(levels):
        made = array(made)
    return made


def _doubled(levels: int) -> Any:
    """Records each of which has the one before twice: a short text for many types."""
    made: Any = record("long", name="r0")
    for level in range(1, levels):
        made = record(made, f"r{level - 1}", name=f"r{level}")
    return made


SCHEMAS: Final[Mapping[AvroRule, str]] = {
    AvroRule.SCHEMA_JSON: "{",
    AvroRule.SCHEMA_KEY_REPEATED: '{"type":"record","name":"r","name":"r","fields":[]}',
    AvroRule.SCHEMA_FORM: "1",
    AvroRule.ATTRIBUTE_TYPE: text_of({"type": "long", "logicalType": 1}),
    AvroRule.ROOT: '"long"',
    AvroRule.TYPE_MISSING: "{}",
    AvroRule.TYPE_UNKNOWN: text_of("text"),
    AvroRule.TYPE_UNMAPPED: text_of("float"),
    AvroRule.NAME_UNDEFINED: text_of("google.sqlType.RANGE_DATE"),
    AvroRule.NAME_MISSING: '{"type":"record","fields":[]}',
    AvroRule.NAME_ILLEGAL: json.dumps(record(name="my-table")),
    AvroRule.NAMESPACE_ILLEGAL: json.dumps(record(namespace="my-project.dataset")),
    AvroRule.FIELD_NAME_ILLEGAL: '{"type":"record","name":"r","fields":[{"name":"1","type":"long"}]}',
    AvroRule.NAME_RESERVED: json.dumps(record(name="long")),
    AvroRule.NAME_REDEFINED: text_of(record(name="s"), record(name="s")),
    AvroRule.FIELDS_MISSING: '{"type":"record","name":"r"}',
    AvroRule.FIELD_REPEATED: '{"type":"record","name":"r","fields":'
    '[{"name":"a","type":"long"},{"name":"a","type":"long"}]}',
    AvroRule.ITEMS_MISSING: text_of({"type": "array"}),
    AvroRule.UNION_NESTED: text_of(["null", ["null", "long"]]),
    AvroRule.UNION_REPEATED: text_of(["null", "long", "long"]),
    AvroRule.UNION_BRANCHES: text_of(["null", "long", "string"]),
    AvroRule.UNION_NULL_FIRST: text_of(["long", "null"]),
    AvroRule.RECURSION: text_of(["null", "r"]),
    AvroRule.LOGICAL_UNKNOWN: text_of(logical("string", "uuid")),
    AvroRule.LOGICAL_BASE: text_of(logical("long", "date")),
    AvroRule.DECIMAL_PRECISION: text_of(logical("bytes", "decimal")),
    AvroRule.DECIMAL_SCALE: text_of(decimal(9, 10)),
    AvroRule.DECIMAL_WIDE: text_of(decimal(78)),
    AvroRule.DEPTH: text_of(_deep(64)),
    AvroRule.NAME_LONG: json.dumps(record(name="r" * 1025)),
    AvroRule.SIZE: text_of(_doubled(20)),
}
"""The schemas; the rules on rows have their own table."""

ROWS: Final[Mapping[AvroRule, tuple[tuple[Any, ...], str, int | None]]] = {
    AvroRule.ROW_TRUNCATED: (("long", "long"), "02", None),
    AvroRule.VARINT_TRUNCATED: (("long",), "80", None),
    AvroRule.VARINT_TOO_LONG: (("long",), "80" * 10 + "00", None),
    AvroRule.VARINT_OVERFLOW: (("long",), "ff" * 9 + "02", None),
    AvroRule.VARINT_NOT_MINIMAL: (("long",), "82 00", None),
    AvroRule.INT_RANGE: (("int",), "80 80 80 80 10", None),
    AvroRule.FIXED_TRUNCATED: (("double",), "00" * 7, None),
    AvroRule.BOOLEAN: (("boolean",), "02", None),
    AvroRule.LENGTH_NEGATIVE: (("string",), "01", None),
    AvroRule.LENGTH_BEYOND: (("bytes",), "04 00", None),
    AvroRule.UNION_BRANCH: ((["null", "long"],), "04", None),
    AvroRule.BLOCK_COUNT: ((array("long"),), "06 02 00", None),
    AvroRule.BLOCK_SIZE: ((array("long"),), "01 04 02 00", None),
    AvroRule.ITEMS_LIMIT: ((array(record(name="s")),), "82 80 80 01 00", None),
    AvroRule.UTF8: (("string",), "02 ff", None),
    AvroRule.DATE_RANGE: ((logical("int", "date"),), "c2 84 e6 02", None),
    AvroRule.TIME_RANGE: ((logical("long", "time-micros"),), "01", None),
    AvroRule.TIMESTAMP_RANGE: ((logical("long", "timestamp-micros"),), "fe" + "ff" * 8 + "01", None),
    AvroRule.DATETIME_TEXT: ((logical("string", "datetime"),), "00", None),
    AvroRule.DECIMAL_EMPTY: ((decimal(1),), "00", None),
    AvroRule.DECIMAL_RANGE: ((decimal(77),), "42 00 80" + "00" * 31, None),
    AvroRule.DECIMAL_DIGITS: ((decimal(1),), "02 0a", None),
    AvroRule.ROWS_MISSING: (("long",), "02", 2),
    AvroRule.ROWS_BEHIND: (("long",), "02 02", 1),
}
"""The rows that break a rule: the types of the columns, the bytes and the declared number of rows."""
