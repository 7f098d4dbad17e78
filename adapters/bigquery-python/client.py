"""Client of google-cloud-bigquery-storage and google-cloud-bigquery: reads tables of a loopback server for the suite.

Built by ``python -m adapters bigquery-python``. Standard input has one JSON request per line, standard output one JSON
answer per line. The clients have their own defaults for retries. Values are those of the Arrow tables that they return.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import grpc
import pyarrow as pa
from google.api_core.exceptions import GoogleAPICallError
from google.auth.credentials import AnonymousCredentials
from google.cloud import bigquery, bigquery_storage_v1
from google.cloud.bigquery_storage_v1 import types
from google.cloud.bigquery_storage_v1.services.big_query_read import transports

from conformance.wire import plain_table

# If pandas-gbq is installed, google-cloud-bigquery-storage asks it first, and it decodes in its own way.
sys.modules["pandas_gbq"] = None  # type: ignore[assignment]

OPTIONS = [
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
]
"""The sizes are those of the client's own channel; a proxy cannot reach the loopback server."""


class Unsupported(Exception):  # noqa: N818  # it becomes an answer of this name
    """The path has no way to do what was asked."""


def storage(asked: Mapping[str, Any]) -> Any:
    """The client of the Storage API."""
    channel = grpc.insecure_channel(asked["grpc"], options=OPTIONS)
    return bigquery_storage_v1.BigQueryReadClient(transport=transports.BigQueryReadGrpcTransport(channel=channel))


def session(client: Any, asked: Mapping[str, Any]) -> Any:
    """A session for the request."""
    options = types.ReadSession.TableReadOptions(selected_fields=asked["columns"], row_restriction=asked["restriction"])
    wanted = types.ReadSession(table=asked["table"], data_format=types.DataFormat.ARROW, read_options=options)
    return client.create_read_session(parent="/".join(asked["table"].split("/")[:2]), read_session=wanted)


def rows(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The batches of each stream's table."""
    client = storage(asked)
    made = session(client, asked)
    tables = [client.read_rows(stream.name).rows(made).to_arrow() for stream in made.streams]
    return [batch for table in tables for batch in _batches(table)]


def pages(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The batch of each page."""
    client = storage(asked)
    made = session(client, asked)
    return [page.to_arrow() for stream in made.streams for page in client.read_rows(stream.name).rows(made).pages]


def list_rows(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The batches of the whole table, as google-cloud-bigquery joins them."""
    if asked["columns"] or asked["restriction"]:
        raise Unsupported("list_rows is asked for whole tables")
    project, dataset, table = asked["table"].split("/")[1::2]
    client = bigquery.Client(
        project=project, credentials=AnonymousCredentials(), client_options={"api_endpoint": asked["rest"]}
    )
    found = client.list_rows(f"{project}.{dataset}.{table}")
    return _batches(found.to_arrow(bqstorage_client=storage(asked), create_bqstorage_client=False))


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    """The batches; a table without rows has one that holds its columns."""
    return table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]


PATHS: dict[str, Callable[[Mapping[str, Any]], Iterable[pa.RecordBatch]]] = {
    "rows": rows,
    "pages": pages,
    "list-rows": list_rows,
}


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    if asked["op"] == "hello":
        name = "google-cloud-bigquery-storage"
        about = {"implementation": "bigquery-python", "title": name, "language": "Python", "paths": [*PATHS]}
        version = importlib.metadata.version(name)
        return {"status": "ok", "protocol": 1, "version": version, "reads": [], "writes": [], **about}
    try:
        found = [batch for batch in PATHS[asked["path"]](asked) if batch.num_columns]
        names = found[0].schema.names if found else []
        kinds = [str(kind) for kind in found[0].schema.types] if found else []
        # Inside, too: a batch that the client accepts may have values that Python does not, such as text in no UTF-8.
        table = plain_table([batch for batch in found if batch.num_rows])
    except Unsupported as error:
        return {"status": "unsupported", "message": str(error)}
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the client's answer
        code = error.grpc_status_code if isinstance(error, GoogleAPICallError) else None
        return {"status": "error", "class": code.name if code else type(error).__name__, "message": str(error)[:2000]}
    columns = [list(column) for column in table.columns] or [[] for _ in names]
    return {"status": "ok", "names": names, "types": kinds, "rows": table.rows, "columns": columns}


def main() -> None:
    """Answer requests until standard input ends; what the libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        asked = json.loads(line)
        answers.write(json.dumps({"id": asked["id"], **answer(asked)}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
