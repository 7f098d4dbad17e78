"""Queries of a case: what jobs.query is asked, and as much of its answer as the next calls need.

Sources: https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/query, and the discovery document of the API
(https://bigquery.googleapis.com/discovery/v1/apis/bigquery/v2/rest) for ``queryResultsFormat``.
"""

from __future__ import annotations

import dataclasses
import json
import uuid
from typing import Any, Final
from urllib.parse import quote

from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.contract import proto
from conformance.contract.jobanswer import destination_in, name_in
from conformance.contract.rpcstatus import STATUS_OF_HTTP
from conformance.records import ROW_ID, Call, CallEnd, QueryStatement, ReadResult, RunQuery
from conformance.targets.names import Names
from conformance.targets.sql import ordered_statement, select_statement

__all__ = ["WITH_PARAMETER", "Query", "as_call", "describing_path", "job_name", "listing_path", "place_in",
           "query_body", "query_in", "result_request", "table_in", "tables_of", "token_in", "unanswered"]  # fmt: skip

CREATED: Final = "_made"
"""The end of the name of the table that a statement makes."""
WITH_PARAMETER: Final = (QueryStatement.PARAMETER, QueryStatement.UNMET)
"""The statements of one text whose condition is a parameter."""
WAIT: Final = "20000"
"""The milliseconds that jobs.query may take."""
UNSPECIFIED: Final = {
    "bufferCompression": "COMPRESSION_UNSPECIFIED",
    "picosTimestampPrecision": "PICOS_TIMESTAMP_PRECISION_UNSPECIFIED",
}
"""The options of Arrow that say nothing."""
DEFAULT_LOCATION: Final = "us"
"""The location of a job whose answer names none."""


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """What later calls need of a query: its job, the rows of its page and of its result, and its options.

    ``location`` is empty if the answer names none.
    """

    project: str
    job: str
    location: str
    page: int
    total: int
    options: RunQuery

    @property
    def place(self) -> str:
        """The location of the job, for its name."""
        return self.location or DEFAULT_LOCATION


def tables_of(step: RunQuery, names: Names) -> list[Names]:
    """The tables that the statement of a step makes."""
    ends = [CREATED] * (step.statement is QueryStatement.CREATE)
    return [dataclasses.replace(names, table=names.table + end) for end in ends]


def query_body(step: RunQuery, names: Names) -> bytes:
    """The body of the request of a step."""
    body: dict[str, Any] = {"query": _statement(step.statement, names), "useLegacySql": False, "timeoutMs": WAIT}
    if step.wait is not None:
        body["timeoutMs"] = step.wait
    body["useQueryCache"] = step.cached
    if step.results:
        body["queryResultsFormat"] = step.results
    options = {"bufferCompression": step.buffer_compression} if step.buffer_compression else {}
    if step.timestamps:
        options["picosTimestampPrecision"] = f"TIMESTAMP_PRECISION_{step.timestamps}"
    if step.in_full:
        options = {**UNSPECIFIED, **options}
        body["formatOptions"] = {"useInt64Timestamp": True}
    if options:
        body["arrowSerializationOptions"] = options
    if step.request_id:
        body["requestId"] = _request_id(step.request_id, names)
    if step.dry_run:
        body["dryRun"] = True
    if step.location:
        body["location"] = step.location
    if step.max_results is not None:
        body["maxResults"] = step.max_results
    body["jobCreationMode"] = "JOB_CREATION_OPTIONAL" if step.optional_job else "JOB_CREATION_REQUIRED"
    body |= _for_statement(step.statement, names)
    return json.dumps(body, ensure_ascii=False).encode()


def _for_statement(statement: QueryStatement, names: Names) -> dict[str, Any]:
    """What a statement needs beside its text."""
    if statement is QueryStatement.UNQUALIFIED:
        return {"defaultDataset": {"projectId": names.project, "datasetId": names.dataset}}
    if statement not in WITH_PARAMETER:
        return {}
    value = "true" if statement is QueryStatement.PARAMETER else "false"
    every = {"name": "every", "parameterType": {"type": "BOOL"}, "parameterValue": {"value": value}}
    return {"parameterMode": "NAMED", "queryParameters": [every]}


