"""Seeding by load jobs: ``tables.insert`` makes a table, and each job uploads rows as one Parquet or Avro file.

Sources: https://cloud.google.com/bigquery/docs/reference/api-uploads (multipart), the resource ``Job`` of
https://cloud.google.com/bigquery/docs/reference/rest/v2/Job, and
https://cloud.google.com/bigquery/docs/loading-data-cloud-storage-parquet (types). A failed job adds no row
(https://cloud.google.com/bigquery/docs/batch-loading-data), so that one that a quota ended can be sent again.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.contain.text import safe
from conformance.generate.materialise import materialise
from conformance.records import BqType, Column, Json, Table
from conformance.targets.avrofile import AVRO_OPTIONS, NO_AVRO, avro_file
from conformance.targets.jobs import JobError, finished
from conformance.targets.names import Names
from conformance.targets.patience import LIMITED
from conformance.targets.restway import RestTables
from conformance.targets.seeds import Row, SeededTable, in_columns, naming_columns
from conformance.targets.targeterrors import CannotSeed
from conformance.targets.values import rest_schema

__all__ = ["AVRO", "PARQUET", "FileFormat", "LoadJob"]

NO_PARQUET: Final = frozenset({BqType.INTERVAL, BqType.RANGE, BqType.JSON, BqType.GEOGRAPHY})
"""Types that a load job of Parquet is not asked for: Parquet has no such type, or only a text that has to be parsed."""

BOUNDARY: Final = "conformance-5f0c2a91d3e84b67"
"""The line between the parts of an upload; no file of the suite contains it after a line end."""


@dataclasses.dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of files: what the job says about it, the types that it lacks, and how a table is written."""

    title: str
    options: Mapping[str, Any]
    lacks: frozenset[BqType]
    write: Callable[[Sequence[Column], pa.Table], bytes]


class LoadJob:
    """Makes tables by ``tables.insert`` and fills them by load jobs that upload files of one format."""

    own = True

    def __init__(self, tables: RestTables, kind: FileFormat | None = None) -> None:
        self._tables = tables
        self._format = kind or PARQUET

    def make(self, table: SeededTable, first: Sequence[Row], until: float) -> None:
        """Make the table, then load its first rows."""
        lacks = self._format.lacks
        if lacking := sorted({column.type.value for column in _all(table.columns) if column.type in lacks}):
            raise CannotSeed(f"a load job of {self._format.title} does not carry {' and '.join(lacking)}")
        self._file(table.columns, ())  # a name that the format lacks is found before a table is made
        with naming_columns(table.columns):
            self._tables.create(table.names, table.columns, until)
        if first:
            self.append(table, first, until)

    def append(self, table: SeededTable, more: Sequence[Row], until: float) -> None:
        """Load rows by one job, and wait until it is done."""
        with naming_columns(table.columns):
            body = _multipart(_job(table, self._format), self._file(table.columns, more))
            try:
                self._tables.patience.ask(lambda: self._load(table.names, body, until), limited=_limited, until=until)
            except JobError as ended:
                if _limited(ended):
                    self._tables.limited(str(ended))
                raise CannotSeed(str(ended)) from None

    def drop(self, names: Names) -> None:
        """Remove a table."""
        self._tables.drop(names)

    def close(self, *, grace: float) -> None:
        """Nothing: the client belongs to the server."""

    def _load(self, names: Names, body: bytes, until: float) -> None:
        """Send one job and ask for it until it is done; raises :class:`JobError` if it failed."""
        path = f"/upload/bigquery/v2/projects/{names.project}/jobs?uploadType=multipart"
        kind = f"multipart/related; boundary={BOUNDARY}"
        begun = self._tables.post(path, body, content_type=kind, until=until)
        finished(self._tables, names.project, "load job", begun, until)

    def _file(self, columns: Sequence[Column], rows: Sequence[Row]) -> bytes:
        try:
            table = materialise(Table(tuple(columns), rows=tuple(map(Json, in_columns(columns, rows)))))
            return self._format.write(columns, table)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            said = safe(str(error), 200)
            raise CannotSeed(f"the rows cannot be written as {self._format.title}: {said}") from None


def _limited(error: Exception) -> bool:
    return isinstance(error, JobError) and error.reason in LIMITED


def _job(table: SeededTable, kind: FileFormat) -> dict[str, Any]:
    names = table.names
    place = {"projectId": names.project, "datasetId": names.dataset, "tableId": names.table}
    return {
        "configuration": {
            "load": {
                "destinationTable": place,
                "schema": {"fields": [rest_schema(column) for column in table.columns]},
                "sourceFormat": kind.title.upper(),
                **kind.options,
                "createDisposition": "CREATE_NEVER",
                "writeDisposition": "WRITE_APPEND",
            }
        }
    }


def _parquet(_columns: Sequence[Column], table: pa.Table) -> bytes:
    import pyarrow.parquet as pq  # noqa: PLC0415  # few targets are seeded by load jobs

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


PARQUET: Final = FileFormat("Parquet", {"parquetOptions": {"enableListInference": True}}, NO_PARQUET, _parquet)
AVRO: Final = FileFormat("Avro", AVRO_OPTIONS, NO_AVRO, avro_file)


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
