"""Requests and answers of the Storage Write API are shown field by field, and their Arrow data byte by byte."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.protocols.storage_write.contract.classes import CLASSES
from conformance.protocols.storage_write.engine.transcript import WriteTranscript
from conformance.records import Call

ROWS = pa.record_batch({"a": pa.array([1, 2], pa.int64())})


def append(*, schema: bool) -> bytes:
    """A request with two rows."""
    request = CLASSES["AppendRowsRequest"](write_stream="s" if schema else "")
    if schema:
        request.arrow_rows.writer_schema.serialized_schema = ROWS.schema.serialize().to_pybytes()
    request.arrow_rows.rows.serialized_record_batch = ROWS.serialize().to_pybytes()
    return bytes(request.SerializeToString())


def test_a_batch_is_annotated_by_the_schema_before_it() -> None:
    """The second request of a connection has none of its own."""
    shown = WriteTranscript(Call(0, "", "AppendRows", b""), 400)

    first = list(shown.lines(append(schema=True), request=True))
    second = list(shown.lines(append(schema=False), request=True))

    assert "    1 write_stream = 's'" in first
    assert sum("continuation word" in line for line in first) == 2
    assert [line for line in second if "schema message" in line] == []
    assert second[-2].endswith("  data                    1, 2")


def test_an_answer_is_shown_by_its_fields() -> None:
    """With the number of each."""
    answer = CLASSES["AppendRowsResponse"](write_stream="s")
    answer.append_result.offset.value = 3

    shown = list(WriteTranscript(Call(0, "", "AppendRows", b""), 400).lines(answer.SerializeToString(), request=False))

    assert shown == ["    1 append_result", "      1 offset", "        1 value = 3", "    5 write_stream = 's'"]


@pytest.mark.parametrize("request_", [True, False])
def test_bytes_that_are_no_message_are_shown(*, request_: bool) -> None:
    """A message of thousands of fields has as many lines as the caller permits, too."""
    shown = WriteTranscript(Call(0, "", "BatchCommitWriteStreams", b""), 3)
    many = CLASSES["BatchCommitWriteStreamsRequest"](write_streams=list("abcde")).SerializeToString()

    assert list(shown.lines(b"\xff", request=request_)) == ["    not a message of this method: ff"]
    assert list(shown.lines(many, request=True))[2:] == [
        "    2 write_streams = 'c'",
        "    … 2 more lines; `conformance extract` saves the bytes",
    ]
