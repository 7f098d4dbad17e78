"""The values that a recipe draws: one row per BigQuery type, one entry per value profile.

Values are written in their JSON form (:class:`conformance.records.Table`), so that people can read the table, and
reach Arrow through the same reader as written-out rows. A profile is a pool: synthesis picks from it by index. This
module defines the values; :mod:`conformance.generate.synthesis` places the NULLs and picks the values.
"""

from __future__ import annotations

import base64
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from conformance.contract.mapping import decimal_parameters
from conformance.generate.jsonform import DAY, EPOCH, FORMS
from conformance.records import BqType, Column, ValueProfile

__all__ = ["PROFILES", "RANDOM_POOL", "pool_values"]

RANDOM_POOL: Final = 251
"""The number of distinct values in a RANDOM pool: prime, so that no stride of a faulty reader hits equal values."""


def _random(column: Column, draw: Callable[[random.Random], Any]) -> list[Any]:
    """Return values drawn once per type from a seed of their own, with ``getrandbits`` only, whose sequence Python
    keeps stable.
    """
    source = random.Random(f"{column.type}")  # noqa: S311  # test data, not secrets
    return [draw(source) for _ in range(RANDOM_POOL)]


def _below(source: random.Random, limit: int) -> int:
    """Return an integer from 0 to ``limit`` - 1 (nearly uniform, which is enough here)."""
    return source.getrandbits(limit.bit_length() + 16) % limit


# --- integers, floats, booleans ---------------------------------------------------------------------

_INT64_EDGES: Final = (
    *(0, 1, -1, (1 << 63) - 1, -(1 << 63), (1 << 63) - 2, -(1 << 63) + 1),
    *((1 << 31) - 1, -(1 << 31), 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 53) + 1, -(1 << 53) - 1, 127, -128, 255, 256),
)
_FLOAT64_EDGES: Final = (
    *(0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 5e-324, -5e-324, 2.2250738585072014e-308, 2.225073858507201e-308),
    *(1.7976931348623157e308, -1.7976931348623157e308, 9007199254740993.0, 1e23, "NaN", "Infinity", "-Infinity"),
)


def _random_float(source: random.Random) -> float:
    mantissa, exponent = source.getrandbits(53) - (1 << 52), source.getrandbits(7) - 116
    return float(mantissa) * 2.0**exponent


# --- dates and times ----------------------------------------------------------------------------------

_FIRST_DAY: Final = 1 - EPOCH
_LAST_DAY: Final = 2932896
"""9999-12-31, the last day that BigQuery supports."""

_DATES: Final = (
    *("0001-01-01", "0001-01-02", "0001-01-03", "1582-10-04", "1582-10-15", "1600-02-29", "1677-09-21", "1900-01-01"),
    *("1969-12-31", "1970-01-01", "1970-01-02", "2000-02-29", "2038-01-19", "2262-04-12", "9999-12-30", "9999-12-31"),
)
_TIMES: Final = (
    "00:00:00",
    "00:00:00.000001",
    "00:00:01",
    "11:59:59.999999",
    "12:00:00",
    "23:59:59",
    "23:59:59.999999",
)
_INSTANTS: Final = (
    *("0001-01-01T00:00:00", "0001-01-01T00:00:00.000001", "1582-10-14T12:00:00", "1677-09-21T00:12:43.145224"),
    *("1969-12-31T23:59:59.999999", "1970-01-01T00:00:00", "1970-01-01T00:00:00.000001", "2000-02-29T23:59:59.5"),
    *("2038-01-19T03:14:08", "2262-04-11T23:47:16.854776", "9999-12-31T23:59:59", "9999-12-31T23:59:59.999999"),
)


def _shown(kind: BqType, low: int, high: int) -> Callable[[Column], list[Any]]:
    """Return a function for the RANDOM values of a type whose raw form is an integer from ``low`` to ``high``."""

    def values(column: Column) -> list[Any]:
        return _random(column, lambda source: FORMS[kind].show(low + _below(source, high - low + 1)))

    return values


# --- text ---------------------------------------------------------------------------------------------

