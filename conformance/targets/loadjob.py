"""Seeding by load jobs: ``tables.insert`` makes a table, and each job uploads rows as one Parquet file.

Sources: https://cloud.google.com/bigquery/docs/reference/api-uploads (multipart), the resource ``Job`` of
https://cloud.google.com/bigquery/docs/reference/rest/v2/Job, and
https://cloud.google.com/bigquery/docs/loading-data-cloud-storage-parquet (types).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.contain.text import safe
from conformance.generate.materialise import materialise
from conformance.records import BqType, Column, Json, Table
from conformance.targets.errors import CannotSeed
from conformance.targets.messages import Names
from conformance.targets.restway import RestTables
from conformance.targets.seeds import Row, SeededTable, check_time, naming_columns
from conformance.targets.values import rest_schema

__all__ = ["LoadJob"]

NO_PARQUET: Final = frozenset({BqType.INTERVAL, BqType.RANGE, BqType.JSON, BqType.GEOGRAPHY})
"""Types that a load job of Parquet is not asked for: Parquet has no such type, or only a text that has to be parsed."""

BOUNDARY: Final = "conformance-5f0c2a91d3e84b67"
"""The line between the parts of an upload; no Parquet file of the suite contains it after a line end."""

FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 2.0
"""Seconds between questions whether a job is done."""


class LoadJob:
    """Makes tables by ``tables.insert`` and fills them by load jobs."""

    def __init__(self, tables: RestTables) -> None:
        self._tables = tables

    def make(self, table: SeededTable, first: Sequence[Row], until: float) -> None:
        """Make the table, then load its first rows."""
        if lacking := sorted({column.type.value for column in _all(table.columns) if column.type in NO_PARQUET}):
            raise CannotSeed(f"a load job of Parquet does not carry {' and '.join(lacking)}")
        with naming_columns(table.columns):
            self._tables.create(table.names, table.columns, until)
        if first:
            self.append(table, first, until)

    def append(self, table: SeededTable, more: Sequence[Row], until: float) -> None:
        """Load rows by one job, and wait until it is done."""
        with naming_columns(table.columns):
            path = f"/upload/bigquery/v2/projects/{table.names.project}/jobs?uploadType=multipart"
            body = _multipart(_job(table), _parquet(table.columns, more))
            kind = f"multipart/related; boundary={BOUNDARY}"
            self._wait(table.names, self._tables.post(path, body, content_type=kind, until=until), until)

    def drop(self, names: Names) -> None:
        """Remove a table."""
        self._tables.drop(names)

    def close(self, *, grace: float) -> None:
        """Nothing: the client belongs to the server."""

    def _wait(self, names: Names, job: Row, until: float) -> None:
        """Ask for the job until it is done; raises :class:`CannotSeed` if it failed."""
        pause = FIRST_PAUSE
        while _status(job).get("state") != "DONE":
            threading.Event().wait(max(0.0, min(pause, until - time.monotonic())))
            pause = min(2 * pause, LONGEST_PAUSE)
            check_time(until)
            named = job.get("jobReference")
            job_id, location = (named.get("jobId"), named.get("location")) if isinstance(named, dict) else (None, None)
            if not isinstance(job_id, str) or not job_id:
                raise CannotSeed("expected the load job to have a jobId and a state")
            where = {"location": location} if isinstance(location, str) else {}
            job = self._tables.get(f"/bigquery/v2/projects/{names.project}/jobs/{job_id}", where, until=until, shown=0)
        if error := _status(job).get("errorResult"):
            raise CannotSeed(f"the load job failed: {safe(json.dumps(error, ensure_ascii=False), 500)}")


def _status(job: Row) -> Row:
    status = job.get("status")
    return status if isinstance(status, dict) else {}


def _job(table: SeededTable) -> dict[str, Any]:
    names = table.names
    place = {"projectId": names.project, "datasetId": names.dataset, "tableId": names.table}
    return {
        "configuration": {
            "load": {
                "destinationTable": place,
                "schema": {"fields": [rest_schema(column) for column in table.columns]},
                "sourceFormat": "PARQUET",
                "parquetOptions": {"enableListInference": True},
                "createDisposition": "CREATE_NEVER",
                "writeDisposition": "WRITE_APPEND",
            }
        }
    }


def _parquet(columns: Sequence[Column], rows: Sequence[Row]) -> bytes:
    import pyarrow.parquet as pq  # noqa: PLC0415  # few targets are seeded by load jobs

    sink = pa.BufferOutputStream()
    try:
        pq.write_table(materialise(Table(tuple(columns), rows=tuple(map(Json, rows)))), sink)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise CannotSeed(f"the rows cannot be written as Parquet: {safe(str(error), 200)}") from None
    return bytes(sink.getvalue())


def _multipart(job: dict[str, Any], data: bytes) -> bytes:
    """The job as JSON and the file, as the two parts of one body (RFC 2387)."""
    configuration = json.dumps(job, ensure_ascii=False)
    head = (
        f"--{BOUNDARY}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{configuration}\r\n"
        f"--{BOUNDARY}\r\nContent-Type: application/octet-stream\r\n\r\n"
    )
    return head.encode() + data + f"\r\n--{BOUNDARY}--\r\n".encode()


def _all(columns: Sequence[Column]) -> Iterator[Column]:
    for column in columns:
        yield column
        yield from _all(column.fields)
