"""The types of an Avro schema, as far as BigQuery uses them: immutable nodes of a tree."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Final, TypeAlias

__all__ = [
    "INTERVAL",
    "PRIMITIVES",
    "AvroArray",
    "AvroField",
    "AvroPrimitive",
    "AvroRecord",
    "AvroReference",
    "AvroSchema",
    "AvroType",
    "AvroUnion",
    "PrimitiveKind",
]

INTERVAL: Final = "google.sqlType.INTERVAL"
"""The full name of the record in which an INTERVAL arrives."""


class PrimitiveKind(enum.StrEnum):
    """The primitive types of Avro."""

    NULL = "null"
    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BYTES = "bytes"
    STRING = "string"


PRIMITIVES: Final = frozenset(kind.value for kind in PrimitiveKind)
"""The names of the primitive types."""


@dataclasses.dataclass(frozen=True, slots=True)
class AvroPrimitive:
    """A primitive type with its annotations.

    ``logical`` is empty if the schema has no logical type, or an invalid one, which readers ignore. ``sql`` is
    BigQuery's own attribute ``sqlType``. ``precision`` and ``scale`` are those of a decimal.
    """

    kind: PrimitiveKind
    logical: str = ""
    sql: str = ""
    precision: int = 0
    scale: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class AvroArray:
    """An array: the type of a REPEATED column."""

    items: AvroType


@dataclasses.dataclass(frozen=True, slots=True)
class AvroUnion:
    """A union of null and one other type: the type of a NULLABLE column. ``null`` is the position of null, 0 or 1."""

    value: AvroType
    null: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class AvroReference:
    """The full name of a record that the schema defined before."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class AvroField:
    """A field of a record; ``display`` is the column's name if that is not ``name`` (``displayName``)."""

    name: str
    type: AvroType
    display: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class AvroRecord:
    """A record with its full name; ``sql`` is its attribute ``sqlType``, such as RANGE."""

    name: str
    fields: tuple[AvroField, ...]
    sql: str = ""


AvroType: TypeAlias = AvroPrimitive | AvroArray | AvroUnion | AvroReference | AvroRecord


@dataclasses.dataclass(frozen=True, slots=True)
class AvroSchema:
    """A schema that can be decoded: the record of a row, and every record by its full name."""

    root: AvroRecord
    named: Mapping[str, AvroRecord]

    def record(self, made: AvroRecord | AvroReference) -> AvroRecord:
        """The record itself, or the one that a reference names."""
        return self.named[made.name] if isinstance(made, AvroReference) else made
