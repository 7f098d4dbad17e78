"""Requests of AppendRows as the strict readers take them apart."""

from __future__ import annotations

import pytest

from conformance.protocols.storage_write.wire.messages import SPECS
from conformance.protocols.storage_write.wire.plugin import PLUGIN
from conformance.wire import Header
from conformance.wire.protobufdissect import dissect_protobuf
from tests.protocols.storage_write.wire.samples import append
from tests.wire.breaking import END, GOOD_BATCH, GOOD_SCHEMA

SPEC = SPECS["AppendRowsRequest"]


def test_the_schema_comes_before_the_rows() -> None:
    """Each with its place, and with a way back to the bytes of the request."""
    data = append(GOOD_SCHEMA, GOOD_BATCH)
    contents = PLUGIN.contents(data, SPEC)

    assert [(one.place, one.data) for one in contents] == [
        (Header.SCHEMA, GOOD_SCHEMA),
        (Header.RECORD_BATCH, GOOD_BATCH),
    ]
    for one in contents:
        start, end = one.back(0, len(one.data))
        assert data[start:end] == one.data


@pytest.mark.parametrize("data", [b"", append(), b"\x0a\x01x"])
def test_a_request_without_arrow_data_has_no_contents(data: bytes) -> None:
    """Nor is it recognised as one that has some."""
    assert PLUGIN.contents(data, SPEC) == []
    assert not PLUGIN.is_carrier(data)


def test_only_whole_requests_with_arrow_data_are_recognised() -> None:
    """A guess for commands that expect something else; an answer is none of them."""
    assert PLUGIN.is_carrier(append(rows=GOOD_BATCH))
    assert not PLUGIN.is_carrier(append(rows=GOOD_BATCH)[:-1])
    assert PLUGIN.contents(append(rows=GOOD_BATCH), SPECS["AppendRowsResponse"]) == ()


def test_every_message_of_a_full_stream_is_dissected() -> None:
    """A whole stream in the field for one batch is the usual mistake of clients; the rows are read by the schema."""
    dissection = dissect_protobuf(append(GOOD_SCHEMA, GOOD_SCHEMA + GOOD_BATCH + END), SPEC, PLUGIN)

    assert [one.header for one in dissection.messages] == [
        Header.SCHEMA,
        Header.SCHEMA,
        Header.RECORD_BATCH,
        Header.END_OF_STREAM,
    ]
    assert [section.start for section in dissection.sections[1:]] == [one.start for one in dissection.messages]
    assert "1, 2" in {region.value for region in dissection.regions}
    assert [(region.start, region.end) for region in dissection.regions][-1][1] == len(dissection.data)
