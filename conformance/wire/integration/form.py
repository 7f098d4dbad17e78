"""Conversion of types, fields and schemas to the integration form and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.wire.messages import KeyValues
from conformance.wire.types import CHILDREN, Dictionary, Field, Schema, Type, TypeKind

__all__ = ["IntegrationError", "field_from", "field_to", "schema_from", "schema_to"]

Json = Mapping[str, Any]


class IntegrationError(ValueError):
    """A document does not have the integration form, or a stream has content that the form cannot represent."""


_NAMES: Final = {kind: kind.value.replace("-", "") for kind in TypeKind}
_KINDS: Final = {name: kind for kind, name in _NAMES.items()}
_UNITS: Final = {"SECOND": "s", "MILLISECOND": "ms", "MICROSECOND": "us", "NANOSECOND": "ns"}
_DATES: Final = {"DAY": "day", "MILLISECOND": "ms"}
_INTERVALS: Final = {"YEAR_MONTH": "year-month", "DAY_TIME": "day-time", "MONTH_DAY_NANO": "month-day-nano"}
_INTERVAL_BITS: Final = {"year-month": 32, "day-time": 64, "month-day-nano": 128}
_PRECISIONS: Final = {"HALF": 16, "SINGLE": 32, "DOUBLE": 64}
_MODES: Final = {"SPARSE": "sparse", "DENSE": "dense"}


def schema_from(document: Json) -> Schema:
    """The schema of the form's ``schema`` object; raises :class:`IntegrationError` if the object is not of the form."""
    try:
        fields = tuple(field_from(each) for each in document["fields"])
        return Schema(fields, metadata=_pairs_from(document.get("metadata")))
    except (KeyError, TypeError, AttributeError) as error:
        raise IntegrationError(f"the schema is not of the integration form: {error!r}") from error


def schema_to(schema: Schema) -> dict[str, Any]:
    """The form's ``schema`` object of a schema."""
    return {"fields": [field_to(field) for field in schema.fields]} | _pairs_to(schema.metadata)


def field_from(document: Json) -> Field:
    """The field of a member of ``fields`` or ``children``."""
    children = tuple(field_from(each) for each in document.get("children") or ())
    made = _type_from(document["type"], len(children))
    wanted = CHILDREN[made.kind]
    if wanted is not None and len(children) != wanted:
        raise IntegrationError(f"{document['name']!r} has {len(children)} children of {made}, not {wanted}")
    encoding = document.get("dictionary")
    dictionary = None
    if encoding is not None:
        index = _type_from(encoding["indexType"] | {"name": "int"}, 0)
        dictionary = Dictionary(encoding["id"], index, bool(encoding.get("isOrdered")))
    nullable, pairs = bool(document["nullable"]), _pairs_from(document.get("metadata"))
    return Field(document["name"], made, nullable, pairs, children, dictionary)


def field_to(field: Field) -> dict[str, Any]:
    """The member of ``fields`` or ``children`` of a field."""
    made: dict[str, Any] = {"name": field.name, "type": _type_to(field.type), "nullable": field.nullable}
    made["children"] = [field_to(child) for child in field.children]
    if field.dictionary is not None:
        made["dictionary"] = {
            "id": field.dictionary.id,
            "indexType": _type_to(field.dictionary.index_type),
            "isOrdered": field.dictionary.ordered,
        }
    return made | _pairs_to(field.metadata)


def _pairs_from(pairs: Any) -> KeyValues:
    """Metadata pairs; older documents have a mapping, newer ones a list of pairs."""
    if isinstance(pairs, dict):
        return tuple(pairs.items())
    return tuple((pair["key"], pair["value"]) for pair in pairs or ())


def _pairs_to(pairs: KeyValues) -> dict[str, Any]:
    return {"metadata": [{"key": key or "", "value": value or ""} for key, value in pairs]} if pairs else {}


def _type_from(document: Json, children: int) -> Type:
    kind = _KINDS.get(document["name"])
    if kind is None:
        raise IntegrationError(f"expected a type name among {', '.join(_KINDS)} but got {document['name']!r}")
    return _FROM[kind](document, children) if kind in _FROM else Type(kind)


def _unit(document: Json, names: Mapping[str, Any], key: str = "unit") -> Any:
    value = document[key]
    if value not in names:
        raise IntegrationError(f"{key} {value!r} of {document['name']}; expected one of {', '.join(names)}")
    return names[value]


