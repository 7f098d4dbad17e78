"""Recorded results of queries: which of them a client can read to the end, and what it then reads."""

from __future__ import annotations

import dataclasses
import functools
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conformance.contain.channel import ChannelMessage
from conformance.engine.corpus import load_corpus
from conformance.generate import materialise
from conformance.protocols.storage_read.contract.queryview import QueriesView
from conformance.protocols.storage_read.reference.hosted import storage_target
from conformance.readers import ReaderPool
from conformance.readers.agreement import reported
from conformance.readers.fullread import FullRead
from conformance.readers.plugin import held_tables, reads_of
from conformance.readers.queryread import RecordedQuery, job_in, query_reads
from conformance.records import Case, Exchange, Reading, ReadingOutcome
from tests.fixtures import ROOT

READER = "bigquery.query-arrow"
STREAM = "projects/p/locations/us/jobs/j/streams/_default"


@functools.cache
def recorded(name: str, mutant: str | None = None) -> tuple[Case, Exchange]:
    """A case of query results, and what the reference or one of its mutants answers."""
    case = load_corpus(Path(ROOT / "cases"))[f"query-results.{name}"]
    with closing(storage_target(mutant=mutant)) as target:
        return case, target.drive(case, materialise(case.table))


def changed(exchange: Exchange, **fields: object) -> Exchange:
    """The exchange where the answer of the query has other fields."""
    first, *others = exchange.calls
    body = json.dumps(json.loads(first.responses[0]) | fields).encode()
    return dataclasses.replace(exchange, calls=(dataclasses.replace(first, responses=(body,)), *others))


def readings(name: str, mutant: str | None = None) -> list[Reading]:
    """What Google's client makes of a recorded result."""
    pytest.importorskip("google.cloud.bigquery")
    case, exchange = recorded(name, mutant)
    with ReaderPool(workers=1, readers=[READER, "pyarrow.stream"]) as pool:
        found = pool.read(case, exchange)
    if any(one.error_text.startswith("not installed") for one in found):
        pytest.skip(found[0].error_text)
    return reported(found, held_tables(QueriesView(case, exchange, materialise(case.table))))


@pytest.mark.parametrize("name", ["plain", "one-page", "codec-lz4", "no-rows"])
def test_the_client_reads_what_the_bytes_contain(name: str) -> None:
    """A page with the rows behind it, a page alone, a page with a codec, and no rows; no other reader is given them."""
    (reading,) = readings(name)

    assert (reading.reader, reading.outcome, reading.differences) == (READER, ReadingOutcome.TABLE, ())
    assert reading.camp == "all"


@pytest.mark.parametrize("mutant", ["query-results.rows-twice", "query-results.first-row-of-the-stream-lost"])
def test_the_client_is_compared_with_the_bytes(mutant: str) -> None:
    """A server that repeats or loses rows fails the clauses on rows, and not its client."""
    assert [reading.differences for reading in readings("plain", mutant)] == [()]


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        ({}, 1),
        ({"jobComplete": False}, 0),
        ({"arrowSchema": None}, 0),
        ({"arrowRecordBatch": {"serializedRecordBatch": "not base64"}}, 0),
        ({"jobReference": {"projectId": "p", "jobId": "j"}, "location": None}, 0),
        ({"pageToken": None, "jobReference": None}, 1),
    ],
)
def test_what_can_be_read_to_the_end(fields: dict[str, Any], number: int) -> None:
    """A result that is complete and has Arrow, and whose further rows, if there are any, were read."""
    case, exchange = recorded("plain")

    assert len(list(query_reads(case, changed(exchange, **fields)))) == number


def test_rows_behind_the_page_that_were_not_read() -> None:
    """A result without them is none that a client can be given."""
    case, exchange = recorded("plain")

    assert list(query_reads(case, dataclasses.replace(exchange, calls=exchange.calls[:1]))) == []


def test_a_format_that_the_server_ignores() -> None:
    """The rows came in JSON, so there is nothing to read in Arrow."""
    assert reads_of(*recorded("asked-of-all", "query-results.format-ignored")) == []


def test_a_read_travels() -> None:
    """To the process of a reader and back."""
    (read,) = query_reads(*recorded("plain"))
    frame = read.to_frame()
    again = FullRead.from_frame(ChannelMessage(frame.header, tuple(map(bytes, frame.blobs))))

    assert dataclasses.astuple(again) == dataclasses.astuple(read)
    assert again.offset == 4
    assert again.selected == again.columns


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ({}, True),
        ({"query": " SELECT 1; "}, True),
        ({"timeoutMs": "1"}, True),
        ({"arrowSerializationOptions": {"bufferCompression": "COMPRESSION_UNSPECIFIED"}}, True),
        ({"arrowSerializationOptions": {"bufferCompression": "ZSTD"}}, False),
        ({"query": "SELECT 2"}, False),
        ({"maxResults": 2}, True),
        ({"maxResults": 1}, False),
        ({"queryResultsFormat": "STRUCT_ENCODING"}, False),
        ({"queryResultsFormat": ["ARROW"]}, False),
        ({"queryResultsFormat": {}, "arrowSerializationOptions": [], "maxResults": {}, "query": []}, False),
    ],
)
def test_which_requests_get_a_recorded_answer(asked: dict[str, Any], same: bool) -> None:  # noqa: FBT001
    """Those for the same statement, format and codec that take a page of so many rows."""
    body: dict[str, Any] = {"query": "SELECT 1", "queryResultsFormat": "ARROW"}

    answer = b'{"rows": [{}, {}]}'
    assert RecordedQuery(json.dumps(body).encode(), answer).answers(body | asked) is same


def test_one_full_read_answers_every_statement() -> None:
    """A client that judges it writes the statement itself, and chooses the codec."""
    query = RecordedQuery(b'{"query": "SELECT 1", "queryResultsFormat": "ARROW"}', b"{}", alone=True)

    assert query.answers({"query": "SELECT 2", "queryResultsFormat": "ARROW"})
    assert not query.answers({"query": "SELECT 1"})


def test_the_job_of_a_recorded_query() -> None:
    """It is done, and has the location that the answer names, wherever it does."""
    answer = {"jobReference": {"projectId": "p", "jobId": "j"}, "location": "us"}
    query = RecordedQuery(b'{"query": "SELECT 1"}', json.dumps(answer).encode())

    assert (query.job, query.resource()["status"]) == ("j", {"state": "DONE"})
    assert query.resource()["jobReference"] == {"projectId": "p", "jobId": "j", "location": "us"}
    assert (job_in(STREAM), job_in("projects/p/locations/us/sessions/s/streams/1")) == ("j", "")
