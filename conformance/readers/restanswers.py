"""The REST answers that clients need before they read through the Storage API, made from the columns of a case.

That is ``tables.get``, a query of one whole table as a job that is done with that table as its destination, datasets,
and a token. Every other request is answered with ``400 notRecorded``, so that a client that falls back to
``tabledata.list`` fails visibly. Nothing here comes from a target, but for the answers of recorded queries.

Source: https://cloud.google.com/bigquery/docs/reference/rest
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.records import BqType, Column

__all__ = ["RecordedQueries", "RestTable", "Tables", "answer", "rest_schema"]

Body: TypeAlias = dict[str, Any]

_LEGACY: Final[Mapping[BqType, str]] = {
    BqType.INT64: "INTEGER",
    BqType.FLOAT64: "FLOAT",
    BqType.BOOL: "BOOLEAN",
}
"""``tables.get`` answers with legacy SQL names where they differ from GoogleSQL (REST reference, TableFieldSchema)."""

_NAME: Final = re.compile(r"projects/(?P<project>[^/]+)/datasets/(?P<dataset>[^/]+)/tables/(?P<table>[^/]+)")
_PATH: Final = r"(?:/bigquery/v2)?/projects/([^/]+)"
_QUERIES: Final = re.compile(_PATH + "/queries")
_JOBS: Final = re.compile(_PATH + "/jobs/([^/]+)")
_QUERY: Final = re.compile(
    r"SELECT\s+\*\s+FROM\s+`?(?:([\w:.-]+?)`?[.:]`?)??([\w-]+)`?\.`?([\w-]+)`?\s*;?\s*", re.IGNORECASE
)
SELF: Final = "https://bigquery.googleapis.com/bigquery/v2"
CREATED: Final = "1700000000000"
"""When every table and job was made, in milliseconds since the Unix epoch: the same in each run."""


@dataclasses.dataclass(frozen=True, slots=True)
class RestTable:
    """A table as ``tables.get`` shows it."""

    project: str
    dataset: str
    table: str
    columns: tuple[Column, ...]
    rows: int = 0
    size: int = 0

    @classmethod
    def named(cls, name: str, columns: Iterable[Column], *, rows: int = 0, size: int = 0) -> RestTable | None:
        """The table with the resource name ``projects/…/datasets/…/tables/…``; None if the name has another form."""
        parts = _NAME.fullmatch(name)
        return None if parts is None else cls(**parts.groupdict(), columns=tuple(columns), rows=rows, size=size)

    @property
    def reference(self) -> Body:
        """The TableReference."""
        return {"projectId": self.project, "datasetId": self.dataset, "tableId": self.table}

    @property
    def schema(self) -> Body:
        """The TableSchema."""
        return {"fields": rest_schema(self.columns)}

    def resource(self) -> Body:
        """The Table."""
        size = str(self.size)
        return {
            "kind": "bigquery#table",
            "etag": "replay",
            "id": f"{self.project}:{self.dataset}.{self.table}",
            # Some clients take no table without it.
            "selfLink": f"{SELF}/projects/{self.project}/datasets/{self.dataset}/tables/{self.table}",
            "type": "TABLE",
            "tableReference": self.reference,
            "schema": self.schema,
            "numRows": str(self.rows),
            "numBytes": size,
            "numLongTermBytes": "0",
            "numTotalLogicalBytes": size,
            "numActiveLogicalBytes": size,
            "creationTime": CREATED,
            "lastModifiedTime": CREATED,
            "location": "US",
        }


Tables: TypeAlias = Callable[[str, str, str], RestTable | None]
"""The table of a project, a dataset and a table id, None if there is none; an empty project is any."""


class RecordedQueries(Protocol):
    """Recorded queries."""

    def queried(self, body: Mapping[str, Any], /) -> tuple[int, bytes] | None:
        """The status and the recorded answer of jobs.query to a request with this body; None if none was recorded."""

    def job(self, name: str, /) -> Body | None:
        """The job with this id of a recorded query, as jobs.get answers; None if none was recorded."""


def rest_schema(columns: Iterable[Column]) -> list[Body]:
    """The columns as ``TableFieldSchema`` objects; numbers are strings there, like every int64 of the REST API."""
    return [_field(column) for column in columns]


def _field(column: Column) -> Body:
    field: Body = {
        "name": column.name,
        "type": _LEGACY.get(column.type, column.type.value),
        "mode": column.mode.value,
    }
    numbers = {"precision": column.precision, "scale": column.scale, "maxLength": column.max_length}
    field |= {key: str(number) for key, number in numbers.items() if number is not None}
    if column.fields:
        field["fields"] = rest_schema(column.fields)
    if column.range_of is not None:
        field["rangeElementType"] = {"type": column.range_of.value}
    return field


def answer(
    tables: Tables, method: str, target: str, body: bytes, queries: RecordedQueries | None = None
) -> tuple[int, Body]:
    """The status and the JSON of the answer to a request; never raises."""
    url = urlsplit(target)
    if method == "POST" and url.path.rpartition("/")[2] == "token":
        return 200, {"access_token": "replay", "token_type": "Bearer", "expires_in": 3600, "id_token": "replay"}
    if queries is not None and (recorded := _recorded(queries, method, url.path, body)) is not None:
        return recorded
    for verb, path, handler in _ROUTES:
        found = path.fullmatch(url.path)
        if found is not None and verb == method:
            made = handler(tables, _parsed(body), dict(parse_qsl(url.query)), *map(unquote, found.groups()))
            if made is not None:
                return 200, made
    return 400, _error(f"not recorded: {method} {url.path}")


def _recorded(queries: RecordedQueries, method: str, path: str, body: bytes) -> tuple[int, Body] | None:
    """The recorded answer of jobs.query, and jobs.get of its job, which is done."""
    if method == "POST" and _QUERIES.fullmatch(path):
        answered = queries.queried(_parsed(body))
        return None if answered is None else (answered[0], _parsed(answered[1]))
    named = _JOBS.fullmatch(path) if method == "GET" else None
    job = None if named is None else queries.job(unquote(named[2]))
    return None if job is None else (200, job)


def _parsed(body: bytes) -> Body:
    try:
        return parse_object(body) if body else {}
    except ForeignJsonError:
        return {}


def _error(text: str) -> Body:
    return {"error": {"code": 400, "message": text, "errors": [{"reason": "notRecorded", "message": text}]}}


def _table(
    tables: Tables, _body: Body, _query: Mapping[str, str], project: str, dataset: str, table: str
) -> Body | None:
    """tables.get, in every view."""
    found = tables(project, dataset, table)
    return None if found is None else found.resource()


def _dataset(_tables: Tables, _body: Body, _query: Mapping[str, str], project: str, dataset: str) -> Body:
    """datasets.get."""
    reference = {"projectId": project, "datasetId": dataset}
    made = {"creationTime": CREATED, "lastModifiedTime": CREATED, "location": "US"}
    return {"kind": "bigquery#dataset", "id": f"{project}:{dataset}", "datasetReference": reference} | made


def _insert(tables: Tables, body: Body, _query: Mapping[str, str], project: str) -> Body | None:
    """jobs.insert of a query."""
    configuration = body.get("configuration")
    query = configuration.get("query") if isinstance(configuration, dict) else None
    if not isinstance(query, dict):
        return None
    default = query.get("defaultDataset")
    table = _queried(tables, str(query.get("query", "")), project, default if isinstance(default, dict) else {})
    return None if table is None else _job(table, project)


def _query(tables: Tables, body: Body, _query: Mapping[str, str], project: str) -> Body | None:
    """jobs.query."""
    default = body.get("defaultDataset")
    table = _queried(tables, str(body.get("query", "")), project, default if isinstance(default, dict) else {})
    return None if table is None else _results(table, project)


def _get_job(tables: Tables, _body: Body, _query: Mapping[str, str], project: str, job: str) -> Body | None:
    """jobs.get of a job that this server has named."""
    table = _of_job(tables, job)
    return None if table is None else _job(table, project)


def _get_results(tables: Tables, _body: Body, _query: Mapping[str, str], project: str, job: str) -> Body | None:
    """jobs.getQueryResults of a job that this server has named."""
    table = _of_job(tables, job)
    return None if table is None else _results(table, project)


def _queried(tables: Tables, query: str, project: str, default: Body) -> RestTable | None:
    """The one table that a query reads as a whole."""
    found = _QUERY.fullmatch(query.strip())
    if found is not None:
        named, dataset, table = found.groups()
        return tables(named or project, dataset, table)
    alone = re.fullmatch(r"SELECT\s+\*\s+FROM\s+`?([\w-]+)`?\s*;?\s*", query.strip(), re.IGNORECASE)
    if alone is None or "datasetId" not in default:
        return None
    return tables(str(default.get("projectId") or project), str(default["datasetId"]), alone.group(1))


def _job_id(table: RestTable) -> str:
    """The id of every job that reads ``table``: clients send it back, so that no job has to be remembered."""
    return f"replay.{table.project}.{table.dataset}.{table.table}".replace(".", "~")


def _of_job(tables: Tables, job: str) -> RestTable | None:
    parts = job.split("~")
    return tables(*parts[1:]) if len(parts) == 4 and parts[0] == "replay" else None


def _job(table: RestTable, project: str) -> Body:
    job = _job_id(table)
    size = str(table.size)
    statistics = {
        "creationTime": CREATED,
        "startTime": CREATED,
        "endTime": CREATED,
        "totalBytesProcessed": size,
        "query": {"statementType": "SELECT", "totalBytesProcessed": size, "cacheHit": False, "schema": table.schema},
    }
    query = {
        # Some clients take no job without it; no job is remembered, so it is not the text that was asked.
        "query": f"SELECT * FROM `{table.project}.{table.dataset}.{table.table}`",  # noqa: S608  # nothing runs it
        "destinationTable": table.reference,
        "useLegacySql": False,
    }
    return {
        "kind": "bigquery#job",
        "id": f"{project}:US.{job}",
        "jobReference": {"projectId": project, "jobId": job, "location": "US"},
        "configuration": {"jobType": "QUERY", "query": query},
        "status": {"state": "DONE"},
        "statistics": statistics,
    }


def _results(table: RestTable, project: str) -> Body:
    """The result of a query without rows: a client reads them through the Storage API, or fails."""
    made: Body = {
        "kind": "bigquery#queryResponse",
        "jobComplete": True,
        "jobReference": {"projectId": project, "jobId": _job_id(table), "location": "US"},
        "schema": table.schema,
        "totalRows": str(table.rows),
        "totalBytesProcessed": str(table.size),
        "cacheHit": False,
    }
    return made | ({"pageToken": "rows-are-not-recorded"} if table.rows else {})


_ROUTES: Final[tuple[tuple[str, re.Pattern[str], Callable[..., Body | None]], ...]] = tuple(
    (method, re.compile(path), handler)
    for method, path, handler in (
        ("GET", _PATH + r"/datasets/([^/]+)/tables/([^/]+)", _table),
        ("GET", _PATH + r"/datasets/([^/]+)", _dataset),
        ("POST", _PATH + r"/jobs", _insert),
        ("POST", _PATH + r"/queries", _query),
        ("GET", _PATH + r"/jobs/([^/]+)", _get_job),
        ("GET", _PATH + r"/queries/([^/]+)", _get_results),
    )
)