_TEXT_EDGES: Final = (
    *("", " ", "\x00", "a\x00b", "\x7f", "\t\r\n", "'", '"', "\\", "`", "%s", "null", "NULL", "NaN", "true", "0"),
    *("é", "e\u0301", "ß", "İ", "\u0131", "€", "漢字", "עברית", "مرحبا", "\u200b", "\ufeff", "\ufffd", "\uffff"),
    *(
        "😀",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001d518",
        "\U0010ffff",
        "a" * 12,
        "a" * 13,
        "b" * 63,
        "c" * 64,
        "d" * 65,
        "é" * 128,
        "x" * 1023,
    ),
)
_BYTES_EDGES: Final = (
    *(b"", b"\x00", b"\xff", b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\x80abc"),
    *(b"YWJj", b"abc", bytes(range(256)), b"\x00" * 63, b"\x01" * 64, b"\x02" * 65),
)
_JSON_EDGES: Final = (
    *("null", "true", "false", "0", "-1", "9007199254740991", "1.5", '""', '"null"', "[]", "{}", "[null]"),
    *('{"k":[1,null]}', '{"a":{"b":{"c":[[],{}]}}}', '"\\"\\\\"', '"é漢😀"', '{"":""}', '{"a b":1,"ä":2}', "[[[[]]]]"),
)
_GEOGRAPHY_EDGES: Final = (
    *("POINT(0 0)", "POINT(1 2)", "POINT(-122.35 47.62)", "GEOMETRYCOLLECTION EMPTY"),
    *("LINESTRING(1 2, 3 4)", "LINESTRING(0 0, 1 1, 2 0)", "POINT(179.5 -89.5)"),
)
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyzABCXYZ0189 _-.,;éßñ€漢字🎈😀"
WIDE_LENGTHS: Final = (1000, 1024, 4095, 4096, 4097, 9000)
"""The lengths of wide cells, in characters: around a page, and above the size of one network packet."""


def _random_text(source: random.Random) -> str:
    return "".join(_ALPHABET[_below(source, len(_ALPHABET))] for _ in range(_below(source, 24)))


def _wide_text(unit: str) -> Callable[[Column], list[str]]:
    return lambda _column: [(unit * length)[:length] for length in WIDE_LENGTHS]


def _encoded(values: Sequence[bytes]) -> list[str]:
    return [base64.b64encode(value).decode() for value in values]


# --- decimals, intervals, ranges ------------------------------------------------------------------------


def _decimal(column: Column, unscaled: int) -> str:
    """Return the decimal string of an integer of unscaled digits."""
    scale = decimal_parameters(column)[1]
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :]
    return ("-" if unscaled < 0 else "") + (f"{whole}.{fraction}" if fraction else whole)


def _decimals(column: Column, *unscaled: int) -> list[str]:
    """Return the decimal strings of the integers that the column can hold, in order, each once."""
    limit = 10 ** decimal_parameters(column)[0]
    return [_decimal(column, value) for value in dict.fromkeys(unscaled) if abs(value) < limit]


