"""The JSON Schema of a case file, made from the records' own annotations and docstrings.

``python -m conformance.generate.caseschema [--check] [FILE]`` writes ``cases/case.schema.json`` (or ``FILE``);
with ``--check`` it writes nothing and exits with status 1 where the file is not what it would write.
The schema serves editors and other languages; :mod:`conformance.generate.casefile` reads by the records themselves.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import inspect
import json
import sys
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from conformance._codec import TAG_KEY
from conformance.records import Case, Json

__all__ = ["case_schema", "main", "render"]

DEFAULT_FILE: Final = Path("cases") / "case.schema.json"

_SCALARS: Final[dict[Any, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Json: {},
}


def case_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a case; a definition for each record and closed set in it."""
    definitions: dict[str, Any] = {}
    _reference(Case, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A conformance case",
        "$ref": "#/$defs/Case",
        "$defs": dict(sorted(definitions.items())),
    }


def render() -> str:
    """The text of the schema file."""
    return json.dumps(case_schema(), indent=2, ensure_ascii=False) + "\n"


def _reference(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}  # a record may hold itself: a column has columns
        definitions[name] = _closed_set(kind) if issubclass(kind, enum.Enum) else _record(kind, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _closed_set(kind: type[enum.Enum]) -> dict[str, Any]:
    return {"description": inspect.getdoc(kind), "enum": [str(member.value) for member in kind]}


def _record(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    properties: dict[str, Any] = {}
    required = []
    if tag := getattr(kind, "TAG", None):
        properties[TAG_KEY] = {"const": tag}
        required.append(TAG_KEY)
    for field in dataclasses.fields(kind):
        properties[field.name] = _schema(hints[field.name], definitions)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(field.name)
    return {
        "description": inspect.getdoc(kind),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if hint in _SCALARS:
        return _SCALARS[hint]
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is tuple:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return {"anyOf": [_schema(member, definitions) for member in arguments]}
    if hint is types.NoneType:
        return {"type": "null"}
    return _reference(hint, definitions)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the schema file; returns the exit status."""
    parser = argparse.ArgumentParser(description="Write the JSON Schema of case files.")
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT_FILE, help="default: %(default)s")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where the file is out of date")
    options = parser.parse_args(arguments)
    if not options.check:
        options.file.write_text(render(), encoding="utf-8")
        return 0
    if options.file.is_file() and options.file.read_text(encoding="utf-8") == render():
        return 0
    sys.stderr.write(f"{options.file} is out of date; run: python -m conformance.generate.caseschema {options.file}\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
