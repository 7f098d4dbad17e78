"""Queries of the reference: the answer of jobs.query with a page in Arrow, and the stream of the query's job.

One small overridable method for each decision, as in :mod:`.service`.
Source: https://bigquery.googleapis.com/discovery/v1/apis/bigquery/v2/rest, ``QueryRequest`` and ``QueryResponse``.
"""

from __future__ import annotations

import abc
import base64
import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from conformance.contract import mapping, proto
from conformance.protocols.storage_read.reference import instants, projection
from conformance.protocols.storage_read.reference.catalogue import (
    AlreadyExistsError,
    Catalogue,
    Snapshot,
    TableId,
    stored_schema,
)
from conformance.protocols.storage_read.reference.cells import cell_writer
from conformance.protocols.storage_read.reference.jobs import HIDDEN, of_result
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.records import BqType, Column
from conformance.records.changes import WIDER
from conformance.reference.statuses import Reason
from conformance.reference.tableschema import write_schema

__all__ = ["Queries", "QueryRefusedError", "RunOfQuery", "job_of", "results_page"]

PAGE_ROWS: Final = 4
"""The rows of a page at most, so that small tables have more than their page."""
MOST: Final = 1_000
UNNAMED: Final = "f0_"
"""The first column that a query gives no name, as the service calls it."""
LOCATION: Final = "us"
_FOREVER: Final = 1 << 62
_X: Final = Column("x", BqType.INT64)
"""The column of the table that a statement makes."""

_SELECT: Final = re.compile(
    r"SELECT \*(?P<unnamed>, row_id \+ 0)? FROM `([^`]+)`\.`([^`]+)`\.`([^`]+)`(?P<asks> WHERE @every)?"
    r"(?P<fails> WHERE IF\(row_id = 0, ERROR\('row 0'\), TRUE\))?"
    r"(?P<ordered> ORDER BY row_id DESC)?(?P<nothing> LIMIT 0)?"
)
_MERE: Final = re.compile(r"( FROM )(`[^`.]+`)(?!\.)")
_CREATE: Final = re.compile(r"CREATE TABLE `([^`]+)`\.`([^`]+)`\.`([^`]+)` \(x INT64\)")
_INSERT: Final = re.compile(
    r"INSERT INTO `([^`]+)`\.`([^`]+)`\.`([^`]+)` SELECT \* FROM `([^`]+)`\.`([^`]+)`\.`([^`]+)` WHERE FALSE"
)
_COPY: Final = re.compile(
    r"INSERT INTO `([^`]+)`\.`([^`]+)`\.`([^`]+)` \(x\) SELECT row_id FROM `([^`]+)`\.`([^`]+)`\.`([^`]+)`"
)
_CLEAR: Final = re.compile(r"DELETE FROM `([^`]+)`\.`([^`]+)`\.`([^`]+)` WHERE TRUE")
_ALTERED: Final = re.compile(r"ALTER TABLE `([^`]+)`\.`([^`]+)`\.`([^`]+)` ")
_DROPS: Final = re.compile(r"DROP COLUMN `[^`]+`(, DROP COLUMN `[^`]+`)*")
_DROPPED: Final = re.compile(r"DROP COLUMN `([^`]+)`")
_RENAMES: Final = re.compile(r"RENAME COLUMN `(?P<name>[^`]+)` TO `(?P<to>[^`]+)`")
_WIDENS: Final = re.compile(
    r"ALTER COLUMN `(?P<name>[^`]+)` SET DATA TYPE (?P<type>[A-Z0-9]+)"
    r"(\((?P<precision>[0-9]+)(, (?P<scale>[0-9]+))?\))?"
)
_STREAM: Final = re.compile(r"projects/([^/]+)/locations/([^/]+)/jobs/([^/]+)/streams/_default")
_CODECS: Final = {"": "", "COMPRESSION_UNSPECIFIED": "", "LZ4_FRAME": "LZ4_FRAME", "ZSTD": "ZSTD"}


