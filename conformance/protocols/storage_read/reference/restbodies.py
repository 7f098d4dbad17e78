"""What requests over REST have in their bodies and queries, and the error that one of another form ends in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["REASONS", "Body", "RequestRefusedError", "count_of", "fields_of", "kind_of", "reference_of", "rows_of"]

REASONS: Final = {400: "invalid", 404: "notFound", 405: "invalid", 409: "duplicate", 500: "internalError"}
"""The reason in the body of an error, by its status."""

Body = dict[str, Any]


class RequestRefusedError(Exception):
    """A request ends in ``status``, with a message and a reason in the body."""

    def __init__(self, status: int, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason or REASONS[status]


def rows_of(body: Body) -> list[Body]:
    """The rows of an insertAll request."""
    entries = body.get("rows") or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RequestRefusedError(400, f'expected "rows" as an array of objects, got {entries!r:.100}')
    rows = [entry.get("json") or {} for entry in entries]
    if not all(isinstance(row, dict) for row in rows):
        raise RequestRefusedError(400, 'expected "json" of every row as an object')
    return rows


def fields_of(body: Body) -> list[Body]:
    """The fields of a table's schema."""
    schema = body.get("schema") or {}
    fields = schema.get("fields") or [] if isinstance(schema, dict) else schema
    if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
        raise RequestRefusedError(400, f'expected "schema.fields" as an array of objects, got {fields!r:.100}')
    return fields


def kind_of(body: Body) -> Body:
    """The fields of a table resource that say of which kind the table is; none of a plain one."""
    kinds = {"view": dict, "timePartitioning": dict, "requirePartitionFilter": bool}
    for field, form in kinds.items():
        if body.get(field) and not isinstance(body[field], form):
            raise RequestRefusedError(400, f"Invalid value for {field}: {body[field]!r:.100}")
    return {field: body[field] for field in kinds if body.get(field)}


def reference_of(body: Body, key: str, part: str) -> str:
    """The name in a reference such as ``tableReference``; it is required."""
    reference = body.get(key)
    name = reference.get(part) if isinstance(reference, dict) else None
    if not isinstance(name, str) or not name:
        raise RequestRefusedError(400, f"Required parameter is missing: {key}.{part}")
    return name


def count_of(query: Mapping[str, str], key: str, default: int) -> int:
    """The number that a parameter of the query has."""
    text = query.get(key, "")
    if not text:
        return default
    if not text.isdecimal():
        raise RequestRefusedError(400, f"expected a count for {key}, got {text!r}")
    return int(text)
