"""Descriptions of protobuf messages as data: what a field's number means, and how its value is encoded.

A description is made from rows of text, one for each field; no code is generated. The strict reader
(:mod:`conformance.wire.protobuf`) and the annotated dump read these descriptions.
Source: https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

__all__ = ["WELL_KNOWN", "WIRE_TYPES", "FieldKind", "FieldSpec", "MessageSpec", "WireType", "declare"]


class WireType(enum.IntEnum):
    """The low three bits of a tag: how long the value is."""

    VARINT = 0
    I64 = 1
    LEN = 2
    SGROUP = 3
    EGROUP = 4
    I32 = 5


class FieldKind(enum.StrEnum):
    """The type of a field's value, as proto files write it."""

    INT32 = "int32"
    INT64 = "int64"
    UINT32 = "uint32"
    UINT64 = "uint64"
    SINT32 = "sint32"
    SINT64 = "sint64"
    BOOL = "bool"
    ENUM = "enum"
    FIXED64 = "fixed64"
    SFIXED64 = "sfixed64"
    DOUBLE = "double"
    FIXED32 = "fixed32"
    SFIXED32 = "sfixed32"
    FLOAT = "float"
    STRING = "string"
    BYTES = "bytes"
    MESSAGE = "message"


_I64: Final = frozenset({FieldKind.FIXED64, FieldKind.SFIXED64, FieldKind.DOUBLE})
_I32: Final = frozenset({FieldKind.FIXED32, FieldKind.SFIXED32, FieldKind.FLOAT})
_LEN: Final = frozenset({FieldKind.STRING, FieldKind.BYTES, FieldKind.MESSAGE})


def _wire_type(kind: FieldKind) -> WireType:
    if kind in _LEN:
        return WireType.LEN
    if kind in _I64:
        return WireType.I64
    return WireType.I32 if kind in _I32 else WireType.VARINT


WIRE_TYPES: Final[Mapping[FieldKind, WireType]] = MappingProxyType({kind: _wire_type(kind) for kind in FieldKind})
"""The wire type of one value of each kind."""


@dataclasses.dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a message.

    ``of`` names the message or enumeration that is the field's type. ``presence`` is True if the field is declared
    ``optional``, so that an absent value differs from the default. ``oneof`` names the field's oneof, if it is in one.
    """

    number: int
    name: str
    kind: FieldKind
    of: str = ""
    repeated: bool = False
    presence: bool = False
    oneof: str = ""
    wire_type: WireType = dataclasses.field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "wire_type", WIRE_TYPES[self.kind])

    @property
    def packable(self) -> bool:
        """True if the field's values may be packed: written one after the other behind one length."""
        return self.repeated and self.kind not in _LEN

    @property
    def implicit(self) -> bool:
        """True if the default value means the same as an absent field, so that writers leave it out."""
        return not (self.repeated or self.presence or self.oneof or self.kind is FieldKind.MESSAGE)


@dataclasses.dataclass(frozen=True, slots=True)
class MessageSpec:
    """A message: its fields by number, and the messages and enumerations that they name.

    ``source`` is the address of the proto file. ``map_entry`` is True for the message that encodes one entry of a map.
    """

    name: str
    fields: Mapping[int, FieldSpec] = dataclasses.field(repr=False)
    source: str
    types: Mapping[str, MessageSpec] = dataclasses.field(repr=False, compare=False)
    enums: Mapping[str, Mapping[int, str]] = dataclasses.field(repr=False, compare=False)
    map_entry: bool = False

    def named(self, name: str) -> FieldSpec:
        """The field ``name``; raises :class:`KeyError` if the message has none of that name."""
        for field in self.fields.values():
            if field.name == name:
                return field
        raise KeyError(f"{self.name} has no field {name}; it has {', '.join(one.name for one in self.fields.values())}")


WELL_KNOWN: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        ".google.protobuf.Any": ("1 type_url string", "2 value bytes"),
        ".google.protobuf.Timestamp": ("1 seconds int64", "2 nanos int32"),
    }
)
"""The messages that every proto file may use, as rows; https://protobuf.dev/reference/protobuf/google.protobuf/."""


def declare(
    source: str, rows: Mapping[str, Sequence[str]], enums: Mapping[str, Mapping[int, str]] | None = None
) -> Mapping[str, MessageSpec]:
    """Make the descriptions of the messages of one proto file; ``enums`` names the values of its enumerations.

    A row is ``number name type[*|?] [oneof]``: ``*`` means repeated, ``?`` means optional with presence. A type that is
    not a scalar names a message, or an enumeration if it begins with ``enum:``. ``map<KEY,VALUE>`` is a map, whose
    entries are messages of their own.

    Raises :class:`ValueError` for a type that nothing declares.

    >>> made = declare("https://example.com/x.proto", {"Point": ("1 x int32", "2 tags string*")})
    >>> made["Point"].named("tags").repeated
    True
    """
    types: dict[str, MessageSpec] = {}
    known = enums or {}
    for name, fields in (dict(WELL_KNOWN) | dict(rows)).items():
        made = {}
        for row in fields:
            number, field_name, kind, *oneof = row.split()
            if kind.startswith("map<"):
                entry = f"{name}.{field_name.title().replace('_', '')}Entry"
                # Writers write the key and the value of an entry even if these are defaults.
                key, value = (f"{each}?" for each in kind.removeprefix("map<").removesuffix(">").split(","))
                pair = {1: _field(1, "key", key), 2: _field(2, "value", value)}
                types[entry] = MessageSpec(entry, pair, source, types, known, map_entry=True)
                kind = f"{entry}*"
            made[int(number)] = _field(int(number), field_name, kind, *oneof)
        types[name] = MessageSpec(name, made, source, types, known)
    _check(types, known)
    used = {field.of for message in types.values() for field in message.fields.values()}
    for name in WELL_KNOWN.keys() - used:
        del types[name]
    return MappingProxyType(types)


_SCALARS: Final = frozenset(kind.value for kind in FieldKind) - {FieldKind.ENUM, FieldKind.MESSAGE}


def _field(number: int, name: str, kind: str, oneof: str = "") -> FieldSpec:
    bare = kind.rstrip("*?")
    if bare in _SCALARS:
        found, of = FieldKind(bare), ""
    elif bare.startswith("enum:"):
        found, of = FieldKind.ENUM, bare.removeprefix("enum:")
    else:
        found, of = FieldKind.MESSAGE, bare
    return FieldSpec(number, name, found, of, kind.endswith("*"), kind.endswith("?"), oneof)


def _check(types: Mapping[str, MessageSpec], enums: Mapping[str, Mapping[int, str]]) -> None:
    for message in types.values():
        for field in message.fields.values():
            if field.of and field.of not in (enums if field.kind is FieldKind.ENUM else types):
                where = f"{message.name}.{field.name}"
                raise ValueError(f"{where}: expected a declared type, got {field.of!r}; add rows for it")
