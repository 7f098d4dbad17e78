"""JSON and WKT texts: when two of them have the same meaning, and how the service writes them."""

from __future__ import annotations

import decimal
import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from conformance.records import BqType

__all__ = ["NORMAL", "is_compact_json", "is_plain_wkt", "normal_json", "normal_wkt"]

_JSON_COMPACT: Final = re.compile(r'(?:[^\s"]|"(?:[^"\\]|\\.)*")*', re.DOTALL)
_WKT_ODD: Final = re.compile(r"\s[(),]|\(\s|,\S|,\s{2}|[a-df-z]")
_TOKEN: Final = re.compile(r"[A-Za-z]+|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|[(),]")


def is_compact_json(text: str) -> bool:
    """True if the text has no white space outside of strings."""
    return _JSON_COMPACT.fullmatch(text) is not None


def is_plain_wkt(text: str) -> bool:
    """True if WKT is in upper case, without space around parentheses, and with one space after every comma."""
    return _WKT_ODD.search(text) is None


def normal_json(text: str | None) -> object:
    """Return a value that is equal for two JSON texts with the same meaning; the text itself if it is not JSON.

    The order of keys and white space have no meaning, and 1.0 equals 1.
    """
    try:
        return json.loads(text or "", parse_float=decimal.Decimal, parse_int=decimal.Decimal)
    except (ValueError, decimal.InvalidOperation, RecursionError):
        return text


def normal_wkt(text: str | None) -> object:
    """Return a value that is equal for two WKT texts with the same meaning, whatever their spacing and spelling."""
    return [_normal_token(token) for token in _TOKEN.findall(text or "")]


def _normal_token(token: str) -> object:
    try:
        return float(token)
    except ValueError:
        return token.upper()


NORMAL: Final[Mapping[BqType, Callable[[str | None], object]]] = MappingProxyType(
    {BqType.JSON: normal_json, BqType.GEOGRAPHY: normal_wkt}
)
"""The types whose text a server may write in its own way."""
