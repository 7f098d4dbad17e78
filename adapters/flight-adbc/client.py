"""Client of adbc-driver-flightsql, a driver in Go behind the interface of ADBC: runs one query for the suite.

Built by ``python -m adapters flight-adbc``; ``serving.py`` speaks the protocol. The text of the query is nothing to the
scripted server: it answers GetFlightInfo with the endpoints of one table. After a panic of its library the driver is of
no use to the process any more, so the process ends: that is a crash.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from adbc_driver_flightsql import DatabaseOptions, dbapi
from serving import batches_of, serve

NAME = "adbc-driver-flightsql"
SECONDS = "10"
"""The deadline of each call."""
QUERY = "SELECT conformance"
Asked = Mapping[str, Any]


@contextlib.contextmanager
def cursor(asked: Asked) -> Iterator[Any]:
    """A cursor of a connection that commits by itself."""
    options = {
        DatabaseOptions.TIMEOUT_QUERY.value: SECONDS,
        DatabaseOptions.TIMEOUT_FETCH.value: SECONDS,
    }
    with (
        dbapi.connect(f"grpc+tcp://{asked['grpc']}", db_kwargs=options, autocommit=True) as connection,
        connection.cursor() as made,
    ):
        yield made


def batches(reader: pa.RecordBatchReader) -> list[pa.RecordBatch]:
    """The batches of a reader, behind an empty one that holds the columns."""
    return [pa.RecordBatch.from_pylist([], schema=reader.schema), *reader]


def query(asked: Asked) -> list[pa.RecordBatch]:
    """Batch by batch."""
    with cursor(asked) as one:
        one.execute(QUERY)
        return batches(one.fetch_record_batch())


def table(asked: Asked) -> list[pa.RecordBatch]:
    """The whole table."""
    with cursor(asked) as one:
        one.execute(QUERY)
        return batches_of(one.fetch_arrow_table())


def rows(asked: Asked) -> list[pa.RecordBatch]:
    """Rows of Python's own values."""
    with cursor(asked) as one:
        one.execute(QUERY)
        names = [column[0] for column in one.description]
        found = one.fetchall()
        return [pa.RecordBatch.from_pydict({name: [row[at] for row in found] for at, name in enumerate(names)})]


def partitions(asked: Asked) -> list[pa.RecordBatch]:
    """Each endpoint as a partition of its own."""
    with cursor(asked) as one:
        parts, _ = one.adbc_execute_partitions(QUERY)
        found = []
        for part in parts:
            one.adbc_read_partition(part)
            found += batches(one.fetch_record_batch())
        return found


PANICKED = "Go panicked"
"""What every call of the driver says once there was a panic in its library: no later call of the process succeeds."""


def class_of(error: Exception) -> str:
    """The type of an error; a panic ends the process, which starts again for the next request."""
    if PANICKED in str(error):
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os.abort()
    return type(error).__name__


if __name__ == "__main__":
    about = {"implementation": "flight-adbc", "title": NAME, "version": importlib.metadata.version(NAME)}
    paths = {"query": query, "table": table, "rows": rows, "partitions": partitions}
    serve(about, paths, class_of)
