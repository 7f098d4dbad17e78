"""The HTTP surface: what is seeded, what is listed, what is refused."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest

from tests.protocols.storage_read.reference.client import DATASET, PARENT, PROJECT, Client, field

TABLES = f"/{PARENT}/datasets/{DATASET}/tables"


def cells(client: Client, table: str, query: str = "") -> list[list[Any]]:
    """The values of tabledata.list."""
    answer = client.http("GET", f"{TABLES}/{table}/data{query}")
    assert answer.status == 200, answer
    return [[cell["v"] for cell in row["f"]] for row in answer.body.get("rows", ())]


def test_dataset_is_made_once(client: Client) -> None:
    """A second insert of the same dataset is a conflict; getting and deleting know what is there."""
    body = {"datasetReference": {"datasetId": "once"}}
    path = f"/{PARENT}/datasets"

    statuses = [
        client.http("POST", path, body).status,
        client.http("POST", path, body).status,
        client.http("GET", f"{path}/once").status,
        client.http("DELETE", f"{path}/once").status,
        client.http("DELETE", f"{path}/once").status,
        client.http("GET", f"{path}/once").status,
    ]

    assert statuses == [200, 409, 200, 200, 404, 404]


def test_table_is_described_under_legacy_names(client: Client, table: str) -> None:
    """tables.get repeats the schema, with the type names that the API answers with."""
    fields = [
        field("i", "INT64"),
        field("f", "float64", "REQUIRED"),
        field("b", "BOOLEAN"),
        field("n", "NUMERIC", precision="10", scale="2"),
        field("s", "STRING", maxLength="5"),
        field("g", "RANGE", rangeElementType={"type": "DATE"}),
        {"name": "r", "type": "STRUCT", "mode": "REPEATED", "fields": [{"name": "x", "type": "INTEGER"}]},
    ]
    client.create(table, *fields)

    described = client.http("GET", f"{TABLES}/{table}").body

    assert described["schema"]["fields"] == [
        field("i", "INTEGER"),
        field("f", "FLOAT", "REQUIRED"),
        field("b", "BOOLEAN"),
        field("n", "NUMERIC", precision="10", scale="2"),
        field("s", "STRING", maxLength="5"),
        field("g", "RANGE", rangeElementType={"type": "DATE"}),
        field("r", "RECORD", "REPEATED", fields=[field("x", "INTEGER")]),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        [],
        [{"type": "INT64"}],
        [field("a", "INT65")],
        [field("a", "INT64", "OPTIONAL")],
        [field("a"), field("A")],
        [field("a", "RECORD", fields=[])],
        [field("a", "RANGE")],
        [field("a", "RANGE", rangeElementType={"type": "INT64"})],
        [field("a", "INT64", precision="3")],
        [field("a", "NUMERIC", precision="31", scale="0")],
        [field("a", "NUMERIC", scale="2")],
        [field("a", "NUMERIC", precision="2", scale="3")],
        [field("a", "BIGNUMERIC", precision="39", scale="0")],
        [field("a", "STRING", maxLength="x")],
        functools.reduce(lambda inner, _: [field("a", "RECORD", fields=inner)], range(400), [field("a")]),
    ],
)
def test_impossible_schema_is_refused(client: Client, table: str, fields: list[dict[str, Any]]) -> None:
    """A schema that no table can have is a 400."""
    client.http("POST", f"/{PARENT}/datasets", {"datasetReference": {"datasetId": DATASET}})
    body = {"tableReference": {"tableId": table}, "schema": {"fields": fields}}

    answer = client.http("POST", TABLES, body)

    assert answer.status == 400
    assert answer.body["error"]["errors"][0]["reason"] == "invalid"


# type -> cells as they may be sent, and as they are listed
SPELLINGS: dict[str, list[tuple[Any, str]]] = {
    "INTEGER": [(1, "1"), ("-9223372036854775808", "-9223372036854775808"), (2.0, "2")],
    "FLOAT": [(1, "1.0"), ("-0.0", "-0.0"), ("NaN", "NaN"), ("Infinity", "Infinity"), ("-inf", "-Infinity")],
    "BOOLEAN": [(True, "true"), ("False", "false")],
    "STRING": [("é\x00'", "é\x00'"), (5, "5")],
    "BYTES": [("AP8=", "AP8="), ("-_8=", "+/8="), ("", "")],
    "NUMERIC": [("1.50", "1.5"), (7, "7"), (-0.5, "-0.5"), ("1e3", "1000"), ("9" * 29 + "." + "9" * 9,) * 2],
    "BIGNUMERIC": [
        ("-578960446186580977117854925043439539266.34992332820282019728792003956564819968",) * 2,
        ("0.00000000000000000000000000000000000001",) * 2,
    ],
    "DATE": [("0001-01-01", "0001-01-01"), ("2020-1-2", "2020-01-02")],
    "TIME": [("1:2:3", "01:02:03"), ("23:59:59.999999", "23:59:59.999999"), ("00:00:00.5", "00:00:00.500000")],
    "DATETIME": [("2020-01-02 03:04:05", "2020-01-02T03:04:05"), ("9999-12-31T23:59:59.999999",) * 2],
    "TIMESTAMP": [
        ("1970-01-01 00:00:01 UTC", "1000000"),
        ("1970-01-01T01:00:00.5+01:00", "500000"),
        ("1970-01-01T00:00:00z", "0"),
        ("1970-01-01", "0"),
        (1.5, "1500000"),
        ("-1", "-1000000"),
        ("0001-01-01T00:00:00Z", "-62135596800000000"),
        ("1969-12-31 16:00:00 America/Los_Angeles", "0"),
    ],
    "JSON": [('{"a": [1, null]}', '{"a":[1,null]}'), ('"x  y"', '"x  y"'), ({"b": 1.0}, '{"b":1.0}'), ("null", "null")],
    "GEOGRAPHY": [("point (1  2)", "POINT(1 2)"), ("LINESTRING(1 2,3 4)", "LINESTRING(1 2, 3 4)")],
    "INTERVAL": [("1-2 3 4:5:6.789", "1-2 3 4:5:6.789"), ("-1-2 -3 -4:5:6", "-1-2 -3 -4:5:6"), ("0-0 0 0:0:0",) * 2],
}


@pytest.mark.parametrize("kind", SPELLINGS)
@pytest.mark.parametrize("mode", ["NULLABLE", "REQUIRED", "REPEATED"])
def test_every_type_in_every_mode(client: Client, table: str, kind: str, mode: str) -> None:
    """Each spelling of a cell is taken and listed in its canonical form, NULL and arrays included."""
    sent: list[Any] = [cell for cell, _ in SPELLINGS[kind]]
    listed = [text for _, text in SPELLINGS[kind]]
    rows = [{"v": sent}, {}] if mode == "REPEATED" else [{"v": cell} for cell in sent]
    rows += [{"v": None}] * (mode == "NULLABLE")
    client.seed(table, [field("v", kind, mode)], rows)

    found = [cell for (cell,) in cells(client, table, "?formatOptions.useInt64Timestamp=true")]

    if mode == "REPEATED":
        assert [[item["v"] for item in cell] for cell in found] == [listed, []]
    else:
        assert found == listed + [None] * (mode == "NULLABLE")


@pytest.mark.parametrize("of", ["DATE", "DATETIME", "TIMESTAMP"])
@pytest.mark.parametrize("mode", ["NULLABLE", "REQUIRED"])
def test_ranges_as_objects_and_as_text(client: Client, table: str, of: str, mode: str) -> None:
    """A RANGE is taken in both forms, and an unbounded end stays unbounded even where it is REQUIRED."""
    rows: list[dict[str, Any]] = [
        {"r": {"start": "2020-01-01", "end": None}},
        {"r": "[2020-01-01, 2021-01-01)"},
        {"r": "[UNBOUNDED, null)"},
        {"r": {"end": "2021-01-01"}},
    ]
    client.seed(table, [field("r", "RANGE", mode, rangeElementType={"type": of})], rows)

    found = [cell for (cell,) in cells(client, table, "?formatOptions.useInt64Timestamp=true")]

    one, two = {
        "DATE": ("2020-01-01", "2021-01-01"),
        "DATETIME": ("2020-01-01T00:00:00", "2021-01-01T00:00:00"),
        "TIMESTAMP": ("1577836800000000", "1609459200000000"),
    }[of]
    assert found == [f"[{one}, UNBOUNDED)", f"[{one}, {two})", "[UNBOUNDED, UNBOUNDED)", f"[UNBOUNDED, {two})"]


def test_records_nest(client: Client, table: str) -> None:
    """Records in arrays in records come back as they were sent; what is left out is NULL or empty."""
    inner = field("in", "RECORD", "REPEATED", fields=[field("x"), field("ys", "STRING", "REPEATED")])
    client.seed(
        table, [field("r", "RECORD", fields=[field("a"), inner])], [{"R": {"in": [{"x": 1}, {"ys": ["q"]}]}}, {}]
    )

    found = cells(client, table)

    one = {"v": {"f": [{"v": "1"}, {"v": []}]}}
    two = {"v": {"f": [{"v": None}, {"v": [{"v": "q"}]}]}}
    assert found == [[{"f": [{"v": None}, {"v": [one, two]}]}], [None]]


def test_decimals_may_be_all_fraction(client: Client, table: str) -> None:
    """NUMERIC(9, 9) has no integer digit and is still a type."""
    client.seed(table, [field("n", "NUMERIC", precision="9", scale="9")], [{"n": "0.123456789"}])

    assert cells(client, table) == [["0.123456789"]]


def test_timestamps_are_listed_as_seconds_by_default(client: Client, table: str) -> None:
    """Without the format option a TIMESTAMP is its seconds, to the microsecond."""
    client.seed(table, [field("t", "TIMESTAMP")], [{"t": "1970-01-01T00:00:01.500001Z"}])

    assert math.isclose(float(cells(client, table)[0][0]), 1.500001, abs_tol=1e-9)


BAD: dict[str, list[Any]] = {
    "INTEGER": ["x", 1.5, 1 << 63, True, {}],
    "FLOAT": ["x", True, []],
    "BOOLEAN": [1, "yes"],
    "BYTES": ["%%", "AAA", 5],
    "NUMERIC": ["x", "1e40", "0.0000000001", True, "NaN"],
    "DATE": ["2020-13-01", "10000-01-01", "2020-01-01T00:00:00", 5],
    "TIME": ["24:00:00", "1:2", "00:00:00.1234567"],
    "DATETIME": ["2020-01-01 25:00:00"],
    "TIMESTAMP": ["2020-01-01T00:00:00 No/Zone", "0001-01-01T00:00:00+01:00", True],
    "JSON": ["{", "NaN"],
    "GEOGRAPHY": ["POINT(1 2", "CIRCLE(1 2)", 5],
    "INTERVAL": ["1-2", "10001-0 0 0:0:0", 5],
}


@pytest.mark.parametrize(("kind", "cell"), [(kind, cell) for kind, found in BAD.items() for cell in found])
def test_bad_cell_is_an_error_of_its_row(client: Client, table: str, kind: str, cell: Any) -> None:
    """A cell that does not fit stops the request: its row is invalid, the others are stopped, none is inserted."""
    client.create(table, field("id"), field("v", kind))

    answer = client.insert(table, [{"id": 1}, {"id": 2, "v": cell}])

    errors = {entry["index"]: entry["errors"][0] for entry in answer["insertErrors"]}
    assert (errors[0]["reason"], errors[1]["reason"], errors[1]["location"]) == ("stopped", "invalid", "v")
    assert cells(client, table) == []


@pytest.mark.parametrize(
    ("fields", "row", "location"),
    [
        ([field("a", mode="REQUIRED")], {}, "a"),
        ([field("a", mode="REQUIRED")], {"a": None}, "a"),
        ([field("a")], {"b": 1}, "b"),
        ([field("a", mode="REPEATED")], {"a": 1}, "a"),
        ([field("a", mode="REPEATED")], {"a": [None]}, "a"),
        ([field("a")], {"a": [1]}, "a"),
        ([field("r", "RECORD", fields=[field("x")])], {"r": {"y": 1}}, "r.y"),
        ([field("r", "RECORD", fields=[field("x", mode="REQUIRED")])], {"r": {}}, "r.x"),
        ([field("s", "STRING", maxLength="2")], {"s": "abc"}, "s"),
        ([field("b", "BYTES", maxLength="1")], {"b": "AAAA"}, "b"),
        ([field("n", "NUMERIC", precision="3", scale="1")], {"n": "100"}, "n"),
        ([field("n", "NUMERIC", precision="3", scale="1")], {"n": "1.25"}, "n"),
        ([field("g", "RANGE", rangeElementType={"type": "DATE"})], {"g": "[2020-01-02, 2020-01-01)"}, "g"),
        ([field("g", "RANGE", rangeElementType={"type": "DATE"})], {"g": {"from": None}}, "g"),
    ],
)
def test_bad_row_is_located(
    client: Client, table: str, fields: list[dict[str, Any]], row: dict[str, Any], location: str
) -> None:
    """Missing, unknown and misplaced values are located by their dotted path."""
    client.create(table, *fields)

    answer = client.insert(table, [row])

    assert [entry["errors"][0]["location"] for entry in answer["insertErrors"]] == [location]


def test_invalid_rows_may_be_skipped(client: Client, table: str) -> None:
    """With skipInvalidRows the good rows are inserted; with ignoreUnknownValues unknown keys do no harm."""
    client.create(table, field("id"))
    body = {
        "rows": [{"json": {"id": "x"}}, {"json": {"id": 2, "other": 1}}],
        "skipInvalidRows": True,
        "ignoreUnknownValues": True,
    }

    answer = client.http("POST", f"{TABLES}/{table}/insertAll", body).body

    assert [entry["index"] for entry in answer["insertErrors"]] == [0]
    assert cells(client, table) == [["2"]]


def test_list_pages(client: Client, table: str) -> None:
    """maxResults, startIndex and pageToken walk through the table."""
    client.numbers(table, 5)
    first = client.http("GET", f"{TABLES}/{table}/data?maxResults=2&startIndex=1").body

    rest = cells(client, table, f"?pageToken={first['pageToken']}")

    assert (first["totalRows"], [row["f"][0]["v"] for row in first["rows"]]) == ("5", ["1", "2"])
    assert rest == [["3"], ["4"]]


def select(client: Client, table: str, **more: Any) -> dict[str, Any]:
    """The finished job of a query of a whole table."""
    text = f"SELECT * FROM `{PROJECT}`.`{DATASET}`.`{table}`"
    job = client.http("POST", f"/{PARENT}/jobs", {"configuration": {"query": {"query": text, **more}}})
    assert job.status == 200
    return job.body


def test_a_query_of_a_whole_table_makes_a_table(client: Client, table: str) -> None:
    """It has the rows of then; its columns have no mode and no parameters, as those of a query on the service."""
    columns = [field("id", "INT64", "REQUIRED"), field("price", "NUMERIC", precision="5", scale="2")]
    client.seed(table, columns, [{"id": "1", "price": "1.5"}])
    into = {"projectId": PROJECT, "datasetId": DATASET, "tableId": f"{table}_result"}

    named = select(client, table, destinationTable=into)
    client.insert(table, [{"id": "2", "price": "2"}])
    shown = client.http("GET", f"/{PARENT}/datasets/{DATASET}/tables/{table}_result").body

    assert named["status"] == {"state": "DONE"}
    assert named["configuration"]["query"]["destinationTable"] == into
    assert [(one["name"], one["mode"]) for one in shown["schema"]["fields"]] == [
        ("id", "NULLABLE"),
        ("price", "NULLABLE"),
    ]
    assert "precision" not in shown["schema"]["fields"][1]
    assert cells(client, f"{table}_result") == [["1", "1.5"]]


def test_a_query_without_a_destination_makes_a_hidden_table(client: Client, table: str) -> None:
    """The job names it."""
    client.seed(table, [field("id")], [{"id": "1"}])

    hidden = select(client, table)["configuration"]["query"]["destinationTable"]
    listed = client.http("GET", f"/{PARENT}/datasets/{hidden['datasetId']}/tables/{hidden['tableId']}/data")

    assert hidden["datasetId"].startswith("_")
    assert listed.body["totalRows"] == "1"


def test_another_query_fails(client: Client, table: str) -> None:
    """The job says which shape is known."""
    client.seed(table, [field("id")], [{"id": "1"}])
    text = f"SELECT id FROM `{PROJECT}`.`{DATASET}`.`{table}`"

    job = client.http("POST", f"/{PARENT}/jobs", {"configuration": {"query": {"query": text}}})

    assert job.body["status"]["errorResult"]["reason"] == "invalidQuery"
    assert "expected a query of every row and column of one table" in job.body["status"]["errorResult"]["message"]


@pytest.mark.parametrize("ahead", [-1, "1", None, 1e9, 400 * 24 * 3600])
def test_the_clock_is_not_set_to_no_such_time(client: Client, ahead: Any) -> None:
    """A number of seconds within a year."""
    assert client.http("POST", "/clock", {"ahead": ahead}).status == 400


def test_a_query_is_not_answered(client: Client, table: str) -> None:
    """The server runs no statement that writes rows: the refusal says so, and a table is filled by insertAll alone."""
    client.create(table, field("id"))

    answer = client.http("POST", f"/{PARENT}/queries", {"query": f"INSERT INTO ds.{table} (id) VALUES (1)"})

    assert answer.status == 400
    assert "this server selects whole tables" in answer.body["error"]["message"]
    assert cells(client, table) == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/{t}/insertAll", {"rows": 5}),
        ("/{t}/insertAll", {"rows": [5]}),
        ("/{t}/insertAll", {"rows": [{"json": [1]}]}),
        ("/{t}/insertAll", [1]),
        ("", {"tableReference": {"tableId": "x"}, "schema": {"fields": 5}}),
        ("", {"tableReference": {"tableId": "x"}, "schema": [5]}),
        ("", {"tableReference": "x"}),
        ("", {"tableReference": {"tableId": "x"}, "view": 5}),
        ("", {"tableReference": {"tableId": "x"}, "view": {"query": "SELECT 1"}}),
        ("", {"tableReference": {"tableId": "x"}, "timePartitioning": "DAY"}),
        ("", {"tableReference": {"tableId": "x"}, "requirePartitionFilter": "yes"}),
        ("", {}),
    ],
)
def test_body_of_another_shape_is_refused(client: Client, table: str, path: str, body: Any) -> None:
    """A body that is no request of its kind is a 400, not a fault of the server."""
    client.create(table, field("id"))

    answer = client.http("POST", f"{TABLES}{path.format(t=table)}", body)

    assert answer.status == 400
    assert answer.body["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", f"{TABLES}/nosuch", 404),
        ("GET", f"{TABLES}/nosuch/data", 404),
        ("DELETE", f"{TABLES}/nosuch", 404),
        ("POST", f"/{PARENT}/datasets/nosuch/tables", 400),
    ],
)
def test_what_is_not_there_is_not_found(client: Client, method: str, path: str, status: int) -> None:
    """Unknown paths and resources have the status of their kind."""
    assert client.http(method, path, {} if method == "POST" else None).status == status


def patched(client: Client, table: str, *fields: dict[str, Any]) -> int:
    """The status of tables.patch with this schema."""
    return client.http("PATCH", f"{TABLES}/{table}", {"schema": {"fields": list(fields)}}).status


def test_columns_are_added_and_relaxed(client: Client, table: str) -> None:
    """Rows from before have NULL, or an empty array, in a column that is added."""
    client.create(table, field("a", "INT64", "REQUIRED"), field("b", "STRING", "REQUIRED"))
    client.insert(table, [{"a": "1", "b": "x"}])
    more = (field("c", "FLOAT64"), field("d", "STRING", "REPEATED"))

    status = patched(client, table, field("a", "INT64", "REQUIRED"), field("b", "STRING"), *more)
    client.insert(table, [{"a": "2", "b": None, "c": 0.5, "d": ["y"]}])

    assert status == 200
    assert cells(client, table) == [["1", "x", None, []], ["2", None, "0.5", [{"v": "y"}]]]


@pytest.mark.parametrize(
    "fields",
    [
        (field("a", "INT64"),),
        (field("b", "STRING"), field("a", "INT64")),
        (field("a", "INT64"), field("b", "BYTES")),
        (field("a", "INT64", "REQUIRED"), field("b", "STRING")),
        (field("a", "INT64"), field("b", "STRING"), field("c", "STRING", "REQUIRED")),
        (field("a", "INT64"), field("b", "STRING", "REPEATED")),
    ],
    ids=["fewer", "moved", "other type", "stricter", "required", "repeated"],
)
def test_no_other_change_of_columns_is_made(client: Client, table: str, fields: tuple[dict[str, Any], ...]) -> None:
    """As in the service, whose guide names adding and relaxing."""
    client.create(table, field("a", "INT64"), field("b", "STRING"))

    assert patched(client, table, *fields) == 400
    assert len(client.http("GET", f"{TABLES}/{table}").body["schema"]["fields"]) == 2


def test_columns_are_renamed_and_widened_by_statements(client: Client, table: str) -> None:
    """A name that another column has, a narrower type, and a column that does not exist are errors."""
    client.create(table, field("a", "INT64"), field("b", "STRING"), field("c", "NUMERIC"))
    client.insert(table, [{"a": "1", "b": "x", "c": "0.5"}])
    name = f"ALTER TABLE `{PROJECT}`.`{DATASET}`.`{table}`"
    wrong = (
        "RENAME COLUMN `a` TO `B`",
        "RENAME COLUMN `x` TO `y`",
        "RENAME TO `y`",
        "ALTER COLUMN `c` SET DATA TYPE INT64",
        "ALTER COLUMN `a` SET DATA TYPE STRING",
    )
    right = (
        "RENAME COLUMN `b` TO `z`",
        "ALTER COLUMN `a` SET DATA TYPE NUMERIC(12, 2)",
        "ALTER COLUMN `c` SET DATA TYPE FLOAT64",
    )

    statuses = [
        client.http("POST", f"/{PARENT}/queries", {"query": f"{name} {change}"}).status for change in (*wrong, *right)
    ]

    assert statuses == [400] * len(wrong) + [200] * len(right)
    fields = client.http("GET", f"{TABLES}/{table}").body["schema"]["fields"]
    assert [(one["name"], one["type"]) for one in fields] == [("a", "NUMERIC"), ("z", "STRING"), ("c", "FLOAT")]
    assert (fields[0]["precision"], fields[0]["scale"]) == ("12", "2")
    assert cells(client, table) == [["1", "x", "0.5"]]


def test_columns_are_dropped_by_a_statement(client: Client, table: str) -> None:
    """A column that does not exist is an error, and nothing is dropped then."""
    client.create(table, field("a", "INT64"), field("b", "STRING"), field("c", "STRING"))
    client.insert(table, [{"a": "1", "b": "x", "c": "y"}])
    name = f"ALTER TABLE `{PROJECT}`.`{DATASET}`.`{table}`"

    statuses = [
        client.http("POST", f"/{PARENT}/queries", {"query": f"{name} {dropped}"}).status
        for dropped in ("DROP COLUMN `b`, DROP COLUMN `x`", "DROP COLUMN `b`, DROP COLUMN `c`")
    ]

    assert statuses == [400, 200]
    assert cells(client, table) == [["1"]]
