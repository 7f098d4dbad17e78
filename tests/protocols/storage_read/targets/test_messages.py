"""A step becomes exactly the request that it describes."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.contract import proto
from conformance.protocols.storage_read.targets.messages import create_request, read_request, split_request
from conformance.records import CreateSession, RecordError
from conformance.targets.names import Names

NAMES = Names("p", "d", "t")
NOW = 1_700_000_000_000_000


def request_of(step: CreateSession) -> Any:
    """The decoded CreateReadSessionRequest of ``step``."""
    data, _ = create_request(step, NAMES, now=NOW, before_append=NOW - 5)
    return proto.CreateReadSessionRequest.FromString(data)


def test_a_plain_session_asks_for_the_cases_table() -> None:
    """Parent, table and format are filled in, and an empty read_options message is present."""
    request = request_of(CreateSession())

    assert request.parent == "projects/p"
    assert request.read_session.table == "projects/p/datasets/d/tables/t"
    assert request.read_session.data_format == 2
    assert request.read_session.HasField("read_options")
    assert not request.read_session.read_options.HasField("arrow_serialization_options")
    assert not request.read_session.HasField("table_modifiers")


def test_every_option_lands_in_its_field() -> None:
    """Each option of the step is in the request, under the field's own name."""
    request = request_of(
        CreateSession(
            data_format="AVRO",
            selected_fields=("b", "a.x"),
            row_restriction="a > 1",
            max_stream_count=4,
            preferred_min_stream_count=2,
            buffer_compression="ZSTD",
            response_compression="LZ4",
            trace_id="me:it",
        )
    )

    options = request.read_session.read_options
    assert (request.max_stream_count, request.preferred_min_stream_count) == (4, 2)
    assert (request.read_session.data_format, request.read_session.trace_id) == (1, "me:it")
    assert (list(options.selected_fields), options.row_restriction) == (["b", "a.x"], "a > 1")
    assert options.arrow_serialization_options.buffer_compression == 2
    assert options.response_compression_codec == 2


@pytest.mark.parametrize(("data_format", "field"), [("ARROW", "arrow"), ("AVRO", "avro")])
def test_the_precision_of_timestamps_is_in_the_options_of_the_format(data_format: str, field: str) -> None:
    """The other format has no options."""
    options = request_of(CreateSession(data_format=data_format, timestamps="PICOS")).read_session.read_options

    set_fields = {name.name: value for name, value in options.ListFields()}
    assert list(set_fields) == [f"{field}_serialization_options"]
    assert set_fields[f"{field}_serialization_options"].picos_timestamp_precision == 3


def test_options_can_be_left_out() -> None:
    """``omit_options`` leaves out the message as a whole."""
    assert not request_of(CreateSession(omit_options=True)).read_session.HasField("read_options")


@pytest.mark.parametrize(
    ("snapshot", "micros"),
    [("before-append", NOW - 5), ("past", NOW - 30 * 86_400_000_000), ("future", NOW + 3_600_000_000)],
)
def test_a_snapshot_is_an_instant(snapshot: str, micros: int) -> None:
    """Each named snapshot is the instant that the records describe."""
    modifiers = request_of(CreateSession(snapshot=snapshot)).read_session.table_modifiers

    assert modifiers.snapshot_time.ToMicroseconds() == micros


def test_resource_names_are_templates() -> None:
    """A step can name another parent or table by the parts of the right one."""
    request = request_of(CreateSession(parent="{project}", table="projects/{project}/datasets/{dataset}/tables/nope"))

    assert request.parent == "p"
    assert request.read_session.table == "projects/p/datasets/d/tables/nope"


def test_a_case_can_ask_for_a_number_outside_an_enum() -> None:
    """A number as text stands for itself."""
    assert request_of(CreateSession(data_format="99")).read_session.data_format == 99


@pytest.mark.parametrize("step", [CreateSession(data_format="PROTO"), CreateSession(snapshot="yesterday")])
def test_an_unknown_name_is_the_cases_mistake(step: CreateSession) -> None:
    """A misspelt option is refused rather than sent as something else."""
    with pytest.raises(RecordError, match="expected one of"):
        request_of(step)


def test_each_request_has_its_routing_header() -> None:
    """Routing headers are those of the generated clients, url-encoded."""
    assert create_request(CreateSession(table="a b"), NAMES, now=0, before_append=0)[1] == "read_session.table=a%20b"
    assert read_request("s/1", 7)[1] == "read_stream=s/1"
    assert split_request("s/1", 0.25)[1] == "name=s/1"