def _interval(document: Json, _: int) -> Type:
    unit = _unit(document, _INTERVALS)
    return Type(TypeKind.INTERVAL, bit_width=_INTERVAL_BITS[unit], unit=unit)


def _date(document: Json, _: int) -> Type:
    unit = _unit(document, _DATES)
    return Type(TypeKind.DATE, bit_width=32 if unit == "day" else 64, unit=unit)


def _decimal(document: Json, _: int) -> Type:
    # Older documents have no bit width: the only decimal was that of 128 bits.
    width, precision, scale = document.get("bitWidth", 128), document["precision"], document["scale"]
    return Type(TypeKind.DECIMAL, bit_width=width, precision=precision, scale=scale)


_FROM: Final[dict[TypeKind, Callable[[Json, int], Type]]] = {
    TypeKind.INT: lambda it, _: Type(TypeKind.INT, bit_width=it["bitWidth"], signed=it["isSigned"]),
    TypeKind.FLOATING_POINT: lambda it, _: Type(TypeKind.FLOATING_POINT, bit_width=_unit(it, _PRECISIONS, "precision")),
    TypeKind.DECIMAL: _decimal,
    TypeKind.DATE: _date,
    TypeKind.TIME: lambda it, _: Type(TypeKind.TIME, bit_width=it["bitWidth"], unit=_unit(it, _UNITS)),
    TypeKind.TIMESTAMP: lambda it, _: Type(
        TypeKind.TIMESTAMP, bit_width=64, unit=_unit(it, _UNITS), timezone=it.get("timezone")
    ),
    TypeKind.DURATION: lambda it, _: Type(TypeKind.DURATION, bit_width=64, unit=_unit(it, _UNITS)),
    TypeKind.INTERVAL: _interval,
    TypeKind.FIXED_SIZE_BINARY: lambda it, _: Type(TypeKind.FIXED_SIZE_BINARY, byte_width=it["byteWidth"]),
    TypeKind.FIXED_SIZE_LIST: lambda it, _: Type(TypeKind.FIXED_SIZE_LIST, list_size=it["listSize"]),
    TypeKind.MAP: lambda it, _: Type(TypeKind.MAP, keys_sorted=bool(it.get("keysSorted"))),
    TypeKind.UNION: lambda it, count: Type(
        TypeKind.UNION, mode=_unit(it, _MODES, "mode"), type_ids=tuple(it.get("typeIds") or range(count))
    ),
}


def _word(names: Mapping[str, Any], value: Any) -> str:
    return next(name for name, each in names.items() if each == value)


def _type_to(made: Type) -> dict[str, Any]:
    parameters = _TO.get(made.kind)
    return {"name": _NAMES[made.kind]} | ({} if parameters is None else parameters(made))


_TO: Final[dict[TypeKind, Callable[[Type], dict[str, Any]]]] = {
    TypeKind.INT: lambda made: {"bitWidth": made.bit_width, "isSigned": made.signed},
    TypeKind.FLOATING_POINT: lambda made: {"precision": _word(_PRECISIONS, made.bit_width)},
    TypeKind.DECIMAL: lambda made: {"precision": made.precision, "scale": made.scale, "bitWidth": made.bit_width},
    TypeKind.DATE: lambda made: {"unit": _word(_DATES, made.unit)},
    TypeKind.TIME: lambda made: {"unit": _word(_UNITS, made.unit), "bitWidth": made.bit_width},
    TypeKind.TIMESTAMP: lambda made: (
        {"unit": _word(_UNITS, made.unit)} | ({} if made.timezone is None else {"timezone": made.timezone})
    ),
    TypeKind.DURATION: lambda made: {"unit": _word(_UNITS, made.unit)},
    TypeKind.INTERVAL: lambda made: {"unit": _word(_INTERVALS, made.unit)},
    TypeKind.FIXED_SIZE_BINARY: lambda made: {"byteWidth": made.byte_width},
    TypeKind.FIXED_SIZE_LIST: lambda made: {"listSize": made.list_size},
    TypeKind.MAP: lambda made: {"keysSorted": made.keys_sorted},
    TypeKind.UNION: lambda made: {"mode": made.mode.upper(), "typeIds": list(made.type_ids)},
}
