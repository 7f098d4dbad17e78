"""CreateReadSession through a real channel."""

from __future__ import annotations

import re
import time
from typing import Any

import grpc
import pytest

from conformance.contract import mapping, proto
from conformance.records import BqType, Column, Mode
from tests.protocols.storage_read.reference.client import PARENT, PROJECT, Client, field, schema_of, table_name

HOURS = 3600


def refused(call: Any, *arguments: Any, **named: Any) -> tuple[grpc.StatusCode, str]:
    """The status that a call ends in."""
    with pytest.raises(grpc.RpcError) as error:
        call(*arguments, **named)
    return error.value.code(), error.value.details() or ""


def test_names_have_the_patterns(client: Client, table: str) -> None:
    """A session is named below the parent in a lower-case location, and its streams below the session."""
    client.numbers(table, 40)

    session = client.session(table)

    assert re.fullmatch(rf"projects/{PROJECT}/locations/us/sessions/[\w-]+", session.name)
    assert all(it.name.startswith(f"{session.name}/streams/") for it in session.streams)
    assert len({it.name for it in session.streams}) == len(session.streams) == 3


def test_parent_may_be_another_project(client: Client, table: str) -> None:
    """The session belongs to the project that asks, which need not own the table."""
    client.numbers(table, 1)

    session = client.open(
        proto.ReadSession(table=table_name(table), data_format=proto.DATA_FORMAT["ARROW"]), parent="projects/billing"
    )

    assert session.name.startswith("projects/billing/locations/")


def test_echoes_what_was_asked(client: Client, table: str) -> None:
    """Table, format, trace id, options and snapshot time come back as they were sent."""
    client.numbers(table, 3)
    asked = proto.ReadSession(table=table_name(table), data_format=proto.DATA_FORMAT["ARROW"], trace_id="trace:é")
    asked.read_options.row_restriction = "id > 1"
    asked.read_options.selected_fields.append("ID")
    asked.table_modifiers.snapshot_time.GetCurrentTime()

    session = client.open(asked)

    for name in ("table", "data_format", "trace_id", "read_options", "table_modifiers"):
        assert getattr(session, name) == getattr(asked, name)


def test_leaves_out_options_that_were_not_sent(client: Client, table: str) -> None:
    """A request without read_options is served, and the answer has none either."""
    client.numbers(table, 3)

    session = client.session(table)

    assert not session.HasField("read_options")
    assert not session.HasField("table_modifiers")


def test_expires_six_hours_ahead(client: Client, table: str) -> None:
    """expire_time is creation plus six hours."""
    client.numbers(table, 1)
    before = time.time()

    session = client.session(table)

    assert before + 6 * HOURS - 1 <= session.expire_time.seconds <= time.time() + 6 * HOURS


def test_estimates_the_table_before_restriction(client: Client, table: str) -> None:
    """Estimates come from the table's metadata and do not look at the restriction."""
    client.numbers(table, 10)

    session = client.session(table, row_restriction="id = 0")

    assert session.estimated_row_count == 10
    assert session.estimated_total_bytes_scanned == 80


def test_schema_is_the_mapping_of_the_columns(client: Client, table: str) -> None:
    """The session's schema is what the contract says of the selected columns."""
    client.create(table, field("a"), field("r", "RECORD", "REPEATED", fields=[field("d", "DATETIME", "REQUIRED")]))
    record = Column("r", BqType.RECORD, Mode.REPEATED, fields=(Column("d", BqType.DATETIME, Mode.REQUIRED),))

    session = client.session(table)

    assert schema_of(session).equals(mapping.arrow_schema([Column("a", BqType.INT64), record]), check_metadata=True)


def test_empty_table_has_no_streams(client: Client, table: str) -> None:
    """No rows, no streams, but a schema."""
    client.create(table, field("id"))

    session = client.session(table, max_streams=1)

    assert len(session.streams) == 0
    assert schema_of(session).names == ["id"]


