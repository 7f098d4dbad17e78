"""Find what must not be published in a pack: project ids, addresses, tokens and keys.

Text that a case has written is the suite's own and passes. Of the bytes of rows only tokens and keys are looked for:
rows are generated, and any word can occur in them by chance.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance._codec import to_json
from conformance.truth.pack import Pack
from conformance.truth.references import REFERENCE

__all__ = ["leaks"]

_KEYS: Final = (
    ("an access token", r"ya29\.[\w-]{10,}"),
    ("an API key", r"AIza[\w-]{30,}"),
    ("a refresh token", r"(?<![\w/])1//0[\w-]{20,}"),
    ("a client secret", r"GOCSPX-[\w-]{10,}"),
    ("a signed token", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\."),
    ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
)
_TEXT: Final = (
    *_KEYS,
    ("a credential", r"(?i:\b(?:bearer|basic)\s+[\w.~+/-]{8,})"),
    (
        "a secret",
        r"(?i:(?:token|secret|passw(?:or)?d|api[-_]?key|access[-_]?key)[\"']?\s*[=:]\s*[\"']?[^\s\"'<,;]{4,})",
    ),
    ("an e-mail address", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ("a project id", r"projects/(?!<project:)[^/\s'\"]+"),
    ("a project id", r"(?i:\bproject[ =:_-]+(?:id|number)?[ =:'\"]*)(?!<)[a-z][a-z0-9-]{4,28}[0-9-][a-z0-9-]*\b"),
    ("a number that may be that of a project", r"(?<![\w.+-])\d{10,}(?![\w.])"),
    ("an opaque id", r"(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{28,}(?![\w-])"),
)
_KEYS_IN_BYTES: Final = tuple((words, re.compile(pattern.encode())) for words, pattern in _KEYS)
_PATTERNS: Final = tuple((words, re.compile(pattern)) for words, pattern in _TEXT)
_ADDRESS: Final = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?![\w:]|\.\d)"
)
_BASE64: Final = frozenset(
    {"bytes", "base64", "serialized_schema", "serialized_record_batch", "serialized_binary_rows"}
)
"""The keys whose text is base64."""


def leaks(pack: Pack) -> Iterator[str]:
    """A sentence for each place of ``pack`` that holds what must not be published."""
    for name, taken in pack.recordings.items():
        yield from _found(to_json(taken.facts), f"recordings/{name}.jsonl, line 1: facts", "")
        for number, entry in enumerate(taken.entries, 2):
            form = to_json(entry)
            written = json.dumps(form.get("exchange", {}).pop("case", {}), ensure_ascii=False)
            yield from _found(form, f"recordings/{name}.jsonl, line {number}: entry", written)
    confirmations = [to_json(one.facts) for one in pack.confirmations.confirmations]
    yield from _found(confirmations, "confirmations.json: confirmations", "")
    yield from _found(to_json(pack.findings), "verdicts.json: verdicts", "")


def _found(value: Any, place: str, written: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            where = f"{place}.{key}"
            if key in _BASE64 and isinstance(item, str):
                yield from _in_bytes(item, where)
            elif key != "commit":
                yield from _found(item, where, written)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _found(item, f"{place}[{index}]", written)
    elif isinstance(value, str):
        yield from (f"{place}: {words}: {text!r:.80}" for words, text in _in_text(value) if text not in written)


def _in_text(text: str) -> Iterator[tuple[str, str]]:
    for words, pattern in _PATTERNS:
        for found in pattern.finditer(text):
            # A resource name of the case is written with a reference for what the run filled in.
            yield words, found[0].removeprefix("projects/")
    for found in _ADDRESS.finditer(REFERENCE.sub("", text)):
        try:
            ipaddress.ip_address(found[0])
        except ValueError:
            continue
        yield "an IP address", found[0]


def _in_bytes(text: str, place: str) -> Iterator[str]:
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return
    for words, pattern in _KEYS_IN_BYTES:
        if pattern.search(data):
            yield f"{place}: {words} in these bytes"
