"""Strict reading of a session's Avro schema: JSON text in, types and faults out.

Nothing in the text makes this module raise, and the work is linear in its length. A schema with a fault may still be
decodable: an illegal name does not change what the bytes of rows mean. Where a type cannot be understood, there is no
schema. Faults have the whole text as their place, and say in ``path`` which column and which attribute they are about.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from conformance.contain.parse import ForeignJsonError, parse_strictly
from conformance.contain.text import many, representation
from conformance.formats.avro.annotations import Reporter, annotated, text_of
from conformance.formats.avro.avronames import field_name, full_name, path_below, qualified
from conformance.formats.avro.rules import AvroRule
from conformance.formats.avro.types import (
    PRIMITIVES,
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
from conformance.wire.faults import Fault, report

__all__ = ["MAX_DEPTH", "MAX_TYPES", "AvroSchemaReading", "read_avro_schema"]

MAX_DEPTH: Final = 64
"""Types inside one another: BigQuery nests 15 records, and a record in a column takes two types."""
MAX_TYPES: Final = 100_000
"""Types of a row, with each reference in full: 10,000 columns take two types each, and a few more where they nest."""

_UNMAPPED: Final = frozenset({"map", "enum", "fixed", "error"})
_ITEM: Final = "item"


@dataclasses.dataclass(frozen=True, slots=True)
class AvroSchemaReading:
    """The schema, None if rows cannot be decoded by it, and the faults of its text."""

    schema: AvroSchema | None
    faults: tuple[Fault, ...]


def read_avro_schema(text: str | bytes) -> AvroSchemaReading:
    """Read ``AvroSchema.schema``, as a text or as its bytes in UTF-8."""
    size = len(text.encode(errors="surrogatepass")) if isinstance(text, str) else len(text)
    made = _Reader(size)
    try:
        content = text if isinstance(text, str) else text.decode()
        value = parse_strictly(content, made.repeated)
    except UnicodeDecodeError as error:
        made.report(AvroRule.SCHEMA_JSON, "", f"no UTF-8 at byte {error.start}")
        return AvroSchemaReading(None, tuple(made.faults))
    except ForeignJsonError as error:
        made.report(AvroRule.SCHEMA_JSON, "", str(error))
        return AvroSchemaReading(None, tuple(made.faults))
    return AvroSchemaReading(made.root(value), tuple(made.faults))


_Measure = tuple[int, int]
"""The types in a type with each reference in full, and how deep they nest."""


class _Reader:
    """Reads one schema; ``defined`` has the records so far, None where one is not finished or not understood."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.faults: list[Fault] = []
        self.defined: dict[str, AvroRecord | None] = {}
        self.open: set[str] = set()
        self.measures: dict[str, _Measure] = {}

    def report(self, rule: AvroRule, path: str, observed: str) -> None:
        """Report a fault of the text."""
        report(self.faults, rule, (0, self.size), path, observed)

    def at(self, path: str) -> Reporter:
        """Reports faults of the attributes of the type at ``path``."""
        return lambda rule, part, observed: self.report(rule, f"{path}, {part}" if path else part, observed)

    def repeated(self, key: str) -> None:
        """Report a key that an object has again."""
        self.report(AvroRule.SCHEMA_KEY_REPEATED, "", f"the key {key[:80]!r} again in one object")

    def root(self, value: Any) -> AvroSchema | None:
        """The schema, if its root is a record in which every type is understood."""
        made = self.type(value, "", "", 1)
        if made is None:
            return None
        if not isinstance(made, AvroRecord):
            self.report(AvroRule.ROOT, "", f"{_article(made)} at the top")
            return None
        count, depth = self.measure(made)
        if depth > MAX_DEPTH:
            self.report(AvroRule.DEPTH, "", f"types that nest {many(depth, 'level')} deep through references")
            return None
        if count > MAX_TYPES:
            self.report(AvroRule.SIZE, "", f"more than {MAX_TYPES} types in a row")
            return None
        named = {name: record for name, record in self.defined.items() if record is not None}
        return AvroSchema(made, MappingProxyType(named))

    def measure(self, made: AvroType) -> _Measure:
        """The measure of a type; both numbers stop above their limits."""
        if isinstance(made, AvroPrimitive):
            return 1, 1
        if isinstance(made, AvroRecord | AvroReference):
            return self.measures[made.name]
        count, depth = self.measure(made.items if isinstance(made, AvroArray) else made.value)
        return count + 1, depth + 1

    # --- types ----------------------------------------------------------------------------------------

    def type(self, value: Any, path: str, namespace: str, depth: int) -> AvroType | None:
        """The type that a JSON value declares, None if it is not understood."""
        if depth > MAX_DEPTH:
            self.report(AvroRule.DEPTH, path, f"types that nest more than {MAX_DEPTH} deep")
            return None
        if isinstance(value, str):
            return self.name(value, {}, path, namespace)
        if isinstance(value, list):
            return self.union(value, path, namespace, depth)
        if isinstance(value, dict):
            return self.object(value, path, namespace, depth)
        self.report(AvroRule.SCHEMA_FORM, path, f"the schema {representation(value)}")
        return None

    def object(self, value: Mapping[str, Any], path: str, namespace: str, depth: int) -> AvroType | None:
        """The type that a JSON object declares."""
        kind = value.get("type")
        if kind == "record":
            return self.record(value, path, namespace, depth)
        if kind == "array":
            return self.array(value, path, namespace, depth)
        if isinstance(kind, str):
            return self.name(kind, value, path, namespace)
        observed = "no type" if kind is None else f"a type that is no text, but {_json_kind(kind)}"
        self.report(AvroRule.TYPE_MISSING, path, observed)
        return None

    def name(self, name: str, attributes: Mapping[str, Any], path: str, namespace: str) -> AvroType | None:
        """A primitive type with its attributes, or a reference to a record."""
        if name in PRIMITIVES:
            made = annotated(PrimitiveKind(name), attributes, self.at(path))
            if made.kind is PrimitiveKind.FLOAT:
                self.report(AvroRule.TYPE_UNMAPPED, path, "the type float")
            return made
        full = qualified(name, namespace)
        if full in self.open:
            self.report(AvroRule.RECURSION, path, f"the record {full!r} inside itself")
        elif full in self.defined:
            return None if self.defined[full] is None else AvroReference(full)
        elif name in _UNMAPPED:
            self.report(AvroRule.TYPE_UNMAPPED, path, f"the type {name}")
        elif "." in name:
            self.report(AvroRule.NAME_UNDEFINED, path, f"the name {full!r}, which no type before it has")
        else:
            self.report(AvroRule.TYPE_UNKNOWN, path, f"the type {name!r}")
        return None

    def array(self, value: Mapping[str, Any], path: str, namespace: str, depth: int) -> AvroType | None:
        """An array."""
        if "items" not in value:
            self.report(AvroRule.ITEMS_MISSING, path, "an array without items")
            return None
        items = self.plain(value["items"], path_below(path, _ITEM), namespace, depth + 1)
        return None if items is None else AvroArray(items)

    def plain(self, value: Any, path: str, namespace: str, depth: int) -> AvroType | None:
        """A type outside a union, where null has no meaning for BigQuery."""
        made = self.type(value, path, namespace, depth)
        if _is_null(made):
            self.report(AvroRule.TYPE_UNMAPPED, path, "null alone")
        return made

    def union(self, value: list[Any], path: str, namespace: str, depth: int) -> AvroType | None:
        """A union of null and one type; every branch of another union is read for its faults alone."""
        branches: list[AvroType | None] = []
        keys: set[str] = set()
        understood = True
        for branch in value:
            if isinstance(branch, list):
                self.report(AvroRule.UNION_NESTED, path, "a union in a union")
                understood = False
                continue
            made = self.type(branch, path, namespace, depth + 1)
            if made is not None and (key := _key(made)) in keys:
                self.report(AvroRule.UNION_REPEATED, path, f"two branches of {key}")
                understood = False
            keys |= set() if made is None else {_key(made)}
            branches.append(made)
        if not understood or None in branches:
            return None
        nulls = [place for place, made in enumerate(branches) if _is_null(made)]
        if len(branches) != 2 or not nulls:
            self.report(AvroRule.UNION_BRANCHES, path, f"a union of {', '.join(sorted(keys)) or 'nothing'}")
            return None
        (null,) = nulls
        if null:
            self.report(AvroRule.UNION_NULL_FIRST, path, "null as the second branch")
        other = branches[1 - null]
        return None if other is None else AvroUnion(other, null)

    # --- records --------------------------------------------------------------------------------------

    def record(self, value: Mapping[str, Any], path: str, namespace: str, depth: int) -> AvroType | None:
        """A record, which is defined from here on even if a part of it is not understood."""
        reporter = self.at(path)
        full, inner = full_name(value, namespace, reporter)
        fields = value.get("fields")
        if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
            self.report(AvroRule.FIELDS_MISSING, path, "no array of objects as fields")
            return None
        again = full in self.defined
        if again:
            self.report(AvroRule.NAME_REDEFINED, path, f"a second definition of {full!r}")
        elif full:
            self.defined[full] = None
            self.open.add(full)
        made = [self.field(field, place, path, inner, depth) for place, field in enumerate(fields)]
        self.different(fields, path)
        understood = [field for field in made if field is not None]
        if not full or again:
            return None
        self.open.discard(full)
        if len(understood) < len(made):
            return None
        sizes = [self.measure(field.type) for field in understood]
        count = min(1 + sum(one for one, _ in sizes), MAX_TYPES + 1)
        self.measures[full] = count, min(1 + max((one for _, one in sizes), default=0), MAX_DEPTH + 1)
        record = self.defined[full] = AvroRecord(full, tuple(understood), text_of(value, "sqlType", reporter))
        return record

    def field(self, value: Mapping[str, Any], place: int, path: str, namespace: str, depth: int) -> AvroField | None:
        """A field of a record, None if its type is not understood."""
        named = value.get("name")
        inner = path_below(path, named if isinstance(named, str) and named else f"#{place}")
        reporter = self.at(inner)
        name = field_name(value, reporter)
        if "type" not in value:
            self.report(AvroRule.TYPE_MISSING, inner, "a field without a type")
            return None
        made = self.plain(value["type"], inner, namespace, depth + 1)
        display = text_of(value, "displayName", reporter)
        return None if made is None or not name else AvroField(name, made, display)

    def different(self, fields: list[Any], path: str) -> None:
        """Report names that fields of one record share."""
        seen: set[str] = set()
        for name in (field.get("name") for field in fields):
            if not isinstance(name, str) or not name:
                continue
            if name in seen:
                self.report(AvroRule.FIELD_REPEATED, path_below(path, name), f"another field with the name {name!r}")
            seen.add(name)


def _is_null(made: AvroType | None) -> bool:
    return isinstance(made, AvroPrimitive) and made.kind is PrimitiveKind.NULL


def _key(made: AvroType) -> str:
    """The type by which a union tells its branches apart: a name, or an unnamed type."""
    if isinstance(made, AvroPrimitive):
        return made.kind.value
    return "array" if isinstance(made, AvroArray) else "union" if isinstance(made, AvroUnion) else made.name


def _article(made: AvroType) -> str:
    name = _key(made)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _json_kind(value: Any) -> str:
    return "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else representation(value)