@pytest.mark.parametrize(
    ("rows", "asked", "streams"),
    [(1, 0, 1), (10, 4, 1), (17, 0, 2), (100, 0, 4), (100, 1, 1), (100, 3, 3), (100, 1000, 4), (17, 1, 1)],
)
def test_maximum_is_a_cap(client: Client, table: str, rows: int, asked: int, streams: int) -> None:
    """Small tables get one stream, larger ones several, never more than the maximum."""
    client.numbers(table, rows)

    session = client.session(table, max_streams=asked)

    assert len(session.streams) == streams
    assert client.ids(session) == list(range(rows))


def test_preferred_minimum_is_a_wish(client: Client, table: str) -> None:
    """A preferred minimum raises the number of streams as far as there are rows for them."""
    client.numbers(table, 20)

    counts = [len(client.session(table, preferred=count).streams) for count in (0, 4, 900)]

    assert counts == [2, 4, 5]


@pytest.mark.parametrize(("percentage", "rows"), [(0.0, 0), (0.5, 5), (100.0, 5)])
def test_sample_takes_the_block_or_not(client: Client, table: str, percentage: float, rows: int) -> None:
    """A small table is one block: a sample has all of it, and one of 0 percent nothing."""
    client.numbers(table, 5)

    session = client.session(table, sample_percentage=percentage)

    assert len(client.ids(session)) == rows


def test_filtered_stream_yields_nothing(client: Client, table: str) -> None:
    """Streams are planned before the restriction: one whose rows are all dropped ends in OK without a response."""
    client.numbers(table, 40)

    session = client.session(table, row_restriction="id < 5")

    assert [len(client.ids(session, it.name)) for it in session.streams] == [5, 0, 0]


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        ({"data_format": 0}, "INVALID_ARGUMENT", "request failed: data format unspecified"),
        ({"data_format": 9}, "INVALID_ARGUMENT", "request failed: data format unspecified"),
        ({"trace_id": "x" * 257}, "INVALID_ARGUMENT", "request failed: trace_id must be at most 256 bytes"),
        ({"table": "projects/p/datasets/d"}, "INVALID_ARGUMENT", "Invalid resource field value in the request."),
        ({"table": ""}, "INVALID_ARGUMENT", "Invalid resource field value in the request."),
        ({"table": "projects/p/datasets/d/tables/t"}, "NOT_FOUND", "Not found: Table p:d.t"),
    ],
)
def test_refuses_bad_sessions(client: Client, table: str, change: dict[str, Any], code: str, text: str) -> None:
    """Each wrong field of the session ends in its own status and text."""
    client.create(table, field("id"))
    asked = {"table": table_name(table), "data_format": proto.DATA_FORMAT["ARROW"], **change}

    status, details = refused(client.open, proto.ReadSession(**asked))

    assert status.name == code
    assert details.startswith(text)


@pytest.mark.parametrize("parent", ["", "projects/", "project/p", "projects/p/locations/us", "p"])
def test_refuses_bad_parents(client: Client, table: str, parent: str) -> None:
    """The parent is a project and nothing else."""
    client.create(table, field("id"))
    session = proto.ReadSession(table=table_name(table), data_format=proto.DATA_FORMAT["ARROW"])

    status, details = refused(client.open, session, parent=parent)

    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert details == "Invalid resource field value in the request."


@pytest.mark.parametrize(
    ("maximum", "preferred", "text"),
    [
        (-1, 0, "request failed: max_stream_count must not be negative; received: -1"),
        (0, -2, "request failed: preferred_min_stream_count must not be negative; received: -2"),
        (
            3,
            24,
            "request failed: preferred_min_stream_count must be less than or equal to max_stream_count; received: 24",
        ),
    ],
)
def test_refuses_bad_stream_counts(client: Client, table: str, maximum: int, preferred: int, text: str) -> None:
    """Negative counts, and a preferred minimum above the maximum, are refused."""
    client.create(table, field("id"))

    status, details = refused(client.session, table, max_streams=maximum, preferred=preferred)

    assert (status, details) == (grpc.StatusCode.INVALID_ARGUMENT, text)


@pytest.mark.parametrize(
    "options",
    [
        {"buffer_compression": "ZSTD", "response_compression_codec": 2},
        {"response_compression_codec": 1},
        {"sample_percentage": 101.0},
        {"sample_percentage": -1.0},
    ],
)
def test_refuses_options_that_make_no_sense(client: Client, table: str, options: dict[str, Any]) -> None:
    """Two compressions at once, unknown codecs and impossible percentages are refused."""
    client.create(table, field("id"))

    status, details = refused(client.session, table, **options)

    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert details.startswith("request failed: ")


