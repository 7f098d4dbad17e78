"""Cells in REST's forms: what is sent in, and what is exactly the same when it comes back."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.records import BqType, Column, Mode
from conformance.targets.values import (
    Instants,
    Unreadable,
    case_value,
    interval_text,
    listed_value,
    rest_schema,
    rest_value,
)

T = BqType


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"months": 14, "days": 3, "micros": 14_706_789_000}, "1-2 3 4:5:6.789000"),
        ({"months": -14, "days": 3, "micros": -1}, "-1-2 3 -0:0:0.000001"),
        ({"months": 0, "days": -3, "micros": -14_706_000_000}, "0-0 -3 -4:5:6"),
        ({"months": 120_000, "days": 0, "micros": 0}, "10000-0 0 0:0:0"),
        ({"micros": 3_600_000_000 * 87_840_000}, "0-0 0 87840000:0:0"),
    ],
)
def test_each_part_of_an_interval_has_its_own_sign(value: dict[str, int], text: str) -> None:
    """The canonical text of an INTERVAL signs months, days and time one by one, and reads back as itself."""
    assert interval_text(value) == text
    assert listed_value(Column("a", T.INTERVAL), {"v": text}) == case_value(Column("a", T.INTERVAL), value)


def test_a_schema_field_carries_what_the_column_declares() -> None:
    """Parameters, element types and nested fields are in the places of TableFieldSchema."""
    column = Column(
        "r",
        T.RECORD,
        Mode.REPEATED,
        fields=(Column("n", T.NUMERIC, precision=10, scale=2), Column("s", T.STRING, max_length=5)),
    )

    assert rest_schema(column) == {
        "name": "r",
        "type": "RECORD",
        "mode": "REPEATED",
        "fields": [
            {"name": "n", "type": "NUMERIC", "mode": "NULLABLE", "precision": "10", "scale": "2"},
            {"name": "s", "type": "STRING", "mode": "NULLABLE", "maxLength": "5"},
        ],
    }
    assert rest_schema(Column("g", T.RANGE, range_of=T.DATE))["rangeElementType"] == {"type": "DATE"}


def test_values_go_in_as_insert_all_takes_them() -> None:
    """Big integers are text, records keep their keys, absent keys become nulls and absent arrays stay absent."""
    inner = (Column("i", T.INT64), Column("l", T.STRING, Mode.REPEATED), Column("d", T.DATE))
    column = Column("r", T.RECORD, Mode.REPEATED, fields=inner)

    assert rest_value(column, [{"i": -(2**63)}, {"d": "2020-01-01", "l": ["x"]}]) == [
        {"i": "-9223372036854775808", "d": None},
        {"i": None, "l": ["x"], "d": "2020-01-01"},
    ]
    assert rest_value(column, None) == []
    assert rest_value(Column("a", T.INT64), None) is None


SAME: list[tuple[Column, Any, Any]] = [
    (Column("a", T.INT64), 2**63 - 1, "9223372036854775807"),
    (Column("a", T.FLOAT64), "NaN", "NaN"),
    (Column("a", T.FLOAT64), "-Infinity", "-inf"),
    (Column("a", T.FLOAT64), 0.1, "0.1"),
    (Column("a", T.BOOL), True, "true"),
    (Column("a", T.STRING), "ä\n", "ä\n"),
    (Column("a", T.BYTES), "AAE=", "AAE="),
    (Column("a", T.DATE), "0001-01-01", "0001-01-01"),
    (Column("a", T.DATETIME), "2020-01-02T03:04:05.600000", "2020-01-02T03:04:05.6"),
    (Column("a", T.TIME), "03:04:05.6", "03:04:05.600000"),
    (Column("a", T.TIMESTAMP), "1969-12-31T23:59:59.999999Z", "-1"),
    (Column("a", T.TIMESTAMP), "2020-01-01T00:00:00Z", "1.5778368E9"),
    (Column("a", T.TIMESTAMP), "2020-01-01T00:00:00Z", "2020-01-01 00:00:00+00:00"),
    (Column("a", T.NUMERIC), "1.50", "1.5"),
    (Column("a", T.BIGNUMERIC), "1" * 39 + "." + "2" * 38, "1" * 39 + "." + "2" * 38),
    (Column("a", T.JSON), '{"a": 1, "b": [1.50]}', '{"b":[1.5],"a":1}'),
    (Column("a", T.RANGE, range_of=T.DATE), {"start": "2020-01-01", "end": None}, "[2020-01-01, UNBOUNDED)"),
    (
        Column("a", T.RANGE, range_of=T.TIMESTAMP),
        {"start": None, "end": "1970-01-01T00:00:01Z"},
        "[UNBOUNDED, 1000000)",
    ),
    (Column("a", T.INT64, Mode.REPEATED), [1, 2], [{"v": "1"}, {"v": "2"}]),
    (Column("a", T.INT64, Mode.REPEATED), None, []),
    (Column("a", T.RECORD, fields=(Column("x", T.INT64),)), {"x": 1}, {"f": [{"v": "1"}]}),
    (Column("a", T.RECORD, fields=(Column("x", T.INT64),)), None, None),
]


@pytest.mark.parametrize(("column", "value", "listed"), SAME)
def test_what_was_put_in_is_recognised(column: Column, value: Any, listed: Any) -> None:
    """A cell of tabledata.list equals the value of the case that it shows."""
    assert listed_value(column, {"v": listed}) == case_value(column, value)


DIFFERENT: list[tuple[Column, Any, Any]] = [
    (Column("a", T.INT64), 1, "2"),
    (Column("a", T.FLOAT64), -0.0, "0.0"),
    (Column("a", T.TIMESTAMP), "2020-01-01T00:00:00.000001Z", "1577836800000000"),
    (Column("a", T.NUMERIC), "0.000000001", "0"),
    (Column("a", T.JSON), '{"a": 1}', '{"a": "1"}'),
    (Column("a", T.INTERVAL), {"months": -14, "days": 0, "micros": 0}, "1-2 0 0:0:0"),
    (Column("a", T.INT64, Mode.REPEATED), [1], [{"v": "1"}, {"v": "1"}]),
    (Column("a", T.FLOAT64, Mode.REPEATED), ["NaN"], [{"v": None}]),
    (Column("a", T.RECORD, fields=(Column("x", T.INT64),)), None, {"f": [{"v": None}]}),
]


@pytest.mark.parametrize(("column", "value", "listed"), DIFFERENT)
def test_what_was_changed_is_noticed(column: Column, value: Any, listed: Any) -> None:
    """A cell that shows another value does not equal the case's."""
    assert listed_value(column, {"v": listed}) != case_value(column, value)


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        (Column("a", T.GEOGRAPHY), "POINT(1 2)"),
        (Column("a", T.INTERVAL), "P1Y"),
        (Column("a", T.DATE), "yesterday"),
        (Column("a", T.BOOL), "1"),
        (Column("a", T.BYTES), "!"),
        (Column("a", T.RANGE, range_of=T.DATE), "2020-01-01/2020-01-02"),
        (Column("a", T.INT64), 5),
        (Column("a", T.INT64, Mode.REPEATED), "1"),
        (Column("a", T.RECORD, fields=(Column("x", T.INT64),)), {"f": []}),
        (Column("a", T.RECORD, fields=(Column("x", T.INT64),)), {"x": "1"}),
    ],
)
def test_texts_of_unknown_form_are_not_guessed_at(column: Column, cell: Any) -> None:
    """A form that REST does not fix is said to be unreadable."""
    with pytest.raises(Unreadable):
        listed_value(column, {"v": cell})


def test_whole_numbers_can_be_seconds() -> None:
    """For a server that ignores ``useInt64Timestamp``, whole numbers are seconds."""
    column = Column("a", T.TIMESTAMP)

    assert listed_value(column, "5", Instants.SECONDS) == case_value(column, "1970-01-01T00:00:05Z", Instants.SECONDS)


def test_doubles_are_not_asked_for_more_than_they_hold() -> None:
    """For a server that goes through doubles, far instants are compared by their sign and near ones exactly."""
    column = Column("a", T.TIMESTAMP)
    far = case_value(column, "6678-04-18T12:08:47.546218Z", Instants.DOUBLES)

    assert listed_value(column, "148579445327546208", Instants.DOUBLES) == far
    assert listed_value(column, "-148579445327546208", Instants.DOUBLES) != far
    assert listed_value(column, "5000001", Instants.DOUBLES) != case_value(
        column, "1970-01-01T00:00:05Z", Instants.DOUBLES
    )
