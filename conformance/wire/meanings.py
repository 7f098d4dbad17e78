"""Names in a schema that promise something: canonical extension types and time zones.

The name of a canonical extension type fixes the type below it and the form of its parameters
(https://arrow.apache.org/docs/format/CanonicalExtensions.html). A time zone is a name of the time zone database or an
offset (Schema.fbs, table Timestamp).

Only what the texts decide is a fault. They leave open which parameters ``arrow.uuid`` may have, and whether a field of
dictionary indices may have the name of a canonical type. Both are passed over.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from conformance.contain.text import many
from conformance.wire.faults import Rule
from conformance.wire.types import Field, Type, TypeKind

__all__ = ["CANONICAL_TYPES", "EXTENSION_NAME", "EXTENSION_PARAMETERS", "is_time_zone", "unkept_promises"]

EXTENSION_NAME: Final = "ARROW:extension:name"
EXTENSION_PARAMETERS: Final = "ARROW:extension:metadata"

_BINARY: Final = frozenset({TypeKind.BINARY, TypeKind.LARGE_BINARY, TypeKind.BINARY_VIEW})
_TEXT: Final = frozenset({TypeKind.UTF8, TypeKind.LARGE_UTF8, TypeKind.UTF8_VIEW})
_INT8: Final = Type(TypeKind.INT, bit_width=8, signed=True)
_INT16: Final = Type(TypeKind.INT, bit_width=16, signed=True)
_INT32: Final = Type(TypeKind.INT, bit_width=32, signed=True)
_UUID: Final = Type(TypeKind.FIXED_SIZE_BINARY, byte_width=16)

_OFFSET: Final = re.compile(r"[+-][0-9]{2}:[0-9]{2}")
_PLACE: Final = re.compile(
    "(Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|Mexico|Pacific|US"
    "|SystemV|posix|right)(/[A-Z0-9+_-]+)+",
    re.IGNORECASE,
)
"""Names of the database, which gets new ones of this form; a wrong place in a right area is not told."""
_WORD: Final = re.compile(
    "CET|CST6CDT|Cuba|EET|EST|EST5EDT|Egypt|Eire|Factory|GB|GB-Eire|GMT|GMT[+-]?0|Greenwich|HST|Hongkong|Iceland|Iran"
    "|Israel|Jamaica|Japan|Kwajalein|Libya|MET|MST|MST7MDT|NZ|NZ-CHAT|Navajo|PRC|PST8PDT|Poland|Portugal|ROC|ROK"
    "|Singapore|Turkey|UCT|UTC|Universal|W-SU|WET|Zulu",
    re.IGNORECASE,
)
"""The names of the database without a place; it gets no new ones (https://data.iana.org/time-zones/theory.html)."""
_MOST: Final = (1 << 31) - 1
"""The largest size of a fixed-size list."""

Check = Callable[[Field], str]
"""What of a field is not as its extension type says; empty if all is."""


def is_time_zone(text: str) -> bool:
    """True if a text is empty (no time zone), an offset such as ``+07:30``, or a name as in the time zone database.

    The case of letters is not judged: the format does not say whether it matters.
    """
    return not text or any(form.fullmatch(text) for form in (_OFFSET, _PLACE, _WORD))


def unkept_promises(field: Field) -> Iterator[tuple[Rule, str]]:
    """The rules that a field breaks by the name of its canonical extension type, each with what was found."""
    names = [value for key, value in field.metadata if key == EXTENSION_NAME]
    if len(names) != 1 or names[0] not in CANONICAL_TYPES or field.dictionary is not None:
        return
    storage, parameters = CANONICAL_TYPES[names[0]]
    if found := storage(field):
        yield Rule.SCHEMA_EXTENSION_STORAGE, f"{names[0]} of {found}"
    elif found := parameters(field):
        yield Rule.SCHEMA_EXTENSION_PARAMETERS, f"{names[0]}: {found}"


# --- the storage -----------------------------------------------------------------------------------------


def _any(_: Field) -> str:
    return ""


def _is(*types: Type) -> Check:
    return lambda field: "" if field.type in types else str(field.type)


def _of_kind(*kinds: TypeKind) -> Check:
    return lambda field: "" if field.type.kind in kinds else str(field.type)


def _values(field: Field) -> Field:
    """The field of the values, which runs may repeat."""
    return field.children[1] if field.type.kind is TypeKind.RUN_END_ENCODED else field


def _struct(field: Field) -> Mapping[str, Field]:
    return {child.name: child for child in field.children} if field.type.kind is TypeKind.STRUCT else {}


def _in_words(field: Field) -> str:
    inner = ", ".join(f"{child.name!r}: {child.type}" for child in field.children)
    return f"{field.type}<{inner}>" if inner else str(field.type)


def _variable_tensor(field: Field) -> str:
    there = _struct(field)
    right = (
        there.keys() == {"data", "shape"}
        and there["data"].type.kind is TypeKind.LIST
        and there["shape"].type.kind is TypeKind.FIXED_SIZE_LIST
        and there["shape"].children[0].type == _INT32
    )
    return "" if right else _in_words(field)


def _variant(field: Field) -> str:
    there = _struct(field)
    kinds = {name: _values(there[name]).type.kind for name in ("metadata", "value") if name in there}
    if not all(kind in _BINARY for kind in kinds.values()) or "metadata" not in there:
        return _in_words(field)
    if there.keys().isdisjoint({"value", "typed_value"}):
        return _in_words(field)
    return "a struct with a nullable 'metadata'" if there["metadata"].nullable else ""


def _timestamp_with_offset(field: Field) -> str:
    there = _struct(field)
    right = (
        list(there) == ["timestamp", "offset_minutes"]
        and there["timestamp"].type.kind is TypeKind.TIMESTAMP
        and there["timestamp"].type.timezone == "UTC"
        and _values(there["offset_minutes"]).type == _INT16
    )
    return "" if right else _in_words(field)


# --- the parameters --------------------------------------------------------------------------------------


def _text(field: Field) -> str:
    """The serialized parameters; none are an empty text."""
    return next((value or "" for key, value in field.metadata if key == EXTENSION_PARAMETERS), "")


def _none(field: Field) -> str:
    text = _text(field)
    return f"the parameters {text!r}, where it has none" if text else ""


def _no_constant(text: str) -> NoReturn:
    raise ValueError(text)


@functools.lru_cache(maxsize=8)  # fields of hostile schemas share one long text
def _object(text: str) -> dict[str, Any] | None:
    """The JSON object in a text, None if it is none."""
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_json(field: Field) -> str:
    text = _text(field)
    return f"the parameters {text!r}, which are no JSON object" if text and _object(text) is None else ""


def _opaque(field: Field) -> str:
    made = _object(_text(field))
    if made is None:
        return f"the parameters {_text(field)!r}, which are no JSON object"
    missing = [name for name in ("type_name", "vendor_name") if not isinstance(made.get(name), str)]
    return f"the parameters {_text(field)!r}, without a text {missing[0]!r}" if missing else ""


def _fixed_tensor(field: Field) -> str:
    made = _object(_text(field))
    if made is None:
        return f"the parameters {_text(field)!r}, which are no JSON object"
    shape = made.get("shape")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        return f"the parameters {_text(field)!r}, without an array 'shape' of sizes"
    if _product(shape) != field.type.list_size:
        return f"the parameters {_text(field)!r} in lists of {field.type.list_size}"
    return _dimensions(field, made, len(shape))


def _product(shape: Sequence[int]) -> int:
    """The number of values of a tensor, or some number above every list size."""
    if 0 in shape:
        return 0
    number = 1
    for size in shape:
        number *= size
        if number > _MOST:
            break
    return number


def _varying_tensor(field: Field) -> str:
    made = _object(_text(field) or "{}")
    if made is None:
        return f"the parameters {_text(field)!r}, which are no JSON object"
    return _dimensions(field, made, _struct(field)["shape"].type.list_size)


def _dimensions(field: Field, made: Mapping[str, Any], count: int) -> str:
    """What is wrong with the optional parameters that have an entry for each dimension of a tensor."""
    for name in ("dim_names", "permutation", "uniform_shape"):
        found = made.get(name)
        if found is None:
            continue
        if not isinstance(found, list) or len(found) != count:
            return f"the parameters {_text(field)!r}, where {name!r} is not of {many(count, 'dimension')}"
        if name == "permutation" and {one for one in found if type(one) is int} != set(range(count)):
            return f"the parameters {_text(field)!r}, where 'permutation' is none"
    return ""


CANONICAL_TYPES: Final[Mapping[str | None, tuple[Check, Check]]] = {
    "arrow.bool8": (_is(_INT8), _none),
    "arrow.fixed_shape_tensor": (_of_kind(TypeKind.FIXED_SIZE_LIST), _fixed_tensor),
    "arrow.json": (_of_kind(*_TEXT), _is_json),
    "arrow.opaque": (_any, _opaque),
    "arrow.parquet.variant": (_variant, _none),
    "arrow.timestamp_with_offset": (_timestamp_with_offset, _none),
    "arrow.uuid": (_is(_UUID), _any),
    "arrow.variable_shape_tensor": (_variable_tensor, _varying_tensor),
}
"""The canonical extension types on the page in the summer of 2026, which grows: a check of the storage of each, and one
of its parameters, which may rely on the storage.
"""