def _request_id(text: str, names: Names) -> str:
    """An id of at most 36 characters that queries of other tables do not have."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{names.project}/{names.dataset}/{names.table}/{text}"))


def _statement(statement: QueryStatement, names: Names) -> str:
    place = f"`{names.project}`.`{names.dataset}`.`{names.table}`"
    made = f"{place[:-1]}{CREATED}`"
    selected = select_statement(names)
    others = {
        QueryStatement.ORDERED: ordered_statement(names),
        QueryStatement.NOTHING: f"{selected} LIMIT 0",
        **dict.fromkeys(WITH_PARAMETER, f"{selected} WHERE @every"),
        QueryStatement.UNNAMED: selected.replace("*", f"*, {ROW_ID} + 0", 1),
        QueryStatement.UNQUALIFIED: f"SELECT * FROM `{names.table}`",  # noqa: S608  # the suite's names
        QueryStatement.FAILING: f"{selected} WHERE IF({ROW_ID} = 0, ERROR('row 0'), TRUE)",
        QueryStatement.CREATE: f"CREATE TABLE {made} (x INT64)",
        QueryStatement.COPY: f"INSERT INTO {made} (x) SELECT {ROW_ID} FROM {place}",  # noqa: S608  # as above
        QueryStatement.CLEAR: f"DELETE FROM {made} WHERE TRUE",  # noqa: S608  # as above
        QueryStatement.INSERT: f"INSERT INTO {place} {selected} WHERE FALSE",
        QueryStatement.WRONG: "SELEC 1",
    }
    return others.get(statement, selected)


def as_call(call: Call, status: int, body: bytes) -> Call:
    """The call with its answer: a body with OK, and a status with the text of the error otherwise."""
    if 200 <= status < 300:
        return dataclasses.replace(call, responses=(body,))
    said = f"HTTP {status} {body[:2000].decode('utf-8', 'replace')}"
    return dataclasses.replace(
        call, status=STATUS_OF_HTTP.get(status, "UNKNOWN"), details=said, end=CallEnd.COMPLETE, responses=()
    )


def unanswered(call: Call, said: str) -> Call:
    """The call without an answer, as a client sees it: the service is not there."""
    return dataclasses.replace(call, status="UNAVAILABLE", details=said, end=CallEnd.COMPLETE, responses=())


def query_in(call: Call, step: RunQuery, names: Names) -> Query | None:
    """What an answer says of its query; None if it is no such answer."""
    if call.status != "OK" or not call.responses:
        return None
    try:
        answer = parse_object(call.responses[0])
    except ForeignJsonError:
        return None
    reference = answer.get("jobReference")
    named = reference if isinstance(reference, dict) else {}
    project, job, location = (name_in(named.get(key)) for key in ("projectId", "jobId", "location"))
    location = location or name_in(answer.get("location"))
    page, total = (_count(answer.get(key)) for key in ("pageRowCount", "totalRows"))
    return Query(project or names.project, job, location, page, total, step)


def _count(value: object) -> int:
    text = str(value) if isinstance(value, str | int) else ""
    return int(text) if text.isdecimal() and len(text) < 19 else 0


def job_name(query: Query, step: ReadResult) -> str:
    """The resource name of a query's job, for a read of its stream."""
    return f"projects/{query.project}/locations/{step.location or query.place}/jobs/{step.job or query.job}"


def result_request(job: str, options: RunQuery, offset: int, name: str = "") -> tuple[bytes, str]:
    """The ReadRowsRequest for the stream of a job, and its routing header; ``name`` is that of another stream."""
    stream = f"{job}/streams/{name or '_default'}"
    request = proto.ReadRowsRequest(read_stream=stream, offset=offset)
    if options.buffer_compression:
        request.arrow_serialization_options.buffer_compression = proto.COMPRESSION[options.buffer_compression]
    if options.timestamps:
        request.arrow_serialization_options.picos_timestamp_precision = proto.TIMESTAMP_PRECISION[options.timestamps]
    return request.SerializeToString(), f"read_stream={quote(stream, safe='/')}"


def listing_path(query: Query, offset: int, most: int | None = None, token: str = "") -> str:
    """The path of jobs.getQueryResults for the rows of a query from an offset, or from a page token if there is one.

    ``most`` is the maximum of rows; none if None.
    """
    begin = f"pageToken={quote(token, safe='')}" if token else f"startIndex={offset}"
    return _job_path(query, "queries", begin, *([] if most is None else [f"maxResults={most}"]))


def describing_path(query: Query) -> str:
    """The path of jobs.get for the job of a query, with its parameters."""
    return _job_path(query, "jobs")


def _job_path(query: Query, collection: str, *parameters: str) -> str:
    place = f"/bigquery/v2/projects/{query.project}/{collection}/{quote(query.job, safe='')}"
    return f"{place}?{'&'.join((*parameters, 'location=' + quote(query.place, safe='')))}"


def token_in(call: Call) -> str:
    """The page token of an answer; empty if it has none."""
    try:
        return name_in(parse_object(call.responses[0]).get("pageToken")) if call.responses else ""
    except ForeignJsonError:
        return ""


def table_in(call: Call) -> Names | None:
    """The table of the result that an answer of jobs.get names; None if it names none."""
    try:
        named = destination_in(parse_object(call.responses[0])) if call.responses else ()
    except ForeignJsonError:
        return None
    return Names(*named) if named else None


def place_in(query: Query, offset: str) -> int | None:
    """The offset that a step names; None if the answer has no such place."""
    if offset.removeprefix("-").isdecimal():
        return int(offset)
    places = {
        "page": query.page,
        "inside": query.page // 2 if query.page > 1 else None,
        "end": query.total or None,
        "last": query.total - 1 if query.total else None,
    }
    return places.get(offset)
