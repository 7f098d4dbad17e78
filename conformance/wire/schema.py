"""The Schema header: conversion of verified FlatBuffers tables to fields and types.

This module decides whether the tables form a schema: known widths, and the children that each type requires.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from conformance.contain.text import many
from conformance.wire.faults import Fault, Rule, Severity, report
from conformance.wire.flatbuf import FlatTable, Verifier
from conformance.wire.meanings import is_time_zone, unkept_promises
from conformance.wire.messages import (
    Bytes,
    Frame,
    Header,
    Message,
    judge_following,
    read_following,
    read_frame,
    read_pairs,
)
from conformance.wire.tables import ENUMS, UNIONS
from conformance.wire.types import CHILDREN, Dictionary, Endianness, Field, Schema, Type, TypeKind, join_path

__all__ = ["SchemaMessage", "read_schema", "schema_from", "schema_of", "type_from"]

_KINDS: Final = (None, *TypeKind)
_UNITS: Final = ("s", "ms", "us", "ns")
_INTERVALS: Final = ("year-month", "day-time", "month-day-nano")
_DIGITS: Final = {32: 9, 64: 18, 128: 38, 256: 76}
"""The number of decimal digits that a two's complement integer of each width can always represent."""


@dataclasses.dataclass(frozen=True, slots=True)
class SchemaMessage:
    """The result of reading a schema: the first message, its schema, the messages after it, and the faults.

    ``schema`` is None if the message is of another kind, or if no batch can safely be read by its fields.
    """

    faults: list[Fault]
    message: Message | None
    extra: tuple[Message, ...]
    schema: Schema | None

    @property
    def violations(self) -> list[Fault]:
        """The faults that the Arrow format forbids."""
        return [fault for fault in self.faults if fault.severity is Severity.VIOLATION]


def read_schema(data: Bytes) -> SchemaMessage:
    """Read bytes that should be one encapsulated Schema message; no bytes make this function raise."""
    view = memoryview(data).cast("B")
    faults: list[Fault] = []
    frame = read_frame(view, 0, faults)
    if frame is None:
        return SchemaMessage(faults, None, (), None)
    schema = schema_of(frame, faults)
    message = frame.message
    extra = read_following(view, message.end)
    judge_following(message, extra, faults)
    return SchemaMessage(faults, message, extra, schema)


def schema_of(frame: Frame, faults: list[Fault]) -> Schema | None:
    """The schema in a message's header; adds its faults to ``faults``."""
    message = frame.message
    if message.header is Header.END_OF_STREAM:
        report(
            faults,
            Rule.MESSAGE_END_OF_STREAM,
            (message.start, message.end),
            "",
            "an end-of-stream marker instead of a schema",
        )
        return None
    if message.header not in (Header.SCHEMA, Header.UNKNOWN, Header.STRAY):
        observed = f"a {message.header} message instead of a Schema message"
        start, end = message.metadata_start, message.metadata_end
        report(faults, Rule.MESSAGE_HEADER_KIND, (start, end), "Message.header", observed)
        return None
    if message.body_length > 0:
        observed = f"a body of {many(message.body_length, 'byte')}"
        report(faults, Rule.MESSAGE_SCHEMA_WITH_BODY, (message.body_start, message.body_end), "body", observed)
    if message.header is not Header.SCHEMA or frame.header is None or frame.verifier is None:
        return None
    return schema_from(frame.header, frame.verifier, message.version)


def schema_from(table: FlatTable, verifier: Verifier, version: str) -> Schema | None:
    """The schema of a verified Schema table of a message or a footer; None if it cannot be used.

    Adds faults to those of ``verifier``.
    """
    return _Builder(verifier).schema(table, version)


def type_from(name: str, table: FlatTable, verifier: Verifier, path: str) -> Type | None:
    """The type of a verified member of the Type union, for a value without children; None if it cannot be used."""
    kind = _KINDS[UNIONS["Type"].index(name)]
    return _TYPES[kind](_Builder(verifier), table, path, ()) if kind else None