class QueryRefusedError(ValueError):
    """A query that ends in an error; the text is the message, for a status 400."""


class _RowError(QueryRefusedError):
    """A query that fails at one of its rows, and so while it runs."""


@dataclasses.dataclass(frozen=True, slots=True)
class RunOfQuery:
    """A query whose rows are known: its request, its job, and its table with the columns and rows of the result."""

    body: dict[str, Any]
    result: Snapshot
    job: str

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the result."""
        return self.result.columns

    @property
    def rows(self) -> pa.Table:
        """The rows of the result in stored form, in its order."""
        return self.result.rows

    @property
    def codec(self) -> str:
        """The codec that it asks for; empty for none."""
        options = self.body.get("arrowSerializationOptions")
        return _CODECS.get(str((options if isinstance(options, dict) else {}).get("bufferCompression", "")), "")

    @property
    def form(self) -> int:
        """The form of times that it asks for."""
        options = self.body.get("arrowSerializationOptions")
        named = options.get("picosTimestampPrecision") if isinstance(options, dict) else None
        return instants.FORMS.get(str(named), 0)


def _widened(column: Column, asked: Mapping[str, str | None]) -> Column:
    """The column with the type of a statement.

    Raises:
        QueryRefusedError: the type is not as wide.
    """
    kind = next((kind for kind in WIDER if kind == asked["type"]), None)
    if kind is None or column.type not in WIDER or WIDER.index(kind) < WIDER.index(column.type):
        raise QueryRefusedError(f"ALTER COLUMN {column.name} SET DATA TYPE requires a wider type than {column.type}")
    precision, scale = (int(asked[key] or 0) or None for key in ("precision", "scale"))
    return dataclasses.replace(column, type=kind, precision=precision, scale=scale)


class Queries(abc.ABC):
    """The part of the service that runs queries. ``results`` are those of the last :data:`MOST`, by their jobs.

    ``inserted`` are those of jobs.insert, and ``written`` names those among them that write into a table of their own.
    ``changes`` are the numbers of rows that statements with an id have changed, and ``tokens`` the page tokens of the
    answers in Arrow, by their jobs.
    """

    catalogue: Catalogue
    results: dict[str, RunOfQuery]
    inserted: dict[str, RunOfQuery]
    failed: dict[str, QueryRefusedError]
    written: set[str]
    changes: dict[tuple[str, str] | None, int]
    tokens: dict[str, str]

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer of jobs.query.

        Raises:
            QueryRefusedError: the statement is none of those that this server knows.
        """
        text = str(body.get("query", ""))
        self.check_query_location(str(body.get("location") or LOCATION))
        job = self.catalogue.token()
        if (rows := self.changed_rows(text, body)) is not None:
            return self.without_rows(project, job) | {"numDmlAffectedRows": str(rows)}
        if (made := _CREATE.fullmatch(text)) is not None and not body.get("dryRun"):
            self.catalogue.create_table(TableId(*made.groups()), (_X,))
            return self.without_rows(project, job)
        if (altered := _ALTERED.match(text)) is not None and not body.get("dryRun"):
            self._alter(TableId(*altered.groups()), text[altered.end() :])
            return self.without_rows(project, job)
        try:
            asked = self.select(text, body, job)
        except _RowError as error:
            if not self.fails_late(body):
                raise
            self.failed[job] = error
            asked = self.select(text.partition(" WHERE IF(")[0], body, job)
        if body.get("dryRun"):
            return self.dry_answer(project)
        self.results[job] = asked
        for old in list(self.results)[:-MOST]:
            del self.results[old]
            self.tokens.pop(old, None)
            self.failed.pop(old, None)
        if str(body.get("timeoutMs", "")) == "0":
            return self.running_answer(project, asked)
        return self.answer_in_form(project, asked)

    def check_query_location(self, location: str) -> None:
        """Refuse a query that is to run where this server is not."""
        if location.lower() != LOCATION:
            raise QueryRefusedError(f"Invalid location: {location:.100}")

    def changed_rows(self, text: str, body: dict[str, Any]) -> int | None:
        """The number of rows that INSERT or DELETE has changed; None if the statement is another, or is not to be run.

        One that a client sends again is not run again.
        """
        if body.get("dryRun"):
            return None
        key = self.repeated_by(text, body)
        if key not in self.changes and (rows := self._changed(text)) is not None:
            if key is None:
                return rows
            self.changes[key] = rows
        return self.changes.get(key)

    def repeated_by(self, text: str, body: dict[str, Any]) -> tuple[str, str] | None:
        """What a statement that is sent again has in common with the first one; None if it is never that."""
        return (str(body["requestId"]), text) if body.get("requestId") else None

    def _changed(self, text: str) -> int | None:
        """Carry out INSERT or DELETE, and return the number of rows; None if the statement is another."""
        if (found := _INSERT.fullmatch(text)) is not None:
            self.catalogue.snapshot(TableId(*found.groups()[:3]))
            return 0
        if (found := _COPY.fullmatch(text)) is not None:
            numbers = self.catalogue.snapshot(TableId(*found.groups()[3:])).rows.column("row_id")
            self.catalogue.append(TableId(*found.groups()[:3]), pa.table([numbers], schema=stored_schema((_X,))))
            return int(numbers.length())
        if (found := _CLEAR.fullmatch(text)) is not None:
            table = TableId(*found.groups())
            rows: int = self.catalogue.snapshot(table).rows.num_rows
            self.catalogue.drop_table(table)
            self.catalogue.create_table(table, (_X,))
            return rows
        return None

    def answer_in_form(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        """The answer to a query that has ended, with its first rows in the form that it asks for."""
        if asked.body.get("queryResultsFormat") != "ARROW":
            return self.plain_answer(project, asked)
        return self.arrow_answer(project, asked)

    def _alter(self, table: TableId, change: str) -> None:
        """Carry out what a statement says behind the name of a table."""
        if _DROPS.fullmatch(change) is not None:
            self._drop_columns(table, _DROPPED.findall(change))
        elif (asked := _RENAMES.fullmatch(change) or _WIDENS.fullmatch(change)) is not None:
            self._alter_column(table, asked.groupdict())
        else:
            raise QueryRefusedError(f"Syntax error: this server drops, renames and widens columns, got {change!r:.100}")

    def _drop_columns(self, table: TableId, names: Sequence[str]) -> None:
        columns = self.catalogue.snapshot(table).columns
        if unknown := set(names).difference(column.name for column in columns):
            raise QueryRefusedError(f"Column not found: {min(unknown)}")
        if len(columns) == len(set(names)):
            raise QueryRefusedError("Cannot drop all columns from a table")
        self.catalogue.change_columns(table, [column for column in columns if column.name not in names])

    def _alter_column(self, table: TableId, asked: Mapping[str, str | None]) -> None:
        """Give a column another name, or a wider type."""
        columns, name, to = self.catalogue.snapshot(table).columns, asked["name"], asked.get("to")
        old = next((column for column in columns if column.name == name), None)
        if old is None:
            raise QueryRefusedError(f"Column not found: {name}")
        if to is None:
            self.catalogue.alter_column(table, old, _widened(old, asked))
        elif any(column.name.lower() == to.lower() for column in columns):
            raise QueryRefusedError(f"Column {to} already exists")
        else:
            self.catalogue.alter_column(table, old, dataclasses.replace(old, name=to))

    def select(self, text: str, body: dict[str, Any], job: str) -> RunOfQuery:
        """The rows of a query, in its order."""
        found = _SELECT.fullmatch(self.qualified(text, body))
        if found is None:
            raise QueryRefusedError(f"Syntax error: this server selects whole tables, got {text!r:.100}")
        if found["asks"] and not body.get("queryParameters"):
            raise QueryRefusedError("Query parameter 'every' not found")
        snapshot = self.catalogue.snapshot(TableId(*found.groups()[1:4]))
        rows = snapshot.rows.slice(0, 0) if found["nothing"] else snapshot.rows
        if found["asks"] and not _is_met(body["queryParameters"]):
            rows = rows.slice(0, 0)
        if found["fails"] and (place := pc.index(rows.column("row_id"), 0).as_py()) >= 0:
            rows = self.before_error(rows, place)
        if found["ordered"]:
            rows = self.ordered(rows)
        columns = tuple(map(of_result, snapshot.columns))
        if found["unnamed"]:
            columns = (*columns, Column(UNNAMED, BqType.INT64))
            rows = rows.append_column(UNNAMED, rows.column("row_id"))
        result = dataclasses.replace(snapshot, columns=columns, rows=rows)
        return RunOfQuery(body, result, job)

    def qualified(self, text: str, body: dict[str, Any]) -> str:
        """A statement with the table that it names in full: its mere name is one in the default dataset."""
        default = body.get("defaultDataset") or {}
        place = "`.`".join(str(default.get(key, "")) for key in ("projectId", "datasetId"))
        return _MERE.sub(rf"\1`{place}`.\2", text) if default else text

    def before_error(self, _rows: pa.Table, _place: int) -> pa.Table:
        """The rows of a query that fails at the row of a place: none, the query is an error."""
        raise _RowError("row 0")

    def fails_late(self, body: dict[str, Any]) -> bool:
        """Whether a query that fails at a row has been answered by then, as one that runs."""
        return str(body.get("timeoutMs", "")) == "0" and not body.get("dryRun")

    def ordered(self, rows: pa.Table) -> pa.Table:
        """The rows from the last to the first by the column ``row_id``."""
        return rows.sort_by([("row_id", "descending")])

    def page_rows(self, asked: RunOfQuery) -> int:
        """The number of rows in the page of an answer."""
        most = str(asked.body.get("maxResults", PAGE_ROWS))
        if not most.isdecimal():
            raise QueryRefusedError(f"Invalid value for maxResults: {most:.100}")
        return min(PAGE_ROWS, int(most))

    def without_rows(self, project: str, job: str) -> dict[str, Any]:
        """The answer to a statement that has no rows."""
        return {"kind": "bigquery#queryResponse", "jobComplete": True, "totalRows": "0"} | self.reference(project, job)

    def running_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        """The answer to a query that does not end in the time that the client waits: this server needs some."""
        return {"kind": "bigquery#queryResponse", "jobComplete": False} | self.reference(project, asked.job)

    def dry_answer(self, project: str) -> dict[str, Any]:
        """The answer to a query that is not run: what it would read."""
        named = {"projectId": project, "location": LOCATION}
        return {
            "kind": "bigquery#queryResponse",
            "jobComplete": True,
            "totalBytesProcessed": "0",
            "jobReference": named,
        }

    def reference(self, project: str, job: str) -> dict[str, Any]:
        """The part of an answer that names the job."""
        return _reference(project, job)

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        """The answer to a query that asks for Arrow."""
        page = asked.rows.slice(0, self.page_rows(asked))
        left = asked.rows.num_rows > page.num_rows
        answer: dict[str, Any] = {
            "kind": "bigquery#queryResponse",
            "jobComplete": True,
            "totalRows": self.total_rows(asked),
            "pageRowCount": self.page_count(page),
            "arrowSchema": {"serializedSchema": _text(self.page_schema(asked))},
        }
        if page.num_rows or self.has_empty_batch():
            content = projection.served(self.page_content(asked, page), asked.columns)
            batch = self.page_batch(asked, self.in_form(content, asked.form))
            answer["arrowRecordBatch"] = {"serializedRecordBatch": _text(batch)}
        if self.names_token(asked, page, left=left):
            answer["pageToken"] = self.tokens[asked.job] = self.catalogue.token()
        if left or asked.body.get("jobCreationMode") != "JOB_CREATION_OPTIONAL":
            answer |= self.reference(project, asked.job)
        return answer

    def total_rows(self, asked: RunOfQuery) -> str:
        """``totalRows``."""
        return str(asked.rows.num_rows)

    def page_count(self, page: pa.Table) -> str:
        """``pageRowCount``."""
        return str(page.num_rows)

    def page_content(self, _asked: RunOfQuery, page: pa.Table) -> pa.Table:
        """The rows of the page."""
        return page

    def page_schema(self, asked: RunOfQuery) -> bytes:
        """The schema of the page."""
        return self.encode_schema(self.schema_in_form(asked, asked.form))

    def page_batch(self, asked: RunOfQuery, page: pa.RecordBatch) -> bytes:
        """The record batch of the page."""
        return self.encode_batch(page, asked.codec)

    def has_empty_batch(self) -> bool:
        """Whether a page without rows has a batch."""
        return True

    def names_token(self, _asked: RunOfQuery, _page: pa.Table, *, left: bool) -> bool:
        """Whether the answer has a page token."""
        return left

    def behind_page(self, asked: RunOfQuery) -> int:
        """The index of the row to which the page token of an answer in Arrow leads jobs.getQueryResults."""
        return self.page_rows(asked)

    def plain_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        """The answer with rows in JSON."""
        return results_page(project, asked, 0, self.page_rows(asked)) | {"kind": "bigquery#queryResponse"}

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        """The answer of jobs.getQueryResults, which knows of no Arrow."""
        return results_page(project, asked, start, most)

    def described(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        """The answer of jobs.get about a query, which names the table of its result, or the error."""
        job = job_of(project, asked)
        if asked.job in self.failed:
            return job | {"status": self.status_of_failed(asked.job)}
        table = self.result_table(project, asked)
        if table is not None:
            named = {"projectId": table.project, "datasetId": table.dataset, "tableId": table.table}
            job["configuration"]["query"]["destinationTable"] = named
        return job

    def status_of_failed(self, job: str) -> dict[str, Any]:
        """``status`` in the answer of jobs.get about a query that failed."""
        error = {"reason": "invalidQuery", "message": str(self.failed[job])}
        return {"state": "DONE", "errorResult": error, "errors": [error]}

    def result_table(self, project: str, asked: RunOfQuery) -> TableId | None:
        """The anonymous table of a query's result, which is made when it is first asked for; None if it has none."""
        table = TableId(project, HIDDEN, f"result_{asked.job}")
        if not self.catalogue.has_dataset(project, HIDDEN):
            self.catalogue.create_dataset(project, HIDDEN)
        try:
            self.catalogue.create_table(table, asked.columns)
        except AlreadyExistsError:
            return table
        self.catalogue.append(table, self.table_rows(asked).cast(stored_schema(asked.columns)))
        return table

    def table_rows(self, asked: RunOfQuery) -> pa.Table:
        """The rows of that table."""
        return asked.rows

    # --- the stream of a job --------------------------------------------------------------------------

    def result_stream(self, request: Any) -> Stream | None:
        """The stream of a query's job that a ReadRows request names; None if it names no such stream."""
        named = _STREAM.fullmatch(request.read_stream)
        if named is None:
            return None
        if named[3] in self.written:
            self.refuse(Reason.WRITTEN_TABLE)
        asked = self.results.get(named[3]) or self.inserted.get(named[3])
        if asked is None or not self.is_location(named[2]):
            self.refuse(Reason.UNKNOWN_STREAM, stream=request.read_stream)
        return self.open_result(asked, request)

    def is_location(self, location: str) -> bool:
        """Whether jobs of this server are there."""
        return location.lower() == LOCATION

    def open_result(self, asked: RunOfQuery, request: Any) -> Stream:
        """The stream of a query's job, with the options of the request."""
        if asked.job in self.failed:
            self.refuse(Reason.UNKNOWN_STREAM, stream=request.read_stream)
        codec = {number: name for name, number in proto.COMPRESSION.items()}.get(
            request.arrow_serialization_options.buffer_compression, ""
        )
        own = proto.CreateReadSessionRequest()
        form = self.stream_form(asked, request.arrow_serialization_options.picos_timestamp_precision)
        own.read_session.read_options.arrow_serialization_options.picos_timestamp_precision = form
        session = OpenedSession(
            name=request.read_stream,
            request=own,
            snapshot=asked.result,
            columns=asked.columns,
            expires=_FOREVER,
            schema_bytes=self.stream_schema(asked, form),
            buffer_codec=self.stream_codec(asked, codec),
        )
        return Stream(request.read_stream, session, self.stream_rows(asked))

    def stream_schema(self, asked: RunOfQuery, form: int) -> bytes:
        """The schema in the first message of the stream."""
        return self.encode_schema(self.schema_in_form(asked, form))

    def stream_codec(self, _asked: RunOfQuery, codec: str) -> str:
        """The codec of the stream's batches, for the one that the request names."""
        return codec

    def stream_form(self, _asked: RunOfQuery, form: int) -> int:
        """The form of times in the stream, for the one that the request names."""
        return form

    def schema_in_form(self, asked: RunOfQuery, form: int) -> pa.Schema:
        """The schema of a result, with its times in a form."""
        return instants.formed_schema(mapping.arrow_schema(asked.columns), form)

    def in_form(self, batch: pa.RecordBatch, form: int) -> pa.RecordBatch:
        """Rows of a result, with their times in a form."""
        return instants.formed(batch, form)

    def stream_rows(self, asked: RunOfQuery) -> pa.Table:
        """The rows of the stream."""
        return asked.rows

    # --- of the service -------------------------------------------------------------------------------

    @abc.abstractmethod
    def encode_schema(self, schema: pa.Schema) -> bytes:
        """The content of ``serialized_schema``."""

    @abc.abstractmethod
    def encode_batch(self, part: pa.RecordBatch, codec: str) -> bytes:
        """The content of ``serialized_record_batch``."""

    @abc.abstractmethod
    def refuse(self, reason: Reason, **facts: object) -> NoReturn:
        """End the call for a reason."""


def _reference(project: str, job: str) -> dict[str, Any]:
    return {"jobReference": {"projectId": project, "jobId": job, "location": LOCATION}, "location": LOCATION}


def _is_met(parameters: Any) -> bool:
    """Whether the one parameter of a query is true."""
    try:
        return str(parameters[0]["parameterValue"]["value"]).lower() == "true"
    except (KeyError, IndexError, TypeError):
        raise QueryRefusedError("Query parameter 'every' has no value") from None


def job_of(project: str, asked: RunOfQuery) -> dict[str, Any]:
    """The job of a query, as jobs.get answers."""
    query = {key: asked.body[key] for key in ("query", "useLegacySql") if key in asked.body}
    return {
        "kind": "bigquery#job",
        "id": f"{project}:{LOCATION}.{asked.job}",
        "jobReference": _reference(project, asked.job)["jobReference"],
        "status": {"state": "DONE"},
        "configuration": {"jobType": "QUERY", "query": query},
    }


def results_page(project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
    """A page of the rows of a query in JSON, as jobs.getQueryResults answers."""
    page = asked.rows.slice(start, most)
    cells = [
        list(map(cell_writer(column, int64_timestamps=False), values.to_pylist()))
        for column, values in zip(asked.columns, page.columns, strict=True)
    ]
    answer = {
        "kind": "bigquery#getQueryResultsResponse",
        "jobComplete": True,
        "totalRows": str(asked.rows.num_rows),
        "schema": write_schema(asked.columns),
        "rows": [{"f": list(row)} for row in zip(*cells, strict=True)],
    }
    if start + page.num_rows < asked.rows.num_rows:
        answer["pageToken"] = str(start + page.num_rows)
    return answer | _reference(project, asked.job)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
