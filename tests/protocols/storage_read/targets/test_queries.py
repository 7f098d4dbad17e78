"""What jobs.query is asked, and what later calls learn from its answer."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from conformance.contract import proto
from conformance.protocols.storage_read.targets.queries import (
    Query,
    as_call,
    describing_path,
    job_name,
    listing_path,
    place_in,
    query_body,
    query_in,
    result_request,
    table_in,
    tables_of,
    token_in,
)
from conformance.records import Call, QueryStatement, ReadResult, RunQuery
from conformance.targets import TargetSpec, open_target
from conformance.targets.names import Names
from tests.targets.conftest import case_of, table_of
from tests.targets.fake_server import FakeServer

NAMES = Names("p", "d", "t")
CALL = Call(0, "q", RunQuery.METHOD, b"{}")
PLACE = {"projectId": "p", "datasetId": "_d", "tableId": "r"}


@pytest.mark.parametrize(
    ("place", "names"),
    [
        (PLACE, Names("p", "_d", "r")),
        ({**PLACE, "tableId": 5}, None),
        ({**PLACE, "datasetId": "\ud800"}, None),
        ([], None),
    ],
)
def test_a_job_names_the_table_of_its_result(place: object, names: Names | None) -> None:
    """By three names, each of which a request can have."""
    job = {"configuration": {"query": {"destinationTable": place}}}

    assert table_in(dataclasses.replace(CALL, responses=(json.dumps(job).encode(),))) == names


@pytest.mark.parametrize("responses", [(), (b"[]",), (b'{"configuration": null}',)])
def test_an_answer_that_is_no_job_names_no_table(responses: tuple[bytes, ...]) -> None:
    """Nor does a call without an answer."""
    assert table_in(dataclasses.replace(CALL, responses=responses)) is None


def test_a_query_names_its_format_and_its_options() -> None:
    """Both where the discovery document has them; what a step leaves empty is left out."""
    asked = json.loads(query_body(RunQuery(buffer_compression="ZSTD", max_results=3), NAMES))
    plain = json.loads(query_body(RunQuery(results=""), NAMES))

    assert (asked["queryResultsFormat"], asked["maxResults"]) == ("ARROW", 3)
    assert asked["arrowSerializationOptions"] == {"bufferCompression": "ZSTD"}
    assert not {"queryResultsFormat", "arrowSerializationOptions", "maxResults"} & set(plain)


def test_a_query_names_where_it_is_to_run() -> None:
    """If its step says so."""
    asked, plain = (json.loads(query_body(step, NAMES)) for step in (RunQuery(location="nowhere"), RunQuery()))

    assert asked["location"] == "nowhere"
    assert "location" not in plain


def test_a_read_may_name_another_stream_of_the_job() -> None:
    """In the request and in its routing header."""
    request, routing = result_request("projects/p/locations/l/jobs/j", RunQuery(), 0, "other")

    assert proto.ReadRowsRequest.FromString(request).read_stream == "projects/p/locations/l/jobs/j/streams/other"
    assert routing.endswith("/streams/other")


def test_a_page_of_no_rows_is_asked_for() -> None:
    """It is another request than one without a maximum."""
    assert json.loads(query_body(RunQuery(max_results=0), NAMES))["maxResults"] == 0


def test_a_parameter_is_named_with_its_value() -> None:
    """In the text and beside it."""
    asked = json.loads(query_body(RunQuery(statement=QueryStatement.PARAMETER), NAMES))

    assert asked["query"] == "SELECT * FROM `p`.`d`.`t` WHERE @every"
    assert (asked["parameterMode"], [one["name"] for one in asked["queryParameters"]]) == ("NAMED", ["every"])


def test_one_text_has_other_values_of_its_parameter() -> None:
    """What a cache that knows the text alone takes for one query."""
    every, none = (
        json.loads(query_body(RunQuery(statement=statement), NAMES))
        for statement in (QueryStatement.PARAMETER, QueryStatement.UNMET)
    )

    assert every["query"] == none["query"]
    assert [one["queryParameters"][0]["parameterValue"]["value"] for one in (every, none)] == ["true", "false"]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (QueryStatement.UNNAMED, "SELECT *, row_id + 0 FROM `p`.`d`.`t`"),
        (QueryStatement.FAILING, "SELECT * FROM `p`.`d`.`t` WHERE IF(row_id = 0, ERROR('row 0'), TRUE)"),
        (QueryStatement.UNQUALIFIED, "SELECT * FROM `t`"),
        (QueryStatement.COPY, "INSERT INTO `p`.`d`.`t_made` (x) SELECT row_id FROM `p`.`d`.`t`"),
        (QueryStatement.CLEAR, "DELETE FROM `p`.`d`.`t_made` WHERE TRUE"),
    ],
)
def test_a_statement_has_its_text(statement: QueryStatement, text: str) -> None:
    """In GoogleSQL."""
    assert json.loads(query_body(RunQuery(statement=statement), NAMES))["query"] == text


def test_the_tables_that_a_statement_makes_are_known() -> None:
    """They are removed with the table of the case."""
    made = [tables_of(step, NAMES) for step in (RunQuery(), RunQuery(statement=QueryStatement.CREATE))]

    assert [[one.table for one in names] for names in made] == [[], ["t_made"]]


def test_a_listing_begins_at_an_offset_or_a_token() -> None:
    """And may have a maximum, 0 too."""
    query = Query("p", "j", "eu", 4, 11, RunQuery())

    assert listing_path(query, 2, 0).endswith("/j?startIndex=2&maxResults=0&location=eu")
    assert listing_path(query, 2, 3, "a/b=").endswith("/j?pageToken=a%2Fb%3D&maxResults=3&location=eu")
    assert describing_path(query) == "/bigquery/v2/projects/p/jobs/j?location=eu"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"pageToken": 5}', b'{"pageToken": null}'])
def test_an_answer_without_a_token_has_none(body: bytes) -> None:
    """Whatever it is."""
    assert token_in(as_call(CALL, 200, body)) == ""


STATUSES = [(200, "OK"), (400, "INVALID_ARGUMENT"), (404, "NOT_FOUND"), (418, "UNKNOWN")]


@pytest.mark.parametrize(("status", "name"), STATUSES)
def test_a_status_of_http_becomes_one_of_grpc(status: int, name: str) -> None:
    """The body of an error is its text, and no answer."""
    made = as_call(CALL, status, b"said")

    assert (made.status, made.responses) == (name, (b"said",) if name == "OK" else ())


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"jobReference": 5, "pageRowCount": [], "totalRows": "1e9"}'])
def test_an_answer_of_any_form_is_read(body: bytes) -> None:
    """What it does not say is empty."""
    found = query_in(as_call(CALL, 200, body), RunQuery(), NAMES)

    assert found in (None, Query("p", "", "", 0, 0, RunQuery()))


def test_a_name_that_no_request_can_have_is_none() -> None:
    """Half of a pair of UTF-16 in the answer; the location may be that of the answer itself."""
    answer = {"jobReference": {"projectId": "\udfff", "jobId": "\ud800"}, "location": "eu"}

    found = query_in(as_call(CALL, 200, json.dumps(answer).encode()), RunQuery(), NAMES)

    assert found == Query("p", "", "eu", 0, 0, RunQuery())


def test_a_read_names_the_job_and_the_options_of_the_query() -> None:
    """The location and the job are those of the answer, or those that the step names."""
    query = Query("p", "j", "eu", 4, 11, RunQuery(buffer_compression="LZ4_FRAME", timestamps="PICOS"))
    request = proto.ReadRowsRequest.FromString(result_request(job_name(query, ReadResult()), query.options, 4)[0])

    assert request.read_stream == "projects/p/locations/eu/jobs/j/streams/_default"
    assert request.arrow_serialization_options.buffer_compression == proto.COMPRESSION["LZ4_FRAME"]
    assert request.arrow_serialization_options.picos_timestamp_precision == 3
    assert job_name(query, ReadResult(location="us", job="k")) == "projects/p/locations/us/jobs/k"


def test_a_listing_names_the_job_its_place_and_the_first_row() -> None:
    """The job of a query that is read without Arrow; one without a location is in the usual one."""
    query, elsewhere = (Query("p", "j/k", place, 4, 11, RunQuery()) for place in ("eu", ""))

    assert listing_path(query, 4) == "/bigquery/v2/projects/p/queries/j%2Fk?startIndex=4&location=eu"
    assert describing_path(elsewhere) == "/bigquery/v2/projects/p/jobs/j%2Fk?location=us"


def test_places_come_from_the_answer() -> None:
    """An offset that the answer does not show is none."""
    query, silent = (Query("p", "j", "eu", page, total, RunQuery()) for page, total in ((4, 11), (0, 0)))
    names = ("7", "-1", "page", "inside", "last", "end")

    assert [place_in(query, one) for one in names] == [7, -1, 4, 2, 10, 11]
    assert [place_in(silent, one) for one in names] == [7, -1, 0, None, None, None]


def test_a_query_without_an_answer_is_a_call_that_failed(fake: FakeServer, endpoint: TargetSpec) -> None:
    """A client sees that the service is not there; the table of the case was made all the same."""

    def rest(_method: str, path: str, _body: object) -> None:
        if path.endswith("/queries"):
            raise ConnectionResetError

    fake.rest = rest
    case = case_of(RunQuery())
    with open_target(endpoint) as target:
        exchange = target.drive(case, table_of(case))

    (call,) = exchange.calls
    assert (exchange.untestable, call.method, call.status, call.responses) == ("", "jobs.query", "UNAVAILABLE", ())
    assert call.details.startswith("POST /bigquery/v2/projects/")


@pytest.mark.parametrize(("answer", "asked"), [({"location": "eu"}, ["", "eu"]), ({}, [""])])
def test_a_query_is_asked_where_the_answer_before_was(
    fake: FakeServer, endpoint: TargetSpec, answer: dict[str, str], asked: list[str]
) -> None:
    """If that answer names no place, the query is skipped."""
    places = []

    def rest(_method: str, path: str, body: Any) -> tuple[int, Any] | None:
        if not path.endswith("/queries"):
            return None
        places.append(body.get("location", ""))
        return 200, answer

    fake.rest = rest
    case = case_of(RunQuery(), RunQuery(label="r", location=RunQuery.ANSWERED))
    with open_target(endpoint) as target:
        exchange = target.drive(case, table_of(case))

    assert places == asked
    assert len(exchange.calls) == len(asked)
