"""Literals: the spellings of a value that BigQuery documents, each with the value that a wrong reading finds in it.

Source: "Literals" of "Lexical structure and syntax"
(https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#literals).
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from conformance.generate.choices import Choices, one_in
from conformance.protocols.storage_read.generate.dialects.terms import (
    HOUR,
    LOCAL,
    ReadingRefusedError,
    ReadingUnknownError,
    Row,
    Term,
)
from conformance.records import BqType

__all__ = ["literal", "plain_text"]

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_DAY: Final = 24 * HOUR


def literal(choices: Choices, kind: BqType, value: Any) -> Term | None:
    """Return a literal of the value in one of its spellings; None if it has none."""
    if kind is BqType.STRING:
        return _text(choices, value)
    write = _WRITERS.get(kind)
    return None if write is None else write(choices, value)


def _fixed(sql: str, kind: BqType, value: Any, read: Mapping[str, Any] = MappingProxyType({})) -> Term:
    """A literal whose value depends on the reading alone; an exception among ``read`` is raised."""

    def meaning(_row: Row, reading: str) -> Any:
        found = read.get(reading, value)
        if isinstance(found, type) and issubclass(found, Exception):
            raise found
        return found

    return Term(sql, kind, meaning, bare=True)


# --- strings --------------------------------------------------------------------------------------

_CONTROLS: Final = MappingProxyType({"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"})


def _text(choices: Choices, value: str) -> Term | None:
    if any(ord(character) < 0x20 and character not in _CONTROLS for character in value):
        return None
    return choices.pick(_SPELLINGS)(choices, value)


def plain_text(value: str, quote: str = "'") -> Term:
    """Return the literal in single or double quotes, with escapes where they are needed."""
    body = "".join(f"\\{c}" if c == quote else _CONTROLS.get(c, c) for c in value)
    return _quoted(value, body, quote)


def _quoted(value: str, body: str, quote: str) -> Term:
    read: dict[str, Any] = {}
    if "\\" in body:
        read["backslash-is-a-character"] = ReadingRefusedError if f"\\{quote}" in body else body
    read["hex-escape-unknown"] = re.sub(r"\\x([0-9A-Fa-f]{2})", r"x\1", body) if _only_hex(body) else value
    if quote == '"':
        return _in_double_quotes(f'"{body}"', value, read)
    return _fixed(f"'{body}'", BqType.STRING, value, read)


def _only_hex(body: str) -> bool:
    return "\\x" in body and body.count("\\") == body.count("\\x")


def _in_double_quotes(sql: str, value: str, read: Mapping[str, Any]) -> Term:
    fixed = _fixed(sql, BqType.STRING, value, read)

    def meaning(row: Row, reading: str) -> Any:
        if reading != "double-quotes-are-names":
            return fixed.meaning(row, reading)
        named = next((held for name, held in row.items() if name.lower() == value.lower()), ReadingRefusedError)
        if named is ReadingRefusedError:
            raise ReadingRefusedError
        if not isinstance(named, str):
            raise ReadingUnknownError
        return named

    return Term(sql, BqType.STRING, meaning, bare=True)


def _in_double(_choices: Choices, value: str) -> Term:
    return plain_text(value, '"') if value else plain_text(value)


def _in_single(_choices: Choices, value: str) -> Term:
    return plain_text(value)


def _escaped(choices: Choices, value: str) -> Term:
    """One character is written by its code."""
    places = [at for at, character in enumerate(value) if 0x20 <= ord(character) < 0x7F]
    if not places or any(character in "'\\" or character in _CONTROLS for character in value):
        return plain_text(value)
    at = choices.pick(places)
    return _quoted(value, f"{value[:at]}\\x{ord(value[at]):02x}{value[at + 1 :]}", "'")


def _triple(_choices: Choices, value: str) -> Term:
    if not value or any(character in "'\"\\\r" for character in value):
        return plain_text(value)
    return _fixed(f"'''{value}'''", BqType.STRING, value, {"doubled-quote-is-a-quote": f"'{value}'"})


def _raw(_choices: Choices, value: str) -> Term:
    if "'" in value or value.endswith("\\") or set(value) & set("\n\r\t"):
        return plain_text(value)
    return _fixed(f"r'{value}'", BqType.STRING, value, {"prefixes-unknown": ReadingRefusedError})


_SPELLINGS: Final = (_in_single, _in_single, _in_double, _in_double, _escaped, _triple, _raw)


# --- numbers, truth, bytes ------------------------------------------------------------------------


def _int64(_choices: Choices, value: int) -> Term:
    return _fixed(str(value), BqType.INT64, value)


def _float64(_choices: Choices, value: float) -> Term | None:
    text = repr(value)
    if not re.fullmatch(r"-?\d+\.\d+", text):
        return None
    return _fixed(text, BqType.FLOAT64, value, {"literals-are-decimals": decimal.Decimal(text)})


def _numeric(choices: Choices, value: decimal.Decimal) -> Term:
    text = f"{value:f}"
    sql = choices.pick((f"NUMERIC '{text}'", f'NUMERIC "{text}"', f"CAST('{text}' AS NUMERIC)"))
    read: dict[str, Any] = {"numeric-is-a-double": float(value)}
    if '"' in sql:
        read["double-quotes-are-names"] = ReadingRefusedError
    return _fixed(sql, BqType.NUMERIC, value, read)


def _bool(choices: Choices, value: bool) -> Term:  # noqa: FBT001  # the value of the literal
    word = "true" if value else "false"
    return _fixed(choices.pick((word.upper(), word)), BqType.BOOL, value)


def _bytes(_choices: Choices, value: bytes) -> Term:
    body = "".join(chr(octet) if 0x20 <= octet < 0x7F and octet not in b"'\\" else f"\\x{octet:02x}" for octet in value)
    read: dict[str, Any] = {"prefixes-unknown": ReadingRefusedError}
    if "\\" in body:
        read |= dict.fromkeys(("backslash-is-a-character", "hex-escape-unknown"), ReadingUnknownError)
    return _fixed(f"b'{body}'", BqType.BYTES, value, read)


# --- dates and times ------------------------------------------------------------------------------


def _date(choices: Choices, days: int) -> Term:
    day = dt.date.fromordinal(days + _EPOCH.toordinal())
    text = f"{day.year:04}-{day.month}-{day.day}" if one_in(choices, 2) else day.isoformat()
    sql = choices.pick((f"DATE '{text}'", f'DATE "{text}"', f"CAST('{text}' AS DATE)"))
    read: dict[str, Any] = {"dates-are-texts": ReadingUnknownError if sql.startswith("CAST") else text}
    if '"' in sql:
        read["double-quotes-are-names"] = ReadingRefusedError
    return _fixed(sql, BqType.DATE, days, read)


_ZONES: Final = (("", 0), ("", 0), ("+00", 0), ("+00:00", 0), ("Z", 0), (" UTC", 0), ("-05:00", -5), ("+09", 9))
_ZONES_BY_NAME: Final = ((" Asia/Tokyo", 9), (" Asia/Dubai", 4))
"""Zones whose offset never changes in the years that are drawn."""


def _timestamp(choices: Choices, micros: int) -> Term:
    zone, hours = choices.pick(_ZONES + _ZONES_BY_NAME)
    text = _clock(micros + hours * HOUR, choices.pick((" ", "T"))) + zone
    sql = choices.pick((f"TIMESTAMP '{text}'", f'TIMESTAMP "{text}"', f"CAST('{text}' AS TIMESTAMP)"))
    read: dict[str, Any] = {"zone-is-dropped": micros + hours * HOUR}
    if not zone:
        read["local-zone"] = micros - LOCAL
    if '"' in sql:
        read["double-quotes-are-names"] = ReadingRefusedError
    return _fixed(sql, BqType.TIMESTAMP, micros, read)


def _datetime(choices: Choices, micros: int) -> Term:
    return _fixed(f"DATETIME '{_clock(micros, choices.pick((' ', 'T')))}'", BqType.DATETIME, micros)


def _time(_choices: Choices, micros: int) -> Term:
    return _fixed(f"TIME '{_clock(micros, 'T').partition('T')[2]}'", BqType.TIME, micros)


def _clock(micros: int, between: str) -> str:
    moment = _EPOCH + dt.timedelta(microseconds=micros)
    return moment.replace(tzinfo=None).isoformat(sep=between)


_WRITERS: Final[Mapping[BqType, Callable[[Choices, Any], Term | None]]] = MappingProxyType(
    {
        BqType.INT64: _int64,
        BqType.FLOAT64: _float64,
        BqType.NUMERIC: _numeric,
        BqType.BOOL: _bool,
        BqType.BYTES: _bytes,
        BqType.DATE: _date,
        BqType.TIMESTAMP: _timestamp,
        BqType.DATETIME: _datetime,
        BqType.TIME: _time,
    }
)
