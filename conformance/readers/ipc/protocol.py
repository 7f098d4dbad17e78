"""The messages between the suite and a program that reads and writes IPC data, checked in both directions.

``protocol.schema.json`` beside this module is the contract for writers of adapters; this module applies it.
The values of columns are checked by a walk of our own, which decides as ``$defs/plain`` does and a hundred times
faster.
"""

from __future__ import annotations

import base64
import functools
import json
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

__all__ = ["VERSION", "ProtocolError", "decode", "decode_base64", "encode", "schema", "wrong_value"]

VERSION: Final = 1
"""The version of the messages."""

_BITS: Final = re.compile(r"[0-9a-f]{16}|nan")
_HEX: Final = re.compile(r"([0-9a-f]{2})*")
_DECIMAL: Final = re.compile(r"-?[0-9]+")
_TEXTS: Final = {"f64": _BITS, "hex": _HEX, "decimal": _DECIMAL}
_INTERVALS: Final = (frozenset({"months"}), frozenset({"days", "ms"}), frozenset({"months", "days", "ns"}))


class ProtocolError(Exception):
    """A program's line is no answer; the text says what was expected and what came."""


@functools.cache
def schema() -> Mapping[str, Any]:
    """The published JSON Schema of all messages."""
    text = resources.files("conformance.readers.ipc").joinpath("protocol.schema.json").read_text(encoding="utf-8")
    parsed: Mapping[str, Any] = json.loads(text)
    return parsed


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({**schema()["$defs"][name], "$defs": schema()["$defs"]})


def encode(request: Mapping[str, Any]) -> bytes:
    """A request as one line, without its end; it is checked too, for the schema binds both sides."""
    _validator("request").validate(request)
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


def decode(line: bytes, *, request: int, kind: str) -> dict[str, Any]:
    """The answer in ``line`` to the request with that id: of ``kind`` (a name in the schema's ``$defs``), or an error.

    Raises :class:`ProtocolError`.
    """
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        raise ProtocolError(f"expected a JSON object on one line but got {_short(line)}") from None
    if not isinstance(answer, dict):
        raise ProtocolError(f"expected a JSON object on one line but got {_short(line)}")
    if answer.get("id") != request:
        raise ProtocolError(f"expected the answer to request {request} but got the id {answer.get('id')!r}")
    status = answer.get("status")
    wanted = status if status in ("error", "unsupported") else kind
    columns = answer.get("columns") if wanted == "rows" else None
    outside = {**answer, "columns": []} if isinstance(columns, list) else answer
    error = best_match(_validator(wanted).iter_errors(outside))
    if error is not None:
        where = "".join(f"[{part!r}]" for part in error.path) or "the answer"
        raise ProtocolError(f"expected {wanted} as protocol.schema.json has it, but in {where}: {error.message[:300]}")
    for number, column in enumerate(columns or ()):
        wrong = wrong_value(column) if isinstance(column, list) else f"expected a list, got {column!r:.80}"
        if wrong:
            raise ProtocolError(f"expected plain values in column {number}, but {wrong}")
    return answer


def decode_base64(text: str) -> bytes:
    """The bytes of a base64 member; raises :class:`ProtocolError`."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ProtocolError(f"expected base64 in data but got {_short(text.encode())}") from None


def wrong_value(values: Iterable[Any]) -> str:
    """The first value that is no plain value, in words; empty where all are."""
    todo = [iter(values)]
    while todo:
        for value in todo[-1]:
            if isinstance(value, str | int) or value is None:
                continue
            below = _below(value)
            if below is None:
                return f"got {value!r:.80}"
            todo.append(iter(below))
            break
        else:
            todo.pop()
    return ""


def _below(value: Any) -> Iterable[Any] | None:
    """The values inside one that is no scalar; None where it is no plain value."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    if frozenset(value) in _INTERVALS:
        return () if all(type(part) is int for part in value.values()) else None
    return _below_form(*next(iter(value.items()))) if len(value) == 1 else None


def _below_form(form: str, inner: Any) -> Iterable[Any] | None:
    if form in _TEXTS:
        return () if isinstance(inner, str) and _TEXTS[form].fullmatch(inner) else None
    if not isinstance(inner, list) or form not in ("struct", "map"):
        return None
    if form == "struct":
        return inner
    pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in inner)
    return [part for pair in inner for part in pair] if pairs else None


def _short(line: bytes) -> str:
    return repr(line if len(line) <= 80 else line[:77] + b"...")
