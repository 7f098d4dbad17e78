"""Names in an Avro schema: which are legal, and which full name a record and a reference have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from conformance.contain.text import representation
from conformance.formats.avro.annotations import Reporter, text_of
from conformance.formats.avro.rules import AvroRule
from conformance.formats.avro.types import PRIMITIVES

__all__ = ["field_name", "full_name", "path_below", "qualified"]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_NAME: Final = 1024
"""Characters of a full name: each record in another one may inherit its namespace, however long that is."""
_LONGEST: Final = 200
"""Characters kept of a path: a schema may nest long names, and each type has its path."""


def full_name(attributes: Mapping[str, Any], enclosing: str, report: Reporter) -> tuple[str, str]:
    """The full name of a record and its namespace; both empty if it has no name, or one that is too long.

    A dot in the name makes it a full name, and the attribute ``namespace`` then does not count.
    """
    namespace = text_of(attributes, "namespace", report) if "namespace" in attributes else enclosing
    name = _named(attributes, report)
    if not name:
        return "", ""
    dotted = "." in name
    if dotted:
        namespace, _, name = name.rpartition(".")
    full = qualified(name, namespace)
    if len(full) > _LONGEST_NAME:
        report(AvroRule.NAME_LONG, "name", f"a full name of {len(full)} characters")
        return "", ""
    if not _NAME.fullmatch(name):
        report(AvroRule.NAME_ILLEGAL, "name", f"the name {name!r}")
    if (namespace or dotted) and not all(_NAME.fullmatch(part) for part in namespace.split(".")):
        report(AvroRule.NAMESPACE_ILLEGAL, "namespace", f"the namespace {namespace!r}")
    if name in PRIMITIVES:
        report(AvroRule.NAME_RESERVED, "name", f"a record with the name {name}")
    return full, namespace


def field_name(attributes: Mapping[str, Any], report: Reporter) -> str:
    """The name of a field; empty if it has none."""
    name = _named(attributes, report)
    if name and not _NAME.fullmatch(name):
        report(AvroRule.FIELD_NAME_ILLEGAL, "name", f"the name {name!r}")
    return name


def qualified(name: str, namespace: str) -> str:
    """The full name of ``name`` inside ``namespace``."""
    return name if "." in name or not namespace else f"{namespace}.{name}"


def path_below(path: str, name: str) -> str:
    """The path of a field inside ``path``; of a long one, the end."""
    made = f"{path}.{name}" if path else name
    return made if len(made) <= _LONGEST else f"…{made[-_LONGEST:]}"


def _named(attributes: Mapping[str, Any], report: Reporter) -> str:
    name = attributes.get("name")
    if isinstance(name, str) and name:
        return name
    report(AvroRule.NAME_MISSING, "name", "no name" if name is None else f"the name {representation(name)}")
    return ""
