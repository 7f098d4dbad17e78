"""AVRO sessions through a real channel: schema rules, datums, resuming."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
from typing import Any

import fastavro
import grpc
import pytest

from conformance.contract import proto
from tests.fixtures import real_bigquery
from tests.protocols.storage_read.reference.client import Client, field, table_name

UTC = dt.UTC


def open_avro(client: Client, table: str, *, display_names: bool = False, selected: tuple[str, ...] = ()) -> Any:
    """An AVRO session of one stream."""
    asked = proto.ReadSession(table=table_name(table), data_format=proto.DATA_FORMAT["AVRO"])
    asked.read_options.selected_fields.extend(selected)
    asked.read_options.avro_serialization_options.enable_display_name_attribute = display_names
    return client.open(asked, max_streams=1)


def decoded(client: Client, session: Any, offset: int = 0) -> list[Any]:
    """Every row of a session, each payload consumed exactly."""
    schema = fastavro.parse_schema(json.loads(session.avro_schema.schema))
    rows = []
    for response in client.read(session.streams[0].name, offset):
        source = io.BytesIO(response.avro_rows.serialized_binary_rows)
        found = [fastavro.schemaless_reader(source, schema, None) for _ in range(response.row_count)]
        assert source.read() == b""
        rows += found
    return rows


def types(session: Any) -> dict[str, Any]:
    """Field name to Avro type."""
    return {it["name"]: it["type"] for it in json.loads(session.avro_schema.schema)["fields"]}


ALL_TYPES = [
    field("int_req", mode="REQUIRED"),
    field("int_null"),
    field("bl", "BOOL"),
    field("str", "STRING"),
    field("day", "DATE"),
    field("ts", "TIMESTAMP"),
    field("dt", "DATETIME"),
    field("tm", "TIME"),
    field("binary", "BYTES"),
    field("float", "FLOAT64"),
    field("nums", "RECORD", fields=[field(name, "NUMERIC") for name in ("min", "max", "pi", "big_pi")]),
    field("int_arr", mode="REPEATED"),
    field("int_struct_arr", "RECORD", "REPEATED", fields=[field("i")]),
]
ALL_VALUES = {
    "int_req": 42,
    "bl": True,
    "str": "string",
    "day": "2019-03-18",
    "ts": "2019-03-18T01:23:45.678901Z",
    "dt": "2019-03-18T01:23:45.678901",
    "tm": "01:23:45.678901",
    "binary": "Ynl0ZXM=",
    "float": 4.2,
    "nums": {
        "min": "-99999999999999999999999999999.999999999",
        "max": "99999999999999999999999999999.999999999",
        "pi": "3.14",
        "big_pi": "31415926535897932384626433832.795028841",
    },
    "int_arr": [1, 2, 3],
    "int_struct_arr": [{"i": 1}],
}


def test_writes_the_bytes_of_the_service(client: Client, table: str) -> None:
    """Schema and datum of the captured all-types table come out as the service sent them."""
    schema, datum = real_bigquery("alltypes.avroschema.json"), real_bigquery("alltypes.avro")
    client.seed(table, ALL_TYPES, [ALL_VALUES])

    session = open_avro(client, table)
    (response,) = client.read(session.streams[0].name)

    assert json.loads(session.avro_schema.schema) == json.loads(schema)
    assert response.avro_rows.serialized_binary_rows == datum


def test_rare_types_have_their_shapes(client: Client, table: str) -> None:
    """JSON, GEOGRAPHY, RANGE, INTERVAL and parameterised decimals have the documented schemas and values."""
    range_of: dict[str, Any] = {"rangeElementType": {"type": "DATE"}}
    fields = [
        field("j", "JSON"),
        field("g", "GEOGRAPHY", "REQUIRED"),
        field("r", "RANGE", **range_of),
        field("rr", "RANGE", "REQUIRED", **range_of),
        field("i", "INTERVAL", "REPEATED"),
        field("n", "NUMERIC", precision="5", scale="2"),
        field("b", "BIGNUMERIC"),
    ]
    row = {
        "j": '{"a":1}',
        "g": "POINT(1 2)",
        "r": None,
        "rr": "[2020-01-01, UNBOUNDED)",
        "i": ["1-2 3 4:5:6.789", "0-0 0 2600000:0:0"],
        "n": "1.25",
        "b": "-0.5",
    }
    client.seed(table, fields, [row])

    session = open_avro(client, table)

    bound = ["null", {"type": "int", "logicalType": "date"}]
    ends = [{"name": name, "type": bound} for name in ("start", "end")]
    named = {"type": "record", "namespace": "google.sqlType", "name": "RANGE_DATE", "sqlType": "RANGE", "fields": ends}
    found = types(session)
    assert found["j"] == ["null", {"type": "string", "sqlType": "JSON"}]
    assert found["g"] == {"type": "string", "sqlType": "GEOGRAPHY"}
    assert (found["r"], found["rr"]) == (["null", named], "google.sqlType.RANGE_DATE")
    assert found["n"][1] == {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}
    assert (found["b"][1]["precision"], found["b"][1]["scale"]) == (77, 38)
    (read,) = decoded(client, session)
    assert read["rr"] == {"start": dt.date(2020, 1, 1), "end": None}
    assert read["i"][0] == {"months": 14, "days": 3, "microseconds": 14_706_789_000}
    assert read["i"][1]["microseconds"] == 2_600_000 * 3600 * 1_000_000
    assert (read["n"], read["b"]) == (decimal.Decimal("1.25"), decimal.Decimal("-0.5"))


def test_projection_and_resuming(client: Client, table: str) -> None:
    """Selected leaves keep their record, and an offset resumes at its row."""
    inner = field("r", "RECORD", fields=[field("x"), field("y", "RECORD", "REPEATED", fields=[field("z"), field("w")])])
    rows = [{"id": n, "r": {"x": n, "y": [{"z": n, "w": -n}] * (n % 3)}} for n in range(20)]
    client.seed(table, [field("id"), inner], rows)
    session = open_avro(client, table, selected=("r.y.z", "id"))

    found = decoded(client, session, 7)

    assert found == [{"id": n, "r": {"y": [{"z": n}] * (n % 3)}} for n in range(7, 20)]


def test_extreme_instants(client: Client, table: str) -> None:
    """Years 1 and 9999 are exact in every temporal type."""
    first, last = "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"
    client.seed(
        table,
        [field("d", "DATE"), field("dt", "DATETIME"), field("ts", "TIMESTAMP"), field("tm", "TIME")],
        [{"d": it[:10], "dt": it, "ts": f"{it}Z", "tm": it[11:]} for it in (first, last)],
    )

    rows = decoded(client, open_avro(client, table))

    assert [row["dt"] for row in rows] == [first, last]
    assert [row["d"] for row in rows] == [dt.date(1, 1, 1), dt.date(9999, 12, 31)]
    assert rows[0]["ts"] == dt.datetime(1, 1, 1, tzinfo=UTC)
    assert rows[1]["ts"] == dt.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert rows[1]["tm"] == dt.time(23, 59, 59, 999999)


def test_names_that_avro_does_not_have(client: Client, table: str) -> None:
    """Such a column fails the session, unless display names are asked for: then every field has one."""
    client.seed(table, [field("größe"), field("ok")], [{"größe": 1, "ok": 2}])

    with pytest.raises(grpc.RpcError) as error:
        open_avro(client, table)
    session = open_avro(client, table, display_names=True)

    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert [it["displayName"] for it in json.loads(session.avro_schema.schema)["fields"]] == ["größe", "ok"]
    assert [list(row.values()) for row in decoded(client, session)] == [[1, 2]]


def test_arrow_options_do_no_harm(client: Client, table: str) -> None:
    """Spark sets Arrow options on AVRO sessions as well; they are ignored, and echoed."""
    client.numbers(table, 2)
    asked = proto.ReadSession(table=table_name(table), data_format=proto.DATA_FORMAT["AVRO"])
    asked.read_options.arrow_serialization_options.buffer_compression = proto.COMPRESSION["ZSTD"]

    session = client.open(asked)

    assert session.read_options == asked.read_options
    assert decoded(client, session) == [{"id": 0}, {"id": 1}]