class _Builder:
    """Builds a :class:`Schema` from the tables of one message; an unusable part makes the full schema None."""

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier
        self.faults = verifier.faults

    def schema(self, table: FlatTable, version: str) -> Schema | None:
        tables: list[FlatTable | None] | None = table["fields"]
        if tables is None:
            if table.place("fields") == table.start:
                self.fault(Rule.SCHEMA_FIELDS_MISSING, table, "Schema.fields", "no vector of fields")
            else:
                return None
        endianness = table["endianness"]
        if endianness == 1:
            self.fault(Rule.SCHEMA_ENDIANNESS_BIG, table, "Schema.endianness", "big-endian bodies")
        features = ENUMS["Feature"].names
        codes = self.verifier.int64s(table["features"])
        fields = [self.field(child, "") for child in tables or ()]
        pairs = read_pairs(table, self.verifier)
        # A schema without one of its fields would assign all later buffers to the wrong columns.
        if endianness is None or None in fields:
            return None
        return Schema(
            fields=tuple(field for field in fields if field is not None),
            endianness=Endianness.BIG if endianness else Endianness.LITTLE,
            metadata=pairs,
            features=tuple(features[code] if 0 <= code < len(features) else str(code) for code in codes),
            version=version or "V5",
        )

    def field(self, table: FlatTable | None, path: str) -> Field | None:
        if table is None:
            return None
        name = table["name"] or ""
        path = join_path(path, name)
        if not any(table.places[:1]):
            self.fault(Rule.SCHEMA_NAME_MISSING, table, path, "a field without a name")
        pairs = read_pairs(table, self.verifier)
        children = [self.field(child, path) for child in table["children"] or ()]
        code = table["type_type"]
        if code == 0:
            self.fault(Rule.SCHEMA_FIELD_WITHOUT_TYPE, table, path, "a field without a type")
            return None
        broken_children = table["children"] is None and table.place("children") != table.start
        if table["type"] is None or None in children or broken_children:
            return None
        kind = _KINDS[code]
        kept = tuple(child for child in children if child is not None)
        made = _TYPES[kind](self, table["type"], path, kept) if kind else None
        encoding = self.dictionary(table, path)
        lost = encoding is None and table.place("dictionary") != table.start
        if made is None or lost or not self.children(table, made, path, kept):
            return None
        field = Field(name, made, bool(table["nullable"]), pairs, kept, encoding)
        for rule, observed in unkept_promises(field):
            self.fault(rule, table, path, observed)
        return field

    def dictionary(self, table: FlatTable, path: str) -> Dictionary | None:
        """The dictionary encoding of a field; None if the field has no encoding, or if it cannot be used."""
        encoding: FlatTable | None = table["dictionary"]
        if encoding is None:
            return None
        # An absent index type means int32 (Schema.fbs, table DictionaryEncoding).
        index: Type | None = Type(TypeKind.INT, bit_width=32, signed=True)
        if encoding.place("indexType") != encoding.start:
            found = encoding["indexType"]
            index = None if found is None else self.integer(found, f"{path} indices", ())
        return None if index is None else Dictionary(encoding["id"], index, bool(encoding["isOrdered"]))

    def children(self, table: FlatTable, kind: Type, path: str, children: tuple[Field, ...]) -> bool:
        wanted = CHILDREN[kind.kind]
        if wanted is not None and len(children) != wanted:
            self.fault(
                Rule.SCHEMA_CHILD_COUNT,
                table,
                path,
                f"{many(len(children), 'child', 'children')} of {kind}, where the type requires {wanted}",
            )
            return False
        if kind.kind is TypeKind.MAP:
            return self.map_children(table, path, children[0])
        if kind.kind is TypeKind.RUN_END_ENCODED:
            ends = children[0].type
            # https://arrow.apache.org/docs/format/Columnar.html#run-end-encoded-layout allows run ends of 16, 32 and
            # 64 bits.
            if ends.kind is not TypeKind.INT or not ends.signed or ends.bit_width == 8 or children[0].dictionary:
                self.fault(Rule.SCHEMA_RUN_ENDS_TYPE, table, path, f"run ends of {ends}")
                return False
        return True

    def map_children(self, table: FlatTable, path: str, entries: Field) -> bool:
        if entries.type.kind is not TypeKind.STRUCT or len(entries.children) != 2 or entries.dictionary:
            self.fault(
                Rule.SCHEMA_MAP_ENTRIES,
                table,
                path,
                f"a child of type {entries.type} with {many(len(entries.children), 'child', 'children')}",
            )
            return False
        # A nullable key is a fault of the schema alone: its batches can still be read.
        for field, role in ((entries, "entries"), (entries.children[0], "keys")):
            if field.nullable:
                self.fault(Rule.SCHEMA_MAP_NULLABLE, table, path, f"nullable {role}")
        return True

    # --- the types -------------------------------------------------------------------------------------

    def integer(self, table: FlatTable, path: str, _: tuple[Field, ...]) -> Type | None:
        width, signed = table.values
        if width not in (8, 16, 32, 64):
            self.fault(Rule.SCHEMA_INT_WIDTH, table, path, f"a width of {width} bits")
            return None
        return Type(TypeKind.INT, bit_width=width, signed=bool(signed))

    def floating_point(self, table: FlatTable, _: str, __: tuple[Field, ...]) -> Type | None:
        precision = table["precision"]
        # The enumeration HALF, SINGLE, DOUBLE counts from 0: 16 << 0, 16 << 1, 16 << 2.
        return None if precision is None else Type(TypeKind.FLOATING_POINT, bit_width=16 << precision)

    def decimal(self, table: FlatTable, path: str, _: tuple[Field, ...]) -> Type | None:
        precision, scale, width = table.values
        digits = _DIGITS.get(width)
        if digits is None:
            self.fault(Rule.SCHEMA_DECIMAL_WIDTH, table, path, f"a width of {width} bits")
            return None
        if not 1 <= precision <= digits:
            observed = f"a precision of {precision} in {width} bits"
            self.fault(Rule.SCHEMA_DECIMAL_PRECISION, table, path, observed)
            return None
        return Type(TypeKind.DECIMAL, bit_width=width, precision=precision, scale=scale)

    def date(self, table: FlatTable, _: str, __: tuple[Field, ...]) -> Type | None:
        unit = table["unit"]
        return None if unit is None else Type(TypeKind.DATE, bit_width=32 << unit, unit=("day", "ms")[unit])

    def time(self, table: FlatTable, path: str, _: tuple[Field, ...]) -> Type | None:
        unit, width = table.values
        if unit is None:
            return None
        if width != (32 if unit < 2 else 64):
            self.fault(Rule.SCHEMA_TIME_WIDTH, table, path, f"a width of {width} bits with the unit {_UNITS[unit]}")
            return None
        return Type(TypeKind.TIME, bit_width=width, unit=_UNITS[unit])

    def timestamp(self, table: FlatTable, path: str, _: tuple[Field, ...]) -> Type | None:
        unit, timezone = table.values
        if timezone is not None and not is_time_zone(timezone):
            self.fault(Rule.SCHEMA_TIME_ZONE, table, path, f"the time zone {timezone!r}")
        return None if unit is None else Type(TypeKind.TIMESTAMP, bit_width=64, unit=_UNITS[unit], timezone=timezone)

    def duration(self, table: FlatTable, _: str, __: tuple[Field, ...]) -> Type | None:
        unit = table["unit"]
        return None if unit is None else Type(TypeKind.DURATION, bit_width=64, unit=_UNITS[unit])

    def interval(self, table: FlatTable, _: str, __: tuple[Field, ...]) -> Type | None:
        unit = table["unit"]
        return None if unit is None else Type(TypeKind.INTERVAL, bit_width=32 << unit, unit=_INTERVALS[unit])

    def fixed_size_binary(self, table: FlatTable, path: str, _: tuple[Field, ...]) -> Type | None:
        width = table["byteWidth"]
        if width < 0:
            self.fault(Rule.SCHEMA_SIZE_NEGATIVE, table, path, f"a byte width of {width}")
            return None
        return Type(TypeKind.FIXED_SIZE_BINARY, byte_width=width)

    def fixed_size_list(self, table: FlatTable, path: str, _: tuple[Field, ...]) -> Type | None:
        size = table["listSize"]
        if size < 0:
            self.fault(Rule.SCHEMA_SIZE_NEGATIVE, table, path, f"a list size of {size}")
            return None
        return Type(TypeKind.FIXED_SIZE_LIST, list_size=size)

    def map(self, table: FlatTable, _: str, __: tuple[Field, ...]) -> Type:
        return Type(TypeKind.MAP, keys_sorted=bool(table["keysSorted"]))

    def union(self, table: FlatTable, path: str, children: tuple[Field, ...]) -> Type | None:
        mode, run = table.values
        if mode is None:
            return None
        # Absent type ids mean the children's numbers (Schema.fbs, table Union).
        ids = tuple(range(len(children)))
        if run is not None:
            # At most 128 ids are read: any number of unions may share one vector of any length.
            ids = self.verifier.int32s(run) if run.count == len(children) <= 128 else (-1,)
        if len(ids) != len(children) or len(set(ids)) != len(ids) or not all(0 <= each <= 127 for each in ids):
            listed = len(ids) if run is None else run.count
            observed = (
                f"{many(len(children), 'child', 'children')}, {many(listed, 'id')}: {', '.join(map(str, ids[:16]))}"
            )
            self.fault(Rule.SCHEMA_UNION_TYPE_IDS, table, path, observed)
            return None
        return Type(TypeKind.UNION, mode=("sparse", "dense")[mode], type_ids=ids)

    def fault(self, rule: Rule, table: FlatTable, path: str, observed: str) -> None:
        start = self.verifier.base + table.start
        report(self.faults, rule, (start, start + table.size), path, observed)


def _plain(kind: TypeKind) -> Callable[[_Builder, FlatTable, str, tuple[Field, ...]], Type | None]:
    return lambda _, __, ___, ____: Type(kind)


_TYPES: Final[dict[TypeKind, Callable[[_Builder, FlatTable, str, tuple[Field, ...]], Type | None]]] = {
    kind: _plain(kind) for kind in TypeKind
} | {
    TypeKind.INT: _Builder.integer,
    TypeKind.FLOATING_POINT: _Builder.floating_point,
    TypeKind.DECIMAL: _Builder.decimal,
    TypeKind.DATE: _Builder.date,
    TypeKind.TIME: _Builder.time,
    TypeKind.TIMESTAMP: _Builder.timestamp,
    TypeKind.DURATION: _Builder.duration,
    TypeKind.INTERVAL: _Builder.interval,
    TypeKind.FIXED_SIZE_BINARY: _Builder.fixed_size_binary,
    TypeKind.FIXED_SIZE_LIST: _Builder.fixed_size_list,
    TypeKind.MAP: _Builder.map,
    TypeKind.UNION: _Builder.union,
}
