"""The HTTP surface of the reference: enough of BigQuery's REST API to seed tables and to look at what was seeded.

This module decides routes, bodies and statuses. It covers datasets, tables, ``tabledata``, load jobs and queries
of whole tables; everything else is 404 with a sentence that says so.
Source: https://cloud.google.com/bigquery/docs/reference/rest
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa

from conformance.contain.jsonhttp import Answering, JsonServer
from conformance.generate.materialise import materialise
from conformance.protocols.storage_read.reference.catalogue import (
    AlreadyExistsError,
    MissingError,
    TableId,
    stored_column,
)
from conformance.protocols.storage_read.reference.cells import CellError, RowReader, cell_writer
from conformance.protocols.storage_read.reference.jobs import WHOLE_TABLE, Jobs
from conformance.protocols.storage_read.reference.queries import Queries, QueryRefusedError
from conformance.protocols.storage_read.reference.restbodies import (
    REASONS,
    Body,
    RequestRefusedError,
    count_of,
    fields_of,
    kind_of,
    reference_of,
    rows_of,
)
from conformance.records import Column, Json, Table
from conformance.reference import clock
from conformance.reference.delays import Delays
from conformance.reference.guard import HTTP_STATUS, Guard, ServerTls
from conformance.reference.tableschema import (
    SchemaError,
    not_a_change,
    read_schema,
    write_schema,
)

__all__ = ["RestServer", "answering"]

PAGE_ROWS: Final = 10_000
"""Rows of one page of tabledata.list where the client sets no maximum."""

LARGE: Final = 2_000
"""Rows from which on an insert is kept: many cases put the same 20,000 rows into tables of their own."""
LARGE_BODY: Final = 64 << 10
"""Bytes of such an insert at least."""
SAME: Final = 16
"""Inserts that are kept, each as its JSON and as a table."""


class Api:
    """The resources as methods: path parts, query and body in, a JSON object out."""

    def __init__(self, queries: Queries, delays: Delays = Delays()) -> None:  # noqa: B008  # it is immutable
        self.catalogue = queries.catalogue
        self._queries = queries
        self._jobs = Jobs(self.catalogue, delays)
        self._labels: dict[tuple[str, str], Any] = {}
        self._large: tuple[tuple[Body, tuple[Column, ...], pa.Table], ...] = ()

    def insert_dataset(self, body: Body, _query: Mapping[str, str], project: str) -> Body:
        """datasets.insert."""
        dataset = reference_of(body, "datasetReference", "datasetId")
        self.catalogue.create_dataset(project, dataset)
        self._labels[project, dataset] = body.get("labels") or {}
        return self._dataset(project, dataset)

    def get_dataset(self, _body: Body, _query: Mapping[str, str], project: str, dataset: str) -> Body:
        """datasets.get."""
        if not self.catalogue.has_dataset(project, dataset):
            raise MissingError(f"Not found: Dataset {project}:{dataset}")
        return self._dataset(project, dataset)

    def delete_dataset(self, _body: Body, query: Mapping[str, str], project: str, dataset: str) -> Body:
        """datasets.delete; with tables in it, only if the request says so."""
        if query.get("deleteContents", "").lower() != "true" and self.catalogue.has_tables(project, dataset):
            raise RequestRefusedError(400, f"Dataset {project}:{dataset} is still in use", "resourceInUse")
        self.catalogue.drop_dataset(project, dataset)
        return {}

    def insert_table(self, body: Body, _query: Mapping[str, str], project: str, dataset: str) -> Body:
        """tables.insert."""
        table = TableId(project, dataset, reference_of(body, "tableReference", "tableId"))
        kind = kind_of(body)
        columns = self._columns_of_view(kind["view"]) if "view" in kind else read_schema(fields_of(body))
        self.catalogue.create_table(table, columns)
        if kind:
            self.catalogue.kinds[table] = kind
        return self._describe(table)

    def _columns_of_view(self, view: Body) -> tuple[Column, ...]:
        query = str(view.get("query", ""))
        selected = WHOLE_TABLE.fullmatch(query)
        if selected is None:
            raise RequestRefusedError(400, f"expected a view of every row and column of one table, got {query!r:.100}")
        return self.catalogue.snapshot(TableId(*selected.groups())).columns

    def get_table(self, _body: Body, _query: Mapping[str, str], project: str, dataset: str, table: str) -> Body:
        """tables.get."""
        return self._describe(TableId(project, dataset, table))

    def patch_table(self, body: Body, _query: Mapping[str, str], project: str, dataset: str, table: str) -> Body:
        """tables.patch of the schema: columns may come behind the others, and REQUIRED ones become NULLABLE."""
        place = TableId(project, dataset, table)
        if "schema" in body:
            before, after = self.catalogue.snapshot(place).columns, read_schema(fields_of(body))
            if reason := not_a_change(before, after):
                raise RequestRefusedError(400, f"Provided Schema does not match Table {place}. {reason}")
            self.catalogue.change_columns(place, after)
        return self._describe(place)

    def delete_table(self, _body: Body, _query: Mapping[str, str], project: str, dataset: str, table: str) -> Body:
        """tables.delete."""
        self.catalogue.drop_table(TableId(project, dataset, table))
        return {}

    def insert_all(self, body: Body, _query: Mapping[str, str], project: str, dataset: str, table: str) -> Body:
        """tabledata.insertAll: all rows or none, unless invalid ones are to be skipped; errors name row and column."""
        place = TableId(project, dataset, table)
        columns = self.catalogue.snapshot(place).columns
        for known, of, made in self._large:
            if known is body and of == columns:
                self.catalogue.append(place, made)
                return {"kind": "bigquery#tableDataInsertAllResponse"}
        rows, errors = [], {}
        read_row = RowReader(columns, ignore_unknown=bool(body.get("ignoreUnknownValues")))
        for index, row in enumerate(rows_of(body)):
            try:
                rows.append(Json(read_row(row)))
            except CellError as error:
                errors[index] = {"reason": "invalid", "location": error.location, "message": error.message}
        if errors and not body.get("skipInvalidRows"):
            stopped = {"reason": "stopped", "location": "", "message": ""}
            errors = {index: errors.get(index, stopped) for index in range(len(body["rows"]))}
        elif rows:
            made = materialise(Table(tuple(map(stored_column, columns)), rows=tuple(rows)))
            self.catalogue.append(place, made)
            if len(rows) >= LARGE and not errors:
                self._large = ((body, columns, made), *self._large[: SAME - 1])
        answer: Body = {"kind": "bigquery#tableDataInsertAllResponse"}
        if errors:
            answer["insertErrors"] = [
                {"index": index, "errors": [error | {"debugInfo": ""}]} for index, error in sorted(errors.items())
            ]
        return answer

    def list_rows(self, _body: Body, query: Mapping[str, str], project: str, dataset: str, table: str) -> Body:
        """tabledata.list, page by page."""
        self._jobs.listed(TableId(project, dataset, table))
        snapshot = self.catalogue.snapshot(TableId(project, dataset, table))
        start = count_of(query, "pageToken", count_of(query, "startIndex", 0))
        page = snapshot.rows.slice(start, count_of(query, "maxResults", PAGE_ROWS))
        micros = query.get("formatOptions.useInt64Timestamp", "").lower() == "true"
        answer: Body = {"kind": "bigquery#tableDataList", "totalRows": str(snapshot.rows.num_rows)}
        cells = [
            list(map(cell_writer(column, int64_timestamps=micros), values.to_pylist()))
            for column, values in zip(snapshot.columns, page.columns, strict=True)
        ]
        if page.num_rows:
            rows = zip(*cells, strict=True) if cells else itertools.repeat((), page.num_rows)
            answer["rows"] = [{"f": list(row)} for row in rows]
        if start + page.num_rows < snapshot.rows.num_rows:
            answer["pageToken"] = str(start + page.num_rows)
        return answer

    def insert_job(self, upload: bytes, _query: Mapping[str, str], project: str) -> Body:
        """jobs.insert, of load jobs that upload their file."""
        try:
            return self._jobs.load(project, upload)
        except (ValueError, KeyError, TypeError) as error:
            raise RequestRefusedError(400, f"Parse Error: {error}") from None

    def query_job(self, body: Body, _query: Mapping[str, str], project: str) -> Body:
        """jobs.insert, of queries that select a whole table."""
        configuration = body.get("configuration")
        query = configuration.get("query") if isinstance(configuration, dict) else None
        if not isinstance(query, dict):
            raise RequestRefusedError(400, 'expected "configuration.query": this server runs load jobs only as uploads')
        job = self._jobs.query(project, query)
        text, number = str(query.get("query", "")), job["jobReference"]["jobId"]
        if not job["status"].get("errorResult"):
            self._queries.inserted[number] = self._queries.select(text, query, number)
            self._queries.written.update([number] * ("destinationTable" in query))
        return job

    def run_query(self, body: Body, _query: Mapping[str, str], project: str) -> Body:
        """jobs.query."""
        try:
            return self._queries.run_query(project, body)
        except QueryRefusedError as error:
            raise RequestRefusedError(400, str(error)) from None

    def set_clock(self, body: Body, _query: Mapping[str, str]) -> Body:
        """Put the clock so many seconds ahead: a route of this server, which BigQuery does not have."""
        try:
            ahead = clock.ahead_in(body)
        except ValueError as error:
            raise RequestRefusedError(400, str(error)) from None
        self.catalogue.ahead = ahead * 1_000_000
        return {"ahead": ahead}

    def get_job(self, _body: Body, _query: Mapping[str, str], project: str, job: str) -> Body:
        """jobs.get."""
        asked = self._queries.results.get(job)
        return self._jobs.get(project, job) if asked is None else self._queries.described(project, asked)

    def query_results(self, _body: Body, query: Mapping[str, str], project: str, job: str) -> Body:
        """jobs.getQueryResults, page by page: it has rows in JSON, whatever the query asked for."""
        asked = self._queries.results.get(job) or self._queries.inserted.get(job)
        if asked is None:
            raise MissingError(f"Not found: Job {project}:{job}")
        of_page = "pageToken" in query and query["pageToken"] == self._queries.tokens.get(job)
        if asked.job in self._queries.failed:
            raise RequestRefusedError(400, str(self._queries.failed[asked.job]))
        try:
            start = self._queries.behind_page(asked) if of_page else _start(query)
            return self._queries.listing(project, asked, start, count_of(query, "maxResults", PAGE_ROWS))
        except QueryRefusedError as error:
            raise RequestRefusedError(400, str(error)) from None

    def _dataset(self, project: str, dataset: str) -> Body:
        reference = {"projectId": project, "datasetId": dataset}
        return {
            "kind": "bigquery#dataset",
            "id": f"{project}:{dataset}",
            "datasetReference": reference,
            "location": "us",
            "labels": self._labels.get((project, dataset), {}),
        }

    def _describe(self, table: TableId) -> Body:
        snapshot = self.catalogue.snapshot(table)
        kind = self.catalogue.kinds.get(table, {})
        return {
            **kind,
            "kind": "bigquery#table",
            "id": str(table),
            "tableReference": {"projectId": table.project, "datasetId": table.dataset, "tableId": table.table},
            "schema": write_schema(snapshot.columns),
            "type": "VIEW" if "view" in kind else "TABLE",
            "numRows": str(snapshot.rows.num_rows),
            "numBytes": str(snapshot.rows.nbytes),
            "creationTime": str(snapshot.created // 1000),
        }


def _start(query: Mapping[str, str]) -> int:
    """The index of the first row of a listing."""
    return count_of(query, "pageToken", count_of(query, "startIndex", 0))


_DATASETS: Final = r"/projects/([^/]+)/datasets"
_UPLOAD: Final = re.compile(r"/upload/bigquery/v2/projects/([^/]+)/jobs")
_TABLES: Final = _DATASETS + r"/([^/]+)/tables"
_ROUTES: Final[tuple[tuple[str, re.Pattern[str], Callable[..., Body]], ...]] = tuple(
    (method, re.compile(path), handler)
    for method, path, handler in (
        ("POST", _DATASETS, Api.insert_dataset),
        ("GET", _DATASETS + r"/([^/]+)", Api.get_dataset),
        ("DELETE", _DATASETS + r"/([^/]+)", Api.delete_dataset),
        ("POST", _TABLES, Api.insert_table),
        ("GET", _TABLES + r"/([^/]+)", Api.get_table),
        ("PATCH", _TABLES + r"/([^/]+)", Api.patch_table),
        ("DELETE", _TABLES + r"/([^/]+)", Api.delete_table),
        ("POST", _TABLES + r"/([^/]+)/insertAll", Api.insert_all),
        ("GET", _TABLES + r"/([^/]+)/data", Api.list_rows),
        ("POST", r"/projects/([^/]+)/jobs", Api.query_job),
        ("POST", r"/projects/([^/]+)/queries", Api.run_query),
        ("GET", r"/projects/([^/]+)/queries/([^/]+)", Api.query_results),
        ("GET", r"/projects/([^/]+)/jobs/([^/]+)", Api.get_job),
        ("POST", clock.PATH, Api.set_clock),
    )
)


def _answer(api: Api, method: str, target: str, body: bytes) -> tuple[int, Body]:
    """Status and JSON body for one request; never raises."""
    try:
        return 200, _route(api, method, target, body)
    except RequestRefusedError as error:
        status, message, reason = error.status, error.message, error.reason
    except MissingError as error:
        status, message, reason = 404, str(error), REASONS[404]
    except AlreadyExistsError as error:
        status, message, reason = 409, str(error), REASONS[409]
    except SchemaError as error:
        status, message, reason = 400, str(error), REASONS[400]
    except RecursionError:
        status, message, reason = 400, "the request nests too deeply", REASONS[400]
    except Exception as error:  # noqa: BLE001  # a handler thread must answer, whatever went wrong
        status, message, reason = 500, f"{type(error).__name__}: {error}", REASONS[500]
    return status, _error(status, message, reason)


def _error(status: int, message: str, reason: str) -> Body:
    errors = [{"domain": "global", "reason": reason, "message": message}]
    return {"error": {"code": status, "message": message, "errors": errors}}


def _route(api: Api, method: str, target: str, body: bytes) -> Body:
    url = urllib.parse.urlsplit(target)
    path = url.path.removeprefix("/bigquery/v2")
    if (method, path) == ("GET", "/readyz"):
        return {"status": "ready"}
    upload = _UPLOAD.fullmatch(url.path)
    if upload is not None and method == "POST":
        return api.insert_job(body, dict(urllib.parse.parse_qsl(url.query)), urllib.parse.unquote(upload.group(1)))
    for verb, pattern, handler in _ROUTES:
        match = pattern.fullmatch(path)
        if match is not None and verb == method:
            parts = map(urllib.parse.unquote, match.groups())
            return handler(api, _parse(body), dict(urllib.parse.parse_qsl(url.query)), *parts)
    raise RequestRefusedError(404, f"Not found: {method} {path}; this server knows what seeding needs and no more")


def _parse(body: bytes) -> Body:
    return _parse_anew(body) if len(body) < LARGE_BODY else _parse_large(body)


def _parse_anew(body: bytes) -> Body:
    try:
        parsed = json.loads(body) if body else {}
    except ValueError as error:
        raise RequestRefusedError(400, f"Parse Error: {error}") from None
    if not isinstance(parsed, dict):
        raise RequestRefusedError(400, f"Parse Error: expected a JSON object, got {type(parsed).__name__}")
    return parsed


_parse_large = functools.lru_cache(maxsize=SAME)(_parse_anew)


def answering(
    queries: Queries,
    guard: Guard | None = None,
    delays: Delays = Delays(),  # noqa: B008  # it is immutable
) -> Answering:
    """What answers the requests to a service; ``guard`` refuses requests, and ``delays`` make load jobs slow."""
    api = Api(queries, delays)

    def answer(method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Body]:
        authorization = headers.get("authorization", "")
        refusal = guard and guard.check(authorization, rpc=False, asked=f"{method} {target}")
        if refusal:
            status, reason = HTTP_STATUS[refusal.code]
            return status, _error(status, refusal.details, reason)
        return _answer(api, method, target, body)

    return answer


class RestServer(JsonServer):
    """The HTTP listener of a service; ``guard`` refuses requests, and ``delays`` make load jobs slow.

    Raises:
        OSError: ``host`` cannot be bound.
    """

    def __init__(
        self,
        queries: Queries,
        *,
        host: str = "127.0.0.1",
        tls: ServerTls | None = None,
        guard: Guard | None = None,
        delays: Delays = Delays(),  # noqa: B008  # it is immutable
    ) -> None:
        context = None if tls is None else tls.context()
        super().__init__(answering(queries, guard, delays), host=host, context=context, pages=False)
