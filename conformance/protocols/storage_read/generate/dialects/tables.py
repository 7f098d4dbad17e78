"""Tables on which wrong readings of a restriction select other rows: values that dialects disagree about.

Each type has a pool of such values: strings that differ in case or in trailing blanks, or are names of columns, NaN
and negative zero, halves, texts of digits, instants near midnight.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from conformance.generate.choices import Choices, one_in
from conformance.generate.jsonform import FORMS
from conformance.generate.outline import ROW_ID
from conformance.protocols.storage_read.generate.dialects.grammar import FOCUS
from conformance.records import BqType, Column, Mode

__all__ = ["draw_rows", "plain_rows"]

_POOLS: Final[Mapping[BqType, Sequence[Any]]] = MappingProxyType(
    {
        BqType.INT64: (1, 2, 3, 5, 6, 7, 8, 10, 0, -1, -2, -7),
        BqType.FLOAT64: ("NaN", 0.5, 1.5, 2.5, -0.0, 0.0, 0.3, 0.1, 3.0, -2.5, "Infinity", "-Infinity", 1000000.25),
        BqType.NUMERIC: (
            "0.1",
            "0.2",
            "0.4",
            "0.5",
            "1.5",
            "2.5",
            "-2.5",
            "3",
            "0.000000001",
            "12345678901234567890.5",
        ),
        BqType.STRING: (*"abc", "name", "", "it's", "x41", "a\nb", "100%", "a  b", "a b", "é", "éa", "日b", "aé日"),
        BqType.BOOL: (True, False),
        BqType.BYTES: ("YQ==", "QQ==", "AGE=", "/w==", ""),
        BqType.DATE: ("2020-01-05", "2020-01-15", "2020-02-29", "2019-12-31", "2020-10-01", "1969-07-20"),
        BqType.TIMESTAMP: (
            *("2020-01-01T00:00:00Z", "2019-12-31T23:30:00Z", "2020-01-01T09:00:00Z", "2019-12-31T15:00:00Z"),
            *("2020-01-01T00:00:00.000001Z", "2019-12-31T19:00:00Z", "1969-12-31T23:59:59.999999Z"),
        ),
        BqType.DATETIME: ("2020-01-01T00:00:00", "2020-01-01T09:00:00.5", "1969-12-31T23:59:59.999999"),
        BqType.TIME: ("00:00:00", "23:59:59.999999", "09:30:00"),
    }
)

_THEMES: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "": _POOLS[BqType.STRING],
        "names": ("a", "b", "c", "name", "Total", "x41", "A", "né"),
        "blanks": ("a", "a ", "b", "b ", "a  ", " a"),
        "cases": ("a", "A", "a ", "b", "B", "ab", "aB", "AB"),
        "patterns": ("a_b", "axb", "a%b", "a\\b", "aXb", "ab", "a\\xb", "aéb"),
        "digits": ("7", "007", "12", "012", "12abc", "abc", "7"),
        "accents": ("é", "É", "aé", "AÉ", "e", "日本", "ß"),
    }
)
"""Texts that belong together: a wrong reading confuses some of them with others."""

_HALVES: Final[Mapping[BqType, Sequence[Any]]] = MappingProxyType(
    {BqType.FLOAT64: (0.5, 1.5, 2.5, -2.5, 3.0), BqType.NUMERIC: ("0.5", "1.5", "2.5", "-2.5", "3", "0.7")}
)
"""Numbers of which every one can be cast to INT64; the pools have others."""

_TYPES: Final = (
    *(BqType.STRING, BqType.STRING, BqType.INT64, BqType.FLOAT64, BqType.TIMESTAMP, BqType.NUMERIC, BqType.DATE),
    *(BqType.BOOL, BqType.BYTES, BqType.DATETIME, BqType.TIME),
)
_NAMES: Final = ("a", "b", "c", "name", "Total", "check", "table", "order", "value", "d", "e")
"""Names, among them one in mixed case, words that other engines reserve, and one that BigQuery reserves."""


def draw_rows(
    choices: Choices, wanted: Sequence[str] = (), kinds: Sequence[BqType] = ()
) -> tuple[tuple[Column, ...], list[dict[str, Any]]]:
    """Return columns and rows in their JSON form, with what the readings ``wanted`` concern, and a column of each of
    ``kinds``; the first column numbers the rows.
    """
    concerned = [FOCUS[reading] for reading in wanted if reading in FOCUS]
    themes = list(dict.fromkeys(focus.theme for focus in concerned if BqType.STRING in focus.types)) or [""]
    types = dict.fromkeys((focus.types[0], focus.theme) for focus in concerned if focus.types[0] is not BqType.STRING)
    leaves = [(BqType.STRING, theme) for theme in themes] + list(types)
    leaves += [(kind, "") for kind in dict.fromkeys(kinds) if kind not in {held for held, _ in leaves}]
    leaves += [(choices.pick(_TYPES), choices.pick(tuple(_THEMES))) for _ in range(max(2, 5 - len(leaves)))]
    # Plain names follow where a case asks for more columns than there are names.
    names = [*_NAMES, *(f"extra_{number}" for number in range(len(leaves) - len(_NAMES)))]
    held: dict[str, tuple[Column, str]] = {}
    for kind, theme in leaves:
        name = names.pop(choices.integer(0, len(names) - 1))
        held[name] = Column(name, kind), theme
    inner = (Column("a", BqType.STRING), Column("End", choices.pick((BqType.INT64, BqType.FLOAT64))))
    held["r"] = Column("r", BqType.RECORD, fields=inner), ""
    rows = [
        {ROW_ID: number, **{name: _value(choices, column, theme) for name, (column, theme) in held.items()}}
        for number in range(choices.integer(5, 10))
    ]
    return (Column(ROW_ID, BqType.INT64, Mode.REQUIRED), *(column for column, _ in held.values())), rows


def _value(choices: Choices, column: Column, theme: str) -> Any:
    if one_in(choices, 3 if column.type is BqType.RECORD else 6):
        return None
    if column.type is BqType.RECORD:
        return {field.name: _value(choices, field, theme) for field in column.fields}
    if column.type is BqType.STRING:
        return choices.pick(_THEMES[theme])
    return choices.pick((_HALVES if theme == "halves" else _POOLS)[column.type])


def plain_rows(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows in JSON form as plain Python values: text, numbers, microseconds, days."""
    return [{column.name: _plain(column, row.get(column.name)) for column in columns} for row in rows]


def _plain(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.mode is Mode.REPEATED:
        return value
    if column.type is BqType.RECORD:
        return {field.name: _plain(field, value.get(field.name)) for field in column.fields}
    if column.type in (BqType.NUMERIC, BqType.BIGNUMERIC):
        return decimal.Decimal(value)
    if column.type not in _POOLS:
        return value
    raw = FORMS[column.type].read(column, value)
    return raw.decode() if column.type is BqType.STRING else raw