def _small_decimals(column: Column) -> list[str]:
    one = 10 ** decimal_parameters(column)[1]
    return _decimals(column, 0, 1, -1, one, -one, one + 1, 3 * one + one // 7, 7)


def _decimal_edges(column: Column) -> list[str]:
    precision, scale = decimal_parameters(column)
    most, one = 10**precision - 1, 10**scale
    powers = (sign * (1 << bits) + step for bits in (63, 64, 127, 128) for sign in (1, -1) for step in (-1, 0))
    edges = _decimals(column, 0, 1, -1, one, -one, one - 1, most, -most, most - 1, (most + 1) // 2, *powers)
    if column.type is BqType.BIGNUMERIC and column.precision is None:
        edges += [_decimal(column, value) for value in ((1 << 255) - 1, -(1 << 255), 10**76, -(10**76))]
    return edges


def _random_decimals(column: Column) -> list[str]:
    precision = decimal_parameters(column)[0]

    def draw(source: random.Random) -> str:
        digits = 1 + _below(source, precision)
        return _decimal(column, _below(source, 10**digits) * (1 - 2 * source.getrandbits(1)))

    return _random(column, draw)


def _interval(months: int = 0, days: int = 0, micros: int = 0) -> dict[str, int]:
    return {"months": months, "days": days, "micros": micros}


_MAX_MONTHS: Final = 120_000
_MAX_DAYS: Final = 3_660_000
_MAX_MICROS: Final = 9_223_372_036_854_775
"""The limits of BigQuery's INTERVAL: 10,000 years and their days; for the time part, the limit of 64-bit
nanoseconds.
"""

_INTERVAL_EDGES: Final = (
    *(_interval(), _interval(1), _interval(-1), _interval(days=1), _interval(days=-1), _interval(micros=1)),
    *(_interval(micros=-1), _interval(14, 3, 14_706_789_000), _interval(-14, 3, -1), _interval(14, -3, 1)),
    *(_interval(_MAX_MONTHS, _MAX_DAYS, _MAX_MICROS), _interval(-_MAX_MONTHS, -_MAX_DAYS, -_MAX_MICROS)),
    *(_interval(micros=DAY), _interval(days=30), _interval(12)),
)


def _random_interval(source: random.Random) -> dict[str, int]:
    def part(most: int) -> int:
        return _below(source, 2 * most + 1) - most

    return _interval(part(_MAX_MONTHS), part(_MAX_DAYS), part(_MAX_MICROS))


def _range(start: str | None, end: str | None) -> dict[str, str | None]:
    return {"start": start, "end": end}


def _bounds(column: Column, profile: ValueProfile) -> list[Any]:
    """Return values of the range's element type in their order, each once."""
    assert column.range_of is not None
    # Equal widths make these forms sort as text; without the final Z, a fraction sorts after a missing fraction.
    return sorted(set(pool_values(Column("", column.range_of), profile)), key=lambda text: text.rstrip("Z"))


def _ranges(column: Column) -> list[Any]:
    bounds = _bounds(column, ValueProfile.SMALL)
    return [_range(low, high) for low, high in itertools.pairwise(bounds)] + [_range(bounds[0], None)]


def _range_edges(column: Column) -> list[Any]:
    bounds = _bounds(column, ValueProfile.BOUNDARY)
    inside = [_range(low, high) for low, high in itertools.pairwise(bounds)]
    open_ = [_range(None, None), _range(bounds[0], None), _range(None, bounds[-1]), _range(None, bounds[1])]
    return [*inside, _range(bounds[0], bounds[-1]), *open_]


def _random_ranges(column: Column) -> list[Any]:
    bounds = _bounds(column, ValueProfile.RANDOM)
    inside = [_range(low, high) for low, high in itertools.pairwise(bounds)]
    return inside + [_range(bound, None) for bound in bounds[::9]] + [_range(None, bound) for bound in bounds[::9]]


# --- the table ------------------------------------------------------------------------------------------

Values = Callable[[Column], Sequence[Any]]


def _row(small: Sequence[Any], edges: Sequence[Any], drawn: Values, wide: Values | None = None) -> Mapping[str, Values]:
    """Return the SMALL, BOUNDARY, RANDOM and WIDE values of one type; CONSTANT is the first small value other than
    the zero.
    """
    return _profiles(lambda _column: small, lambda _column: edges, drawn, wide)


def _profiles(small: Values, edges: Values, drawn: Values, wide: Values | None = None) -> Mapping[str, Values]:
    return MappingProxyType(
        {
            ValueProfile.SMALL: small,
            ValueProfile.BOUNDARY: edges,
            ValueProfile.RANDOM: drawn,
            ValueProfile.WIDE: wide or edges,
            ValueProfile.CONSTANT: lambda column: small(column)[1:2],
        }
    )


def _instants(kind: BqType, zone: str) -> Mapping[str, Values]:
    small = ("1970-01-01T00:00:00", "2019-03-18T01:23:45.678901", "1969-07-20T20:17:40", "2026-11-21T12:00:00.5")
    last = (_LAST_DAY + 1) * DAY - 1
    drawn = _shown(kind, _FIRST_DAY * DAY, last)
    return _row([text + zone for text in small], [text + zone for text in _INSTANTS], drawn)


PROFILES: Final[Mapping[BqType, Mapping[str, Values]]] = MappingProxyType(
    {
        BqType.INT64: _row(
            (0, 1, 2, 3, -1, 42, 1000),
            _INT64_EDGES,
            lambda column: _random(column, lambda source: source.getrandbits(64) - (1 << 63)),
        ),
        BqType.FLOAT64: _row(
            (0.0, 1.0, 1.5, -1.0, 0.25, 100.0), _FLOAT64_EDGES, lambda column: _random(column, _random_float)
        ),
        BqType.BOOL: _row(
            (False, True),
            (False, True),
            lambda column: _random(column, lambda source: bool(source.getrandbits(1))),
        ),
        BqType.STRING: _row(
            ("", "a", "b", "ab", "hello", "ä", "z"),
            _TEXT_EDGES,
            lambda column: _random(column, _random_text),
            _wide_text("wide ß漢😀 "),
        ),
        BqType.BYTES: _row(
            _encoded((b"", b"a", b"b", b"\x00\x01", b"bytes")),
            _encoded(_BYTES_EDGES),
            lambda column: _encoded(
                _random(column, lambda source: bytes(source.getrandbits(8) for _ in range(_below(source, 24))))
            ),
            lambda _column: _encoded([(bytes(range(256)) * 40)[:length] for length in WIDE_LENGTHS]),
        ),
        BqType.DATE: _row(
            ("1970-01-01", "1970-01-02", "2019-03-18", "1969-07-20", "2026-11-21"),
            _DATES,
            _shown(BqType.DATE, _FIRST_DAY, _LAST_DAY),
        ),
        BqType.DATETIME: _instants(BqType.DATETIME, ""),
        BqType.TIMESTAMP: _instants(BqType.TIMESTAMP, "Z"),
        BqType.TIME: _row(
            ("00:00:00", "01:23:45.678901", "12:00:00", "20:17:40"), _TIMES, _shown(BqType.TIME, 0, DAY - 1)
        ),
        BqType.NUMERIC: _profiles(_small_decimals, _decimal_edges, _random_decimals),
        BqType.BIGNUMERIC: _profiles(_small_decimals, _decimal_edges, _random_decimals),
        BqType.JSON: _row(
            ("null", "1", '"a"', "[1,2]", '{"a":1}'),
            _JSON_EDGES,
            lambda column: _random(column, lambda source: f'{{"n":{source.getrandbits(31)},"t":[true,null,"é"]}}'),
            lambda _column: [f'["{"wide ß漢😀 " * (length // 9)}"]' for length in WIDE_LENGTHS],
        ),
        BqType.GEOGRAPHY: _row(
            ("GEOMETRYCOLLECTION EMPTY", "POINT(1 2)", "POINT(3 4)", "LINESTRING(1 2, 3 4)"),
            _GEOGRAPHY_EDGES,
            lambda column: _random(
                column, lambda source: f"POINT({_below(source, 3590) / 10 - 179.5} {_below(source, 179) - 89})"
            ),
        ),
        BqType.INTERVAL: _row(
            (_interval(), _interval(14, 3, 14_706_789_000), _interval(1), _interval(days=1), _interval(micros=1)),
            _INTERVAL_EDGES,
            lambda column: _random(column, _random_interval),
        ),
        BqType.RANGE: _profiles(_ranges, _range_edges, _random_ranges),
    }
)
"""The values of every type except RECORD, which consists of other types."""


def pool_values(column: Column, profile: ValueProfile) -> list[Any]:
    """Return the JSON forms from which ``profile`` picks a value of the column; a declared length bounds them."""
    values = list(PROFILES[column.type][profile](column))
    if column.max_length is None:
        return values
    if column.type is BqType.BYTES:
        return _encoded([base64.b64decode(value)[: column.max_length] for value in values])
    return [value[: column.max_length] for value in values]