def test_selected_fields_come_in_table_order(client: Client, table: str) -> None:
    """The schema and the values follow the table, whatever the order and the case of the request."""
    client.seed(table, [field("a"), field("b"), field("C")], [{"a": 1, "b": 2, "C": 3}])

    session = client.session(table, selected_fields=["c", "A", "a"])

    assert client.rows(session) == [{"a": 1, "C": 3}]


def test_unknown_fields_are_named(client: Client, table: str) -> None:
    """Every selected field that does not exist is named in the refusal."""
    client.create(table, field("a"))

    status, details = refused(client.session, table, selected_fields=["a", "nope", "a.b"])

    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert details == "request failed: The following selected fields do not exist in the table schema: nope, a.b"


def test_restriction_may_use_unselected_columns(client: Client, table: str) -> None:
    """A restriction sees every column, selected or not."""
    client.seed(table, [field("a"), field("b")], [{"a": 1, "b": 1}, {"a": 2, "b": 2}])

    session = client.session(table, selected_fields=["a"], row_restriction="b = 2")

    assert client.rows(session) == [{"a": 2}]


def test_bad_restriction_is_refused_in_the_services_words(client: Client, table: str) -> None:
    """The refusal names the table and repeats the restriction."""
    client.create(table, field("id"))

    status, details = refused(client.session, table, row_restriction="id =")

    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert details == f"request failed: Row filter for table {PROJECT}:ds.{table} is invalid. Filter is 'id ='"


def test_long_restriction_is_refused(client: Client, table: str) -> None:
    """A restriction of more than 1 MiB is refused for its length."""
    client.create(table, field("s", "STRING"))
    longest = f"s = '{'x' * ((1 << 20) - 6)}'"

    status, details = refused(client.session, table, row_restriction=f"{longest} ")

    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert details.endswith("exceeded maximum allowed length. Maximum bytes allowed: 1048576")
    assert len(client.session(table, row_restriction=longest).streams) == 0


def test_snapshot_hides_later_rows(client: Client, table: str) -> None:
    """A session keeps its rows when more are inserted, and all its streams share them."""
    client.numbers(table, 20)
    session = client.session(table)
    client.insert(table, [{"id": 99}])

    seen = client.ids(session)

    assert seen == list(range(20))
    assert 99 in client.ids(client.session(table))


def test_snapshot_time_is_honoured(client: Client, table: str) -> None:
    """A session on an earlier instant sees the rows of that instant."""
    client.numbers(table, 2)
    asked = proto.ReadSession(table=table_name(table), data_format=proto.DATA_FORMAT["ARROW"])
    asked.table_modifiers.snapshot_time.GetCurrentTime()
    client.insert(table, [{"id": 99}])

    session = client.open(asked)

    assert client.ids(session) == [0, 1]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-169 * HOURS, "time travel timestamp exceeds the maximum time travel duration of 168h"),
        (-HOURS, "request failed: table"),
        (HOURS, "request failed: the snapshot time lies in the future"),
    ],
)
def test_snapshot_time_outside_is_refused(client: Client, table: str, seconds: int, text: str) -> None:
    """Instants beyond the window, before the table and in the future are refused."""
    client.create(table, field("id"))
    asked = proto.ReadSession(table=table_name(table), data_format=proto.DATA_FORMAT["ARROW"])
    asked.table_modifiers.snapshot_time.seconds = int(time.time()) + seconds

    status, details = refused(client.open, asked)

    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert details.startswith(text)


def test_session_outlives_its_table(client: Client, table: str) -> None:
    """Deleting the table does not take the rows from an open session."""
    client.numbers(table, 3)
    session = client.session(table)
    client.http("DELETE", f"/{PARENT}/datasets/ds/tables/{table}")

    assert client.ids(session) == [0, 1, 2]
    assert refused(client.session, table)[0] is grpc.StatusCode.NOT_FOUND
