"""The JSON Schema of a record, from the same annotations from which the codec reads and writes it.

Draft 2020-12. Every record becomes a definition; unknown keys are refused, as the codec refuses them. Descriptions
are the first paragraphs of the docstrings.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from typing import Any, Final

from conformance._codec import NO_NUMBERS, TAG_KEY
from conformance._hints import Members
from conformance.records import Json

__all__ = ["json_schema", "tagged_schema"]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SCALARS: Final[dict[object, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"anyOf": [{"type": "number"}, {"enum": list(NO_NUMBERS)}]},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    Json: {},
}


def json_schema(kind: type, *, title: str) -> dict[str, Any]:
    """The schema of the JSON form of the record ``kind``."""
    definitions: dict[str, Any] = {}
    reference = _of(kind, definitions)
    return {"$schema": DIALECT, "title": title, **reference, "$defs": dict(sorted(definitions.items()))}


def tagged_schema(kinds: typing.Sequence[type], *, tag: str, title: str) -> dict[str, Any]:
    """The schema of an object that is one of ``kinds``, distinguished by the key ``tag`` (their ``TAG``)."""
    definitions: dict[str, Any] = {}
    members = [_tagged(kind, tag, definitions) for kind in kinds]
    return {"$schema": DIALECT, "title": title, "oneOf": members, "$defs": dict(sorted(definitions.items()))}


def _of(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: PLR0911  # as in _codec
    if hint in _SCALARS:
        return dict(_SCALARS[hint])
    if isinstance(hint, type) and issubclass(hint, enum.StrEnum):
        reported = {"description": _description(hint), "enum": [str(member) for member in hint]}
        definitions.setdefault(hint.__name__, reported)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if dataclasses.is_dataclass(hint):
        return _record(typing.cast(type, hint), definitions)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        held = arguments[1]
        if isinstance(held, Members):
            return {"anyOf": [_tagged(member, TAG_KEY, definitions) for member in held.kinds()]}
        return {"enum": list(held.words())}
    if origin is tuple:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if isinstance(origin, type) and issubclass(origin, typing.Mapping):
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}
    if origin in (types.UnionType, typing.Union):
        members = [member for member in arguments if member is not types.NoneType]
        several = len(members) > 1
        schemas = [_tagged(member, TAG_KEY, definitions) if several else _of(member, definitions) for member in members]
        if len(members) < len(arguments):
            schemas.append({"type": "null"})
        return {"anyOf": schemas} if len(schemas) > 1 else schemas[0]
    raise TypeError(f"no JSON Schema for the annotation {hint!r}")


def _record(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}
        definitions[kind.__name__].update(_object(kind, definitions))
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _description(kind: type) -> str:
    return inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = dataclasses.fields(kind)
    required = [
        field.name
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    schema: dict[str, Any] = {
        "description": _description(kind),
        "type": "object",
        "properties": {field.name: _of(hints[field.name], definitions) for field in fields},
        "additionalProperties": False,
    }
    return schema | ({"required": required} if required else {})


def _tagged(kind: type, tag: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """A separate definition for the tagged form: the tag is an additional, required property."""
    schema = _object(kind, definitions)
    name: str = kind.TAG  # type: ignore[attr-defined]  # members of a tagged union carry one
    schema["properties"] = {tag: {"const": name}, **schema["properties"]}
    schema["required"] = [tag, *schema.get("required", [])]
    definitions[name] = schema
    return {"$ref": f"#/$defs/{name}"}
