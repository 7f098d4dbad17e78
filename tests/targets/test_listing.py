"""The rows that a server lists are those that were put in, in any order; any other answer ends in a sentence."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest

from conformance.records import BqType, Column, Mode
from conformance.targets.listing import MAX_VERIFIED_ROWS, verify_order
from conformance.targets.rest import RestClient
from conformance.targets.restway import RestTables
from conformance.targets.seeding import Seeder
from conformance.targets.targeterrors import CannotSeed
from tests.targets.fake_server import FakeServer
from tests.targets.seeded import COLUMNS, ROWS, listing, refused, row, seeder_of


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"totalRows": "2", "rows": [row("1", "x")]}, "3 rows were inserted but tabledata.list counts '2'"),
        ({"rows": []}, "3 rows were inserted but tabledata.list counts None"),
        ({"totalRows": "3", "rows": [row("1", "x")]}, "3 rows were inserted but tabledata.list ends after 1"),
        (
            {"totalRows": "3", "rows": [row("1"), row("2"), row(None)]},
            "tabledata.list returned a row of another shape than the 2 columns",
        ),
        (
            {"totalRows": "3", "rows": [row("1", "x"), row("-2", "y"), row(None, None)]},
            "column 'a' (INT64): tabledata.list shows -2, which was not put in; 2 was",
        ),
        (
            {"totalRows": "3", "rows": [row("1", "y"), row("2", "x"), row(None, None)]},
            "tabledata.list shows the cells of different rows in one row",
        ),
        (
            {"totalRows": "3", "rows": [row("1", "x"), row("1", "x"), row(None, None)]},
            "column 'a' (INT64): tabledata.list shows 1, which was not put in; 2 was",
        ),
    ],
)
def test_a_seed_that_was_changed_is_noticed(
    fake: FakeServer, seeder: Seeder, answer: dict[str, Any], message: str
) -> None:
    """tabledata.list must show the inserted rows; the message names the column and both values."""
    listing(fake, answer)

    assert refused(seeder) == message


DEEP_JSON = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"totalRows": "3", "rows": "rows"}, "expected tabledata.list to return an array of rows but got 'rows'"),
        ({"totalRows": "3", "rows": {"f": []}}, "expected tabledata.list to return an array of rows but got {'f': []}"),
        ({"totalRows": "3", "rows": 3}, "expected tabledata.list to return an array of rows but got 3"),
        ({"totalRows": "3", "rows": ["f", 1, None]}, "tabledata.list returned a row of another shape"),
        ({"totalRows": "3", "rows": [{"f": "ab"}] * 3}, "tabledata.list returned a row of another shape"),
        ({"totalRows": "3", "rows": [{}, {}, {}]}, "tabledata.list returned a row of another shape"),
        ({"totalRows": "3", "rows": [{}] * 10_000}, "3 rows were inserted but tabledata.list returned 10000"),
        ({"totalRows": [3] * 100}, "3 rows were inserted but tabledata.list counts [3, 3, 3"),
        ({"totalRows": {"\ud800": "\n::error"}}, r"3 rows were inserted but tabledata.list counts {'\ud800': '\n::"),
        ({"totalRows": "3", "pageToken": "again"}, ""),
        ({"totalRows": "3", "pageToken": {"a": []}, "rows": []}, ""),
        ({"totalRows": "3", "rows": [{"f": [{"v": [1]}, {"v": {"f": 1}}]}] * 3}, "column 'a' (INT64): tabledata.list"),
        ({"totalRows": "3", "rows": [{"f": [[[[]]], 1.5]}] * 3}, "column 'a' (INT64): tabledata.list shows False"),
        ({"totalRows": "3", "rows": [row("1", "\ud800")] * 3}, "column 'a' (INT64): tabledata.list shows 1, which"),
    ],
)
def test_a_listing_of_any_shape_ends_in_a_sentence(
    fake: FakeServer, seeder: Seeder, answer: dict[str, Any], said: str
) -> None:
    """Malformed rows, cells or counts are no error of the suite; a malformed page token is not followed."""
    listing(fake, answer)

    if said:
        assert refused(seeder).startswith(said)
        assert refused(seeder).isprintable()
    else:
        assert seeder.seed("case", COLUMNS, ROWS, withheld=0).inserted == 3
    assert sum("/data?" in path for _, path in fake.rest_requests) == (2 if said else 1)


@pytest.mark.parametrize(
    ("kind", "put", "text"),
    [
        (BqType.NUMERIC, "1", "1e999999999"),
        (BqType.BIGNUMERIC, "1", "9" * 100_000),
        (BqType.INT64, 1, "9" * 100_000),
        (BqType.FLOAT64, 1.5, "1" * 100_000),
        (BqType.JSON, "1", "1e999999999"),
        (BqType.JSON, "1", DEEP_JSON),
        (BqType.JSON, "1", "[" + "1," * 200_000 + "1]"),
        (BqType.JSON, "1", '"\ud800'),
        (BqType.TIMESTAMP, "2020-01-01T00:00:00Z", "9" * 4000),
        (BqType.TIMESTAMP, "2020-01-01T00:00:00Z", "1e400"),
        (BqType.INTERVAL, {"months": 1}, "9" * 5000 + "-1 0 0:0:0"),
        (BqType.BYTES, "AA==", "\u0100"),
    ],
)
def test_a_text_that_costs_too_much_is_compared_as_not_null(
    fake: FakeServer, seeder: Seeder, kind: BqType, put: Any, text: str
) -> None:
    """Exponents, digits and levels without an end are not evaluated; such a column is compared by its NULLs."""
    listing(fake, {"totalRows": "1", "rows": [row(text)]})

    assert seeder.seed("case", [Column("a", kind)], [{"a": put}], withheld=0).inserted == 1


def test_a_range_of_separators_is_compared_as_not_null(fake: FakeServer, seeder: Seeder) -> None:
    """A text in which every position could separate two ends is too long to be a range."""
    columns = [Column("a", BqType.RANGE, range_of=BqType.DATE)]
    listing(fake, {"totalRows": "1", "rows": [row("[" + ", " * 100_000)]})

    assert seeder.seed("case", columns, [{"a": {"start": "2020-01-01"}}], withheld=0).inserted == 1


def test_a_json_value_that_is_too_deep_for_us_is_compared_as_not_null(fake: FakeServer, seeder: Seeder) -> None:
    """A case may have JSON of more levels than are compared; that is no fault of the target."""
    deep = "[" * 400 + "]" * 400

    assert seeder.seed("case", [Column("a", BqType.JSON)], [{"a": deep}], withheld=0).inserted == 1


def test_rows_may_be_listed_in_any_order(fake: FakeServer, seeder: Seeder) -> None:
    """A listing has no order."""
    listing(fake, {"totalRows": "3", "rows": [row(None, None), row("2", "y"), row("1", "x")]})

    assert seeder.seed("case", COLUMNS, ROWS, withheld=0).inserted == 3


def test_a_column_of_unknown_texts_is_compared_by_its_nulls(fake: FakeServer, seeder: Seeder) -> None:
    """A text without a fixed form is no reason to refuse, but a NULL where none was is."""
    columns = (Column("g", BqType.GEOGRAPHY),)
    rows: list[dict[str, Any]] = [{"g": "POINT(1 2)"}, {"g": None}]
    listing(fake, {"totalRows": "2", "rows": [row("Point (1.0 2.0)"), row(None)]})
    accepted = seeder.seed("one", columns, rows, withheld=0)
    listing(fake, {"totalRows": "2", "rows": [row(None), row(None)]})

    assert accepted.inserted == 2
    with pytest.raises(CannotSeed, match=r"column 'g' \(GEOGRAPHY\)"):
        seeder.seed("two", columns, rows, withheld=0)


def test_one_unknown_text_hides_no_changed_value(fake: FakeServer, seeder: Seeder) -> None:
    """A server may list the least double as `5e-324.0`, and store NULL for an infinity in the same column."""
    columns = (Column("r", BqType.RECORD, fields=(Column("x", BqType.FLOAT64),)),)
    rows: list[dict[str, Any]] = [{"r": {"x": 5e-324}}, {"r": {"x": "-Infinity"}}, {"r": None}]
    for last, kept in (("-Infinity", True), (None, False), ("0.0", False)):
        cells = [{"f": [{"v": "5e-324.0"}]}, {"f": [{"v": last}]}, None]
        listing(fake, {"totalRows": "3", "rows": [row(cell) for cell in cells]})
        if kept:
            assert seeder.seed("case", columns, rows, withheld=0).inserted == 3
        else:
            with pytest.raises(CannotSeed, match=r"column 'r.x' \(FLOAT64\): tabledata.list shows"):
                seeder.seed("case", columns, rows, withheld=0)


def test_the_field_of_a_record_that_was_changed_is_named(fake: FakeServer, seeder: Seeder) -> None:
    """Also of a record in a list: the type of the field is what the server changes everywhere."""
    inner = Column("r", BqType.RECORD, fields=(Column("a", BqType.STRING), Column("x", BqType.INT64)))
    columns = (Column("l", BqType.RECORD, Mode.REPEATED, fields=(inner,)),)
    rows: list[dict[str, Any]] = [{"l": [{"r": {"a": "y", "x": 9007199254740993}}, {"r": None}]}, {"l": []}]
    record = {"f": [{"v": {"f": [{"v": "y"}, {"v": "9007199254740992"}]}}]}
    listing(fake, {"totalRows": "2", "rows": [row([{"v": record}, {"v": {"f": [{"v": None}]}}]), row([])]})

    with pytest.raises(CannotSeed) as refusal:
        seeder.seed("case", columns, rows, withheld=0)

    assert str(refusal.value) == (
        "column 'l.r.x' (INT64): tabledata.list shows 9007199254740992, which was not put in; 9007199254740993 was"
    )


def test_a_changed_value_is_shown_with_the_one_at_its_place(fake: FakeServer, seeder: Seeder) -> None:
    """Not with the first of those that are not listed, which may be on a later page."""
    columns = (Column("a", BqType.INT64),)
    rows = [{"a": 1}, {"a": 2**53 + 1}, {"a": 3}]
    listing(fake, {"totalRows": "3", "rows": [row("3"), row(str(2**53))], "pageToken": "x"})

    with pytest.raises(CannotSeed, match=r"shows 9007199254740992, which was not put in; 9007199254740993 was"):
        seeder.seed("case", columns, rows, withheld=0)


def test_an_array_of_unknown_texts_is_compared_by_the_nulls_in_it(fake: FakeServer, seeder: Seeder) -> None:
    """A server that stores NULL for an item has changed the value, even if another item cannot be read."""
    columns = (Column("g", BqType.GEOGRAPHY, Mode.REPEATED),)
    rows: list[dict[str, Any]] = [{"g": ["POINT(1 2)", "POINT(3 4)"]}]
    listing(fake, {"totalRows": "1", "rows": [row([{"v": "Point (1.0 2.0)"}, {"v": "Point (3.0 4.0)"}])]})
    accepted = seeder.seed("one", columns, rows, withheld=0)
    listing(fake, {"totalRows": "1", "rows": [row([{"v": "Point (1.0 2.0)"}, {"v": None}])]})

    assert accepted.inserted == 1
    with pytest.raises(CannotSeed, match=r"column 'g' \(REPEATED GEOGRAPHY\)"):
        seeder.seed("two", columns, rows, withheld=0)


def test_a_big_table_is_verified_by_its_first_rows(fake: FakeServer, client: RestClient) -> None:
    """Of many rows the listing asks for some, and the count for all."""
    rows = [{"a": value, "b": "x"} for value in range(MAX_VERIFIED_ROWS + 5)]
    seeder_of(client, rows=5000).seed("case", COLUMNS, rows, withheld=0)

    assert f"maxResults={MAX_VERIFIED_ROWS}" in fake.rest_requests[-1][1]


NUMBERED = (Column("row_id", BqType.INT64), Column("b", BqType.STRING))


@pytest.mark.parametrize(
    ("numbers", "said"), [("321", None), ("312", "another order"), ("3x1", "another order"), ("", None)]
)
def test_the_order_of_a_query_is_verified_before_anything_is_read(
    fake: FakeServer, seeder: Seeder, client: RestClient, numbers: str, said: str | None
) -> None:
    """A server that ignores ORDER BY in its query has no order that a session could keep."""
    table = seeder.seed("case", NUMBERED, [], withheld=0)
    listing(fake, {"totalRows": str(len(numbers)), "rows": [row(number, "x") for number in numbers]})

    with contextlib.nullcontext() if said is None else pytest.raises(CannotSeed, match=said):
        verify_order(RestTables(client), table, math.inf)
