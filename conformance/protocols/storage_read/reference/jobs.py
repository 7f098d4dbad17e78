"""Jobs of the reference: load jobs (an upload of Parquet or Avro, in the two parts of one body, appended to a table),
and queries that select a whole table.

Source: https://cloud.google.com/bigquery/docs/reference/rest/v2/Job
"""

from __future__ import annotations

import dataclasses
import json
import re
import threading
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import (
    AlreadyExistsError,
    Catalogue,
    MissingError,
    TableId,
    stored_schema,
)
from conformance.protocols.storage_read.reference.loading import read_rows
from conformance.records import ROW_ID, Column, Mode
from conformance.reference.delays import Delays

__all__ = ["HIDDEN", "Jobs", "of_result"]

HIDDEN: Final = "_results"
"""The dataset of anonymous tables: as on the service, its name begins with an underscore, and nobody made it."""
WHOLE_TABLE: Final = re.compile(r"SELECT \* FROM `([^`]+)`\.`([^`]+)`\.`([^`]+)`")
_ORDERED: Final = f" ORDER BY {ROW_ID} DESC"


@dataclasses.dataclass(slots=True)
class _Job:
    """A job that was inserted: its rows, or the error in which it ends. ``query`` is the configuration of a query."""

    table: TableId
    polls: int
    rows: pa.Table | None = None
    error: dict[str, str] | None = None
    done: bool = False
    query: dict[str, Any] | None = None


@dataclasses.dataclass(slots=True)
class _Hidden:
    """Rows of a job that is done, and the listings that do not show them yet."""

    rows: pa.Table
    listings: int


class Jobs:
    """The jobs of one server, by id. A job is answered as pending or running until ``delays`` let it be done."""

    def __init__(self, catalogue: Catalogue, delays: Delays = Delays()) -> None:  # noqa: B008  # it is immutable
        self._catalogue = catalogue
        self._delays = delays
        self._jobs: list[_Job] = []
        self._hidden: dict[TableId, list[_Hidden]] = {}
        self._lock = threading.Lock()

    def load(self, project: str, upload: bytes) -> dict[str, Any]:
        """Begin the load job in ``upload``; raises ValueError if it has no job of two parts."""
        delimiter, _, rest = upload.partition(b"\r\n")
        parts = rest.removesuffix(b"\r\n" + delimiter + b"--\r\n").split(b"\r\n" + delimiter + b"\r\n", 1)
        if not delimiter.startswith(b"--") or len(parts) != 2:
            raise ValueError("expected a multipart upload of a job and its file")
        configuration, data = (part.partition(b"\r\n\r\n")[2] for part in parts)
        job = self._begun(json.loads(configuration)["configuration"]["load"], data)
        with self._lock:
            self._jobs.append(job)
            number = len(self._jobs)
            if number <= self._delays.limited_jobs:
                said = "Exceeded rate limits: too many table update operations for this table"
                job.rows, job.error = None, {"reason": "rateLimitExceeded", "message": said}
        return _answer(project, number, "PENDING" if job.polls else "RUNNING")

    def query(self, project: str, query: dict[str, Any]) -> dict[str, Any]:
        """Run a query of a whole table; the answer says that it runs, or that it is done if nothing delays it."""
        hidden = {"projectId": project, "datasetId": HIDDEN, "tableId": self._catalogue.token()}
        place = query.get("destinationTable") or hidden
        table = TableId(*(str(place.get(key, "")) for key in ("projectId", "datasetId", "tableId")))
        job = _Job(table, self._delays.job_polls, query={**query, "destinationTable": place})
        try:
            self._select(str(query.get("query", "")), table)
        except (MissingError, AlreadyExistsError, ValueError, pa.ArrowException) as error:
            job.error = {"reason": "invalidQuery", "message": str(error)}
        with self._lock:
            self._jobs.append(job)
            number = str(len(self._jobs))
        return self.get(project, number)

    def _select(self, text: str, into: TableId) -> None:
        """Make the table of a query's result. Its columns are nullable and have no parameters."""
        ordered = text.endswith(_ORDERED)
        selected = WHOLE_TABLE.fullmatch(text.removesuffix(_ORDERED))
        if selected is None:
            raise ValueError(
                f"expected a query of every row and column of one table, by its full name, got {text!r:.100}"
            )
        snapshot = self._catalogue.snapshot(TableId(*selected.groups()))
        columns = tuple(map(of_result, snapshot.columns))
        if into.dataset == HIDDEN and not self._catalogue.has_dataset(into.project, HIDDEN):
            self._catalogue.create_dataset(into.project, HIDDEN)
        self._catalogue.create_table(into, columns)
        rows = snapshot.rows.sort_by([(ROW_ID, "descending")]) if ordered else snapshot.rows
        self._catalogue.append(into, rows.cast(stored_schema(columns)))
        self._catalogue.sources[into] = snapshot.table

    def get(self, project: str, number: str) -> dict[str, Any]:
        """The job that :meth:`load` or :meth:`query` has given this number; raises MissingError."""
        if not number.isdecimal() or not 0 < int(number) <= len(self._jobs):
            raise MissingError(f"Not found: Job {project}:{number}")
        job = self._jobs[int(number) - 1]
        with self._lock:
            if job.polls:
                job.polls -= 1
                return _answer(project, int(number), "RUNNING")
            if not job.done:
                self._end(job)
        answer = _answer(project, int(number), "DONE")
        if job.query is not None:
            answer["configuration"] = {"query": job.query}
        if job.error:
            answer["status"]["errorResult"] = job.error
        return answer

    def listed(self, table: TableId) -> None:
        """Note that a table is about to be listed: rows that have been hidden long enough appear."""
        with self._lock:
            waiting = self._hidden.pop(table, [])
            for hidden in waiting:
                hidden.listings -= 1
            if left := [hidden for hidden in waiting if hidden.listings >= 0]:
                self._hidden[table] = left
            for hidden in waiting:
                if hidden.listings < 0:
                    self._catalogue.append(table, hidden.rows)

    def _begun(self, load: dict[str, Any], data: bytes) -> _Job:
        place = load["destinationTable"]
        job = _Job(TableId(place["projectId"], place["datasetId"], place["tableId"]), self._delays.job_polls)
        try:
            job.rows = read_rows(load, data, self._catalogue.snapshot(job.table).columns)
        except (MissingError, ValueError, pa.ArrowException) as error:
            job.error = {"reason": "invalid", "message": str(error)}
        return job

    def _end(self, job: _Job) -> None:
        """Commit the rows of a job, now or some listings later."""
        job.done = True
        rows, job.rows = job.rows, None
        if rows is None:
            return
        if self._delays.hidden_polls:
            self._hidden.setdefault(job.table, []).append(_Hidden(rows, self._delays.hidden_polls))
            return
        try:
            self._catalogue.append(job.table, rows)
        except MissingError as error:  # the table was removed meanwhile
            job.error = {"reason": "notFound", "message": str(error)}


def of_result(column: Column) -> Column:
    """The column as it is in the result of a query: nullable, and without parameters."""
    mode = Mode.NULLABLE if column.mode is Mode.REQUIRED else column.mode
    fields = tuple(map(of_result, column.fields))
    return dataclasses.replace(column, mode=mode, fields=fields, precision=None, scale=None, max_length=None)


def _answer(project: str, number: int, state: str) -> dict[str, Any]:
    reference = {"projectId": project, "jobId": str(number), "location": "us"}
    return {"kind": "bigquery#job", "jobReference": reference, "status": {"state": state}}
