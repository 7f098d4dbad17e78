"""Arrow's logical types, fields and schemas as the bytes describe them.

The values may come from untrusted bytes: a name may be unusual and a tree deep, but numbers are in range.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final

from conformance.wire.messages import KeyValues

__all__ = ["Dictionary", "Endianness", "Field", "Schema", "Type", "TypeKind"]


class TypeKind(enum.StrEnum):
    """The members of the Type union of Schema.fbs, in its order."""

    NULL = "null"
    INT = "int"
    FLOATING_POINT = "floating-point"
    BINARY = "binary"
    UTF8 = "utf8"
    BOOL = "bool"
    DECIMAL = "decimal"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    INTERVAL = "interval"
    LIST = "list"
    STRUCT = "struct"
    UNION = "union"
    FIXED_SIZE_BINARY = "fixed-size-binary"
    FIXED_SIZE_LIST = "fixed-size-list"
    MAP = "map"
    DURATION = "duration"
    LARGE_BINARY = "large-binary"
    LARGE_UTF8 = "large-utf8"
    LARGE_LIST = "large-list"
    RUN_END_ENCODED = "run-end-encoded"
    BINARY_VIEW = "binary-view"
    UTF8_VIEW = "utf8-view"
    LIST_VIEW = "list-view"
    LARGE_LIST_VIEW = "large-list-view"


class Endianness(enum.StrEnum):
    """The byte order of message bodies; metadata and prefixes are always little-endian."""

    LITTLE = "little"
    BIG = "big"


def join_path(path: str, name: str) -> str:
    """A field's dotted path; long names are cut, because every field may have a name as long as the metadata."""
    name = name if len(name) <= 64 else name[:61] + "..."
    return f"{path}.{name}" if path else name


@dataclasses.dataclass(frozen=True, slots=True)
class Type:
    """A logical type: its kind and the parameters of that kind; other parameters keep their defaults.

    ``bit_width`` belongs to int, floating-point, decimal and time; ``signed`` to int; ``precision`` and ``scale`` to
    decimal. ``unit`` is ``s``, ``ms``, ``us``, ``ns`` for time, timestamp and duration, ``day`` or ``ms`` for date,
    ``year-month``, ``day-time`` or ``month-day-nano`` for interval. ``timezone`` is None if a timestamp has none.
    ``mode`` (``sparse``, ``dense``) and ``type_ids`` belong to union, ``byte_width`` to fixed-size-binary,
    ``list_size`` to fixed-size-list, ``keys_sorted`` to map.
    """

    kind: TypeKind
    bit_width: int = 0
    signed: bool = False
    precision: int = 0
    scale: int = 0
    unit: str = ""
    timezone: str | None = None
    mode: str = ""
    type_ids: tuple[int, ...] = ()
    byte_width: int = 0
    list_size: int = 0
    keys_sorted: bool = False

    def __str__(self) -> str:
        return _NAMES[self.kind](self)


_NAMES: Final[dict[TypeKind, Callable[[Type], str]]] = {
    **{kind: lambda made: str(made.kind) for kind in TypeKind},
    TypeKind.INT: lambda made: f"{'' if made.signed else 'u'}int{made.bit_width}",
    TypeKind.FLOATING_POINT: lambda made: f"float{made.bit_width}",
    TypeKind.DECIMAL: lambda made: f"decimal{made.bit_width}({made.precision}, {made.scale})",
    TypeKind.TIME: lambda made: f"time{made.bit_width}[{made.unit}]",
    TypeKind.DATE: lambda made: f"date{made.bit_width}[{made.unit}]",
    TypeKind.TIMESTAMP: lambda made: f"timestamp[{made.unit}{'' if made.timezone is None else f', {made.timezone}'}]",
    TypeKind.DURATION: lambda made: f"duration[{made.unit}]",
    TypeKind.INTERVAL: lambda made: f"interval[{made.unit}]",
    TypeKind.FIXED_SIZE_BINARY: lambda made: f"fixed-size-binary[{made.byte_width}]",
    TypeKind.FIXED_SIZE_LIST: lambda made: f"fixed-size-list[{made.list_size}]",
    TypeKind.UNION: lambda made: f"{made.mode}-union",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Dictionary:
    """The dictionary encoding of a field: the id of its dictionary, and the type of its indices."""

    id: int
    index_type: Type
    ordered: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A column or a child of one; in a dictionary-encoded field, ``type`` and ``children`` describe the values."""

    name: str
    type: Type
    nullable: bool = True
    metadata: KeyValues = ()
    children: tuple[Field, ...] = ()
    dictionary: Dictionary | None = None

    def walk(self, path: str = "") -> Iterator[tuple[str, Field]]:
        """This field and all fields below it in pre-order, each with its dotted path."""
        path = join_path(path, self.name)
        yield path, self
        for child in self.children:
            yield from child.walk(path)

    def __str__(self) -> str:
        below = f"<{', '.join(map(str, self.children))}>" if self.children else ""
        encoded = f" as dictionary {self.dictionary.id}" if self.dictionary else ""
        return f"{self.name}: {self.type}{below}{encoded}{'' if self.nullable else ' not null'}"


@dataclasses.dataclass(frozen=True, slots=True)
class Schema:
    """The content of a Schema message; ``version`` is the metadata version of that message."""

    fields: tuple[Field, ...]
    endianness: Endianness = Endianness.LITTLE
    metadata: KeyValues = ()
    features: tuple[str, ...] = ()
    version: str = "V5"
    memo: dict[Hashable, Any] = dataclasses.field(default_factory=dict, init=False, repr=False, compare=False)
    """Results that were computed from this schema, by the function that computed them."""

    def walk(self) -> Iterator[tuple[str, Field]]:
        """All fields in pre-order, each with its dotted path."""
        for field in self.fields:
            yield from field.walk()


CHILDREN: Final[dict[TypeKind, int | None]] = {
    **dict.fromkeys(TypeKind, 0),
    TypeKind.LIST: 1,
    TypeKind.LARGE_LIST: 1,
    TypeKind.LIST_VIEW: 1,
    TypeKind.LARGE_LIST_VIEW: 1,
    TypeKind.FIXED_SIZE_LIST: 1,
    TypeKind.MAP: 1,
    TypeKind.RUN_END_ENCODED: 2,
    TypeKind.STRUCT: None,
    TypeKind.UNION: None,
}
"""The number of children of a field of each kind; None for any number."""
