"""The messages between the suite and a program, checked against the published schema in both directions.

``protocol.schema.json`` beside this module is the contract for writers of adapters; this module only applies it.
"""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

__all__ = ["VERSION", "ProtocolError", "decode", "decode_base64", "encode", "schema"]

VERSION: Final = 1
"""The version of the messages; a program that speaks another one says so in its hello and is refused."""


class ProtocolError(Exception):
    """A program's line is no answer; the text says what was expected and what came."""


@functools.cache
def schema() -> Mapping[str, Any]:
    """The published JSON Schema of all messages."""
    text = resources.files("conformance.targets").joinpath("protocol.schema.json").read_text(encoding="utf-8")
    parsed: Mapping[str, Any] = json.loads(text)
    return parsed


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({**schema(), "oneOf": [{"$ref": f"#/$defs/{name}"}]})


def encode(request: Mapping[str, Any]) -> bytes:
    """A request as one line, without its end; it is checked too, for the schema binds both sides."""
    _validator("request").validate(request)
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


def decode(line: bytes, *, request: int, kinds: tuple[str, ...]) -> dict[str, Any]:
    """The answer in ``line`` to the request with that id, one of ``kinds`` (names in the schema's ``$defs``).

    Raises :class:`ProtocolError`.
    """
    try:
        answer = json.loads(line)
    except ValueError:
        raise ProtocolError(f"expected a JSON object on one line but got {_short(line)}") from None
    if not isinstance(answer, dict):
        raise ProtocolError(f"expected a JSON object on one line but got {_short(line)}")
    if answer.get("id") != request:
        raise ProtocolError(f"expected the answer to request {request} but got the id {answer.get('id')!r}")
    if any(_validator(kind).is_valid(answer) for kind in kinds):
        return answer
    # The first kind is what was asked for: what is wrong with it says most.
    wanted = next((kind for kind in kinds if _is_status(kind, answer.get("status"))), kinds[0])
    error = best_match(
        Draft202012Validator({**schema()["$defs"][wanted], "$defs": schema()["$defs"]}).iter_errors(answer)
    )
    assert error is not None
    where = "".join(f"[{part!r}]" for part in error.path) or "the answer"
    raise ProtocolError(f"expected {wanted} as protocol.schema.json has it, but in {where}: {error.message[:300]}")


def decode_base64(text: str, what: str) -> bytes:
    """The bytes of a base64 member; raises :class:`ProtocolError`."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ProtocolError(f"expected base64 in {what} but got {_short(text.encode())}") from None


def _is_status(kind: str, status: object) -> bool:
    return bool(schema()["$defs"][kind]["properties"]["status"].get("const") == status)


def _short(line: bytes) -> str:
    return repr(line if len(line) <= 80 else line[:77] + b"...")
