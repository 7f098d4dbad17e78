"""The Arrow messages in the JSON answer of a query, as a client of the REST API gets them."""

from __future__ import annotations

from pathlib import Path

from conformance.cli._group import Unusable
from conformance.cli._reading import read_named
from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contract.jobanswer import ARROW_FIELDS, arrow_in

__all__ = ["read_page"]


def read_page(path: Path) -> tuple[tuple[str, bytes], ...]:
    """The Arrow messages in the answer of jobs.query in a file: where each is, and its bytes. The first is the schema.

    Raises:
        Unusable: The file has no JSON object, or the object has no schema, or a message is no text in base64.
    """
    try:
        answer = parse_object(read_named(path))
    except ForeignJsonError as error:
        raise Unusable(f"{path}: {error}") from None
    found = []
    for field in ARROW_FIELDS:
        part = answer.get(field[0])
        if part is not None and not (isinstance(part, dict) and isinstance(part.get(field[1], ""), str)):
            raise Unusable(f"{path}: {field[0]}: expected an object with the text {field[1]}, got something else")
        try:
            data = arrow_in(answer, field)
        except ValueError:
            raise Unusable(f"{path}: {'.'.join(field)}: expected base64, got a text that is none") from None
        if data:
            found.append((".".join(field), data))
    schema = ".".join(ARROW_FIELDS[0])
    if not found or found[0][0] != schema:
        raise Unusable(f"{path}: expected the answer of a query with {schema}, got none: was ARROW asked for?")
    return tuple(found)
